//! Replacing a file: whole, atomically, and only when it is still what the plan saw.
//!
//! Bytes in, a file out. The temporary file is in the target's own directory handle, so neither a swapped parent nor a
//! planted link moves the write. What to write is decided above.
//!
//! Limits: other programs take no part in these locks, so what one of them writes between the last comparison and the
//! rename is found out only where names can be exchanged (renameat2(2), Linux 3.15 and a file system that has it; APFS
//! on macOS). A replaced file is another inode: other hard links keep the old content, and a program that has the old
//! file open keeps reading it.

mod content;
mod directory_locks;
mod entry_locks;
mod host_file;
mod new_directories;
mod path_locks;
mod temporary;
mod writable_path;
mod write_guard;

pub use content::{Approval, Base, HashedBytes, NewContent};
pub(super) use content::{check_sentinels, is_unchanged};
pub(super) use directory_locks::DirectoryLocks;
pub(super) use entry_locks::EntryLocks;
pub use host_file::{HostFile, host_directory, host_path_exists};
pub use new_directories::NewDirectory;
pub(super) use new_directories::{NewDirs, make_dirs, new_holder, remove_made};
pub(super) use path_locks::PathLocks;
pub use path_locks::WaitLimit;
pub use temporary::StaleAfter;
pub(super) use temporary::{
    Exchanged, StaleTemporaries, Temporary, free_name, is_reserved, is_temporary, keep_aside, random, swap_if,
    transaction_name,
};
pub use writable_path::WritablePath;
pub(super) use writable_path::{WriteScope, allowed, entry_in_parent, not_named, writable};
pub(super) use write_guard::fill;
pub use write_guard::{Committed, FileLock, PreviousFile, WriteGuard, closing_late};
