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

#![expect(missing_docs, reason = "documented where the same is there for Unix")]

mod dir;
mod entries;
mod fstat;

use std::{fs::File, io, thread, time::Duration};

pub use dir::{Dir, canonical};
pub use fstat::{file_stat, identity, next_data, next_hole, set_mode};

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

/// None is refused for their number.
pub fn refused_opens() -> u64 {
    0
}

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

/// `ERROR_ACCESS_DENIED`: also the answer for a target that is open, and for one that is being deleted.
const ACCESS_DENIED: i32 = 5;
/// `ERROR_SHARING_VIOLATION`, `ERROR_LOCK_VIOLATION`, `ERROR_DELETE_PENDING`, `ERROR_USER_MAPPED_FILE`.
const IN_USE: [i32; 4] = [32, 33, 303, 1224];
/// `ERROR_DIR_NOT_EMPTY`: what was deleted in it goes once the last program closes it.
const NOT_EMPTY: i32 = 145;

/// Each pause is twice the one before, up to this one.
const LONGEST_PAUSE: Duration = Duration::from_millis(16);
/// How many there are, three quarters of a second in all: many, as one reader after the other may have a file open that
/// several processes read and append to, and an attempt needs a moment when none has.
const MAX_PAUSES: usize = 50;

/// Whether an error says that another program has the file or directory open.
pub fn is_in_use(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| IN_USE.contains(&code))
}

/// Tries again for three quarters of a second while another program may have the file open.
///
/// A virus scanner or an indexer opens a file just after it was written, often without `FILE_SHARE_DELETE`, and until it
/// closes it the file can be neither replaced nor removed. rustup, npm and VS Code try again, too
/// (<https://github.com/rust-lang/rustup/issues/1912>). Wine, FAT and network drives have no POSIX renames (Windows 10 1809,
/// NTFS: [FILE_RENAME_INFORMATION](https://learn.microsoft.com/windows-hardware/drivers/ddi/ntifs/ns-ntifs-_file_rename_information)),
/// so a reader in this process is enough there.
fn retried<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut pause = Duration::from_millis(1);
    for _ in 0..MAX_PAUSES {
        match attempt() {
            Err(error) if may_end(&error) => thread::sleep(pause),
            answer => return answer,
        }
        pause = LONGEST_PAUSE.min(pause * 2);
    }
    attempt()
}

fn may_end(error: &io::Error) -> bool {
    is_in_use(error) || matches!(error.raw_os_error(), Some(ACCESS_DENIED | NOT_EMPTY))
}
