//! What a check of one text has found.

use crate::text::problems::{Problem, Severity};

/// What is wrong at one place of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The byte it is at.
    pub(super) at: usize,
    /// What is wrong.
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }

    /// The fault of `text`, as a problem.
    pub(super) fn problem(self, text: &str, severity: Severity, source: &'static str) -> Problem {
        Problem::at(text, self.at, severity, source, self.message)
    }
}

/// What a check of a text has found.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    /// Where the text stops being valid; what follows was not checked.
    pub(super) error: Option<Fault>,
    /// What is allowed, but hardly meant.
    pub(super) warnings: Vec<Fault>,
}

/// The line of the byte `at`, from 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    memchr::memchr_iter(b'\n', &text.as_bytes()[..at.min(text.len())]).count() + 1
}
