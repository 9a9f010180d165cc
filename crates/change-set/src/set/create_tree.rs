//! Making and copying an entry with everything below it, as one change that needs no step: it gets its name when it is
//! complete.

use std::{ffi::OsStr, path::Path};

use beneath::{Dir, OpenFor};
use confined_fs::{AccessError, AccessErrorKind, WorkspacePath, for_changes::AtPath as _};

use super::ChangeSet;
use crate::{
    tree::{CreatedTree, NewNodes, NewTree, Node, Tree, TreeEntry, build, new_node},
    write::{Approval, WaitLimit, WritablePath, entry_in_parent},
};

/// The directory that holds an entry, and its name there. The rights are asked again, as a plan may be old by now.
pub(super) fn holder(entry: &WritablePath) -> Result<(Dir, &OsStr), AccessError> {
    let (parent, name) = entry_in_parent(entry)?;
    let dir = parent.root().dir().dir_beneath(parent.relative(), OpenFor::Traverse);
    Ok((dir.at(entry.asked())?, name))
}

impl ChangeSet<'_> {
    /// Makes an entry from its nodes, each directory before what it holds, the top first.
    /// Missing directories above it are made.
    ///
    /// # Errors
    /// `Exists` when the name is taken; nothing is left behind then.
    pub fn create_tree(&self, to: &WritablePath, nodes: NewNodes<'_>, _: Approval) -> Result<CreatedTree, AccessError> {
        NewTree::build((&self.shared, &self.locks), to, nodes, &self.wait_limit)?.publish()
    }

    /// Copies `tree` to a path where nothing is. Permission bits are kept; a link is copied as a link where its
    /// target is inside the roots, and left out otherwise.
    pub fn copy(&self, tree: &Tree, to: &WritablePath, approval: Approval) -> Result<CreatedTree, AccessError> {
        let left_out = self.links_left_out(tree, to)?;
        let mut out = left_out.iter().peekable();
        let stays = tree.paths().filter(|(path, _)| out.next_if(|left| *left == path).is_none());
        let created = self.create_tree(to, &mut stays.map(|(path, entry)| new_node(&path, entry, false)), approval)?;
        Ok(CreatedTree { links_left_out: left_out, ..created })
    }

    /// The links of `tree` that would lead outside of the roots from below `to`.
    ///
    /// # Errors
    /// `Denied` where nothing else would be copied.
    pub(super) fn links_left_out(&self, tree: &Tree, to: &WritablePath) -> Result<Vec<WorkspacePath>, AccessError> {
        let leads_out = |to: &WorkspacePath, entry: &TreeEntry| match &entry.node {
            Node::Link(target) => !self.shared.stays_inside(to, Path::new(target)),
            _ => false,
        };
        let both = tree.paths().zip(tree.paths_at(to.path()));
        let out = both.filter(|(_, (to, entry))| leads_out(to, entry));
        let left_out: Vec<WorkspacePath> = out.map(|((path, _), _)| path).collect();
        if tree.entries().len() == left_out.len() {
            return Err(AccessError::new(AccessErrorKind::Denied, tree.top()));
        }
        Ok(left_out)
    }

    /// Makes again what is missing of a tree whose removal failed in the middle: with `NewNode::ExistingDirectory` for
    /// each directory that is left, and nothing for what else is.
    ///
    /// # Errors
    /// When it is still not whole.
    pub fn complete(&self, entry: &WritablePath, nodes: NewNodes<'_>, _: Approval) -> Result<(), AccessError> {
        let (dir, name) = holder(entry)?;
        // What is put back is put back whatever time it takes.
        build(&dir, name, nodes, entry.asked(), &WaitLimit::default()).map(drop)
    }
}
