//! Background work: lists a tree, has its files read into the filter, and compares it with the disk.
//!
//! One thread of low priority, which waits while searches are under way.

mod fill;
mod save;

use std::{
    io,
    sync::{Arc, Weak, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

use confined_fs::{Unwatchable, Workspace, WorkspacePath};
use self_sandbox::{Priority, lower_priority};

use fill::{begin, fill};
use save::save;

use crate::Saved;

use super::{
    COMPARED_EVERY, IndexMode, PathIndex, PathList, RootIndex, RootSlot, RootState,
    root_index::{changed_files, filter_memory, slot_of},
};

/// Files from which a tree is worth an index: a walk over fewer takes a millisecond or two.
const LARGE: usize = 2000;
/// Paths that are compared with the disk between two turns of the lock.
const VERIFY_FILES: usize = 512;
/// Listings of a tree in a row while something is mounted or unmounted.
const MAX_LISTINGS: usize = 5;
/// How long the background work waits after a search that the stored index has answered.
const SINGLE_CALL: Duration = Duration::from_millis(300);

impl PathIndex {
    /// With [`IndexMode::Eager`], begins to list all roots in the background.
    pub fn start(self: &Arc<Self>, workspace: &Workspace) {
        if self.mode == IndexMode::Eager {
            self.build(workspace, Duration::ZERO);
        }
    }

    /// Does what the background would do, and returns when it is done: for checks and measurements.
    pub fn settle(self: &Arc<Self>, workspace: &Workspace) {
        self.settle_and_save(workspace);
    }

    fn settle_and_save(self: &Arc<Self>, workspace: &Workspace) -> Vec<(WorkspacePath, io::Result<Saved>)> {
        while self.building.swap(true, Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1));
        }
        build_all(&Arc::downgrade(self), workspace)
    }

    /// Reads all roots for the stored index now, and stores what is found. Needs no watches, which other processes may
    /// have used up. What became of each root of which there was something to store.
    pub fn store(self: &Arc<Self>, workspace: &Workspace) -> Vec<(WorkspacePath, io::Result<Saved>)> {
        for root in workspace.roots().iter().filter(|root| !root.is_absent() && !root.is_staged()) {
            let root = workspace.root_path(root);
            let Ok(list) = PathList::walk(workspace, &root) else { continue };
            let state = self.storing_state(&root, list, Unwatchable::Refused);
            self.roots().push(RootSlot::new(root, state));
        }
        self.settle_and_save(workspace)
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
        if self.mode == IndexMode::Off || self.building.load(Ordering::Relaxed) {
            return;
        }
        let worth = match slot_of(&mut self.roots(), start).map(|slot| &mut slot.state) {
            None | Some(RootState::Unknown) => files >= LARGE || ended || self.mode == IndexMode::Eager,
            Some(state @ RootState::Small) => {
                let grown = files >= LARGE;
                if grown {
                    *state = RootState::Unknown;
                }
                grown
            }
            Some(RootState::Unwatchable(_)) => {
                (files >= LARGE || self.mode == IndexMode::Eager) && self.stored.is_wanted(start)
            }
            Some(RootState::Storing(..)) => false,
            Some(RootState::Indexed(index)) => index.is_stale(),
        };
        if worth {
            // A process for a single call would spend what it has on an index that it does not need.
            let pause = if self.stored.is_good(start) { SINGLE_CALL } else { Duration::ZERO };
            self.build(workspace, pause);
        }
    }

    /// Begins background work after a pause, unless it is under way.
    fn build(self: &Arc<Self>, workspace: &Workspace, pause: Duration) {
        if self.building.swap(true, Ordering::Relaxed) {
            return;
        }
        let (index, workspace) = (Arc::downgrade(self), workspace.clone());
        let spawned = thread::Builder::new().name("index".to_owned()).spawn(move || {
            lower_priority(Priority::Background);
            thread::sleep(pause);
            build_all(&index, &workspace);
        });
        if spawned.is_err() {
            self.building.store(false, Ordering::Relaxed);
        }
    }
}

/// The background work itself; `building` was set before. What became of the indexes that were to be stored.
fn build_all(index: &Weak<PathIndex>, workspace: &Workspace) -> Vec<(WorkspacePath, io::Result<Saved>)> {
    let _done = ClearBuilding(index.clone());
    // A root that may be missing is listed once it is there, and was searched.
    let roots = workspace.roots().iter().filter(|root| !root.is_absent()).map(|root| workspace.root_path(root));
    roots.filter_map(|root| build_root(index, workspace, &root).map(|saved| (root, saved))).collect()
}

impl PathIndex {
    /// A root that cannot be watched, with the list of its files that are to be read for the stored index.
    fn storing_state(&self, root: &WorkspacePath, list: PathList, why: Unwatchable) -> RootState {
        let mut unwatched = RootIndex::new(None, list);
        unwatched.prepare(root, self.stored.get(root), self.filter_memory(root));
        RootState::Storing(why, Box::new(unwatched))
    }

    /// As [`filter_memory`]; the lock is not held behind it.
    fn filter_memory(&self, root: &WorkspacePath) -> usize {
        filter_memory(&self.roots(), root)
    }
}

/// Says that the work has ended, even by a panic.
struct ClearBuilding(Weak<PathIndex>);

impl Drop for ClearBuilding {
    fn drop(&mut self) {
        if let Some(index) = self.0.upgrade() {
            index.building.store(false, Ordering::Relaxed);
        }
    }
}

/// Lists a root that is not listed yet, fills its filter, compares it with the disk, and stores it.
fn build_root(index: &Weak<PathIndex>, workspace: &Workspace, root: &WorkspacePath) -> Option<io::Result<Saved>> {
    {
        let index = index.upgrade()?;
        list_unknown(&index, workspace, root);
    }
    // Held for a batch only, so that the end of the session ends the work.
    if let Some(index) = index.upgrade() {
        begin(&index, root);
    }
    while index.upgrade().is_some_and(|index| fill(&index, root)) {}
    let mut after = None;
    while let Some(last) = index.upgrade().and_then(|index| compare(&index, root, after.as_ref())) {
        after = Some(last);
    }
    let index = index.upgrade()?;
    let saved = save(&index, workspace, root, false);
    end_storing(&index, root);
    saved
}

fn list_unknown(index: &PathIndex, workspace: &Workspace, root: &WorkspacePath) {
    let state = {
        let mut roots = index.roots();
        match slot_of(&mut roots, root).map(|slot| &slot.state) {
            None | Some(RootState::Unknown) => None,
            Some(RootState::Unwatchable(why)) => Some(*why),
            Some(_) => return,
        }
    };
    index.yield_to_searches();
    let state = if let Some(why) = state { RootState::Unwatchable(why) } else { listed(workspace, root, index) };
    let state = match state {
        RootState::Unwatchable(why) => unwatched(index, workspace, root, why),
        other => other,
    };
    let mut roots = index.roots();
    match slot_of(&mut roots, root) {
        Some(slot) => slot.set(state),
        None => roots.push(RootSlot::new(root.clone(), state)),
    }
}

/// Lists and watches a root.
fn listed(workspace: &Workspace, root: &WorkspacePath, index: &PathIndex) -> RootState {
    let PathIndex { mode, stored, .. } = index;
    let memory = index.filter_memory(root);
    for _ in 0..MAX_LISTINGS {
        let mut watcher = match workspace.watch(root.root()) {
            Ok(watcher) => watcher,
            Err(why) => return RootState::Unwatchable(why),
        };
        let list = PathList::read(root, &mut watcher);
        // What was looked at may be gone again; a look can mount something itself, too (autofs).
        if watcher.is_remounted() {
            continue;
        }
        return match (list, watcher.failure()) {
            // Perhaps a directory was moved while it was listed: once more, later.
            (_, Some(Unwatchable::Twice)) | (Err(_), None) => RootState::Unknown,
            (_, Some(why)) => RootState::Unwatchable(why),
            (Ok(list), None) if list.files() < LARGE && *mode != IndexMode::Eager => RootState::Small,
            (Ok(list), None) => {
                let mut index = RootIndex::new(Some(watcher), list);
                index.prepare(root, stored.get(root), memory);
                // Again, for what was looked at meanwhile.
                if index.is_remounted() {
                    continue;
                }
                RootState::Indexed(Box::new(index))
            }
        };
    }
    RootState::Unknown
}

/// What was read for the stored index alone is no longer needed.
fn end_storing(index: &PathIndex, root: &WorkspacePath) {
    if let Some(slot) = slot_of(&mut index.roots(), root)
        && let RootState::Storing(why, _) = slot.state
    {
        slot.state = RootState::Unwatchable(why);
    }
}

/// Lists a root that cannot be watched, to read it for the stored index.
fn unwatched(index: &PathIndex, workspace: &Workspace, root: &WorkspacePath, why: Unwatchable) -> RootState {
    if why == Unwatchable::Staged || !index.stored.is_wanted(root) {
        return RootState::Unwatchable(why);
    }
    index.stored.note_read(root);
    match PathList::walk(workspace, root) {
        Ok(list) if list.files() >= LARGE || index.mode == IndexMode::Eager => index.storing_state(root, list, why),
        _ => RootState::Unwatchable(why),
    }
}

/// Compares what is known of the files behind `after` with the disk; the last one looked at, or
/// `None` at the end, or when that was done a short while ago.
///
/// No answer waits for this. It bounds how long a change without an event stays unseen: one
/// through a mapping that stays open, or through a name made later where nothing is watched.
fn compare(index: &PathIndex, root: &WorkspacePath, after: Option<&WorkspacePath>) -> Option<WorkspacePath> {
    let (paths, from) = {
        let mut roots = index.roots();
        let root = slot_of(&mut roots, root)?.refresh()?;
        if after.is_none() && root.verified.is_some_and(|verified| verified.elapsed() < COMPARED_EVERY) {
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
    index.yield_to_searches();
    let end = paths.items.len().min(from + VERIFY_FILES);
    let last = Some(paths.items.get(end - 1).into_path());
    let changed = changed_files(paths.items.range(from..end));
    drop(paths);
    if !changed.is_empty() {
        slot_of(&mut index.roots(), root)?.refresh()?.distrust(&changed);
    }
    last
}
