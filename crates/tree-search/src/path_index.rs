//! The path index: the paths of a large tree and an n-gram filter over its files, kept between calls.
//!
//! A search asks for a snapshot; what it gets is true for every system call below the root that had
//! returned before it asked. Where there is no index, as for small trees or on other platforms than
//! Linux, the search walks. The index is made in the background after a first search and is never
//! needed for an answer.
//!
//! # Between processes
//! What is known of the names and files is stored in the background ([`super::stored_index`]). A search of a process that
//! has no index yet takes the names from there, once a stat of each directory has shown that they are still the same
//! ([`LoadedIndexes`]), or else walks. It opens only the files that the stored index does not leave out: of all others
//! a stat shows that they are still in the state that it knows (`content_search`). The index of the process takes the
//! same over (`root_index`), so that it reads only what has changed, and writes what it read (`background`). Where no
//! index can be kept, as on an overlay, the files are read for the stored one alone.
//!
//! # Limits
//! Some writes cause no event:
//!
//! - Linux AIO. While some process can write by it, all files are compared with the disk before each
//!   answer.
//! - Stores into a shared mapping while it stays open ([inotify(7)]), and writes through a name that a
//!   file was given later where nothing is watched. A comparison in the background sees them, each
//!   [`PathIndex::COMPARED_EVERY`] while searches come and for a minute after; a search before that may not.
//!
//! [inotify(7)]: https://man7.org/linux/man-pages/man7/inotify.7.html

mod background;
mod path_list;
mod path_state;
mod root_index;
mod walk;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{cell::OnceCell, collections::HashMap, fmt, ops::Range, thread};

use confined_fs::{Workspace, WorkspacePath, watch::Unwatchable};
use crossbeam_channel::Sender;

use crate::documents::{DocumentTexts, TextMemory};
use crate::{Candidates, FilterQuery, Pattern, StoredIndex, StoredIndexes};
use path_list::PathRun;
use root_index::{COMPARED_EVERY, RootIndex, RootSlot, RootState, slot_of};

pub(crate) use path_list::{PathList, PathSummary, PathText};
pub(crate) use path_state::{IndexedPath, KnownContent};
pub(crate) use walk::walk_snapshot;
pub use walk::{DirectoryNames, PathSource, SearchEntry, Visit, walk_ignored_entries};

/// How long a batch of background work waits for searches to end, at most, and how often it looks. Waiting
/// before each file would be too much: with searches without end the filter would never be there, which is
/// when it is needed most.
const MAX_YIELD: Duration = Duration::from_millis(100);
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexMode {
    /// For large trees, once they have been searched; in memory, and stored for the processes that follow.
    #[default]
    Auto,
    /// Never: every search walks.
    Off,
    /// For every tree, from the start; in memory, and stored.
    Eager,
}

impl IndexMode {
    pub fn stores(self) -> bool {
        self != Self::Off
    }
}

/// The indexes of all roots between calls. Cheap when there are none.
#[derive(Default)]
pub struct PathIndex {
    mode: IndexMode,
    roots: Mutex<Vec<RootSlot>>,
    /// Searches under way: the background work yields to them.
    searches: Arc<AtomicUsize>,
    /// Background work under way: one thread at most.
    building: Arc<AtomicUsize>,
    /// The thread that compares the indexes with the disk: one at most.
    comparing: Arc<AtomicUsize>,
    /// Whether a search came since the last comparison.
    searched: AtomicBool,
    compared_every: Option<Duration>,
    /// Its end is the end of the index, which that thread notices at once.
    life: Mutex<Option<Sender<()>>>,
    saves: Arc<AtomicUsize>,
    /// Indexes that former processes have stored, and the place where this one stores its own.
    stored: LoadedIndexes,
    texts: Mutex<TextMemory>,
    /// Documents that are read in the background: by one thread at most.
    reading: Arc<AtomicUsize>,
}

#[derive(Debug)]
pub(crate) struct IndexSnapshot {
    pub(crate) list: Arc<PathList>,
    below: Range<usize>,
    pub(crate) candidates: Option<Candidates>,
}

impl IndexSnapshot {
    fn runs(&self) -> impl Iterator<Item = PathRun<'_>> {
        self.list.items.runs(self.below.clone())
    }
}

impl fmt::Debug for PathIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PathIndex").field("mode", &self.mode).finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(crate) struct UnderWay(Arc<AtomicUsize>);

impl UnderWay {
    fn of(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }

    /// `None` where something else is under way.
    fn alone(count: &Arc<AtomicUsize>) -> Option<Self> {
        // Relaxed: the count guards no data; what background work changes has locks.
        let is_alone = count.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        is_alone.then(|| Self(Arc::clone(count)))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl PathIndex {
    /// How often all of an index is compared with the disk while it is in use.
    pub const COMPARED_EVERY: Duration = COMPARED_EVERY;

    pub fn new(mode: IndexMode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// With another time instead of [`Self::COMPARED_EVERY`]: for checks.
    #[must_use]
    pub fn with_comparisons_each(self, time: Duration) -> Self {
        Self { compared_every: Some(time), ..self }
    }

    /// As [`Self::new`]; what is known outlives the process in `stored`.
    pub fn stored_in(mode: IndexMode, stored: StoredIndexes) -> Self {
        Self { mode, stored: LoadedIndexes { stored, ..LoadedIndexes::default() }, ..Self::default() }
    }

    pub fn stored_indexes(&self) -> &StoredIndexes {
        &self.stored.stored
    }

    /// The texts of documents that are kept, for one call.
    pub fn document_texts(&self) -> DocumentTexts<'_> {
        DocumentTexts::new(&self.stored.stored, &self.texts)
    }

    /// Forgets the texts of documents and the indexes, also the stored ones that were loaded: what is needed is read again.
    pub fn forget(&self) {
        *self.texts.lock().unwrap_or_else(PoisonError::into_inner) = TextMemory::default();
        self.stored.loaded.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.roots().clear();
    }

    /// In a few words on each root, for diagnosis: its public name, and whether it is indexed or why not.
    pub fn report(&self) -> Vec<(String, String)> {
        let describe = |state: &RootState| match state {
            RootState::Unknown => "walked; no large search yet".to_owned(),
            RootState::Small => "walked; small".to_owned(),
            RootState::Unwatchable(why, None) => format!("walked; {why}"),
            RootState::Unwatchable(_, Some(index)) => format!("for the stored index: {}", index.describe()),
            RootState::Indexed(index) => index.describe(),
        };
        self.roots().iter().map(|slot| (slot.root.to_string(), describe(&slot.state))).collect()
    }

    /// How far [`Self::store`] is with the roots that it has not done yet: files in the filter, and files in all.
    pub fn storing(&self) -> (usize, usize) {
        let (mut read, mut all) = (0, 0);
        for slot in &*self.roots() {
            if let RootState::Unwatchable(_, Some(index)) = &slot.state {
                read += index.list.items.iter().filter(|item| item.is_known()).count();
                all += index.list.files();
            }
        }
        (read, all)
    }

    /// Why the root of `start` is only walked, where an index of it was tried and cannot be kept.
    pub fn unwatchable(&self, start: &WorkspacePath) -> Option<Unwatchable> {
        if let RootState::Unwatchable(why, _) = slot_of(&mut self.roots(), start)?.state { Some(why) } else { None }
    }

    /// The cost of an index of this root: how many directories would be watched.
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

    pub(crate) fn search_in_progress(&self) -> UnderWay {
        UnderWay::of(&self.searches)
    }

    /// The paths below `start` as they are now, with the files that `pattern` leaves; `None` where
    /// there is no index.
    pub(crate) fn snapshot(
        &self,
        workspace: &Workspace,
        start: &WorkspacePath,
        pattern: Option<&Pattern>,
    ) -> Option<IndexSnapshot> {
        if self.mode == IndexMode::Off {
            return None;
        }
        self.live_snapshot(start, pattern).or_else(|| self.stored_snapshot(workspace, start))
    }

    /// As [`Self::snapshot`], by what former processes have stored. The filter is not asked, as files may have changed.
    fn stored_snapshot(&self, workspace: &Workspace, start: &WorkspacePath) -> Option<IndexSnapshot> {
        let list = self.stored.list(workspace, start)?;
        let below = list.below(start)?;
        Some(IndexSnapshot { list: Arc::new(list), below, candidates: None })
    }

    pub(crate) fn live_snapshot(&self, start: &WorkspacePath, pattern: Option<&Pattern>) -> Option<IndexSnapshot> {
        // Before the lock is taken, as a pattern may take long to read.
        let query = pattern.map(FilterQuery::of);
        let mut roots = self.roots();
        let index = slot_of(&mut roots, start)?.refresh(RootIndex::refresh_for_answer)?;
        let below = index.list.below(start)?;
        let candidates = query.map(|query| index.filter.candidates(query));
        Some(IndexSnapshot { list: Arc::clone(&index.list), below, candidates })
    }

    /// The stored index of the root of `start`, for a search without a snapshot.
    pub(crate) fn stored(&self, start: &WorkspacePath) -> Option<Arc<StoredIndex>> {
        if self.mode == IndexMode::Off { None } else { self.stored.get(start) }
    }

    /// Notes that a search below `start` met `files` files, and that the stored index did not know the state of `outdated` of them.
    pub(crate) fn note_outdated(&self, start: &WorkspacePath, files: usize, outdated: usize) {
        self.stored.with(start, |loaded| loaded.is_outdated = is_outdated(files, outdated));
    }

    /// Waits for searches to end, but not for ever.
    fn yield_to_searches(&self) {
        let started = Instant::now();
        while self.searches.load(Ordering::Relaxed) > 0 && started.elapsed() < MAX_YIELD {
            thread::sleep(LOOK_INTERVAL);
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

/// Share of files, in percent, and number of files of which a stored index may not know the state before it is written
/// again.
const OUTDATED_PERCENT: usize = 1;
const OUTDATED_FILES: usize = 64;
/// Directories of which it may know another state before it is written again.
const OUTDATED_DIRECTORIES: usize = 16;
/// How long after it was written the stored index is written again, at the earliest, while the process goes on.
pub(super) const SAVE_INTERVAL: Duration = Duration::from_secs(300);

#[derive(Debug, Default)]
struct LoadedIndexes {
    pub(super) stored: StoredIndexes,
    loaded: Mutex<HashMap<String, LoadedIndex>>,
}

/// The stored index of one root, and how far searches found it to be true.
#[derive(Debug, Default)]
struct LoadedIndex {
    /// Loaded when it is first asked for; `None` where there is none.
    index: OnceCell<Option<Arc<StoredIndex>>>,
    /// Whether the last search found too many files in another state.
    is_outdated: bool,
    /// Whether the last search found too many directories in another state.
    is_listing_outdated: bool,
    /// When the root, which can have no live index, was last read for the stored one.
    read: Option<Instant>,
}

impl LoadedIndexes {
    fn with<T>(&self, root: &WorkspacePath, look: impl FnOnce(&mut LoadedIndex) -> T) -> T {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        look(loaded.entry(root.root().key().to_owned()).or_default())
    }

    /// The stored index of the root of `start`, loaded at most once.
    fn get(&self, root: &WorkspacePath) -> Option<Arc<StoredIndex>> {
        self.with(root, |loaded| loaded.index.get_or_init(|| self.stored.load(root)).clone())
    }

    /// The paths above and below `start` as they are now, by what is stored; `None` where only a walk can say that.
    fn list(&self, workspace: &Workspace, start: &WorkspacePath) -> Option<PathList> {
        let stored = self.get(start)?;
        let (list, verified) = PathList::verify(workspace, start, stored.listing()?);
        tracing::debug!(%start, ?verified, "names from the stored index");
        self.with(start, |loaded| loaded.is_listing_outdated = verified.outdated > OUTDATED_DIRECTORIES);
        verified.is_whole.then_some(list)
    }

    /// Forgets what was loaded of a root: it is loaded again when it is asked for.
    fn forget(&self, root: &WorkspacePath) {
        self.with(root, |loaded| *loaded = LoadedIndex { read: loaded.read, ..LoadedIndex::default() });
    }

    /// Whether there is one, and the last search found nearly all files in the state that it knows.
    fn is_good(&self, root: &WorkspacePath) -> bool {
        let is_there = |loaded: &LoadedIndex| loaded.index.get().is_some_and(Option::is_some);
        self.with(root, |loaded| is_there(loaded) && !loaded.is_outdated && !loaded.is_listing_outdated)
    }

    /// Whether a root that can have no live index is worth reading for the stored one.
    fn is_wanted(&self, root: &WorkspacePath) -> bool {
        let is_due = |read: Option<Instant>| read.is_none_or(|at| at.elapsed() >= SAVE_INTERVAL);
        self.stored.is_kept()
            && !self.is_good(root)
            && root.root().identity_for_index().is_ok()
            && self.with(root, |loaded| is_due(loaded.read))
    }
}

pub(super) fn is_outdated(files: usize, outdated: usize) -> bool {
    outdated > OUTDATED_FILES.min(files * OUTDATED_PERCENT / 100)
}
