//! Why a request does not apply.

use super::Strategies;

/// At most so many places are listed in a [`EditError`]; a list of this length means "or more".
pub const MAX_PLACES: usize = 1000;

/// Why a request does not apply.
#[derive(Clone, Debug)]
pub enum EditError {
    /// Several places match and only one was asked for.
    Ambiguous {
        /// The step that found them.
        strategy: Strategies,
        /// At least two, at most [`MAX_PLACES`].
        places: Vec<Place>,
    },
    /// The number of places is not the expected one.
    Count {
        /// The step that found them.
        strategy: Strategies,
        /// `expected_replacements`.
        expected: usize,
        /// At least one, at most [`MAX_PLACES`].
        places: Vec<Place>,
    },
    /// All places were asked for, and their replacements would take too much memory.
    TooMany {
        /// At least so many places match.
        places: usize,
    },
    /// No place matches.
    NotFound(Diagnosis),
}

/// A place that matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Counted from 1, as `read` does.
    pub line: usize,
    /// That line, cut to a printable length.
    pub text: String,
}

/// What is known about a text that was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// One to three lower-case clauses of at most 300 characters: the first lines of an error.
    pub summary: String,
    /// Further differences and the nearest block with line numbers; may be empty.
    pub details: String,
    /// What to do about it.
    pub next: Next,
}

impl Diagnosis {
    /// There is no place to be shown.
    pub(super) fn without_place(summary: String) -> Self {
        Self { summary, details: String::new(), next: Next::Read }
    }
}

/// What a model does best about a text that was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Copy the lines that the details show.
    Copy,
    /// Read the file: there is nothing to be shown.
    Read,
    /// Look whether the change is made already.
    Look,
    /// Ask for parts of words as well.
    LeaveOutWord,
    /// Send less of the text, without the path in it: the client may have shown another one than the file has.
    LeaveOutPath,
}
