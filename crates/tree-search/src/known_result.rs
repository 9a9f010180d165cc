//! The result of a search for one file, as far as what is known of its content decides it.

use std::ops::Range;

use super::{Candidates, KnownContent, MayMatch, Skipped};

/// What is known of the result for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KnownResult {
    /// It holds no match.
    NoMatch,
    /// It is left out.
    Skipped(Skipped),
    /// It has to be searched, but these lines alone.
    Within(Vec<Range<u32>>),
    /// It has to be searched.
    Anywhere,
}

impl KnownResult {
    /// What `candidates` leave of a file with that content. `searches_decoded`: whether the pattern is searched in what
    /// files that are not UTF-8 decode to, which the filter does not know.
    pub(super) fn of(
        content: &KnownContent,
        candidates: &mut Candidates,
        max_file_size: u64,
        searches_decoded: bool,
    ) -> Self {
        match content {
            KnownContent::Secret => Self::Skipped(Skipped::Secret),
            KnownContent::Binary(bytes) if u64::from(*bytes) <= max_file_size => Self::Skipped(Skipped::Binary),
            KnownContent::Filtered(_, _, false) if searches_decoded => Self::Anywhere,
            KnownContent::Filtered(segments, bytes, _) if u64::from(*bytes) <= max_file_size => {
                match candidates.may_match(segments) {
                    MayMatch::Nowhere => Self::NoMatch,
                    MayMatch::Within(lines) => Self::Within(lines),
                    MayMatch::Anywhere => Self::Anywhere,
                }
            }
            _ => Self::Anywhere,
        }
    }
}
