//! Why a root is not served now.

use std::fmt;

/// Why a root is not served now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootGone {
    /// It was deleted, and nothing is in its place.
    Deleted,
    /// It was moved away, or a directory above it was.
    Moved,
    /// Another directory is in its place: made or moved there, mounted over it, or a link on the way
    /// leads there now.
    Replaced,
    /// It may be missing, and is.
    NotYet,
    /// It may be missing, and something else than a directory is at its path: a link, which is never followed there, or
    /// a file.
    NoDirectory,
    /// It may be missing, is there now, and the sandbox that was set up at the start does not reach it.
    OutsideSandbox,
}

impl fmt::Display for RootGone {
    /// As the end of a sentence about the root.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deleted => "was deleted after the server started",
            Self::Moved => "was moved away or renamed after the server started",
            Self::Replaced => {
                "was replaced after the server started: another directory, or a mounted file system, is in its place"
            }
            Self::NotYet => "does not exist yet",
            Self::NoDirectory => "does not exist yet: a link or a file is in its place, which is not opened",
            Self::OutsideSandbox => "was made after the server started, whose sandbox does not reach it",
        })
    }
}
