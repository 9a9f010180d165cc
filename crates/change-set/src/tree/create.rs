//! Making an entry with everything below it, under a temporary name first.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};

use beneath::{Attributes, OpenFor, Stat};

use super::{Node, Rights, TreeEntry, TreePosition};
use crate::{
    workspace::Shared,
    write::{EntryLocks, NewDirectory, OpenDirectory, WaitLimit, WritablePath, entry_in_parent, free_name, not_named},
};
use beneath::Dir;
use confined_fs::{
    AccessError, AccessErrorKind, Revision, WorkspacePath,
    for_changes::{AtPath as _, DirectoryStack, remove_all},
};

// The entries of a tree that is going to be made, and the reader that copies a file only while it stays the same.

/// One entry to be made.
pub enum NewNode {
    /// A new directory, with what follows it deeper down.
    Directory {
        /// Its rights, set once everything is in it.
        rights: Rights,
    },
    /// A new file with these bytes.
    File {
        /// Its rights, set once the content is in it.
        rights: Rights,
        /// The bytes of the new file, read once.
        content: Box<dyn Read>,
    },
    /// A link that says this.
    Link(OsString),
    /// A directory that is there already, into which something comes.
    ExistingDirectory,
    /// A file with what the system keeps of the one that it takes the place of: content, owner, rights, attributes, time.
    MovedFile(UnchangedFile),
}

/// Entries to be made, each directory before what it holds, the top first.
pub(crate) type NewNodes<'p> = &'p mut dyn Iterator<Item = Result<(TreePosition, NewNode), AccessError>>;

/// An entry of the tree on the disk, which is at `path`, as one to be made: a copy, or the entry itself in another place.
pub(crate) fn new_node(
    path: &WorkspacePath,
    entry: &TreeEntry,
    is_moved: bool,
) -> Result<(TreePosition, NewNode), AccessError> {
    let node = match &entry.node {
        Node::Directory(stat) if is_moved => NewNode::Directory { rights: Rights::of(path, stat, None) },
        Node::Directory(stat) => NewNode::Directory { rights: Rights::of_copy(path, stat) },
        Node::Link(target) => NewNode::Link(target.clone()),
        Node::Other(stat) => return Err(AccessError::new(AccessErrorKind::Special(stat.special()), path)),
        Node::File(seen) if is_moved => NewNode::MovedFile(UnchangedFile::open(path, seen)?),
        Node::File(seen) => {
            NewNode::File { rights: Rights::of_copy(path, seen), content: Box::new(UnchangedFile::open(path, seen)?) }
        }
    };
    Ok((entry.position.clone(), node))
}

/// A file that is to be what it was to its last byte: one more than there was shows that it grew.
pub struct UnchangedFile {
    content: io::Take<File>,
    seen: Stat,
}

impl UnchangedFile {
    /// The file at `path`, which must be the one that was seen.
    fn open(path: &WorkspacePath, seen: &Stat) -> Result<Self, AccessError> {
        let file = path.root().dir().file_beneath(path.relative()).at(path)?;
        if !beneath::file_stat(&file).at(path)?.same_content_state(seen) {
            return Err(AccessError::new(AccessErrorKind::Stale, path));
        }
        Ok(Self { content: file.take(seen.size.saturating_add(1)), seen: seen.clone() })
    }

    /// Gives the file that takes its place its owner, rights, attributes and time.
    fn carry_attributes(&self, to: &File) -> io::Result<()> {
        Attributes::of(self.content.get_ref(), &self.seen).give(to)?;
        if let Some(modified) = self.seen.modified {
            // A file system may not keep times; the content is what counts.
            let _ = beneath::set_modified(to, modified);
        }
        Ok(())
    }
}

impl Read for UnchangedFile {
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

/// The error of an [`UnchangedFile`] that has changed.
const CHANGED: io::ErrorKind = io::ErrorKind::StaleNetworkFileHandle;

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
pub(crate) fn build(
    dir: &Dir,
    aside: &OsStr,
    nodes: NewNodes<'_>,
    asked: &WorkspacePath,
    wait_limit: &WaitLimit,
) -> Result<CreatedTree, AccessError> {
    let mut created = CreatedTree::default();
    let mut builder = TreeBuilder {
        stack: DirectoryStack::new(dir, OpenFor::Traverse),
        open: Vec::new(),
        synced: 0,
        asked,
        wait_limit,
    };
    for node in nodes {
        builder.check_cancelled()?;
        let (position, node) = node?;
        builder.finish(position.depth)?;
        if let Some((_, is_empty)) = builder.open.last_mut() {
            *is_empty = false;
        }
        let own = if position.depth == 0 { aside } else { &position.name };
        let sync = builder.synced < SYNCED_ONE_BY_ONE;
        let holder = builder.stack.dir().at(asked)?;
        let written = match node {
            NewNode::Directory { rights } => {
                holder.make_dir(own, !rights.are_unknown()).at(asked)?;
                builder.enter(own, rights)?;
                None
            }
            NewNode::ExistingDirectory => {
                builder.enter(own, Rights::default())?;
                None
            }
            NewNode::Link(target) => {
                holder.make_link(&target, own).at(asked)?;
                None
            }
            NewNode::File { rights, content } => {
                let file = holder.create(own, !rights.are_unknown());
                Some(file.and_then(|file| write_file(&file, content, wait_limit, sync, |_, file| rights.give(file))))
            }
            NewNode::MovedFile(original) => Some(write_moved(holder, own, original, wait_limit, sync)),
        };
        let written = written.transpose().map_err(|error| not_written(error, asked))?;
        if let Some((_, bytes)) = written {
            builder.synced += 1;
            created.bytes += bytes;
        }
        created.revisions.push(written.map(|(revision, _)| revision));
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
    /// What each of them gets once everything is in it, and whether nothing is in it yet.
    open: Vec<(Rights, bool)>,
    /// Files and directories so far.
    synced: usize,
    asked: &'b WorkspacePath,
    wait_limit: &'b WaitLimit,
}

impl TreeBuilder<'_> {
    fn check_cancelled(&self) -> Result<(), AccessError> {
        if self.wait_limit.ended() { Err(AccessError::new(AccessErrorKind::Stopped, self.asked)) } else { Ok(()) }
    }

    /// Goes into a directory that gets these rights at the end.
    fn enter(&mut self, own: &OsStr, rights: Rights) -> Result<(), AccessError> {
        self.open.push((rights, true));
        self.stack.enter(own).at(self.asked)
    }

    /// Finishes directories until so many are open: nothing more comes into them. One without the
    /// right to write would have taken nothing.
    fn finish(&mut self, depth: usize) -> Result<(), AccessError> {
        while self.stack.depth() > depth {
            self.check_cancelled()?;
            let (rights, is_empty) = self.open.pop().unwrap_or_default();
            let done = self.stack.dir().at(self.asked)?;
            // An empty one is on the disk with the name that it has in the directory that holds it.
            if self.synced < SYNCED_ONE_BY_ONE && !is_empty {
                // EINVAL is the answer of file systems that sync no directory (fsync(2)). Any other is an error: a move
                // removes the source next.
                let can_sync = |error: &io::Error| error.kind() != io::ErrorKind::InvalidInput;
                done.sync().or_else(|error| if can_sync(&error) { Err(error) } else { Ok(()) }).at(self.asked)?;
            }
            self.synced += 1;
            rights.give_to_directory(done).at(self.asked)?;
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

/// Makes a copy of the file at `from`, which must be the one that was seen: with these rights, or to take its place, with its
/// owner, rights, attributes and time. It is on the disk when this returns the revision of its content.
pub(crate) fn copy_file(
    (from, seen): (&WorkspacePath, &Stat),
    (dir, name): (&Dir, &OsStr),
    rights: Option<&Rights>,
    wait_limit: &WaitLimit,
) -> Result<Revision, AccessError> {
    let original = UnchangedFile::open(from, seen)?;
    let written = match rights {
        None => write_moved(dir, name, original, wait_limit, true),
        Some(rights) => dir
            .create(name, !rights.are_unknown())
            .and_then(|file| write_file(&file, original, wait_limit, true, |_, file| rights.give(file))),
    };
    written.map(|(revision, _)| revision).map_err(|error| not_written(error, from))
}

/// Makes a file that is private until it has the content and then the attributes of `original`.
fn write_moved(
    holder: &Dir,
    name: &OsStr,
    original: UnchangedFile,
    wait_limit: &WaitLimit,
    sync: bool,
) -> io::Result<(Revision, u64)> {
    write_file(&holder.create(name, true)?, original, wait_limit, sync, UnchangedFile::carry_attributes)
}

/// Gives a new file all of `content`, then its `attributes`. Returns the revision of the content, and its bytes.
///
/// # Errors
/// `Interrupted` when the wait limit ends first.
fn write_file<C: Read>(
    file: &File,
    mut content: C,
    wait_limit: &WaitLimit,
    sync: bool,
    attributes: impl FnOnce(&C, &File) -> io::Result<()>,
) -> io::Result<(Revision, u64)> {
    let mut bytes = 0;
    let revision = Revision::of_copied(&mut content, |piece| {
        if wait_limit.ended() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        bytes += piece.len() as u64;
        beneath::write_all(file, piece)
    })?;
    attributes(&content, file)?;
    if sync {
        beneath::sync_data(file)?;
    }
    Ok((revision, bytes))
}

// Making an entry with everything below it: built under a temporary name, then renamed.
//
// Whoever looks sees all of it or nothing, by renameat2(2) with `RENAME_NOREPLACE` where the file system has it. What is
// missing above it is built with it: nothing is left of a change that was killed.

/// An entry with everything below it under a temporary name, which goes when it is dropped.
pub(crate) struct NewTree<'t> {
    holder: OpenDirectory,
    aside: OsString,
    /// The name that it gets.
    name: &'t OsStr,
    asked: &'t WorkspacePath,
    created: CreatedTree,
    /// The directories that are built with it, as they are missing above it, the outermost first.
    above: Vec<WorkspacePath>,
    is_published: bool,
}

impl<'t> NewTree<'t> {
    /// Builds the nodes for the path `to`, whose `locks` are held.
    ///
    /// # Errors
    /// `Exists` when the name is taken, `Changed` when a directory is gone that the locks are of.
    pub(crate) fn build(
        (shared, locks): (&Shared, &EntryLocks),
        to: &'t WritablePath,
        nodes: NewNodes<'_>,
        wait_limit: &WaitLimit,
    ) -> Result<Self, AccessError> {
        let (parent, own_name) = entry_in_parent(to)?;
        let is_missing = |path: &WorkspacePath| {
            path.root().dir().stat_beneath(path.relative()).is_err_and(|failure| failure.is_missing())
        };
        let mut levels = std::iter::successors(Some(parent), WorkspacePath::parent);
        let mut above: Vec<WorkspacePath> = levels.by_ref().take_while(is_missing).collect();
        above.reverse();
        let there = above.first().map_or_else(|| to.path().parent(), WorkspacePath::parent);
        let Some(there) = there.filter(|there| there.relative().iter().count() >= locks.there(to.path())) else {
            return Err(AccessError::new(AccessErrorKind::Changed, to.asked()));
        };
        let holder = OpenDirectory::at(&there).map_err(|failure| AccessError::from_failure(failure, to.asked()))?;
        shared.stale_temporaries.sweep_once(&there, &holder.dir);
        let name_of = |path: &WorkspacePath| path.file_name().unwrap_or_default().to_os_string();
        let outer = above.iter().enumerate().map(|(depth, path)| {
            let position = TreePosition { depth, name: name_of(path) };
            Ok((position, NewNode::Directory { rights: Rights::default() }))
        });
        let mut nodes = outer.chain(nodes.map(|node| {
            let (TreePosition { depth, name }, node) = node?;
            let name = if depth == 0 { own_name.to_os_string() } else { name };
            Ok((TreePosition { depth: depth + above.len(), name }, node))
        }));
        let name = to.path().relative().iter().nth(there.relative().iter().count()).unwrap_or(own_name);
        let built = build_aside(&holder.dir, name, &mut nodes, to.asked(), wait_limit);
        drop(nodes);
        let (aside, mut created) = built?;
        created.revisions.drain(..above.len());
        Ok(Self { holder, aside, name, asked: to.asked(), created, above, is_published: false })
    }

    /// Gives it its name, which must be free.
    ///
    /// # Errors
    /// `Exists`, and `Changed` where a directory that was missing above it has been made meanwhile.
    pub(crate) fn publish(mut self) -> Result<CreatedTree, AccessError> {
        let dir = &self.holder.dir;
        dir.move_new(&self.aside, dir, self.name).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists if !self.above.is_empty() => {
                AccessError::new(AccessErrorKind::Changed, self.asked)
            }
            _ => not_named(error, self.asked),
        })?;
        self.is_published = true;
        // It is there for every process already: a failure undoes nothing.
        let _ = self.holder.dir.sync();
        let made = |path: &WorkspacePath| {
            let stat = path.root().dir().stat_beneath(path.relative()).ok()?;
            Some(NewDirectory::of(path.clone(), stat))
        };
        Ok(CreatedTree { made: self.above.iter().filter_map(made).collect(), ..std::mem::take(&mut self.created) })
    }
}

impl Drop for NewTree<'_> {
    fn drop(&mut self) {
        if !self.is_published {
            // What cannot be removed now has a name that is swept later.
            let _ = remove_all(&self.holder.dir, &self.aside);
        }
    }
}

/// Builds nodes under a free name of `dir`, for the name `name`; nothing of it is left when this fails.
fn build_aside(
    dir: &Dir,
    name: &OsStr,
    nodes: NewNodes<'_>,
    asked: &WorkspacePath,
    wait_limit: &WaitLimit,
) -> Result<(OsString, CreatedTree), AccessError> {
    // Only to save the work: the rename at the end decides.
    if dir.child_stat(name).is_ok() {
        return Err(AccessError::new(AccessErrorKind::Exists, asked));
    }
    let aside = free_name(dir).at(asked)?;
    let built = build(dir, &aside, nodes, asked, wait_limit);
    if built.is_err() {
        let _ = remove_all(dir, &aside);
    }
    built.map(|created| (aside, created))
}
