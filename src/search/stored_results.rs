//! What the stored index knows of the files that a walk meets, for one search.
//!
//! A result counts only for a file that a stat of now shows in the state that the index knows. Names, ignore rules and
//! policy are the walk's to decide.

use std::sync::Arc;

use super::{
    Candidates, FilterQuery, KnownResult, Pattern, Skipped,
    stored_index::{StoredCursor, StoredIndex},
};
use crate::workspace::{Entry, SiblingCache, StatFacts};

/// The results for one pattern below one root.
#[derive(Debug)]
pub(super) struct StoredResults {
    cursor: StoredCursor,
    candidates: Candidates,
    /// Files of which nothing is known.
    pub(super) unknown: usize,
}

/// The result for a file, as long as it is in a state.
#[derive(Clone, Debug)]
pub(super) struct StoredResult {
    pub(super) facts: StatFacts,
    /// Why it is left out; `None` where it holds no match.
    pub(super) skipped: Option<Skipped>,
}

impl StoredResults {
    /// What `index` knows about `pattern`; `None` where that is nothing.
    pub(super) fn of(index: &Arc<StoredIndex>, pattern: &Pattern) -> Option<Self> {
        let candidates = index.candidates(FilterQuery::of(pattern)).filter(|candidates| !candidates.all())?;
        Some(Self { candidates, cursor: index.cursor(), unknown: 0 })
    }

    /// What is known of the result for a file that the walk met, as long as it has those facts.
    pub(super) fn of_file(
        &mut self,
        entry: &Entry,
        max_file_size: u64,
        searches_decoded: bool,
    ) -> Option<(KnownResult, StatFacts)> {
        let Some(stored) = self.cursor.file(entry.path().relative()) else {
            self.unknown += 1;
            return None;
        };
        let result = KnownResult::of(&stored.content, &mut self.candidates, max_file_size, searches_decoded);
        Some((result, stored.facts))
    }
}

impl StoredResult {
    /// Whether the file is in that state now. Where policy or a special file would keep it from being read, it is not.
    pub(super) fn is_of(&self, entry: &Entry, siblings: &mut SiblingCache) -> bool {
        entry.stat_to_read(siblings).is_some_and(|stat| stat.links() == 1 && stat.facts() == Some(self.facts))
    }
}
