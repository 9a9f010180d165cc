//! Removing an entry whose content has been recorded: out of the way first, then looked at, then gone.
//!
//! Under a name that nobody else uses the entry is compared with what was recorded; when it is
//! something else, it goes back to where it was.

use std::time::{Duration, Instant};
use std::{ffi::OsStr, io, thread};

use beneath::{LockAttempt, OpenFor};

use super::{ChangeSet, create_tree::holder};
use crate::{
    tree::{Node, Tree, TreeEntry},
    write::{Approval, WritablePath, free_name, is_unchanged, keep_aside},
};
use beneath::Dir;
use confined_fs::{
    AccessError, AccessErrorKind, Limit, Revision, WorkspacePath,
    for_changes::{DirectoryStack, IfThere as _},
};

/// Why a tree was not removed.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct RemoveError {
    /// The first error of the system, or what was found changed.
    #[source]
    pub error: AccessError,
    /// Whether some of it may be gone; what is left is in its place.
    pub in_part: bool,
    /// The entries of the tree from this one on are gone.
    pub gone_from: usize,
}

impl From<RemoveError> for AccessError {
    fn from(failure: RemoveError) -> Self {
        failure.error
    }
}

impl RemoveError {
    fn of_whole(error: AccessError, tree: &Tree) -> Self {
        Self { error, in_part: false, gone_from: tree.entries().len() }
    }

    /// When the entry before `gone_from` was to be removed.
    fn at(gone_from: usize, error: io::Error, tree: &Tree, asked: &WorkspacePath) -> Self {
        let error = match error.kind() {
            io::ErrorKind::WouldBlock => AccessError::new(AccessErrorKind::Locked, asked),
            // Something else is there, or something was added to a directory.
            io::ErrorKind::StaleNetworkFileHandle | io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty => {
                AccessError::new(AccessErrorKind::Stale, asked)
            }
            _ => {
                let path = tree.paths().nth(gone_from.saturating_sub(1)).map(|(path, _)| path);
                AccessError::from_io(error, path.as_ref().unwrap_or(asked))
            }
        };
        Self { error, in_part: gone_from < tree.entries().len(), gone_from }
    }
}

impl ChangeSet<'_> {
    /// Removes `tree`, which is at `entry`, if it is still the same, as one change that needs no step. `revisions` holds, in the order
    /// of its entries, the recorded content of each file.
    ///
    /// # Errors
    /// `Stale`, with everything in its place, when something in it is not what was recorded, and `Locked` when
    /// another process does not end a change in it; `Permission` before anything is gone where the rights of a
    /// directory forbid it. When the system refuses a removal in the middle, what is left gets its name back; but where it
    /// is full, the entry counts as removed.
    pub fn remove_tree(
        &self,
        entry: &WritablePath,
        tree: &Tree,
        revisions: &[Option<Revision>],
        _: Approval,
    ) -> Result<(), RemoveError> {
        let asked = entry.asked();
        let whole = |error| RemoveError::of_whole(error, tree);
        let failed = |error| whole(AccessError::from_io(error, asked));
        let stale = || whole(AccessError::new(AccessErrorKind::Stale, asked));
        let (dir, name) = holder(entry).map_err(whole)?;
        if let Node::Link(target) = tree.node() {
            // The sandbox may not allow a link to be renamed; it holds no content to lose.
            if dir.child_link(name).ok().as_ref() != Some(target) {
                return Err(stale());
            }
            dir.remove(name).map_err(failed)?;
            // It is gone for every process already: a failure would undo nothing.
            let _ = dir.sync();
            return Ok(());
        }
        let aside = free_name(&dir).map_err(failed)?;
        let removed = match dir.rename_new(name, &aside) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices && tree.is_directory() => {
                remove_checked(&dir, name, tree, revisions, asked)
            }
            answer => {
                answer.if_there().map_err(failed)?.ok_or_else(stale)?;
                match remove_checked(&dir, &aside, tree, revisions, asked) {
                    // On a full disk (ENOSPC of a file system that copies on write) nothing that is gone could be made
                    // again. All of it was looked at and has lost its name: the rest goes as a stale temporary.
                    Err(RemoveError { error, in_part: true, .. })
                        if matches!(error.kind, AccessErrorKind::Limit(_)) =>
                    {
                        tracing::warn!(%error, "what was deleted is in part still there under a reserved name");
                        Ok(())
                    }
                    removed => {
                        if removed.is_err() && dir.rename_new(&aside, name).is_err() {
                            // Its name is taken by now: it gets one that is not removed as a stale temporary.
                            keep_aside(&dir, &aside, name);
                        }
                        removed
                    }
                }
            }
        };
        // It is gone for every process already, or was not removed: a failure undoes nothing.
        let _ = dir.sync();
        removed
    }
}

/// Removes what is called `name` in `dir` if it is exactly the recorded tree.
fn remove_checked(
    dir: &Dir,
    name: &OsStr,
    tree: &Tree,
    revisions: &[Option<Revision>],
    asked: &WorkspacePath,
) -> Result<(), RemoveError> {
    let error = match is_same(dir, name, tree, revisions) {
        Ok(true) => return remove_in_place(dir, name, tree, asked),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied || Limit::of(&error).is_some() => {
            AccessError::from_io(error, asked)
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => AccessError::new(AccessErrorKind::Locked, asked),
        // Also what is missing, or of another kind by now: it is not what was recorded.
        Ok(false) | Err(_) => AccessError::new(AccessErrorKind::Stale, asked),
    };
    Err(RemoveError::of_whole(error, tree))
}

/// Whether the entry called `name` holds exactly the recorded tree.
fn is_same(dir: &Dir, name: &OsStr, tree: &Tree, revisions: &[Option<Revision>]) -> io::Result<bool> {
    let mut stack = DirectoryStack::new(dir, OpenFor::List);
    let mut listed = 0;
    for (entry, revision) in tree.entries().iter().zip(revisions) {
        let own = name_of(entry, name);
        stack.leave_to(entry.position.depth);
        let same = match (&entry.node, revision) {
            (Node::File(stat), Some(revision)) => is_unchanged(stack.dir()?, own, stat, *revision)?,
            (Node::Directory(seen), _) => {
                stack.enter(own)?;
                let inside = stack.dir()?;
                // It has another name by now: a process that gets the lock later sees that, and changes nothing in it.
                lock_out_others(inside)?;
                let names = inside.list()?.len();
                // Before anything is gone: as a cache of read-only directories has it, for one.
                if names > 0 {
                    inside.may_remove_names()?;
                }
                listed += names;
                inside.stat()?.same_file(seen)
            }
            (Node::Link(target), _) => stack.dir()?.child_link(own).is_ok_and(|now| now == *target),
            _ => false,
        };
        if !same {
            return Ok(false);
        }
    }
    // Everything recorded is there; nothing may be there that was not.
    Ok(listed + 1 == tree.entries().len())
}

// Removing a tree where it is, for a directory that the system does not rename.
//
// overlayfs answers the rename of a directory that a lower layer holds with EXDEV (without `redirect_dir`, which
// the kernel has off by default: Documentation/filesystems/overlayfs.rst, "Renaming directories"), so in a
// container no directory of its image could be put aside. Here each entry is looked at just before it goes, the
// innermost ones first, and nothing goes that is not what was recorded. The directory keeps its name meanwhile,
// so that other processes find it: none of them changes a directory while it is emptied.

/// How long another process may take to end a change in a directory that is being removed.
const OTHERS_END: Duration = Duration::from_secs(1);

/// Removes the tree called `name` in `dir`.
fn remove_in_place(dir: &Dir, name: &OsStr, tree: &Tree, asked: &WorkspacePath) -> Result<(), RemoveError> {
    let entries = tree.entries();
    let mut stack = DirectoryStack::new(dir, OpenFor::List);
    let holders = holders(entries);
    // The directory that is being emptied, and its lock; the guard has that of the one above the top.
    let mut alone: Option<(usize, Option<Dir>)> = None;
    // Backwards in a listing that has each directory before what it holds, everything comes before what holds it.
    for (index, entry) in entries.iter().enumerate().rev() {
        go_to_holder(&mut stack, name, entries, &holders, index)
            .and_then(|holder| {
                let in_it = holders[index];
                if entry.position.depth > 0 && alone.as_ref().is_none_or(|(locked, _)| *locked != in_it) {
                    alone = None;
                    alone = Some((in_it, lock_out_others(holder)?));
                }
                if cfg!(windows) && entry.position.depth == 0 {
                    // An open directory is not removed there, and the lock has a handle of it.
                    alone = None;
                }
                remove_one(holder, name_of(entry, name), entry)
            })
            .map_err(|error| RemoveError::at(index + 1, error, tree, asked))?;
    }
    Ok(())
}

/// The name of an entry of a tree whose top is called `top`.
fn name_of<'e>(entry: &'e TreeEntry, top: &'e OsStr) -> &'e OsStr {
    if entry.position.depth == 0 { top } else { &entry.position.name }
}

/// For each entry the index of the directory that holds it; of the top, its own.
fn holders(entries: &[TreeEntry]) -> Vec<usize> {
    let mut above: Vec<usize> = Vec::new();
    let holder = |(index, entry): (usize, &TreeEntry)| {
        above.truncate(entry.position.depth);
        let holder = above.last().copied().unwrap_or(index);
        above.push(index);
        holder
    };
    entries.iter().enumerate().map(holder).collect()
}

/// Goes to the directory that holds the entry with this index, from the one that holds the entry after it.
fn go_to_holder<'s>(
    stack: &'s mut DirectoryStack<&Dir>,
    top: &OsStr,
    entries: &[TreeEntry],
    holders: &[usize],
    index: usize,
) -> io::Result<&'s Dir> {
    let depth = entries[index].position.depth;
    // What is still open is above this entry as well: it is the directory that is left, or is in it.
    stack.leave_to(depth);
    let above = std::iter::successors(Some(holders[index]), |above| Some(holders[*above]));
    let missing: Vec<usize> = above.take(depth - stack.depth()).collect();
    for at in missing.into_iter().rev() {
        stack.enter(name_of(&entries[at], top))?;
    }
    Ok(stack.dir()?)
}

/// Removes one entry that is still what was recorded; a directory if it is empty by now.
fn remove_one(holder: &Dir, name: &OsStr, entry: &TreeEntry) -> io::Result<()> {
    let changed = || io::Error::from(io::ErrorKind::StaleNetworkFileHandle);
    match &entry.node {
        Node::Directory(_) => holder.remove_dir(name),
        Node::Link(target) if holder.child_link(name).is_ok_and(|now| now == *target) => holder.remove(name),
        Node::File(seen) if holder.child_stat(name)?.same_size_and_time(seen) => holder.remove(name),
        Node::File(_) | Node::Link(_) | Node::Other(_) => Err(changed()),
    }
}

/// Waits until no other process is in the middle of a change in this directory. None begins one as long as the
/// handle that is returned lives; `None` where there are no such locks.
///
/// # Errors
/// `WouldBlock` where another process does not end; the system's where too many files are open.
fn lock_out_others(inside: &Dir) -> io::Result<Option<Dir>> {
    let began = Instant::now();
    let handle = match inside.reopen(OpenFor::List) {
        Ok(handle) => handle,
        Err(error) if Limit::of_open_files(&error).is_some() => return Err(error),
        Err(_) => return Ok(None),
    };
    loop {
        match handle.try_lock() {
            LockAttempt::Acquired => return Ok(Some(handle)),
            LockAttempt::Unsupported => return Ok(None),
            LockAttempt::HeldElsewhere => {}
        }
        // It may itself be waiting for the directory that we hold.
        if began.elapsed() > OTHERS_END {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test acts as another process")]

    use std::fs;

    use confined_fs::Access;

    use super::*;
    use crate::Workspace;
    use crate::tree::Purpose;

    #[test]
    fn directory_locked_by_another_process_is_not_emptied() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join("d/sub")).unwrap();
        fs::write(temp.path().join("d/sub/f"), "f").unwrap();
        let workspace = Workspace::of_directory(temp.path(), Access::ReadWrite);
        let target = workspace.writable_entry(&workspace.resolve("d").unwrap()).unwrap();
        let tree = workspace.tree(&target, Purpose::Remove).unwrap();
        let dir = Dir::open_ambient(temp.path(), false).unwrap();

        let other = Dir::open_ambient(&temp.path().join("d/sub"), false).unwrap().reopen(OpenFor::List).unwrap();
        assert_eq!(other.try_lock(), LockAttempt::Acquired);
        let asked = target.asked();
        let stopped = remove_in_place(&dir, OsStr::new("d"), &tree, asked).unwrap_err();
        assert_eq!((stopped.error.kind, stopped.in_part, stopped.gone_from), (AccessErrorKind::Locked, false, 3));
        assert_eq!(fs::read_to_string(temp.path().join("d/sub/f")).unwrap(), "f");

        drop(other);
        remove_in_place(&dir, OsStr::new("d"), &tree, asked).unwrap();
        assert!(!temp.path().join("d").exists());
    }
}
