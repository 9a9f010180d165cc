//! Directory handles: every system call of the sandbox, one component or one confined path at a time.
//!
//! Knows no roots, no policy and no public paths. A name given here is a single component, a
//! relative path holds only normal components; both come out of `resolve` or out of a listing.

#[cfg(unix)]
mod attributes;
mod component;
#[cfg(unix)]
mod entries;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

use std::ffi::OsString;
use std::io;

use super::stat::FileKind;

#[cfg(unix)]
pub(crate) use attributes::carry_attributes;
#[cfg(unix)]
pub(crate) use entries::set_mode;
#[cfg(unix)]
pub(crate) use process::{file_size_limit, open_files, open_files_limit, raise_open_files, survive_large_writes};
#[cfg(unix)]
pub(crate) use unix::{Dir, file_stat, identity, identity_cached, met_a_link, try_lock};
#[cfg(not(unix))]
pub(crate) use windows::{Dir, carry_attributes, file_stat, identity, identity_cached, set_mode, try_lock};

/// Why something beneath a directory could not be opened.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A component is a symbolic link; the caller follows it in user space or gives up.
    Link,
    /// The system's own answer.
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Whether an open with links refused failed because of a link; this system does not say.
#[cfg(not(unix))]
pub(crate) fn met_a_link(_: &io::Error) -> bool {
    false
}

/// This system has no such signal.
#[cfg(not(unix))]
pub(crate) fn survive_large_writes() {}

/// This system has no such limit.
#[cfg(not(unix))]
pub(crate) fn raise_open_files() {}

/// This system has no such limit.
#[cfg(not(unix))]
pub(crate) fn file_size_limit() -> Option<u64> {
    None
}

/// This system has no such limit.
#[cfg(not(unix))]
pub(crate) fn open_files() -> Option<u64> {
    None
}

/// The limit of open files that an answer names: `ERROR_TOO_MANY_OPEN_FILES`.
#[cfg(not(unix))]
pub(crate) fn open_files_limit(error: &io::Error) -> Option<super::limits::Limit> {
    (error.raw_os_error() == Some(4)).then_some(super::limits::Limit::OpenFiles(None))
}

/// One name of a listing.
#[derive(Debug)]
pub(crate) struct Listed {
    /// The bare name, never `.` or `..`.
    pub(crate) name: OsString,
    /// What the name is; a link is a link.
    pub(crate) kind: FileKind,
}

/// What became of a try to lock a directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Locked {
    /// This handle has the lock until it is dropped.
    Here,
    /// Another handle has it, of this process or of another one.
    Elsewhere,
    /// This file system, or this system, has no such locks.
    Nowhere,
}

/// How a directory is going to be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Use {
    /// As the start of further opens; needs no read permission.
    Pass,
    /// Its names will be listed.
    List,
}
