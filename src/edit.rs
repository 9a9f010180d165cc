//! STUB
#![allow(
    missing_docs,
    unused_variables,
    clippy::todo,
    clippy::all,
    clippy::pedantic,
    clippy::allow_attributes_without_reason
)]
use std::{fmt, ops::Range};
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub old: &'a str,
    pub new: &'a str,
    pub replace_all: bool,
    pub expected_replacements: Option<usize>,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    Exact,
    LineEndings,
    TrailingWhitespace,
    Indentation,
    Typography,
    LineNumbers,
    Escapes,
    Anchored,
}
impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    pub span: Range<usize>,
    pub text: String,
}
#[derive(Clone, Debug)]
pub struct Located {
    pub strategy: Strategy,
    pub replacements: Vec<Replacement>,
}
#[derive(Clone, Debug)]
pub enum Miss {
    Ambiguous { strategy: Strategy, places: Vec<Place> },
    Count { strategy: Strategy, expected: usize, places: Vec<Place> },
    NotFound(Diagnosis),
}
#[derive(Clone, Debug)]
pub struct Place {
    pub line: usize,
    pub text: String,
}
/// `summary` fits the first lines of an error (≤ 300 characters); `details` shows the nearest block.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    pub summary: String,
    pub details: String,
    pub already_applied: bool,
}
pub fn locate(text: &str, request: &Request<'_>) -> Result<Located, Miss> {
    todo!()
}
#[derive(Clone, Debug)]
pub struct Diff {
    pub text: String,
    pub added: usize,
    pub removed: usize,
    pub cut_lines: usize,
}
/// Unified diff with `--- a/path` and `+++ b/path`; at most `max_lines` lines of hunks.
pub fn unified_diff(path: &str, old: &str, new: &str, max_lines: Option<usize>) -> Diff {
    todo!()
}
