//! The directories above what is written, and those that a change has made.

use std::{ffi::OsStr, path::Path};

use beneath::{Failure, FileKind, OpenFor, Stat};

use super::{EntryLocks, WritablePath, entry_in_parent};
use crate::workspace::Shared;
use beneath::Dir;
use confined_fs::{AccessError, AccessErrorKind, WorkspacePath};

/// A directory that a change has made, known by what it is and not by its name alone.
#[derive(Clone, Debug)]
pub struct NewDirectory {
    path: WorkspacePath,
    stat: Stat,
}

impl NewDirectory {
    /// The directory that was made at `path`, as it is.
    pub(crate) fn of(path: WorkspacePath, stat: Stat) -> Self {
        Self { path, stat }
    }

    /// Its device and inode, where the system has such numbers.
    pub fn identity(&self) -> Option<(u64, u64)> {
        Some(self.stat.device_and_inode()).filter(|identity| *identity != (0, 0))
    }

    /// Where it was made.
    pub fn path(&self) -> &WorkspacePath {
        &self.path
    }

    /// Removes it, if it is still the same one and empty; whether it is gone.
    pub(crate) fn remove(&self) -> bool {
        let (Some(parent), Some(name)) = (self.path.parent(), self.path.file_name()) else { return false };
        let Ok(dir) = self.path.root().dir().dir_beneath(parent.relative(), OpenFor::Traverse) else { return false };
        let is_own = dir.child_stat(name).is_ok_and(|now| now.kind == FileKind::Directory && now.same_file(&self.stat));
        // A swap after the look costs an empty directory at most: rmdir(2) removes nothing else.
        is_own && dir.remove_dir(name).is_ok()
    }
}

/// Removes directories that were made, the innermost first, up to one that holds something or is no longer the one
/// that was made; returns how many are gone.
pub(crate) fn remove_made(outermost_first: &[NewDirectory]) -> usize {
    outermost_first.iter().rev().take_while(|directory| directory.remove()).count()
}

/// An open directory. Those above it are open as well, so that none of them gets another name: on Windows alone, where
/// files are renamed and removed by the path of their directory's handle. NTFS keeps the names above an open handle by
/// itself; Wine and Samba rename what is above, and the handle says the old path.
pub(crate) struct OpenDirectory {
    pub(crate) dir: Dir,
    _above: Vec<Dir>,
}

impl OpenDirectory {
    pub(crate) fn at(path: &WorkspacePath) -> Result<Self, Failure> {
        let root = path.root().dir();
        let mut above = Vec::new();
        if !cfg!(windows) {
            return Ok(Self { dir: root.dir_beneath(path.relative(), OpenFor::Traverse)?, _above: above });
        }
        let mut dir = root.dir_beneath(Path::new(""), OpenFor::Traverse)?;
        for name in path.relative() {
            let next = dir.dir_beneath(Path::new(name), OpenFor::Traverse)?;
            above.push(std::mem::replace(&mut dir, next));
        }
        Ok(Self { dir, _above: above })
    }

    /// The directory that is to hold an entry, whose `locks` are held, and the entry's name in it; `None` where that
    /// directory is missing.
    /// Temporary files that an earlier process left in it are removed.
    ///
    /// # Errors
    /// `Changed` where it is gone since it was locked.
    pub(crate) fn holding<'e>(
        (shared, locks): (&Shared, &EntryLocks),
        entry: &'e WritablePath,
    ) -> Result<Option<(Self, &'e OsStr)>, AccessError> {
        let (parent, name) = entry_in_parent(entry)?;
        match Self::at(&parent) {
            Ok(holder) => {
                shared.stale_temporaries.sweep_once(&parent, &holder.dir);
                Ok(Some((holder, name)))
            }
            Err(failure) if failure.is_missing() => {
                let is_gone = locks.there(entry.path()) >= parent.relative().iter().count() && !parent.is_root();
                if is_gone { Err(AccessError::new(AccessErrorKind::Changed, entry.asked())) } else { Ok(None) }
            }
            Err(failure) => Err(AccessError::from_failure(failure, entry.asked())),
        }
    }
}
