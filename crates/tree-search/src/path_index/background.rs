//! Background work: lists a tree, has its files read into the filter, compares it with the disk, and stores it.
//!
//! One thread of low priority, which waits while searches are under way. What was read counts only if no event says that
//! the file has changed meanwhile.
//!
//! # Storing
//! The lock is held only to take a snapshot, which shares its memory with the index. Only what a stat of now shows in
//! the state that is known is written, and only where no change since could have left that state as it is
//! (`KnownStat::is_settled`).
//!
//! At the end of a process, what is being read is read on for a short while, on all processors, and stored: a process
//! that is started for a single call would never come to the end of a large tree in the background. What it has by then
//! is stored, and the next process goes on with it.

use std::sync::{Arc, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime};
use std::{io, sync::atomic::Ordering, thread};

use confined_fs::walk::{Entry, StatCache};
use confined_fs::watch::{Unwatchable, Watcher};
use confined_fs::{FileKind, StatFacts, Workspace, WorkspacePath};
use crossbeam_channel::{RecvTimeoutError, bounded};
use self_sandbox::{Priority, lower_priority};
use text_file::document_format;

use super::root_index::{SettledTimes, changed_files, filter_memory, slot_of};
use super::{
    COMPARED_EVERY, IndexMode, KnownContent, PathIndex, PathList, RootIndex, RootSlot, RootState, SAVE_INTERVAL,
    UnderWay, is_outdated, path_state::KnownStat,
};
use crate::documents::DocumentTexts;
use crate::stored_index::CLOCK_TICK;
use crate::{IndexContents, Saved, StoredFile, ngram_filter::ContentGrams};

/// Files from which a tree is worth an index: a walk over fewer takes a millisecond or two.
const LARGE_TREE: usize = 2000;
/// Paths that are compared with the disk between two turns of the lock.
const VERIFY_FILES: usize = 512;
/// Listings of a tree in a row while something is mounted or unmounted.
const MAX_LISTINGS: usize = 5;
/// Comparisons without a search since the one before: those of a minute.
const COMPARISONS_UNASKED: u32 = 6;
/// How long the background work waits after a search that the stored index has answered.
const SINGLE_CALL: Duration = Duration::from_millis(300);

impl PathIndex {
    pub fn start(self: &Arc<Self>, workspace: &Workspace) {
        if self.mode == IndexMode::Eager {
            self.build(workspace, Duration::ZERO);
        }
    }

    /// Does what the background would do, and returns when it is done: for checks and measurements. What became of each
    /// root of which there was something to store.
    pub fn settle(self: &Arc<Self>, workspace: &Workspace) -> Vec<(WorkspacePath, io::Result<Saved>)> {
        let _building = loop {
            match UnderWay::alone(&self.building) {
                Some(building) => break building,
                None => thread::sleep(LOOK_INTERVAL),
            }
        };
        build_all(&Arc::downgrade(self), workspace)
    }

    /// Reads all roots for the stored index now, and stores what is found, as [`Self::settle`]. Needs no watches, which
    /// other processes may have used up. What was changed a moment ago cannot be kept: that is waited for, after
    /// `waiting`.
    pub fn store(
        self: &Arc<Self>,
        workspace: &Workspace,
        waiting: &dyn Fn(&WorkspacePath),
    ) -> Vec<(WorkspacePath, io::Result<Saved>)> {
        let mut changing = Vec::new();
        for root in present_roots(workspace) {
            let Some((list, is_young)) = old_list(workspace, &root, waiting) else { continue };
            changing.extend(is_young.then(|| root.clone()));
            let index = self.of_list(&root, None, list);
            self.roots().push(RootSlot::new(root, RootState::Unwatchable(Unwatchable::Refused, Some(index))));
        }
        let mut saved = self.settle(workspace);
        changing.retain(|root| saved.iter().all(|(known, _)| known != root));
        let why = "its files are changed all the time; try again when no program writes to them";
        saved.extend(changing.into_iter().map(|root| (root, Err(io::Error::other(why)))));
        saved
    }

    /// Compares every index with the disk without waiting for its time, and does all other background work:
    /// for checks.
    pub fn verify(self: &Arc<Self>, workspace: &Workspace) {
        for slot in self.roots().iter_mut() {
            if let RootState::Indexed(index) = &mut slot.state {
                index.verified = None;
            }
        }
        self.settle(workspace);
    }

    /// After a search of `start`: begins background work where it is worth it. `files` were seen;
    /// `ended` when there may be more.
    pub(crate) fn after_search(
        self: &Arc<Self>,
        workspace: &Workspace,
        start: &WorkspacePath,
        files: usize,
        ended: bool,
    ) {
        if self.mode == IndexMode::Off {
            return;
        }
        self.searched.store(true, Ordering::Relaxed);
        if self.building.load(Ordering::Relaxed) > 0 {
            return;
        }
        let (is_large, is_eager) = (files >= LARGE_TREE, self.mode == IndexMode::Eager);
        let mut is_indexed = false;
        let worth = match slot_of(&mut self.roots(), start).map(|slot| &mut slot.state) {
            None | Some(RootState::Unknown) => is_large || ended || is_eager,
            Some(state @ RootState::Small) => {
                if is_large {
                    *state = RootState::Unknown;
                }
                is_large
            }
            Some(RootState::Unwatchable(_, None)) => (is_large || is_eager) && self.stored.is_wanted(start),
            Some(RootState::Unwatchable(..)) => false,
            Some(RootState::Indexed(index)) => {
                is_indexed = true;
                index.is_stale()
            }
        };
        if is_indexed {
            self.go_on_comparing(workspace);
        }
        if worth {
            // A process for a single call would spend what it has on an index that it does not need.
            let pause = if self.stored.is_good(start) { SINGLE_CALL } else { Duration::ZERO };
            self.build(workspace, pause);
        }
    }

    /// Compares the indexes with the disk again and again, as long as searches come, unless a thread does that.
    fn go_on_comparing(self: &Arc<Self>, workspace: &Workspace) {
        let Some(comparing) = UnderWay::alone(&self.comparing) else { return };
        let (index, workspace, every) = (Arc::downgrade(self), workspace.clone(), self.compared_every());
        let (life, end) = bounded(0);
        *self.life.lock().unwrap_or_else(PoisonError::into_inner) = Some(life);
        // Where the system starts no thread, a later search tries again.
        let _ = thread::Builder::new().name("compare".to_owned()).spawn(move || {
            let _comparing = comparing;
            lower_priority(Priority::Background);
            let mut unasked = 0;
            while unasked <= COMPARISONS_UNASKED {
                let Some(this) = index.upgrade() else { return };
                unasked = if this.searched.swap(false, Ordering::Relaxed) { 0 } else { unasked + 1 };
                // Else what is under way compares as well.
                let building = UnderWay::alone(&this.building);
                drop(this);
                if building.is_some() {
                    present_roots(&workspace).for_each(|root| compare_all(&index, &root));
                }
                drop(building);
                if end.recv_timeout(every) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        });
    }

    fn compared_every(&self) -> Duration {
        self.compared_every.unwrap_or(COMPARED_EVERY)
    }

    /// Begins background work after a pause, unless it is under way.
    fn build(self: &Arc<Self>, workspace: &Workspace, pause: Duration) {
        let Some(building) = UnderWay::alone(&self.building) else { return };
        let (index, workspace) = (Arc::downgrade(self), workspace.clone());
        // Where the system starts no thread, a later search tries again.
        let _ = thread::Builder::new().name("index".to_owned()).spawn(move || {
            // Until the end of the thread, even by a panic.
            let _building = building;
            lower_priority(Priority::Background);
            thread::sleep(pause);
            build_all(&index, &workspace);
        });
    }

    /// Calls `read_next`, which reads a document and keeps its text, until it is false, unless such work is under way. The
    /// end of the session ends it.
    pub fn read_documents(self: &Arc<Self>, mut read_next: impl FnMut(&DocumentTexts<'_>) -> bool + Send + 'static) {
        let Some(reading) = UnderWay::alone(&self.reading) else { return };
        let index = Arc::downgrade(self);
        let work = move || {
            let _reading = reading;
            lower_priority(Priority::Background);
            while index.upgrade().is_some_and(|index| read_next(&index.document_texts())) {}
        };
        // Where the system starts no thread, the next call reads them.
        let _ = thread::Builder::new().name("documents".to_owned()).spawn(work);
    }

    /// The index of a root with these paths, with what a former process stored of it.
    fn of_list(&self, root: &WorkspacePath, watcher: Option<Watcher>, list: PathList) -> Box<RootIndex> {
        // The lock is not held after this: files are looked at.
        let memory = filter_memory(&self.roots(), root);
        Box::new(RootIndex::new(root, watcher, list, self.stored.get(root).as_ref(), memory))
    }
}

/// The roots that are there: one that may be missing is listed once it is there, and was searched.
fn present_roots(workspace: &Workspace) -> impl Iterator<Item = WorkspacePath> {
    workspace.roots().iter().filter(|root| !root.is_absent()).map(|root| workspace.root_path(root))
}

/// The background work itself. What became of the indexes that were to be stored.
fn build_all(index: &Weak<PathIndex>, workspace: &Workspace) -> Vec<(WorkspacePath, io::Result<Saved>)> {
    present_roots(workspace).filter_map(|root| build_root(index, workspace, &root).map(|saved| (root, saved))).collect()
}

/// Lists a root that is not listed yet, fills its filter, compares it with the disk, and stores it.
fn build_root(index: &Weak<PathIndex>, workspace: &Workspace, root: &WorkspacePath) -> Option<io::Result<Saved>> {
    // Held for a batch only, so that the end of the session ends the work.
    list_unknown(&*index.upgrade()?, workspace, root);
    index.upgrade()?.with_filled(root, RootIndex::begin_filling);
    while fill(&*index.upgrade()?, root) {}
    compare_all(index, root);
    let index = index.upgrade()?;
    let saved = save(&index, workspace, root, false);
    if let Some(slot) = slot_of(&mut index.roots(), root)
        && let RootState::Unwatchable(_, index) = &mut slot.state
    {
        // It was read to be stored.
        *index = None;
    }
    saved
}

fn list_unknown(index: &PathIndex, workspace: &Workspace, root: &WorkspacePath) {
    let unwatchable = match slot_of(&mut index.roots(), root).map(|slot| &slot.state) {
        None | Some(RootState::Unknown) => None,
        Some(RootState::Unwatchable(why, None)) => Some(*why),
        Some(_) => return,
    };
    index.yield_to_searches();
    let mut state = unwatchable.map_or_else(|| listed(workspace, root, index), |why| RootState::Unwatchable(why, None));
    if let RootState::Unwatchable(_, storing) = &mut state {
        *storing = listed_to_store(index, workspace, root);
    }
    let mut roots = index.roots();
    match slot_of(&mut roots, root) {
        Some(slot) => slot.set(state),
        None => roots.push(RootSlot::new(root.clone(), state)),
    }
}

/// How often it is waited until files are old enough to be kept.
const MAX_WAITS: usize = 3;

/// Lists a root once all that is below it was left alone for a [`CLOCK_TICK`]; whether something was not, after some time.
fn old_list(workspace: &Workspace, root: &WorkspacePath, waiting: &dyn Fn(&WorkspacePath)) -> Option<(PathList, bool)> {
    for waits in 0.. {
        let (list, _) = PathList::walk(workspace, root, false, |_| false).ok()?;
        let (now, mut stats) = (SystemTime::now(), StatCache::default());
        let moments = StatFacts::moment_before(now, CLOCK_TICK).zip(StatFacts::moment_before(now, Duration::ZERO));
        // A time in the future says nothing, however long one waits.
        let is_young =
            |facts: StatFacts| moments.is_some_and(|(old, now)| !facts.is_older_than(old) && facts.is_older_than(now));
        let is_any = list.items.iter().any(|item| {
            let facts = stats.stat(&item.entry()).ok().and_then(|stat| stat.facts());
            facts.is_some_and(is_young)
        });
        if !is_any || waits == MAX_WAITS {
            return Some((list, is_any));
        }
        if waits == 0 {
            waiting(root);
        }
        thread::sleep(CLOCK_TICK);
    }
    None
}

fn listed(workspace: &Workspace, root: &WorkspacePath, index: &PathIndex) -> RootState {
    for _ in 0..MAX_LISTINGS {
        // A queue of events for each root and not that of `DiskWatcher`: it is read within a search, by the thread that
        // searches, since the kernel queues an event before the system call that caused it returns. Nobody waits for it, so
        // a build that writes a hundred thousand files wakes no task of the server, and what is too much for the queue
        // costs one new listing here and no event of `wait`.
        let mut watcher = match workspace.watch(root.root()) {
            Ok(watcher) => watcher,
            Err(why) => return RootState::Unwatchable(why, None),
        };
        let list = PathList::read(root, &mut watcher);
        // What was looked at may be gone again; a look can mount something itself, too (autofs).
        if watcher.is_remounted() {
            continue;
        }
        return match (list, watcher.failure()) {
            // Perhaps a directory was moved while it was listed: once more, later.
            (_, Some(Unwatchable::Twice)) | (Err(_), None) => RootState::Unknown,
            (_, Some(why)) => RootState::Unwatchable(why, None),
            (Ok(list), None) if list.files() < LARGE_TREE && index.mode != IndexMode::Eager => RootState::Small,
            (Ok(list), None) => {
                let index = index.of_list(root, Some(watcher), list);
                // Again, for what was looked at meanwhile.
                if index.is_remounted() {
                    continue;
                }
                RootState::Indexed(index)
            }
        };
    }
    RootState::Unknown
}

/// Lists a root that cannot be watched, to read it for the stored index; `None` where that is not worth it.
fn listed_to_store(index: &PathIndex, workspace: &Workspace, root: &WorkspacePath) -> Option<Box<RootIndex>> {
    if !index.stored.is_wanted(root) {
        return None;
    }
    index.stored.with(root, |loaded| loaded.read = Some(Instant::now()));
    let (list, _) = PathList::walk(workspace, root, false, |_| false).ok()?;
    let is_worth_it = list.files() >= LARGE_TREE || index.mode == IndexMode::Eager;
    is_worth_it.then(|| index.of_list(root, None, list))
}

/// Compares a root with the disk, unless that was done a short while ago.
fn compare_all(index: &Weak<PathIndex>, root: &WorkspacePath) {
    let mut after = None;
    while let Some(last) = index.upgrade().and_then(|index| compare(&index, root, after.as_ref())) {
        after = Some(last);
    }
}

/// Compares what is known of the files after `after` with the disk; the last one looked at, or
/// `None` at the end, or when that was done a short while ago.
///
/// No answer waits for this. It bounds how long a change without an event stays unseen: one
/// through a mapping that stays open, or through a name made later where nothing is watched.
fn compare(index: &PathIndex, root: &WorkspacePath, after: Option<&WorkspacePath>) -> Option<WorkspacePath> {
    let (paths, from) = {
        let mut roots = index.roots();
        let root = slot_of(&mut roots, root)?.refresh(RootIndex::refresh)?;
        if after.is_none() && root.verified.is_some_and(|verified| verified.elapsed() < index.compared_every()) {
            return None;
        }
        let from = root.list.position_after(after);
        if from == root.list.items.len() {
            root.verified = Some(Instant::now());
            root.compare_rules();
            return None;
        }
        (Arc::clone(&root.list), from)
    };
    // Without the lock, which each search needs to begin.
    index.yield_to_searches();
    let end = paths.items.len().min(from + VERIFY_FILES);
    let last = Some(paths.items.get(end - 1).into_path());
    let changed = changed_files(paths.items.range(from..end));
    // Else a change of the list would copy it.
    drop(paths);
    if !changed.is_empty() {
        slot_of(&mut index.roots(), root)?.refresh(RootIndex::refresh)?.distrust(&changed);
    }
    last
}

/// Bytes of the largest file that is taken in: larger ones are searched each time.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// Files that are chosen at once, and bytes that are read between two turns of the lock.
const BATCH_FILES: usize = 64;
const BATCH_BYTES: usize = 1 << 20;
/// Bytes at the front of a file in which every search looks for a NUL: the buffer of
/// grep-searcher.
const FIRST_LOOK: usize = 64 << 10;

struct ReadFile {
    path: WorkspacePath,
    id: u32,
    content: ReadContent,
    known: Option<KnownStat>,
}

/// The grams of a text, and whether it is UTF-8; else the content, which is not for the filter.
type ReadContent = Result<(ContentGrams, bool), KnownContent>;

/// Takes in the next unread files; false when there are no more. Several threads may do that at once.
fn fill(index: &PathIndex, root: &WorkspacePath) -> bool {
    let Some((batch, mounts, settled)) = index.with_filled(root, next_batch).flatten() else { return false };
    let (mut files, mut bytes) = (Vec::new(), 0);
    index.yield_to_searches();
    for (entry, id) in batch {
        let Some((content, known)) = read(&entry, settled) else { continue };
        if let Ok((grams, _)) = &content {
            bytes += grams.bytes as usize;
        }
        files.push(ReadFile { path: entry.into_path(), id, content, known });
        if bytes >= BATCH_BYTES {
            bytes = 0;
            take_in(index, root, mounts, std::mem::take(&mut files));
            index.yield_to_searches();
        }
    }
    take_in(index, root, mounts, files);
    // The root may have been listed again meanwhile, with an index that nobody was reading for.
    index.with_filled(root, |index| index.filling = index.filling.saturating_sub(1));
    true
}

/// Files, each with the number of its state, that are read between two turns of the lock; [`RootIndex::mounts`] and
/// [`RootIndex::settled`].
type Batch = (Vec<(Entry, u32)>, u64, SettledTimes);

fn next_batch(index: &mut RootIndex) -> Option<Batch> {
    let from = index.list.position_after(index.filled_to.as_ref());
    let items = &index.list.items;
    let unread = items.range(from..items.len()).filter(|item| item.is_unread());
    let files: Vec<_> = unread.take(BATCH_FILES).map(|item| (item.entry(), item.id)).collect();
    let Some((last, _)) = files.last() else {
        index.built = Some(Instant::now());
        let (paths, filter) = (index.list.items.memory(), index.filter.memory());
        tracing::debug!(paths, filter, "the index is up to date; its size in bytes");
        return None;
    };
    index.filled_to = Some(last.path().clone());
    index.filling += 1;
    Some((files, index.mounts, index.settled))
}

fn take_in(index: &PathIndex, root: &WorkspacePath, mounts: u64, files: Vec<ReadFile>) {
    let mut roots = index.roots();
    let allowed = filter_memory(&roots, root);
    let Some(index) = slot_of(&mut roots, root).and_then(RootSlot::filled) else { return };
    index.filter.limit_to(allowed);
    // Otherwise any of them may have been read from a file that was mounted there for a moment.
    if index.mounts != mounts {
        return;
    }
    let list = Arc::make_mut(&mut index.list);
    index.unsaved += files.len();
    for ReadFile { path, id, content, known } in files {
        // Another number, or none: it has changed since the batch was chosen.
        let Some(at) = list.find(&path).filter(|at| list.items.get(*at).id == id) else { continue };
        let content = match content {
            Err(content) => content,
            Ok((grams, utf8)) => match index.filter.add(&grams) {
                Some(segments) => KnownContent::Filtered(segments, grams.bytes, utf8),
                None => KnownContent::AlwaysSearch,
            },
        };
        list.items.change(at, |item| {
            item.content = content;
            if let Some(known) = known {
                item.known = OnceLock::from(known);
            }
        });
    }
}

/// Reads a file for the filter. `None` when it should be looked at another time.
fn read(entry: &Entry, settled: SettledTimes) -> Option<(ReadContent, Option<KnownStat>)> {
    let always = Some((Err(KnownContent::AlwaysSearch), None));
    if entry.is_secret() {
        return Some((Err(KnownContent::Secret), None));
    }
    let Ok(mut file) = entry.open() else { return always };
    let stat = file.stat().clone();
    // Another name can change it without an event here.
    if stat.links() != 1 || stat.size > MAX_FILE_BYTES {
        return always;
    }
    // A write within the tick of the clock in which it was last changed would not show in its times. In the future
    // counts as just now.
    let age = stat.modified.and_then(|modified| SystemTime::now().duration_since(modified).ok());
    if age.is_none_or(|age| age < CLOCK_TICK) {
        return None;
    }
    let is_settled = stat.facts().is_some_and(|facts| settled.is_settled(&facts));
    let mut bytes = Vec::with_capacity(usize::try_from(stat.size).unwrap_or_default() + 1);
    match file.read_to_limit(&mut bytes, MAX_FILE_BYTES + 1) {
        Ok(true) => {}
        Ok(false) | Err(_) => return always,
    }
    // What was read while it was written may be of no single state.
    if !file.restat().is_ok_and(|now| now.same_file_state(&stat)) || bytes.len() as u64 != stat.size {
        return None;
    }
    // Its text is that of its parts.
    if document_format(entry.path().relative(), &bytes[..bytes.len().min(text_file::HEAD_BYTES)]).is_some() {
        return always;
    }
    Some((classified(&bytes), KnownStat::of(&stat, is_settled)))
}

fn classified(bytes: &[u8]) -> ReadContent {
    // Searched as what it decodes to.
    if encoding_rs::Encoding::for_bom(bytes).is_some() {
        return Err(KnownContent::AlwaysSearch);
    }
    match memchr::memchr(0, bytes) {
        None => {
            let grams = ContentGrams::of(bytes).ok_or(KnownContent::AlwaysSearch)?;
            Ok((grams, text_file::is_utf8(bytes, true)))
        }
        Some(at) if at < FIRST_LOOK && !text_file::looks_like_utf16(bytes) && !text_file::is_padded(bytes) => {
            Err(u32::try_from(bytes.len()).map_or(KnownContent::AlwaysSearch, KnownContent::Binary))
        }
        // UTF-16 is searched as what it decodes to; whether a search gets to a late NUL depends on its pattern.
        Some(_) => Err(KnownContent::AlwaysSearch),
    }
}

/// Writes the index of a root if enough of it is not stored; what became of that, if it was tried. `at_end`: without
/// regard to when that was last done.
pub(super) fn save(
    index: &PathIndex,
    workspace: &Workspace,
    root: &WorkspacePath,
    at_end: bool,
) -> Option<io::Result<Saved>> {
    let _under_way = UnderWay::of(&index.saves);
    if !index.stored.stored.is_kept() {
        return None;
    }
    let is_listing_outdated = index.stored.with(root, |loaded| loaded.is_listing_outdated);
    let snapshot = index.with_filled(root, |index| {
        is_due(index, at_end, is_listing_outdated).then(|| {
            index.saved = Some(Instant::now());
            // From here on changes are counted for the next index.
            (index.list.clone(), index.filter.clone(), std::mem::take(&mut index.unsaved))
        })
    });
    let (list, filter, taken) = snapshot.flatten()?;
    // Where nothing may be kept of the root, nothing is to be tried again.
    let identity = root.root().identity_for_index().ok()?;
    let mut contents = contents(&list, identity.device);
    // A file takes long to write: each change meanwhile would copy what the list still shares.
    drop(list);
    if let Some(listing) = workspace.list_tree(root) {
        contents.listing(&listing);
    }
    let saved = index.stored.stored.save(identity, contents, &filter);
    tracing::debug!(%root, ?saved, files = taken, "the index was to be stored");
    match saved {
        Ok(Saved::Busy) | Err(_) => {
            // They are still to be stored, at another time.
            index.with_filled(root, |index| index.unsaved += taken);
        }
        Ok(_) => index.stored.forget(root),
    }
    Some(saved)
}

fn is_due(index: &RootIndex, at_end: bool, is_listing_outdated: bool) -> bool {
    let rested = at_end || index.saved.is_none_or(|saved| saved.elapsed() >= SAVE_INTERVAL);
    rested && (is_listing_outdated || is_outdated(index.list.files(), index.unsaved))
}

fn contents(list: &PathList, device: u64) -> IndexContents {
    let mut contents = IndexContents::new(device);
    let mut stats = StatCache::default();
    for item in list.items.iter().filter(|item| item.kind == FileKind::File && !item.mounted) {
        let is_kept = match &item.content {
            KnownContent::AlwaysSearch => !item.entry().is_secret(),
            KnownContent::Filtered(..) | KnownContent::Binary(_) => item.is_settled(),
            KnownContent::Unread | KnownContent::Secret => false,
        };
        let Some(stat) = is_kept.then(|| stats.stat(&item.entry()).ok()).flatten() else { continue };
        // A change of which no event has been read yet.
        let is_same = item.state().is_none_or(|state| stat.fingerprint() == state);
        if let Some(facts) = stat.facts().filter(|_| is_same) {
            contents.file(item.relative, &StoredFile { facts, content: item.content.clone() });
        }
    }
    contents
}

/// How long files are read, and at least that long once they are listed: otherwise a process might get no further than
/// the one before it.
const READ_TIME: Duration = Duration::from_millis(800);
const LEAST_READ_TIME: Duration = Duration::from_millis(300);
const LISTING_TIME: Duration = Duration::from_millis(1200);
/// How long another thread's write is waited for.
const WRITE_TIME: Duration = Duration::from_millis(1500);
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

impl PathIndex {
    /// Whether something of these roots is being read or stored, or has yet to be stored.
    pub fn is_unfinished(&self, workspace: &Workspace) -> bool {
        self.stored.stored.is_kept() && present_roots(workspace).any(|root| self.has_work(&root))
    }

    pub fn finish(self: &Arc<Self>, workspace: &Workspace) {
        let began = Instant::now();
        for root in present_roots(workspace).filter(|root| self.has_work(root)) {
            // The thread in the background has begun with it, and two listings are no quicker.
            wait(began + LISTING_TIME, || self.is_being_listed(&root));
            let until = (began + READ_TIME).max(Instant::now() + LEAST_READ_TIME);
            let threads = thread::available_parallelism().map_or(1, usize::from);
            thread::scope(|scope| {
                let read = || while Instant::now() < until && fill(self, &root) {};
                for _ in 1..threads {
                    // As many as the system makes.
                    let _ = thread::Builder::new().spawn_scoped(scope, read);
                }
                read();
            });
            wait(until + LEAST_READ_TIME, || self.with_filled(&root, |index| index.filling > 0) == Some(true));
            save(self, workspace, &root, true);
        }
        wait(Instant::now() + WRITE_TIME, || self.saves.load(Ordering::Relaxed) > 0);
    }

    fn has_work(&self, root: &WorkspacePath) -> bool {
        self.saves.load(Ordering::Relaxed) > 0
            || self.with_filled(root, |index| index.built.is_none() || is_outdated(index.list.files(), index.unsaved))
                == Some(true)
            || self.is_being_listed(root) && !self.stored.is_good(root)
    }

    fn is_being_listed(&self, root: &WorkspacePath) -> bool {
        let is_listed = |slot: &mut RootSlot| !matches!(slot.state, RootState::Unknown);
        self.building.load(Ordering::Relaxed) > 0 && !slot_of(&mut self.roots(), root).is_some_and(is_listed)
    }

    /// Looks at the index of a root that background work fills, if there is one.
    fn with_filled<T>(&self, root: &WorkspacePath, look: impl FnOnce(&mut RootIndex) -> T) -> Option<T> {
        slot_of(&mut self.roots(), root).and_then(RootSlot::filled).map(look)
    }
}

/// Waits while something is so, but not beyond `until`.
fn wait(until: Instant, is_so: impl Fn() -> bool) {
    while is_so() && Instant::now() < until {
        thread::sleep(LOOK_INTERVAL);
    }
}
