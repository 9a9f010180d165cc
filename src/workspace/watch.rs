//! What the kernel reports of changes below a root, so that a list of its names can be kept true.
//!
//! Watches every directory before it lists it, and turns events into what has to be looked at again.
//! Keeps no names itself. The kernel queues an event within the system call that makes the change,
//! so whatever had returned before [`Watcher::changes`] is in its answer. Mounts, which cause no event of a
//! directory, are asked for beside the events. Not reported are writes through a shared mapping or by Linux AIO
//! until the file is closed (see [`Watcher::has_silent_writers`]), and those through a name outside the
//! root; the lists above are to be kept from files with several names.

mod ignore_files;
#[cfg(target_os = "linux")]
mod inotify;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(not(target_os = "linux"))]
mod unsupported;
mod watch_tree;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use ignore_files::WatchedIgnoreFiles;
#[cfg(target_os = "linux")]
use inotify::{Event, Queue};
#[cfg(target_os = "linux")]
use mounts::MountsBelow;
#[cfg(target_os = "linux")]
pub(super) use mounts::SystemEvents;
#[cfg(not(target_os = "linux"))]
pub(super) use unsupported::SystemEvents;
#[cfg(not(target_os = "linux"))]
use unsupported::{Event, MountsBelow, Queue};
use watch_tree::WatchTree;

use super::error::{AccessError, AccessErrorKind};
use super::path::WorkspacePath;
use super::root::Root;
use super::shared::Shared;
use super::sys::Dir;
use super::walk::{self, Entry, Ignored, WalkOptions};

/// Why a root cannot be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwatchable {
    /// The platform reports too little.
    Platform,
    /// A file system that may change without an event, as network ones do.
    FileSystem,
    /// The system does not say when something is mounted.
    Mounts,
    /// The user's limit of watches is reached.
    OutOfWatches,
    /// One directory is in two places, as with a bind mount.
    Twice,
    /// Ignore rules are too many for all to count, which each answer has to say.
    Rules,
    /// The system refused otherwise.
    Refused,
}

impl fmt::Display for Unwatchable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Platform => "this platform does not report every change",
            Self::FileSystem => "the file system does not report every change",
            Self::Mounts => "the system does not report mounts",
            Self::OutOfWatches => "the limit of inotify watches is reached",
            Self::Twice => "a directory is mounted twice",
            Self::Rules => "not all ignore rules count, as they are too many",
            Self::Refused => "the system refused a watch",
        })
    }
}

/// One name that a survey met.
#[derive(Debug)]
pub struct WatchedEntry {
    /// The name.
    pub entry: Entry,
    /// Ignore rules leave it out; below such a directory nothing is surveyed.
    pub ignored: bool,
    /// It is a directory that cannot be listed.
    pub unreadable: bool,
    /// It is a directory that cannot be watched: what lies below it, and whether a mark in it makes it
    /// an ignored one, has to be looked at each time. Nothing below it is surveyed.
    pub unwatched: bool,
    /// Something is mounted there, so that a file has a parent elsewhere.
    pub mounted: bool,
}

/// What may be different from what was surveyed.
#[derive(Debug, Default)]
pub struct Changes {
    /// Events were lost: nothing is known any more.
    pub everything: bool,
    /// What is ignored below these may be different; content is what it was.
    pub trees: BTreeSet<WorkspacePath>,
    /// Names in these came or went: which paths. A directory among them is a new one.
    pub directories: BTreeMap<WorkspacePath, BTreeSet<WorkspacePath>>,
    /// Files that are not what they were.
    pub files: BTreeSet<WorkspacePath>,
    /// Something was mounted or unmounted, perhaps elsewhere, perhaps no longer: what was asked of the
    /// system since the changes before these may have been said of another file.
    pub remounted: bool,
}

impl Changes {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        !(self.everything || self.remounted)
            && self.trees.is_empty()
            && self.directories.is_empty()
            && self.files.is_empty()
    }

    /// Something else is at `path` now.
    fn replaced(&mut self, path: &WorkspacePath) {
        let Some(parent) = path.parent() else {
            self.everything = true;
            return;
        };
        if path.file_name().is_some_and(walk::holds_rules) {
            self.trees.insert(parent.clone());
        }
        self.directories.entry(parent).or_default().insert(path.clone());
        let mut within = path.parent();
        while let Some(above) = within {
            within = above.parent();
            if let (Some(".git"), Some(owner)) = (above.file_name().and_then(OsStr::to_str), &within) {
                self.trees.insert(owner.clone());
            }
        }
    }
}

/// What a watch is on.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Watched {
    /// A directory of the tree.
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

/// The watches on the directories of one root.
pub struct Watcher {
    shared: Arc<Shared>,
    root: WorkspacePath,
    queue: Queue,
    watched: HashMap<i32, Watched>,
    by_path: BTreeMap<WorkspacePath, Vec<i32>>,
    rules: WatchedIgnoreFiles,
    /// Which mounts `mounts_below` is about (see [`SystemEvents::generation`]).
    mounts: u64,
    mounts_below: MountsBelow,
    failed: Option<Unwatchable>,
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher")
            .field("root", &self.root)
            .field("watches", &self.watched.len())
            .finish_non_exhaustive()
    }
}

impl Watcher {
    pub(super) fn new(shared: &Arc<Shared>, root: &Arc<Root>) -> Result<Self, Unwatchable> {
        let queue = Queue::new()?;
        // Before the table is read: a change from now on is one more.
        let mounts = shared.system_events.generation().ok_or(Unwatchable::Mounts)?;
        Ok(Self {
            shared: Arc::clone(shared),
            root: WorkspacePath::new(root, Path::new("")),
            queue,
            watched: HashMap::new(),
            by_path: BTreeMap::new(),
            rules: WatchedIgnoreFiles::default(),
            mounts,
            mounts_below: shared.system_events.below(root.dir()).ok_or(Unwatchable::Mounts)?,
            failed: None,
        })
    }

    /// Lists `start`, all that lies below it when `deep`, else its own names only, in path order;
    /// what is listed was watched before.
    ///
    /// # Errors
    /// When `start` cannot be listed. Whether all could be watched is [`Self::failure`]'s to say.
    pub fn watch_tree(
        &mut self,
        start: &WorkspacePath,
        deep: bool,
        met: &mut dyn FnMut(WatchedEntry),
    ) -> Result<(), AccessError> {
        let shared = Arc::clone(&self.shared);
        let options = WalkOptions {
            ignored: Ignored::Skip,
            max_depth: if deep { None } else { Some(1) },
            directories: true,
            symlinks: true,
        };
        if deep {
            self.rules.forget(start, &self.queue);
        }
        let mut visitor = WatchTree::new(self, met, deep);
        let walked = walk::walk(&shared, start, &options, &mut visitor);
        // A list of it would leave out what limits kept from this survey, and would not say so.
        match &walked {
            Ok(report) if report.limits_hit.hides_names() => self.fail(Unwatchable::Refused),
            Ok(report) if report.limits_hit.lacks_rules() => self.fail(Unwatchable::Rules),
            Err(AccessError { kind: AccessErrorKind::Limit(_), .. }) => self.fail(Unwatchable::Refused),
            _ => {}
        }
        match walked {
            Ok(report) if !report.stopped => Ok(()),
            Ok(_) => Err(AccessError::new(AccessErrorKind::Changed, start)),
            Err(error) => Err(error),
        }
    }

    /// Why changes can no longer be seen, if so.
    pub fn failure(&self) -> Option<Unwatchable> {
        self.failed
    }

    /// How many directories are watched.
    pub fn watches(&self) -> usize {
        self.watched.len()
    }

    /// Whether something was mounted or unmounted since the last changes: what was surveyed since then
    /// may be gone again, without an event.
    pub fn is_remounted(&self) -> bool {
        self.shared.system_events.generation() != Some(self.mounts)
    }

    /// Whether some process on this machine can write without an event to a file that it has open: it uses
    /// Linux AIO. One that does so for a moment between two looks is missed.
    pub fn has_silent_writers(&self) -> bool {
        self.shared.system_events.has_aio()
    }

    /// All that has changed since the last time; a microsecond when nothing has.
    pub fn changes(&mut self) -> Changes {
        let mut changes = Changes::default();
        self.remounted(&mut changes);
        changes.trees.extend(self.changed_links().cloned());
        let mut directories_moved = false;
        let (watched, by_path, rules, root) = (&mut self.watched, &mut self.by_path, &mut self.rules, &self.root);
        let read = self.queue.read(&mut |event: &Event<'_>| {
            if event.lost {
                changes.everything = true;
                return;
            }
            changes.trees.extend(rules.owners(event.watch).cloned());
            directories_moved |= event.directory && event.names;
            if event.unmounted {
                // The mount table says so, too, unless the list has not caught up with it yet.
                if let Some(gone) = watched.get(&event.watch) {
                    changes.replaced(gone.owner());
                }
                return;
            }
            if event.ended {
                rules.ended(event.watch);
                // The directory is gone, which its parent has told; for a root nobody has.
                if let Some(old) = watched.remove(&event.watch) {
                    forget_one(by_path, old.owner(), event.watch);
                    changes.everything |= old == Watched::Directory(root.clone());
                }
                return;
            }
            match watched.get(&event.watch) {
                Some(Watched::Directory(path)) => note(&mut changes, path, event),
                Some(Watched::Repository(path, name)) if event.name.is_some_and(|it| it == *name) => {
                    changes.trees.insert(path.clone());
                }
                _ => {}
            }
        });
        changes.everything |= read.is_err();
        // A mount moves with a directory above it, of which the mount table tells nothing: when it ends, what is
        // listed under its new path has to be looked at.
        if directories_moved
            && !self.mounts_below.mounted.is_empty()
            && let Some(mounts_below) = self.shared.system_events.below(self.root.root().dir())
        {
            self.mounts_below = mounts_below;
        }
        changes
    }

    /// What was mounted or unmounted since the last time.
    fn remounted(&mut self, changes: &mut Changes) {
        let now = self.shared.system_events.generation();
        if now == Some(self.mounts) {
            return;
        }
        changes.remounted = true;
        let (Some(generation), Some(mounts_below)) = (now, self.shared.system_events.below(self.root.root().dir()))
        else {
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
        self.rules.forget(tree, &self.queue);
    }

    /// Ends the watches on everything below `tree`, because it is no longer listed; not the one on `tree` itself.
    pub fn forget_below(&mut self, tree: &WorkspacePath) {
        self.unwatch(tree, false);
        self.rules.forget(tree, &self.queue);
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
    }

    fn watch(&mut self, dir: &Dir, what: &Watched) -> Result<(), Unwatchable> {
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

    fn fail(&mut self, why: Unwatchable) {
        self.failed.get_or_insert(why);
    }
}

/// How many directories this user may watch in all, where the system says. Asked before the process
/// is confined, as it is the system's to say.
pub fn watch_limit() -> Option<u64> {
    #[cfg(target_os = "linux")]
    return inotify::watch_limit();
    #[cfg(not(target_os = "linux"))]
    None
}

fn forget_one(by_path: &mut BTreeMap<WorkspacePath, Vec<i32>>, path: &WorkspacePath, watch: i32) {
    if let Some(watches) = by_path.get_mut(path) {
        watches.retain(|other| *other != watch);
        if watches.is_empty() {
            by_path.remove(path);
        }
    }
}

/// What an event in a directory of the tree means.
fn note(changes: &mut Changes, path: &WorkspacePath, event: &Event<'_>) {
    let Some(name) = event.name else {
        // The directory itself was moved, removed or given other rights: its parent tells, too.
        changes.everything |= path.is_root();
        return;
    };
    if walk::holds_rules(name) {
        changes.trees.insert(path.clone());
    }
    if walk::is_marker(name)
        && let Some(parent) = path.parent()
    {
        changes.directories.entry(parent).or_default().insert(path.clone());
    }
    let child = path.child(Path::new(name));
    if event.names {
        changes.directories.entry(path.clone()).or_default().insert(child.clone());
    }
    if !event.directory {
        changes.files.insert(child);
    }
}
