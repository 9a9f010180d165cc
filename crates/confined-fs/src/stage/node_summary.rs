//! What is at a path, in so few words that a record can keep it and two of them can be compared.

use std::ffi::OsStr;
use std::io;

use beneath::FileKind;

use crate::Revision;

/// What the disk or a layer has at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeSummary {
    /// Nothing.
    Absent,
    /// A file with this content and these permission bits.
    File(Revision, u32),
    /// A link whose target has this hash.
    Link(Revision),
    /// A directory.
    Directory,
    /// A FIFO, socket or device.
    Other,
}

impl NodeSummary {
    /// What `dir` has under a name.
    pub(super) fn of(dir: &beneath::Dir, name: &OsStr) -> io::Result<Self> {
        let stat = match dir.child_stat(name) {
            Ok(stat) => stat,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Absent),
            Err(error) => return Err(error),
        };
        Ok(match stat.kind {
            FileKind::File => Self::File(Revision::of_reader(&mut dir.child_file(name)?)?, stat.permissions()),
            FileKind::Directory => Self::Directory,
            FileKind::Symlink => Self::Link(Revision::of(dir.child_link(name)?.as_encoded_bytes())),
            FileKind::Other => Self::Other,
        })
    }

    /// Whether both are the same but for permission bits.
    pub fn same_content(self, other: Self) -> bool {
        match (self, other) {
            (Self::File(one, _), Self::File(other, _)) => one == other,
            (one, other) => one == other,
        }
    }
}
