//! A request as whole lines, and which of them change.

use std::{ops::Range, time::Duration};

use similar::{Algorithm, DiffOp};

use super::diff;

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
