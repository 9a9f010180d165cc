//! Removing an entry whose content has been recorded: out of the way first, then looked at, then gone.
//!
//! Under a name that nobody else uses the entry is compared with what was recorded; when it is
//! something else, it goes back to where it was.

use std::{ffi::OsStr, io};

use beneath::OpenFor;

use crate::write::{free_name, is_unchanged, keep_aside};
use crate::{
    AccessError, AccessErrorKind, Approval, Dir, DirectoryStack, Limit, Revision, WorkspacePath, WritablePath,
};

use super::remove_in_place::{RemovalStopped, lock_out_others, remove_in_place};
use super::{Node, Tree, TreeGuard, TreePosition};

/// Why a tree was not removed.
#[derive(Debug)]
pub struct RemoveError {
    /// What stood in the way.
    pub error: AccessError,
    /// Whether some of it may be gone; what is left is in its place.
    pub in_part: bool,
    /// The entries of the tree from this one on are gone.
    pub gone_from: usize,
}

impl From<RemoveError> for AccessError {
    fn from(not: RemoveError) -> Self {
        not.error
    }
}

impl TreeGuard {
    /// Removes `tree`, which is at `entry`, if it is still the same. `revisions` holds, in the order
    /// of its entries, the recorded content of each file.
    ///
    /// # Errors
    /// `Stale`, with everything in its place, when something in it is not what was recorded, and `Locked` when
    /// another process does not end a change in it; `Permission` before anything is gone where the rights of a
    /// directory forbid it. When the system refuses a removal in the middle, what is left gets its name back.
    pub fn remove(
        &self,
        entry: &WritablePath,
        tree: &Tree,
        revisions: &[Option<Revision>],
        _: Approval,
    ) -> Result<(), RemoveError> {
        let asked = entry.asked();
        let whole = |error| RemoveError { error, in_part: false, gone_from: tree.entries().len() };
        let failed = |error| whole(AccessError::from_io(error, asked));
        let stale = || whole(AccessError::new(AccessErrorKind::Stale, asked));
        let (dir, name) = self.holder(entry).map_err(whole)?;
        if let Node::Link(target) = tree.node() {
            // The sandbox may not allow a link to be renamed; it holds no content to lose.
            if dir.child_link(&name).ok().as_ref() != Some(target) {
                return Err(stale());
            }
            dir.remove(&name).map_err(failed)?;
            let _ = dir.sync();
            return Ok(());
        }
        let aside = free_name(&dir).map_err(failed)?;
        match dir.rename_new(&name, &aside) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(stale()),
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices && tree.is_directory() => {
                let removed = remove_checked(&dir, &name, tree, revisions, asked);
                let _ = dir.sync();
                return removed;
            }
            Err(error) => return Err(failed(error)),
        }
        let removed = remove_checked(&dir, &aside, tree, revisions, asked);
        if removed.is_err() {
            put_back(&dir, &aside, &name);
        }
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
    let all = tree.entries().len();
    let not = |error, gone_from| RemoveError { error, in_part: gone_from < all, gone_from };
    let stale = |gone_from| not(AccessError::new(AccessErrorKind::Stale, asked), gone_from);
    let locked = |gone_from| not(AccessError::new(AccessErrorKind::Locked, asked), gone_from);
    match is_same(dir, name, tree, revisions) {
        Ok(true) => {}
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied || Limit::of(&error).is_some() => {
            return Err(not(AccessError::from_io(error, asked), all));
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(locked(all)),
        Ok(false) | Err(_) => return Err(stale(all)),
    }
    remove_in_place(dir, name, tree).map_err(|RemovalStopped { error, gone_from }| match error.kind() {
        io::ErrorKind::WouldBlock => locked(gone_from),
        // Something else is there, or something was added to a directory.
        io::ErrorKind::StaleNetworkFileHandle | io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty => {
            stale(gone_from)
        }
        _ => {
            let path = tree.paths().nth(gone_from.saturating_sub(1)).map(|(path, _)| path);
            not(AccessError::from_io(error, path.as_ref().unwrap_or(asked)), gone_from)
        }
    })
}

/// Whether the entry called `name` holds exactly the recorded tree.
fn is_same(dir: &Dir, name: &OsStr, tree: &Tree, revisions: &[Option<Revision>]) -> io::Result<bool> {
    let mut stack = DirectoryStack::new(dir, OpenFor::List);
    let mut listed = 0;
    for (entry, revision) in tree.entries().iter().zip(revisions) {
        let TreePosition { depth, name: own } = &entry.position;
        let own = if *depth == 0 { name } else { own };
        stack.leave_to(*depth);
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

/// Gives back the old name; where that is taken by now, one that is not removed as a stale temporary.
fn put_back(dir: &Dir, aside: &OsStr, name: &OsStr) {
    if dir.rename_new(aside, name).is_err() {
        keep_aside(dir, aside, name);
    }
}
