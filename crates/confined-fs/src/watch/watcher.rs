//! The watches of one root, and what their events say has changed.

use std::collections::{BTreeMap, HashMap};
use std::{path::Path, sync::Arc};

use beneath::{Dir, Stat};

use super::{Changes, Event, MountsBelow, Queue, Unwatchable, ignore_files::WatchedIgnoreFiles};
use crate::shared::{Shared, Workspace};
use crate::{path::WorkspacePath, root::Root, walk::entry::EntryOrigin};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Watched {
    Directory(WorkspacePath),
    /// The `.git` of a directory, or the `info` in that: the names of interest are there.
    Repository(WorkspacePath, &'static str),
}

impl Watched {
    fn owner(&self) -> &WorkspacePath {
        match self {
            Self::Directory(path) | Self::Repository(path, _) => path,
        }
    }
}

pub struct Watcher {
    pub(super) shared: Arc<Shared>,
    pub(super) root: WorkspacePath,
    /// The directory that is watched: of a root that may be missing another one may now be in its place.
    dir: Dir,
    pub(super) queue: Queue,
    watched: HashMap<i32, Watched>,
    by_path: BTreeMap<WorkspacePath, Vec<i32>>,
    pub(super) ignore_files: WatchedIgnoreFiles,
    /// Which mounts `mounts_below` is about (see `SystemEvents::generation`).
    mounts: u64,
    pub(super) mounts_below: MountsBelow,
    pub(super) failed: Option<Unwatchable>,
}

impl Workspace {
    /// Begins to watch a root, for `Watcher::survey` and [`Watcher::changes`].
    ///
    /// # Errors
    /// Where the system does not report every change.
    pub fn watch(&self, root: &Arc<Root>) -> Result<Watcher, Unwatchable> {
        let queue = Queue::new()?;
        // Before the table is read: a change from now on is one more.
        let mounts = self.shared.system_events.generation().ok_or(Unwatchable::Mounts)?;
        let dir = root.dir.open().map_err(|_| Unwatchable::Refused)?;
        Ok(Watcher {
            shared: Arc::clone(&self.shared),
            root: WorkspacePath::new(root, Path::new("")),
            queue,
            watched: HashMap::new(),
            by_path: BTreeMap::new(),
            ignore_files: WatchedIgnoreFiles::default(),
            mounts,
            mounts_below: self.shared.system_events.below(&dir).ok_or(Unwatchable::Mounts)?,
            dir,
            failed: None,
        })
    }
}

impl Watcher {
    pub fn failure(&self) -> Option<Unwatchable> {
        self.failed
    }

    pub fn origin(&self) -> EntryOrigin {
        EntryOrigin::of_root(&self.shared, &self.root)
    }

    pub fn watches(&self) -> usize {
        self.watched.len()
    }

    /// Whether something was mounted or unmounted since the last changes: what was listed since then
    /// may be gone again, without an event.
    pub fn is_remounted(&self) -> bool {
        self.shared.system_events.generation() != Some(self.mounts)
    }

    /// Whether some process on this machine can write without an event to a file that it has open: it uses
    /// Linux AIO. One that does so for a moment between two looks is missed.
    pub fn has_silent_writers(&self) -> bool {
        self.shared.system_events.has_aio()
    }

    /// The directories with ignore rules that the disk has in another state, for writes that no event reports.
    pub fn changed_rules(&self) -> Vec<WorkspacePath> {
        self.ignore_files.changed_files(&self.dir)
    }

    /// All that has changed since the last time; a microsecond when nothing has.
    pub fn changes(&mut self) -> Changes {
        let mut changes = Changes::default();
        self.remounted(&mut changes);
        changes.trees.extend(self.ignore_files.changed_links(&self.shared.roots).cloned());
        let mut directories_moved = false;
        let (watched, by_path, rules, root) =
            (&mut self.watched, &mut self.by_path, &mut self.ignore_files, &self.root);
        let read = self.queue.read(usize::MAX, &mut |event: &Event<'_>| {
            if event.lost {
                changes.everything = true;
                return;
            }
            changes.trees.extend(rules.owners(event.watch).cloned());
            directories_moved |= event.directory;
            if event.unmounted {
                // The mount table says so, too, unless the list has not caught up with it yet.
                if let Some(gone) = watched.get(&event.watch) {
                    changes.replaced(gone.owner());
                }
                return;
            }
            if event.ended {
                rules.ended(event.watch);
                // The directory is gone. The watch on its parent has reported that; a root has no such parent.
                if let Some(old) = watched.remove(&event.watch) {
                    forget_one(by_path, old.owner(), event.watch);
                    changes.everything |= old == Watched::Directory(root.clone());
                }
                return;
            }
            match watched.get(&event.watch) {
                Some(Watched::Directory(path)) => changes.note(path, event),
                Some(Watched::Repository(path, name)) if event.name.is_some_and(|it| it == *name) => {
                    changes.trees.insert(path.clone());
                }
                _ => {}
            }
        });
        changes.everything |= read.is_err() || self.is_other_directory();
        // A mount moves with a directory above it, which the mount table does not show: when it ends, what is
        // listed under its new path has to be looked at.
        if directories_moved
            && !self.mounts_below.mounted.is_empty()
            && let Some(mounts_below) = self.shared.system_events.below(&self.dir)
        {
            self.mounts_below = mounts_below;
        }
        changes
    }

    /// Whether a root that may be missing is gone, or is another directory now.
    fn is_other_directory(&self) -> bool {
        let root = self.root.root();
        let is_watched = |now: Stat| self.dir.stat().is_ok_and(|watched| watched.same_file(&now));
        root.is_optional() && !root.dir.stat_beneath(Path::new("")).is_ok_and(is_watched)
    }

    fn remounted(&mut self, changes: &mut Changes) {
        let now = self.shared.system_events.generation();
        if now == Some(self.mounts) {
            return;
        }
        changes.remounted = true;
        let (Some(generation), Some(mounts_below)) = (now, self.shared.system_events.below(&self.dir)) else {
            changes.everything = true;
            return;
        };
        self.mounts = generation;
        let before = std::mem::replace(&mut self.mounts_below, mounts_below);
        // Also those that are in both: the numbers of mounts and devices are given out again, so that one
        // mount cannot be distinguished from another.
        for mounts_below in [&before, &self.mounts_below] {
            for relative in mounts_below.mounted.iter().chain(&mounts_below.written_through) {
                changes.replaced(&WorkspacePath::new(self.root.root(), relative));
            }
        }
    }

    /// Ends the watches on `tree` and everything below it, because it is no longer there.
    pub fn forget(&mut self, tree: &WorkspacePath) {
        self.unwatch(tree, true);
    }

    /// Ends the watches on everything below `tree`, because it is no longer listed; not the one on `tree` itself.
    pub fn forget_below(&mut self, tree: &WorkspacePath) {
        self.unwatch(tree, false);
    }

    fn unwatch(&mut self, tree: &WorkspacePath, itself: bool) {
        let below: Vec<_> = self
            .by_path
            .range(tree.clone()..)
            .take_while(|(path, _)| path.relative().starts_with(tree.relative()))
            .map(|(path, _)| path.clone())
            .filter(|path| itself || path != tree)
            .collect();
        for path in below {
            for watch in self.by_path.remove(&path).unwrap_or_default() {
                self.watched.remove(&watch);
                self.queue.forget(watch);
            }
        }
        self.ignore_files.forget(tree, &self.queue);
    }

    pub(super) fn watch(&mut self, dir: &Dir, what: &Watched) -> Result<(), Unwatchable> {
        let names_only = matches!(what, Watched::Repository(..));
        // What may not be read cannot be listed either.
        let Some(watch) = self.queue.watch(dir, names_only)? else { return Ok(()) };
        match self.watched.get(&watch) {
            None => {
                self.watched.insert(watch, what.clone());
                self.by_path.entry(what.owner().clone()).or_default().push(watch);
            }
            Some(same) if same == what => {}
            Some(_) => return Err(Unwatchable::Twice),
        }
        Ok(())
    }

    pub(super) fn fail(&mut self, why: Unwatchable) {
        self.failed.get_or_insert(why);
    }
}

fn forget_one(by_path: &mut BTreeMap<WorkspacePath, Vec<i32>>, path: &WorkspacePath, watch: i32) {
    if let Some(watches) = by_path.get_mut(path) {
        watches.retain(|other| *other != watch);
        if watches.is_empty() {
            by_path.remove(path);
        }
    }
}
