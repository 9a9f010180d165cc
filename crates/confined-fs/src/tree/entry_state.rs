//! The state of an entry (a file, a link, a directory) as every change compares it, keeps it and writes it into the journal.

use std::ffi::{OsStr, OsString};
use std::io;

use beneath::FileKind;

use crate::{Dir, Revision, limits::IfThere as _};

/// An entry as a change finds or leaves it. Permission bits are 0 where they are not known, or left to the umask, and are
/// not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// A regular file, with its content.
    File(FileState),
    /// A link with this target.
    Link(OsString),
    /// A directory. Its entries are not compared.
    Directory {
        /// The lower nine bits of its mode.
        mode: u32,
    },
}

/// A regular file as a change finds or leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileState {
    /// The hash of the content on the disk.
    pub revision: Revision,
    /// Permission bits; 0 where the system has none.
    pub mode: u32,
}

impl From<Revision> for EntryState {
    /// A file with this content, whatever its rights.
    fn from(revision: Revision) -> Self {
        Self::File(FileState { revision, mode: 0 })
    }
}

impl EntryState {
    /// Whether the entry of this name is in this state; false where there is none.
    pub(crate) fn is_at(&self, dir: &Dir, name: &OsStr) -> io::Result<bool> {
        let Some(stat) = dir.child_stat(name).if_there()? else { return Ok(false) };
        match (self, stat.kind) {
            (Self::File(file), FileKind::File) => Ok(Revision::of_reader(&mut dir.child_file(name)?)? == file.revision),
            (Self::Link(target), FileKind::Symlink) => Ok(dir.child_link(name)? == *target),
            (Self::Directory { .. }, FileKind::Directory) => Ok(true),
            _ => Ok(false),
        }
    }
}
