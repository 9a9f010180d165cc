//! What most searches ask of a path, in a few bytes.

use confined_fs::FileKind;

use super::{KnownContent, PathState};
use crate::ngram_filter::FileSegments;

/// What most searches ask of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathSummary {
    /// The path itself has to be asked.
    Ask,
    /// Neither a file nor ignored: nothing that a search of content is about.
    NoFile,
    /// Ignore rules leave it out.
    Ignored {
        /// It is a directory.
        directory: bool,
    },
    /// [`KnownContent::Secret`].
    Secret,
    /// [`KnownContent::Binary`].
    Binary(u32),
    /// [`KnownContent::Filtered`] in one segment, so of no more bytes than a segment covers.
    Segment {
        /// The segment.
        segment: u32,
        /// Whether the content is UTF-8.
        utf8: bool,
    },
    /// [`KnownContent::Filtered`] in several segments, each of whole lines.
    Segments {
        /// All but the last one, which are consecutive.
        first: u32,
        /// How many these are.
        count: u16,
        /// The last one.
        last: u32,
        /// Whether the content is UTF-8.
        utf8: bool,
    },
}

impl PathSummary {
    pub(super) fn of(item: &PathState) -> Self {
        let kind = item.kind;
        if item.unreadable || item.unwatched {
            return Self::Ask;
        }
        if item.ignored {
            return Self::Ignored { directory: kind == FileKind::Directory };
        }
        if kind != FileKind::File {
            return Self::NoFile;
        }
        match &*item.content() {
            KnownContent::Secret => Self::Secret,
            KnownContent::Binary(bytes) => Self::Binary(*bytes),
            KnownContent::Filtered(FileSegments::One(segment), _, utf8) => {
                Self::Segment { segment: *segment, utf8: *utf8 }
            }
            KnownContent::Filtered(many, _, utf8) => match many.consecutive() {
                Some((segments, last)) => match u16::try_from(segments.len()) {
                    Ok(count) => Self::Segments { first: segments.start, count, last, utf8: *utf8 },
                    Err(_) => Self::Ask,
                },
                None => Self::Ask,
            },
            KnownContent::Unread | KnownContent::AlwaysSearch => Self::Ask,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_summary_has_12_bytes() {
        assert_eq!(size_of::<PathSummary>(), 12);
    }
}
