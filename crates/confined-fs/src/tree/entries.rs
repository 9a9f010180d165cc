//! An entry with everything below it, as a listing, and the marks by which two states of it are compared.

use std::ffi::OsString;

use beneath::Stat;

use crate::write::hash;
use crate::{Revision, RevisionHasher, WorkspacePath};

use super::TreePosition;

/// Bytes and files of the largest tree that is marked by its content.
const MAX_HASHED: u64 = 32 << 20;
const MAX_FILES_HASHED: usize = 2_000;

/// An entry and everything below it, as it was at one moment.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(super) top: WorkspacePath,
    pub(super) entries: Vec<TreeEntry>,
}

/// One entry of a tree.
#[derive(Clone, Debug)]
pub struct TreeEntry {
    /// Where it is in the tree.
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
        TreePosition::paths_at(top, self.entries.iter().map(|entry| &entry.position)).zip(&self.entries)
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
        if self.bytes() > MAX_HASHED || self.files() > MAX_FILES_HASHED {
            return self.mark();
        }
        self.content_hash().unwrap_or_else(|| self.mark())
    }

    fn content_hash(&self) -> Option<Revision> {
        let mut hasher = Revision::hasher();
        for (path, entry) in self.paths() {
            let mut content = String::new();
            if matches!(entry.node, Node::File(_)) {
                let file = path.root().dir.file_beneath(path.relative()).ok()?;
                content = hash(&file).ok()?.to_string();
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
