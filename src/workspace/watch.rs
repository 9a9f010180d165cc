//! What the kernel tells of changes below a root, so that a list of its names can be kept true.
//!
//! Watches every directory before it lists it, and turns events into what has to be looked at again.
//! Keeps no names itself. The kernel queues an event within the system call that makes the change,
//! so whatever had returned before [`Watcher::changes`] is in its answer. Not told are writes
//! through a shared mapping until it is closed, and those through a name outside the root; the
//! lists above are to be kept from files with several names.

#[cfg(not(target_os = "linux"))]
mod absent;
#[cfg(target_os = "linux")]
mod inotify;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

#[cfg(not(target_os = "linux"))]
use absent::{Event, Queue};
#[cfg(target_os = "linux")]
use inotify::{Event, Queue};

use super::error::{AccessError, AccessErrorKind};
use super::handle::FileKind;
use super::open::Shared;
use super::path::WorkspacePath;
use super::root::Root;
use super::sys::{Dir, Use};
use super::walk::{self, Entry, Ignored, Visitor, WalkOptions};

/// Files whose change changes what is ignored below their directory.
const RULES: &[&str] = &[".gitignore", ".ignore", ".git"];
/// Files that make the directory they lie in an ignored one, or no longer.
const MARKS: &[&str] = &["CACHEDIR.TAG", "pyvenv.cfg"];

/// Why a root cannot be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwatchable {
    /// The platform tells too little.
    Platform,
    /// A file system below the root that may change without an event, as network ones do.
    FileSystem,
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
            Self::Platform => "this platform does not tell of every change",
            Self::FileSystem => "the file system does not tell of every change",
            Self::OutOfWatches => "the limit of inotify watches is reached",
            Self::Twice => "a directory is mounted twice",
            Self::Rules => "not all ignore rules count, as they are too many",
            Self::Refused => "the system refused a watch",
        })
    }
}

/// One name that a survey met.
#[derive(Debug)]
pub struct Surveyed {
    /// The name.
    pub entry: Entry,
    /// Ignore rules leave it out; below such a directory nothing is surveyed.
    pub ignored: bool,
    /// It is a directory that cannot be listed.
    pub unreadable: bool,
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
}

impl Changes {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        !self.everything && self.trees.is_empty() && self.directories.is_empty() && self.files.is_empty()
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
        Ok(Self {
            shared: Arc::clone(shared),
            root: WorkspacePath::new(root, Path::new("")),
            queue: Queue::new()?,
            watched: HashMap::new(),
            by_path: BTreeMap::new(),
            failed: None,
        })
    }

    /// Lists `start`, all that lies below it when `deep`, else its own names only, in path order;
    /// what is listed was watched before.
    ///
    /// # Errors
    /// When `start` cannot be listed. Whether all could be watched is [`Self::failure`]'s to say.
    pub fn survey(
        &mut self,
        start: &WorkspacePath,
        deep: bool,
        met: &mut dyn FnMut(Surveyed),
    ) -> Result<(), AccessError> {
        let shared = Arc::clone(&self.shared);
        let options = WalkOptions {
            ignored: Ignored::Skip,
            max_depth: if deep { None } else { Some(1) },
            directories: true,
            symlinks: true,
        };
        let mut surveyor = Surveyor { watcher: self, met, unreadable: false };
        let walked = walk::walk(&shared, start, &options, &mut surveyor);
        // A list of it would leave out what limits kept from this survey, and would not say so.
        match &walked {
            Ok(report) if report.gaps.hides_names() => self.fail(Unwatchable::Refused),
            Ok(report) if report.gaps.lacks_rules() => self.fail(Unwatchable::Rules),
            Err(AccessError { kind: AccessErrorKind::Limit(_), .. }) => self.fail(Unwatchable::Refused),
            _ => {}
        }
        match walked {
            Ok(report) if !report.stopped => Ok(()),
            Ok(_) => Err(AccessError::new(AccessErrorKind::Changed, start)),
            Err(error) => Err(error),
        }
    }

    /// Why changes can no longer be told, if so.
    pub fn failure(&self) -> Option<Unwatchable> {
        self.failed
    }

    /// How many directories are watched.
    pub fn watches(&self) -> usize {
        self.watched.len()
    }

    /// All that has changed since the last time; a fraction of a microsecond when nothing has.
    pub fn changes(&mut self) -> Changes {
        let mut changes = Changes::default();
        let (watched, by_path, root) = (&mut self.watched, &mut self.by_path, &self.root);
        let read = self.queue.read(&mut |event: &Event<'_>| {
            if event.lost {
                changes.everything = true;
                return;
            }
            if event.ended {
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
        changes
    }

    /// Ends the watches on `tree` and everything below it, because it is no longer there.
    pub fn forget(&mut self, tree: &WorkspacePath) {
        let below: Vec<_> = self
            .by_path
            .range(tree.clone()..)
            .take_while(|(path, _)| path.relative().starts_with(tree.relative()))
            .map(|(path, _)| path.clone())
            .collect();
        for path in below {
            for watch in self.by_path.remove(&path).unwrap_or_default() {
                self.watched.remove(&watch);
                self.queue.forget(watch);
            }
        }
    }

    fn watch(&mut self, dir: &Dir, what: &Watched) {
        let names_only = matches!(what, Watched::Repository(..));
        match self.queue.watch(dir, names_only) {
            Ok(Some(watch)) => match self.watched.insert(watch, what.clone()) {
                None => self.by_path.entry(what.owner().clone()).or_default().push(watch),
                Some(same) if same == *what => {}
                Some(_) => self.fail(Unwatchable::Twice),
            },
            // What may not be read cannot be listed either.
            Ok(None) => {}
            Err(why) => self.fail(why),
        }
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

/// What the calling thread gives way to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GiveWay {
    /// To short calls: for one search of several.
    ToCalls,
    /// To everything: for background work.
    ToAll,
}

/// Lets other threads go before the calling one and those that it starts, where the system can.
pub fn lower_priority(to: GiveWay) {
    #[cfg(target_os = "linux")]
    inotify::lower_priority(to);
    #[cfg(not(target_os = "linux"))]
    let _ = to;
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
    let is = |known: &[&str]| known.iter().any(|known| name == *known);
    if is(RULES) {
        changes.trees.insert(path.clone());
    }
    if is(MARKS)
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

/// Watches, and passes on what a walk meets.
struct Surveyor<'w> {
    watcher: &'w mut Watcher,
    met: &'w mut dyn FnMut(Surveyed),
    unreadable: bool,
}

impl Surveyor<'_> {
    fn path(&self, path: &Path) -> WorkspacePath {
        WorkspacePath::new(self.watcher.root.root(), path)
    }
}

impl Visitor for Surveyor<'_> {
    fn visit(&mut self, entry: Entry) -> ControlFlow<()> {
        let unreadable = std::mem::take(&mut self.unreadable) && entry.kind() == FileKind::Directory;
        (self.met)(Surveyed { entry, ignored: false, unreadable });
        // Without a watch on each directory the survey is of no use.
        if self.watcher.failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn wants_left_out(&self) -> bool {
        true
    }

    fn left_out(&mut self, entry: Entry) {
        let unreadable = std::mem::take(&mut self.unreadable);
        (self.met)(Surveyed { entry, ignored: true, unreadable });
    }

    fn opened(&mut self, dir: &Dir, path: &Path) {
        let what = Watched::Directory(self.path(path));
        self.watcher.watch(dir, &what);
    }

    fn repository(&mut self, dir: &Dir, path: &Path) {
        let owner = self.path(path);
        let open = |dir: &Dir, name: &str| dir.child_dir(OsStr::new(name), Use::Pass).ok();
        if let Some(git) = open(dir, ".git") {
            self.watcher.watch(&git, &Watched::Repository(owner.clone(), "info"));
            if let Some(info) = open(&git, "info") {
                self.watcher.watch(&info, &Watched::Repository(owner, "exclude"));
            }
        }
    }

    fn unreadable(&mut self) {
        self.unreadable = true;
    }
}
