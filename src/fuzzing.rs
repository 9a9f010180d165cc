//! What holds for any input: the bodies of the fuzz targets in `fuzz/`.
//!
//! Compiled for tests and fuzzing alone. One file a target, each a function of bytes that
//! panics where a property does not hold; the same functions replay the corpus in the ordinary tests,
//! so that what was found once stays fixed without a fuzzer.

#![expect(clippy::disallowed_methods, reason = "the world is made from outside the sandbox")]

pub mod edits;
pub mod frames;
pub mod paths;
pub mod patterns;
#[cfg(test)]
mod replay;
mod world;

pub use world::World;

/// Services the fields of an input: bytes that no UTF-8 holds, and hardly any other text.
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
