//! A file of a search, as the walk hands it over and as the worker gives its result back.

use std::ops::Range;

use confined_fs::{Entry, WorkspacePath, stop::StopReason};

use super::{FileHits, Skipped, StoredResult, Tally, UnmatchedFiles};

/// A file to be searched: met on the walk, or named by the caller.
#[derive(Clone, Debug)]
pub(super) enum SearchItem {
    /// Met on the walk of a directory. Where the lines that may match are known, those, and the fingerprint of the
    /// state in which there are no others.
    Walked(Entry, Option<(Vec<Range<u32>>, u64)>),
    /// Met on the walk of a directory; what is known of its result has to be checked first.
    Stored(Entry, Box<StoredResult>),
    /// Consecutive files of a directory that hold no match, by what is known; that has to be checked first.
    Unmatched(Box<UnmatchedFiles>),
    /// Named as the path of the call.
    Named(WorkspacePath),
    /// Met before and counted: wanted for its lines.
    Again(WorkspacePath),
    /// Consecutive files that need not be opened: the path index knows their result.
    Cached(Tally),
    /// A file that is left out, by what the path index knows.
    Left(WorkspacePath, Skipped),
}

/// The result for one file.
#[derive(Debug)]
pub(super) enum Searched {
    /// Looked into; there may be hits.
    Done(Option<Box<FileHits>>),
    /// Looked into without a match, for a pattern beyond ASCII, and in no encoding that is recognised.
    NotUtf8(Option<Box<FileHits>>),
    /// Left out.
    Skipped(WorkspacePath, Skipped),
    /// No longer there, or no regular file: nothing to report.
    Gone,
    /// The call was stopped within the file; hits so far.
    Stopped(StopReason, Option<Box<FileHits>>),
}
