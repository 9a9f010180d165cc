//! What is kept of one root: its paths, the n-gram filter over its files, and the watcher that keeps both true.
//!
//! It begins with what the stored index of a former process knows of files that have not changed ([`take_over`]), so that
//! only the others are read. `update` brings the paths up to date with what the watcher reports.

mod update;

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant, SystemTime},
};

use confined_fs::{Changes, StatCache, StatFacts, Unwatchable, Visibility, Watcher, WorkspacePath};

use crate::{StoredIndex, ngram_filter::NgramFilter};

use super::{IndexedPath, KnownContent, KnownStat, PathList};

/// How often all of an index is compared with the disk while it is in use.
pub(super) const COMPARED_EVERY: Duration = Duration::from_secs(60);
/// Memory of the filter, in bytes: that of some 1.4 GB of text.
const FILTER_MEMORY: usize = 96 << 20;
/// That of the filters of all roots, of which there may be many.
const ALL_FILTERS: usize = 256 << 20;
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
    /// Cannot be watched. Its files are being read for the stored index, and answer nothing here.
    Storing(Unwatchable, Box<RootIndex>),
}

/// The index of one root, and the filter as far as it has been built.
pub(super) struct RootIndex {
    /// None for [`RootState::Storing`].
    watcher: Option<Watcher>,
    pub(super) list: Arc<PathList>,
    pub(super) filter: NgramFilter,
    /// Files that changed since the filter was last brought up to date.
    pub(super) stale: usize,
    /// Up to which path the filter is being brought up to date, and how many threads are reading a batch for that.
    pub(super) filled_to: Option<WorkspacePath>,
    pub(super) filling: usize,
    pub(super) settled: Settled,
    /// What was taken over of a former process.
    taken_over: Option<TakenOver>,
    /// Files that were taken in or forgotten since the stored index was written.
    pub(super) unsaved: usize,
    /// When this process last wrote the stored index.
    pub(super) saved: Option<Instant>,
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

    /// As [`Self::refresh`], and what is read for the stored index alone: what background work fills.
    pub(super) fn filled(&mut self) -> Option<&mut RootIndex> {
        if matches!(self.state, RootState::Indexed(_)) {
            return self.refresh();
        }
        match &mut self.state {
            RootState::Storing(_, index) => Some(index),
            _ => None,
        }
    }

    /// As [`Self::refresh`], in that way.
    pub(super) fn refresh_with(&mut self, refresh: impl FnOnce(&mut RootIndex) -> bool) -> Option<&mut RootIndex> {
        let RootState::Indexed(index) = &mut self.state else { return None };
        if !refresh(index) {
            self.failures += 1;
            let why = index.watcher.as_ref().and_then(Watcher::failure).unwrap_or(Unwatchable::Refused);
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
    pub(super) fn new(watcher: Option<Watcher>, list: PathList) -> Self {
        Self {
            watcher,
            list: Arc::new(list),
            filter: NgramFilter::new(FILTER_MEMORY),
            stale: 0,
            filled_to: None,
            filling: 0,
            settled: Settled::default(),
            taken_over: None,
            unsaved: 0,
            saved: None,
            built: None,
            verified: None,
            written_silently: false,
            mounts: 0,
        }
    }

    /// Before anything is read: takes over what a former process stored, and has the file system written back where what
    /// is read could not be kept otherwise.
    ///
    /// The filter may have `memory` bytes.
    pub(super) fn prepare(&mut self, root: &WorkspacePath, stored: Option<Arc<StoredIndex>>, memory: usize) {
        let list = Arc::make_mut(&mut self.list);
        if let Some((filter, taken)) = stored.and_then(|stored| take_over(&stored, list, memory)) {
            (self.filter, self.unsaved) = (filter, taken.outdated);
            self.taken_over = Some(taken);
        }
        self.settled.prepare(root, list);
    }

    /// Whether the list is true again; false when only a new listing helps.
    fn refresh(&mut self) -> bool {
        let Some(watcher) = &mut self.watcher else { return true };
        let changes = watcher.changes();
        self.written_silently |= watcher.has_silent_writers();
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
        self.written_silently = self.watcher.as_ref().is_some_and(Watcher::has_silent_writers);
        let list = Arc::clone(&self.list);
        let changed = changed_files(list.items.iter());
        drop(list);
        self.distrust(&changed);
        self.compare_rules()
    }

    /// Whether something was mounted or unmounted since the last look.
    pub(super) fn is_remounted(&self) -> bool {
        self.watcher.as_ref().is_some_and(Watcher::is_remounted)
    }

    /// Checks whether files of ignore rules are in the state in which they were read; false when only a
    /// new listing helps.
    pub(super) fn compare_rules(&mut self) -> bool {
        let Some(watcher) = &self.watcher else { return true };
        let changes = Changes { trees: watcher.changed_rules().into_iter().collect(), ..Changes::default() };
        self.apply(&changes)
    }

    /// Applies changes, as [`Self::refresh`].
    fn apply(&mut self, changes: &Changes) -> bool {
        let Some(watcher) = &mut self.watcher else { return true };
        if changes.is_empty() {
            return watcher.failure().is_none();
        }
        self.mounts += u64::from(changes.remounted);
        let mut dropped = Vec::new();
        let applied = update::apply(Arc::make_mut(&mut self.list), changes, watcher, &mut dropped);
        // What was mounted for a moment while it was looked at would stay in the list.
        let is_true = applied.is_ok() && watcher.failure().is_none() && !watcher.is_remounted();
        self.stale += changes.files.len();
        self.release(dropped);
        is_true
    }

    /// Forgets what is known of files, where they still are in that state. They changed without an
    /// event, so a process may go on doing that: they are searched each time until an event
    /// says that they were closed.
    pub(super) fn distrust(&mut self, files: &[(WorkspacePath, u32)]) {
        let list = Arc::make_mut(&mut self.list);
        let mut dropped = Vec::new();
        for (path, id) in files {
            if let Some(at) = list.find(path).filter(|at| list.items.get(*at).id == *id) {
                list.forget_content(at, &mut dropped);
                list.items.change(at, |item| item.set_content(KnownContent::AlwaysSearch));
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
            if items.get(at).is_filtered() {
                items.change(at, |item| item.set_content(KnownContent::Unread));
            }
        }
    }

    /// Takes out of the filter what is no longer true.
    fn release(&mut self, dropped: Vec<KnownContent>) {
        self.unsaved += dropped.len();
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
        let taken = self.taken_over.map_or_else(String::new, |taken| {
            let ago = taken.at.elapsed().as_secs();
            format!(", of which {} were taken over from the stored index {ago} s ago", taken.files)
        });
        let saved = self.saved.map_or_else(String::new, |at| format!("; stored {} s ago", at.elapsed().as_secs()));
        format!("listed; {} files, {in_filter} in the filter{taken}, {memory} bytes{saved}", self.list.files())
    }
}

/// Bytes that the filter of the root of `path` may have, by what the filters of the other roots hold.
pub(super) fn filter_memory(roots: &[RootSlot], path: &WorkspacePath) -> usize {
    let others = roots.iter().filter(|slot| slot.root.root().key() != path.root().key());
    let held = others.map(|slot| match &slot.state {
        RootState::Indexed(index) | RootState::Storing(_, index) => index.filter.memory(),
        _ => 0,
    });
    ALL_FILTERS.saturating_sub(held.sum()).min(FILTER_MEMORY)
}

/// The slot of the root that `path` is in.
pub(super) fn slot_of<'r>(roots: &'r mut [RootSlot], path: &WorkspacePath) -> Option<&'r mut RootSlot> {
    roots.iter_mut().find(|slot| slot.root.root().key() == path.root().key())
}

/// The files whose state is no longer the known one, each with the number of that state.
pub(super) fn changed_files<'l>(items: impl Iterator<Item = IndexedPath<'l>>) -> Vec<(WorkspacePath, u32)> {
    let mut stats = StatCache::default();
    let changed = items.filter(|item| !item.is_unchanged(&mut stats));
    changed.map(|item| (item.path().clone(), item.id)).collect()
}

/// How old the times of a file must be, so that a later write within the same tick of the clock would show in them.
pub(super) const TICK: Duration = Duration::from_secs(2);
/// Longer than the kernel lets a page be dirty by default: 35 s.
const WRITTEN_BACK: Duration = Duration::from_secs(60);
/// Files that are looked at for whether many were changed a short while ago.
const SAMPLE: usize = 128;

/// Before which moment the times of a file must be, so that what is read of it now may be kept by its stat for other
/// processes, which see no events.
///
/// Equal facts prove equal content only if nothing can be written from now on without another time:
///
/// - A write within the clock tick of the last change gives the file no other time. Times of a file have the
///   granularity of the kernel's tick, on some file systems of a second, so both must be [`TICK`] old, as git demands of
///   a file before it trusts its stat ([racy-git]).
/// - A store into a shared mapping changes the times only with the first store after the page was written back, which
///   write-protects it (`clear_page_dirty_for_io`). So what was dirty when it was read may change under the same facts.
///   The kernel begins to write pages back 30 s after they became dirty (`dirty_expire_centisecs`) and looks every 5 s: a
///   file whose times are [`WRITTEN_BACK`] old is trusted, and one that is older than a `syncfs`(2) of this process.
///
/// [racy-git]: https://git-scm.com/docs/racy-git
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Settled {
    /// When the file system was last asked to write everything back.
    written_back: Option<SystemTime>,
}

impl Settled {
    /// Writes the file system back if files of `list` were changed a short while ago, as after a checkout.
    pub(super) fn prepare(&mut self, root: &WorkspacePath, list: &PathList) {
        let now = SystemTime::now();
        let step = (list.items.len() / SAMPLE).max(1);
        let is_recent = |facts: StatFacts| {
            !StatFacts::moment_before(now, WRITTEN_BACK).is_some_and(|moment| facts.is_older_than(moment))
        };
        let mut sample = list.items.iter().step_by(step).filter(|item| item.is_unread());
        let is_wanted =
            sample.any(|item| item.entry().stat().ok().and_then(|stat| stat.facts()).is_some_and(is_recent));
        if is_wanted && root.root().write_back() {
            self.written_back = Some(now);
        }
    }

    /// Whether a file with these facts, which is read from now on, may be kept.
    pub(super) fn is_settled(self, facts: &StatFacts) -> bool {
        let waited = StatFacts::moment_before(SystemTime::now(), WRITTEN_BACK);
        let written = self.written_back.and_then(|moment| StatFacts::moment_before(moment, TICK));
        waited.into_iter().chain(written).any(|moment| facts.is_older_than(moment))
    }
}

/// What was taken over.
#[derive(Clone, Copy, Debug)]
pub(super) struct TakenOver {
    /// Files.
    pub(super) files: usize,
    /// Files of the stored index that were not: changed or gone.
    pub(super) outdated: usize,
    /// When.
    pub(super) at: Instant,
}

/// Marks the files of `list` that a stat of now shows in the state that `stored` knows, and makes the filter over them
/// with room for `memory` bytes. `None` where the stored filter is damaged: nothing is marked then.
pub(super) fn take_over(
    stored: &Arc<StoredIndex>,
    list: &mut PathList,
    memory: usize,
) -> Option<(NgramFilter, TakenOver)> {
    let (mut cursor, mut stats) = (stored.cursor(), StatCache::default());
    let mut marked = Vec::new();
    for at in 0..list.items.len() {
        let item = list.items.get(at);
        if !item.is_unread() {
            continue;
        }
        let Some(file) = cursor.file(item.relative()) else { continue };
        let is_known = matches!(file.content, KnownContent::Filtered(..) | KnownContent::Binary(_));
        if !is_known || item.entry().visibility() != Visibility::Open {
            continue;
        }
        let Ok(stat) = stats.stat(&item.entry()) else { continue };
        let Some(known) = KnownStat::of(&stat, true).filter(|_| stat.facts() == Some(file.facts)) else { continue };
        let content = file.content.clone();
        list.items.change(at, |item| {
            item.set_content(content);
            item.known = OnceLock::from(known);
        });
        marked.push(at);
    }
    let files = marked.iter().filter_map(|at| match list.items.get(*at).content().into_owned() {
        KnownContent::Filtered(segments, bytes, _) => Some((segments, bytes)),
        _ => None,
    });
    let Some(filter) = stored.filter(memory, files) else {
        for at in marked {
            list.items.change(at, |item| {
                item.set_content(KnownContent::Unread);
                item.known = OnceLock::new();
            });
        }
        return None;
    };
    let outdated = usize::try_from(stored.files()).unwrap_or(usize::MAX).saturating_sub(marked.len());
    Some((filter, TakenOver { files: marked.len(), outdated, at: Instant::now() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_settled_once_its_times_are_older_than_write_back() {
        let facts = |age: u64, changed: u64| {
            let at = |age| StatFacts::moment_before(SystemTime::now(), Duration::from_secs(age)).unwrap();
            StatFacts { device: 1, inode: 2, size: 3, modified: at(age), changed: at(changed) }
        };
        let waiting = Settled::default();
        assert!(waiting.is_settled(&facts(90, 90)));
        assert!(!waiting.is_settled(&facts(20, 20)));
        assert!(!waiting.is_settled(&facts(5000, 20)), "times of content can be set");
        let written = Settled { written_back: Some(SystemTime::now() - Duration::from_secs(10)) };
        assert!(written.is_settled(&facts(20, 20)));
        assert!(!written.is_settled(&facts(11, 20)) && !written.is_settled(&facts(20, 1)));
    }
}
