//! The right to change whole entries, and making one with everything below it.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use beneath::{OpenFor, Stat};

use super::{Node, Tree, TreeEntry, TreePosition};
use crate::{
    AccessError, AccessErrorKind, Approval, AtPath as _, Dir, DirectoryStack, NewDirectory, Revision, Shared,
    WaitLimit, Workspace, WorkspacePath, WritablePath,
    dir::remove_all,
    links,
    write::{EntryLocks, NewDirs, allowed, free_name, make_dirs, remove_made, writable},
};

// The right to change whole entries, for as long as their locks are held.

/// The locks of the entries that a change touches; nobody in this process changes them, or anything
/// below them, meanwhile, and no other process of this program changes what is in the same directories.
pub struct TreeGuard {
    pub(super) shared: Arc<Shared>,
    pub(super) wait_limit: WaitLimit,
    locks: EntryLocks,
}

impl TreeGuard {
    /// Waits for the locks of all entries at once.
    ///
    /// # Errors
    /// `TooManyWaiting` where too many calls wait already, `Locked` when another process does not free a directory.
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
        let locks = workspace.hold_recovered(&paths, &wait_limit).map_err(|kind| match entries.first() {
            Some(entry) => AccessError::new(kind, entry.asked()),
            None => AccessError::new(kind, &workspace.root_path(&workspace.roots()[0])),
        })?;
        Ok(Self { shared, wait_limit, locks })
    }

    /// Makes a directory with all that are missing above it. Returns those that were made, the
    /// outermost first; none when it was there.
    pub fn make_directory(&self, entry: &WritablePath, _: Approval) -> Result<Vec<NewDirectory>, AccessError> {
        let real = entry.path();
        allowed(entry)?;
        Ok(make_dirs(real, entry.asked(), self.locks.there(real))?.1.keep())
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
    pub(super) fn holder(&self, entry: &WritablePath) -> Result<(Dir, OsString), AccessError> {
        let (real, asked) = (entry.path(), entry.asked());
        allowed(entry)?;
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(AccessError::new(AccessErrorKind::IsRoot, asked));
        };
        let dir = real.root().dir.dir_beneath(parent.relative(), OpenFor::Traverse);
        Ok((dir.at(asked)?, name.to_os_string()))
    }

    /// As [`Self::holder`], making the directory where it is missing.
    pub(super) fn new_holder(&self, entry: &WritablePath) -> Result<(Dir, OsString, NewDirs), AccessError> {
        let (real, asked) = (entry.path(), entry.asked());
        allowed(entry)?;
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(AccessError::new(AccessErrorKind::IsRoot, asked));
        };
        let (dir, new) = make_dirs(&parent, asked, self.locks.there(real))?;
        self.shared.stale_temporaries.sweep_once(&parent, &dir);
        Ok((dir, name.to_os_string(), new))
    }
}

// The entries of a tree that is going to be made, and the reader that copies a file only while it stays the same.

/// One entry to be made. Modes are permission bits; 0 leaves them to the umask.
pub enum NewNode {
    /// A directory.
    Directory {
        /// Permission bits, set once everything is in it.
        mode: u32,
    },
    /// A file.
    File {
        /// Permission bits.
        mode: u32,
        /// The bytes of the new file, read once.
        content: Box<dyn Read>,
    },
    /// A link that says this.
    Link(OsString),
    /// A directory that is there already, into which something comes.
    ExistingDirectory,
    /// A directory or a file with the owner, the rights and the time of the one that it takes the place of.
    Moved(MovedNode),
}

/// A file or directory that is moved by a copy and a removal.
pub struct MovedNode {
    pub(super) stat: Stat,
    /// Of a file: what it holds, and itself, for its attributes.
    pub(super) content: Option<(Box<dyn Read>, File)>,
}

/// Entries to be made, each directory before what it holds, the top first.
pub(super) type NewNodes<'p> = &'p mut dyn Iterator<Item = Result<(TreePosition, NewNode), AccessError>>;

/// An entry of the tree on the disk, which is at `path`, as one to be made.
pub(super) fn new_node(path: &WorkspacePath, entry: &TreeEntry) -> Result<(TreePosition, NewNode), AccessError> {
    let node = match &entry.node {
        Node::Directory(stat) => NewNode::Directory { mode: stat.permissions() },
        Node::Link(target) => NewNode::Link(target.clone()),
        Node::Other(stat) => return Err(AccessError::new(AccessErrorKind::Special(stat.special()), path)),
        Node::File(seen) => NewNode::File { mode: seen.permissions(), content: Box::new(open_unchanged(path, seen)?) },
    };
    Ok((entry.position.clone(), node))
}

/// As [`new_node`], for a move: with all that the system keeps of an entry besides its content.
pub(super) fn moved_node(path: &WorkspacePath, entry: &TreeEntry) -> Result<(TreePosition, NewNode), AccessError> {
    match &entry.node {
        Node::Directory(stat) => {
            Ok((entry.position.clone(), NewNode::Moved(MovedNode { stat: stat.clone(), content: None })))
        }
        Node::File(seen) => {
            let content = open_unchanged(path, seen)?;
            let file = content.content.get_ref().try_clone().at(path)?;
            let content: (Box<dyn Read>, _) = (Box::new(content), file);
            Ok((entry.position.clone(), NewNode::Moved(MovedNode { stat: seen.clone(), content: Some(content) })))
        }
        Node::Link(_) | Node::Other(_) => new_node(path, entry),
    }
}

/// The file at `path`, which must be the one that was seen.
fn open_unchanged(path: &WorkspacePath, seen: &Stat) -> Result<UnchangedReader, AccessError> {
    let opened = path.root().dir.file_beneath(path.relative());
    let file = opened.at(path)?;
    let stat = beneath::file_stat(&file).at(path)?;
    if !stat.same_content_state(seen) {
        return Err(AccessError::new(AccessErrorKind::Stale, path));
    }
    Ok(UnchangedReader { content: file.take(seen.size.saturating_add(1)), seen: seen.clone() })
}

/// A file that is to be what it was to its last byte: one more than there was shows that it grew.
struct UnchangedReader {
    content: io::Take<File>,
    seen: Stat,
}

impl Read for UnchangedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(buffer)?;
        if count == 0
            && !buffer.is_empty()
            && !beneath::file_stat(self.content.get_ref())?.same_content_state(&self.seen)
        {
            return Err(CHANGED.into());
        }
        Ok(count)
    }
}

/// The error of an [`UnchangedReader`] whose file has changed.
pub(super) const CHANGED: io::ErrorKind = io::ErrorKind::StaleNetworkFileHandle;

// Building a tree below a temporary name: directories, files and links, each hashed, synced and given its rights.

/// Files and directories that are put on the disk one by one; with more, all of them at once at the
/// end, which takes a fraction of the time, where the system can.
const SYNCED_ONE_BY_ONE: usize = if cfg!(target_os = "linux") { 64 } else { usize::MAX - 1 };

/// An entry that was made, with all below it.
#[derive(Clone, Debug, Default)]
pub struct CreatedTree {
    /// The content of each node, in order; none for what is no file.
    pub revisions: Vec<Option<Revision>>,
    /// Bytes in its files.
    pub bytes: u64,
    /// Links that were left out because they would have led outside of the roots.
    pub links_left_out: Vec<WorkspacePath>,
    /// Directories that were made above it, the outermost first.
    pub made: Vec<NewDirectory>,
}

/// Builds the nodes as the entry `aside` of `dir`, which shows nothing of them yet, and is wiped by the
/// caller when this fails.
pub(super) fn build(
    dir: &Dir,
    aside: &OsStr,
    nodes: NewNodes<'_>,
    asked: &WorkspacePath,
    wait_limit: &WaitLimit,
) -> Result<CreatedTree, AccessError> {
    let mut created = CreatedTree::default();
    let mut builder = TreeBuilder {
        stack: DirectoryStack::new(dir, OpenFor::Traverse),
        modes: Vec::new(),
        synced: 0,
        asked,
        wait_limit,
    };
    for node in nodes {
        builder.check_cancelled()?;
        let (position, node) = node?;
        builder.finish(position.depth)?;
        let own = if position.depth == 0 { aside } else { &position.name };
        let holder = builder.stack.dir().at(asked)?;
        let revision = match node {
            NewNode::Directory { mode } => {
                holder.make_dir(own, false).at(asked)?;
                builder.stack.enter(own).at(asked)?;
                builder.modes.push(mode);
                None
            }
            NewNode::Moved(MovedNode { stat, content: None }) => {
                holder.make_dir(own, false).at(asked)?;
                builder.stack.enter(own).at(asked)?;
                builder.stack.dir().at(asked)?.set_owner_of(&stat);
                builder.modes.push(stat.permissions());
                None
            }
            NewNode::ExistingDirectory => {
                builder.stack.enter(own).at(asked)?;
                builder.modes.push(0);
                None
            }
            NewNode::Link(target) => {
                holder.make_link(&target, own).at(asked)?;
                None
            }
            node @ (NewNode::File { .. } | NewNode::Moved(_)) => {
                let (mode, content, like) = match node {
                    NewNode::File { mode, content } => (mode, content, None),
                    NewNode::Moved(MovedNode { stat, content: Some((content, file)) }) => {
                        (0, content, Some((file, stat)))
                    }
                    _ => continue,
                };
                let one_by_one = builder.synced < SYNCED_ONE_BY_ONE;
                builder.synced += 1;
                let written = write_file(holder, own, mode, content, like.as_ref(), wait_limit, one_by_one);
                let (revision, bytes) = written.map_err(|error| not_written(error, asked))?;
                created.bytes += bytes;
                Some(revision)
            }
        };
        created.revisions.push(revision);
    }
    builder.finish(0)?;
    if builder.synced > SYNCED_ONE_BY_ONE {
        dir.sync_file_system().at(asked)?;
    }
    Ok(created)
}

/// The directories of a new tree that are not done yet, from the outermost.
struct TreeBuilder<'b> {
    stack: DirectoryStack<&'b Dir>,
    /// The permission bits that each of them gets once everything is in it.
    modes: Vec<u32>,
    /// Files and directories so far.
    synced: usize,
    asked: &'b WorkspacePath,
    wait_limit: &'b WaitLimit,
}

impl TreeBuilder<'_> {
    fn check_cancelled(&self) -> Result<(), AccessError> {
        if self.wait_limit.ended() { Err(AccessError::new(AccessErrorKind::Stopped, self.asked)) } else { Ok(()) }
    }

    /// Finishes directories until so many are open: nothing more comes into them. One without the
    /// right to write would have taken nothing.
    fn finish(&mut self, depth: usize) -> Result<(), AccessError> {
        while self.stack.depth() > depth {
            self.check_cancelled()?;
            let mode = self.modes.pop().unwrap_or_default();
            let done = self.stack.dir().at(self.asked)?;
            if self.synced < SYNCED_ONE_BY_ONE {
                let _ = done.sync();
            }
            self.synced += 1;
            // Looked at first, which costs less than to open it for being changed.
            if mode != 0 && done.stat().at(self.asked)?.identity.mode & 0o7777 != mode & 0o777 {
                done.set_mode(mode).at(self.asked)?;
            }
            self.stack.leave();
        }
        Ok(())
    }
}

/// A file could not be copied: what stopped in the middle of it stopped for that reason.
fn not_written(error: io::Error, asked: &WorkspacePath) -> AccessError {
    match error.kind() {
        io::ErrorKind::Interrupted => AccessError::new(AccessErrorKind::Stopped, asked),
        CHANGED => AccessError::new(AccessErrorKind::Stale, asked),
        _ => AccessError::from_io(error, asked),
    }
}

/// Makes a file that is to take the place of the one at `from`, which must be the one that was seen: the same content,
/// owner, rights, attributes and time. It is on the disk when this returns the revision of its content.
pub(crate) fn copy_to_move(
    from: &WorkspacePath,
    seen: &Stat,
    dir: &Dir,
    name: &OsStr,
    wait_limit: &WaitLimit,
) -> Result<Revision, AccessError> {
    let content = open_unchanged(from, seen)?;
    let like = (content.content.get_ref().try_clone().at(from)?, seen.clone());
    let written = write_file(dir, name, 0, Box::new(content), Some(&like), wait_limit, true);
    written.map(|(revision, _)| revision).map_err(|error| not_written(error, from))
}

/// `Interrupted` when the wait limit ends first.
fn write_file(
    holder: &Dir,
    name: &OsStr,
    mode: u32,
    mut content: Box<dyn Read>,
    like: Option<&(File, Stat)>,
    wait_limit: &WaitLimit,
    sync: bool,
) -> io::Result<(Revision, u64)> {
    let file = holder.create(name, false)?;
    let mut hasher = Revision::hasher();
    let mut buffer = vec![0; 128 * 1024];
    let mut bytes = 0;
    loop {
        let count = match content.read(&mut buffer) {
            Ok(0) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            answer => answer?,
        };
        if wait_limit.ended() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        hasher.update(&buffer[..count]);
        beneath::write_all(&file, &buffer[..count])?;
        bytes += count as u64;
    }
    if mode != 0 {
        beneath::set_mode(&file, mode)?;
    }
    if let Some((original, stat)) = like {
        beneath::carry_attributes(original, stat, &file)?;
        if let Some(modified) = stat.modified {
            // A file system may not keep times; the content is what counts.
            let _ = beneath::set_modified(&file, modified);
        }
    }
    if sync {
        beneath::sync_data(&file)?;
    }
    Ok((hasher.finish(), bytes))
}

// Making an entry with everything below it: built under a temporary name, then renamed.
//
// Whoever looks sees all of it or nothing, by renameat2(2) with `RENAME_NOREPLACE` where the file system has it.

impl TreeGuard {
    /// Makes an entry from its nodes, each directory before what it holds, the top first.
    /// Missing directories above it are made.
    ///
    /// # Errors
    /// `Exists` when the name is taken; nothing is left behind then.
    pub fn create_tree(&self, to: &WritablePath, nodes: NewNodes<'_>, _: Approval) -> Result<CreatedTree, AccessError> {
        let (dir, name, new) = self.new_holder(to)?;
        let created = self.put_new(&dir, &name, nodes, to.asked())?;
        Ok(CreatedTree { made: new.keep(), ..created })
    }

    /// Copies `tree` to a path where nothing is. Permission bits are kept; a link is copied as a link where its
    /// target is inside the roots, and left out otherwise.
    pub fn copy(&self, tree: &Tree, to: &WritablePath, approval: Approval) -> Result<CreatedTree, AccessError> {
        let leads_out = |to: &WorkspacePath, entry: &TreeEntry| match &entry.node {
            Node::Link(target) => !links::stays_inside(&self.shared.roots, to, Path::new(target)),
            _ => false,
        };
        let both = || tree.paths().zip(tree.paths_at(to.path()));
        let out = both().filter(|(_, (to, entry))| leads_out(to, entry));
        let left_out: Vec<WorkspacePath> = out.map(|((path, _), _)| path).collect();
        if tree.entries().len() == left_out.len() {
            return Err(AccessError::new(AccessErrorKind::Denied, tree.top()));
        }
        let stays = both().filter(|(_, (to, entry))| !leads_out(to, entry));
        let created = self.create_tree(to, &mut stays.map(|((path, entry), _)| new_node(&path, entry)), approval)?;
        Ok(CreatedTree { links_left_out: left_out, ..created })
    }

    /// Builds in an open directory, then gives the entry its name, which must be free.
    pub(super) fn put_new(
        &self,
        dir: &Dir,
        name: &OsStr,
        nodes: NewNodes<'_>,
        asked: &WorkspacePath,
    ) -> Result<CreatedTree, AccessError> {
        if dir.child_stat(name).is_ok() {
            return Err(AccessError::new(AccessErrorKind::Exists, asked));
        }
        let aside = free_name(dir).at(asked)?;
        let built = build(dir, &aside, nodes, asked, &self.wait_limit)
            .and_then(|created| dir.move_new(&aside, dir, name).at(asked).map(|()| created));
        if built.is_err() {
            let _ = remove_all(dir, &aside);
        }
        let _ = dir.sync();
        built
    }

    /// Makes again what is missing of a tree whose removal failed in the middle: with `NewNode::ExistingDirectory` for each directory
    /// that is left, and nothing for what else is.
    ///
    /// # Errors
    /// When it is still not whole.
    pub fn complete(&self, entry: &WritablePath, nodes: NewNodes<'_>, _: Approval) -> Result<(), AccessError> {
        let (dir, name) = self.holder(entry)?;
        // What is put back is put back whatever time it takes.
        build(&dir, &name, nodes, entry.asked(), &WaitLimit::default()).map(drop)
    }
}
