//! One entry that a transaction changes, and how it can be recognised.
//!
//! The steps of a transaction are all that rolling back needs: they are what its intent holds.

use std::ffi::{OsStr, OsString};
use std::io;

use crate::workspace::write::hash;
use crate::workspace::{Dir, FileKind, Revision, WorkspacePath};

/// What an entry is, as far as it can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// A regular file with this content.
    File(Revision),
    /// A link that says this.
    Link(OsString),
    /// A directory. What it holds is not compared.
    Directory,
}

impl EntryState {
    /// Whether it is what has this name; false where nothing has.
    pub(super) fn is_at(&self, dir: &Dir, name: &OsStr) -> io::Result<bool> {
        let kind = match dir.child_stat(name) {
            Ok(stat) => stat.kind,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        match (self, kind) {
            (Self::File(revision), FileKind::File) => Ok(hash(&dir.child_file(name)?)? == *revision),
            (Self::Link(target), FileKind::Symlink) => Ok(dir.child_link(name)? == *target),
            (Self::Directory, FileKind::Directory) => Ok(true),
            _ => Ok(false),
        }
    }
}

/// What a transaction does with one entry.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// A file gets another content.
    Replace { old: Revision, new: Revision },
    /// It goes.
    Remove { was: EntryState },
    /// It keeps what it is, device and inode included, under another path.
    Move { to: WorkspacePath, was: EntryState, identity: (u64, u64) },
    /// It comes, where nothing is or what is there goes in the same transaction.
    Create { is: EntryState },
}

/// One step. Its place in the list of all gives it two names: see [`Step::new_name`].
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) path: WorkspacePath,
    pub(super) action: Action,
}
