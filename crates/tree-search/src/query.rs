//! What a content search is asked for: the pattern, which results and in what form, and its bounds.

use std::sync::Arc;

use confined_fs::{IgnoredEntries, stop::StopSignal};

use super::{PathIndex, Pattern, SearchProgress};

/// What a search is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMode {
    /// The matching lines, with so many lines around them.
    Lines {
        /// Lines before each match.
        before: usize,
        /// Lines after each match.
        after: usize,
    },
    /// Only which files match.
    Files,
    /// Only which files hold no match.
    FilesWithout,
    /// How many matches each file has.
    Counts,
    /// The lines that define a name which the pattern matches.
    Definitions {
        /// Declarations without a body, and no others.
        prototypes: bool,
    },
}

impl SearchMode {
    /// Whether results are lines, not files.
    pub(super) fn is_of_lines(self) -> bool {
        matches!(self, Self::Lines { .. } | Self::Definitions { .. })
    }
}

/// Which results are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// `take` results after the first `skip`, in path order; the search ends when they and one
    /// more are complete. Results are matches where lines are shown, files otherwise.
    Page {
        /// Results that earlier pages have shown.
        skip: usize,
        /// Results on this page.
        take: usize,
    },
    /// The `limit` most recently modified files.
    Newest {
        /// How many files.
        limit: usize,
    },
    /// None: only the counts matter.
    #[default]
    Nothing,
}

/// What is searched for, and how much of it is wanted.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// What a line must match.
    pub pattern: &'a Pattern,
    /// What the name of a definition must match, where that is not the pattern: the pattern finds the files.
    pub names: Option<&'a Pattern>,
    /// What is wanted of a match.
    pub mode: SearchMode,
    /// Which results are wanted.
    pub keep: Keep,
    /// Bytes of text that can be shown at most; each chunk keeps no more.
    pub text_budget: usize,
    /// Bytes of the largest file that is searched unless it is named.
    pub max_file_size: u64,
    /// Threads, the calling one included.
    pub threads: usize,
    /// Cancellation and deadline.
    pub stop: &'a StopSignal,
    /// Called a few times a second with how far the search is.
    pub progress: &'a (dyn Fn(SearchProgress) + Sync),
    /// What is kept between calls, where anything is.
    pub path_index: Option<&'a Arc<PathIndex>>,
    /// For a search of ignored files alone: what an earlier search left out.
    pub ignored_entries: Option<&'a IgnoredEntries>,
}

impl Query<'_> {
    /// Whether a file with so many matches is a result.
    pub(super) fn is_result(&self, matches: usize) -> bool {
        (matches == 0) == (self.mode == SearchMode::FilesWithout)
    }

    /// Whether a page is counted before its lines are fetched: a later page needs the number of matches
    /// before a file to know which of its lines to keep, and several threads do not know it.
    pub(super) fn counts_first(&self) -> bool {
        self.threads > 1 && self.mode.is_of_lines() && matches!(self.keep, Keep::Page { skip: 1.., .. })
    }
}
