//! The ways in which a request may have been meant, each with its lines.

use std::cell::OnceCell;

use super::{LineEdit, Strategies, Strategy};

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
