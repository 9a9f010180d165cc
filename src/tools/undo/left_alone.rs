//! What is left as it is where changes are taken back, and why.

use std::fmt;

use confined_fs::WorkspacePath;

use super::super::answer::count;

/// Why a path is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tools) enum Reason {
    /// It is not what the change left.
    Changed,
    /// What was moved or made is no longer there.
    Gone,
    /// Something else is where a former entry was.
    Occupied,
    /// Its former content is no longer kept.
    NotKept,
    /// The directory that was made holds something else.
    NotEmpty,
    /// It may not be changed.
    Refused(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Changed => "changed since",
            Self::Gone => "no longer there",
            Self::Occupied => "something else is there now",
            Self::NotKept => "its earlier content is no longer kept",
            Self::NotEmpty => "not empty",
            Self::Refused(why) => why,
        })
    }
}

/// A path that is left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tools) struct LeftAlone {
    pub(in crate::tools) path: WorkspacePath,
    pub(in crate::tools) reason: Reason,
}

/// How much was not brought back, for the headline.
pub(in crate::tools) fn headline(paths: usize) -> String {
    let were = if paths == 1 { "was" } else { "were" };
    format!("{} {were} left alone and not brought back", count(paths, "path"))
}
