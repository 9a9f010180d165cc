//! Making an entry with everything below it: built under a name nobody uses, then put in its place.
//!
//! Whoever looks sees all of it or nothing. Content is hashed on its way, so that it can be compared.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write as _};
use std::path::Path;

use super::super::directory_stack::DirectoryStack;
use super::super::error::{AccessError, AccessErrorKind};
use super::super::links;
use super::super::path::WorkspacePath;
use super::super::remove_all::remove_all;
use super::super::revision::Revision;
use super::super::stat::Stat;
use super::super::sys::{self, Dir, Use};
use super::super::write::{
    Approval, Exchanged, NewDirectory, WaitLimit, WritablePath, exchange_if, free_name, is_unchanged,
};
use super::path_stack::TreePosition;
use super::{Node, Tree, TreeEntry, TreeGuard};

/// Files and directories that are put on the disk one by one; with more, all of them at once at the
/// end, which takes a fraction of the time, where the system can.
const SYNCED_ONE_BY_ONE: usize = if cfg!(target_os = "linux") { 64 } else { usize::MAX };

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
        /// What it will hold.
        content: Box<dyn Read>,
    },
    /// A link that says this.
    Link(OsString),
    /// A directory that is there already, into which something comes.
    There,
    /// A directory or a file with the owner, the rights and the time of the one that it takes the place of.
    Moved(Original),
}

/// What is moved by making its like.
pub struct Original {
    stat: Stat,
    /// Of a file: what it holds, and itself, for its attributes.
    content: Option<(Box<dyn Read>, std::fs::File)>,
}

impl std::fmt::Debug for NewNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Directory { mode } => write!(f, "Directory({mode:o})"),
            Self::File { mode, .. } => write!(f, "File({mode:o})"),
            Self::Link(target) => write!(f, "Link({})", target.display()),
            Self::There => f.write_str("There"),
            Self::Moved(original) => write!(f, "Moved({:?})", original.stat.kind),
        }
    }
}

/// What was made.
#[derive(Clone, Debug, Default)]
pub struct CreatedTree {
    /// The content of each part, in order; none for what is no file.
    pub revisions: Vec<Option<Revision>>,
    /// Bytes in its files.
    pub bytes: u64,
    /// Links that were left out because they would have led outside of the roots.
    pub links_left_out: Vec<WorkspacePath>,
    /// Directories that were made above it, the outermost first.
    pub made: Vec<NewDirectory>,
    /// The name beside it of the file that it replaced, while that is kept.
    pub(super) replaced: Option<OsString>,
}

/// Entries to be made, each directory before what it holds, the top first.
pub(super) type NewNodes<'p> = &'p mut dyn Iterator<Item = Result<(TreePosition, NewNode), AccessError>>;

impl TreeGuard {
    /// Makes an entry from its parts, each directory before what it holds, the top first.
    /// Missing directories above it are made.
    ///
    /// # Errors
    /// `Exists` when the name is taken; nothing is left behind then.
    pub fn create_tree(&self, to: &WritablePath, parts: NewNodes<'_>, _: Approval) -> Result<CreatedTree, AccessError> {
        self.put(to, None, parts)
    }

    /// Makes the like of `tree` at a place where nothing is. Permission bits are kept; a link is
    /// copied as a link where its target is inside the roots, and left out otherwise.
    pub fn copy(&self, tree: &Tree, to: &WritablePath, _: Approval) -> Result<CreatedTree, AccessError> {
        let leads_out = |place: &WorkspacePath, entry: &TreeEntry| match &entry.node {
            Node::Link(target) => !links::stays_inside(&self.shared.roots, place, Path::new(target)),
            _ => false,
        };
        let both = || tree.paths().zip(tree.paths_at(to.path()));
        let out = both().filter(|(_, (place, entry))| leads_out(place, entry));
        let left_out: Vec<WorkspacePath> = out.map(|((path, _), _)| path).collect();
        if tree.entries().len() == left_out.len() {
            return Err(AccessError::new(AccessErrorKind::Denied, tree.top()));
        }
        let stays = both().filter(|(_, (place, entry))| !leads_out(place, entry));
        let created = self.put(to, None, &mut stays.map(|((path, entry), _)| part(&path, entry)))?;
        Ok(CreatedTree { links_left_out: left_out, ..created })
    }

    /// Builds, then puts in place: where nothing is, or over the file that `over` describes.
    pub(super) fn put(
        &self,
        to: &WritablePath,
        over: Option<(&Stat, Revision)>,
        parts: NewNodes<'_>,
    ) -> Result<CreatedTree, AccessError> {
        let asked = to.asked();
        let (dir, name, new) = self.new_holder(to)?;
        let mut created = self.put_at(&dir, &name, over, parts, asked)?;
        if let Some(replaced) = created.replaced.take() {
            let _ = remove_all(&dir, &replaced);
        }
        created.made = new.keep();
        Ok(created)
    }

    /// As [`Self::put`] in an open directory; what was replaced stays beside it, under the name that is returned.
    pub(super) fn put_at(
        &self,
        dir: &Dir,
        name: &OsStr,
        over: Option<(&Stat, Revision)>,
        parts: NewNodes<'_>,
        asked: &WorkspacePath,
    ) -> Result<CreatedTree, AccessError> {
        let failed = |error| AccessError::from_io(error, asked);
        if over.is_none() && dir.child_stat(name).is_ok() {
            return Err(AccessError::new(AccessErrorKind::Exists, asked));
        }
        let aside = free_name(dir).map_err(failed)?;
        let result = build(dir, &aside, parts, asked, &self.wait_limit).and_then(|created| {
            let left = match over {
                None => dir.move_new(&aside, dir, name).map(|()| Exchanged::NoneLeft { replaced: true }),
                Some((stat, revision)) => {
                    exchange_if(dir, &aside, name, |dir, name| is_unchanged(dir, name, stat, revision))
                }
            };
            Ok((created, left.map_err(failed)?))
        });
        let put = match result {
            Ok((created, Exchanged::NoneLeft { replaced: true })) => Ok(created),
            Ok((created, Exchanged::Yes)) => Ok(CreatedTree { replaced: Some(aside.clone()), ..created }),
            Ok((_, Exchanged::No)) => Err(AccessError::new(AccessErrorKind::Stale, asked)),
            Ok((_, Exchanged::NoneLeft { replaced: false })) => {
                let _ = dir.sync();
                return Err(AccessError::new(AccessErrorKind::Stale, asked));
            }
            Err(error) => Err(error),
        };
        if put.is_err() {
            // What was built in vain.
            let _ = remove_all(dir, &aside);
        }
        let _ = dir.sync();
        put
    }

    /// Makes again what is missing of a tree whose removal failed half-way: with [`NewNode::There`] for each directory
    /// that is left, and nothing for what else is.
    ///
    /// # Errors
    /// When it is still not whole.
    pub fn complete(&self, entry: &WritablePath, parts: NewNodes<'_>, _: Approval) -> Result<(), AccessError> {
        let (dir, name) = self.holder(entry)?;
        // What is put back is put back whatever time it takes.
        build(&dir, &name, parts, entry.asked(), &WaitLimit::default()).map(drop)
    }
}

/// An entry of the tree on the disk, which is at `path`, as a part to be made.
pub(super) fn part(path: &WorkspacePath, entry: &TreeEntry) -> Result<(TreePosition, NewNode), AccessError> {
    let part = match &entry.node {
        Node::Directory(stat) => NewNode::Directory { mode: stat.permissions() },
        Node::Link(target) => NewNode::Link(target.clone()),
        Node::Other(stat) => return Err(AccessError::new(AccessErrorKind::Special(stat.special()), path)),
        Node::File(seen) => NewNode::File { mode: seen.permissions(), content: Box::new(steady(path, seen)?) },
    };
    Ok((entry.position.clone(), part))
}

/// As [`part`], for a move: with all that the system keeps of an entry besides its content.
pub(super) fn part_moved(path: &WorkspacePath, entry: &TreeEntry) -> Result<(TreePosition, NewNode), AccessError> {
    match &entry.node {
        Node::Directory(stat) => {
            Ok((entry.position.clone(), NewNode::Moved(Original { stat: stat.clone(), content: None })))
        }
        Node::File(seen) => {
            let content = steady(path, seen)?;
            let file = content.content.get_ref().try_clone().map_err(|error| AccessError::from_io(error, path))?;
            let content: (Box<dyn Read>, _) = (Box::new(content), file);
            Ok((entry.position.clone(), NewNode::Moved(Original { stat: seen.clone(), content: Some(content) })))
        }
        Node::Link(_) | Node::Other(_) => part(path, entry),
    }
}

/// The file at `path`, which must be the one that was seen.
fn steady(path: &WorkspacePath, seen: &Stat) -> Result<Steady, AccessError> {
    let opened = path.root().dir().file_beneath(path.relative());
    let file = opened.map_err(|failure| AccessError::from_failure(failure, path))?;
    let stat = sys::file_stat(&file).map_err(|error| AccessError::from_io(error, path))?;
    if !stat.same_content_state(seen) {
        return Err(AccessError::new(AccessErrorKind::Stale, path));
    }
    Ok(Steady { content: file.take(seen.size.saturating_add(1)), seen: seen.clone() })
}

/// A file that is to be what it was to its last byte: one more than there was shows that it grew.
struct Steady {
    content: io::Take<std::fs::File>,
    seen: Stat,
}

impl Read for Steady {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(buffer)?;
        if count == 0 && !buffer.is_empty() && !sys::file_stat(self.content.get_ref())?.same_content_state(&self.seen) {
            return Err(CHANGED.into());
        }
        Ok(count)
    }
}

/// What a [`Steady`] file says that is another one by now.
const CHANGED: io::ErrorKind = io::ErrorKind::StaleNetworkFileHandle;

/// Builds the parts as the entry `aside` of `dir`, which shows nothing of them yet, and is wiped by the
/// caller when this fails.
fn build(
    dir: &Dir,
    aside: &OsStr,
    parts: NewNodes<'_>,
    asked: &WorkspacePath,
    wait_limit: &WaitLimit,
) -> Result<CreatedTree, AccessError> {
    let told = |failure| AccessError::from_failure(failure, asked);
    let failed = |error| AccessError::from_io(error, asked);
    let mut created = CreatedTree::default();
    let mut site =
        Site { branch: DirectoryStack::new(dir, Use::Pass), modes: Vec::new(), synced: 0, asked, wait_limit };
    for part in parts {
        site.check_cancelled()?;
        let (position, part) = part?;
        site.finish(position.depth)?;
        let own = if position.depth == 0 { aside } else { &position.name };
        let holder = site.branch.dir().map_err(told)?;
        let revision = match part {
            NewNode::Directory { mode } => {
                holder.make_dir(own, false).map_err(failed)?;
                site.branch.enter(own).map_err(told)?;
                site.modes.push(mode);
                None
            }
            NewNode::Moved(Original { stat, content: None }) => {
                holder.make_dir(own, false).map_err(failed)?;
                site.branch.enter(own).map_err(told)?;
                site.branch.dir().map_err(told)?.set_owner_of(&stat);
                site.modes.push(stat.permissions());
                None
            }
            NewNode::There => {
                site.branch.enter(own).map_err(told)?;
                site.modes.push(0);
                None
            }
            NewNode::Link(target) => {
                holder.make_link(&target, own).map_err(failed)?;
                None
            }
            part @ (NewNode::File { .. } | NewNode::Moved(_)) => {
                let (mode, content, like) = match part {
                    NewNode::File { mode, content } => (mode, content, None),
                    NewNode::Moved(Original { stat, content: Some((content, file)) }) => {
                        (0, content, Some((file, stat)))
                    }
                    _ => continue,
                };
                let one_by_one = site.synced < SYNCED_ONE_BY_ONE;
                site.synced += 1;
                let written = file(holder, own, mode, content, like.as_ref(), wait_limit, one_by_one);
                let (revision, bytes) = written.map_err(|error| {
                    // What ended in the middle of a file ended for that reason.
                    match error.kind() {
                        io::ErrorKind::Interrupted => AccessError::new(AccessErrorKind::Stopped, asked),
                        CHANGED => AccessError::new(AccessErrorKind::Stale, asked),
                        _ => failed(error),
                    }
                })?;
                created.bytes += bytes;
                Some(revision)
            }
        };
        created.revisions.push(revision);
    }
    site.finish(0)?;
    if site.synced > SYNCED_ONE_BY_ONE {
        dir.sync_file_system().map_err(failed)?;
    }
    Ok(created)
}

/// What is being built: the directories that are not done yet, from the outermost.
struct Site<'b> {
    branch: DirectoryStack<&'b Dir>,
    /// The permission bits that each of them gets once everything is in it.
    modes: Vec<u32>,
    /// Files and directories so far.
    synced: usize,
    asked: &'b WorkspacePath,
    wait_limit: &'b WaitLimit,
}

impl Site<'_> {
    fn check_cancelled(&self) -> Result<(), AccessError> {
        if self.wait_limit.ended() { Err(AccessError::new(AccessErrorKind::Stopped, self.asked)) } else { Ok(()) }
    }

    /// Finishes directories until so many are open: nothing more comes into them. One without the
    /// right to write would have taken nothing.
    fn finish(&mut self, depth: usize) -> Result<(), AccessError> {
        while self.branch.depth() > depth {
            self.check_cancelled()?;
            let mode = self.modes.pop().unwrap_or_default();
            let done = self.branch.dir().map_err(|failure| AccessError::from_failure(failure, self.asked))?;
            if self.synced < SYNCED_ONE_BY_ONE {
                let _ = done.sync();
            }
            self.synced += 1;
            let failed = |error| AccessError::from_io(error, self.asked);
            // Looked at first, which costs less than to open it for being changed.
            if mode != 0 && done.stat().map_err(failed)?.identity.mode & 0o7777 != mode & 0o777 {
                done.set_mode(mode).map_err(failed)?;
            }
            self.branch.leave();
        }
        Ok(())
    }
}

/// `Interrupted` when the wait limit ends first.
fn file(
    holder: &Dir,
    name: &OsStr,
    mode: u32,
    mut content: Box<dyn Read>,
    like: Option<&(std::fs::File, Stat)>,
    wait_limit: &WaitLimit,
    sync: bool,
) -> io::Result<(Revision, u64)> {
    let mut file = holder.create(name, false)?;
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
        file.write_all(&buffer[..count])?;
        bytes += count as u64;
    }
    if mode != 0 {
        sys::set_mode(&file, mode)?;
    }
    if let Some((original, stat)) = like {
        sys::carry_attributes(original, stat, &file)?;
        if let Some(modified) = stat.modified {
            // A file system may not keep times; the content is what counts.
            let _ = file.set_modified(modified);
        }
    }
    if sync {
        file.sync_data()?;
    }
    Ok((hasher.finish(), bytes))
}
