//! What is kept of one root: its paths, the n-gram filter over its files, and the watcher that keeps both true.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{IndexedPath, KnownContent, PathList, update};
use crate::{
    search::ngram_filter::NgramFilter,
    workspace::{Changes, StatCache, Unwatchable, Watcher, WorkspacePath},
};

/// How often all of an index is compared with the disk while it is in use.
pub(super) const COMPARED_EVERY: Duration = Duration::from_secs(60);
/// Memory of the filter, in bytes: that of some 1.4 GB of text.
const FILTER_MEMORY: usize = 96 << 20;
/// Changed files from which the filter is brought up to date, and how long after the last time.
const STALE: usize = 64;
const REST: Duration = Duration::from_secs(2);
const LONG_REST: Duration = Duration::from_secs(30);
/// Listings that may fail before a root is only walked.
const MAX_FAILURES: u8 = 3;

/// A root, and how far it is indexed.
pub(super) struct RootSlot {
    pub(super) root: WorkspacePath,
    pub(super) state: RootState,
    failures: u8,
}

pub(super) enum RootState {
    /// Nobody has asked for it yet.
    Unknown,
    /// Too small to be worth an index.
    Small,
    /// Cannot be watched: only walked.
    Unwatchable(Unwatchable),
    /// Indexed.
    Indexed(Box<RootIndex>),
}

/// The index of one root, and the filter as far as it has been built.
pub(super) struct RootIndex {
    watcher: Watcher,
    pub(super) list: Arc<PathList>,
    pub(super) filter: NgramFilter,
    /// Files that changed since the filter was last brought up to date.
    pub(super) stale: usize,
    /// When the filter was last brought up to date.
    pub(super) built: Option<Instant>,
    /// When all of it was last compared with the disk.
    pub(super) verified: Option<Instant>,
    /// Some process could write by Linux AIO since the last comparison.
    written_silently: bool,
    /// Another number after each change of what is mounted.
    pub(super) mounts: u64,
}

impl RootSlot {
    pub(super) fn new(root: WorkspacePath, state: RootState) -> Self {
        Self { root, state, failures: 0 }
    }

    /// Takes the result of a listing.
    pub(super) fn set(&mut self, state: RootState) {
        self.failures += u8::from(matches!(state, RootState::Unknown));
        self.state = if self.failures >= MAX_FAILURES { RootState::Unwatchable(Unwatchable::Twice) } else { state };
    }

    /// Reads what has changed and applies it. `None` where the root is not indexed, or no longer.
    pub(super) fn refresh(&mut self) -> Option<&mut RootIndex> {
        self.refresh_with(RootIndex::refresh)
    }

    /// As [`Self::refresh`], in that way.
    pub(super) fn refresh_with(&mut self, refresh: impl FnOnce(&mut RootIndex) -> bool) -> Option<&mut RootIndex> {
        let RootState::Indexed(index) = &mut self.state else { return None };
        if !refresh(index) {
            self.failures += 1;
            let why = index.watcher.failure().unwrap_or(Unwatchable::Refused);
            self.state = if self.failures >= MAX_FAILURES && why != Unwatchable::Refused || self.failures == u8::MAX {
                RootState::Unwatchable(why)
            } else {
                RootState::Unknown
            };
        }
        match &mut self.state {
            RootState::Indexed(index) => Some(index),
            _ => None,
        }
    }
}

impl RootIndex {
    pub(super) fn new(watcher: Watcher, list: PathList) -> Self {
        Self {
            watcher,
            list: Arc::new(list),
            filter: NgramFilter::new(FILTER_MEMORY),
            stale: 0,
            built: None,
            verified: None,
            written_silently: false,
            mounts: 0,
        }
    }

    /// Whether the list is true again; false when only a new listing helps.
    fn refresh(&mut self) -> bool {
        let changes = self.watcher.changes();
        self.written_silently |= self.watcher.has_silent_writers();
        self.apply(&changes)
    }

    /// Brings the list up to date for an answer. While some process can write by Linux AIO, and once after
    /// that, all that is known is compared with the disk: a stat of each file, which is a tenth of what
    /// searching them all takes. False when only a new listing helps.
    pub(super) fn refresh_for_answer(&mut self) -> bool {
        let refreshed = self.refresh();
        if !refreshed || !self.written_silently {
            return refreshed;
        }
        // As of before the comparison: what is written from now on is the next answer's matter.
        self.written_silently = self.watcher.has_silent_writers();
        let list = Arc::clone(&self.list);
        let changed = changed_files(list.items.iter());
        drop(list);
        self.distrust(&changed);
        self.compare_rules()
    }

    /// Checks whether files of ignore rules are in the state in which they were read; false when only a
    /// new listing helps.
    pub(super) fn compare_rules(&mut self) -> bool {
        let changes = Changes { trees: self.watcher.changed_rules().into_iter().collect(), ..Changes::default() };
        self.apply(&changes)
    }

    /// Applies changes, as [`Self::refresh`].
    fn apply(&mut self, changes: &Changes) -> bool {
        if changes.is_empty() {
            return self.watcher.failure().is_none();
        }
        self.mounts += u64::from(changes.remounted);
        let mut dropped = Vec::new();
        let applied = update::apply(Arc::make_mut(&mut self.list), changes, &mut self.watcher, &mut dropped);
        self.stale += changes.files.len();
        self.release(dropped);
        // What was mounted for a moment while it was looked at would stay in the list.
        applied.is_ok() && self.watcher.failure().is_none() && !self.watcher.is_remounted()
    }

    /// Forgets what is known of files, where they still are in that state. They changed without an
    /// event, so a process may go on doing that: they are searched each time until an event
    /// says that they were closed.
    pub(super) fn distrust(&mut self, files: &[(WorkspacePath, u64)]) {
        let list = Arc::make_mut(&mut self.list);
        let mut dropped = Vec::new();
        for (path, id) in files {
            if let Some(at) = list.find(path).filter(|at| list.items[*at].id == *id) {
                list.forget_content(at, &mut dropped);
                list.items.change(at, |item| item.content = KnownContent::AlwaysSearch);
            }
        }
        self.stale += dropped.len();
        self.release(dropped);
    }

    /// Forgets all that the filter holds.
    pub(super) fn clear_filter(&mut self) {
        self.filter = NgramFilter::new(FILTER_MEMORY);
        let items = &mut Arc::make_mut(&mut self.list).items;
        for at in 0..items.len() {
            if matches!(items[at].content, KnownContent::Filtered(..)) {
                items.change(at, |item| item.content = KnownContent::Unread);
            }
        }
    }

    /// Takes out of the filter what is no longer true.
    fn release(&mut self, dropped: Vec<KnownContent>) {
        for content in dropped {
            if let KnownContent::Filtered(segments, bytes, _) = content {
                self.filter.remove(&segments, bytes as usize);
            }
        }
    }

    /// Whether the background has work: much has changed, or it is time to look.
    pub(super) fn is_stale(&self) -> bool {
        match self.built {
            None => true,
            Some(_) if self.verified.is_none_or(|verified| verified.elapsed() >= COMPARED_EVERY) => true,
            Some(built) => {
                self.stale >= STALE && built.elapsed() >= REST || self.stale > 0 && built.elapsed() >= LONG_REST
            }
        }
    }

    /// In a few words, for diagnosis: the files listed, those in the filter, and the bytes that this takes.
    pub(super) fn describe(&self) -> String {
        let in_filter = self.list.items.iter().filter(|item| item.is_known()).count();
        let memory = self.filter.memory() + self.list.memory();
        format!("listed; {} files, {in_filter} in the filter, {memory} bytes", self.list.files())
    }
}

/// The slot of the root that `path` is in.
pub(super) fn slot_of<'r>(roots: &'r mut [RootSlot], path: &WorkspacePath) -> Option<&'r mut RootSlot> {
    roots.iter_mut().find(|slot| slot.root.root().key() == path.root().key())
}

/// The files whose state is no longer the known one, each with the number of that state.
pub(super) fn changed_files<'i>(items: impl IntoIterator<Item = &'i Arc<IndexedPath>>) -> Vec<(WorkspacePath, u64)> {
    let mut stats = StatCache::default();
    let changed = items.into_iter().filter(|item| !item.is_unchanged(&mut stats));
    changed.map(|item| (item.entry.path().clone(), item.id)).collect()
}
