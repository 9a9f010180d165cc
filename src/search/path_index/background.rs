//! Background work: lists a tree, has its files read into the filter, and compares it with the disk.
//!
//! One thread of low priority, which waits while searches are under way.

use std::{
    sync::{Arc, Weak, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

use super::{
    COMPARED_EVERY, IndexMode, PathIndex, PathList, RootIndex, RootSlot, RootState,
    fill::fill,
    root_index::{changed_files, slot_of},
};
use crate::workspace::{Priority, Unwatchable, Workspace, WorkspacePath, lower_priority};

/// Files from which a tree is worth an index: a walk over fewer takes a millisecond or two.
const LARGE: usize = 2000;
/// Paths that are compared with the disk between two turns of the lock.
const VERIFY_FILES: usize = 512;
/// Listings of a tree in a row while something is mounted or unmounted.
const MAX_LISTINGS: usize = 5;

impl PathIndex {
    /// With [`IndexMode::Eager`], begins to list all roots in the background.
    pub fn start(self: &Arc<Self>, workspace: &Workspace) {
        if self.mode == IndexMode::Eager {
            self.build(workspace);
        }
    }

    /// Does what the background would do, and returns when it is done: for checks and measurements.
    pub fn settle(self: &Arc<Self>, workspace: &Workspace) {
        while self.building.swap(true, Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1));
        }
        build_all(&Arc::downgrade(self), workspace);
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
        let worth = match slot_of(&mut self.roots(), start).map(|slot| &mut slot.state) {
            None | Some(RootState::Unknown) => files >= LARGE || ended || self.mode == IndexMode::Eager,
            Some(state @ RootState::Small) => {
                let grown = files >= LARGE;
                if grown {
                    *state = RootState::Unknown;
                }
                grown
            }
            Some(RootState::Unwatchable(_)) => false,
            Some(RootState::Indexed(index)) => index.is_stale(),
        };
        if worth {
            self.build(workspace);
        }
    }

    /// Begins background work unless it is under way.
    fn build(self: &Arc<Self>, workspace: &Workspace) {
        if self.building.swap(true, Ordering::Relaxed) {
            return;
        }
        let (index, workspace) = (Arc::downgrade(self), workspace.clone());
        let spawned = thread::Builder::new().name("index".to_owned()).spawn(move || {
            lower_priority(Priority::Background);
            build_all(&index, &workspace);
        });
        if spawned.is_err() {
            self.building.store(false, Ordering::Relaxed);
        }
    }
}

/// The background work itself; `building` was set before.
fn build_all(index: &Weak<PathIndex>, workspace: &Workspace) {
    let _done = ClearBuilding(index.clone());
    // A root that may be missing is listed once it is there, and was searched.
    for root in workspace.roots().iter().filter(|root| !root.is_absent()) {
        build_root(index, workspace, &workspace.root_path(root));
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

/// Lists a root that is not listed yet, fills its filter, and compares it with the disk.
fn build_root(index: &Weak<PathIndex>, workspace: &Workspace, root: &WorkspacePath) {
    {
        let Some(index) = index.upgrade() else { return };
        list_unknown(&index, workspace, root);
    }
    for step in [fill, compare] {
        let mut after = None;
        loop {
            // Held for a batch only, so that the end of the session ends the work.
            let Some(index) = index.upgrade() else { return };
            match step(&index, root, after.as_ref()) {
                Some(last) => after = Some(last),
                None => break,
            }
        }
    }
}

fn list_unknown(index: &PathIndex, workspace: &Workspace, root: &WorkspacePath) {
    let is_known = slot_of(&mut index.roots(), root).is_some_and(|slot| !matches!(slot.state, RootState::Unknown));
    if is_known {
        return;
    }
    index.yield_to_searches();
    let state = listed(workspace, root, index.mode);
    let mut roots = index.roots();
    match slot_of(&mut roots, root) {
        Some(slot) => slot.set(state),
        None => roots.push(RootSlot::new(root.clone(), state)),
    }
}

/// Lists and watches a root.
fn listed(workspace: &Workspace, root: &WorkspacePath, mode: IndexMode) -> RootState {
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
            (Ok(list), None) if list.files() < LARGE && mode != IndexMode::Eager => RootState::Small,
            (Ok(list), None) => RootState::Indexed(Box::new(RootIndex::new(watcher, list))),
        };
    }
    RootState::Unknown
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
    let batch = &paths.items[from..paths.items.len().min(from + VERIFY_FILES)];
    let last = batch.last().map(|item| item.path().clone());
    let changed = changed_files(batch);
    drop(paths);
    if !changed.is_empty() {
        slot_of(&mut index.roots(), root)?.refresh()?.distrust(&changed);
    }
    last
}
