//! The walk of `glob`, and the look at what the ignore rules leave out.

use std::ops::ControlFlow;

use confined_fs::{
    FileKind, Ignored, IgnoredEntries, WalkOptions, WalkReport, WorkspacePath,
    stop::{StopReason, StopSignal},
};
use tree_search::{NewestNames, PathSource, SearchEntry, walk_ignored_entries};

use super::{
    super::{
        CallContext, ToolError,
        omissions::{self, InIgnored},
    },
    request::GlobRequest,
    seen_names::SeenNames,
};

/// Names between two looks at the clock.
const CHECK_EVERY: usize = 64;
/// Names between two progress reports.
const REPORT_EVERY: usize = 10_000;

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct GlobHits {
    /// The first `skip + take` paths in order; whether each is a directory.
    pub(super) paths: Vec<(WorkspacePath, bool)>,
    /// Paths found in all, or up to where the walk ended.
    pub(super) total: usize,
    /// Matching directories that were not asked for.
    pub(super) directories: usize,
    /// Files and directories looked at.
    pub(super) visited: usize,
    /// The walk ended because the page was complete.
    pub(super) capped: bool,
    pub(super) stopped: Option<StopReason>,
    pub(super) walk: WalkReport,
    pub(super) source: PathSource,
    /// The names that were met on the disk, as long as none matched.
    pub(super) seen: SeenNames,
}

impl GlobRequest {
    /// Walks; or looks through what an earlier walk left out.
    pub(super) fn walk(
        &self,
        cx: &CallContext,
        ignored: Ignored,
        stop: &StopSignal,
        entries: Option<&IgnoredEntries>,
    ) -> Result<GlobHits, ToolError> {
        let mut found = GlobHits::default();
        let counting = ignored == Ignored::Only;
        let wanted = self.skip + self.take;
        let mut looks_again = !counting;
        let mut newest = NewestNames::new(if counting { 0 } else { wanted }, cx.settings.search_threads());
        let options = WalkOptions { ignored, max_depth: None, directories: true, symlinks: false };
        for (number, start) in self.scope.starts().iter().enumerate() {
            let mut visit = |entry: SearchEntry<'_>| {
                found.visited += 1;
                if found.visited % CHECK_EVERY == 0 {
                    found.stopped = stop.stopped();
                    if found.stopped.is_some() {
                        return ControlFlow::Break(());
                    }
                    if found.visited % REPORT_EVERY < CHECK_EVERY && !counting {
                        cx.report(found.visited as u64, None, format!("looked at {} names", found.visited));
                    }
                }
                let directory = entry.kind() == FileKind::Directory;
                let relative = entry.relative_to(start);
                let is_match = (directory || entry.kind() == FileKind::File) && self.glob.matches(relative);
                if !is_match || self.scope.belongs_to_other_start(&cx.workspace, &entry) {
                    if looks_again && matches!(entry, SearchEntry::Walked(_)) {
                        let is_elsewhere = self.scope.belongs_to_other_start(&cx.workspace, &entry);
                        found.seen.push(number, (!is_elsewhere).then_some((entry.kind(), relative)));
                    }
                    return ControlFlow::Continue(());
                }
                if looks_again {
                    looks_again = false;
                    found.seen.forget();
                }
                if directory && !self.directories {
                    found.directories += 1;
                    return ControlFlow::Continue(());
                }
                found.total += 1;
                if counting {
                    return ControlFlow::Continue(());
                }
                if self.newest {
                    newest.push(entry, directory);
                } else if found.total > wanted {
                    found.capped = true;
                    return ControlFlow::Break(());
                } else {
                    found.paths.push((entry.into_path(), directory));
                }
                ControlFlow::Continue(())
            };
            let walked = match entries.and_then(IgnoredEntries::all) {
                Some(entries) => {
                    Ok((walk_ignored_entries(&cx.workspace, start, entries, &options, &mut visit), PathSource::Walk))
                }
                None => cx.path_index.walk(&cx.workspace, start, &options, &mut visit),
            };
            let (report, source) = walked.map_err(|error| ToolError::access(&cx.workspace, error))?;
            if source == PathSource::Index {
                // Met again as fast.
                found.seen.forget();
            }
            found.source = source;
            found.walk.add(report);
            if found.walk.stopped {
                break;
            }
        }
        if self.newest && !counting {
            found.paths = newest.into_sorted().collect();
        }
        Ok(found)
    }

    /// Counts what ignored folders hold, for a moment, after a walk that left them out.
    pub(super) fn look_into_ignored(&self, cx: &CallContext, found: &GlobHits) -> Option<InIgnored> {
        let ignored = found.walk.ignored_files + found.walk.ignored_dirs;
        if self.no_ignore || ignored == 0 || found.capped || found.stopped.is_some() {
            return None;
        }
        let stop = cx.stop.with_earlier_deadline(omissions::time_for_ignored(found.total > 0));
        let below = self.walk(cx, Ignored::Only, &stop, Some(&found.walk.ignored_entries)).ok()?;
        let exact = below.stopped.is_none();
        (below.total > 0 || (!exact && found.total == 0)).then_some(InIgnored { count: below.total, exact })
    }
}
