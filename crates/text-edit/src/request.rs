//! What is asked for, the change that comes of it, and why there is none.

use std::ops::Range;

use text_file::shorten;

use super::Strategies;

/// Bytes that the replacements of one request may take in memory. Without a bound, a long `new_string` for
/// each letter of a large file costs all there is.
const MAX_INSERTED: usize = 128 << 20;

/// Places that one request may replace. The diff of more of them nobody reads, and it takes minutes to make.
const MAX_REPLACED: usize = 100_000;

/// A change that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The text to be replaced, as the caller believes it is in the file. Not empty.
    pub old: &'a str,
    /// The text that takes its place.
    pub new: &'a str,
    /// Replaces every place instead of demanding a single one.
    pub replace_all: bool,
    /// How many places the caller expects. A number above one that is met exactly is as good as
    /// `replace_all`: nothing is ambiguous about it.
    pub expected_replacements: Option<usize>,
}

impl Request<'_> {
    pub(super) fn wants_all(&self) -> bool {
        self.replace_all || self.expected_replacements.is_some_and(|count| count > 1)
    }

    /// How many places may take the new text when all of them are asked for.
    pub fn most_places(&self) -> usize {
        // A search that finds as many as this is refused: one more than is allowed, and one alone is never too many.
        (MAX_INSERTED / (self.new.len() + size_of::<Replacement>())).clamp(2, MAX_REPLACED + 1)
    }
}

/// One change, ready to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// Byte offsets into the text, on character boundaries.
    pub span: Range<usize>,
    /// The text in the span's place, its line endings and indentation already those of the file.
    pub text: String,
}

/// Where a request applies.
#[derive(Clone, Debug)]
pub struct Located {
    /// How the places were found; to be named to the model unless exact.
    pub strategy: Strategies,
    /// At least one, ascending by place and disjoint.
    pub replacements: Vec<Replacement>,
}

/// Most places that are listed in an [`EditError`]; a list of this length means "or more".
pub const MAX_PLACES: usize = 1000;

/// Why a request does not apply.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EditError {
    /// Several places match and only one was asked for.
    #[error("the text occurs at {} places", places.len())]
    Ambiguous {
        /// The step that found them.
        strategy: Strategies,
        /// At least two, at most [`MAX_PLACES`].
        places: Vec<Location>,
    },
    /// The number of places is not the expected one.
    #[error("the text occurs at {} places, not at the expected {expected}", places.len())]
    Count {
        /// The step that found them.
        strategy: Strategies,
        /// The number in `expected_replacements`.
        expected: usize,
        /// At least one, at most [`MAX_PLACES`].
        places: Vec<Location>,
    },
    /// All places were asked for, and their replacements would take too much memory.
    #[error("the text occurs at {places} places or more, too many to replace at once")]
    TooMany {
        /// At least this many places match.
        places: usize,
    },
    /// No place matches, for this reason.
    #[error("{}", .0.summary)]
    NotFound(Diagnosis),
}

/// A place that matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Its line in the text, counted from 1.
    pub line: usize,
    /// That line, cut to a printable length.
    pub text: String,
}

impl Location {
    /// The place at a line, whose text is cut to 160 characters.
    pub(super) fn of(line: usize, text: &str) -> Self {
        Self { line, text: shorten(text, 160).into_owned() }
    }
}

/// An explanation for a text that was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// One to three lower-case clauses of at most 300 characters: the first lines of an error.
    pub summary: String,
    /// Further differences and the nearest block with line numbers; may be empty.
    pub details: String,
    /// The next step that helps most.
    pub next: Next,
}

impl Diagnosis {
    pub(super) fn without_place(summary: String) -> Self {
        Self { summary, details: String::new(), next: Next::Read }
    }
}

/// The best next step of a model whose text was not found.
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
