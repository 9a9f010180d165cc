//! One entry that a transaction changes, and how it can be recognised.
//!
//! The steps of a transaction are all that rolling back needs: they are what its intent holds.

use std::ffi::{OsStr, OsString};
use std::io;

use beneath::FileKind;

use crate::write::hash;
use crate::{Dir, Revision, WorkspacePath};

/// What an entry is, as far as it can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// A regular file with this content.
    File(Revision),
    /// A link with this target.
    Link(OsString),
    /// A directory. What it holds is not compared.
    Directory,
}

impl EntryState {
    /// Whether the entry of this name is in this state; false where there is none.
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
pub(super) enum StepAction {
    /// A file gets another content.
    Replace { old: Revision, new: Revision },
    /// The entry is removed.
    Remove { was: EntryState },
    /// The entry gets another path and keeps its device and inode.
    Move { to: WorkspacePath, was: EntryState, identity: (u64, u64) },
    /// An entry is made where there is none, or where the same transaction removes it.
    Create { is: EntryState },
}

/// One step. Its place in the list of all gives it two names: see `Steps::new_name` and `Steps::old_name`.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) path: WorkspacePath,
    pub(super) action: StepAction,
}
