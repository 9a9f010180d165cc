//! What is asked for and the change that comes of it; the ways in which a request may have been meant, and its lines.

use std::{cell::OnceCell, ops::Range, time::Duration};

use similar::{Algorithm, DiffOp};

use super::{Strategies, Strategy, diff};

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

/// Time for the diff of old against new lines; beyond it the diff is coarser, which only keeps fewer lines.
const DIFF_TIME: Duration = Duration::from_millis(100);

/// A request as whole lines, without their terminators.
pub(super) struct LineEdit<'r> {
    pub(super) old: Vec<&'r str>,
    pub(super) new: Vec<&'r str>,
    ops: Vec<DiffOp>,
    /// The lines go altogether, terminators included.
    pub(super) deletes: bool,
}

/// Changed lines: what `old` said, what the file has there, what `new` wants.
pub(super) struct Hunk<'h> {
    pub(super) old: &'h [&'h str],
    pub(super) file: &'h [&'h str],
    pub(super) new: &'h [&'h str],
}

impl<'r> LineEdit<'r> {
    /// Splits `old` and `new`, which end lines with LF only.
    ///
    /// `None` where they cannot be taken as lines: nothing but white space, or a final newline in only one of
    /// them, which would join two lines or part them by an empty one; that is meant so rarely, and slipped in so
    /// often, that only an exact match does it.
    pub(super) fn new(old: &'r str, new: &'r str) -> Option<Self> {
        if old.trim().is_empty() {
            return None;
        }
        let deletes = old.ends_with('\n') && new.is_empty();
        let (old, new) = match (old.strip_suffix('\n'), new.strip_suffix('\n')) {
            (Some(old), Some(new)) => (old, new),
            (Some(old), None) if deletes => (old, new),
            (None, None) => (old, new),
            (Some(_), None) | (None, Some(_)) => return None,
        };
        let old: Vec<&str> = old.split('\n').collect();
        let new: Vec<&str> = if deletes { Vec::new() } else { new.split('\n').collect() };
        Some(Self::of_lines(old, new, deletes))
    }

    /// The request of these lines; `deletes`: they go altogether.
    pub(super) fn of_lines(old: Vec<&'r str>, new: Vec<&'r str>, deletes: bool) -> Self {
        let deadline = diff::deadline(old.len() + new.len(), DIFF_TIME);
        let ops = similar::capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline);
        Self { old, new, ops, deletes }
    }

    /// Whether there is enough to recognise: a lone brace is no description of a place.
    pub(super) fn has_substance(&self) -> bool {
        self.old.iter().flat_map(|line| line.chars()).filter(|character| character.is_alphanumeric()).nth(2).is_some()
    }

    /// Runs of lines that `old` and `new` share and those that differ, as ranges into both.
    pub(super) fn changes(&self) -> impl Iterator<Item = (bool, Range<usize>, Range<usize>)> + '_ {
        self.ops.iter().map(|op| (matches!(op, DiffOp::Equal { .. }), op.old_range(), op.new_range()))
    }
}

/// The texts of a request as it may have been meant; lines end with LF only.
pub(super) struct Reading {
    pub(super) old: String,
    pub(super) new: String,
    /// What had to be assumed.
    pub(super) by: Strategies,
    /// Whether only a place with the same indentation shows that it was meant so.
    pub(super) is_doubtful: bool,
}

/// A reading and its lines, compared once for all steps.
pub(super) struct LineReading<'r> {
    pub(super) text: &'r Reading,
    /// Whether nobody can tell how its new text is meant.
    is_unclear: bool,
    edit: OnceCell<Option<LineEdit<'r>>>,
}

impl<'r> LineReading<'r> {
    pub(super) fn new(text: &'r Reading, is_unclear: bool) -> Self {
        Self { text, is_unclear, edit: OnceCell::new() }
    }

    /// The request as whole lines; `None` where it cannot be taken as such.
    pub(super) fn edit(&self) -> Option<&LineEdit<'r>> {
        let edit = || if self.is_unclear { None } else { LineEdit::new(&self.text.old, &self.text.new) };
        self.edit.get_or_init(edit).as_ref()
    }

    /// Whether it is likely enough for the steps that look for what is nearly the same.
    pub(super) fn is_likely(&self) -> bool {
        let likely = [Strategy::Exact, Strategy::LineNumbers, Strategy::Entities];
        !self.text.is_doubtful && likely.iter().any(|only| self.text.by == *only)
    }
}
