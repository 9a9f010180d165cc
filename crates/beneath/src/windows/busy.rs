//! Files that another program has open for a moment.
//!
//! A virus scanner or an indexer opens a file just after it was written, often without `FILE_SHARE_DELETE`, and until it
//! closes it the file can be neither replaced nor removed. rustup, npm and VS Code try again, too
//! (<https://github.com/rust-lang/rustup/issues/1912>). Wine, FAT and network drives have no POSIX renames (Windows 10 1809,
//! NTFS: [FILE_RENAME_INFORMATION](https://learn.microsoft.com/windows-hardware/drivers/ddi/ntifs/ns-ntifs-_file_rename_information)),
//! so a reader in this process is enough there.

use std::io;
use std::thread;
use std::time::Duration;

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
const PAUSES: usize = 50;

/// Whether an error says that another program has the file or directory open.
pub fn is_in_use(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| IN_USE.contains(&code))
}

/// Tries again for three quarters of a second while another program may have the file open.
pub(super) fn retried<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut pause = Duration::from_millis(1);
    for _ in 0..PAUSES {
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
