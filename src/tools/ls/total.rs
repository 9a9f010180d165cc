//! Exact totals: what is in a directory and in those below it, to the bottom.

use std::{
    collections::HashMap,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Duration,
};

use confined_fs::{FileKind, Ignored, WalkOptions, WorkspacePath, stop::StopReason};
use schemars::JsonSchema;
use serde::Serialize;
use tree_search::SearchEntry;

use super::super::{CallContext, ToolError, answer::count};

/// How long totals are counted at most, within the time of the call.
const MAX_TIME: Duration = Duration::from_secs(10);
/// Entries between two looks at the clock.
const CHECK_EVERY: usize = 256;

/// Counts of one directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Total {
    /// Bytes in the files.
    pub(super) bytes: u64,
    /// Files.
    pub(super) files: usize,
    /// Directories.
    pub(super) directories: usize,
    /// Whether this is not all, because the time was over or something cannot be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) incomplete: bool,
}

impl Total {
    /// `45210 B in 12 files, 3 directories`
    pub(super) fn text(&self) -> String {
        let at_least = if self.incomplete { "at least " } else { "" };
        let mut text = format!("{at_least}{} B in {}", self.bytes, count(self.files, "file"));
        if self.directories > 0 {
            text.push_str(", ");
            text.push_str(&count(self.directories, "directory"));
        }
        text
    }
}

/// The totals of a directory and of some below it.
#[derive(Debug)]
pub(super) struct Totals {
    start: WorkspacePath,
    /// By the path below the start.
    by_path: HashMap<PathBuf, Total>,
    /// Entries that ignore rules left out, as visited.
    pub(super) ignored: usize,
    /// Linked worktrees that were not counted, as visited.
    pub(super) worktrees: usize,
    /// Whether time ended the count.
    pub(super) stopped: bool,
}

impl Totals {
    /// Counts everything below `start`, and apart what is in each of `directories`.
    ///
    /// # Errors
    /// When the call was cancelled.
    pub(super) fn count<'p>(
        cx: &CallContext,
        start: &WorkspacePath,
        directories: impl Iterator<Item = &'p WorkspacePath>,
        ignored: Ignored,
    ) -> Result<Self, ToolError> {
        let below = |path: &WorkspacePath| path.relative_to(start).to_path_buf();
        let mut by_path: HashMap<PathBuf, Total> = directories
            .map(|path| (below(path), Total::default()))
            .chain([(PathBuf::new(), Total::default())])
            .collect();
        let options = WalkOptions { ignored, max_depth: None, directories: true, symlinks: false };
        let stop = cx.stop.with_earlier_deadline(MAX_TIME.min(cx.stop.limit() / 2));
        let (mut visited, mut last) = (0_usize, None);
        let mut stats = cx.workspace.shown_stats();
        // Of the names of one directory in a row.
        let (mut directory, mut sum) = (PathBuf::new(), Total::default());
        let walked = cx.path_index.directory_names(&cx.workspace, start).walk_all(&options, &mut |name| {
            let is_directory = name.kind() == FileKind::Directory;
            let above = name.relative_to(start).parent().unwrap_or(Path::new(""));
            if above.as_os_str() != directory.as_os_str() {
                add(&mut by_path, &directory, std::mem::take(&mut sum));
                directory.clear();
                directory.push(above);
            }
            visited += 1;
            if visited.is_multiple_of(CHECK_EVERY) && stop.stopped().is_some() {
                last = Some(name.relative_to(start).to_path_buf());
            }
            if is_directory {
                sum.directories += 1;
            } else {
                sum.files += 1;
                let known = if let SearchEntry::Walked(entry) = name {
                    entry.stat().ok()
                } else {
                    stats.stat(&name.into_entry())
                };
                sum.bytes = sum.bytes.saturating_add(known.map_or(0, |known| known.size));
            }
            if last.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        add(&mut by_path, &directory, sum);
        if cx.stop.stopped() == Some(StopReason::Cancelled) {
            return Err(ToolError::cancelled());
        }
        let report = walked.map_err(|error| ToolError::access(&cx.workspace, error))?;
        for (path, total) in &mut by_path {
            // The walk is in the order of paths: what comes before the last one was counted to its end.
            let is_over = |last: &PathBuf| path < last && !last.starts_with(path);
            let is_unreadable = report.unreadable.iter().any(|gone| gone.relative_to(start).starts_with(path))
                // Only the first ones are named: of more than these, any may be below here.
                || report.unreadable_count > report.unreadable.len()
                || report.limits_hit.directories > 0;
            total.incomplete = is_unreadable || last.as_ref().is_some_and(|last| !is_over(last));
        }
        let ignored = report.ignored_files + report.ignored_dirs;
        let (worktrees, stopped) = (report.worktrees, last.is_some());
        Ok(Self { start: start.clone(), by_path, ignored, worktrees, stopped })
    }

    /// The total of `directory`, if it was among those to be counted.
    pub(super) fn of(&self, directory: &WorkspacePath) -> Option<&Total> {
        let below: &Path = directory.relative_to(&self.start);
        self.by_path.get(if *directory == self.start { Path::new("") } else { below })
    }
}

/// Adds what was visited in one directory to its total and to those of the directories above it.
fn add(totals: &mut HashMap<PathBuf, Total>, directory: &Path, sum: Total) {
    for above in directory.ancestors() {
        if let Some(total) = totals.get_mut(above) {
            total.bytes = total.bytes.saturating_add(sum.bytes);
            total.files += sum.files;
            total.directories += sum.directories;
        }
    }
}
