//! The right to change whole entries, for as long as their locks are held.

use std::{ffi::OsString, sync::Arc};

use beneath::OpenFor;

use crate::write::{EntryLocks, NewDirs, allowed, make_dirs, remove_made, writable};
use crate::{
    AccessError, AccessErrorKind, Approval, AtPath as _, Dir, NewDirectory, Shared, WaitLimit, Workspace,
    WorkspacePath, WritablePath,
};

/// The locks of the entries that a change touches; nobody in this process changes them, or anything
/// below them, meanwhile, and no other process of this program changes what is in the same directories.
pub struct TreeGuard {
    pub(super) shared: Arc<Shared>,
    pub(super) wait_limit: WaitLimit,
    locks: EntryLocks,
}

impl TreeGuard {
    /// Waits for the locks of all entries at once.
    ///
    /// # Errors
    /// `TooManyWaiting` where too many calls wait already, `Locked` when another process does not free a directory.
    pub fn acquire(workspace: &Workspace, entries: &[&WritablePath]) -> Result<Self, AccessError> {
        Self::acquire_within(workspace, entries, WaitLimit::default())
    }

    /// As [`Self::acquire`]; `Stopped` when `wait_limit` ends first. What is built by this guard ends with
    /// it, too, as long as nothing of it can be seen.
    pub fn acquire_within(
        workspace: &Workspace,
        entries: &[&WritablePath],
        wait_limit: WaitLimit,
    ) -> Result<Self, AccessError> {
        let paths: Vec<&WorkspacePath> = entries.iter().map(|entry| entry.path()).collect();
        let shared = Arc::clone(&workspace.shared);
        let locks = workspace.hold_recovered(&paths, &wait_limit).map_err(|kind| match entries.first() {
            Some(entry) => AccessError::new(kind, entry.asked()),
            None => AccessError::new(kind, &workspace.root_path(&workspace.roots()[0])),
        })?;
        Ok(Self { shared, wait_limit, locks })
    }

    /// Makes a directory with all that are missing above it. Returns those that were made, the
    /// outermost first; none when it was there.
    pub fn make_directory(&self, entry: &WritablePath, _: Approval) -> Result<Vec<NewDirectory>, AccessError> {
        let real = entry.path();
        allowed(entry)?;
        Ok(make_dirs(real, entry.asked(), self.locks.there(real))?.1.keep())
    }

    /// Removes directories that a change has made, the innermost first, as long as they are empty and still the ones
    /// that it made; returns how many are gone.
    ///
    /// # Errors
    /// When the rights no longer allow it.
    pub fn remove_made(&self, outermost_first: &[NewDirectory], _: Approval) -> Result<usize, AccessError> {
        for made in outermost_first {
            writable(&self.shared, made.path())?;
        }
        Ok(remove_made(outermost_first))
    }

    /// The directory that holds an entry, and its name there. The rights are asked again, as a
    /// guard may be old by now.
    #[expect(clippy::unused_self, reason = "the guard itself is what entitles to the change")]
    pub(super) fn holder(&self, entry: &WritablePath) -> Result<(Dir, OsString), AccessError> {
        let (real, asked) = (entry.path(), entry.asked());
        allowed(entry)?;
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(AccessError::new(AccessErrorKind::IsRoot, asked));
        };
        let dir = real.root().dir.dir_beneath(parent.relative(), OpenFor::Traverse);
        Ok((dir.at(asked)?, name.to_os_string()))
    }

    /// As [`Self::holder`], making the directory where it is missing.
    pub(super) fn new_holder(&self, entry: &WritablePath) -> Result<(Dir, OsString, NewDirs), AccessError> {
        let (real, asked) = (entry.path(), entry.asked());
        allowed(entry)?;
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(AccessError::new(AccessErrorKind::IsRoot, asked));
        };
        let (dir, new) = make_dirs(&parent, asked, self.locks.there(real))?;
        self.shared.stale_temporaries.sweep_once(&parent, &dir);
        Ok((dir, name.to_os_string(), new))
    }
}
