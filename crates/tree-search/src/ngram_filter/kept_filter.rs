//! A filter as a stored index keeps it: column by column, so that a query reads what it names and no more.

use std::{borrow::Borrow, collections::HashMap, sync::Arc};

use super::{
    BLOCK, COLUMNS, Candidates, Columns, FileSegments, FilterQuery, NgramFilter, SEGMENTS, SegmentBlock,
    filter::SegmentUse,
};

/// Columns that are copied out of the blocks at once: those that share a cache line.
const TILE: usize = 8;

impl NgramFilter {
    /// How many blocks it has: the words of a column.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Of how many segments of a block something is kept: where there is one block, up to the last one in use, as a
    /// power of two.
    fn kept_of_block(&self) -> usize {
        let is_used = |segment: &SegmentUse| segment.files > 0;
        let used = self.segments.iter().rposition(is_used).map_or(1, |last| last + 1);
        if self.blocks.len() == 1 { used.next_power_of_two() } else { SEGMENTS }
    }

    /// The bytes that were put into each segment that is kept, those of files that are gone included.
    pub(crate) fn segment_bytes(&self) -> impl Iterator<Item = u32> {
        self.segments.iter().take(self.blocks.len() * self.kept_of_block()).map(|segment| segment.bytes)
    }

    /// Calls `write` with each column in turn, a word for each block: where half of the segments of a block are kept,
    /// half as many columns, with two in a word, and so on.
    ///
    /// # Errors
    /// That of `write`.
    pub(crate) fn each_column<E>(&self, mut write: impl FnMut(u16, &[u64]) -> Result<(), E>) -> Result<(), E> {
        let (count, width) = (self.blocks.len(), self.kept_of_block());
        let columns = COLUMNS * width / SEGMENTS;
        // The bits beyond those that are kept say nothing.
        let bits = |block: &SegmentBlock, column: usize| {
            let several = block.columns[column..].iter().step_by(columns).enumerate();
            several.fold(0, |word, (at, bits)| word | (bits & u64::MAX >> (SEGMENTS - width)) << (at * width))
        };
        let mut tile = vec![0_u64; TILE * count];
        for first in (0..columns).step_by(TILE) {
            for (at, block) in self.blocks.iter().enumerate() {
                for column in 0..TILE {
                    tile[column * count + at] = block.as_ref().map_or(0, |block| bits(block, first + column));
                }
            }
            for column in 0..TILE {
                write(u16::try_from(first + column).unwrap_or_default(), &tile[column * count..][..count])?;
            }
        }
        Ok(())
    }

    /// A filter with room for `memory` bytes, of columns that another one had. `bytes` are its
    /// [`Self::segment_bytes`]; `read` gives a column; `files` are those that are still what they were, each with its bytes.
    /// `None` where `read` gives none, or what is given does not fit together.
    pub(crate) fn of_columns<S: Borrow<FileSegments>>(
        memory: usize,
        bytes: &[u32],
        mut read: impl FnMut(u16) -> Option<Box<[u64]>>,
        files: impl Iterator<Item = (S, u32)>,
    ) -> Option<Self> {
        let count = bytes.len().div_ceil(SEGMENTS);
        if count > memory / BLOCK {
            return None;
        }
        let mut filter = Self::new(memory);
        filter.segments = vec![SegmentUse::default(); count * SEGMENTS];
        for (segments, bytes) in files {
            count_file(&mut filter.segments, segments.borrow(), bytes)?;
        }
        for (segment, bytes) in filter.segments.iter_mut().zip(bytes).filter(|(segment, _)| segment.files > 0) {
            segment.dead = bytes.saturating_sub(segment.bytes);
            segment.bytes += segment.dead;
        }
        let mut blocks: Vec<Box<[u64]>> = (0..count).map(|_| vec![0; COLUMNS].into_boxed_slice()).collect();
        for column in 0..COLUMNS {
            let words = read(u16::try_from(column).ok()?).filter(|words| words.len() == count)?;
            for (block, word) in blocks.iter_mut().zip(words) {
                block[column] = word;
            }
        }
        let used = |block: usize| {
            let segments = &filter.segments[block * SEGMENTS..][..SEGMENTS];
            u32::try_from(segments.iter().filter(|segment| segment.files > 0).count()).unwrap_or_default()
        };
        let kept = blocks.into_iter().enumerate().map(|(at, columns)| {
            let used = used(at);
            (used > 0).then(|| Arc::new(SegmentBlock { columns, used }))
        });
        let kept: Vec<_> = kept.collect();
        // Popped in ascending order, so that neighbours in the tree are neighbours here.
        let free = (0..filter.segments.len())
            .rev()
            .filter(|at| kept[at / SEGMENTS].is_some() && filter.segments[*at].files == 0);
        filter.free = free.filter_map(|at| u32::try_from(at).ok()).collect();
        filter.blocks = Arc::new(kept);
        Some(filter)
    }
}

/// Counts a file in its segments; `None` where it names one that is not there.
fn count_file(uses: &mut [SegmentUse], segments: &FileSegments, bytes: u32) -> Option<()> {
    let mut count = |segment: u32, bytes: u32| {
        let state = uses.get_mut(segment as usize)?;
        state.files = state.files.checked_add(1)?;
        state.bytes = state.bytes.checked_add(bytes)?;
        Some(())
    };
    match segments {
        FileSegments::One(segment) => count(*segment, bytes),
        FileSegments::Many { segments, .. } => {
            let mut start = 0;
            for slice in segments {
                count(slice.segment, slice.end.checked_sub(start)?)?;
                start = slice.end;
            }
            Some(())
        }
    }
}

impl FilterQuery {
    /// The columns that it names, each once.
    pub(crate) fn columns(&self) -> Vec<u16> {
        self.grams.columns()
    }

    /// What this leaves of files whose filter has these columns, which are all that it names.
    pub(crate) fn candidates_of(self, columns: HashMap<u16, Box<[u64]>>) -> Candidates {
        Candidates::new(Columns::Read(columns), self)
    }
}
