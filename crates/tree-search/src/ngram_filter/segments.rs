//! Segments of content, and the blocks of bits that represent them.

use std::ops::Range;

use super::COLUMNS;

/// Bytes of content that one segment covers.
pub(crate) const SEGMENT: usize = 32 << 10;
/// Segments of a block: the bits of one word.
pub(crate) const SEGMENTS: usize = 64;
/// Bytes of a block.
pub(super) const BLOCK: usize = COLUMNS * size_of::<u64>();

/// 64 segments: for each column, which segments hold a gram of it.
#[derive(Clone, Debug)]
pub(super) struct SegmentBlock {
    pub(super) columns: Box<[u64]>,
    /// Segments in use.
    pub(super) used: u32,
}

/// Which segments hold the content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileSegments {
    /// In one segment, with other small files.
    One(u32),
    /// In several segments; where a line was cut, no single segment need hold all of a match.
    Many {
        /// The segments, in the order of the content.
        segments: Box<[SegmentSlice]>,
        /// A line runs from one segment into the next.
        within_line: bool,
    },
}

impl FileSegments {
    /// Memory held outside of it, in bytes.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Self::One(_) => 0,
            Self::Many { segments, .. } => size_of_val(&**segments),
        }
    }

    /// The segments of a large file, where they are consecutive but for the last one and each holds
    /// whole lines: all but the last one, and the last one.
    pub(crate) fn consecutive(&self) -> Option<(Range<u32>, u32)> {
        let Self::Many { segments, within_line: false } = self else { return None };
        let (last, others) = segments.split_last()?;
        let first = others.first()?.segment;
        let count = u32::try_from(others.len()).ok()?;
        let follow = (first..).zip(others).all(|(segment, slice)| slice.segment == segment);
        follow.then(|| (first..first + count, last.segment))
    }
}

/// A segment's share of a large file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentSlice {
    pub(crate) segment: u32,
    /// Where it ends in the file; it begins where the one before ends.
    pub(crate) end: u32,
}
