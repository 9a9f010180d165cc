//! Whole entries: a file, a link, or a directory with all below it, to be made, moved, copied or deleted.
//!
//! Unlike a write, none of these follows a link at the end of its path: the link is the entry. A tree is listed first
//! and judged as a whole; whatever policy protects in it refuses all of it. What is made is built under a temporary
//! name and appears at once, by one rename.
//!
//! Limits: at most 20,000 entries in one change. A removal is one system call for each entry, so that a failure in the
//! middle leaves a part, which the error says. Special files are moved, not copied; hard links, ACLs and other
//! extended attributes are kept by a rename and not by a copy of a directory.

mod create_tree;
mod entries;
mod guard;
mod move_tree;
mod new_node;
mod path_stack;
mod remove;
mod remove_in_place;
mod scan;
mod tree_builder;

use std::path::Path;

use super::{AccessError, AccessErrorKind, Location, Stat, Workspace, WorkspacePath, WritablePath};

pub use entries::{Node, Tree, TreeEntry};
pub use guard::TreeGuard;
pub use move_tree::{MovedTree, ReplacedFile};
pub use new_node::NewNode;
pub use path_stack::TreePosition;
pub use remove::NotRemoved;
pub use scan::Purpose;
use scan::Scan;
pub use tree_builder::CreatedTree;

impl Workspace {
    /// The path as an entry that may be made, moved or deleted: as [`Workspace::writable`], but a
    /// link at its end is not followed. A root itself is refused.
    pub fn writable_entry(&self, path: &WorkspacePath) -> Result<WritablePath, AccessError> {
        let is_root = || AccessError::new(AccessErrorKind::IsRoot, path);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            self.shared.stat(path)?;
            return Err(is_root());
        };
        let way = self.shared.locate(&parent)?.child(&self.shared.roots, Path::new(name));
        if way.real.is_root() {
            let gone = way.real.root().absence().filter(|_| way.real.root().is_optional());
            return Err(gone.map_or_else(is_root, |gone| AccessError::new(AccessErrorKind::RootGone(gone), &way.real)));
        }
        WritablePath::new(path, way)
    }

    /// What is at an entry, a link being a link; `None` where nothing is.
    pub fn entry_stat(&self, entry: &WritablePath) -> Result<Option<Stat>, AccessError> {
        let real = entry.path();
        match real.root().dir.stat_beneath(real.relative()) {
            Ok(stat) => Ok(Some(stat)),
            Err(failure) if failure.is_missing() => Ok(None),
            Err(failure) => Err(AccessError::from_failure(failure, entry.asked())),
        }
    }

    /// Lists an entry with everything below it, at most 20,000 entries.
    ///
    /// # Errors
    /// When policy or the boundary of a root forbids the purpose for any entry in it.
    pub fn tree(&self, entry: &WritablePath, purpose: Purpose<'_>) -> Result<Tree, AccessError> {
        let top = Location { real: entry.path().clone(), aliases: entry.aliases().to_vec() };
        Scan { shared: &self.shared, top: &top, asked: entry.asked(), purpose }.run()
    }

    /// As [`Workspace::tree`], of what may only be read: the source of a copy, links at the end of
    /// the path followed.
    pub fn tree_to_copy(&self, path: &WorkspacePath, to: &WritablePath) -> Result<Tree, AccessError> {
        let top = self.shared.locate(path)?;
        Scan { shared: &self.shared, top: &top, asked: path, purpose: Purpose::Copy(to) }.run()
    }
}
