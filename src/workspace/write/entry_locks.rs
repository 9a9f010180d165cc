//! The right to look at entries and then change them: nobody who takes it too does so meanwhile.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::error::{AccessError, AccessErrorKind};
use super::super::path::WorkspacePath;
use super::super::shared::{Shared, Workspace};
use super::directory_locks::{self, Directories};
use super::path_locks::{Lock, Locks};
use super::write_guard::Checked;
use super::{Base, Content, WaitLimit, WritablePath, WriteGuard};

/// The locks of entries: on their paths within this process, and on the directories that hold them, which
/// other processes take, too. Within the process a lock covers what lies below its path, as well.
#[derive(Debug)]
pub(in crate::workspace) struct EntryLocks {
    // In this order: who waits for the path shares the directory then, and both counts as one turn.
    _paths: Lock,
    directories: directory_locks::Locks,
    entries: Vec<WorkspacePath>,
}

impl EntryLocks {
    /// Waits for all of them.
    ///
    /// # Errors
    /// `Stopped` when the wait limit ends first, `Crowded` where too many wait already, `Locked` when another
    /// process does not free a directory, `Limit` where too many files are open.
    pub(in crate::workspace) fn hold(
        shared: &Shared,
        entries: &[&WorkspacePath],
        wait_limit: &WaitLimit,
    ) -> Result<Self, AccessErrorKind> {
        let hosts: Vec<PathBuf> = entries.iter().map(|entry| entry.host()).collect();
        let paths: Vec<&Path> = hosts.iter().map(PathBuf::as_path).collect();
        let paths = Locks::lock_all(&shared.locks, &paths, wait_limit)?;
        let directories = Directories::lock_holding(&shared.directories, entries, wait_limit)?;
        let entries = entries.iter().map(|entry| (*entry).clone()).collect();
        Ok(Self { _paths: paths, directories, entries })
    }

    /// How many of the directories above one of the entries were there when its place was locked.
    pub(in crate::workspace) fn there(&self, entry: &WorkspacePath) -> usize {
        let at = self.entries.iter().position(|own| own == entry);
        at.and_then(|at| self.directories.there.get(at)).copied().unwrap_or(0)
    }
}

/// One file that only the holder changes, as far as this program's processes go; what it holds has yet to
/// be looked at.
pub struct FileLock {
    shared: Arc<Shared>,
    path: WritablePath,
    held: Arc<EntryLocks>,
}

impl FileLock {
    /// Waits for it.
    ///
    /// # Errors
    /// `Stopped`, `Crowded` or `Locked` when it is not to be had within `wait_limit`.
    pub fn acquire(workspace: &Workspace, path: WritablePath, wait_limit: &WaitLimit) -> Result<Self, AccessError> {
        let shared = Arc::clone(&workspace.shared);
        let held = EntryLocks::hold(&shared, &[path.path()], wait_limit)
            .map_err(|kind| AccessError::new(kind, path.asked()))?;
        Ok(Self { shared, path, held: Arc::new(held) })
    }

    /// The right to replace the file, if it equals `base`. The lock stays when it does not, and when the
    /// change that was begun with it fails.
    ///
    /// # Errors
    /// `Stale` when its content differs or it is gone, `Exists` when something is there that was not.
    pub fn guard(&self, base: Base) -> Result<WriteGuard<'static>, AccessError> {
        let base = match base {
            Base::Absent => None,
            Base::Revision(revision) => Some(Checked::Revision(revision)),
        };
        self.checked(base)
    }

    /// As [`Self::guard`], for a file that must hold just that, which saves hashing what is there.
    pub fn guard_over<'b>(&self, now: Content<'b>) -> Result<WriteGuard<'b>, AccessError> {
        self.checked(Some(Checked::Content(now)))
    }

    fn checked<'b>(&self, base: Option<Checked<'b>>) -> Result<WriteGuard<'b>, AccessError> {
        WriteGuard::checked(Arc::clone(&self.shared), self.path.clone(), base, Arc::clone(&self.held))
    }
}

impl std::fmt::Debug for FileLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("FileLock").field(&self.path).finish()
    }
}
