//! The end of a process: what is being read is read on for a short while, on all processors, and stored.
//!
//! A process that is started for a single call would never come to the end of a large tree in the background. What it
//! has by then is stored, and the next process goes on with it.

use std::{
    sync::{Arc, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

use confined_fs::{Workspace, WorkspacePath};

use super::{
    PathIndex, RootIndex, RootSlot, RootState, fill::fill, loaded::is_outdated, root_index::slot_of, save::save,
};

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
