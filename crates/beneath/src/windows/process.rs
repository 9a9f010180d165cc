//! Limits of the process, of which this system has one.

use std::{fs::File, io};

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
