//! What holds for any input: the bodies of the fuzz targets.
//!
//! One file a target, each a function of bytes that panics where a property does not hold. The same files are a module
//! of the integration tests (`tests/it`), which give them the corpus, so that what was found once stays fixed without a
//! fuzzer. They use what the crates offer to anyone.

#![expect(clippy::disallowed_methods, reason = "the world is made from outside the sandbox")]

pub mod edits;
pub mod frames;
pub mod paths;
pub mod patterns;
mod world;

pub use world::World;

/// Separates the fields of an input: bytes that no UTF-8 holds, and hardly any other text.
const BREAK: &[u8] = b"\xff\x1f";

/// The fields of an input.
fn fields(input: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(input);
    std::iter::from_fn(move || {
        let all = rest?;
        let at = all.windows(BREAK.len()).position(|window| window == BREAK);
        rest = at.map(|at| &all[at + BREAK.len()..]);
        Some(&all[..at.unwrap_or(all.len())])
    })
}

/// A field as text.
fn text(field: Option<&[u8]>) -> String {
    String::from_utf8_lossy(field.unwrap_or_default()).into_owned()
}
