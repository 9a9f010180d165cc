//! The lock of one file, from before its content is looked at until it is replaced.

use std::sync::Arc;

use crate::{AccessError, Shared, Workspace};

use super::expected_content::ExpectedContent;
use super::{Base, EntryLocks, HashedBytes, WaitLimit, WritablePath, WriteGuard};

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
    /// `Stopped`, `TooManyWaiting` or `Locked` when it is not free within `wait_limit`.
    pub fn acquire(workspace: &Workspace, path: WritablePath, wait_limit: &WaitLimit) -> Result<Self, AccessError> {
        let shared = Arc::clone(&workspace.shared);
        let held = workspace
            .hold_recovered(&[path.path()], wait_limit)
            .map_err(|kind| AccessError::new(kind, path.asked()))?;
        Ok(Self { shared, path, held: Arc::new(held) })
    }

    /// The right to replace the file, if it equals `base`. The lock stays when it does not, and when the
    /// change that was begun with it fails.
    ///
    /// # Errors
    /// `Stale` when its content differs or it is gone, `Exists` when something is there that was not.
    pub fn guard(&self, base: Base) -> Result<WriteGuard<'static>, AccessError> {
        self.checked(base.expected())
    }

    /// As [`Self::guard`], for a file that must hold just that, which saves hashing what is there.
    pub fn guard_over<'b>(&self, now: HashedBytes<'b>) -> Result<WriteGuard<'b>, AccessError> {
        self.checked(Some(ExpectedContent::Bytes(now)))
    }

    fn checked<'b>(&self, base: Option<ExpectedContent<'b>>) -> Result<WriteGuard<'b>, AccessError> {
        WriteGuard::checked(Arc::clone(&self.shared), self.path.clone(), base, Arc::clone(&self.held))
    }
}

impl WriteGuard<'static> {
    /// Waits for the file's lock, then checks that the file still equals `base`: `Stale` when its
    /// content differs or it is gone, `Exists` when something is there that was not.
    pub fn acquire(workspace: &Workspace, path: WritablePath, base: Base) -> Result<Self, AccessError> {
        Self::acquire_within(workspace, path, base, &WaitLimit::default())
    }

    /// As [`Self::acquire`]; `Stopped`, `TooManyWaiting` or `Locked` when the lock is not free within `wait_limit`.
    pub fn acquire_within(
        workspace: &Workspace,
        path: WritablePath,
        base: Base,
        wait_limit: &WaitLimit,
    ) -> Result<Self, AccessError> {
        FileLock::acquire(workspace, path, wait_limit)?.guard(base)
    }
}
