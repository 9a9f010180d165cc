//! Replacing a file: whole, atomically, and only when it is still what the plan saw.
//!
//! Bytes in, a file out. The temporary file is in the target's own directory handle, so neither a swapped parent nor a
//! planted link moves the write. What to write is decided above.
//!
//! Limits: other programs take no part in these locks, so what one of them writes between the last comparison and the
//! rename is found out only where names can be exchanged (renameat2(2), Linux 3.15 and a file system that has it; APFS
//! on macOS). A replaced file is another inode: other hard links keep the old content, which the answer says, and a program
//! that has the old file open keeps reading it. So what is appended goes to the file itself.

mod content;
mod directory_locks;
mod host_file;
mod new_directories;
mod path_locks;
mod replacement;
mod temporary;
mod writable_path;
mod write_guard;

use std::path::{Path, PathBuf};

use crate::workspace::Shared;
use confined_fs::{AccessErrorKind, WorkspacePath};
use directory_locks::LockedDirectories;
use path_locks::PathLock;

pub(super) use content::is_unchanged;
pub use content::{Approval, Base, HashedBytes, NewContent};
pub(super) use directory_locks::DirectoryLocks;
pub use host_file::{HostFile, host_directory, host_path_exists};
pub use new_directories::NewDirectory;
pub(super) use new_directories::{OpenDirectory, remove_made};
pub(super) use path_locks::PathLocks;
pub use path_locks::WaitLimit;
pub(super) use replacement::{NewPlace, Replacement, may_be_in_place, may_go_on_as, may_write, not_replaced};
pub use temporary::StaleAfter;
pub(super) use temporary::{Exchanged, StaleTemporaries, Temporary, free_name, keep_aside, random, swap_if};
pub use writable_path::WritablePath;
pub(super) use writable_path::{allowed, entry_in_parent, not_named};
pub use write_guard::{AppendedBytes, Committed, FileLock, PreviousFile, WriteGuard, closing_late};

/// The locks of some entries, which no other call and no other process of this program changes meanwhile: on their paths within this process, and on the directories that hold them, which
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
