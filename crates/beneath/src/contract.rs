//! What the directory handles of every system take and answer.

use std::{ffi::OsString, io};

#[cfg(unix)]
use rustix::fs::OFlags;

use crate::FileKind;

/// Why something beneath a directory could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A component is a symbolic link; the caller follows it in user space or gives up.
    #[error("a component is a symbolic link")]
    Link,
    /// The system's own answer.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Failure {
    /// Whether nothing is there.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

impl From<Failure> for io::Error {
    /// As the system says it of `O_DIRECTORY | O_NOFOLLOW` on a link (open(2)): `ENOTDIR`.
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Link => io::ErrorKind::NotADirectory.into(),
            Failure::Io(error) => error,
        }
    }
}

/// Whether an error says that nothing is there, or something on the way is no directory.
pub fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Makes an answer of "nothing is there" (`ENOENT`), which is no error where an entry need not exist.
pub trait IfThere<T, E> {
    /// `None` where the system finds no such entry.
    ///
    /// # Errors
    /// Every other error.
    fn if_there(self) -> Result<Option<T>, E>;
}

impl<T> IfThere<T, io::Error> for io::Result<T> {
    fn if_there(self) -> io::Result<Option<T>> {
        match self {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            answer => answer.map(Some),
        }
    }
}

impl<T> IfThere<T, Failure> for Result<T, Failure> {
    fn if_there(self) -> Result<Option<T>, Failure> {
        match self {
            Err(failure) if failure.is_missing() => Ok(None),
            answer => answer.map(Some),
        }
    }
}

/// One name of a listing.
#[derive(Debug)]
pub struct Listed {
    /// The bare name, never `.` or `..`.
    pub name: OsString,
    /// Its kind; a link is a link.
    pub kind: FileKind,
}

/// The result of an attempt to lock a directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockAttempt {
    /// This handle has the lock until it is dropped.
    Acquired,
    /// Another handle has it, of this process or of another one.
    HeldElsewhere,
    /// This file system, or this system, has no such locks.
    Unsupported,
}

/// The purpose that a directory is opened for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenFor {
    /// As the start of further opens; needs no read permission.
    Traverse,
    /// To list its names.
    List,
}

/// `NONBLOCK`: the open of a FIFO without a writer would block for ever, and no check before it helps, as the name may
/// be swapped. `NOCTTY`: a terminal device must not become ours. `NOFOLLOW`: no link at the end. `CLOEXEC`: nothing
/// leaks into a child.
#[cfg(unix)]
pub(crate) const READ_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

#[cfg(unix)]
const LIST_FLAGS: OFlags = READ_FLAGS.union(OFlags::DIRECTORY);

/// `O_PATH` needs no read permission and starts no I/O; only Linux has it.
#[cfg(target_os = "linux")]
pub(crate) const TRAVERSE_FLAGS: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) const TRAVERSE_FLAGS: OFlags = LIST_FLAGS;

#[cfg(unix)]
impl OpenFor {
    pub(crate) fn flags(self) -> OFlags {
        match self {
            Self::Traverse => TRAVERSE_FLAGS,
            Self::List => LIST_FLAGS,
        }
    }
}

/// A file system on which a stat reports every change to a file.
#[derive(Clone, Copy, Debug)]
pub struct StableInodes {
    /// Its type, by `linux/magic.h`.
    pub kind: u64,
    /// Its id, by `statvfs(3)`.
    pub id: u64,
}
