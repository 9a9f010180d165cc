//! The path index: the paths of a large tree and an n-gram filter over its files, kept between calls.
//!
//! A search asks for a snapshot; what it gets is true for every system call below the root that had
//! returned before it asked. Where there is no index, as for small trees or on other platforms than
//! Linux, the search walks. The index is made in the background after a first search and is never
//! needed for an answer.
//!
//! # Limits
//! Some writes cause no event:
//!
//! - Linux AIO. While some process can write by it, all files are compared with the disk before each
//!   answer.
//! - Stores into a shared mapping while it stays open ([inotify(7)]), and writes through a name that a
//!   file was given later where nothing is watched. The first search after
//!   [`PathIndex::COMPARED_EVERY`] begins a comparison in the background that sees them; a search
//!   that is answered before it is done may not.
//!
//! [inotify(7)]: https://man7.org/linux/man-pages/man7/inotify.7.html

mod background;
mod fill;
mod indexed_path;
mod kept_names;
mod path_list;
mod path_table;
mod root_index;
mod update;
mod walk;

use std::{
    fmt,
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{Candidates, FilterQuery, Pattern};
use crate::workspace::{FileKind, Unwatchable, Workspace, WorkspacePath};

pub(in crate::search::path_index) use indexed_path::KnownStat;
pub(in crate::search) use indexed_path::{IndexedPath, KnownContent};
pub(in crate::search) use kept_names::{ListedName, Listing};
pub(in crate::search::path_index) use path_list::Edits;
pub(in crate::search) use path_table::PathSummary;
pub(in crate::search::path_index) use path_table::PathTable;
pub(in crate::search) use walk::walk_snapshot;
pub use walk::{PathSource, SearchEntry, Visit, walk_ignored_entries};

use kept_names::KeptNames;
use path_list::PathList;
use root_index::{COMPARED_EVERY, RootIndex, RootSlot, RootState, slot_of};

/// How long a batch of background work waits for searches to end, at most, and how often it looks. Waiting
/// before each file would be too much: with searches without end the filter would never be there, which is
/// when it is needed most.
const YIELD: Duration = Duration::from_millis(100);
const LOOK: Duration = Duration::from_millis(2);

/// Whether indexes are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexMode {
    /// For large trees, once they have been searched.
    #[default]
    Auto,
    /// Never: every search walks.
    Off,
    /// For every tree, from the start.
    Eager,
}

/// What is kept of all roots between calls. Cheap when nothing is.
#[derive(Default)]
pub struct PathIndex {
    mode: IndexMode,
    roots: Mutex<Vec<RootSlot>>,
    /// Searches under way: the background work yields to them.
    searches: AtomicUsize,
    /// Background work is under way.
    building: AtomicBool,
    /// Names of large trees without an index, for completions.
    pub(in crate::search) kept_names: KeptNames,
}

/// The paths below a start, as of one moment.
#[derive(Debug)]
pub(in crate::search) struct IndexSnapshot {
    list: Arc<PathList>,
    below: Range<usize>,
    /// Which files a pattern leaves.
    pub(in crate::search) candidates: Option<Candidates>,
}

impl IndexSnapshot {
    /// The paths, ignored ones too, in path order.
    fn items(&self) -> &[Arc<IndexedPath>] {
        &self.list.items[self.below.clone()]
    }

    /// The files and directories among them that no ignore rule leaves out.
    pub(in crate::search) fn shown(&self) -> impl Iterator<Item = &IndexedPath> {
        let is_shown =
            |item: &&IndexedPath| !item.ignored && matches!(item.entry.kind(), FileKind::File | FileKind::Directory);
        self.items().iter().map(|item| &**item).filter(is_shown)
    }

    /// What most searches ask of each of them.
    fn summaries(&self) -> &[PathSummary] {
        &self.list.items.summaries()[self.below.clone()]
    }
}

impl fmt::Debug for PathIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PathIndex").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// A search is under way.
#[derive(Debug)]
pub(in crate::search) struct SearchInProgress<'i>(&'i PathIndex);

impl Drop for SearchInProgress<'_> {
    fn drop(&mut self) {
        self.0.searches.fetch_sub(1, Ordering::Relaxed);
    }
}

impl PathIndex {
    /// How often all of an index is compared with the disk while it is in use.
    pub const COMPARED_EVERY: Duration = COMPARED_EVERY;

    /// Nothing is kept yet.
    pub fn new(mode: IndexMode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// In a few words on each root, for diagnosis: its public name, and whether it is indexed or why not.
    pub fn report(&self) -> Vec<(String, String)> {
        let describe = |state: &RootState| match state {
            RootState::Unknown => "walked; no large search yet".to_owned(),
            RootState::Small => "walked; small".to_owned(),
            RootState::Unwatchable(why) => format!("walked; {why}"),
            RootState::Indexed(index) => index.describe(),
        };
        self.roots().iter().map(|slot| (slot.root.to_string(), describe(&slot.state))).collect()
    }

    /// Why the root of `start` is only walked, where an index of it was tried and cannot be kept.
    pub fn unwatchable(&self, start: &WorkspacePath) -> Option<Unwatchable> {
        match slot_of(&mut self.roots(), start)?.state {
            RootState::Unwatchable(why) => Some(why),
            _ => None,
        }
    }

    /// What an index of this root would take: the directories that would be watched.
    ///
    /// # Errors
    /// Why no index of it can be kept.
    pub fn probe(workspace: &Workspace, root: &WorkspacePath) -> Result<usize, Unwatchable> {
        let mut watcher = workspace.watch(root.root())?;
        let listed = PathList::read(root, &mut watcher);
        match (listed, watcher.failure()) {
            (_, Some(why)) => Err(why),
            (Err(_), None) => Err(Unwatchable::Refused),
            (Ok(_), None) => Ok(watcher.watches()),
        }
    }

    /// Counts a search as under way until the result is dropped.
    pub(in crate::search) fn search_in_progress(&self) -> SearchInProgress<'_> {
        self.searches.fetch_add(1, Ordering::Relaxed);
        SearchInProgress(self)
    }

    /// The paths below `start` as they are now, with the files that `pattern` leaves; `None` where
    /// there is no index.
    pub(in crate::search) fn snapshot(
        &self,
        start: &WorkspacePath,
        pattern: Option<&Pattern>,
    ) -> Option<IndexSnapshot> {
        if self.mode == IndexMode::Off {
            return None;
        }
        let query = pattern.map(FilterQuery::of);
        let mut roots = self.roots();
        let index = slot_of(&mut roots, start)?.refresh_with(RootIndex::refresh_for_answer)?;
        let below = index.list.below(start)?;
        let candidates = query.map(|query| index.filter.candidates(query));
        Some(IndexSnapshot { list: Arc::clone(&index.list), below, candidates })
    }

    /// Waits for searches to end, but not for ever.
    fn yield_to_searches(&self) {
        let started = Instant::now();
        while self.searches.load(Ordering::Relaxed) > 0 && started.elapsed() < YIELD {
            thread::sleep(LOOK);
        }
    }

    fn roots(&self) -> MutexGuard<'_, Vec<RootSlot>> {
        match self.roots.lock() {
            Ok(roots) => roots,
            Err(poisoned) => {
                // A panic while an index was changed: what it says is not to be trusted.
                let mut roots = poisoned.into_inner();
                roots.clear();
                self.roots.clear_poison();
                roots
            }
        }
    }
}
