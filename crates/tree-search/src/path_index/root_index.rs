//! The index of one root: its paths, the n-gram filter over its files, and the watcher that keeps both true.
//!
//! It begins with what the stored index of a former process knows of files that have not changed ([`take_over`]), so that
//! only the others are read. [`apply_changes`] brings the paths up to date with what the watcher
//! reports: it lists the directories concerned again and keeps everything else.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};
use std::{collections::BTreeSet, ffi::OsStr, ops::Range};

use confined_fs::watch::{Changes, Unwatchable, WatchedEntry, Watcher};
use confined_fs::{AccessErrorKind, FileKind, StatFacts, WorkspacePath, path::path_order, walk::StatCache};

use super::path_list::{AddedPath, PathList};
use super::path_state::{IndexedPath, KnownContent, KnownStat};
use crate::{StoredIndex, ngram_filter::NgramFilter, stored_index::CLOCK_TICK};

/// How often all of an index is compared with the disk while it is in use.
pub(super) const COMPARED_EVERY: Duration = Duration::from_secs(10);
/// How long after the last time the background work is done again in any case.
const REBUILT_EVERY: Duration = Duration::from_secs(60);
/// Memory of the filter, in bytes: that of some 1.4 GB of text.
const FILTER_MEMORY: usize = 96 << 20;
/// That of the filters of all roots, of which there may be many.
const ALL_FILTERS: usize = 256 << 20;
/// Changed files from which the filter is brought up to date, and how long after the last time.
const STALE_FILES: usize = 64;
const REFILL_INTERVAL: Duration = Duration::from_secs(2);
const MAX_REFILL_INTERVAL: Duration = Duration::from_secs(30);
/// Share of dead content, in percent, from which the filter is built again from nothing.
const MAX_WASTE: u64 = 50;
/// Listings that may fail before a root is only walked.
const MAX_FAILURES: u8 = 3;

pub(super) struct RootSlot {
    pub(super) root: WorkspacePath,
    pub(super) state: RootState,
    failures: u8,
}

pub(super) enum RootState {
    Unknown,
    Small,
    /// Cannot be watched: only walked. Its files may be being read for the stored index, and answer nothing here.
    Unwatchable(Unwatchable, Option<Box<RootIndex>>),
    Indexed(Box<RootIndex>),
}

/// The index of one root, and the filter as far as it has been built.
pub(super) struct RootIndex {
    /// `None` where it is read for the stored index alone: no changes are reported then.
    watcher: Option<Watcher>,
    pub(super) list: Arc<PathList>,
    pub(super) filter: NgramFilter,
    pub(super) stale: usize,
    /// Up to which path the filter is being brought up to date, and how many threads are reading a batch for that.
    pub(super) filled_to: Option<WorkspacePath>,
    pub(super) filling: usize,
    pub(super) settled: SettledTimes,
    taken_over: Option<(usize, Instant)>,
    pub(super) unsaved: usize,
    pub(super) saved: Option<Instant>,
    pub(super) built: Option<Instant>,
    pub(super) verified: Option<Instant>,
    /// Some process could write by Linux AIO since the last comparison.
    written_silently: bool,
    pub(super) mounts: u64,
}

impl RootSlot {
    pub(super) fn new(root: WorkspacePath, state: RootState) -> Self {
        Self { root, state, failures: 0 }
    }

    pub(super) fn set(&mut self, state: RootState) {
        self.failures += u8::from(matches!(state, RootState::Unknown));
        self.state =
            if self.failures >= MAX_FAILURES { RootState::Unwatchable(Unwatchable::Twice, None) } else { state };
    }

    /// The part that background work fills: the index, brought up to date, or what is read for the stored one alone.
    pub(super) fn filled(&mut self) -> Option<&mut RootIndex> {
        if let RootState::Indexed(_) = self.state {
            return self.refresh(RootIndex::refresh);
        }
        if let RootState::Unwatchable(_, index) = &mut self.state { index.as_deref_mut() } else { None }
    }

    /// Reads what has changed and applies it, by `refresh`. `None` where the root is not indexed, or no longer.
    pub(super) fn refresh(&mut self, refresh: impl FnOnce(&mut RootIndex) -> bool) -> Option<&mut RootIndex> {
        let RootState::Indexed(index) = &mut self.state else { return None };
        if !refresh(index) {
            self.failures += 1;
            let why = index.watcher.as_ref().and_then(Watcher::failure).unwrap_or(Unwatchable::Refused);
            // `Refused` is also the reason given for too many changes at once, which say nothing of the next listing.
            // At the end of its range the count must not overflow.
            let is_final = self.failures >= MAX_FAILURES && why != Unwatchable::Refused || self.failures == u8::MAX;
            self.state = if is_final { RootState::Unwatchable(why, None) } else { RootState::Unknown };
        }
        if let RootState::Indexed(index) = &mut self.state { Some(index) } else { None }
    }
}

impl RootIndex {
    /// One of these paths of which nothing is read. It takes over what a former process stored, with `memory` bytes for
    /// the filter, and has the file system written back where what is read could not be kept otherwise.
    pub(super) fn new(
        root: &WorkspacePath,
        watcher: Option<Watcher>,
        mut list: PathList,
        stored: Option<&Arc<StoredIndex>>,
        memory: usize,
    ) -> Self {
        let taken = stored.and_then(|stored| take_over(stored, &mut list, memory));
        Self {
            settled: SettledTimes::of(root, &list),
            taken_over: taken.as_ref().map(|(_, files, _)| (*files, Instant::now())),
            unsaved: taken.as_ref().map_or(0, |(.., outdated)| *outdated),
            filter: taken.map_or_else(|| NgramFilter::new(FILTER_MEMORY), |(filter, ..)| filter),
            watcher,
            list: Arc::new(list),
            stale: 0,
            filled_to: None,
            filling: 0,
            saved: None,
            built: None,
            verified: None,
            written_silently: false,
            mounts: 0,
        }
    }

    /// Whether the list is true again; false when only a new listing helps.
    pub(super) fn refresh(&mut self) -> bool {
        let Some(watcher) = &mut self.watcher else { return true };
        let changes = watcher.changes();
        // One that has ended may have written since the last look.
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
        // Else a change of the list would copy it.
        drop(list);
        self.distrust(&changed);
        self.compare_rules()
    }

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

    fn apply(&mut self, changes: &Changes) -> bool {
        let Some(watcher) = &mut self.watcher else { return true };
        if changes.is_empty() {
            return watcher.failure().is_none();
        }
        self.mounts += u64::from(changes.remounted);
        let mut dropped = Vec::new();
        let applied = apply_changes(Arc::make_mut(&mut self.list), changes, watcher, &mut dropped);
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
            // With another number it has changed since, by an event: what is known now is newer.
            if let Some(at) = list.find(path).filter(|at| list.items.get(*at).id == *id) {
                list.forget_content(at, &mut dropped);
                list.items.change(at, |item| item.content = KnownContent::AlwaysSearch);
            }
        }
        self.stale += dropped.len();
        self.release(dropped);
    }

    /// Begins to take in what is not read, from the first path on; from nothing, where too much of the filter is about
    /// what is gone.
    pub(super) fn begin_filling(&mut self) {
        (self.stale, self.filled_to) = (0, None);
        if self.filter.waste() <= MAX_WASTE {
            return;
        }
        self.filter = NgramFilter::new(FILTER_MEMORY);
        let items = &mut Arc::make_mut(&mut self.list).items;
        for at in 0..items.len() {
            if matches!(items.get(at).content, KnownContent::Filtered(..)) {
                items.change(at, |item| item.content = KnownContent::Unread);
            }
        }
    }

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
            Some(built) if self.verified.is_none() || built.elapsed() >= REBUILT_EVERY => true,
            Some(built) => {
                self.stale >= STALE_FILES && built.elapsed() >= REFILL_INTERVAL
                    || self.stale > 0 && built.elapsed() >= MAX_REFILL_INTERVAL
            }
        }
    }

    /// In a few words, for diagnosis: the files listed, those in the filter, and the bytes that this takes.
    pub(super) fn describe(&self) -> String {
        let in_filter = self.list.items.iter().filter(|item| item.is_known()).count();
        let memory = self.filter.memory() + self.list.items.memory();
        let taken = self.taken_over.map_or_else(String::new, |(files, at)| {
            format!(", of which {files} were taken over from the stored index {} s ago", at.elapsed().as_secs())
        });
        let saved = self.saved.map_or_else(String::new, |at| format!("; stored {} s ago", at.elapsed().as_secs()));
        format!("listed; {} files, {in_filter} in the filter{taken}, {memory} bytes{saved}", self.list.files())
    }
}

/// Bytes that the filter of the root of `path` may have, by what the filters of the other roots hold.
pub(super) fn filter_memory(roots: &[RootSlot], path: &WorkspacePath) -> usize {
    let others = roots.iter().filter(|slot| slot.root.root().key() != path.root().key());
    let held = others.map(|slot| match &slot.state {
        RootState::Indexed(index) | RootState::Unwatchable(_, Some(index)) => index.filter.memory(),
        _ => 0,
    });
    ALL_FILTERS.saturating_sub(held.sum()).min(FILTER_MEMORY)
}

pub(super) fn slot_of<'r>(roots: &'r mut [RootSlot], path: &WorkspacePath) -> Option<&'r mut RootSlot> {
    roots.iter_mut().find(|slot| slot.root.root().key() == path.root().key())
}

/// The files whose state is no longer the known one, each with the number of that state.
pub(super) fn changed_files<'l>(items: impl Iterator<Item = IndexedPath<'l>>) -> Vec<(WorkspacePath, u32)> {
    let mut stats = StatCache::default();
    let changed = items.filter(|item| !item.is_unchanged(&mut stats));
    changed.map(|item| (item.path().clone(), item.id)).collect()
}

/// Longer than the kernel lets a page be dirty by default: 35 s.
const WRITTEN_BACK: Duration = Duration::from_secs(60);
/// Files that are looked at for whether many were changed a short while ago.
const SAMPLE_FILES: usize = 128;

/// Before which moment the times of a file must be, so that what is read of it now may be kept by its stat for other
/// processes, which see no events.
///
/// Equal facts prove equal content only if nothing can be written from now on without another time:
///
/// - A write within the clock tick of the last change gives the file no other time. Times of a file have the
///   granularity of the kernel's tick, on some file systems of a second, so both must be [`CLOCK_TICK`] old, as git demands of
///   a file before it trusts its stat ([racy-git]).
/// - A store into a shared mapping changes the times only with the first store after the page was written back, which
///   write-protects it (`clear_page_dirty_for_io`). So what was dirty when it was read may change under the same facts.
///   The kernel begins to write pages back 30 s after they became dirty (`dirty_expire_centisecs`) and looks every 5 s: a
///   file whose times are [`WRITTEN_BACK`] old is trusted, and one that is older than a `syncfs`(2) of this process.
///
/// [racy-git]: https://git-scm.com/docs/racy-git
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SettledTimes {
    written_back: Option<SystemTime>,
}

impl SettledTimes {
    /// Writes the file system back if files of `list` were changed a short while ago, as after a checkout.
    fn of(root: &WorkspacePath, list: &PathList) -> Self {
        let now = SystemTime::now();
        let step = (list.items.len() / SAMPLE_FILES).max(1);
        let is_recent = |facts: StatFacts| {
            !StatFacts::moment_before(now, WRITTEN_BACK).is_some_and(|moment| facts.is_older_than(moment))
        };
        let mut sample = list.items.iter().step_by(step).filter(|item| item.is_unread());
        let is_wanted =
            sample.any(|item| item.entry().stat().ok().and_then(|stat| stat.facts()).is_some_and(is_recent));
        Self { written_back: (is_wanted && root.root().write_back()).then_some(now) }
    }

    /// Whether a file with these facts, which is read from now on, may be kept.
    pub(super) fn is_settled(self, facts: &StatFacts) -> bool {
        let waited = StatFacts::moment_before(SystemTime::now(), WRITTEN_BACK);
        let written = self.written_back.and_then(|moment| StatFacts::moment_before(moment, CLOCK_TICK));
        waited.into_iter().chain(written).any(|moment| facts.is_older_than(moment))
    }
}

/// Marks the files of `list` that a stat of now shows in the state that `stored` knows: the filter over them with room
/// for `memory` bytes, how many they are, and how many of the stored index have changed or are gone. `None` where the
/// stored filter is damaged: nothing is marked then.
fn take_over(stored: &Arc<StoredIndex>, list: &mut PathList, memory: usize) -> Option<(NgramFilter, usize, usize)> {
    let (mut cursor, mut stats, mut taken) = (stored.cursor(), StatCache::default(), Vec::new());
    for (at, item) in list.items.iter().enumerate().filter(|(_, item)| item.is_unread()) {
        let Some(file) = cursor.file(item.relative) else { continue };
        let is_known = matches!(file.content, KnownContent::Filtered(..) | KnownContent::Binary(_));
        if !is_known || item.entry().is_secret() {
            continue;
        }
        let Ok(stat) = stats.stat(&item.entry()) else { continue };
        let known = KnownStat::of(&stat, true).filter(|_| stat.facts() == Some(file.facts));
        taken.extend(known.map(|known| (at, known, file.content.clone())));
    }
    let filtered = taken.iter().filter_map(|(.., content)| match content {
        KnownContent::Filtered(segments, ..) => Some(segments),
        _ => None,
    });
    let (filter, files) = (stored.filter(memory, filtered)?, taken.len());
    for (at, known, content) in taken {
        list.items.change(at, |item| (item.known, item.content) = (OnceLock::from(known), content));
    }
    let outdated = usize::try_from(stored.files()).unwrap_or(usize::MAX).saturating_sub(files);
    Some((filter, files, outdated))
}

/// Directories that are listed again one by one; with more, a new listing of all is quicker.
const MAX_RELISTED: usize = 2000;
/// Names of one directory that are looked at one by one; with more, a listing is as quick.
const FEW_NAMES: usize = 64;

#[derive(Debug)]
struct TooManyChanges;

/// Brings the list up to date. What was known of content that is no longer trusted is put into
/// `dropped`.
///
/// # Errors
/// When so much has changed that only a new listing helps.
fn apply_changes(
    list: &mut PathList,
    changes: &Changes,
    watcher: &mut Watcher,
    dropped: &mut Vec<KnownContent>,
) -> Result<(), TooManyChanges> {
    if changes.everything || changes.directories.len() > MAX_RELISTED {
        return Err(TooManyChanges);
    }
    let touched: BTreeSet<_> = changes.directories.values().flatten().cloned().collect();
    // Before anything is watched again: a directory that was moved keeps its watch otherwise, and
    // with it the old path.
    for path in &touched {
        watcher.forget(path);
    }
    let (listed, removed, added) = (Vec::new(), Vec::new(), Vec::new());
    let mut update = Update { list: &mut *list, watcher, changes, touched, listed, removed, added, dropped };
    update.trees()?;
    update.directories()?;
    let Update { removed, added, .. } = update;
    list.replace(removed, added, dropped);
    for path in &changes.files {
        if let Some(at) = list.find(path) {
            list.forget_content(at, dropped);
        }
    }
    if changes.remounted {
        list.forget_asked();
    }
    Ok(())
}

struct Update<'u> {
    list: &'u mut PathList,
    watcher: &'u mut Watcher,
    changes: &'u Changes,
    touched: BTreeSet<WorkspacePath>,
    listed: Vec<WorkspacePath>,
    /// Paths that are taken out of the list and put into it, all at once at the end.
    removed: Vec<Range<usize>>,
    added: Vec<AddedPath>,
    dropped: &'u mut Vec<KnownContent>,
}

impl Update<'_> {
    /// Subtrees with other ignore rules: listed again, but what is known of files stays.
    fn trees(&mut self) -> Result<(), TooManyChanges> {
        for tree in &self.changes.trees {
            if self.is_covered(tree) || self.is_touched(tree) {
                continue;
            }
            let Some(old) = self.list.range_of(tree) else { continue };
            let mut met = Vec::new();
            if self.watcher.watch_tree(tree, true, &mut |listed| met.push(listed)).is_err() {
                if tree.is_root() {
                    return Err(TooManyChanges);
                }
                // Gone since: another change is about its parent.
                self.watcher.forget(tree);
                met.clear();
            }
            for listed in met {
                let mut item = self.list.added(listed);
                if let Some(at) = self.list.find(item.entry.path())
                    && self.list.items.get(at).kind == item.state.kind
                    && self.list.items.get(at).mounted == item.state.mounted
                    && !self.is_touched(item.entry.path())
                {
                    self.list.items.change(at, |was| {
                        item.state.content = std::mem::take(&mut was.content);
                        item.state.known = std::mem::take(&mut was.known);
                        item.state.id = was.id;
                    });
                    item.is_kept = true;
                }
                self.added.push(item);
            }
            self.removed.push(old);
            self.listed.push(tree.clone());
        }
        Ok(())
    }

    /// Directories with names that came or went: one level is listed again.
    fn directories(&mut self) -> Result<(), TooManyChanges> {
        for (directory, touched) in &self.changes.directories {
            if self.is_covered(directory) || self.is_touched(directory) {
                continue;
            }
            let Some(old) = self.list.range_of(directory) else { continue };
            // Its parent, listed before it, says that it is no longer what it was.
            let own = old.start.wrapping_sub(1);
            if !directory.is_root() && self.removed.iter().any(|range| range.contains(&own)) {
                continue;
            }
            if self.names(directory, touched, &old) {
                continue;
            }
            let mut met = Vec::new();
            match self.watcher.watch_tree(directory, false, &mut |listed| met.push(listed)) {
                Ok(()) => self.relist(old, met),
                Err(_) if directory.is_root() => return Err(TooManyChanges),
                // Gone or closed since: another change is about its parent.
                Err(_) => self.removed.push(old),
            }
        }
        Ok(())
    }

    /// Looks at no names of a directory but those that came or went; false where all of it has to be listed.
    fn names(&mut self, directory: &WorkspacePath, touched: &BTreeSet<WorkspacePath>, old: &Range<usize>) -> bool {
        let items = &self.list.items;
        let is_directory = |path| self.list.find(path).is_some_and(|at| items.get(at).kind == FileKind::Directory);
        if touched.len() > FEW_NAMES || touched.iter().any(is_directory) {
            return false;
        }
        // With one that stays, from which it is seen whether case matters there.
        let is_in_it = |item: &IndexedPath<'_>| item.is_file() && item.relative.parent() == Some(directory.relative());
        let other = items.range(old.clone()).take(FEW_NAMES).find(is_in_it).map(IndexedPath::into_path);
        let named = touched.iter().chain(&other).filter_map(WorkspacePath::file_name).map(OsStr::to_os_string);
        let mut met = Vec::new();
        if !matches!(self.watcher.watch_names(directory, &named.collect(), &mut |listed| met.push(listed)), Ok(true)) {
            return false;
        }
        for path in touched {
            let here = self.list.find(path).map_or(0..0, |at| at..at + 1);
            let listed = met.extract_if(.., |listed| listed.entry.path() == path).collect();
            self.relist(here, listed);
        }
        true
    }

    fn relist(&mut self, old: Range<usize>, met: Vec<WatchedEntry>) {
        let mut at = old.start;
        for listed in met {
            // Both are in path order.
            let relative = listed.entry.path().relative();
            while at < old.end && path_order(self.list.items.get(at).relative, relative).is_lt() {
                at = self.take_out(at, false);
            }
            let same_name = at < old.end && self.list.items.get(at).relative.as_os_str() == relative.as_os_str();
            if !same_name {
                self.add(listed);
                continue;
            }
            let next = self.list.end_of(at);
            let was = self.list.items.get(at);
            let same = was.kind == listed.entry.kind()
                && was.ignored == listed.ignored
                && was.unwatched == listed.unwatched
                && was.mounted == listed.mounted;
            if !same || (!was.is_file() && self.touched.contains(was.path())) {
                // The listing has just set the watch of a directory: where a mark in it has it ignored, nothing
                // else would say that the mark is gone.
                let stays = listed.entry.kind() == FileKind::Directory;
                self.take_out(at, stays);
                self.add(listed);
            } else if was.is_file() && self.touched.contains(was.path()) {
                // Replaced, as an atomic write does: the place stays. It may have come with links.
                if listed.entry.stat().is_ok_and(|stat| stat.links() == 1) {
                    self.list.forget_content(at, self.dropped);
                } else {
                    self.take_out(at, false);
                    self.add(listed);
                }
            }
            at = next;
        }
        while at < old.end {
            at = self.take_out(at, false);
        }
    }

    /// Takes a path out with all below it; the position of the next one. `stays` for a directory in whose place there is
    /// one, which keeps its own watch.
    fn take_out(&mut self, at: usize, stays: bool) -> usize {
        let end = self.list.end_of(at);
        if self.list.items.get(at).kind == FileKind::Directory {
            let item = self.list.items.get(at);
            let path = item.path();
            let is_below = |other: &WorkspacePath| other.relative().starts_with(path.relative());
            if self.listed.iter().any(is_below) {
                // Listed a moment ago, and gone by a later listing.
                let withdrawn = self.added.extract_if(.., |item| is_below(item.entry.path()));
                self.dropped.extend(withdrawn.map(|item| item.state.content));
            }
            if stays {
                self.watcher.forget_below(path);
            } else {
                self.watcher.forget(path);
            }
        }
        self.removed.push(at..end);
        end
    }

    fn add(&mut self, listed: WatchedEntry) {
        let mut item = self.list.added(listed);
        if item.state.kind == FileKind::Directory && !item.state.ignored && !item.state.unwatched {
            let mut met = Vec::new();
            match self.watcher.watch_tree(item.entry.path(), true, &mut |listed| met.push(listed)) {
                Ok(()) => {}
                // As for a walk: one that is gone is still named.
                Err(error) => item.state.unreadable = error.kind != AccessErrorKind::NotFound,
            }
            for listed in met {
                let below = self.list.added(listed);
                self.added.push(below);
            }
        }
        self.added.push(item);
    }

    /// Whether it is in a tree that was dealt with as a whole, or is one.
    fn is_covered(&self, path: &WorkspacePath) -> bool {
        self.listed.iter().any(|tree| path.relative().starts_with(tree.relative()))
    }

    /// Whether it, or a directory above it, was replaced: its parent's listing deals with it.
    fn is_touched(&self, path: &WorkspacePath) -> bool {
        let mut above = std::iter::successors(Some(path.clone()), WorkspacePath::parent);
        !self.touched.is_empty() && above.any(|path| self.touched.contains(&path))
    }
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
        let waiting = SettledTimes::default();
        assert!(waiting.is_settled(&facts(90, 90)));
        assert!(!waiting.is_settled(&facts(20, 20)));
        assert!(!waiting.is_settled(&facts(5000, 20)), "times of content can be set");
        let written = SettledTimes { written_back: Some(SystemTime::now() - Duration::from_secs(10)) };
        assert!(written.is_settled(&facts(20, 20)));
        assert!(!written.is_settled(&facts(11, 20)) && !written.is_settled(&facts(20, 1)));
    }
}
