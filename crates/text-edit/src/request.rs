//! What is asked for, and the change that comes of it.

use std::ops::Range;

/// Bytes that the replacements of one request may take in memory. Without a bound, a long `new_string` for
/// each letter of a large file costs all there is.
const MAX_INSERTED: usize = 128 << 20;

/// Places that one request may replace. The diff of more of them nobody reads, and it takes minutes to make.
const MAX_REPLACED: usize = 100_000;

/// What is to be changed.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The text to be replaced, as the caller believes it is in the file. Not empty.
    pub old: &'a str,
    /// What takes its place.
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
        (MAX_INSERTED / (self.new.len() + size_of::<Replacement>())).clamp(2, MAX_REPLACED + 1)
    }
}

/// One change, ready to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// Byte offsets into the text, on character boundaries.
    pub span: Range<usize>,
    /// What takes the span's place, its line endings and indentation already those of the file.
    pub text: String,
}
