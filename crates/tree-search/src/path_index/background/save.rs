//! Writes what is known of a root's files to the stored index, for the processes that follow.
//!
//! The lock is held only to take a snapshot, which shares its memory with the index. Only what a stat of now shows in
//! the state that is known is written, and only where no change since could have left that state as it is
//! ([`KnownStat::is_settled`](crate::path_index::KnownStat)).
//!
//! At the end of a process, what is being read is read on for a short while, on all processors, and stored: a process
//! that is started for a single call would never come to the end of a large tree in the background. What it has by then
//! is stored, and the next process goes on with it.

use std::{
    io,
    sync::{Arc, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

use confined_fs::{FileKind, StatCache, Visibility, Workspace, WorkspacePath};

use crate::{
    IndexContents, Saved, StoredFile,
    path_index::{
        KnownContent, PathIndex, PathList, RootIndex, RootSlot, RootState,
        loaded::{REST, is_outdated},
        root_index::slot_of,
    },
};

use super::fill::fill;

/// Writes the index of a root if enough of it is not stored; what became of that, if it was tried. `at_end`: without
/// regard to when that was last done.
pub(super) fn save(
    index: &PathIndex,
    workspace: &Workspace,
    root: &WorkspacePath,
    at_end: bool,
) -> Option<io::Result<Saved>> {
    let _under_way = SaveInProgress::of(index);
    if !index.stored.stored.is_kept() {
        return None;
    }
    let is_listing_outdated = index.stored.is_listing_outdated(root);
    let snapshot = {
        let mut roots = index.roots();
        slot_of(&mut roots, root)
            .and_then(RootSlot::filled)
            .filter(|index| is_due(index, at_end, is_listing_outdated))
            .map(|index| {
                let taken = std::mem::take(&mut index.unsaved);
                index.saved = Some(Instant::now());
                (index.list.clone(), index.filter.clone(), taken)
            })
    };
    let (list, filter, taken) = snapshot?;
    // Where nothing may be kept of the root, nothing is to be tried again.
    let identity = root.root().identity_for_index().ok()?;
    let mut contents = contents(&list, identity.device);
    drop(list);
    if let Some(listing) = workspace.list_tree(root) {
        contents.listing(&listing);
    }
    let saved = index.stored.stored.save(root, contents, &filter);
    tracing::debug!(%root, ?saved, files = taken, "the index was to be stored");
    match saved {
        Ok(Saved::Busy) | Err(_) => {
            // They are still to be stored, at another time.
            if let Some(index) = slot_of(&mut index.roots(), root).and_then(RootSlot::filled) {
                index.unsaved += taken;
            }
        }
        Ok(_) => index.stored.forget(root),
    }
    Some(saved)
}

/// Counts in [`PathIndex::saves`] until it is dropped.
struct SaveInProgress<'i>(&'i PathIndex);

impl<'i> SaveInProgress<'i> {
    fn of(index: &'i PathIndex) -> Self {
        index.saves.fetch_add(1, Ordering::Relaxed);
        Self(index)
    }
}

impl Drop for SaveInProgress<'_> {
    fn drop(&mut self) {
        self.0.saves.fetch_sub(1, Ordering::Relaxed);
    }
}

fn is_due(index: &RootIndex, at_end: bool, is_listing_outdated: bool) -> bool {
    let rested = at_end || index.saved.is_none_or(|saved| saved.elapsed() >= REST);
    rested && (is_listing_outdated || is_outdated(index.list.files(), index.unsaved))
}

/// What is known of the files that are in the known state.
fn contents(list: &PathList, device: u64) -> IndexContents {
    let mut contents = IndexContents::new(device);
    let mut stats = StatCache::default();
    for item in list.items.iter().filter(|item| item.kind() == FileKind::File && !item.mounted) {
        let is_kept = match &*item.content() {
            // That of a masked file says nothing, and its name is not stored.
            KnownContent::AlwaysSearch => item.entry().visibility() == Visibility::Open,
            KnownContent::Filtered(..) | KnownContent::Binary(_) => item.is_settled(),
            KnownContent::Unread | KnownContent::Secret => false,
        };
        let Some(stat) = is_kept.then(|| stats.stat(&item.entry()).ok()).flatten() else { continue };
        let is_same = item.state().is_none_or(|state| stat.fingerprint() == state);
        if let Some(facts) = stat.facts().filter(|_| is_same) {
            contents.file(item.relative(), &StoredFile { facts, content: item.content().into_owned() });
        }
    }
    contents
}

/// How long files are read, and at least that long once they are listed: otherwise a process might get no further than
/// the one before it.
const READ: Duration = Duration::from_millis(800);
const READ_AT_LEAST: Duration = Duration::from_millis(300);
/// How long a listing is waited for.
const LISTING: Duration = Duration::from_millis(1200);
/// How long another thread's write is waited for.
const WRITE: Duration = Duration::from_millis(1500);
const LOOK: Duration = Duration::from_millis(1);

impl PathIndex {
    /// Whether something of these roots is being read or stored, or has yet to be stored.
    pub fn is_unfinished(&self, workspace: &Workspace) -> bool {
        let roots = workspace.roots().iter().filter(|root| !root.is_absent());
        self.stored.stored.is_kept() && roots.map(|root| workspace.root_path(root)).any(|root| self.has_work(&root))
    }

    /// Goes on with that for about a second.
    pub fn finish(self: &Arc<Self>, workspace: &Workspace) {
        let began = Instant::now();
        for root in workspace.roots().iter().filter(|root| !root.is_absent()) {
            let root = workspace.root_path(root);
            if !self.has_work(&root) {
                continue;
            }
            wait(began + LISTING, || self.is_being_listed(&root));
            let until = (began + READ).max(Instant::now() + READ_AT_LEAST);
            let threads = thread::available_parallelism().map_or(1, usize::from);
            thread::scope(|scope| {
                let read = || while Instant::now() < until && fill(self, &root) {};
                for _ in 1..threads {
                    // As many as the system makes.
                    let _ = thread::Builder::new().spawn_scoped(scope, read);
                }
                read();
            });
            wait(until + READ_AT_LEAST, || self.filled(&root, |index| index.filling > 0));
            save(self, workspace, &root, true);
        }
        wait(Instant::now() + WRITE, || self.saves.load(Ordering::Relaxed) > 0);
    }

    fn has_work(&self, root: &WorkspacePath) -> bool {
        self.saves.load(Ordering::Relaxed) > 0
            || self.filled(root, |index| index.built.is_none() || is_outdated(index.list.files(), index.unsaved))
            || self.is_being_listed(root) && !self.stored.is_good(root)
    }

    fn is_being_listed(&self, root: &WorkspacePath) -> bool {
        let is_listed = |slot: &mut RootSlot| !matches!(slot.state, RootState::Unknown);
        self.building.load(Ordering::Relaxed) && !slot_of(&mut self.roots(), root).is_some_and(is_listed)
    }

    /// Whether the index that is filled is such a one.
    fn filled(&self, root: &WorkspacePath, is_such: impl FnOnce(&RootIndex) -> bool) -> bool {
        slot_of(&mut self.roots(), root).and_then(RootSlot::filled).is_some_and(|index| is_such(index))
    }
}

/// Waits while something is so, but not beyond `until`.
fn wait(until: Instant, is_so: impl Fn() -> bool) {
    while is_so() && Instant::now() < until {
        thread::sleep(LOOK);
    }
}
