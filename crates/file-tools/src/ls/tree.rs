//! Lists directories level by level, so that a limit cuts the deepest names first; and exact totals: what is in a directory
//! and in those below it, to the bottom.

use std::{
    cmp::Ordering,
    collections::{HashMap, VecDeque},
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Duration,
};

use confined_fs::stop::{StopReason, StopSignal};
use confined_fs::walk::{Entry, Ignored, LimitsHit, StatCache, WalkOptions};
use confined_fs::{AccessError, AccessErrorKind, FileKind, Stat, WorkspacePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tree_search::{DirectoryNames, PathSource, SearchEntry};

use super::super::{CallContext, ToolError, answer::count};

pub(super) const MAX_RESULTS: usize = 2000;
/// Entries shown of a nested directory.
const MAX_NESTED: usize = 100;
/// Names between two looks at the clock.
const CHECK_EVERY: usize = 256;
/// How long the entries of directories that are not opened are counted.
const MAX_COUNT_TIME: Duration = Duration::from_secs(2);

pub(super) struct ListRequest {
    pub(super) depth: usize,
    pub(super) ignored: Ignored,
    pub(super) offset: usize,
    pub(super) limit: usize,
    pub(super) sort: Sort,
    /// Whether each entry is shown with its time and mode, and each directory with its total.
    pub(super) long: bool,
    pub(super) over_maximum: Vec<String>,
}

pub(super) struct Tree {
    pub(super) start: WorkspacePath,
    pub(super) listings: Vec<Listing>,
    pub(super) totals: Option<Totals>,
    /// Directories within the depth that were not listed, the limit being reached.
    pub(super) unlisted: usize,
    pub(super) unreadable: usize,
    pub(super) worktrees: usize,
    pub(super) timed_out: bool,
    pub(super) limits_hit: LimitsHit,
}

struct Names<'c> {
    cx: &'c CallContext,
    directories: DirectoryNames<'c>,
    stats: StatCache,
}

/// Stats an entry; where its directory cannot be opened for itself, as with too many open files, by its path.
fn stat_of(stats: &mut StatCache, entry: &Entry) -> Option<Stat> {
    stats.stat(entry).or_else(|_| entry.stat()).ok()
}

impl ListRequest {
    /// The tree below `start`.
    ///
    /// # Errors
    /// When `start` cannot be listed, or the call was cancelled.
    pub(super) fn tree(&self, cx: &CallContext, start: &WorkspacePath) -> Result<Tree, ToolError> {
        let mut names =
            Names { cx, directories: cx.path_index.directory_names(&cx.workspace, start), stats: StatCache::default() };
        let top = self
            .list(&mut names, start, self.offset, self.limit)
            .map_err(|error| ToolError::access(&cx.workspace, error))?;
        let mut left = self.limit - top.items.len();
        let mut tree = Tree {
            start: start.clone(),
            listings: vec![top],
            totals: None,
            unlisted: 0,
            unreadable: 0,
            worktrees: 0,
            timed_out: false,
            limits_hit: LimitsHit::default(),
        };
        let mut queue = VecDeque::from([(0, 1)]);
        while let Some((at, depth)) = queue.pop_front() {
            if depth == self.depth {
                continue;
            }
            for place in 0..tree.listings[at].items.len() {
                let entry = &tree.listings[at].items[place].entry;
                if entry.kind() != FileKind::Directory {
                    continue;
                }
                let directory = entry.path().clone();
                tree.timed_out |= out_of_time(&cx.stop)?;
                let state = self.directory(&mut names, &directory, &mut left, &mut tree);
                if let State::Listed(listed) = state {
                    queue.push_back((listed, depth + 1));
                }
                tree.listings[at].items[place].state = state;
            }
        }
        tree.timed_out |= out_of_time(&cx.stop)?;
        if !tree.timed_out {
            self.count_unopened(&names, &mut tree)?;
        }
        for listing in &tree.listings {
            tree.limits_hit.add(listing.limits_hit.clone());
        }
        // Last, as it may take seconds: what time is left by then is for the totals.
        if self.long {
            let items = tree.listings.iter().flat_map(|listing| &listing.items).map(|item| &item.entry);
            let directories = items.filter(|entry| entry.kind() == FileKind::Directory).map(Entry::path);
            tree.totals = Some(Totals::count(cx, start, directories, self.ignored)?);
        }
        Ok(tree)
    }

    /// Lists one directory of the tree, with at most `left` entries.
    fn directory(&self, names: &mut Names<'_>, directory: &WorkspacePath, left: &mut usize, tree: &mut Tree) -> State {
        if !tree.timed_out && names.cx.workspace.is_linked_worktree(directory) {
            tree.worktrees += 1;
            return State::Worktree;
        }
        if *left == 0 || tree.timed_out {
            tree.unlisted += 1;
            return State::Leaf;
        }
        match self.list(names, directory, 0, MAX_NESTED.min(*left)) {
            Ok(listing) => {
                *left -= listing.items.len();
                tree.listings.push(listing);
                State::Listed(tree.listings.len() - 1)
            }
            Err(AccessError { kind: AccessErrorKind::Limit(limit), .. }) => {
                tree.limits_hit.directory(limit);
                State::Unreadable
            }
            Err(_) => {
                tree.unreadable += 1;
                State::Unreadable
            }
        }
    }

    /// The entries of a directory after the first `skip`, at most `most`. Sorted before anything is cut.
    fn list(
        &self,
        names: &mut Names<'_>,
        directory: &WorkspacePath,
        skip: usize,
        most: usize,
    ) -> Result<Listing, AccessError> {
        let Names { cx, directories, stats } = names;
        let keep = skip + most;
        let (mut items, mut visited, mut files) = (Vec::new(), 0, 0);
        let (report, source) = directories.walk(directory, self.ignored, &mut |name| {
            visited += 1;
            files += usize::from(name.kind() != FileKind::Directory);
            // The walk is in the order of names, so no later file comes before these.
            if self.sort == Sort::Name && name.kind() != FileKind::Directory && files > keep {
                return continues(cx, visited);
            }
            // While a walk is in a directory, a stat takes no open. Of listed names only those that are shown need one.
            let is_walked = matches!(name, SearchEntry::Walked(_));
            let entry = name.into_entry();
            let stat = match self.sort {
                _ if is_walked => self.needs_stat(entry.kind()).then(|| entry.stat().ok()).flatten(),
                Sort::Name => None,
                Sort::Modified | Sort::Size => stat_of(stats, &entry),
            };
            items.push(Item { entry, stat, state: State::Leaf });
            // A directory may have millions of entries.
            if items.len() >= 2 * keep.max(CHECK_EVERY) {
                self.cut(&mut items, keep);
            }
            continues(cx, visited)
        })?;
        self.cut(&mut items, keep);
        items.drain(..skip.min(items.len()));
        if source == PathSource::Index && self.sort == Sort::Name {
            for item in items.iter_mut().filter(|item| self.needs_stat(item.entry.kind())) {
                item.stat = stat_of(stats, &item.entry);
            }
        }
        // An index knows how many there are, and not each of them.
        let mut ignored_entries = Vec::new();
        if (1..=MAX_NAMED).contains(&(report.ignored_files + report.ignored_dirs)) {
            directories.walk(directory, Ignored::Only, &mut |name| {
                ignored_entries.push(name.into_entry());
                if ignored_entries.len() > MAX_NAMED { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
        }
        Ok(Listing {
            more: visited.saturating_sub(skip + items.len()),
            items,
            ignored: report.ignored_files + report.ignored_dirs,
            ignored_entries,
            limits_hit: report.limits_hit,
        })
    }

    /// Whether the stat of an entry of this kind is shown, or decides the order.
    fn needs_stat(&self, kind: FileKind) -> bool {
        self.long || self.sort != Sort::Name || kind == FileKind::File
    }

    fn cut(&self, items: &mut Vec<Item>, keep: usize) {
        items.sort_by(|one, two| self.sort.compare(one, two));
        items.truncate(keep);
    }

    fn count_unopened(&self, names: &Names<'_>, tree: &mut Tree) -> Result<(), ToolError> {
        let Names { cx, directories, .. } = names;
        let stop = cx.stop.with_earlier_deadline(MAX_COUNT_TIME);
        let items = tree.listings.iter_mut().flat_map(|listing| &mut listing.items);
        for item in items.filter(|item| item.entry.kind() == FileKind::Directory) {
            if !matches!(item.state, State::Leaf) {
                continue;
            }
            if out_of_time(&stop)? {
                break;
            }
            if cx.workspace.is_linked_worktree(item.entry.path()) {
                tree.worktrees += 1;
                item.state = State::Worktree;
                continue;
            }
            let mut entries = 0;
            let counted = directories.walk(item.entry.path(), self.ignored, &mut |_| {
                entries += 1;
                if entries == MAX_COUNTED { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            item.state = match counted {
                Ok((report, _)) => {
                    State::Counted(Counted { entries, ignored: report.ignored_files + report.ignored_dirs })
                }
                // Too many open files say nothing of this directory, so it is not called unreadable.
                Err(error) if matches!(error.kind, AccessErrorKind::Limit(_)) => State::Leaf,
                Err(_) => {
                    tree.unreadable += 1;
                    State::Unreadable
                }
            };
        }
        Ok(())
    }
}

/// Ends a walk that has visited `visited` names when the call is over.
fn continues(cx: &CallContext, visited: usize) -> ControlFlow<()> {
    if visited.is_multiple_of(CHECK_EVERY) && cx.stop.stopped().is_some() {
        return ControlFlow::Break(());
    }
    ControlFlow::Continue(())
}

/// Whether the call has used up its time; a cancelled one is an error.
fn out_of_time(stop: &StopSignal) -> Result<bool, ToolError> {
    match stop.stopped() {
        Some(StopReason::Cancelled) => Err(ToolError::cancelled()),
        reason => Ok(reason.is_some()),
    }
}

/// Names that are counted of a directory that is not opened.
pub(super) const MAX_COUNTED: usize = 10_000;

/// Ignored entries that are named, where there are no more.
pub(super) const MAX_NAMED: usize = 3;

#[derive(Default)]
pub(super) struct Listing {
    /// The entries that are shown, in order. A directory has its place among the listings when it was listed too.
    pub(super) items: Vec<Item>,
    pub(super) more: usize,
    pub(super) ignored: usize,
    /// They themselves, as many as are named at most and one more.
    pub(super) ignored_entries: Vec<Entry>,
    pub(super) limits_hit: LimitsHit,
}

pub(super) struct Item {
    pub(super) entry: Entry,
    pub(super) stat: Option<Stat>,
    pub(super) state: State,
}

#[derive(Clone, Copy)]
pub(super) enum State {
    Leaf,
    Listed(usize),
    Counted(Counted),
    Unreadable,
    Worktree,
}

#[derive(Clone, Copy)]
pub(super) struct Counted {
    pub(super) entries: usize,
    pub(super) ignored: usize,
}

/// The order of the entries of each directory.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sort {
    #[default]
    Name,
    /// The newest first, of every kind, ties by name.
    Modified,
    /// The largest file first, then everything that is not a file, by name.
    Size,
}

impl Sort {
    pub(super) fn compare(self, one: &Item, two: &Item) -> Ordering {
        let by_name = || one.entry.path().cmp(two.entry.path());
        let is_directory = |item: &Item| item.entry.kind() == FileKind::Directory;
        let modified = |item: &Item| item.stat.as_ref().and_then(|stat| stat.modified);
        let size = |item: &Item| item.stat.as_ref().filter(|stat| stat.kind == FileKind::File).map(|stat| stat.size);
        match self {
            Self::Name => is_directory(two).cmp(&is_directory(one)),
            Self::Modified => modified(two).cmp(&modified(one)),
            Self::Size => size(two).cmp(&size(one)),
        }
        .then_with(by_name)
    }
}

/// How long totals are counted at most, within the time of the call.
const MAX_TOTALS_TIME: Duration = Duration::from_secs(10);

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
    /// `recursive: 45210 B in 12 files, 3 directories`
    pub(super) fn text(&self) -> String {
        let at_least = if self.incomplete { "at least " } else { "" };
        let mut text = format!("recursive: {at_least}{} B in {}", self.bytes, count(self.files, "file"));
        if self.directories > 0 {
            text.push_str(", ");
            text.push_str(&count(self.directories, "directory"));
        }
        text
    }
}

#[derive(Debug)]
pub(super) struct Totals {
    start: WorkspacePath,
    by_path: HashMap<PathBuf, Total>,
    pub(super) ignored: usize,
    pub(super) worktrees: usize,
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
        let stop = cx.stop.with_earlier_deadline(MAX_TOTALS_TIME.min(cx.stop.limit() / 2));
        let (mut visited, mut last) = (0_usize, None);
        let mut stats = StatCache::default();
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
                    stat_of(&mut stats, &name.into_entry())
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
