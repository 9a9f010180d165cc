//! Whole entries: a file, a link, or a directory with all below it, to be moved, copied or deleted.
//!
//! Unlike a write, none of these follows a link at the end of its path: the link is the entry. A
//! tree is listed first and judged as a whole; whatever policy protects in it refuses all of it.

mod create_tree;
mod move_tree;
mod path_stack;
mod remove;
mod remove_in_place;
mod scan;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use super::error::{AccessError, AccessErrorKind};
use super::links::Location;
use super::path::WorkspacePath;
use super::revision::{Revision, RevisionHasher};
use super::shared::{Shared, Workspace};
use super::stat::Stat;
use super::sys::{Dir, Use};
use super::write::{
    Approval, EntryLocks, NewDirectory, NewDirs, WaitLimit, WritablePath, allowed, make_dirs, remove_made, writable,
};

pub use create_tree::{CreatedTree, NewNode};
pub use move_tree::{MovedTree, ReplacedFile};
use path_stack::PathStack;
pub use path_stack::TreePosition;
pub use remove::NotRemoved;
use scan::Scan;

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
    /// Where it stands in the tree.
    pub position: TreePosition,
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

    /// Its entries with their paths.
    pub fn paths(&self) -> impl Iterator<Item = (WorkspacePath, &TreeEntry)> {
        self.paths_at(&self.top)
    }

    /// Its entries with the paths that they have, or would have, with the tree at `top`.
    pub fn paths_at(&self, top: &WorkspacePath) -> impl Iterator<Item = (WorkspacePath, &TreeEntry)> {
        let mut path = PathStack::default();
        self.entries.iter().map(move |entry| (top.child(path.step(&entry.position)), entry))
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
        let mut hasher = Revision::hasher();
        for entry in &self.entries {
            entry.mark(&mut hasher, |stat| format!("{:?} {:?}", stat.modified, stat.device_and_inode()));
        }
        hasher.finish()
    }

    /// A mark of what it holds: as [`Self::mark`], but a file is known by its content, so that a tree
    /// which was taken away and brought back is the same. A large tree is marked by its state.
    pub fn content_mark(&self) -> Revision {
        if self.bytes() > MOST_HASHED || self.files() > MOST_FILES_HASHED {
            return self.mark();
        }
        self.content_hash().unwrap_or_else(|| self.mark())
    }

    fn content_hash(&self) -> Option<Revision> {
        let mut hasher = Revision::hasher();
        for (path, entry) in self.paths() {
            let mut content = String::new();
            if matches!(entry.node, Node::File(_)) {
                let file = path.root().dir().file_beneath(path.relative()).ok()?;
                content = super::write::hash(&file).ok()?.to_string();
            }
            entry.mark(&mut hasher, |_| content);
        }
        Some(hasher.finish())
    }
}

impl TreeEntry {
    /// Hashes where and what it is; of a file what `file` says, too.
    fn mark(&self, hasher: &mut RevisionHasher, file: impl FnOnce(&Stat) -> String) {
        hasher.update(format!("{} ", self.position.depth).as_bytes());
        hasher.update(self.position.name.as_encoded_bytes());
        let state = match &self.node {
            Node::File(stat) => format!("\0f{} {}\0", stat.size, file(stat)),
            Node::Directory(_) => "\0d\0".to_owned(),
            Node::Link(target) => format!("\0l{}\0", target.to_string_lossy()),
            Node::Other(stat) => format!("\0o{:?}\0", stat.device_and_inode()),
        };
        hasher.update(state.as_bytes());
    }
}

impl Workspace {
    /// The path as an entry that may be made, moved or deleted: as [`Workspace::writable`], but a
    /// link at its end is not followed. A root itself is refused.
    pub fn writable_entry(&self, path: &WorkspacePath) -> Result<WritablePath, AccessError> {
        let is_root = || AccessError::new(AccessErrorKind::IsRoot, path);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(is_root()) };
        let way = self.shared.locate(&parent)?.child(&self.shared.roots, Path::new(name));
        if way.real.is_root() {
            return Err(is_root());
        }
        WritablePath::new(path, way)
    }

    /// What is at an entry, a link being a link; nothing there is an answer, too.
    pub fn entry_stat(&self, entry: &WritablePath) -> Result<Option<Stat>, AccessError> {
        let real = entry.path();
        match real.root().dir().stat_beneath(real.relative()) {
            Ok(stat) => Ok(Some(stat)),
            Err(failure) if super::write::is_missing(&failure) => Ok(None),
            Err(failure) => Err(AccessError::from_failure(failure, entry.asked())),
        }
    }

    /// Lists an entry with everything below it, at most 20,000 entries.
    ///
    /// # Errors
    /// When policy or the boundary of a root forbids the purpose for any entry in it.
    pub fn tree(&self, entry: &WritablePath, purpose: Purpose<'_>) -> Result<Tree, AccessError> {
        let top = Location { real: entry.path().clone(), aliases: entry.aliases().to_vec() };
        Scan { shared: &self.shared, top: &top, asked: entry.asked(), purpose }.run()
    }

    /// As [`Workspace::tree`], of what may only be read: the source of a copy, links at the end of
    /// the path followed.
    pub fn tree_to_copy(&self, path: &WorkspacePath, to: &WritablePath) -> Result<Tree, AccessError> {
        let top = self.shared.locate(path)?;
        Scan { shared: &self.shared, top: &top, asked: path, purpose: Purpose::Copy(to) }.run()
    }
}

/// The locks of the entries that a change touches; nobody in this process changes them, or anything
/// below them, meanwhile, and no other process of this program changes what is in the same directories.
pub struct TreeGuard {
    shared: Arc<Shared>,
    wait_limit: WaitLimit,
    held: EntryLocks,
}

impl TreeGuard {
    /// Waits for the locks of all entries at once.
    ///
    /// # Errors
    /// `Crowded` where too many calls wait already, `Locked` when another process does not free a directory.
    pub fn acquire(workspace: &Workspace, entries: &[&WritablePath]) -> Result<Self, AccessError> {
        Self::acquire_within(workspace, entries, WaitLimit::default())
    }

    /// As [`Self::acquire`]; `Stopped` when `wait_limit` ends first. What is built by this guard ends with
    /// it, too, as long as nothing of it can be seen.
    pub fn acquire_within(
        workspace: &Workspace,
        entries: &[&WritablePath],
        wait_limit: WaitLimit,
    ) -> Result<Self, AccessError> {
        let paths: Vec<&WorkspacePath> = entries.iter().map(|entry| entry.path()).collect();
        let shared = Arc::clone(&workspace.shared);
        let held = EntryLocks::hold(&shared, &paths, &wait_limit).map_err(|kind| match entries.first() {
            Some(entry) => AccessError::new(kind, entry.asked()),
            None => AccessError::new(kind, &workspace.root_path(&workspace.roots()[0])),
        })?;
        Ok(Self { shared, wait_limit, held })
    }

    /// Makes a directory with all that are missing above it. Returns those that were made, the
    /// outermost first; none when it was there.
    pub fn make_directory(&self, entry: &WritablePath, _: Approval) -> Result<Vec<NewDirectory>, AccessError> {
        let real = entry.path();
        allowed(entry)?;
        Ok(make_dirs(real, entry.asked(), self.held.there(real))?.1.keep())
    }

    /// Removes directories that a change has made, the innermost first, as long as they are empty and still the ones
    /// that it made; returns how many are gone.
    ///
    /// # Errors
    /// When the rights no longer allow it.
    pub fn remove_made(&self, outermost_first: &[NewDirectory], _: Approval) -> Result<usize, AccessError> {
        for made in outermost_first {
            writable(&self.shared, made.path())?;
        }
        Ok(remove_made(outermost_first))
    }

    /// The directory that holds an entry, and its name there. The rights are asked again, as a
    /// guard may be old by now.
    #[expect(clippy::unused_self, reason = "the guard itself is what entitles to the change")]
    fn holder(&self, entry: &WritablePath) -> Result<(Dir, OsString), AccessError> {
        let (real, asked) = (entry.path(), entry.asked());
        allowed(entry)?;
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(AccessError::new(AccessErrorKind::IsRoot, asked));
        };
        let dir = real.root().dir().dir_beneath(parent.relative(), Use::Pass);
        Ok((dir.map_err(|failure| AccessError::from_failure(failure, asked))?, name.to_os_string()))
    }

    /// As [`Self::holder`], making the directory where it is missing.
    fn new_holder(&self, entry: &WritablePath) -> Result<(Dir, OsString, NewDirs), AccessError> {
        let (real, asked) = (entry.path(), entry.asked());
        allowed(entry)?;
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(AccessError::new(AccessErrorKind::IsRoot, asked));
        };
        let (dir, new) = make_dirs(&parent, asked, self.held.there(real))?;
        self.shared.stale_temporaries.sweep_once(&parent, &dir);
        Ok((dir, name.to_os_string(), new))
    }
}

impl std::fmt::Debug for TreeGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeGuard").finish_non_exhaustive()
    }
}
