//! Problems of a text, such as syntax errors: what they are, which of them a change has introduced, how they are shown.
//!
//! The checks that find them are in [`syntax`](super::syntax); others may come from outside of the process.

mod changed_lines;
mod problem;
mod render;

pub use changed_lines::{ChangedLines, new_problems};
pub use problem::{Problem, Severity};
pub use render::{MAX_SHOWN, ShownProblems};
