//! Random bytes of the system.

/// `N` random bytes, at most 256; `None` where the system gives none.
#[cfg(target_os = "linux")]
pub fn random_bytes<const N: usize>() -> Option<[u8; N]> {
    // Not by the crate `getrandom`: it looks the call up by `dlsym`, which a program linked statically with glibc does not
    // have, and opens `/dev/urandom` instead, which Landlock refuses.
    let mut bytes = [0; N];
    // Up to 256 bytes are never cut: getrandom(2).
    let length = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).ok()?;
    (length == N).then_some(bytes)
}

/// `N` random bytes; `None` where the system gives none.
#[cfg(not(target_os = "linux"))]
pub fn random_bytes<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes)
}
