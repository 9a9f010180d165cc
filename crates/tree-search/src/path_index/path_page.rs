//! A few hundred consecutive paths of a list, in arrays.
//!
//! A search passes over the summaries alone, which are consecutive in memory. They are made here whenever a path is
//! added or changed, and nowhere else, so that none can differ from its path.

use std::path::Path;

use super::{PathState, PathSummary, path_text::PathText};

/// Consecutive paths.
#[derive(Clone, Debug, Default)]
pub(super) struct PathPage {
    text: PathText,
    states: Vec<PathState>,
    summaries: Vec<PathSummary>,
}

impl PathPage {
    /// Paths of one page at most: a change copies one page where a search holds the list, so they should be few; a page
    /// has five allocations, so they should be many.
    pub(super) const MOST: usize = 512;

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.len() >= Self::MOST || self.text.is_full()
    }

    /// The path below the root.
    pub(super) fn relative(&self, slot: usize) -> &Path {
        self.text.get(slot)
    }

    pub(super) fn state(&self, slot: usize) -> &PathState {
        &self.states[slot]
    }

    /// The summaries, one for each path.
    pub(super) fn summaries(&self) -> &[PathSummary] {
        &self.summaries
    }

    /// Adds a path behind all others.
    pub(super) fn push(&mut self, relative: &Path, state: PathState) {
        self.text.push(relative);
        self.summaries.push(PathSummary::of(&state));
        self.states.push(state);
    }

    /// Changes what is known of a path.
    pub(super) fn change<T>(&mut self, slot: usize, change: impl FnOnce(&mut PathState) -> T) -> T {
        let state = &mut self.states[slot];
        let result = change(state);
        self.summaries[slot] = PathSummary::of(state);
        result
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.text.shrink_to_fit();
        self.states.shrink_to_fit();
        self.summaries.shrink_to_fit();
    }

    /// Memory held, in bytes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>()
            + self.text.memory()
            + self.states.capacity() * size_of::<PathState>()
            + self.summaries.capacity() * size_of::<PathSummary>()
            + self.states.iter().map(PathState::memory).sum::<usize>()
    }
}
