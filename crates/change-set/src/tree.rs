//! Whole entries (a file, a link, or a directory with all below it): what they are, their listing, and how one is built.
//!
//! Unlike a write, none of these follows a link at the end of its path: the link is the entry. A tree is listed first
//! and judged as a whole; whatever policy protects in it refuses all of it. What is made is built under a temporary
//! name and appears at once, by one rename.
//!
//! Limits: at most 20,000 entries in one change. A removal is one system call for each entry, so that a failure in the
//! middle leaves a part, which the error says. Special files are moved, not copied; hard links are kept by a rename alone.

mod create;
mod entry_state;
mod listing;

use std::ffi::{OsStr, OsString};
use std::{io, path::Path};

use crate::{workspace::Workspace, write::WritablePath};
use confined_fs::{
    AccessError, AccessErrorKind, WorkspacePath,
    for_changes::{AtPath as _, Location},
};

use beneath::{Dir, FileKind, OpenFor, Stat, lexical::is_same_name};
use confined_fs::for_changes::IfThere as _;
pub use create::{CreatedTree, NewNode};
pub(crate) use create::{NewNodes, NewTree, build, copy_file, new_node};
pub use entry_state::{AppendedPart, EditedPart, EntryChange, EntryState, FileState, Rights, narrower};
pub(crate) use listing::Scan;
pub use listing::{Node, Purpose, Tree, TreeEntry, TreePosition};

impl Workspace {
    /// The path as an entry that may be made, moved or deleted: as [`Workspace::writable`], but a
    /// link at its end is not followed. A root itself is refused.
    pub fn writable_entry(&self, path: &WorkspacePath) -> Result<WritablePath, AccessError> {
        let is_root = || AccessError::new(AccessErrorKind::IsRoot, path);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            self.shared.stat(path)?;
            return Err(is_root());
        };
        let parent = self.shared.locate(&parent)?;
        let way = self.shared.location_below(&parent, Path::new(&spelling(&parent.real, name)));
        if way.real.is_root() {
            let gone = way.real.root().absence().filter(|_| way.real.root().is_optional());
            return Err(gone.map_or_else(is_root, |gone| AccessError::new(AccessErrorKind::RootGone(gone), &way.real)));
        }
        WritablePath::new(path, way)
    }

    /// As [`Self::writable_entry`], of a path with a file where one of its directories is to be: for a change that takes
    /// that file away and makes the directory.
    pub fn writable_in_place_of_file(&self, path: &WorkspacePath) -> Result<WritablePath, AccessError> {
        let is_directory = |above: &WorkspacePath| {
            let way = self.shared.locate(above).ok()?;
            let stat = way.real.root().dir().stat_beneath(way.real.relative()).ok()?;
            (stat.kind == FileKind::Directory).then_some(way)
        };
        let mut above = std::iter::successors(path.parent(), WorkspacePath::parent);
        let found = above.find_map(|above| Some((is_directory(&above)?, above)));
        let Some((way, above)) = found else { return self.writable_entry(path) };
        WritablePath::new(path, self.shared.location_below(&way, path.relative_to(&above)))
    }

    /// The path as the new name of `from`, where it differs from the old one in case alone and the file system finds
    /// `from` by both: NTFS, APFS and FAT do.
    pub fn respelled(&self, from: &WritablePath, path: &WorkspacePath) -> Option<WritablePath> {
        let (parent, name) = (path.parent()?, path.file_name()?);
        let way = self.shared.location_below(&self.shared.locate(&parent).ok()?, Path::new(name));
        let old = from.path();
        let is_near = way.real != *old && way.real.parent() == old.parent();
        let dir = way.real.root().dir().dir_beneath(way.real.parent()?.relative(), OpenFor::List).ok()?;
        let is_respelled = is_near && is_respelling(&dir, old.file_name()?, name);
        is_respelled.then(|| WritablePath::new(path, way).ok()).flatten()
    }

    /// Looks at an entry itself, links not followed; `None` where nothing is.
    pub fn entry_stat(&self, entry: &WritablePath) -> Result<Option<Stat>, AccessError> {
        let real = entry.path();
        real.root().dir().stat_beneath(real.relative()).if_there().at(entry.asked())
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

/// How a name in a real directory is spelled there.
fn spelling(parent: &WorkspacePath, name: &OsStr) -> OsString {
    let own = || parent.root().dir().dir_beneath(parent.relative(), OpenFor::Traverse).ok()?.spelling(name);
    // Only Windows says it.
    cfg!(windows).then(own).flatten().unwrap_or_else(|| name.to_os_string())
}

/// Whether `to` leads to the entry called `from` and to no other: on a file system that tells cases apart, two hard
/// links may have such names.
pub(crate) fn is_respelling(dir: &Dir, from: &OsStr, to: &OsStr) -> bool {
    let is_same = || dir.child_stat(from).ok()?.same_file(&dir.child_stat(to).ok()?).then_some(());
    from != to && is_same_name(from, to) && is_same().is_some() && is_listed(dir, to).is_ok_and(|listed| !listed)
}

/// Whether the directory lists just that name.
pub(crate) fn is_listed(dir: &Dir, name: &OsStr) -> io::Result<bool> {
    Ok(dir.list()?.iter().any(|listed| listed.name == name))
}
