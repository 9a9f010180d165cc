//! Directory handles on Windows: opens below a handle by `NtCreateFile`, changes of names by the directory's own path.
//!
//! cap-primitives (of cap-std) opens a name below an open directory and follows no link here. The system has no such call
//! for renames and removals without `unsafe`, so these take a path: the one that the system itself gives for the open
//! directory. Directories are opened without `FILE_SHARE_DELETE`, so that neither they nor a directory above can be moved
//! or replaced between the question and the change
//! ([CreateFileW](https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-createfilew)). These paths begin with
//! `\\?\`: they may be longer than 260 characters, and no name in them is read as a device or cut at its end
//! ([limits](https://learn.microsoft.com/windows/win32/fileio/maximum-file-path-limitation)).
//!
//! Limits: a file that is replaced loses its explicit access rights (it inherits those of the directory) and its alternate
//! streams; no exchange of two names; a moved or deleted directory must not be open in another program.

mod busy;
mod dir;
mod directory_lock;
mod entries;
mod fstat;

use std::{fs::File, io};

pub use busy::is_in_use;
pub use dir::{Dir, canonical};
pub use fstat::{carry_attributes, file_stat, identity, next_data, next_hole, set_mode};

/// `N` random bytes; `None` where the system gives none.
pub fn random_bytes<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes)
}

/// This system has no such signal.
pub fn survive_large_writes() {}

/// This system has no such limit.
pub fn raise_open_files() {}

/// This system has no such limit.
pub fn file_size_limit() -> Option<u64> {
    None
}

/// This system has no such limit.
pub fn open_files() -> Option<u64> {
    None
}

/// Whether an answer says that this process may open no more files: `ERROR_TOO_MANY_OPEN_FILES`.
pub fn is_process_file_limit(error: &io::Error) -> bool {
    error.raw_os_error() == Some(4)
}

/// This system has no such limit.
pub fn is_system_file_limit(_: &io::Error) -> bool {
    false
}

/// `LockFileEx` locks against writers, not only against others that lock; at worst two processes set a log aside at
/// once.
pub fn try_lock(_file: &File) -> bool {
    true
}
