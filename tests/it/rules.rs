//! What holds for the sources, the documents and the packages.

mod documents;
#[cfg(unix)]
mod fuzz_corpus;
mod packages;
mod readme;
mod registry;
