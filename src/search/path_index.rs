//! The path index: the names of a large tree and the filter over their content, kept between calls.
//!
//! A search asks for a snapshot; what it gets is true for every system call below the root that had
//! returned before it asked. While some process can write by Linux AIO, which causes no event, all files
//! are compared with the disk before each answer. Other writes without an event are stores into a shared
//! mapping while it stays open, and writes through a name that a file was given later where nothing is
//! watched. They are seen by the comparison that the first search begins in the background when the last
//! one is [`PathIndex::COMPARED_EVERY`] ago; a search that is answered before it is done may not see them. Where there is no list, as for small trees or on other platforms, the search walks. The list
//! and the filter are made in the background after a first search and are never needed for an
//! answer.

mod build;
mod compare;
mod item;
mod items;
mod names;
mod walk;

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use super::{
    ngram_filter::{Candidates, Probe, Signatures},
    pattern::Pattern,
};
use crate::workspace::{Changes, Unwatchable, Watcher, Workspace, WorkspacePath};

pub(in crate::search) use item::{Content, Item};
pub(in crate::search) use items::List;
pub(in crate::search) use names::Brief;
pub(in crate::search) use walk::walk_snapshot;
pub use walk::{PathSource, SearchEntry, Visit, walk_ignored_entries};

/// Files from which a tree is worth a list: a walk over fewer takes a millisecond or two.
const LARGE: usize = 2000;
/// Memory of the filter, in bytes: that of some 1.4 GB of text.
const FILTER_MEMORY: usize = 96 << 20;
/// Changed files from which the filter is brought up to date, and how long after the last time.
const STALE: usize = 64;
const REST: Duration = Duration::from_secs(2);
const LONG_REST: Duration = Duration::from_secs(30);
/// Surveys that may fail before a root is only walked.
const MAX_FAILURES: u8 = 3;

/// Whether lists and filters are kept.
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
pub struct PathIndex {
    mode: IndexMode,
    trees: Mutex<Vec<Tree>>,
    /// Searches under way: the background work yields to them.
    calls: AtomicUsize,
    building: AtomicBool,
}

/// What is kept of one root.
struct Tree {
    root: WorkspacePath,
    state: State,
    failures: u8,
}

enum State {
    /// Nobody has asked for it yet.
    Unknown,
    /// Too small for a list.
    Small,
    /// Cannot be watched.
    Walked(Unwatchable),
    /// Listed.
    Listed(Box<Listed>),
}

/// A root's names, and the filter as far as it has been built.
struct Listed {
    watcher: Watcher,
    list: Arc<List>,
    signatures: Signatures,
    /// Files that changed since the filter was last brought up to date.
    stale: usize,
    built: Option<Instant>,
    /// When all of it was last compared with the disk.
    verified: Option<Instant>,
    /// Some process could write by Linux AIO since the last comparison.
    written_silently: bool,
    /// Another number after each change of what is mounted.
    mounts: u64,
}

/// The names below a start, as of one moment.
#[derive(Debug)]
pub(in crate::search) struct Snapshot {
    list: Arc<List>,
    below: std::ops::Range<usize>,
    /// Which files a pattern leaves.
    pub(in crate::search) candidates: Option<Candidates>,
}

impl Snapshot {
    /// The names, ignored ones too, in path order.
    pub(in crate::search) fn items(&self) -> &[Arc<Item>] {
        &self.list.items[self.below.clone()]
    }

    /// What most searches ask of each of them.
    pub(in crate::search) fn briefs(&self) -> &[Brief] {
        &self.list.items.briefs()[self.below.clone()]
    }
}

impl fmt::Debug for PathIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PathIndex").field("mode", &self.mode).finish_non_exhaustive()
    }
}

impl Default for PathIndex {
    fn default() -> Self {
        Self::new(IndexMode::default())
    }
}

/// A search is under way.
#[derive(Debug)]
pub(in crate::search) struct SearchInProgress<'i>(&'i PathIndex);

impl Drop for SearchInProgress<'_> {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

impl PathIndex {
    /// How often all of a list is compared with the disk while it is in use.
    pub const COMPARED_EVERY: Duration = Duration::from_secs(60);

    /// Nothing is kept yet.
    pub fn new(mode: IndexMode) -> Self {
        Self { mode, trees: Mutex::default(), calls: AtomicUsize::new(0), building: AtomicBool::new(false) }
    }

    /// One word on each root, for diagnosis: public name, and whether it is listed or why not, with
    /// the files listed, those in the filter, and the bytes that this takes.
    pub fn report(&self) -> Vec<(String, String)> {
        let describe = |state: &State| match state {
            State::Unknown => "walked; no large search yet".to_owned(),
            State::Small => "walked; small".to_owned(),
            State::Walked(why) => format!("walked; {why}"),
            State::Listed(listed) => {
                let placed = |item: &&Arc<Item>| !matches!(item.content, Content::Unread | Content::Loose);
                format!(
                    "listed; {} files, {} in the filter, {} bytes",
                    listed.list.files(),
                    listed.list.items.iter().filter(placed).count(),
                    listed.memory()
                )
            }
        };
        self.trees().iter().map(|tree| (tree.root.to_string(), describe(&tree.state))).collect()
    }

    /// Why the root of `start` is only walked, where a list of it was tried and cannot be kept.
    pub fn unwatchable(&self, start: &WorkspacePath) -> Option<Unwatchable> {
        match &self.trees().iter().find(|tree| tree.root.root().key() == start.root().key())?.state {
            State::Walked(why) => Some(*why),
            _ => None,
        }
    }

    /// What a list of this root would take: the directories that would be watched.
    ///
    /// # Errors
    /// Why no list of it can be kept.
    pub fn probe(workspace: &Workspace, root: &WorkspacePath) -> Result<usize, Unwatchable> {
        let mut watcher = workspace.watch(root.root())?;
        let listed = List::survey(root, &mut watcher);
        match (listed, watcher.failure()) {
            (_, Some(why)) => Err(why),
            (Err(_), None) => Err(Unwatchable::Refused),
            (Ok(_), None) => Ok(watcher.watches()),
        }
    }

    /// With [`IndexMode::Eager`], begins to list all roots in the background.
    pub fn start(self: &Arc<Self>, workspace: &Workspace) {
        if self.mode == IndexMode::Eager {
            self.build(workspace);
        }
    }

    /// Does what the background would do, and returns when it is done: for checks and measurements.
    pub fn settle(self: &Arc<Self>, workspace: &Workspace) {
        while self.building.swap(true, Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.work(workspace);
    }

    /// Compares every list with the disk, whatever the clock says, and does all other background work:
    /// for checks.
    pub fn verify(self: &Arc<Self>, workspace: &Workspace) {
        for tree in self.trees().iter_mut() {
            if let State::Listed(listed) = &mut tree.state {
                listed.verified = None;
            }
        }
        self.settle(workspace);
    }

    /// Counts a search as under way until the result is dropped.
    pub(in crate::search) fn search_in_progress(&self) -> SearchInProgress<'_> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        SearchInProgress(self)
    }

    /// The names below `start` as they are now, with the files that `pattern` leaves; `None` where
    /// there is no list.
    pub(in crate::search) fn snapshot(&self, start: &WorkspacePath, pattern: Option<&Pattern>) -> Option<Snapshot> {
        if self.mode == IndexMode::Off {
            return None;
        }
        let probe = pattern.map(Probe::of);
        let mut trees = self.trees();
        let tree = trees.iter_mut().find(|tree| tree.root.root().key() == start.root().key())?;
        let listed = tree.refresh_with(Listed::refresh_and_compare)?;
        let below = listed.list.below(start)?;
        let candidates = probe.map(|probe| listed.signatures.candidates(&probe));
        Some(Snapshot { list: Arc::clone(&listed.list), below, candidates })
    }

    /// After a search of `start`: begins background work where it is worth it. `files` were seen;
    /// `ended` when there may be more.
    pub(in crate::search) fn after_search(
        self: &Arc<Self>,
        workspace: &Workspace,
        start: &WorkspacePath,
        files: usize,
        ended: bool,
    ) {
        if self.mode == IndexMode::Off || self.building.load(Ordering::Relaxed) {
            return;
        }
        let worth = {
            let mut trees = self.trees();
            match trees.iter_mut().find(|tree| tree.root.root().key() == start.root().key()).map(|tree| &mut tree.state)
            {
                None | Some(State::Unknown) => files >= LARGE || ended || self.mode == IndexMode::Eager,
                Some(state @ State::Small) => {
                    let grown = files >= LARGE;
                    if grown {
                        *state = State::Unknown;
                    }
                    grown
                }
                Some(State::Walked(_)) => false,
                Some(State::Listed(listed)) => listed.is_stale(),
            }
        };
        if worth {
            self.build(workspace);
        }
    }

    fn trees(&self) -> MutexGuard<'_, Vec<Tree>> {
        match self.trees.lock() {
            Ok(trees) => trees,
            Err(poisoned) => {
                // A panic while a list was changed: what it says is not to be trusted.
                let mut trees = poisoned.into_inner();
                trees.clear();
                self.trees.clear_poison();
                trees
            }
        }
    }
}

impl Tree {
    /// Reads what has changed and applies it. `None` where the root is not listed, or no longer.
    fn refresh(&mut self) -> Option<&mut Listed> {
        self.refresh_with(Listed::refresh)
    }

    fn refresh_with(&mut self, refresh: impl FnOnce(&mut Listed) -> bool) -> Option<&mut Listed> {
        let State::Listed(listed) = &mut self.state else { return None };
        if refresh(listed) {
            // Borrowed again, since the borrow above ends in the other arm.
            match &mut self.state {
                State::Listed(listed) => return Some(listed),
                _ => return None,
            }
        }
        self.failures += 1;
        let why = listed.watcher.failure().unwrap_or(Unwatchable::Refused);
        self.state = if self.failures >= MAX_FAILURES && why != Unwatchable::Refused || self.failures == u8::MAX {
            State::Walked(why)
        } else {
            State::Unknown
        };
        None
    }
}

impl Listed {
    /// Whether the list is true again; false when only a new survey helps.
    fn refresh(&mut self) -> bool {
        let changes = self.watcher.changes();
        self.written_silently |= self.watcher.has_silent_writers();
        self.take_in(&changes)
    }

    /// Applies changes, as [`Self::refresh`].
    fn take_in(&mut self, changes: &Changes) -> bool {
        if changes.is_empty() {
            return self.watcher.failure().is_none();
        }
        self.mounts += u64::from(changes.remounted);
        let mut dropped = Vec::new();
        let applied = Arc::make_mut(&mut self.list).apply(changes, &mut self.watcher, &mut dropped);
        self.stale += changes.files.len();
        self.release(dropped);
        // What was mounted for a moment while it was looked at would stay in the list.
        applied.is_ok() && self.watcher.failure().is_none() && !self.watcher.is_remounted()
    }

    /// Forgets what is known of files, where they still are in that state. They changed without an
    /// event, so somebody may go on doing that: they are searched each time until an event tells
    /// that they were closed.
    fn renew(&mut self, files: &[(WorkspacePath, u64)]) {
        let list = Arc::make_mut(&mut self.list);
        let mut dropped = Vec::new();
        for (path, id) in files {
            if let Some(at) = list.find(path).filter(|at| list.items[*at].id == *id) {
                list.renew(at, &mut dropped);
                list.items.change(at, |item| item.content = Content::Loose);
            }
        }
        self.stale += dropped.len();
        self.release(dropped);
    }

    /// Takes out of the filter what is no longer true.
    fn release(&mut self, dropped: Vec<Content>) {
        for content in dropped {
            if let Content::Placed(placement, bytes, _) = content {
                self.signatures.remove(&placement, bytes as usize);
            }
        }
    }

    /// Whether the background has work: much has changed, or it is time to look.
    fn is_stale(&self) -> bool {
        match self.built {
            None => true,
            Some(_) if self.verified.is_none_or(|verified| verified.elapsed() >= PathIndex::COMPARED_EVERY) => true,
            Some(built) => {
                self.stale >= STALE && built.elapsed() >= REST || self.stale > 0 && built.elapsed() >= LONG_REST
            }
        }
    }

    fn memory(&self) -> usize {
        self.signatures.memory() + self.list.memory()
    }
}
