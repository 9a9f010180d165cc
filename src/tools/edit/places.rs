//! Where an edit applies in the text of a file.

use std::ops::Range;

use text_edit::Strategies;

use super::within_words::WithinWords;

/// The places of one edit and what takes them.
#[derive(Default)]
pub(super) struct Places {
    /// In the text of the file; ascending and disjoint.
    pub(super) spans: Vec<(Range<usize>, String)>,
    /// How they were found.
    pub(super) strategy: Strategies,
    /// How often the old text is replaced, which may be several times in one span.
    pub(super) replacements: usize,
    /// The cells of a notebook that they are in, counted from 1; empty if the text of the file itself was searched.
    pub(super) cells: Vec<usize>,
    /// What else there is to say of them.
    pub(super) note: Option<String>,
    /// Of all places, where all were asked for.
    pub(super) within: WithinWords,
}

impl Places {
    pub(super) fn one(span: Range<usize>, new: String) -> Self {
        Self { spans: vec![(span, new)], replacements: 1, ..Self::default() }
    }
}
