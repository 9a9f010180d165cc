//! The disk and the history as the call that undoes may see and change them.

use std::{ffi::OsString, io};

use confined_fs::{FileKind, Node, Purpose, Revision, Stat, Tree, WorkspacePath, WritablePath};

use super::super::{
    CallContext,
    commit::{self, ChangedPart},
};

/// The disk as a call sees it. Everything that its policy does not let it change is as if nothing were there.
#[derive(Clone, Copy)]
pub(super) struct DiskOfCall<'c>(pub(super) &'c CallContext);

impl DiskOfCall<'_> {
    /// The entry itself. None where the way to it is no longer the one that it was, as when a directory was replaced
    /// with a link.
    fn entry(self, path: &WorkspacePath) -> Option<WritablePath> {
        self.0.workspace.writable_entry(path).ok().filter(|entry| entry.path() == path)
    }

    fn tree(self, path: &WorkspacePath) -> Option<Tree> {
        self.0.workspace.tree(&self.entry(path)?, Purpose::Remove).ok()
    }

    /// The metadata of the entry at a path, links not followed; `None` where nothing is.
    pub(super) fn stat(self, path: &WorkspacePath) -> Option<Stat> {
        // Not as an entry, which a masked file is not.
        let content = || self.0.workspace.writable(path).ok().filter(|target| target.path() == path);
        let target = self.entry(path).or_else(content)?;
        self.0.workspace.entry_stat(&target).ok().flatten()
    }

    /// The kind of entry at a path, links not followed; `None` where nothing is.
    pub(super) fn kind(self, path: &WorkspacePath) -> Option<FileKind> {
        // A root is no entry of its own that could be written.
        if path.is_root() { Some(FileKind::Directory) } else { self.stat(path).map(|stat| stat.kind) }
    }

    /// The permission bits of a directory; 0 where they are not known.
    pub(super) fn mode(self, directory: &WorkspacePath) -> u32 {
        self.stat(directory).map_or(0, |stat| stat.permissions())
    }

    /// The names in a directory; `None` if they cannot be known.
    pub(super) fn names(self, directory: &WorkspacePath) -> Option<Vec<OsString>> {
        let tree = self.tree(directory)?;
        let inside = tree.entries().iter().filter(|entry| entry.position.depth == 1);
        Some(inside.map(|entry| entry.position.name.clone()).collect())
    }

    /// The target of a link; `None` for anything else.
    pub(super) fn target(self, path: &WorkspacePath) -> Option<OsString> {
        match self.tree(path)?.node() {
            Node::Link(target) => Some(target.clone()),
            _ => None,
        }
    }

    /// Whether the file there has this content, or is in the state with this mark where it is masked.
    pub(super) fn holds(self, path: &WorkspacePath, state: Revision) -> bool {
        let hashed = || -> io::Result<bool> {
            let mut file = self.0.workspace.open_file(path).map_err(io::Error::other)?;
            Ok(Revision::of_reader(&mut file)? == state)
        };
        self.kind(path) == Some(FileKind::File)
            // What cannot be read is not known to be what the change left, and so is left alone.
            && (self.0.workspace.masked_state(path).is_ok_and(|now| now == Some(state)) || hashed().unwrap_or(false))
    }

    /// Whether a content is still kept.
    pub(super) fn is_kept(self, revision: Revision) -> bool {
        self.0.session.history.has_content(revision)
    }

    /// Why a path may not be changed, if it may not.
    pub(super) fn refusal(self, path: &WorkspacePath, part: ChangedPart) -> Option<String> {
        match commit::writable(self.0, path, part) {
            Ok(target) if target.path() == path => None,
            Ok(_) => Some("a link leads elsewhere now".to_owned()),
            Err(_) => Some("it may not be changed".to_owned()),
        }
    }

    /// The mark of the file that is there ([`Tree::content_mark`]).
    pub(super) fn file_mark(self, path: &WorkspacePath) -> Option<Revision> {
        Some(self.tree(path)?.content_mark())
    }
}
