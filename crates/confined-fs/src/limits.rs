//! What errors of the system mean: limits that it sets this process, its user or the file system, which are raised where
//! possible and named in errors.
//!
//! See `setrlimit(2)`. The process is prepared once, before anything is written and before any thread starts.

use std::{fmt, io};

/// Prepares the process for its limits: a write beyond `ulimit -f` becomes an error of that write
/// (EFBIG) instead of the end of the process (SIGXFSZ), and as many files may be open as the hard limit
/// of `ulimit -n` allows, up to some thousands. Call it before the first write.
pub fn prepare_process() {
    beneath::survive_large_writes();
    beneath::raise_open_files();
}

/// A limit of the system that an operation met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// EMFILE: files that this process may have open, where known.
    OpenFiles(Option<u64>),
    /// ENFILE: files that all processes may have open.
    OpenFilesOfAll,
    /// EFBIG: bytes of the largest file that this process may write, where that is known; else the
    /// file system's own limit.
    FileSize(Option<u64>),
    /// ENOSPC: the file system is full.
    Space,
    /// EDQUOT: the user's disk quota is used up.
    DiskQuota,
    /// ENOMEM, or an allocation that failed.
    Memory,
}

impl Limit {
    /// The limit that an error of the system is about, if it is about one.
    pub fn of(error: &io::Error) -> Option<Self> {
        match error.kind() {
            io::ErrorKind::StorageFull => Some(Self::Space),
            io::ErrorKind::QuotaExceeded => Some(Self::DiskQuota),
            io::ErrorKind::FileTooLarge => Some(Self::FileSize(beneath::file_size_limit())),
            io::ErrorKind::OutOfMemory => Some(Self::Memory),
            _ if beneath::is_process_file_limit(error) => Some(Self::open_files()),
            _ if beneath::is_system_file_limit(error) => Some(Self::OpenFilesOfAll),
            _ => None,
        }
    }

    /// As [`Self::of`], of open files alone: what cannot be opened now can be later.
    #[doc(hidden)]
    pub fn of_open_files(error: &io::Error) -> Option<Self> {
        Self::of(error).filter(|limit| limit.is_open_files())
    }

    pub fn open_files() -> Self {
        Self::OpenFiles(beneath::open_files())
    }

    /// Whether it is a limit of open files: a file that cannot be opened now can be opened later.
    pub fn is_open_files(self) -> bool {
        matches!(self, Self::OpenFiles(_) | Self::OpenFilesOfAll)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OpenFiles(Some(limit)) => write!(f, "the server may open only {limit} files at once (ulimit -n)"),
            Self::OpenFiles(None) => f.write_str("the server cannot open more files at once (ulimit -n)"),
            Self::OpenFilesOfAll => f.write_str("the whole system cannot open more files at once (fs.file-max)"),
            Self::FileSize(Some(limit)) => {
                write!(f, "the server may not write files of more than {limit} bytes (ulimit -f)")
            }
            Self::FileSize(None) => f.write_str("its file system does not allow files of that size"),
            Self::Space => f.write_str("its file system is full (no space left on the device)"),
            Self::DiskQuota => f.write_str("the disk quota of the server's user is used up"),
            Self::Memory => f.write_str("the server has no more memory (ulimit -v, or the container's limit)"),
        }
    }
}

/// An error of the system as text, without its number.
pub(crate) fn error_text(error: &io::Error) -> String {
    let text = error.to_string();
    // std puts the number there.
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut characters = text.chars();
    let lower = characters.next().map(|first| first.to_lowercase().chain(characters).collect());
    lower.unwrap_or_else(|| error.kind().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_named_and_system_error_has_no_number() {
        assert_eq!(Limit::of(&io::ErrorKind::StorageFull.into()), Some(Limit::Space));
        assert_eq!(Limit::of(&io::ErrorKind::NotFound.into()), None);
        let text = Limit::OpenFiles(Some(64)).to_string();
        assert_eq!(text, "the server may open only 64 files at once (ulimit -n)");
        #[cfg(target_os = "linux")]
        {
            for (number, said) in [(5, "input/output error"), (107, "transport endpoint is not connected")] {
                assert_eq!(error_text(&io::Error::from_raw_os_error(number)), said);
            }
            assert!(Limit::of(&io::Error::from_raw_os_error(24)).is_some_and(Limit::is_open_files));
            assert_eq!(Limit::of(&io::Error::from_raw_os_error(23)), Some(Limit::OpenFilesOfAll));
        }
    }
}
