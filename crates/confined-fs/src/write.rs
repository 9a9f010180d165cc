//! Replacing a file: whole, atomically, and only when it is still what the plan saw.
//!
//! Bytes in, a file out. The temporary file is in the target's own directory handle, so neither a swapped parent nor a
//! planted link moves the write. What to write is decided above.
//!
//! Limits: other programs take no part in these locks, so what one of them writes between the last comparison and the
//! rename is found out only where names can be exchanged (renameat2(2), Linux 3.15 and a file system that has it; APFS
//! on macOS). A replaced file is another inode: other hard links keep the old content, and a program that has the old
//! file open keeps reading it.

mod approval;
mod entry_locks;
mod expected_content;
mod host_file;
mod new_content;
mod new_directories;
mod temporary;
mod writable_path;
mod write_guard;

pub use approval::{Approval, Base};
pub(super) use entry_locks::{DirectoryLocks, EntryLocks, PathLocks};
pub use entry_locks::{MOST_WAITING, WaitLimit};
pub use expected_content::HashedBytes;
pub(super) use expected_content::{hash, is_unchanged};
pub use host_file::{HostFile, host_directory, host_path_exists};
pub use new_content::NewContent;
pub(super) use new_content::check_sentinels;
pub use new_directories::NewDirectory;
pub(super) use new_directories::{NewDirs, make_dirs, remove_made};
pub use temporary::StaleAfter;
pub(super) use temporary::{
    Exchanged, StaleTemporaries, Temporary, exchange_if, free_name, is_reserved, is_temporary, keep_aside, random,
    swap_if, transaction_name,
};
pub use writable_path::WritablePath;
pub(super) use writable_path::{WriteScope, allowed, writable};
pub use write_guard::{Committed, FileLock, PreviousFile, WriteGuard, closing_late};
pub(super) use write_guard::{PreparedFile, fill};
