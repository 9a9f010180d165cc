//! Moving an entry: one rename where the system can, otherwise a copy, compared, and a removal.
//!
//! The system cannot across devices, and overlayfs cannot for the directories of a lower layer: both say EXDEV. When
//! the removal fails then, what is gone comes back from the copy, and the copy goes.
//!
//! A crash before the copy is complete leaves it under a temporary name, which is swept later. After that the new place is
//! complete, and the old one is complete, or gone (what is left of it has a temporary name), or, where overlayfs keeps it
//! from being renamed, there in part. No intent is written: nothing is lost, and a person can see both.

use std::{ffi::OsStr, io};

use super::{ChangeSet, RemoveError, create_tree::holder};
use crate::{
    tree::{CreatedTree, NewNode, NewTree, Node, Purpose, Scan, Tree, TreeEntry, is_listed, is_respelling, new_node},
    write::{Approval, NewDirectory, OpenDirectory, WritablePath, free_name, not_named, remove_made},
};
use beneath::Dir;
use confined_fs::{
    AccessError, AccessErrorKind, WorkspacePath,
    for_changes::{AtPath as _, Location},
};

/// How an entry was moved.
#[derive(Clone, Debug, Default)]
pub struct MovedTree {
    /// Whether it was copied and its old place emptied, as the system does not rename it.
    pub copied: bool,
    /// Directories that were made above its new place, the outermost first.
    pub made: Vec<NewDirectory>,
}

/// Directories that a move has made above its new place: dropped without [`Self::keep`], those that are empty go again.
struct MadeAbove(Vec<NewDirectory>);

impl MadeAbove {
    fn keep(mut self) -> Vec<NewDirectory> {
        std::mem::take(&mut self.0)
    }
}

impl Drop for MadeAbove {
    fn drop(&mut self) {
        remove_made(&self.0);
    }
}

impl ChangeSet<'_> {
    /// The directory that is to hold an entry, made where it is missing, and the entry's name there.
    fn made_holder<'e>(&self, to: &'e WritablePath) -> Result<(OpenDirectory, &'e OsStr, MadeAbove), AccessError> {
        let held = (&*self.shared, &*self.locks);
        let mut made = MadeAbove(Vec::new());
        if OpenDirectory::holding(held, to)?.is_none() {
            made.0 = NewTree::build(held, to, &mut std::iter::empty(), &self.wait_limit)?.publish()?.made;
        }
        let (holder, name) =
            OpenDirectory::holding(held, to)?.ok_or_else(|| AccessError::new(AccessErrorKind::Changed, to.asked()))?;
        Ok((holder, name, made))
    }

    /// Moves `tree` from `from` to `to`, where nothing may be. Missing directories are made.
    ///
    /// # Errors
    /// `Exists` when the place is taken, `Stale` when the source is not what it was; everything is in its place then.
    pub fn move_tree(
        &self,
        from: &WritablePath,
        tree: &Tree,
        to: &WritablePath,
        _: Approval,
    ) -> Result<MovedTree, AccessError> {
        let (from_dir, from_name) = holder(from)?;
        let (to_holder, to_name, new) = self.made_holder(to)?;
        let to_dir = &to_holder.dir;
        // Another program can still exchange the entry before the rename. Then that one is moved, within directories that
        // this process may change, by their handles, and with a link as a link: no content leaves the sandbox or is lost.
        if !is_listed_entry(&from_dir, from_name, tree).unwrap_or(false) {
            return Err(AccessError::new(AccessErrorKind::Stale, from.asked()));
        }
        let is_respelled = from.path().parent() == to.path().parent() && is_respelling(to_dir, from_name, to_name);
        let renamed = if is_respelled {
            respell(to_dir, from_name, to_name)
        } else {
            from_dir.move_new(from_name, to_dir, to_name)
        };
        let copied = match renamed {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                let mut nodes = tree.paths().map(|(path, entry)| new_node(&path, entry, true));
                let created =
                    NewTree::build((&self.shared, &self.locks), to, &mut nodes, &self.wait_limit)?.publish()?;
                if let Err(failure) = self.remove_tree(from, tree, &created.revisions, Approval::by_policy()) {
                    let error = self.take_back(from, tree, to, to_dir, &created, failure);
                    if error.kind == AccessErrorKind::MovedInPart {
                        new.keep();
                    }
                    return Err(error);
                }
                true
            }
            // A mount, and a name that may not be removed.
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy || from_dir.may_remove_names().is_err() => {
                return Err(error).at(from.asked());
            }
            answer => {
                answer.map_err(|error| not_named(error, to.asked()))?;
                false
            }
        };
        let made = new.keep();
        // The new place first, so that a power failure between the two loses nothing. The move is made for every
        // process already, so a failure undoes nothing.
        let _ = to_dir.sync();
        let _ = from_dir.sync();
        Ok(MovedTree { copied, made })
    }

    /// After a copy whose source could not be removed: brings back what is gone of the source, then removes the copy.
    /// Returns what to say. The copy stays where it is the only one of anything.
    fn take_back(
        &self,
        from: &WritablePath,
        tree: &Tree,
        to: &WritablePath,
        to_dir: &Dir,
        created: &CreatedTree,
        failure: RemoveError,
    ) -> AccessError {
        if failure.in_part && self.bring_back(from, tree, to, failure.gone_from).is_err() {
            return AccessError::new(AccessErrorKind::MovedInPart, to.asked());
        }
        let (asked, top) = (to.asked(), Location::direct(to.path().clone()));
        if let Ok(copy) = (Scan { shared: &self.shared, top: &top, asked, purpose: Purpose::Remove }).run() {
            // Compared as any entry that is removed: another program may have changed it meanwhile.
            let _ = self.remove_tree(to, &copy, &created.revisions, Approval::by_policy());
        }
        let _ = to_dir.sync();
        failure.error
    }

    /// Makes the entries from `gone_from` on again, as they are in the copy at `to`.
    fn bring_back(
        &self,
        from: &WritablePath,
        tree: &Tree,
        to: &WritablePath,
        gone_from: usize,
    ) -> Result<(), AccessError> {
        let missing = |(index, (path, entry)): (usize, (WorkspacePath, &TreeEntry))| match &entry.node {
            Node::Directory(_) if index < gone_from => Some(Ok((entry.position.clone(), NewNode::ExistingDirectory))),
            _ if index < gone_from => None,
            // The copy is another file than the one that was listed.
            Node::File(_) => Some(path.root().dir().stat_beneath(path.relative()).at(&path).and_then(|stat| {
                let entry = TreeEntry { position: entry.position.clone(), node: Node::File(stat) };
                new_node(&path, &entry, true)
            })),
            _ => Some(new_node(&path, entry, true)),
        };
        let mut nodes = tree.paths_at(to.path()).enumerate().filter_map(missing);
        self.complete(from, &mut nodes, Approval::by_policy())
    }
}

/// Whether the name is still that of the entry that was listed: of a link the same target, of a file the same inode,
/// size and times, of a directory the same inode. What a directory holds is not compared: it moves with it, whatever it is.
fn is_listed_entry(dir: &Dir, name: &OsStr, tree: &Tree) -> io::Result<bool> {
    Ok(match tree.node() {
        Node::Link(target) => dir.child_link(name).is_ok_and(|now| now == *target),
        Node::File(seen) => dir.child_stat(name)?.same_content_state(seen),
        Node::Directory(seen) | Node::Other(seen) => dir.child_stat(name)?.same_file(seen),
    })
}

// A new name that differs from the old one in case alone, where the file system finds the entry by both.

fn respell(dir: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
    dir.move_over(from, dir, to)?;
    if is_listed(dir, to)? {
        return Ok(());
    }
    // Nothing happened: Wine takes the two for one name. By another name, then.
    let aside = free_name(dir)?;
    dir.move_over(from, dir, &aside)?;
    dir.move_over(&aside, dir, to).inspect_err(|_| {
        let _ = dir.move_over(&aside, dir, from);
    })
}
