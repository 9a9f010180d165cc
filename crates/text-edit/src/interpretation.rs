//! Every way in which a request may have been meant: what a client or a model put around the text or made of its
//! characters is taken off, one kind of damage in each file below. And the lines of such a text, compared once.

pub(super) mod entities;
pub(super) mod escapes;
pub(super) mod gutter;

use std::{ops::Range, time::Duration};

use similar::DiffOp;

use super::{Strategies, Strategy, diff, line_parts::has_letters};

/// Interpretations of which no further ones are made: four kinds of damage on top of one another are rare.
const MAX_INTERPRETATIONS: usize = 64;

/// The old and the new text of a request without one kind of damage, in each way in which it may be meant, and whether only
/// a place with the same indentation shows that.
type TakeOff = fn(&str, &str) -> Vec<(String, String, bool)>;

/// The kinds of damage, in the order in which they are taken off.
const DAMAGES: [(Strategy, TakeOff); 3] = [
    (Strategy::LineNumbers, gutter::taken_off),
    (Strategy::Entities, entities::taken_off),
    (Strategy::Escapes, escapes::taken_off),
];

/// The texts of a request as it may have been meant; lines end with LF only.
pub(super) struct Interpretation {
    pub(super) old: String,
    pub(super) new: String,
    /// The damages that had to be assumed.
    pub(super) by: Strategies,
    /// Whether only a place with the same indentation shows that it was meant so.
    pub(super) is_doubtful: bool,
}

impl Interpretation {
    /// Every one of a request: each damage taken off, and those that are below it.
    pub(super) fn all(given: Self) -> Vec<Self> {
        let mut all = vec![given];
        let mut at = 0;
        while at < all.len() && all.len() < MAX_INTERPRETATIONS {
            let one = &all[at];
            let mut found = Vec::new();
            for (strategy, take_off) in DAMAGES.iter().filter(|(strategy, _)| !one.by.has(*strategy)) {
                found.extend(take_off(&one.old, &one.new).into_iter().map(|(old, new, is_doubtful)| Self {
                    old,
                    new,
                    by: one.by.with(*strategy),
                    is_doubtful: one.is_doubtful || is_doubtful,
                }));
            }
            for one in found {
                if all.iter().all(|known| (&known.old, &known.new) != (&one.old, &one.new)) {
                    all.push(one);
                }
            }
            at += 1;
        }
        all
    }

    /// The request as whole lines; `None` where it cannot be taken as such, or its new text is unclear.
    pub(super) fn edit(&self) -> Option<LineEdit<'_>> {
        if escapes::brings_in_quotes(&self.old, &self.new) { None } else { LineEdit::new(&self.old, &self.new) }
    }

    /// Whether it is likely enough for the steps that look for what is nearly the same.
    pub(super) fn is_likely(&self) -> bool {
        let likely = [Strategy::Exact, Strategy::LineNumbers, Strategy::Entities];
        !self.is_doubtful && likely.iter().any(|only| self.by == *only)
    }
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
        Self { ops: diff::ops(&old, &new, DIFF_TIME), old, new, deletes }
    }

    /// Whether there is enough to recognise: a lone brace is no description of a place.
    pub(super) fn has_substance(&self) -> bool {
        has_letters(self.old.iter().copied(), 3)
    }

    /// Runs of lines that `old` and `new` share and those that differ, as ranges into both.
    pub(super) fn changes(&self) -> impl Iterator<Item = (bool, Range<usize>, Range<usize>)> + '_ {
        self.ops.iter().map(|op| (matches!(op, DiffOp::Equal { .. }), op.old_range(), op.new_range()))
    }
}
