//! The grams of one file, by the slices of its content that get a segment each: found without the filter, so that
//! several threads can do that at once.

use super::{COLUMNS, OVERLAP, SEGMENT, gram};

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
