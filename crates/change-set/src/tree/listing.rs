//! An entry with everything below it, as a listing: what it is, where each part of it is, and the scan that judges it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use beneath::{FileKind, Listed, OpenFor, Stat};

use super::entry_state::{EntryState, FileState, Rights};
use crate::{workspace::Shared, write::WritablePath};
use beneath::Dir;
use confined_fs::for_changes::{changeable, readable};
use confined_fs::{
    AccessError, AccessErrorKind, Revision, RevisionHasher, WorkspacePath,
    for_changes::{AtPath as _, DirectoryStack, Location, is_reserved, repository},
};

// An entry with everything below it, as a listing, and the marks by which two states of it are compared.

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
    /// Kind, size and times, without following a link.
    pub node: Node,
}

/// A listed entry by its kind.
#[derive(Clone, Debug)]
pub enum Node {
    /// A regular file, whose content was not looked at.
    File(Stat),
    /// A directory; its entries follow.
    Directory(Stat),
    /// A link, and what it says.
    Link(OsString),
    /// A FIFO, socket or device.
    Other(Stat),
}

impl Node {
    /// Its state at the real path `at`, at or below `top`, which goes as a whole, for a file with its `content`; `None`
    /// for a special file, and for a file without one.
    pub fn state(&self, at: &WorkspacePath, top: &WorkspacePath, content: Option<Revision>) -> Option<EntryState> {
        Some(match self {
            Self::File(stat) => {
                EntryState::File(FileState { revision: content?, rights: Rights::of(at, stat, Some(top)) })
            }
            Self::Directory(stat) => EntryState::Directory { rights: Rights::of(at, stat, Some(top)) },
            Self::Link(target) => EntryState::Link(target.clone()),
            Self::Other(_) => return None,
        })
    }
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

    /// The top entry itself.
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
        let size = |entry: &TreeEntry| if let Node::File(stat) = &entry.node { stat.size } else { 0 };
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
                let file = path.root().dir().file_beneath(path.relative()).ok()?;
                content = Revision::of_reader(&mut &file).ok()?.to_string();
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
            Node::File(stat) => format!("\0f{} {}\0", stat.size, file(stat)).into_bytes(),
            Node::Directory(_) => b"\0d\0".to_vec(),
            Node::Link(target) => [b"\0l", target.as_encoded_bytes(), b"\0"].concat(),
            Node::Other(stat) => format!("\0o{:?}\0", stat.device_and_inode()).into_bytes(),
        };
        hasher.update(&state);
    }
}

// Positions in a tree as names and depths, and the path that they add up to.
//
// Names and depths, each directory before what it holds, say as much as the path of every entry
// does. In 5,000 directories in one another those paths are 25 MB; their names are 5,000.

/// One line of a listing that has each directory before what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreePosition {
    /// How far below the top; 0 for the top itself, 1 for what it holds.
    pub depth: usize,
    /// Its name; "" for the top.
    pub name: OsString,
}

impl TreePosition {
    /// That of the top.
    pub fn top() -> Self {
        Self { depth: 0, name: OsString::new() }
    }

    /// The paths of a listing's entries with its top at `top`.
    pub fn paths_at<'p>(
        top: &WorkspacePath,
        listing: impl Iterator<Item = &'p Self>,
    ) -> impl Iterator<Item = WorkspacePath> {
        let mut path = PathStack::default();
        listing.map(move |position| top.child(path.step(position)))
    }
}

/// The path below the top, entry after entry.
#[derive(Debug, Default)]
pub(super) struct PathStack {
    path: PathBuf,
    depth: usize,
}

impl PathStack {
    /// The path of the next entry of a listing.
    pub(super) fn step(&mut self, position: &TreePosition) -> &Path {
        // Up to the directory that holds it.
        while self.depth > 0 && self.depth >= position.depth {
            self.path.pop();
            self.depth -= 1;
        }
        if position.depth > 0 {
            self.path.push(&position.name);
            self.depth = position.depth;
        }
        &self.path
    }

    pub(super) fn as_path(&self) -> &Path {
        &self.path
    }

    /// The path of an entry in the current directory.
    pub(super) fn join(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }
}

// Listing a tree and judging every entry of it: what policy protects refuses all of it.
//
// By descriptor, from each directory to what it holds, so that depth costs nothing. Content is not
// looked at.

/// Entries of the largest tree that is moved, copied or deleted in one call.
const MAX_ENTRIES: usize = 20_000;

/// The purpose of a listing: decides which entries may be in the tree.
#[derive(Clone, Copy, Debug)]
pub enum Purpose<'a> {
    /// Deleting it with all below it.
    Remove,
    /// Moving it to this path.
    Move(&'a WritablePath),
    /// Copying it to this path.
    Copy(&'a WritablePath),
}

impl Purpose<'_> {
    /// The path that the entry with the path `below` the top gets; `None` where it gets none.
    fn new_path(&self, below: &Path) -> Option<WorkspacePath> {
        match self {
            Self::Move(to) | Self::Copy(to) => Some(to.path().child(below)),
            Self::Remove => None,
        }
    }
}

pub(crate) struct Scan<'a> {
    pub(crate) shared: &'a Shared,
    /// Where its top truly is, and by which names.
    pub(crate) top: &'a Location,
    /// As the caller called it.
    pub(crate) asked: &'a WorkspacePath,
    pub(crate) purpose: Purpose<'a>,
}

impl Scan<'_> {
    pub(crate) fn run(&self) -> Result<Tree, AccessError> {
        let top = &self.top.real;
        let root = &top.root().dir();
        let stat = root.stat_beneath(top.relative()).at(self.asked)?;
        let parent = top.relative().parent().unwrap_or(Path::new(""));
        let parent = root.dir_beneath(parent, OpenFor::Traverse).at(self.asked)?;
        let mut stack = DirectoryStack::new(&parent, OpenFor::List);
        let mut below_top = PathStack::default();
        let mut entries = Vec::new();
        let mut waiting = vec![self.entry(TreePosition::top(), Path::new(""), stat, &parent)?];
        while let Some(entry) = waiting.pop() {
            if entries.len() + waiting.len() >= MAX_ENTRIES {
                return Err(self.too_many());
            }
            if let Node::Directory(_) = &entry.node {
                let TreePosition { depth, name } = &entry.position;
                let here = top.child(below_top.step(&entry.position));
                stack.leave_to(*depth);
                let own = if *depth == 0 { top.file_name().unwrap_or_default() } else { name };
                stack.enter(own).at(&here)?;
                let dir = stack.dir().at(&here)?;
                let mut names = dir.list().at(&here)?;
                self.repository(&here, below_top.as_path(), &names)?;
                // Before each of them is looked at.
                if entries.len() + waiting.len() + names.len() >= MAX_ENTRIES {
                    return Err(self.too_many());
                }
                // Backwards, as the last one is taken first (`waiting.pop`).
                names.sort_unstable_by(|one, two| two.name.as_encoded_bytes().cmp(one.name.as_encoded_bytes()));
                if matches!(self.purpose, Purpose::Copy(_)) {
                    // A write that is running in another call, or was killed: no part of what the tree holds.
                    names.retain(|listed| !is_reserved(&listed.name));
                }
                for listed in names {
                    let stat = dir.child_stat(&listed.name).at(&here)?;
                    let below = below_top.join(&listed.name);
                    let position = TreePosition { depth: depth + 1, name: listed.name };
                    waiting.push(self.entry(position, &below, stat, dir)?);
                }
            }
            entries.push(entry);
        }
        Ok(Tree { top: top.clone(), entries })
    }

    fn too_many(&self) -> AccessError {
        AccessError::new(AccessErrorKind::TooMany { limit: MAX_ENTRIES }, self.asked)
    }

    /// Judges one entry of the directory `dir`; `below` is its path below the top.
    fn entry(&self, position: TreePosition, below: &Path, stat: Stat, dir: &Dir) -> Result<TreeEntry, AccessError> {
        let path = self.top.real.child(below);
        self.judge(&path, below, stat.kind == FileKind::Directory)?;
        let node = match stat.kind {
            FileKind::File => Node::File(stat),
            FileKind::Directory => Node::Directory(stat),
            FileKind::Symlink => {
                let name = path.file_name().unwrap_or_default();
                Node::Link(dir.child_link(name).map_err(|error| match error.kind() {
                    // It was a link a moment ago: another program is swapping names.
                    std::io::ErrorKind::InvalidInput => AccessError::new(AccessErrorKind::Changed, &path),
                    _ => AccessError::from_io(error, &path),
                })?)
            }
            FileKind::Other if matches!(self.purpose, Purpose::Move(_)) => Node::Other(stat),
            FileKind::Other => return Err(AccessError::new(AccessErrorKind::Special(stat.special()), &path)),
        };
        if let Node::Link(_) = &node {
            self.judge_link(&path, below)?;
        }
        if let (Node::Link(target), Purpose::Move(to)) = (&node, self.purpose)
            // An absolute link leads to the same file from anywhere.
            && !Path::new(target).has_root()
            && !self.shared.stays_inside(&to.path().child(below), Path::new(target))
        {
            return Err(AccessError::new(AccessErrorKind::Denied, &path));
        }
        Ok(TreeEntry { position, node })
    }

    /// A link decides what its name leads to.
    fn judge_link(&self, path: &WorkspacePath, below: &Path) -> Result<(), AccessError> {
        self.changed(path, below).try_for_each(|path| changeable(path.root().policy().link(path.relative()), &path))
    }

    /// The paths at which the entry at `path` goes or comes.
    fn changed(&self, path: &WorkspacePath, below: &Path) -> impl Iterator<Item = WorkspacePath> {
        let goes = (!matches!(self.purpose, Purpose::Copy(_))).then(|| path.clone());
        goes.into_iter().chain(self.purpose.new_path(below))
    }

    /// Refuses to take a repository away, and to make one.
    fn repository(&self, here: &WorkspacePath, below: &Path, names: &[Listed]) -> Result<(), AccessError> {
        for path in self.changed(here, below) {
            if let Some(rule) = repository::why_refused_listed(&path, names) {
                return Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, &path, &rule));
            }
        }
        Ok(())
    }

    fn judge(&self, path: &WorkspacePath, below: &Path, directory: bool) -> Result<(), AccessError> {
        let deepest = self.shared.deepest(path);
        if deepest.root().index() != self.top.real.root().index() {
            // Another root, with other rights.
            return Err(AccessError::new(AccessErrorKind::IsRoot, path));
        }
        let from = || std::iter::once(path.clone()).chain(self.top.aliases.iter().map(|alias| alias.child(below)));
        if from().any(|path| path.hidden()) {
            // Its name is not shown.
            let rule = "something below it whose name is hidden";
            return Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, self.asked, rule));
        }
        from().try_for_each(|name| readable(&name, path))?;
        if !matches!(self.purpose, Purpose::Copy(_)) {
            changeable(path.root().policy().server_file(path.relative()), path)?;
            from().try_for_each(|name| protected(&name, path, directory))?;
        }
        if let Purpose::Move(to) | Purpose::Copy(to) = self.purpose {
            let new = to.path().child(below);
            changeable(new.root().policy().server_file(new.relative()), &new)?;
            for name in to.names().map(|name| name.child(below)) {
                readable(&name, &new)?;
                protected(&name, &new, directory)?;
            }
        }
        Ok(())
    }
}

fn protected(name: &WorkspacePath, path: &WorkspacePath, directory: bool) -> Result<(), AccessError> {
    changeable(name.root().policy().write(name.relative(), directory), path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn targets_that_differ_in_bytes_that_are_no_text_have_marks_that_differ() {
        use std::os::unix::ffi::OsStrExt as _;

        let mark = |target: &[u8]| {
            let node = Node::Link(OsStr::from_bytes(target).to_owned());
            let mut hasher = Revision::hasher();
            TreeEntry { position: TreePosition::top(), node }.mark(&mut hasher, |_| String::new());
            hasher.finish()
        };
        assert_ne!(mark(b"a\xff"), mark(b"a\xfe"));
        assert_eq!(mark(b"a\xff"), mark(b"a\xff"));
    }

    #[test]
    fn names_and_depths_give_every_path() {
        let listing = [(0, ""), (1, "a"), (2, "b"), (3, "c"), (2, "d"), (1, "e"), (1, "f"), (2, "g")];
        let mut path = PathStack::default();
        let paths: Vec<String> = listing
            .iter()
            .map(|(depth, name)| {
                let position = TreePosition { depth: *depth, name: name.into() };
                path.step(&position).iter().map(|name| name.to_str().unwrap()).collect::<Vec<_>>().join("/")
            })
            .collect();
        assert_eq!(paths, ["", "a", "a/b", "a/b/c", "a/d", "e", "f", "f/g"]);
    }
}
