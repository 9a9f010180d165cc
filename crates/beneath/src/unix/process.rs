//! What the system lets this process do, and gives it: resource limits, the signals that they send, random bytes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use std::{io, thread};

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::testing::faults;

/// Open files at most: enough for all calls that run at once, and no more than macOS takes
/// (`OPEN_MAX` in its `sys/syslimits.h`), whose hard limit says "unlimited".
const OPEN_FILES: u64 = 10_240;

/// Handles SIGXFSZ, so that a write beyond `RLIMIT_FSIZE` fails with EFBIG instead of ending the process.
pub fn survive_large_writes() {
    // What the handler notes is of no use: the write itself fails, with EFBIG.
    if let Err(error) = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default()) {
        tracing::warn!(%error, "SIGXFSZ cannot be handled; a write beyond ulimit -f ends the process");
    }
}

/// Raises the soft limit of open files, which select(2) keeps low and nothing here uses, to the hard one.
pub fn raise_open_files() {
    let limits = getrlimit(Resource::Nofile);
    let wanted = limits.maximum.map_or(OPEN_FILES, |hard| hard.min(OPEN_FILES));
    if limits.current.is_some_and(|soft| soft < wanted) {
        // Refused, it stays what it was.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limits.maximum });
    }
}

/// Whether an answer says that this process may open no more files (`EMFILE`).
pub fn is_process_file_limit(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::MFILE)
}

/// Whether an answer says that the whole system may open no more files (`ENFILE`).
pub fn is_system_file_limit(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::NFILE)
}

/// Repeats a call that a signal interrupted (`EINTR`), or that met a limit of open files and may find a free
/// descriptor in a moment.
pub(super) fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    let mut waited = 0;
    loop {
        match call() {
            Err(Errno::INTR) => {}
            Err(Errno::MFILE | Errno::NFILE) if wait_for_files(&mut waited) => {}
            answer => return Ok(answer?),
        }
    }
}

/// Makes a call that changes the disk, called `name`, and repeats it as [`retry`] does.
pub(super) fn change<T>(name: &str, mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    retry(|| faults::changing(name, &mut call))
}

pub(super) fn open<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    retry(|| faults::opening(&mut call))
}

/// How long, in milliseconds, an open waits for another call to close a file.
const CLOSE_WAIT_MILLIS: u32 = 50;
/// How long, in milliseconds, no open waits after such a wait failed: a search would wait once for each file.
const NO_WAIT_AFTER: u64 = 1000;

/// Opens that were given up, as too many files were open, since the process started.
static REFUSED_OPENS: AtomicU64 = AtomicU64::new(0);

/// How many opens of this process failed so far, as too many files were open. Whoever compares two of these numbers knows
/// whether something that looked as if it were not there could not be looked at.
pub fn refused_opens() -> u64 {
    REFUSED_OPENS.load(Ordering::Relaxed)
}

/// Waits 1 ms where too many files are open; false when it has waited long enough. Most files are open for some
/// microseconds, so that concurrent calls work with a low limit.
pub(super) fn wait_for_files(waited: &mut u32) -> bool {
    static START: OnceLock<Instant> = OnceLock::new();
    /// When the last wait failed, in milliseconds since `START`; 0 for never.
    static LAST_FAILED: AtomicU64 = AtomicU64::new(0);
    let now = u64::try_from(START.get_or_init(Instant::now).elapsed().as_millis()).unwrap_or(u64::MAX) + 1;
    // Relaxed: it guards no data, and an old value costs one more wait.
    let last = LAST_FAILED.load(Ordering::Relaxed);
    let is_soon_after = *waited == 0 && last > 0 && now < last + NO_WAIT_AFTER;
    if is_soon_after || *waited >= CLOSE_WAIT_MILLIS {
        if !is_soon_after {
            LAST_FAILED.store(now, Ordering::Relaxed);
        }
        REFUSED_OPENS.fetch_add(1, Ordering::Relaxed);
        return false;
    }
    *waited += 1;
    thread::sleep(Duration::from_millis(1));
    true
}

/// How many files this process may have open, where there is a limit.
pub fn open_files() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// Bytes of the largest file that this process may write, where there is a limit.
pub fn file_size_limit() -> Option<u64> {
    getrlimit(Resource::Fsize).current
}

/// Other programs keep no file from being opened or replaced here.
pub fn is_in_use(_: &io::Error) -> bool {
    false
}

/// `N` random bytes, at most 256; `None` where the system gives none.
pub fn random_bytes<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    // Not by the crate `getrandom`: it looks the call up by `dlsym`, which a program linked statically with glibc does not
    // have, and opens `/dev/urandom` instead, which Landlock refuses. Up to 256 bytes are never cut: getrandom(2).
    #[cfg(target_os = "linux")]
    let is_filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()) == Ok(N);
    #[cfg(not(target_os = "linux"))]
    let is_filled = getrandom::fill(&mut bytes).is_ok();
    is_filled.then_some(bytes)
}
