//! The segments of the filter: which of them a file has, the grams that each holds, and their columns.

use std::{collections::HashMap, ops::Range, sync::Arc};

use super::{COLUMNS, OVERLAP, gram};

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

/// Where the words of columns come from. A word has a bit for each segment of one block.
#[derive(Clone, Debug)]
pub(crate) enum Columns {
    /// A filter in memory, as of one moment.
    Memory(Arc<Vec<Option<Arc<SegmentBlock>>>>),
    /// By column, for each block its word.
    Read(HashMap<u16, Box<[u64]>>),
}

impl Columns {
    /// The word of a column for a block; `None` where that is not known, so that nothing may be refused.
    pub(super) fn word(&self, block: usize, column: u16) -> Option<u64> {
        match self {
            Self::Memory(blocks) => Some(blocks.get(block)?.as_ref()?.columns[usize::from(column)]),
            Self::Read(columns) => columns.get(&column)?.get(block).copied(),
        }
    }
}

/// What a filter takes in of a file.
#[derive(Debug)]
pub(crate) struct ContentGrams {
    pub(super) slices: Vec<SliceGrams>,
    /// A line runs from one slice into the next.
    pub(super) within_line: bool,
    /// Bytes of content.
    pub(crate) bytes: u32,
}

/// A slice of the content.
#[derive(Debug)]
pub(super) struct SliceGrams {
    /// Where it ends in the file; it begins where the one before ends.
    pub(super) end: u32,
    /// Which columns its grams have: a bit for each.
    pub(super) columns: Box<[u64; COLUMNS / 64]>,
}

impl ContentGrams {
    /// The grams of `content`; `None` for more than 4 GiB.
    pub(crate) fn of(content: &[u8]) -> Option<Self> {
        let bytes = u32::try_from(content.len()).ok()?;
        let (mut slices, mut within_line, mut at) = (Vec::new(), false, 0);
        loop {
            let (end, cut) = slice_end(content, at);
            within_line |= cut;
            // Two KiB that stay in the nearest cache; a slice repeats its grams often.
            let mut columns = Box::new([0_u64; COLUMNS / 64]);
            gram::each(&content[at..(end + OVERLAP).min(content.len())], |column| {
                let column = usize::from(column);
                columns[column / 64] |= 1 << (column % 64);
            });
            slices.push(SliceGrams { end: u32::try_from(end).ok()?, columns });
            at = end;
            if at == content.len() {
                return Some(Self { slices, within_line, bytes });
            }
        }
    }
}

/// Where the slice that begins at `at` ends: at the last line break within reach, else in the middle
/// of a line; whether it is the latter.
fn slice_end(content: &[u8], at: usize) -> (usize, bool) {
    if content.len() - at <= SEGMENT {
        return (content.len(), false);
    }
    match memchr::memrchr(b'\n', &content[at..at + SEGMENT]) {
        Some(line_break) => (at + line_break + 1, false),
        None => (at + SEGMENT, true),
    }
}
