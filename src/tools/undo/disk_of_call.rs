//! The disk and the history as the call that undoes may see and change them.

use std::{ffi::OsString, io};

use confined_fs::{AccessError, AccessErrorKind, FileKind, Node, Purpose, Revision, WorkspacePath, WritablePath};

use super::{
    super::CallContext,
    planner::{ChangedPart, DiskAndHistory},
    virtual_tree::Disk,
};

/// The disk as a call sees it. Everything that its policy does not let it change is as if nothing were there.
pub(super) struct DiskOfCall<'c>(pub(super) &'c CallContext);

impl DiskOfCall<'_> {
    /// The path as one that may be changed, also where a file is in the place of one of its directories now.
    pub(super) fn writable(&self, path: &WorkspacePath, part: ChangedPart) -> Result<WritablePath, AccessError> {
        let workspace = &self.0.workspace;
        let target = match part {
            ChangedPart::Content => workspace.writable(path),
            ChangedPart::Entry => workspace.writable_entry(path),
        };
        match target {
            Err(error) if error.kind == AccessErrorKind::NotADirectory => {
                workspace.writable_in_place_of_file(path, part == ChangedPart::Content)
            }
            target => target,
        }
    }

    /// The entry itself. None where the way to it is no longer the one that it was, as when a directory was replaced
    /// with a link.
    fn entry(&self, path: &WorkspacePath) -> Option<WritablePath> {
        self.0.workspace.writable_entry(path).ok().filter(|entry| entry.path() == path)
    }
}

impl Disk for DiskOfCall<'_> {
    fn kind(&self, path: &WorkspacePath) -> Option<FileKind> {
        if path.is_root() {
            return Some(FileKind::Directory);
        }
        // Not as an entry, which a masked file is not.
        let content = || self.0.workspace.writable(path).ok().filter(|target| target.path() == path);
        let target = self.entry(path).or_else(content)?;
        self.0.workspace.entry_stat(&target).ok().flatten().map(|stat| stat.kind)
    }

    fn mode(&self, directory: &WorkspacePath) -> u32 {
        let stat = self.entry(directory).and_then(|entry| self.0.workspace.entry_stat(&entry).ok().flatten());
        stat.map_or(0, |stat| stat.permissions())
    }

    fn names(&self, directory: &WorkspacePath) -> Option<Vec<OsString>> {
        let entry = self.entry(directory)?;
        let tree = self.0.workspace.tree(&entry, Purpose::Remove).ok()?;
        let inside = tree.entries().iter().filter(|entry| entry.position.depth == 1);
        Some(inside.map(|entry| entry.position.name.clone()).collect())
    }

    fn target(&self, path: &WorkspacePath) -> Option<OsString> {
        let tree = self.0.workspace.tree(&self.entry(path)?, Purpose::Remove).ok()?;
        match tree.node() {
            Node::Link(target) => Some(target.clone()),
            _ => None,
        }
    }
}

impl DiskAndHistory for DiskOfCall<'_> {
    fn holds(&self, path: &WorkspacePath, state: Revision) -> bool {
        let hashed = || -> io::Result<bool> {
            let mut file = self.0.workspace.open_file(path).map_err(io::Error::other)?;
            Ok(Revision::of_reader(&mut file)? == state)
        };
        self.kind(path) == Some(FileKind::File)
            && (self.0.workspace.masked_state(path).is_ok_and(|now| now == Some(state)) || hashed().unwrap_or(false))
    }

    fn is_kept(&self, revision: Revision) -> bool {
        self.0.session.history.has_content(revision)
    }

    fn refusal(&self, path: &WorkspacePath, part: ChangedPart) -> Option<String> {
        match self.writable(path, part) {
            Ok(target) if target.path() == path => None,
            Ok(_) => Some("a link leads elsewhere now".to_owned()),
            Err(_) => Some("it may not be changed".to_owned()),
        }
    }

    fn file_mark(&self, path: &WorkspacePath) -> Option<Revision> {
        Some(self.0.workspace.tree(&self.entry(path)?, Purpose::Remove).ok()?.content_mark())
    }
}
