//! A bit-sliced filter over the contents of files: which segments can hold what a query demands.
//!
//! A segment covers about 32 KiB of content, of several small files or a part of a large one; 64
//! segments make a block, which holds for each column one bit a segment. Only ever answers "perhaps" or
//! "certainly not", and knows neither names nor whether a file is still what it was.

use std::sync::Arc;

use super::{
    BLOCK, COLUMNS, Candidates, Columns, ContentGrams, FileSegments, FilterQuery, SEGMENT, SEGMENTS, SegmentBlock,
    SegmentSlice,
};

/// Blocks in which the columns of a query are counted before it is asked of all.
const SAMPLE: usize = 8;
/// Share of the segments that have a column, in percent, from which it is not worth asking.
const ALWAYS: usize = 97;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SegmentUse {
    pub(super) files: u32,
    pub(super) bytes: u32,
    /// Bytes of files that are no longer there: their bits stay until the segment is empty.
    pub(super) dead: u32,
}

/// The filter of many files.
#[derive(Clone, Debug)]
pub(crate) struct NgramFilter {
    /// Shared with the searches under way, all of them and each; copied when changed meanwhile.
    pub(super) blocks: Arc<Vec<Option<Arc<SegmentBlock>>>>,
    pub(super) segments: Vec<SegmentUse>,
    pub(super) free: Vec<u32>,
    /// The segment that small files are added to.
    open: Option<u32>,
    /// Blocks that may be held.
    limit: usize,
}

impl NgramFilter {
    /// An empty filter that may take `bytes` bytes of memory.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { blocks: Arc::default(), segments: Vec::new(), free: Vec::new(), open: None, limit: bytes / BLOCK }
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
            [slice] => FileSegments::One(slice.segment),
            _ => FileSegments::Many { segments: segments.into(), within_line: content.within_line },
        })
    }

    /// Forgets a file of `bytes` bytes.
    pub(crate) fn remove(&mut self, segments: &FileSegments, bytes: usize) {
        match segments {
            FileSegments::One(segment) => self.release([*segment].into_iter(), bytes),
            FileSegments::Many { segments, .. } => self.release(segments.iter().map(|slice| slice.segment), bytes),
        }
    }

    /// Takes nothing in from now on that needs more than so many bytes; what is in it stays.
    pub(crate) fn limit_to(&mut self, bytes: usize) {
        self.limit = bytes / BLOCK;
    }

    /// Memory held, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let blocks = self.blocks.iter().flatten().count();
        blocks * BLOCK + self.segments.capacity() * size_of::<SegmentUse>() + self.free.capacity() * size_of::<u32>()
    }

    /// Share of what is held that is about files which are gone, in percent.
    pub(crate) fn waste(&self) -> u64 {
        let (bytes, dead) = self
            .segments
            .iter()
            .fold((0, 0), |(bytes, dead), segment| (bytes + u64::from(segment.bytes), dead + u64::from(segment.dead)));
        (dead * 100).checked_div(bytes).unwrap_or(0)
    }

    /// What `query` leaves of the files taken in so far.
    pub(crate) fn candidates(&self, query: FilterQuery) -> Candidates {
        let FilterQuery { grams, whole_file } = query;
        let sample: Vec<_> = self.blocks.iter().flatten().step_by(self.blocks.len() / SAMPLE + 1).collect();
        let in_sample = |column| {
            let segments = sample.iter().map(|block| block.columns[usize::from(column)].count_ones() as usize);
            segments.sum()
        };
        let grams = grams.planned(sample.len() * SEGMENTS * ALWAYS / 100, in_sample);
        let blocks = if grams.is_all() { Arc::default() } else { Arc::clone(&self.blocks) };
        Candidates::new(Columns::Memory(blocks), FilterQuery { grams, whole_file })
    }

    fn segment_for(&mut self, bytes: u32) -> Option<u32> {
        if let Some(open) = self.open
            && self.segments[open as usize].bytes.saturating_add(bytes) as usize <= SEGMENT
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
            let keep = !(1_u64 << (segment as usize % SEGMENTS));
            block.columns.iter_mut().for_each(|column| *column &= keep);
            block.used += 1;
            return Some(segment);
        }
        let vacant = self.blocks.iter().position(Option::is_none);
        let index = vacant.unwrap_or(self.blocks.len());
        if index >= self.limit {
            return None;
        }
        let block = Some(Arc::new(SegmentBlock { columns: vec![0; COLUMNS].into_boxed_slice(), used: 1 }));
        if let Some(at) = vacant {
            Arc::make_mut(&mut self.blocks)[at] = block;
        } else {
            Arc::make_mut(&mut self.blocks).push(block);
            self.segments.resize(self.blocks.len() * SEGMENTS, SegmentUse::default());
        }
        let first = u32::try_from(index * SEGMENTS).ok()?;
        let end = u32::try_from((index + 1) * SEGMENTS).ok()?;
        // Popped in ascending order, so that neighbours in the tree are neighbours here.
        self.free.extend((first + 1..end).rev());
        Some(first)
    }

    /// The block of a segment, to be changed.
    fn block(&mut self, segment: u32) -> Option<&mut SegmentBlock> {
        Arc::make_mut(&mut self.blocks)[segment as usize / SEGMENTS].as_mut().map(Arc::make_mut)
    }

    fn mark(&mut self, segment: u32, bytes: u32, grams: &[u64; COLUMNS / 64]) {
        let state = &mut self.segments[segment as usize];
        state.files += 1;
        state.bytes = state.bytes.saturating_add(bytes);
        let Some(block) = self.block(segment) else { return };
        let columns = &mut block.columns;
        let bit = 1_u64 << (segment as usize % SEGMENTS);
        for (index, word) in grams.iter().enumerate() {
            let mut left = *word;
            while left != 0 {
                columns[index * 64 + left.trailing_zeros() as usize] |= bit;
                left &= left - 1;
            }
        }
    }

    fn release(&mut self, segments: impl ExactSizeIterator<Item = u32>, bytes: usize) {
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
                let index = segment as usize / SEGMENTS;
                Arc::make_mut(&mut self.blocks)[index] = None;
                self.free.retain(|free| *free as usize / SEGMENTS != index);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use std::ops::Range;

    use super::super::{candidates::MayMatch, filter_query::grams_of};
    use super::*;

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
        NgramFilter::new(64 * BLOCK)
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
        let mut line = vec![b'-'; SEGMENT - 3];
        line.extend_from_slice("needle\u{17F}".as_bytes());
        line.extend(vec![b'-'; SEGMENT]);
        let one_line = filter.insert(&line).unwrap();
        assert!(matches!(one_line, FileSegments::Many { within_line: true, .. }));
        assert_eq!(filter.candidates(query("needles", false)).may_match(&one_line), MayMatch::Anywhere);
        let lines = filter.insert(&[vec![b'-'; SEGMENT - 7], b"first\nsecond".to_vec()].concat()).unwrap();
        assert!(matches!(lines, FileSegments::Many { within_line: false, .. }));
        assert_eq!(filter.candidates(query("first.second", true)).may_match(&lines), MayMatch::Anywhere);
    }

    #[test]
    fn large_file_is_narrowed_to_lines_that_may_match() {
        let mut filter = memory();
        let mut content = b"plain words here\n".repeat(10 * SEGMENT / 17);
        let middle = content.len() / 34 * 17;
        content.splice(middle..middle, *b"a needle, and more\n");
        let placed = filter.insert(&content).unwrap();
        let admitted = filter.candidates(query("needle", false)).may_match(&placed);
        let MayMatch::Within(slices) = &admitted else { panic!("{admitted:?}") };
        let [slice] = slices.as_slice() else { panic!("{slices:?}") };
        let bytes = &content[slice.start as usize..slice.end as usize];
        assert!(bytes.len() <= SEGMENT && bytes.ends_with(b"\n") && content[slice.start as usize - 1] == b'\n');
        assert!(memchr::memmem::find(bytes, b"a needle").is_some());
        assert_eq!(filter.candidates(query("noodle", false)).may_match(&placed), MayMatch::Nowhere);
        assert_eq!(filter.candidates(query("plain", false)).may_match(&placed), MayMatch::Anywhere);
    }

    #[test]
    fn large_file_has_consecutive_segments_but_for_the_last() {
        let mut filter = memory();
        let line = b"plain words here\n";
        filter.insert(&line.repeat(SEGMENT / 2 / 17)).unwrap();
        let large = filter.insert(&line.repeat(4 * SEGMENT / 17)).unwrap();
        let (segments, last) = large.consecutive().unwrap();
        assert_eq!((segments.clone(), last), (1..5, 0), "what is left of it fits beside the small file");
        let mut candidates = filter.candidates(query("noodle", false));
        assert!(candidates.none_may_match(segments.clone(), last));
        let mut candidates = filter.candidates(query("plain", false));
        assert!(!candidates.none_may_match(segments.clone(), last));
        let mut candidates = filter.candidates(query("noodle", true));
        assert!(!candidates.none_may_match(segments, last), "no segment holds a match across segments");
        assert_eq!(filter.insert(&vec![b'-'; 4 * SEGMENT]).unwrap().consecutive(), None, "no whole lines");
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
        let mut tiny = NgramFilter::new(BLOCK);
        let fitted = (0..100).filter(|_| tiny.insert(&file).is_some()).count();
        assert_eq!(fitted, 64);
    }

    #[test]
    fn lowered_limit_takes_nothing_in_and_keeps_what_is_there() {
        let mut filter = memory();
        let file = b"some words of content\n".repeat(1000);
        let placed: Vec<_> = (0..70).map(|_| filter.insert(&file).unwrap()).collect();
        let held = filter.memory();
        filter.limit_to(BLOCK);
        let fitted = (0..200).filter(|_| filter.insert(&file).is_some()).count();
        assert!(fitted < 128 && filter.memory() <= held, "only what the blocks have room for");
        let mut candidates = filter.candidates(query("words", false));
        assert!(placed.iter().all(|segments| candidates.may_match(segments) != MayMatch::Nowhere));
        filter.limit_to(64 * BLOCK);
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

    const PIECES: &[&str] =
        &["kiss", "SKI", "ab", "needle", "\u{17F}", "\u{212A}", "é", "É", "ß", "ı", "\n", " ", "_", "xyz", "0"];
    const PATTERNS: &[&str] = &[
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
                (prop::collection::vec((0..PIECES.len() + 4, any::<u8>()), 0..20), prop_oneof![9 => Just(0), 1 => Just(SEGMENT)]), 1..8),
            picks in prop::collection::vec(0..PATTERNS.len(), 1..6),
            multiline in any::<bool>(),
        ) {
            let picks: Vec<_> = picks.into_iter().map(|pick| PATTERNS[pick]).collect();
            // Alternatives are for the pattern as a whole; line breaks only where lines are joined.
            let pattern = picks.concat();
            prop_assume!(multiline || !pattern.contains("\\n"));
            let query = query(&pattern, multiline);
            let mut filter = memory();
            let files: Vec<Vec<u8>> = contents.iter().map(|(pieces, padding)| {
                let mut file = vec![b'.'; padding.saturating_sub(20)];
                for (piece, byte) in pieces {
                    match PIECES.get(*piece) {
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
