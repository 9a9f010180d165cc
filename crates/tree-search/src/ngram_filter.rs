//! The n-gram filter: which files of a tree cannot hold a match, from bits kept in memory.
//!
//! Only ever leaves files out; whatever it admits is searched for real. Whether a file is still what
//! it was when it was taken in is decided in [`super::path_index`].
//!
//! # Sources
//! The query over n-grams follows Russ Cox, [Regular Expression Matching with a Trigram Index][cox]
//! (2012). Posting lists of every n-gram would take more memory than a server may have for each tree;
//! the bits are laid out as in [BitFunnel][bitfunnel] (2017) instead: hashed columns, one bit for each of
//! 64 segments, so that one word answers for 64 segments and a query costs a few `and`s. Rare
//! 3-grams have several columns each, as rare words of `BitFunnel` have several rows: with two fifths of the bits set,
//! one of them admits a segment by chance about once in twenty times, and a query of `n` grams far more rarely than
//! once in `2^n`, if grams were independent.
//! A pattern becomes a graph of grams, which is asked, in [`filter_query`]; content becomes grams in [`gram`].
//!
//! [cox]: https://swtch.com/~rsc/regexp/regexp4.html
//! [bitfunnel]: https://dl.acm.org/doi/10.1145/3077136.3080789
//!
//! # Segments
//! A segment covers about 32 KiB of content, of several small files or a part of a large one; 64
//! segments make a block, which holds for each column one bit a segment. Only ever answers "perhaps" or
//! "certainly not", and knows neither names nor whether a file is still what it was.
//!
//! A stored index keeps a filter column by column, so that a query reads what it names and no more.

mod filter_query;
mod gram;

use std::{collections::HashMap, ops::Range, sync::Arc};

use gram::OVERLAP_BYTES;

pub(crate) use filter_query::FilterQuery;
pub(crate) use gram::COLUMN_COUNT;

/// Another number for another meaning of columns and segments: filters that were kept with it are not used.
pub(crate) const FILTER_VERSION: u32 = 6;

/// Bytes of content that one segment covers.
pub(crate) const SEGMENT_BYTES: usize = 32 << 10;
/// Segments of a block: the bits of one word.
pub(crate) const BLOCK_SEGMENTS: usize = 64;
const BLOCK_BYTES: usize = COLUMN_COUNT * size_of::<u64>();

/// 64 segments: for each column, which segments hold a gram of it.
#[derive(Clone, Debug)]
struct SegmentBlock {
    columns: Box<[u64]>,
    /// Segments that hold a file; 0 frees the block.
    used: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileSegments {
    One(SegmentSlice),
    /// In several segments; where a line was cut, no single segment need hold all of a match.
    Many {
        segments: Box<[SegmentSlice]>,
        within_line: bool,
    },
}

impl FileSegments {
    pub(crate) fn slices(&self) -> &[SegmentSlice] {
        match self {
            Self::One(slice) => std::slice::from_ref(slice),
            Self::Many { segments, .. } => segments,
        }
    }

    /// Memory held outside of it, in bytes.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Self::One(_) => 0,
            Self::Many { segments, .. } => size_of_val(&**segments),
        }
    }

    /// The segments, where they are consecutive but for the last one and each holds whole lines: all but the last one, and
    /// the last one.
    pub(crate) fn consecutive(&self) -> Option<(Range<u32>, u32)> {
        if let Self::Many { within_line: true, .. } = self {
            return None;
        }
        let (last, others) = self.slices().split_last()?;
        let first = others.first().unwrap_or(last).segment;
        let follow = (first..).zip(others).all(|(segment, slice)| slice.segment == segment);
        let count = u32::try_from(others.len()).ok()?;
        follow.then(|| (first..first + count, last.segment))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentSlice {
    pub(crate) segment: u32,
    /// Where it ends in the file; it begins where the one before ends.
    pub(crate) end: u32,
}

/// Where the words of columns come from. A word has a bit for each segment of one block.
#[derive(Clone, Debug)]
enum Columns {
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

#[derive(Debug)]
pub(crate) struct ContentGrams {
    slices: Vec<SliceGrams>,
    pub(super) within_line: bool,
    pub(crate) bytes: u32,
}

#[derive(Debug)]
struct SliceGrams {
    /// Where it ends in the file; it begins where the one before ends.
    pub(super) end: u32,
    /// Which columns its grams have: a bit for each.
    pub(super) columns: Box<[u64; COLUMN_COUNT / 64]>,
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
            let mut columns = Box::new([0_u64; COLUMN_COUNT / 64]);
            gram::each(&content[at..(end + OVERLAP_BYTES).min(content.len())], |column| {
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
    if content.len() - at <= SEGMENT_BYTES {
        return (content.len(), false);
    }
    match memchr::memrchr(b'\n', &content[at..at + SEGMENT_BYTES]) {
        Some(line_break) => (at + line_break + 1, false),
        None => (at + SEGMENT_BYTES, true),
    }
}

/// Blocks in which the columns of a query are counted before it is asked of all.
const SAMPLE_BLOCKS: usize = 8;
/// Share of the segments that have a column, in percent, from which it is not worth asking.
const ALWAYS_PERCENT: usize = 97;

#[derive(Clone, Copy, Debug, Default)]
struct SegmentUse {
    pub(super) files: u32,
    pub(super) bytes: u32,
    /// Bytes of files that are no longer there: their bits stay until the segment is empty.
    dead: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct NgramFilter {
    /// Shared with the searches under way, all of them and each; copied when changed meanwhile.
    blocks: Arc<Vec<Option<Arc<SegmentBlock>>>>,
    segments: Vec<SegmentUse>,
    free: Vec<u32>,
    open: Option<u32>,
    limit: usize,
}

impl NgramFilter {
    /// An empty filter that may take `bytes` bytes of memory.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { blocks: Arc::default(), segments: Vec::new(), free: Vec::new(), open: None, limit: bytes / BLOCK_BYTES }
    }

    /// Takes in a file. `None` when there is no room.
    pub(crate) fn add(&mut self, content: &ContentGrams) -> Option<FileSegments> {
        let mut segments: Vec<SegmentSlice> = Vec::with_capacity(content.slices.len());
        let mut at = 0;
        for slice in &content.slices {
            let Some(segment) = self.segment_for(slice.end - at) else {
                self.release(segments.iter().map(|slice| slice.segment), content.bytes as usize);
                return None;
            };
            self.mark(segment, slice.end - at, &slice.columns);
            segments.push(SegmentSlice { segment, end: slice.end });
            at = slice.end;
        }
        Some(match segments.as_slice() {
            [slice] => FileSegments::One(*slice),
            _ => FileSegments::Many { segments: segments.into(), within_line: content.within_line },
        })
    }

    pub(crate) fn remove(&mut self, segments: &FileSegments, bytes: usize) {
        self.release(segments.slices().iter().map(|slice| slice.segment), bytes);
    }

    /// Takes nothing in from now on that needs more than `bytes` bytes; what is in it stays.
    pub(crate) fn limit_to(&mut self, bytes: usize) {
        self.limit = bytes / BLOCK_BYTES;
    }

    pub(crate) fn memory(&self) -> usize {
        let blocks = self.blocks.iter().flatten().count();
        blocks * BLOCK_BYTES
            + self.segments.capacity() * size_of::<SegmentUse>()
            + self.free.capacity() * size_of::<u32>()
    }

    /// Share of what is held that is about files which are gone, in percent.
    pub(crate) fn waste(&self) -> u64 {
        let sum = |part: fn(&SegmentUse) -> u32| self.segments.iter().map(|one| u64::from(part(one))).sum::<u64>();
        (sum(|one| one.dead) * 100).checked_div(sum(|one| one.bytes)).unwrap_or(0)
    }

    pub(crate) fn candidates(&self, query: FilterQuery) -> Candidates {
        let sample: Vec<_> = self.blocks.iter().flatten().step_by(self.blocks.len() / SAMPLE_BLOCKS + 1).collect();
        let in_sample =
            |column| sample.iter().map(|block| block.columns[usize::from(column)].count_ones() as usize).sum();
        let grams = query.grams.planned(sample.len() * BLOCK_SEGMENTS * ALWAYS_PERCENT / 100, in_sample);
        let blocks = if grams.is_all() { Arc::default() } else { Arc::clone(&self.blocks) };
        Candidates::new(Columns::Memory(blocks), FilterQuery { grams, ..query })
    }

    fn segment_for(&mut self, bytes: u32) -> Option<u32> {
        if let Some(open) = self.open
            && self.segments[open as usize].bytes.saturating_add(bytes) as usize <= SEGMENT_BYTES
        {
            return Some(open);
        }
        let segment = self.fresh_segment()?;
        // Whichever leaves more room for the files to come.
        if self.open.is_none_or(|open| self.segments[open as usize].bytes > bytes) {
            self.open = Some(segment);
        }
        Some(segment)
    }

    fn fresh_segment(&mut self) -> Option<u32> {
        if let Some(segment) = self.free.pop() {
            let block = self.block(segment)?;
            // Clears the bits of what was in it before.
            let keep = !place_of(segment).1;
            block.columns.iter_mut().for_each(|column| *column &= keep);
            block.used += 1;
            return Some(segment);
        }
        let vacant = self.blocks.iter().position(Option::is_none);
        let index = vacant.unwrap_or(self.blocks.len());
        if index >= self.limit {
            return None;
        }
        let block = Some(Arc::new(SegmentBlock { columns: vec![0; COLUMN_COUNT].into_boxed_slice(), used: 1 }));
        if let Some(at) = vacant {
            Arc::make_mut(&mut self.blocks)[at] = block;
        } else {
            Arc::make_mut(&mut self.blocks).push(block);
            self.segments.resize(self.blocks.len() * BLOCK_SEGMENTS, SegmentUse::default());
        }
        let first = u32::try_from(index * BLOCK_SEGMENTS).ok()?;
        let end = u32::try_from((index + 1) * BLOCK_SEGMENTS).ok()?;
        // Popped in ascending order, so that neighbours in the tree are neighbours here.
        self.free.extend((first + 1..end).rev());
        Some(first)
    }

    fn block(&mut self, segment: u32) -> Option<&mut SegmentBlock> {
        Arc::make_mut(&mut self.blocks)[segment as usize / BLOCK_SEGMENTS].as_mut().map(Arc::make_mut)
    }

    fn mark(&mut self, segment: u32, bytes: u32, grams: &[u64; COLUMN_COUNT / 64]) {
        let state = &mut self.segments[segment as usize];
        state.files += 1;
        state.bytes = state.bytes.saturating_add(bytes);
        let Some(block) = self.block(segment) else { return };
        let columns = &mut block.columns;
        let (_, bit) = place_of(segment);
        for (index, word) in grams.iter().enumerate() {
            let mut left = *word;
            while left != 0 {
                columns[index * 64 + left.trailing_zeros() as usize] |= bit;
                left &= left - 1;
            }
        }
    }

    fn release(&mut self, segments: impl ExactSizeIterator<Item = u32>, bytes: usize) {
        // In equal parts, which is near enough for `waste`.
        let share = u32::try_from(bytes / segments.len().max(1)).unwrap_or(u32::MAX);
        for segment in segments {
            let state = &mut self.segments[segment as usize];
            state.files = state.files.saturating_sub(1);
            state.dead = state.dead.saturating_add(share).min(state.bytes);
            if state.files > 0 {
                continue;
            }
            *state = SegmentUse::default();
            if self.open == Some(segment) {
                self.open = None;
            }
            let Some(block) = self.block(segment) else { continue };
            block.used -= 1;
            if block.used > 0 {
                self.free.push(segment);
            } else {
                let index = segment as usize / BLOCK_SEGMENTS;
                Arc::make_mut(&mut self.blocks)[index] = None;
                self.free.retain(|free| *free as usize / BLOCK_SEGMENTS != index);
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MayMatch {
    Nowhere,
    Anywhere,
    /// Perhaps a match in the whole lines at these bytes, and nowhere else.
    Within(Vec<Range<u32>>),
}

#[derive(Debug)]
pub(crate) struct Candidates {
    columns: Columns,
    query: FilterQuery,
    hits: Vec<Option<u64>>,
    reached: Vec<u64>,
}

impl Candidates {
    fn new(columns: Columns, query: FilterQuery) -> Self {
        Self { columns, query, hits: Vec::new(), reached: Vec::new() }
    }

    /// The files that `query` leaves of those whose filter has the columns that `read` gives; `None` if it lacks one
    /// of them.
    pub(crate) fn read(query: FilterQuery, read: impl Fn(u16) -> Option<Box<[u64]>>) -> Option<Self> {
        let columns = query.grams.columns().into_iter().map(|column| Some((column, read(column)?)));
        Some(Self::new(Columns::Read(columns.collect::<Option<_>>()?), query))
    }

    pub(crate) fn all(&self) -> bool {
        self.query.grams.is_all()
    }

    pub(crate) fn may_match(&mut self, segments: &FileSegments) -> MayMatch {
        if self.all() {
            return MayMatch::Anywhere;
        }
        let whole = |perhaps| if perhaps { MayMatch::Anywhere } else { MayMatch::Nowhere };
        match segments {
            FileSegments::One(slice) => whole(self.segment_may_match(slice.segment)),
            FileSegments::Many { segments, within_line } if self.query.whole_file || *within_line => {
                let together = |column| {
                    let has = |slice: &SegmentSlice| {
                        let (block, bit) = place_of(slice.segment);
                        self.columns.word(block, column).is_none_or(|word| word & bit != 0)
                    };
                    u64::from(segments.iter().any(has))
                };
                whole(self.query.grams.satisfied(together, &mut self.reached) & 1 != 0)
            }
            FileSegments::Many { segments, .. } => {
                let mut within: Vec<Range<u32>> = Vec::new();
                let mut start = 0;
                for SegmentSlice { segment, end } in segments {
                    if self.segment_may_match(*segment) {
                        match within.last_mut() {
                            Some(last) if last.end == start => last.end = *end,
                            _ => within.push(start..*end),
                        }
                    }
                    start = *end;
                }
                let bytes: usize = within.iter().map(Range::len).sum();
                // Most of it read piece by piece, and then perhaps all of it, gains nothing.
                if bytes == 0 || bytes > start as usize / 2 { whole(bytes > 0) } else { MayMatch::Within(within) }
            }
        }
    }

    /// Whether none of these segments, which hold a file in whole lines, may hold a match.
    pub(crate) fn none_may_match(&mut self, segments: Range<u32>, last: u32) -> bool {
        // One segment is the whole file.
        (segments.is_empty() || !self.query.whole_file)
            && !self.segment_may_match(last)
            && !segments.into_iter().any(|segment| self.segment_may_match(segment))
    }

    fn segment_may_match(&mut self, segment: u32) -> bool {
        let (block, bit) = place_of(segment);
        if self.hits.len() <= block {
            self.hits.resize(block + 1, None);
        }
        let satisfied = self.hits[block].get_or_insert_with(|| {
            // What is not there says nothing, so it refuses nothing.
            let word = |column| self.columns.word(block, column).unwrap_or(u64::MAX);
            self.query.grams.satisfied(word, &mut self.reached)
        });
        *satisfied & bit != 0
    }
}

/// Block index and bit mask of a segment.
fn place_of(segment: u32) -> (usize, u64) {
    (segment as usize / BLOCK_SEGMENTS, 1 << (segment as usize % BLOCK_SEGMENTS))
}

/// Columns that are copied out of the blocks at once: those that share a cache line.
const TILE_COLUMNS: usize = 8;

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
        if self.blocks.len() == 1 { used.next_power_of_two() } else { BLOCK_SEGMENTS }
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
        let columns = COLUMN_COUNT * width / BLOCK_SEGMENTS;
        // The bits beyond those that are kept say nothing.
        let bits = |block: &SegmentBlock, column: usize| {
            let several = block.columns[column..].iter().step_by(columns).enumerate();
            several.fold(0, |word, (at, bits)| word | (bits & u64::MAX >> (BLOCK_SEGMENTS - width)) << (at * width))
        };
        let mut tile = vec![0_u64; TILE_COLUMNS * count];
        for first in (0..columns).step_by(TILE_COLUMNS) {
            for (at, block) in self.blocks.iter().enumerate() {
                for column in 0..TILE_COLUMNS {
                    tile[column * count + at] = block.as_ref().map_or(0, |block| bits(block, first + column));
                }
            }
            for column in 0..TILE_COLUMNS {
                write(u16::try_from(first + column).unwrap_or_default(), &tile[column * count..][..count])?;
            }
        }
        Ok(())
    }

    /// A filter with room for `memory` bytes, of columns that another one had. `bytes` are its
    /// [`Self::segment_bytes`]; `read` gives a column; `files` are those that are still what they were.
    /// `None` where `read` gives none, or what is given does not fit together.
    pub(crate) fn of_columns<'s>(
        memory: usize,
        bytes: &[u32],
        mut read: impl FnMut(u16) -> Option<Box<[u64]>>,
        files: impl Iterator<Item = &'s FileSegments>,
    ) -> Option<Self> {
        let count = bytes.len().div_ceil(BLOCK_SEGMENTS);
        // Also where a hostile file names more than there are: nothing is taken for it.
        if count > memory / BLOCK_BYTES {
            return None;
        }
        let mut filter = Self::new(memory);
        filter.segments = vec![SegmentUse::default(); count * BLOCK_SEGMENTS];
        for segments in files {
            count_file(&mut filter.segments, segments)?;
        }
        for (segment, bytes) in filter.segments.iter_mut().zip(bytes).filter(|(segment, _)| segment.files > 0) {
            segment.dead = bytes.saturating_sub(segment.bytes);
            segment.bytes += segment.dead;
        }
        let mut blocks: Vec<Box<[u64]>> = (0..count).map(|_| vec![0; COLUMN_COUNT].into_boxed_slice()).collect();
        for column in 0..COLUMN_COUNT {
            let words = read(u16::try_from(column).ok()?).filter(|words| words.len() == count)?;
            for (block, word) in blocks.iter_mut().zip(words) {
                block[column] = word;
            }
        }
        let kept = blocks.into_iter().zip(filter.segments.chunks(BLOCK_SEGMENTS)).map(|(columns, segments)| {
            let used = segments.iter().filter(|segment| segment.files > 0).count();
            (used > 0).then(|| Arc::new(SegmentBlock { columns, used }))
        });
        let kept: Vec<_> = kept.collect();
        // Popped in ascending order, so that neighbours in the tree are neighbours here.
        let free = (0..filter.segments.len())
            .rev()
            .filter(|at| kept[at / BLOCK_SEGMENTS].is_some() && filter.segments[*at].files == 0);
        filter.free = free.filter_map(|at| u32::try_from(at).ok()).collect();
        filter.blocks = Arc::new(kept);
        Some(filter)
    }
}

/// Counts a file in its segments; `None` where it names one that is not there.
fn count_file(uses: &mut [SegmentUse], segments: &FileSegments) -> Option<()> {
    let mut start = 0;
    for slice in segments.slices() {
        let state = uses.get_mut(slice.segment as usize)?;
        state.files = state.files.checked_add(1)?;
        state.bytes = state.bytes.checked_add(slice.end.checked_sub(start)?)?;
        start = slice.end;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use std::ops::Range;

    use super::*;
    use crate::ngram_filter::{MayMatch, filter_query::grams_of};

    fn query(pattern: &str, multiline: bool) -> FilterQuery {
        let mut parser = regex_syntax::ParserBuilder::new();
        parser.utf8(false).multi_line(true).case_insensitive(true).dot_matches_new_line(multiline);
        FilterQuery { grams: grams_of(&parser.build().parse(pattern).unwrap(), !multiline), whole_file: multiline }
    }

    fn oracle(pattern: &str, multiline: bool, content: &[u8]) -> bool {
        use grep_matcher::Matcher;
        let mut builder = grep_regex::RegexMatcherBuilder::new();
        builder.case_insensitive(true).multi_line(true).dot_matches_new_line(multiline);
        let matcher = builder.build(pattern).unwrap();
        if multiline {
            return matcher.is_match(content).unwrap();
        }
        content.split(|byte| *byte == b'\n').any(|line| matcher.is_match(line).unwrap())
    }

    impl NgramFilter {
        fn insert(&mut self, content: &[u8]) -> Option<FileSegments> {
            self.add(&ContentGrams::of(content).unwrap())
        }
    }

    fn memory() -> NgramFilter {
        NgramFilter::new(64 * BLOCK_BYTES)
    }

    #[test]
    fn absent_word_leaves_no_candidates() {
        let mut filter = memory();
        let files: Vec<_> = (0..500).map(|number| format!("fn name_{number}() {{}}\n").repeat(40)).collect();
        let placed: Vec<_> = files.iter().map(|file| filter.insert(file.as_bytes()).unwrap()).collect();
        let left = |pattern| {
            let mut candidates = filter.candidates(query(pattern, false));
            placed.iter().filter(|segments| candidates.may_match(segments) != MayMatch::Nowhere).count()
        };
        assert_eq!(left("unheard_of"), 0);
        assert!((1..60).contains(&left("name_499")));
        assert_eq!(left("name"), 500);
    }

    #[test]
    fn match_across_segments_is_admitted() {
        let mut filter = memory();
        let mut line = vec![b'-'; SEGMENT_BYTES - 3];
        line.extend_from_slice("needle\u{17F}".as_bytes());
        line.extend(vec![b'-'; SEGMENT_BYTES]);
        let one_line = filter.insert(&line).unwrap();
        assert!(matches!(one_line, FileSegments::Many { within_line: true, .. }));
        assert_eq!(filter.candidates(query("needles", false)).may_match(&one_line), MayMatch::Anywhere);
        let lines = filter.insert(&[vec![b'-'; SEGMENT_BYTES - 7], b"first\nsecond".to_vec()].concat()).unwrap();
        assert!(matches!(lines, FileSegments::Many { within_line: false, .. }));
        assert_eq!(filter.candidates(query("first.second", true)).may_match(&lines), MayMatch::Anywhere);
    }

    #[test]
    fn large_file_is_narrowed_to_lines_that_may_match() {
        let mut filter = memory();
        let mut content = b"plain words here\n".repeat(10 * SEGMENT_BYTES / 17);
        let middle = content.len() / 34 * 17;
        content.splice(middle..middle, *b"a needle, and more\n");
        let placed = filter.insert(&content).unwrap();
        let admitted = filter.candidates(query("needle", false)).may_match(&placed);
        let MayMatch::Within(slices) = &admitted else { panic!("{admitted:?}") };
        let [slice] = slices.as_slice() else { panic!("{slices:?}") };
        let bytes = &content[slice.start as usize..slice.end as usize];
        assert!(bytes.len() <= SEGMENT_BYTES && bytes.ends_with(b"\n") && content[slice.start as usize - 1] == b'\n');
        assert!(memchr::memmem::find(bytes, b"a needle").is_some());
        assert_eq!(filter.candidates(query("noodle", false)).may_match(&placed), MayMatch::Nowhere);
        assert_eq!(filter.candidates(query("plain", false)).may_match(&placed), MayMatch::Anywhere);
    }

    #[test]
    fn large_file_has_consecutive_segments_but_for_the_last() {
        let mut filter = memory();
        let line = b"plain words here\n";
        filter.insert(&line.repeat(SEGMENT_BYTES / 2 / 17)).unwrap();
        let large = filter.insert(&line.repeat(4 * SEGMENT_BYTES / 17)).unwrap();
        let (segments, last) = large.consecutive().unwrap();
        assert_eq!((segments.clone(), last), (1..5, 0), "what is left of it fits beside the small file");
        let mut candidates = filter.candidates(query("noodle", false));
        assert!(candidates.none_may_match(segments.clone(), last));
        let mut candidates = filter.candidates(query("plain", false));
        assert!(!candidates.none_may_match(segments.clone(), last));
        let mut candidates = filter.candidates(query("noodle", true));
        assert!(!candidates.none_may_match(segments, last), "no segment holds a match across segments");
        assert_eq!(filter.insert(&vec![b'-'; 4 * SEGMENT_BYTES]).unwrap().consecutive(), None, "no whole lines");
    }

    #[test]
    fn filter_memory_is_bounded_and_freed() {
        let mut filter = memory();
        let file = b"some words of content\n".repeat(1000);
        let placed: Vec<_> = (0..500).map(|_| filter.insert(&file).unwrap()).collect();
        let full = filter.memory();
        for segments in &placed {
            filter.remove(segments, file.len());
        }
        assert!(filter.memory() < full / 4 && filter.blocks.iter().all(Option::is_none));
        assert!(filter.insert(&file).is_some());
        let mut tiny = NgramFilter::new(BLOCK_BYTES);
        let fitted = (0..100).filter(|_| tiny.insert(&file).is_some()).count();
        assert_eq!(fitted, 64);
    }

    #[test]
    fn lowered_limit_takes_nothing_in_and_keeps_what_is_there() {
        let mut filter = memory();
        let file = b"some words of content\n".repeat(1000);
        let placed: Vec<_> = (0..70).map(|_| filter.insert(&file).unwrap()).collect();
        let held = filter.memory();
        filter.limit_to(BLOCK_BYTES);
        let fitted = (0..200).filter(|_| filter.insert(&file).is_some()).count();
        assert!(fitted < 128 && filter.memory() <= held, "only what the blocks have room for");
        let mut candidates = filter.candidates(query("words", false));
        assert!(placed.iter().all(|segments| candidates.may_match(segments) != MayMatch::Nowhere));
        filter.limit_to(64 * BLOCK_BYTES);
        assert!(filter.insert(&file).is_some());
    }

    #[test]
    fn reused_segment_forgets_its_former_content() {
        let mut filter = memory();
        let old = filter.insert(&b"forgotten ".repeat(3000)).unwrap();
        let _other = filter.insert(&b"something ".repeat(3000)).unwrap();
        filter.remove(&old, 30_000);
        let new = filter.insert(&b"different ".repeat(3000)).unwrap();
        assert_eq!(new, old);
        assert_eq!(filter.candidates(query("forgotten", false)).may_match(&new), MayMatch::Nowhere);
        assert_eq!(filter.candidates(query("different", false)).may_match(&new), MayMatch::Anywhere);
    }

    /// Few by default, as each compiles a pattern; `PROPTEST_CASES` for a long run.
    fn cases() -> u32 {
        std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(48)
    }

    const TEST_PIECES: &[&str] =
        &["kiss", "SKI", "ab", "needle", "\u{17F}", "\u{212A}", "é", "É", "ß", "ı", "\n", " ", "_", "xyz", "0"];
    const TEST_PATTERNS: &[&str] = &[
        "kiss",
        "ski",
        "ab",
        "needle",
        "s",
        "k",
        "é",
        ".",
        ".*",
        "[a-c]",
        "\\w",
        "(ab|xyz)",
        "x?",
        "(?:ki)+",
        "\\b",
        "^",
        "$",
        "\\s",
        "(needle|ab)?",
        "[é_]",
        "(?-u:\\xBF)",
        "(?-u:\\xC5)",
        "(?i:K)",
        "(?-i:s)",
        "|",
        "a{2,3}",
        "\\n",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases()))]
        #[test]
        fn every_file_with_a_match_is_a_candidate(
            contents in prop::collection::vec(
                (prop::collection::vec((0..TEST_PIECES.len() + 4, any::<u8>()), 0..20), prop_oneof![9 => Just(0), 1 => Just(SEGMENT_BYTES)]), 1..8),
            picks in prop::collection::vec(0..TEST_PATTERNS.len(), 1..6),
            multiline in any::<bool>(),
        ) {
            let picks: Vec<_> = picks.into_iter().map(|pick| TEST_PATTERNS[pick]).collect();
            // Alternatives are for the pattern as a whole; line breaks only where lines are joined.
            let pattern = picks.concat();
            prop_assume!(multiline || !pattern.contains("\\n"));
            let query = query(&pattern, multiline);
            let mut filter = memory();
            let files: Vec<Vec<u8>> = contents.iter().map(|(pieces, padding)| {
                let mut file = vec![b'.'; padding.saturating_sub(20)];
                for (piece, byte) in pieces {
                    match TEST_PIECES.get(*piece) {
                        Some(text) => file.extend_from_slice(text.as_bytes()),
                        None => file.push(*byte),
                    }
                }
                file
            }).collect();
            let placed: Vec<_> = files.iter().map(|file| filter.insert(file).unwrap()).collect();
            let mut candidates = filter.candidates(query);
            for (file, segments) in files.iter().zip(&placed) {
                if !oracle(&pattern, multiline, file) {
                    continue;
                }
                let admitted = candidates.may_match(segments);
                // A match need not be in all slices that are left, but it must be in one.
                let held = match &admitted {
                    MayMatch::Nowhere => false,
                    MayMatch::Anywhere => true,
                    MayMatch::Within(slices) => {
                        let lines = |slice: &Range<u32>| &file[slice.start as usize..slice.end as usize];
                        slices.iter().any(|slice| oracle(&pattern, multiline, lines(slice)))
                    }
                };
                prop_assert!(held, "{} in {:?}: {:?}", pattern, String::from_utf8_lossy(file), admitted);
            }
        }
    }
}
