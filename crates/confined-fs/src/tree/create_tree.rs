//! Making an entry with everything below it: built under a temporary name, then renamed.
//!
//! Whoever looks sees all of it or nothing, by renameat2(2) with `RENAME_NOREPLACE` where the file system has it.

use std::{ffi::OsStr, path::Path};

use beneath::Stat;

use crate::dir::remove_all;
use crate::write::{Exchanged, exchange_if, free_name, is_unchanged};
use crate::{
    AccessError, AccessErrorKind, Approval, AtPath as _, Dir, Revision, WaitLimit, WorkspacePath, WritablePath, links,
};

use super::new_node::{NewNodes, new_node};
use super::tree_builder::build;
use super::{CreatedTree, Node, Tree, TreeEntry, TreeGuard};

impl TreeGuard {
    /// Makes an entry from its nodes, each directory before what it holds, the top first.
    /// Missing directories above it are made.
    ///
    /// # Errors
    /// `Exists` when the name is taken; nothing is left behind then.
    pub fn create_tree(&self, to: &WritablePath, nodes: NewNodes<'_>, _: Approval) -> Result<CreatedTree, AccessError> {
        let (dir, name, new) = self.new_holder(to)?;
        let created = self.put_at(&dir, &name, None, nodes, to.asked())?;
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

    /// Builds in an open directory, then gives the entry its name: a free one, or that of the file that `over`
    /// describes, which is kept under the name that is returned.
    pub(super) fn put_at(
        &self,
        dir: &Dir,
        name: &OsStr,
        over: Option<(&Stat, Revision)>,
        nodes: NewNodes<'_>,
        asked: &WorkspacePath,
    ) -> Result<CreatedTree, AccessError> {
        if over.is_none() && dir.child_stat(name).is_ok() {
            return Err(AccessError::new(AccessErrorKind::Exists, asked));
        }
        let aside = free_name(dir).at(asked)?;
        let result = build(dir, &aside, nodes, asked, &self.wait_limit).and_then(|created| {
            let left = match over {
                None => dir.move_new(&aside, dir, name).map(|()| Exchanged::NoneLeft { replaced: true }),
                Some((stat, revision)) => {
                    exchange_if(dir, &aside, name, |dir, name| is_unchanged(dir, name, stat, revision))
                }
            };
            Ok((created, left.at(asked)?))
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
            let _ = remove_all(dir, &aside);
        }
        let _ = dir.sync();
        put
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
