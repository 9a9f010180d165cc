//! The filter: which files of a tree cannot hold a match, from signatures kept in memory.
//!
//! Only ever leaves files out; whatever it admits is searched for real. Whether a file is still what
//! it was when it was taken in is the live list's to know.

mod formula;
mod gram;
mod signature;
