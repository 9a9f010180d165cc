//! Bit-sliced signatures of content: which rows can hold what a formula demands.
//!
//! A row stands for about 32 KiB of content, of several small files or a slice of a large one; 64
//! rows make a block, which holds for each column one bit a row. Only ever answers "perhaps" or
//! "certainly not", and knows neither names nor whether a file is still what it was.

use std::{ops::Range, sync::Arc};

use super::Probe;
use super::formula::Formula;
use super::gram::{self, COLUMNS, OVERLAP};

/// Bytes of content that one row stands for.
pub(in crate::search) const ROW: usize = 32 << 10;
/// Rows of a block: the bits of one word.
const ROWS: usize = 64;
/// Bytes of a block.
pub(super) const BLOCK: usize = COLUMNS * size_of::<u64>();

/// 64 rows: for each column, which rows hold a gram of it.
#[derive(Clone, Debug)]
struct Block {
    columns: Box<[u64]>,
    used: u32,
}

/// Where the content of a file stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::search) enum Placement {
    /// In one row, with other small files.
    One(u32),
    /// In several rows; where a line was cut, no single row need hold all of a match.
    Many {
        /// The rows, in the order of the content.
        rows: Box<[Slice]>,
        /// A line runs from one row into the next.
        within_line: bool,
    },
}

impl Placement {
    /// The rows of a large file, where they follow upon each other but for the last one and each holds
    /// whole lines: all but the last one, and the last one.
    pub(in crate::search) fn in_a_row(&self) -> Option<(Range<u32>, u32)> {
        let Self::Many { rows, within_line: false } = self else { return None };
        let (last, others) = rows.split_last()?;
        let first = others.first()?.row;
        let count = u32::try_from(others.len()).ok()?;
        let follow = (first..).zip(others).all(|(row, slice)| slice.row == row);
        follow.then(|| (first..first + count, last.row))
    }
}

/// A row's share of a large file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) struct Slice {
    row: u32,
    /// Where it ends in the file; it begins where the one before ends.
    end: u32,
}

/// What a formula leaves of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::search) enum Admitted {
    /// Nothing: it holds no match.
    Nothing,
    /// Perhaps a match anywhere.
    Whole,
    /// Perhaps a match in the whole lines at these bytes, and nowhere else.
    Within(Vec<Range<u32>>),
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    files: u32,
    bytes: u32,
    /// Bytes of files that are no longer there: their bits stay until the row is empty.
    dead: u32,
}

/// The signatures of many files.
#[derive(Debug)]
pub(in crate::search) struct Signatures {
    /// Shared with the searches under way, all of them and each; copied when changed meanwhile.
    blocks: Arc<Vec<Option<Arc<Block>>>>,
    rows: Vec<Row>,
    free: Vec<u32>,
    /// The row that small files are added to.
    open: Option<u32>,
    /// Blocks that may be held.
    limit: usize,
}

impl Signatures {
    /// Room for signatures of at most `bytes` of memory.
    pub(in crate::search) fn new(bytes: usize) -> Self {
        Self { blocks: Arc::default(), rows: Vec::new(), free: Vec::new(), open: None, limit: bytes / BLOCK }
    }

    /// Takes in a file. `None` when there is no room.
    pub(in crate::search) fn insert(&mut self, content: &[u8]) -> Option<Placement> {
        let (mut rows, mut within_line, mut at) = (Vec::new(), false, 0);
        loop {
            let (end, cut) = slice_end(content, at);
            within_line |= cut;
            let (Some(row), Ok(until)) = (self.row_for(end - at), u32::try_from(end)) else {
                self.release(rows.iter().map(|slice: &Slice| slice.row), content.len());
                return None;
            };
            self.mark(row, end - at, &content[at..(end + OVERLAP).min(content.len())]);
            rows.push(Slice { row, end: until });
            at = end;
            if at == content.len() {
                break;
            }
        }
        Some(match rows.as_slice() {
            [slice] => Placement::One(slice.row),
            _ => Placement::Many { rows: rows.into(), within_line },
        })
    }

    /// Forgets a file of `bytes` bytes.
    pub(in crate::search) fn remove(&mut self, placement: &Placement, bytes: usize) {
        match placement {
            Placement::One(row) => self.release([*row].into_iter(), bytes),
            Placement::Many { rows, .. } => self.release(rows.iter().map(|slice| slice.row), bytes),
        }
    }

    /// Memory held, in bytes.
    pub(in crate::search) fn memory(&self) -> usize {
        let blocks = self.blocks.iter().flatten().count();
        blocks * BLOCK + self.rows.capacity() * size_of::<Row>() + self.free.capacity() * size_of::<u32>()
    }

    /// Share of what is held that stands for files which are gone, in percent.
    pub(in crate::search) fn waste(&self) -> u64 {
        let (bytes, dead) = self
            .rows
            .iter()
            .fold((0, 0), |(bytes, dead), row| (bytes + u64::from(row.bytes), dead + u64::from(row.dead)));
        (dead * 100).checked_div(bytes).unwrap_or(0)
    }

    /// What `probe` leaves of the files taken in so far.
    pub(in crate::search) fn candidates(&self, probe: &Probe) -> Candidates {
        let node = Node::of(&probe.formula);
        let blocks = if matches!(node, Node::All) { Arc::default() } else { Arc::clone(&self.blocks) };
        Candidates { blocks, node, across: probe.across, hits: Vec::new() }
    }

    fn row_for(&mut self, bytes: usize) -> Option<u32> {
        if let Some(open) = self.open
            && self.rows[open as usize].bytes as usize + bytes <= ROW
        {
            return Some(open);
        }
        let row = self.fresh_row()?;
        // Whichever leaves more room for the files to come.
        if self.open.is_none_or(|open| self.rows[open as usize].bytes as usize > bytes) {
            self.open = Some(row);
        }
        Some(row)
    }

    fn fresh_row(&mut self) -> Option<u32> {
        if let Some(row) = self.free.pop() {
            let block = self.block(row)?;
            let keep = !(1_u64 << (row as usize % ROWS));
            block.columns.iter_mut().for_each(|column| *column &= keep);
            block.used += 1;
            return Some(row);
        }
        let vacant = self.blocks.iter().position(Option::is_none);
        let index = vacant.unwrap_or(self.blocks.len());
        if index >= self.limit {
            return None;
        }
        let block = Some(Arc::new(Block { columns: vec![0; COLUMNS].into_boxed_slice(), used: 1 }));
        if let Some(at) = vacant {
            Arc::make_mut(&mut self.blocks)[at] = block;
        } else {
            Arc::make_mut(&mut self.blocks).push(block);
            self.rows.resize(self.blocks.len() * ROWS, Row::default());
        }
        let first = u32::try_from(index * ROWS).ok()?;
        // Popped in ascending order, so that neighbours in the tree are neighbours here.
        self.free.extend((first + 1..first + 64).rev());
        Some(first)
    }

    /// The block of a row, to be changed.
    fn block(&mut self, row: u32) -> Option<&mut Block> {
        Arc::make_mut(&mut self.blocks)[row as usize / ROWS].as_mut().map(Arc::make_mut)
    }

    fn mark(&mut self, row: u32, bytes: usize, content: &[u8]) {
        let state = &mut self.rows[row as usize];
        state.files += 1;
        state.bytes += u32::try_from(bytes).unwrap_or(u32::MAX);
        let Some(block) = self.block(row) else { return };
        let columns = &mut block.columns;
        let bit = 1_u64 << (row as usize % ROWS);
        // First into two KiB that stay in the nearest cache; a row repeats its grams often.
        let mut seen = [0_u64; COLUMNS / 64];
        gram::each(content, |gram| {
            let column = usize::from(gram.column());
            seen[column / 64] |= 1 << (column % 64);
        });
        for (index, word) in seen.iter().enumerate() {
            let mut left = *word;
            while left != 0 {
                columns[index * 64 + left.trailing_zeros() as usize] |= bit;
                left &= left - 1;
            }
        }
    }

    fn release(&mut self, rows: impl ExactSizeIterator<Item = u32>, bytes: usize) {
        let share = u32::try_from(bytes / rows.len().max(1)).unwrap_or(u32::MAX);
        for row in rows {
            let state = &mut self.rows[row as usize];
            state.files = state.files.saturating_sub(1);
            state.dead = state.dead.saturating_add(share).min(state.bytes);
            if state.files > 0 {
                continue;
            }
            *state = Row::default();
            if self.open == Some(row) {
                self.open = None;
            }
            let Some(block) = self.block(row) else { continue };
            block.used -= 1;
            if block.used > 0 {
                self.free.push(row);
            } else {
                let index = row as usize / ROWS;
                Arc::make_mut(&mut self.blocks)[index] = None;
                self.free.retain(|free| *free as usize / ROWS != index);
            }
        }
    }
}

/// Where the row that begins at `at` ends: at the last line break within reach, else in the midst
/// of a line, which is told.
fn slice_end(content: &[u8], at: usize) -> (usize, bool) {
    if content.len() - at <= ROW {
        return (content.len(), false);
    }
    match memchr::memrchr(b'\n', &content[at..at + ROW]) {
        Some(line_break) => (at + line_break + 1, false),
        None => (at + ROW, true),
    }
}

/// A formula over columns.
#[derive(Debug)]
enum Node {
    All,
    Nothing,
    Column(u16),
    And(Vec<Node>),
    Or(Vec<Node>),
}

impl Node {
    fn of(formula: &Formula) -> Self {
        match formula {
            Formula::All => Self::All,
            Formula::Nothing => Self::Nothing,
            Formula::Gram(gram) => Self::Column(gram.column()),
            Formula::And(parts) => Self::And(parts.iter().map(Self::of).collect()),
            Formula::Or(parts) => Self::Or(parts.iter().map(Self::of).collect()),
        }
    }

    /// Which rows of a block satisfy it.
    fn rows(&self, block: &Block) -> u64 {
        match self {
            Self::All => u64::MAX,
            Self::Nothing => 0,
            Self::Column(column) => block.columns[usize::from(*column)],
            Self::And(parts) => {
                let mut rows = u64::MAX;
                for part in parts {
                    rows &= part.rows(block);
                    if rows == 0 {
                        break;
                    }
                }
                rows
            }
            Self::Or(parts) => parts.iter().fold(0, |rows, part| rows | part.rows(block)),
        }
    }

    /// Whether rows satisfy it together.
    fn together(&self, rows: &[(&Block, u64)]) -> bool {
        match self {
            Self::All => true,
            Self::Nothing => false,
            Self::Column(column) => rows.iter().any(|(block, bit)| block.columns[usize::from(*column)] & bit != 0),
            Self::And(parts) => parts.iter().all(|part| part.together(rows)),
            Self::Or(parts) => parts.iter().any(|part| part.together(rows)),
        }
    }
}

/// The files that a formula leaves, as of one moment.
#[derive(Debug)]
pub(in crate::search) struct Candidates {
    blocks: Arc<Vec<Option<Arc<Block>>>>,
    node: Node,
    across: bool,
    /// Of each block met so far, which rows satisfy the formula.
    hits: Vec<Option<u64>>,
}

impl Candidates {
    /// Whether nothing is left out.
    pub(in crate::search) fn all(&self) -> bool {
        matches!(self.node, Node::All)
    }

    /// What may hold a match of the file there.
    pub(in crate::search) fn admit(&mut self, placement: &Placement) -> Admitted {
        if self.all() {
            return Admitted::Whole;
        }
        let whole = |perhaps| if perhaps { Admitted::Whole } else { Admitted::Nothing };
        match placement {
            Placement::One(row) => whole(self.hit(*row)),
            Placement::Many { rows, within_line } if self.across || *within_line => {
                let rows: Vec<_> = rows
                    .iter()
                    .filter_map(|Slice { row, .. }| {
                        let block = self.blocks.get(*row as usize / ROWS)?.as_deref()?;
                        Some((block, 1 << (*row as usize % ROWS)))
                    })
                    .collect();
                whole(self.node.together(&rows))
            }
            Placement::Many { rows, .. } => {
                let mut within: Vec<Range<u32>> = Vec::new();
                let mut start = 0;
                for Slice { row, end } in rows {
                    if self.hit(*row) {
                        match within.last_mut() {
                            Some(last) if last.end == start => last.end = *end,
                            _ => within.push(start..*end),
                        }
                    }
                    start = *end;
                }
                let bytes: usize = within.iter().map(Range::len).sum();
                // Most of it read piece by piece, and then perhaps all of it, gains nothing.
                if bytes == 0 || bytes > start as usize / 2 { whole(bytes > 0) } else { Admitted::Within(within) }
            }
        }
    }

    /// Whether none of these rows, which hold a file in whole lines, may hold a match.
    pub(in crate::search) fn none(&mut self, rows: Range<u32>, last: u32) -> bool {
        !self.across && !self.hit(last) && !rows.into_iter().any(|row| self.hit(row))
    }

    /// Whether what stands in that row may hold a match.
    pub(in crate::search) fn hit(&mut self, row: u32) -> bool {
        let index = row as usize / ROWS;
        if self.hits.len() <= index {
            self.hits.resize(self.blocks.len().max(index + 1), None);
        }
        let rows = match self.hits[index] {
            Some(rows) => rows,
            // A row that is not there says nothing, so it refuses nothing.
            None => match self.blocks.get(index).and_then(Option::as_deref) {
                Some(block) => self.node.rows(block),
                None => u64::MAX,
            },
        };
        self.hits[index] = Some(rows);
        rows & (1 << (row as usize % ROWS)) != 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn probe(pattern: &str, multiline: bool) -> Probe {
        let mut parser = regex_syntax::ParserBuilder::new();
        parser.utf8(false).multi_line(true).case_insensitive(true).dot_matches_new_line(multiline);
        Probe { formula: Formula::of(&parser.build().parse(pattern).unwrap(), !multiline), across: multiline }
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

    fn memory() -> Signatures {
        Signatures::new(64 * BLOCK)
    }

    #[test]
    fn an_absent_word_leaves_nothing() {
        let mut signatures = memory();
        let files: Vec<_> = (0..500).map(|number| format!("fn name_{number}() {{}}\n").repeat(40)).collect();
        let placed: Vec<_> = files.iter().map(|file| signatures.insert(file.as_bytes()).unwrap()).collect();
        let left = |pattern| {
            let mut candidates = signatures.candidates(&probe(pattern, false));
            placed.iter().filter(|placement| candidates.admit(placement) != Admitted::Nothing).count()
        };
        assert_eq!(left("unheard_of"), 0);
        assert!((1..60).contains(&left("name_499")));
        assert_eq!(left("name"), 500);
    }

    #[test]
    fn a_match_across_a_cut_is_found() {
        let mut signatures = memory();
        let mut line = vec![b'-'; ROW - 3];
        line.extend_from_slice("needle\u{17F}".as_bytes());
        line.extend(vec![b'-'; ROW]);
        let one_line = signatures.insert(&line).unwrap();
        assert!(matches!(one_line, Placement::Many { within_line: true, .. }));
        assert_eq!(signatures.candidates(&probe("needles", false)).admit(&one_line), Admitted::Whole);
        let lines = signatures.insert(&[vec![b'-'; ROW - 7], b"first\nsecond".to_vec()].concat()).unwrap();
        assert!(matches!(lines, Placement::Many { within_line: false, .. }));
        assert_eq!(signatures.candidates(&probe("first.second", true)).admit(&lines), Admitted::Whole);
    }

    #[test]
    fn of_a_large_file_only_the_lines_that_may_match_are_left() {
        let mut signatures = memory();
        let mut content = b"plain words here\n".repeat(10 * ROW / 17);
        let middle = content.len() / 34 * 17;
        content.splice(middle..middle, *b"a needle, and more\n");
        let placed = signatures.insert(&content).unwrap();
        let admitted = signatures.candidates(&probe("needle", false)).admit(&placed);
        let Admitted::Within(slices) = &admitted else { panic!("{admitted:?}") };
        let [slice] = slices.as_slice() else { panic!("{slices:?}") };
        let bytes = &content[slice.start as usize..slice.end as usize];
        assert!(bytes.len() <= ROW && bytes.ends_with(b"\n") && content[slice.start as usize - 1] == b'\n');
        assert!(memchr::memmem::find(bytes, b"a needle").is_some());
        assert_eq!(signatures.candidates(&probe("noodle", false)).admit(&placed), Admitted::Nothing);
        assert_eq!(signatures.candidates(&probe("plain", false)).admit(&placed), Admitted::Whole);
    }

    #[test]
    fn the_rows_of_a_large_file_follow_upon_each_other_but_for_the_last() {
        let mut signatures = memory();
        let line = b"plain words here\n";
        signatures.insert(&line.repeat(ROW / 2 / 17)).unwrap();
        let large = signatures.insert(&line.repeat(4 * ROW / 17)).unwrap();
        let (rows, last) = large.in_a_row().unwrap();
        assert_eq!((rows.clone(), last), (1..5, 0), "what is left of it fits beside the small file");
        let mut candidates = signatures.candidates(&probe("noodle", false));
        assert!(candidates.none(rows.clone(), last));
        let mut candidates = signatures.candidates(&probe("plain", false));
        assert!(!candidates.none(rows.clone(), last));
        let mut candidates = signatures.candidates(&probe("noodle", true));
        assert!(!candidates.none(rows, last), "a row does not tell of a match across rows");
        assert_eq!(signatures.insert(&vec![b'-'; 4 * ROW]).unwrap().in_a_row(), None, "no whole lines");
    }

    #[test]
    fn memory_comes_back_when_files_go_and_is_bounded() {
        let mut signatures = memory();
        let file = b"some words of content\n".repeat(1000);
        let placed: Vec<_> = (0..500).map(|_| signatures.insert(&file).unwrap()).collect();
        let full = signatures.memory();
        for placement in &placed {
            signatures.remove(placement, file.len());
        }
        assert!(signatures.memory() < full / 4 && signatures.blocks.iter().all(Option::is_none));
        assert!(signatures.insert(&file).is_some());
        let mut tiny = Signatures::new(BLOCK);
        let fitted = (0..100).filter(|_| tiny.insert(&file).is_some()).count();
        assert_eq!(fitted, 64);
    }

    #[test]
    fn a_row_used_again_forgets_what_it_held() {
        let mut signatures = memory();
        let old = signatures.insert(&b"forgotten ".repeat(3000)).unwrap();
        let _other = signatures.insert(&b"something ".repeat(3000)).unwrap();
        signatures.remove(&old, 30_000);
        let new = signatures.insert(&b"different ".repeat(3000)).unwrap();
        assert_eq!(new, old);
        assert_eq!(signatures.candidates(&probe("forgotten", false)).admit(&new), Admitted::Nothing);
        assert_eq!(signatures.candidates(&probe("different", false)).admit(&new), Admitted::Whole);
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
                (prop::collection::vec((0..PIECES.len() + 4, any::<u8>()), 0..20), prop_oneof![9 => Just(0), 1 => Just(ROW)]), 1..8),
            picks in prop::collection::vec(0..PATTERNS.len(), 1..6),
            multiline in any::<bool>(),
        ) {
            let picks: Vec<_> = picks.into_iter().map(|pick| PATTERNS[pick]).collect();
            // Alternatives are for the pattern as a whole; line breaks only where lines are joined.
            let pattern = picks.concat();
            prop_assume!(multiline || !pattern.contains("\\n"));
            let probe = probe(&pattern, multiline);
            let mut signatures = memory();
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
            let placed: Vec<_> = files.iter().map(|file| signatures.insert(file).unwrap()).collect();
            let mut candidates = signatures.candidates(&probe);
            for (file, placement) in files.iter().zip(&placed) {
                if !oracle(&pattern, multiline, file) {
                    continue;
                }
                let admitted = candidates.admit(placement);
                // A match need not be in all slices that are left, but it must be in one.
                let held = match &admitted {
                    Admitted::Nothing => false,
                    Admitted::Whole => true,
                    Admitted::Within(slices) => {
                        let lines = |slice: &Range<u32>| &file[slice.start as usize..slice.end as usize];
                        slices.iter().any(|slice| oracle(&pattern, multiline, lines(slice)))
                    }
                };
                prop_assert!(held, "{} in {:?}: {:?}", pattern, String::from_utf8_lossy(file), admitted);
            }
        }
    }
}
