//! Watches on chosen directories, for subscriptions: they follow a few paths and keep no list of names.
//!
//! [`Watcher`](super::Watcher) keeps the list of a whole root true: a search reads it before each use, it watches all
//! directories of a root, and does not distinguish a write from a touch. [`PathWatches`](super::PathWatches) only wakes a
//! call. Here a thread waits for the events and gets them as paths.
//!
//! # Limits
//! Those of [`super`]. One directory that is mounted in two places is watched under the name that came first.

use std::{
    collections::{BTreeMap, HashMap},
    ops::ControlFlow,
    path::Path,
    sync::Arc,
};

use beneath::OpenFor;

use crate::{
    Dir, Entry, Ignored, Root, Shared, WalkOptions, Workspace, WorkspacePath,
    walk::{self, Visitor},
    write::is_reserved,
};

use super::{Event, Queue, Unwatchable};

/// Directories that one watcher watches at most: a quarter of what Linux gives a user by default on a large machine.
const MOST: usize = 1 << 18;

/// What happened to a name in a watched directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NameEvent {
    /// The name came or went.
    pub came_or_went: bool,
    /// The content was written to; else only rights or times have changed, or a writer has closed it.
    pub is_written: bool,
}

/// What a reading of the events gives.
#[derive(Debug, Default)]
pub struct DirectoryEvents {
    /// By the path of the entry.
    pub events: BTreeMap<WorkspacePath, NameEvent>,
    /// Events were lost, or left out because there were too many: anything may have changed.
    pub is_incomplete: bool,
}

/// Watches on the directories of the followed paths.
pub struct DirectoryWatcher {
    shared: Arc<Shared>,
    pub(super) queue: Queue,
    watched: HashMap<i32, WorkspacePath>,
    by_path: BTreeMap<WorkspacePath, i32>,
}

impl DirectoryWatcher {
    /// One that watches nothing yet.
    ///
    /// # Errors
    /// Where the system does not report every change.
    pub fn new(workspace: &Workspace) -> Result<Self, Unwatchable> {
        let shared = Arc::clone(&workspace.shared);
        Ok(Self { shared, queue: Queue::new()?, watched: HashMap::new(), by_path: BTreeMap::new() })
    }

    /// How many directories are watched.
    pub fn watches(&self) -> usize {
        self.watched.len()
    }

    /// Watches the directories on the way to `path`, a real path, so that its coming, its changes and its going are
    /// reported, also where a directory above it is moved. Those that are missing are reported when they come.
    ///
    /// # Errors
    /// Where one cannot be watched.
    pub fn watch_way_to(&mut self, path: &WorkspacePath) -> Result<(), Unwatchable> {
        if path.root().is_staged() {
            return Err(Unwatchable::Staged);
        }
        let mut above: Vec<WorkspacePath> = std::iter::successors(path.parent(), WorkspacePath::parent).collect();
        if above.is_empty() {
            above.push(path.clone());
        }
        for directory in above.iter().rev() {
            if self.by_path.contains_key(directory) {
                continue;
            }
            let opened = directory.root().dir.dir_beneath(directory.relative(), OpenFor::Traverse);
            let Ok(dir) = opened else {
                // It is watched for in the directory above; a root has none.
                return if directory.is_root() { Err(Unwatchable::Refused) } else { Ok(()) };
            };
            self.watch(&dir, directory)?;
        }
        Ok(())
    }

    /// Watches `start`, a real directory, and all below it that ignore rules do not leave out.
    ///
    /// # Errors
    /// Where one cannot be watched; what could be watched by then is watched.
    pub fn watch_below(&mut self, start: &WorkspacePath) -> Result<(), Unwatchable> {
        if start.root().is_staged() {
            return Err(Unwatchable::Staged);
        }
        let options = WalkOptions { ignored: Ignored::Skip, max_depth: None, directories: true, symlinks: false };
        let shared = Arc::clone(&self.shared);
        let mut visitor = WatchBelow { watcher: self, root: Arc::clone(start.root()), failed: None };
        // What cannot be listed now is listed when its coming is reported.
        let _ = walk::walk(&shared, start, &options, &mut visitor);
        visitor.failed.map_or(Ok(()), Err)
    }

    /// Ends the watches on `tree` and everything below it.
    pub fn forget(&mut self, tree: &WorkspacePath) {
        let below: Vec<WorkspacePath> = self
            .by_path
            .range(tree.clone()..)
            .take_while(|(path, _)| path.is_in(tree))
            .map(|(path, _)| path.clone())
            .collect();
        for path in below {
            if let Some(watch) = self.by_path.remove(&path) {
                self.watched.remove(&watch);
                self.queue.forget(watch);
            }
        }
    }

    /// Ends the watches on all directories but those that are `needed`.
    pub fn retain(&mut self, needed: impl Fn(&WorkspacePath) -> bool) {
        let Self { queue, watched, by_path, .. } = self;
        by_path.retain(|path, watch| {
            let is_needed = needed(path);
            if !is_needed {
                watched.remove(watch);
                queue.forget(*watch);
            }
            is_needed
        });
    }

    /// What was reported since the last time, about at most `most` paths: temporary files of this program and names that
    /// policy hides are left out. The watches on a directory whose name came or went are ended, as it may be another
    /// one.
    pub fn events(&mut self, most: usize) -> DirectoryEvents {
        let mut seen = DirectoryEvents::default();
        let (mut ended, mut moved) = (Vec::new(), Vec::new());
        let watched = &self.watched;
        let read = self.queue.read(&mut |event: &Event<'_>| {
            if event.lost || event.unmounted {
                seen.is_incomplete = true;
                return;
            }
            let Some(directory) = watched.get(&event.watch) else { return };
            if event.ended {
                ended.push(event.watch);
            }
            let path = match event.name {
                Some(name) if is_reserved(name) => return,
                Some(name) => directory.child(Path::new(name)),
                None => directory.clone(),
            };
            let came_or_went = event.came_or_went || event.ended || (event.name.is_none() && event.is_moved);
            if event.directory && event.came_or_went {
                moved.push(path.clone());
            }
            if !(came_or_went || event.is_written || !event.directory) || path.hidden() {
                return;
            }
            if seen.events.len() >= most && !seen.events.contains_key(&path) {
                seen.is_incomplete = true;
                return;
            }
            let known = seen.events.entry(path).or_default();
            known.came_or_went |= came_or_went;
            known.is_written |= event.is_written;
        });
        seen.is_incomplete |= read.is_err();
        for watch in ended {
            if let Some(path) = self.watched.remove(&watch) {
                self.by_path.remove(&path);
            }
        }
        for tree in moved {
            self.forget(&tree);
        }
        seen
    }

    fn watch(&mut self, dir: &Dir, path: &WorkspacePath) -> Result<(), Unwatchable> {
        if self.watched.len() >= MOST {
            return Err(Unwatchable::OutOfWatches);
        }
        // What may not be read is not reported either.
        let Some(watch) = self.queue.watch(dir, false)? else { return Err(Unwatchable::Refused) };
        match self.watched.get(&watch) {
            Some(known) if known == path => Ok(()),
            Some(_) => Err(Unwatchable::Twice),
            None => {
                self.watched.insert(watch, path.clone());
                self.by_path.insert(path.clone(), watch);
                Ok(())
            }
        }
    }
}

/// Watches each directory that a walk opens, before it is listed.
struct WatchBelow<'w> {
    watcher: &'w mut DirectoryWatcher,
    root: Arc<Root>,
    failed: Option<Unwatchable>,
}

impl Visitor for WatchBelow<'_> {
    fn visit(&mut self, _: Entry) -> ControlFlow<()> {
        if self.failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn opened(&mut self, dir: &Dir, path: &Path) -> bool {
        let path = WorkspacePath::new(&self.root, path);
        if let Err(why) = self.watcher.watch(dir, &path) {
            self.failed.get_or_insert(why);
        }
        self.failed.is_none()
    }
}
