//! The state of an entry (a file, a link, a directory) as every change compares it, keeps it and writes it into the journal.

use std::ffi::{OsStr, OsString};
use std::io;

use beneath::{FileKind, OpenFor, Stat};

use beneath::Dir;
use confined_fs::{Revision, WorkspacePath, for_changes::IfThere as _};

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
        /// The lower nine bits of its mode, and the sticky bit.
        mode: u32,
    },
}

/// A regular file as a change finds or leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileState {
    /// The hash of the content on the disk.
    pub revision: Revision,
    /// Permission bits, as [`mode_when_recreated`] has them; 0 where the system has none.
    pub mode: u32,
}

/// The permission bits that the entry at a real path, which is `stat`, may have when it is made again, so that nobody has
/// more rights than now. `gone`: the path above it that is made again as well, if any.
pub fn mode_when_recreated(path: &WorkspacePath, stat: &Stat, gone: Option<&WorkspacePath>) -> u32 {
    let root = path.root().dir();
    let look = || {
        let parent = gone.unwrap_or(path).parent()?;
        let file = root.file_beneath(path.relative()).ok()?;
        let parent = root.dir_beneath(parent.relative(), OpenFor::Traverse).ok()?;
        parent.mode_when_recreated(&file, stat).ok()
    };
    let own = stat.permissions() & 0o700;
    // What cannot be looked at may have an ACL.
    let mode = if own == stat.permissions() { own } else { look().unwrap_or(own) };
    let sticky = if stat.kind == FileKind::Directory { stat.mode() & 0o1000 } else { 0 };
    if mode == 0 && cfg!(unix) { NO_RIGHTS | sticky } else { mode | sticky }
}

/// `stat` of the file at a real path with the mode that it keeps when it gets a content whose file had at most these rights.
pub(crate) fn narrowed(path: &WorkspacePath, stat: &Stat, most: Option<u32>) -> Stat {
    let mut stat = stat.clone();
    if let Some(most) = most.filter(|most| mode_when_recreated(path, &stat, None) & !most != 0) {
        stat.identity.mode &= !0o777 | most;
    }
    stat
}

/// Permission bits in place of 0, which are rights that are not known: a bit that no permission has.
pub const NO_RIGHTS: u32 = 0o10000;

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
