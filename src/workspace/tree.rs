//! Whole entries: a file, a link, or a directory with all below it, to be moved, copied or deleted.
//!
//! Unlike a write, none of these follows a link at the end of its path: the link is the entry. A
//! tree is listed first and judged as a whole; whatever policy protects in it refuses all of it.

mod plant;
mod remove;
mod transfer;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Workspace;
use super::error::{AccessError, AccessErrorKind};
use super::handle::{FileKind, Stat};
use super::links;
use super::open::Shared;
use super::path::WorkspacePath;
use super::policy::Verdict;
use super::revision::Revision;
use super::sys::{Dir, Use};
use super::write::{Approval, Lock, Locks, NewDirs, Patience, WritablePath, allowed, make_dirs, refusal};

pub use plant::{Part, Planted};
pub(super) use remove::wipe;
pub use transfer::Replaced;

/// Entries of the largest tree that is moved, copied or deleted in one call.
const MOST_ENTRIES: usize = 20_000;

/// Bytes and files of the largest tree that is marked by its content.
const MOST_HASHED: u64 = 32 << 20;
const MOST_FILES_HASHED: usize = 2_000;

/// What is going to be done with a tree: decides what may be in it.
#[derive(Clone, Copy, Debug)]
pub enum Purpose<'a> {
    /// Deleting it.
    Remove,
    /// Giving it this place.
    Move(&'a WritablePath),
    /// Making its like at this place.
    Copy(&'a WritablePath),
}

/// An entry and everything below it, as it was at one moment.
#[derive(Clone, Debug)]
pub struct Tree {
    top: WorkspacePath,
    entries: Vec<TreeEntry>,
}

/// One entry of a tree.
#[derive(Clone, Debug)]
pub struct TreeEntry {
    /// Where it is below the tree's top; "" for the top itself.
    pub below: PathBuf,
    /// What it is.
    pub node: Node,
}

/// What an entry is.
#[derive(Clone, Debug)]
pub enum Node {
    /// A regular file.
    File(Stat),
    /// A directory.
    Directory(Stat),
    /// A link, and what it says.
    Link(OsString),
    /// A FIFO, socket or device.
    Other(Stat),
}

impl Tree {
    /// Where its top truly is.
    pub fn top(&self) -> &WorkspacePath {
        &self.top
    }

    /// The top, then everything below it, each directory before what it holds.
    pub fn entries(&self) -> &[TreeEntry] {
        &self.entries
    }

    /// The path of one of its entries.
    pub fn path(&self, entry: &TreeEntry) -> WorkspacePath {
        self.top.child(&entry.below)
    }

    /// The path that one of its entries has, or would have, with the tree at `top`.
    pub fn path_at(&self, entry: &TreeEntry, top: &WorkspacePath) -> WorkspacePath {
        top.child(&entry.below)
    }

    /// What the top is.
    pub fn node(&self) -> &Node {
        &self.entries[0].node
    }

    /// Whether the top is a directory.
    pub fn is_directory(&self) -> bool {
        matches!(self.node(), Node::Directory(_))
    }

    /// How many regular files it holds.
    pub fn files(&self) -> usize {
        self.entries.iter().filter(|entry| matches!(entry.node, Node::File(_))).count()
    }

    /// Bytes in its regular files.
    pub fn bytes(&self) -> u64 {
        let size = |entry: &TreeEntry| match &entry.node {
            Node::File(stat) => stat.size,
            _ => 0,
        };
        self.entries.iter().map(size).sum()
    }

    /// A mark of its state: names, kinds, sizes, times of last change, and which files they are.
    /// It differs when anything in the tree was written, made, removed or replaced.
    pub fn mark(&self) -> Revision {
        self.marked(|_, stat| Some(format!("{:?} {:?}", stat.modified, stat.identity()))).unwrap_or(Revision::of(b""))
    }

    /// A mark of what it holds: as [`Self::mark`], but a file is known by its content, so that a tree
    /// which was taken away and brought back is the same. A large tree is marked by its state.
    pub fn content_mark(&self) -> Revision {
        if self.bytes() > MOST_HASHED || self.files() > MOST_FILES_HASHED {
            return self.mark();
        }
        let content = |entry: &TreeEntry, _: &Stat| {
            let path = self.path(entry);
            let file = path.root().dir().file_beneath(path.relative()).ok()?;
            Some(super::write::hash(&file).ok()?.to_string())
        };
        self.marked(content).unwrap_or_else(|| self.mark())
    }

    fn marked(&self, file: impl Fn(&TreeEntry, &Stat) -> Option<String>) -> Option<Revision> {
        let mut hasher = Revision::hasher();
        for entry in &self.entries {
            hasher.update(entry.below.as_os_str().as_encoded_bytes());
            let state = match &entry.node {
                Node::File(stat) => format!("\0f{} {}\0", stat.size, file(entry, stat)?),
                Node::Directory(_) => "\0d\0".to_owned(),
                Node::Link(target) => format!("\0l{}\0", target.to_string_lossy()),
                Node::Other(stat) => format!("\0o{:?}\0", stat.identity()),
            };
            hasher.update(state.as_bytes());
        }
        Some(hasher.finish())
    }
}

impl Workspace {
    /// The path as an entry that may be made, moved or deleted: as [`Workspace::writable`], but a
    /// link at its end is not followed. A root itself is refused.
    pub fn writable_entry(&self, path: &WorkspacePath) -> Result<WritablePath, AccessError> {
        let is_root = || AccessError::new(AccessErrorKind::IsRoot, path);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(is_root()) };
        let parent = self.shared.locate(&parent)?;
        let real = self.shared.roots.deepest(&parent.child(Path::new(name)));
        if real.is_root() {
            return Err(is_root());
        }
        allowed(&real, path)?;
        Ok(WritablePath::new(path, &real))
    }

    /// What is at an entry, a link being a link; nothing there is an answer, too.
    pub fn entry_stat(&self, entry: &WritablePath) -> Result<Option<Stat>, AccessError> {
        let real = entry.path();
        match real.root().dir().stat_beneath(real.relative()) {
            Ok(stat) => Ok(Some(stat)),
            Err(failure) if super::write::is_missing(&failure) => Ok(None),
            Err(failure) => Err(refusal(failure, entry.asked())),
        }
    }

    /// Lists an entry with everything below it, at most 20,000 entries.
    ///
    /// # Errors
    /// When policy or the boundary of a root forbids the purpose for any entry in it.
    pub fn tree(&self, entry: &WritablePath, purpose: Purpose<'_>) -> Result<Tree, AccessError> {
        Scan { shared: &self.shared, top: entry.path(), asked: entry.asked(), purpose }.run()
    }

    /// As [`Workspace::tree`], of what may only be read: the source of a copy, links at the end of
    /// the path followed.
    pub fn tree_to_copy(&self, path: &WorkspacePath, to: &WritablePath) -> Result<Tree, AccessError> {
        let real = self.shared.locate(path)?;
        Scan { shared: &self.shared, top: &real, asked: path, purpose: Purpose::Copy(to) }.run()
    }
}

/// The locks of the entries that a change touches; nobody in this process changes them, or anything
/// below them, meanwhile.
pub struct TreeGuard {
    shared: Arc<Shared>,
    patience: Patience,
    _lock: Lock,
}

impl TreeGuard {
    /// Waits for the locks of all entries at once.
    ///
    /// # Errors
    /// `Crowded` where too many calls wait already.
    pub fn acquire(workspace: &Workspace, entries: &[&WritablePath]) -> Result<Self, AccessError> {
        Self::acquire_within(workspace, entries, Patience::default())
    }

    /// As [`Self::acquire`]; `Stopped` when `patience` ends first. What is built by this guard ends with
    /// it, too, as long as nothing of it can be seen.
    pub fn acquire_within(
        workspace: &Workspace,
        entries: &[&WritablePath],
        patience: Patience,
    ) -> Result<Self, AccessError> {
        let hosts: Vec<PathBuf> = entries.iter().map(|entry| entry.path().host()).collect();
        let paths: Vec<&Path> = hosts.iter().map(PathBuf::as_path).collect();
        let shared = Arc::clone(&workspace.shared);
        let lock = Locks::lock_all(&shared.locks, &paths, &patience).map_err(|kind| match entries.first() {
            Some(entry) => AccessError::new(kind, entry.asked()),
            None => AccessError::new(kind, &workspace.root_path(&workspace.roots()[0])),
        })?;
        Ok(Self { _lock: lock, patience, shared })
    }

    /// Makes a directory with all that are missing above it. Returns those that were made, the
    /// outermost first; none when it was there.
    pub fn make_directory(&self, entry: &WritablePath, _: Approval) -> Result<Vec<WorkspacePath>, AccessError> {
        let real = entry.path();
        allowed(real, entry.asked())?;
        Ok(make_dirs(real, entry.asked())?.1.keep())
    }

    /// Removes directories one after another, each if it is empty; returns how many are gone.
    pub fn remove_empty(&self, entries: &[WritablePath], _: Approval) -> Result<usize, AccessError> {
        let mut removed = 0;
        for entry in entries {
            let (dir, name) = self.place(entry)?;
            match dir.remove_dir(&name) {
                Ok(()) => removed += 1,
                Err(error)
                    if matches!(error.kind(), std::io::ErrorKind::DirectoryNotEmpty | std::io::ErrorKind::NotFound) => {
                }
                Err(error) => return Err(AccessError::from_io(error, entry.asked())),
            }
        }
        Ok(removed)
    }

    /// The directory that holds an entry, and its name there. The rights are asked again, as a
    /// guard may be old by now.
    #[expect(clippy::unused_self, reason = "the guard itself is what entitles to the place")]
    fn place(&self, entry: &WritablePath) -> Result<(Dir, OsString), AccessError> {
        let (real, asked) = (entry.path(), entry.asked());
        allowed(real, asked)?;
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(AccessError::new(AccessErrorKind::IsRoot, asked));
        };
        let dir = real.root().dir().dir_beneath(parent.relative(), Use::Pass);
        Ok((dir.map_err(|failure| refusal(failure, asked))?, name.to_os_string()))
    }

    /// As [`Self::place`], making the directory where it is missing.
    fn new_place(&self, entry: &WritablePath) -> Result<(Dir, OsString, NewDirs), AccessError> {
        let (real, asked) = (entry.path(), entry.asked());
        allowed(real, asked)?;
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(AccessError::new(AccessErrorKind::IsRoot, asked));
        };
        let (dir, new) = make_dirs(&parent, asked)?;
        super::write::sweep_once(&self.shared, &parent, &dir);
        Ok((dir, name.to_os_string(), new))
    }
}

impl std::fmt::Debug for TreeGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeGuard").finish_non_exhaustive()
    }
}

/// The listing of one tree.
struct Scan<'a> {
    shared: &'a Shared,
    top: &'a WorkspacePath,
    asked: &'a WorkspacePath,
    purpose: Purpose<'a>,
}

impl Scan<'_> {
    fn run(&self) -> Result<Tree, AccessError> {
        let root = self.top.root().dir();
        let told = |failure| refusal(failure, self.asked);
        let stat = root.stat_beneath(self.top.relative()).map_err(told)?;
        let parent = self.top.relative().parent().unwrap_or(Path::new(""));
        let parent = root.dir_beneath(parent, Use::Pass).map_err(told)?;
        let mut entries = Vec::new();
        let mut branch = vec![self.entry(PathBuf::new(), stat, &parent)?];
        while let Some(entry) = branch.pop() {
            if entries.len() + branch.len() >= MOST_ENTRIES {
                let kind = AccessErrorKind::TooMany { limit: MOST_ENTRIES };
                return Err(AccessError::new(kind, self.asked));
            }
            if let Node::Directory(_) = &entry.node {
                let here = self.top.child(&entry.below);
                let dir = root.dir_beneath(here.relative(), Use::List).map_err(|failure| refusal(failure, &here))?;
                let failed = |error| AccessError::from_io(error, &here);
                let mut names = dir.list().map_err(failed)?;
                names.sort_unstable_by(|one, two| two.name.as_encoded_bytes().cmp(one.name.as_encoded_bytes()));
                for listed in names {
                    let stat = dir.child_stat(&listed.name).map_err(failed)?;
                    branch.push(self.entry(entry.below.join(&listed.name), stat, &dir)?);
                }
            }
            entries.push(entry);
        }
        Ok(Tree { top: self.top.clone(), entries })
    }

    /// Judges one entry of the directory `dir`.
    fn entry(&self, below: PathBuf, stat: Stat, dir: &Dir) -> Result<TreeEntry, AccessError> {
        let path = self.top.child(&below);
        self.judge(&path, &below)?;
        let node = match stat.kind {
            FileKind::File => Node::File(stat),
            FileKind::Directory => Node::Directory(stat),
            FileKind::Symlink => {
                let name = path.file_name().unwrap_or_default();
                Node::Link(dir.child_link(name).map_err(|error| match error.kind() {
                    // It was a link a moment ago: somebody is swapping names.
                    std::io::ErrorKind::InvalidInput => AccessError::new(AccessErrorKind::Changed, &path),
                    _ => AccessError::from_io(error, &path),
                })?)
            }
            FileKind::Other if matches!(self.purpose, Purpose::Move(_)) => Node::Other(stat),
            FileKind::Other => return Err(AccessError::new(AccessErrorKind::Special(stat.special()), &path)),
        };
        if let (Node::Link(target), Purpose::Move(to)) = (&node, self.purpose)
            && !links::stays_put(&self.shared.roots, &to.path().child(&below), Path::new(target))
        {
            return Err(AccessError::new(AccessErrorKind::Denied, &path));
        }
        Ok(TreeEntry { below, node })
    }

    fn judge(&self, path: &WorkspacePath, below: &Path) -> Result<(), AccessError> {
        let deepest = self.shared.roots.deepest(path);
        if deepest.root().index() != self.top.root().index() {
            // Another root with rights of its own.
            return Err(AccessError::new(AccessErrorKind::IsRoot, path));
        }
        if path.hidden() {
            // Its name is not shown.
            let rule = "something below it whose name is hidden";
            return Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, self.asked, rule));
        }
        let secret = |path: &WorkspacePath| match path.root().policy().content(path.relative()) {
            Verdict::Allowed => Ok(()),
            Verdict::Refused(rule) => Err(AccessError::by_rule(AccessErrorKind::Protected, path, &rule)),
        };
        let protected = |path: &WorkspacePath| match path.root().policy().write(path.relative()) {
            Verdict::Allowed => Ok(()),
            Verdict::Refused(rule) => Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, path, &rule)),
        };
        secret(path)?;
        match self.purpose {
            Purpose::Remove => protected(path),
            Purpose::Copy(to) => {
                let new = to.path().child(below);
                secret(&new)?;
                protected(&new)
            }
            Purpose::Move(to) => {
                protected(path)?;
                let new = to.path().child(below);
                secret(&new)?;
                protected(&new)
            }
        }
    }
}
