//! The locks of some entries: no other call and no other process of this program changes them meanwhile.

use std::path::{Path, PathBuf};

use super::directory_locks::{DirectoryLocks, LockedDirectories};
use super::path_locks::{PathLock, PathLocks, WaitLimit};
use crate::{AccessErrorKind, Shared, WorkspacePath};

/// The locks of entries: on their paths within this process, and on the directories that hold them, which
/// other processes take, too. Within the process a lock covers what is below its path, as well.
#[derive(Debug)]
pub(crate) struct EntryLocks {
    // In this order: who waits for the path shares the directory then, and both counts as one turn.
    _paths: PathLock,
    directories: LockedDirectories,
    entries: Vec<WorkspacePath>,
}

impl EntryLocks {
    /// Waits for all of them.
    ///
    /// # Errors
    /// `Stopped` when the wait limit ends first, `TooManyWaiting` where too many wait already, `Locked` when another
    /// process does not free a directory, `Limit` where too many files are open.
    pub(crate) fn hold(
        shared: &Shared,
        entries: &[&WorkspacePath],
        wait_limit: &WaitLimit,
    ) -> Result<Self, AccessErrorKind> {
        let hosts: Vec<PathBuf> = entries.iter().map(|entry| entry.host()).collect();
        let paths: Vec<&Path> = hosts.iter().map(PathBuf::as_path).collect();
        let paths = PathLocks::lock_all(&shared.path_locks, &paths, wait_limit)?;
        let directories = DirectoryLocks::lock_holding(&shared.directory_locks, entries, wait_limit)?;
        let entries = entries.iter().map(|entry| (*entry).clone()).collect();
        Ok(Self { _paths: paths, directories, entries })
    }

    /// How many of the directories above one of the entries were there when its place was locked.
    pub(crate) fn there(&self, entry: &WorkspacePath) -> usize {
        let at = self.entries.iter().position(|own| own == entry);
        at.and_then(|at| self.directories.there.get(at)).copied().unwrap_or(0)
    }
}
