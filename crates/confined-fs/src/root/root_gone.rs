//! Why a root is not served now.

/// Why a root is not served now. Its text is the end of a sentence about the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RootGone {
    /// It was deleted, and nothing is in its place.
    #[error("was deleted after the server started")]
    Deleted,
    /// It was moved away, or a directory above it was.
    #[error("was moved away or renamed after the server started")]
    Moved,
    /// Another directory is in its place: made or moved there, mounted over it, or a link on the way
    /// leads there now.
    #[error("was replaced after the server started: another directory, or a mounted file system, is in its place")]
    Replaced,
    /// It may be missing, and is.
    #[error("does not exist yet")]
    NotYet,
    /// It may be missing, and something else than a directory is at its path: a link, which is never followed there, or
    /// a file.
    #[error("does not exist yet: a link or a file is in its place, which is not opened")]
    NoDirectory,
    /// It may be missing, is there now, and the sandbox that was set up at the start does not reach it.
    #[error("was made after the server started, whose sandbox does not reach it")]
    OutsideSandbox,
}
