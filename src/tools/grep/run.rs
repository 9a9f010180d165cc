//! The search of `grep`, and the look at the files that the ignore rules leave out.

use std::sync::atomic::{AtomicU64, Ordering};

use confined_fs::{Ignored, IgnoredEntries, stop::StopSignal};
use tree_search::{ContentHits, Keep, Query, Scope, SearchMode, SearchProgress, search};

use super::{
    super::{
        CallContext, ToolError,
        omissions::{self, InIgnored},
    },
    args::OutputMode,
    request::GrepRequest,
};

/// Bytes of text that are kept in any case: those of a match with all its context.
const LEAST_TEXT: usize = 256 << 10;
/// Kept text may be this many times what is shown: it is counted with its overhead.
const TEXT_FACTOR: usize = 4;

impl GrepRequest {
    /// Searches; or counts what there is in the files that an earlier search left out.
    pub(super) fn run(
        &self,
        cx: &CallContext,
        scope: &Scope,
        stop: &StopSignal,
        entries: Option<&IgnoredEntries>,
    ) -> Result<ContentHits, ToolError> {
        let mode = match self.search_mode() {
            SearchMode::Lines { .. } if entries.is_some() => SearchMode::Counts,
            mode => mode,
        };
        let keep = if entries.is_some() { Keep::Nothing } else { self.keep() };
        self.search(cx, scope, stop, (mode, keep), entries)
    }

    /// One search in that mode.
    pub(super) fn search(
        &self,
        cx: &CallContext,
        scope: &Scope,
        stop: &StopSignal,
        (mode, keep): (SearchMode, Keep),
        entries: Option<&IgnoredEntries>,
    ) -> Result<ContentHits, ToolError> {
        let ignored = if entries.is_some() { Ignored::Only } else { self.ignored() };
        let last = AtomicU64::new(0);
        let query = Query {
            pattern: &self.pattern,
            names: self.names.as_ref(),
            mode,
            keep,
            text_budget: cx.budget.most_bytes().saturating_mul(TEXT_FACTOR).max(LEAST_TEXT),
            max_file_size: cx.settings.max_search_file_size,
            threads: cx.settings.search_threads(),
            stop,
            progress: &|progress| {
                let (done, total, what) = match progress {
                    SearchProgress::Files(files) => (files as u64, None, format!("searched {files} files")),
                    SearchProgress::Bytes { done, total } => {
                        (done, Some(total), format!("searched {done} of {total} bytes"))
                    }
                };
                // Progress must grow from update to update.
                if last.fetch_max(done, Ordering::Relaxed) < done {
                    cx.report(done, total, what);
                }
            },
            path_index: Some(&cx.path_index),
            ignored_entries: entries,
        };
        search(&cx.workspace, scope, &mut self.filter.clone(), ignored, &query)
            .map_err(|error| ToolError::access(&cx.workspace, error))
    }

    /// Counts what ignored files hold, for a moment, after a search that left them out: an answer
    /// says what it does not show. `None` where there is nothing to say.
    pub(super) fn look_into_ignored(&self, cx: &CallContext, scope: &Scope, found: &ContentHits) -> Option<InIgnored> {
        let ignored = found.walk.ignored_files + found.walk.ignored_dirs;
        if self.no_ignore || ignored == 0 || !found.complete() || scope.file().is_some() {
            return None;
        }
        let stop = cx.stop.with_earlier_deadline(omissions::time_for_ignored(found.matches > 0));
        let below = self.run(cx, scope, &stop, Some(&found.walk.ignored_entries)).ok()?;
        let count = match self.mode {
            OutputMode::FilesWithMatches | OutputMode::FilesWithoutMatch => below.matching_files,
            OutputMode::Content | OutputMode::Count | OutputMode::Definitions => below.matches,
        };
        let exact = below.stopped.is_none();
        // A pass that was cut and met nothing is worth a word only where nothing else was found.
        (count > 0 || (!exact && found.matches == 0)).then_some(InIgnored { count, exact })
    }
}
