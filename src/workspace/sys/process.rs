//! What the system lets this process do: resource limits and the signals that they send.

use std::io;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::workspace::limits::Limit;

/// Open files at most: enough for all calls that run at once, and no more than macOS takes
/// (`OPEN_MAX` in its `sys/syslimits.h`), whose hard limit says "unlimited".
const OPEN_FILES: u64 = 10_240;

/// Handles SIGXFSZ, so that a write beyond RLIMIT_FSIZE fails with EFBIG instead of ending the process.
pub(crate) fn survive_large_writes() {
    // What the handler notes is of no use: the write itself fails, with EFBIG.
    if let Err(error) = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default()) {
        tracing::warn!(%error, "SIGXFSZ cannot be handled; a write beyond ulimit -f ends the process");
    }
}

/// Raises the soft limit of open files, which select(2) keeps low and nothing here uses, to the hard one.
pub(crate) fn raise_open_files() {
    let limits = getrlimit(Resource::Nofile);
    let wanted = limits.maximum.map_or(OPEN_FILES, |hard| hard.min(OPEN_FILES));
    if limits.current.is_some_and(|soft| soft < wanted) {
        // Refused, it stays what it was.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limits.maximum });
    }
}

/// The limit of open files that an answer names.
pub(crate) fn open_files_limit(error: &io::Error) -> Option<Limit> {
    match Errno::from_io_error(error)? {
        Errno::MFILE => Some(Limit::OpenFiles(getrlimit(Resource::Nofile).current)),
        Errno::NFILE => Some(Limit::OpenFilesOfAll),
        _ => None,
    }
}

/// Bytes of the largest file that this process may write, where there is a limit.
pub(crate) fn file_size_limit() -> Option<u64> {
    getrlimit(Resource::Fsize).current
}
