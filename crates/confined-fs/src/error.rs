//! Why a path was refused, as a kind for the program and a sentence for the caller.
//!
//! A sentence shows nothing that the caller did not know: no host path, no target of a link, and outside the roots not
//! even whether a file is there. Clients show these sentences to a model, and logs with host paths have leaked that way.

use std::{fmt, io};

use beneath::Failure;
use text_file::shorten;

use crate::limits::{Limit, error_text};
use crate::{path::WorkspacePath, policy::is_own_rule, root::RootGone};
use text_file::escape::escape_text;

#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// It leads outside every root. The sentence is the same whether or not anything is there.
    #[error("access denied: {} is outside the workspace roots", escape_text(given))]
    Denied {
        given: String,
        /// The same path in the checkout that is in a root, where it is in another one of the same repository. Decided by
        /// names, as all of this.
        here: Option<WorkspacePath>,
    },
    #[error("invalid path {}: {reason}", escape_text(given))]
    Invalid { given: String, reason: &'static str },
    /// It has more bytes than a path may have below its root.
    #[error(
        "the path {} ({} bytes) is longer than the {limit} bytes that a path may have below its root",
        escape_text(&shorten(given, SHOWN_CHARS)),
        given.len()
    )]
    TooLong {
        given: String,
        /// Bytes that a path may have.
        limit: usize,
    },
}

/// Characters that are shown of a path that is too long to be one.
const SHOWN_CHARS: usize = 60;

#[derive(Debug, thiserror::Error)]
pub struct AccessError {
    pub kind: AccessErrorKind,
    pub path: WorkspacePath,
    /// The cause: the system's error, or the policy rule that matched.
    pub source: Option<io::Error>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessErrorKind {
    /// Nothing is there, or policy hides it.
    NotFound,
    Denied,
    Secret,
    /// The file runs later, or its name is hidden: it is not written.
    ProtectedWrite,
    ReadOnly,
    IsDirectory,
    NotADirectory,
    Special(&'static str),
    /// More bytes than the caller can take.
    TooLarge {
        /// Bytes in the file.
        size: u64,
        /// Bytes that the caller can take.
        limit: u64,
    },
    Permission,
    /// It has the read-only attribute of Windows.
    MarkedReadOnly,
    /// The rights of the file forbid it, or it could not stay whose it is.
    NotWritable,
    /// Another program has it open and keeps others out (Windows).
    InUse,
    /// The system keeps its name (`EBUSY`), as that of a file that is a mount of its own.
    Mounted,
    TooMany {
        limit: usize,
    },
    /// It is a root, which is never moved, copied over or deleted.
    IsRoot,
    NotStored,
    Changed,
    Exists,
    Stale,
    /// The call was cancelled or ran out of time before any of the change could be seen.
    Stopped,
    /// Too many calls already wait for other changes.
    TooManyWaiting,
    /// Another process does not free the lock of its directory.
    Locked,
    /// More than 40 links on the way, or a loop.
    TooManyLinks,
    NameTooLong,
    /// All of it is here, but its old location was removed only in part.
    MovedInPart,
    RootGone(RootGone),
    /// A limit that the system sets this process, its user or the file system.
    Limit(Limit),
    Io,
}

impl WorkspacePath {
    /// The refusal for a content that should be restored here and is no longer stored.
    pub fn not_stored(&self) -> AccessError {
        AccessError::new(AccessErrorKind::NotStored, self)
    }

    /// Does `work` on this path, which takes what cannot be opened for absent.
    ///
    /// # Errors
    /// The limit of open files, where an open of this process met it meanwhile: the result may be wrong.
    pub fn unless_out_of_files<T>(&self, work: impl FnOnce() -> T) -> Result<T, AccessError> {
        let before = beneath::refused_opens();
        let result = work();
        let limit = || AccessError::new(AccessErrorKind::Limit(Limit::open_files()), self);
        if beneath::refused_opens() == before { Ok(result) } else { Err(limit()) }
    }
}

impl AccessError {
    pub fn new(kind: AccessErrorKind, path: &WorkspacePath) -> Self {
        Self { kind, path: path.clone(), source: None }
    }

    /// A refusal by policy that names the rule.
    #[doc(hidden)]
    pub fn by_rule(kind: AccessErrorKind, path: &WorkspacePath, rule: &str) -> Self {
        Self { source: Some(io::Error::other(format!("matches {rule}"))), ..Self::new(kind, path) }
    }

    /// As [`Self::from_io`], of a path that was free of links a moment ago: a link there now means that something
    /// changed.
    #[doc(hidden)]
    pub fn from_failure(failure: Failure, path: &WorkspacePath) -> Self {
        match failure {
            Failure::Link => {
                let gone = path.root().absence();
                Self::new(gone.map_or(AccessErrorKind::Changed, AccessErrorKind::RootGone), path)
            }
            Failure::Io(error) => Self::from_io(error, path),
        }
    }

    /// The kind for an error of the system. `ENOENT` may also mean that the whole root is gone.
    pub fn from_io(error: io::Error, path: &WorkspacePath) -> Self {
        let may_be_gone = match error.kind() {
            io::ErrorKind::NotFound => true,
            io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied => path.root().is_optional(),
            _ => false,
        };
        let gone = may_be_gone.then(|| path.root().absence()).flatten();
        let kind = gone.map_or_else(|| Self::kind_of(&error), AccessErrorKind::RootGone);
        Self { source: Some(error), ..Self::new(kind, path) }
    }

    fn kind_of(error: &io::Error) -> AccessErrorKind {
        match error.kind() {
            io::ErrorKind::NotFound => AccessErrorKind::NotFound,
            io::ErrorKind::PermissionDenied => AccessErrorKind::Permission,
            io::ErrorKind::NotADirectory => AccessErrorKind::NotADirectory,
            io::ErrorKind::IsADirectory => AccessErrorKind::IsDirectory,
            io::ErrorKind::AlreadyExists => AccessErrorKind::Exists,
            io::ErrorKind::ReadOnlyFilesystem => AccessErrorKind::NotWritable,
            io::ErrorKind::InvalidFilename => AccessErrorKind::NameTooLong,
            io::ErrorKind::ResourceBusy => AccessErrorKind::Mounted,
            // Links are followed before anything is opened: this one came later.
            _ if beneath::is_link_error(error) => AccessErrorKind::Changed,
            _ if beneath::is_in_use(error) => AccessErrorKind::InUse,
            _ => Limit::of(error).map_or(AccessErrorKind::Io, AccessErrorKind::Limit),
        }
    }
}

/// Says of what path an error of the system is.
pub trait AtPath<T> {
    fn at(self, path: &WorkspacePath) -> Result<T, AccessError>;
}

impl<T, E: Into<Failure>> AtPath<T> for Result<T, E> {
    fn at(self, path: &WorkspacePath) -> Result<T, AccessError> {
        self.map_err(|error| AccessError::from_failure(error.into(), path))
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use AccessErrorKind as Kind;
        let path = &self.path;
        let cause = |before: &str, after: &str| {
            self.source.as_ref().map_or_else(String::new, |cause| format!("{before}{cause}{after}"))
        };
        match &self.kind {
            Kind::NotFound => write!(f, "{path} does not exist"),
            Kind::Denied => write!(f, "access denied: {path} leads outside the workspace roots"),
            Kind::Secret => {
                let is_own = cause("", "").strip_prefix("matches ").is_some_and(is_own_rule);
                let what = if is_own { "denied by a rule of this server" } else { "a secret file" };
                write!(f, "access denied: {path} is {what}{}", cause(" (", ")"))
            }
            Kind::ProtectedWrite => {
                write!(f, "access denied: {path} is protected from writing{}", cause(" (", ")"))
            }
            Kind::ReadOnly => write!(f, "{path} is read-only"),
            Kind::IsDirectory => write!(f, "{path} is a directory, not a file"),
            Kind::NotADirectory => write!(f, "{path} or one of its parents is not a directory"),
            Kind::Special(what) => write!(f, "{path} is a {what}, not a regular file"),
            Kind::TooLarge { size, limit } => write!(f, "{path} has {size} bytes, more than the limit of {limit}"),
            Kind::TooMany { limit } => write!(f, "{path} has more than {limit} entries"),
            Kind::IsRoot => write!(f, "{path} is a workspace root, which cannot be moved, copied, replaced or deleted"),
            Kind::NotStored => write!(f, "the earlier content of {path} is no longer stored"),
            Kind::Permission => write!(f, "the system's permissions forbid access to {path}"),
            Kind::MarkedReadOnly => write!(f, "{path} is marked read-only by a file attribute"),
            Kind::NotWritable => write!(f, "{path} is read-only{}", cause(": ", "")),
            Kind::Mounted => write!(f, "{path} is a mount of its own, or in use by the system, which keeps its name"),
            Kind::InUse => write!(f, "another program has {path} open and keeps others out"),
            Kind::Changed => write!(f, "{path} kept changing during the call"),
            Kind::Exists => write!(f, "{path} already exists"),
            Kind::Stale => write!(f, "{path} has changed since it was read"),
            Kind::Stopped => write!(f, "this call ran out of time before {path} was changed"),
            Kind::TooManyWaiting => {
                write!(f, "{path} is part of another change, and too many calls already wait for it")
            }
            Kind::Locked => {
                write!(f, "another process holds the lock of the directory of {path}, and {path} was not changed")
            }
            Kind::TooManyLinks => write!(f, "{path} passes through too many links"),
            Kind::NameTooLong => write!(f, "a name in {path} is too long for the system"),
            Kind::MovedInPart => {
                write!(f, "everything was moved to {path}, but the old location could be removed only in part")
            }
            Kind::RootGone(gone) => {
                let root = if path.root().is_optional() { "directory" } else { "workspace root" };
                match path.root().name() {
                    Some(name) => write!(f, "the {root} {name} {gone}"),
                    None => write!(f, "the workspace root directory {gone}"),
                }
            }
            Kind::Limit(limit) => {
                let verb = match limit {
                    Limit::OpenFiles(_) | Limit::OpenFilesOfAll => "opened",
                    Limit::Memory => "loaded into memory",
                    Limit::FileSize(_) | Limit::Space | Limit::DiskQuota => "written",
                };
                write!(f, "{path} could not be {verb}: {limit}")
            }
            Kind::Io => match &self.source {
                Some(source) => write!(f, "{path} could not be accessed: {}", error_text(source)),
                None => write!(f, "{path} could not be accessed"),
            },
        }
    }
}
