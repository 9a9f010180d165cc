//! Where a request nearly is in a file: how alike lines and blocks are, by the one measure of all steps and of the
//! diagnosis; the places that the lines vote for which both share and the file has rarely; and which lines of a request
//! answer which lines of the file, where some are missing, extra or changed.
//!
//! Lines are compared without indentation and white space at their ends. All costs are bounded, whatever the texts
//! hold.

use std::{collections::HashMap, ops::Range, time::Duration};

use rapidfuzz::distance::levenshtein;

use crate::line_parts::{content, hash, parts};
use crate::{diff, placeholder, search::Search};

/// Characters of a line that are compared one by one; longer lines are alike only when equal.
const MAX_LINE: usize = 2000;

/// Lines of `old` among which the longest is looked for.
const MAX_PROBED: usize = 4000;

/// Lengths of the probe and of the file's lines in the search for a single line, in characters.
const PROBE_CHARS: usize = 256;

/// Work for comparisons of characters, in machine words of 64 cells each.
const CELL_BUDGET: usize = 40_000_000;

/// The work that comparing characters may still take.
pub(super) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(CELL_BUDGET)
    }
}

impl Budget {
    /// Takes the cost of comparing two lines; false when it cannot be afforded.
    pub(super) fn spend(&mut self, a: usize, b: usize) -> bool {
        // rapidfuzz computes 64 cells of the table at once (Myers' bit-parallel algorithm).
        let cost = a * b.div_ceil(64) + a + b;
        let left = self.0.checked_sub(cost);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// How alike two lines are, from 0 to 1, with the number of characters that this is a share of.
pub(super) fn of_lines(old: &str, file: &str, budget: &mut Budget) -> (f64, usize) {
    let (old, file) = (content(old), content(file));
    let (a, b) = (old.chars().count(), file.chars().count());
    let longest = a.max(b);
    if old == file {
        return (1.0, longest);
    }
    if longest > MAX_LINE || a.min(b) == 0 || !budget.spend(a, b) {
        return (0.0, longest);
    }
    (levenshtein::normalized_similarity(old.chars(), file.chars()), longest)
}

/// A count of characters as a number to divide.
fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// How alike the beginnings of two lines are, from 0 to 1: enough to tell a version of a line from another line.
pub(super) fn of_starts(old: &str, new: &str) -> f64 {
    const COMPARED_CHARS: usize = 400;
    let start = |line: &str| line.chars().take(COMPARED_CHARS).collect::<Vec<char>>();
    levenshtein::normalized_similarity(start(old), start(new))
}

/// How alike two blocks of equally many lines are, from 0 to 1: the similarity of their lines, weighted by length.
/// Never more than Levenshtein's similarity over the whole block, whose distance is at most the sum over its lines.
/// `None` when it is below `least`, which is found out early.
pub(super) fn of_blocks<'t>(
    old: &[&str],
    file: impl Iterator<Item = &'t str>,
    least: f64,
    budget: &mut Budget,
) -> Option<f64> {
    let whole: usize = old.iter().map(|line| content(line).chars().count()).sum();
    let (mut total, mut lost) = (0.0, 0.0);
    for (old, file) in old.iter().zip(file) {
        let (alike, weight) = of_lines(old, file, budget);
        let weight = number(weight);
        total += weight;
        lost += (1.0 - alike) * weight;
        let at_most = number(whole).max(total) + lost;
        if lost > (1.0 - least) * at_most {
            return None;
        }
    }
    let alike = if total == 0.0 { 1.0 } else { 1.0 - lost / total };
    (alike >= least).then_some(alike)
}

/// The file's line most like the longest line of `old`, and that line, both counted from 0.
pub(super) fn line_like_longest(search: &Search<'_>, old: &[&str]) -> Option<(usize, usize)> {
    let (index, probe) = old.iter().enumerate().take(MAX_PROBED).max_by_key(|(_, line)| content(line).len())?;
    let probe: Vec<char> = content(probe).chars().take(PROBE_CHARS).collect();
    let comparator = levenshtein::BatchComparator::new(probe.iter().copied());
    let mut budget = Budget::default();
    let mut best: Option<(f64, usize)> = None;
    for (number, line) in search.contents().map(content).enumerate() {
        // Bytes are at least a quarter as many characters and at most all of them.
        if line.len() < probe.len() / 2 || line.len() / 4 > probe.len() * 2 {
            continue;
        }
        let line: Vec<char> = line.chars().take(PROBE_CHARS).collect();
        if !budget.spend(probe.len(), line.len()) {
            break;
        }
        let least = best.map_or(0.4, |(alike, _)| alike);
        let args = levenshtein::Args::default().score_cutoff(least);
        if let Some(alike) = comparator.normalized_similarity_with_args(line.iter().copied(), &args)
            && best.is_none_or(|(most, _)| alike > most)
        {
            best = Some((alike, number));
        }
    }
    best.map(|(_, number)| (number, index))
}

/// Lines of the request that vote for a place.
const MAX_VOTERS: usize = 4000;

/// A line that the file has more often than this says nothing about a place.
const COMMON_COUNT: u16 = 64;

/// Places in the request of one repeated line that may vote.
const MAX_REPEATS: usize = 4;

pub(super) struct SharedLine {
    pub(super) old: usize,
    pub(super) file: usize,
    pub(super) count: u16,
}

/// The rare lines that both have, in the order of the file. Lines are given by a hash, those of the request with their
/// place in it; lines without one say nothing.
pub(super) fn shared_lines(
    old: impl Iterator<Item = (usize, Option<u64>)>,
    file: impl Iterator<Item = Option<u64>>,
) -> Vec<SharedLine> {
    let mut voters: HashMap<u64, (Vec<usize>, u16)> = HashMap::new();
    for (index, hash) in old.take(MAX_VOTERS) {
        let Some(hash) = hash else { continue };
        let (places, _) = voters.entry(hash).or_default();
        if places.len() < MAX_REPEATS {
            places.push(index);
        }
    }
    let mut seen: Vec<(usize, u64)> = Vec::new();
    for (line, hash) in file.enumerate() {
        let Some((hash, (_, count))) = hash.and_then(|hash| Some((hash, voters.get_mut(&hash)?))) else { continue };
        *count = count.saturating_add(1);
        if *count <= COMMON_COUNT {
            seen.push((line, hash));
        }
    }
    let mut found = Vec::new();
    for (file, hash) in seen {
        let (places, count) = &voters[&hash];
        if *count <= COMMON_COUNT {
            found.extend(places.iter().map(|old| SharedLine { old: *old, file, count: *count }));
        }
    }
    found
}

/// First lines of at most `count` windows of the file that share the most rare lines with the request, the best first.
pub(super) fn windows(shared: &[SharedLine], count: usize) -> Vec<usize> {
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for start in shared.iter().filter_map(|line| line.file.checked_sub(line.old)) {
        *votes.entry(start).or_default() += 1;
    }
    let mut windows: Vec<(usize, usize)> = votes.into_iter().map(|(start, votes)| (votes, start)).collect();
    // By the place as well: the order of a hash map is another one each time.
    windows.sort_unstable_by_key(|(votes, start)| (usize::MAX - votes, *start));
    windows.into_iter().take(count).map(|(_, start)| start).collect()
}

/// Lines less alike than this are different lines.
const MIN_SIMILARITY: f64 = 0.5;

/// The similarity of two lines that differ in nothing but white space, punctuation and casing.
const SAME_LETTERS: f64 = 0.97;

struct LineKey<'t> {
    content: &'t str,
    /// A hash of its letters, where they mean anything.
    letters: Option<u64>,
    weight: f32,
    indent: &'t str,
    is_placeholder: bool,
}

impl<'t> LineKey<'t> {
    fn new(line: &'t str) -> Self {
        const MAX_WINDOW_LINES: usize = 80;
        const MIN_WINDOW_LINES: usize = 4;
        let content = content(line);
        let length = u16::try_from(content.len().min(MAX_WINDOW_LINES) + MIN_WINDOW_LINES).unwrap_or(u16::MAX);
        let weight = if content.is_empty() { 1.0 } else { f32::from(length) };
        let indent = parts(line).0;
        Self {
            content,
            letters: letters(content),
            weight,
            indent,
            is_placeholder: placeholder::is_placeholder(content),
        }
    }

    /// From 0 to 1, by as much work as the budget still pays for.
    fn alike(&self, other: &Self, budget: &mut Budget) -> f64 {
        if self.content == other.content {
            return 1.0;
        }
        if self.letters.is_some() && self.letters == other.letters {
            return SAME_LETTERS;
        }
        let (short, long) = (self.content.len().min(other.content.len()), self.content.len().max(other.content.len()));
        if short * 2 < long {
            return 0.0;
        }
        match of_lines(self.content, other.content, budget).0 {
            alike if alike > 0.0 => alike,
            // Too long to be compared letter by letter.
            _ => long_alike(self.content, other.content, budget),
        }
    }
}

/// How alike two long lines are: by their ends and, where they are not too long for it, by their words.
fn long_alike(a: &str, b: &str, budget: &mut Budget) -> f64 {
    const MAX_TABLE_CELLS: usize = 1 << 20;
    // Comparing ends is as fast as reading; words are hashed one by one.
    if !budget.spend((a.len() + b.len()) / 64, 1) {
        return 0.0;
    }
    let ends = ends_shared(a, b);
    if ends >= MIN_SIMILARITY || a.len().max(b.len()) > MAX_TABLE_CELLS || !budget.spend(a.len() + b.len(), 1) {
        return ends;
    }
    let mut counts: HashMap<&str, i32> = HashMap::new();
    for word in split(a) {
        *counts.entry(word).or_default() += 1;
    }
    let (mut shared, mut whole) = (0, 0);
    for word in split(b) {
        whole += word.len();
        if let Some(count) = counts.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            shared += word.len();
        }
    }
    let other: usize = split(a).map(str::len).sum();
    number(shared) / number(whole.max(other).max(1))
}

fn split(line: &str) -> impl Iterator<Item = &str> {
    line.split(|one: char| !one.is_alphanumeric()).filter(|word| !word.is_empty())
}

pub(super) fn ends_shared(a: &str, b: &str) -> f64 {
    let (before, after) = shared_ends(a, b);
    number(before + after) / number(a.len().max(b.len()).max(1))
}

/// Bytes that both texts begin with, and that the rests of both end with; on character boundaries.
pub(super) fn shared_ends(a: &str, b: &str) -> (usize, usize) {
    let before = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let before = (0..=before).rev().find(|at| a.is_char_boundary(*at)).unwrap_or(0);
    // Characters can share bytes that are no character: the ends of the rests are compared from a boundary on.
    let (a, b) = (&a[before..], &b[before..]);
    let after = a.bytes().rev().zip(b.bytes().rev()).take_while(|(a, b)| a == b).count();
    (before, a.len() - (a.len() - after..=a.len()).find(|at| a.is_char_boundary(*at)).unwrap_or(a.len()))
}

/// A hash of the letters and digits of a line, whatever their casing; `None` where they are too few to mean anything.
fn letters(line: &str) -> Option<u64> {
    const MIN_LETTERS: usize = 3;
    // Fowler, Noll and Vo's hash: every line of the file is hashed, and an accident only costs a vote.
    let mut hash: u64 = 0xCBF2_9CE4_8422_2325;
    let mut count = 0;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    for character in line.chars() {
        if character.is_ascii_alphanumeric() {
            count += 1;
            add(character.to_ascii_lowercase() as u8);
        } else if !character.is_ascii() && character.is_alphanumeric() {
            count += 1;
            character.to_lowercase().for_each(|lower| u32::from(lower).to_le_bytes().into_iter().for_each(&mut add));
        }
    }
    (count >= MIN_LETTERS).then_some(hash)
}

const MAX_REGIONS: usize = 3;

/// Lines that may lie between two parts of the request, beyond those that it has there itself: a placeholder, or lines
/// that the request knows nothing of.
const MAX_DISTANCE: usize = 150;

/// Cells of the largest table that is filled; larger requests are compared by equal lines alone.
const MAX_CELLS: usize = 120_000;

/// Time for the comparison of larger requests; beyond it the alignment is coarser.
const DIFF_TIME: Duration = Duration::from_millis(200);

/// The cost of skipping lines of the file between two lines of the request, and over each of them.
const GAP_COST: (f32, f32) = (4.0, 0.05);

/// The worth of two lines that are indented alike: of several braces that one is meant.
const INDENT_WORTH: f32 = 2.0;

const LEFT_OUT: f32 = 1.0;

/// A line of the request, of the file, or of both, where the file's is a version of the request's; counted from 0. A line
/// that only the file has is between two that both have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LinePair {
    pub(super) old: Option<usize>,
    pub(super) file: Option<usize>,
}

impl LinePair {
    pub(super) fn both(&self) -> Option<(usize, usize)> {
        self.old.zip(self.file)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Alignment {
    /// In order; lines of the file are listed between the first and the last that has a counterpart.
    pub(super) pairs: Vec<LinePair>,
    /// From 0 to 1: how much of the request is there.
    pub(super) alike: f64,
    /// Lines with letters that are the same on both sides but for white space at their ends.
    pub(super) same: usize,
}

impl Alignment {
    /// The lines of the file from the first to the last that has a counterpart.
    pub(super) fn block(&self) -> Range<usize> {
        self.counterparts(&(0..usize::MAX)).unwrap_or(0..0)
    }

    /// The lines of the file for the lines `old` of the request: those of its counterparts, else the
    /// empty range where they belong.
    pub(super) fn place_of(&self, old: Range<usize>) -> Range<usize> {
        self.counterparts(&old).unwrap_or_else(|| {
            let at = self.counterparts(&(0..old.start)).map_or(self.block().start, |before| before.end);
            at..at
        })
    }

    /// From the first line of the file to the last that has a counterpart among these of the request.
    fn counterparts(&self, old: &Range<usize>) -> Option<Range<usize>> {
        let mut lines = self.pairs.iter().filter_map(LinePair::both).filter(|(at, _)| old.contains(at));
        let (_, first) = lines.next()?;
        Some(first..lines.next_back().map_or(first, |(_, last)| last) + 1)
    }
}

/// The best of the alignments of `old` with the regions of the file that share the most with it, if any does, or with
/// the lines around `guess`, each a line of the file and the line of `old` that belongs there.
pub(super) fn nearest(search: &Search<'_>, old: &[&str], guess: &[(usize, usize)]) -> Option<Alignment> {
    let keys: Vec<LineKey<'_>> = old.iter().map(|line| LineKey::new(line)).collect();
    // What was left out may be anything.
    let has_placeholder = old.iter().any(|line| placeholder::is_placeholder(line));
    let slack = if has_placeholder { MAX_DISTANCE } else { 3 + keys.len() / 8 };
    let around = |(file, at): &(usize, usize)| {
        let start = file.saturating_sub(at + slack);
        start..(file + keys.len() - at + slack).min(search.lines().len())
    };
    let mut regions = regions(search, &keys, slack);
    regions.extend(guess.iter().map(around));
    let mut budget = Budget::default();
    let fitted = regions.into_iter().map(|region| fit(search, &keys, region, &mut budget));
    fitted.reduce(|best, other| if other.alike > best.alike { other } else { best }).filter(|best| best.alike > 0.0)
}

fn regions(search: &Search<'_>, old: &[LineKey<'_>], slack: usize) -> Vec<Range<usize>> {
    let mut anchors = shared_lines(old.iter().map(|key| key.letters).enumerate(), search.contents().map(letters));
    anchors.sort_unstable_by_key(|anchor| (anchor.old, anchor.file));
    // Shifted, so that a place before the file's beginning has a number, too.
    let size = (old.len() / 4).clamp(3, 40);
    let diagonal = |anchor: &SharedLine| (anchor.file + size * (old.len() / size + 2) - anchor.old) / size;
    let mut votes: HashMap<usize, f32> = HashMap::new();
    for anchor in &anchors {
        for bucket in [diagonal(anchor), diagonal(anchor) - 1] {
            *votes.entry(bucket).or_default() += old[anchor.old].weight / f32::from(anchor.count);
        }
    }
    let mut buckets: Vec<(usize, f32)> = votes.into_iter().collect();
    // By the number as well, as the order of a hash map is another one each time.
    buckets.sort_unstable_by(|(a, first), (b, second)| second.total_cmp(first).then(a.cmp(b)));
    let mut chosen: Vec<usize> = Vec::new();
    for (bucket, _) in buckets {
        if chosen.len() < MAX_REGIONS && chosen.iter().all(|other| other.abs_diff(bucket) > 1) {
            chosen.push(bucket);
        }
    }
    let whole = search.lines().len();
    let region = |bucket: usize| {
        let near: Vec<&SharedLine> =
            anchors.iter().filter(|anchor| (bucket..bucket + 2).contains(&diagonal(anchor))).collect();
        let hull = hull(&anchors, &near, old.len())?;
        Some(hull.start.saturating_sub(slack)..(hull.end + slack).min(whole))
    };
    chosen.into_iter().filter_map(region).collect()
}

/// The lines of the file that the `near` anchors stretch over, and those that go on from them at a distance.
fn hull(anchors: &[SharedLine], near: &[&SharedLine], count: usize) -> Option<Range<usize>> {
    let (mut start, mut end) = (*near.first()?, *near.last()?);
    let follows = |first: &SharedLine, next: &SharedLine| {
        next.old > first.old
            && next.file > first.file
            && next.file - first.file <= MAX_DISTANCE + (next.old - first.old)
    };
    for anchor in anchors {
        end = if follows(end, anchor) { anchor } else { end };
    }
    for anchor in anchors.iter().rev() {
        start = if follows(anchor, start) { anchor } else { start };
    }
    let low = near.iter().map(|anchor| anchor.file.saturating_sub(anchor.old)).min()?;
    let high = near.iter().map(|anchor| anchor.file + count - anchor.old).max()?;
    Some(low.min(start.file.saturating_sub(start.old))..high.max(end.file + count - end.old))
}

fn fit(search: &Search<'_>, old: &[LineKey<'_>], region: Range<usize>, budget: &mut Budget) -> Alignment {
    let lines = search.lines().get(region.clone()).unwrap_or_default();
    let file: Vec<LineKey<'_>> = lines.iter().map(|line| LineKey::new(line.content(search.text))).collect();
    let mut pairs = if old.len() * file.len() <= MAX_CELLS { fitted(old, &file, budget) } else { compared(old, &file) };
    let is_both = |pair: &LinePair| pair.both().is_some();
    let first = pairs.iter().position(is_both).unwrap_or(pairs.len());
    let last = pairs.iter().rposition(is_both).unwrap_or(0);
    let mut index = 0;
    pairs.retain(|pair| {
        index += 1;
        pair.old.is_some() || (first..=last).contains(&(index - 1))
    });
    let whole: f32 = old.iter().map(|key| key.weight).sum();
    let (mut there, mut extra, mut same) = (0.0, 0.0, 0);
    for pair in &mut pairs {
        let Some(line) = pair.file.map(|line| &file[line]) else { continue };
        match pair.old.map(|at| &old[at]) {
            Some(old) => {
                // As much as the budget still pays for.
                there += f64::from(old.weight) * old.alike(line, budget);
                same += usize::from(old.letters.is_some() && old.content == line.content);
            }
            None => extra += f64::from(line.weight),
        }
        pair.file = pair.file.map(|line| region.start + line);
    }
    // Lines between count little: they do not make those around them another place.
    let alike = there / (f64::from(whole) + extra / 8.0).max(1.0);
    Alignment { pairs, alike, same }
}

/// How a cell of the table was reached: by pairing the two lines or by leaving out the request's, from the cell before
/// or from one where lines of the file were skipped.
const PAIR_STEP: u8 = 1;
const PAIR_AFTER_GAP: u8 = 2;
const SKIP_STEP: u8 = 3;
const SKIP_AFTER_GAP: u8 = 4;
const OPEN_FLAG: u8 = 8;

/// The best alignment of all lines of `old` with some lines of `file`, both in their order: Gotoh's algorithm for
/// alignments with affine gap costs (J. Mol. Biol. 162, 1982), free at the ends of the file.
fn fitted(old: &[LineKey<'_>], file: &[LineKey<'_>], budget: &mut Budget) -> Vec<LinePair> {
    let width = file.len() + 1;
    let at = |row: usize, column: usize| row * width + column;
    let size = (old.len() + 1) * width;
    // What is reached with so many lines of both, and the same while lines of the file are skipped.
    let (mut here, mut gap) = (vec![0.0_f32; size], vec![f32::MIN; size]);
    let mut steps = vec![0_u8; size];
    for row in 1..=old.len() {
        for column in 0..=file.len() {
            let (above, above_gap) = (here[at(row - 1, column)], gap[at(row - 1, column)]);
            let mut best = (above - LEFT_OUT, SKIP_STEP);
            if above_gap - LEFT_OUT > best.0 {
                best = (above_gap - LEFT_OUT, SKIP_AFTER_GAP);
            }
            if column > 0 {
                let before = at(row - 1, column - 1);
                if let Some(gain) = gain(&old[row - 1], &file[column - 1], budget) {
                    if here[before] + gain > best.0 {
                        best = (here[before] + gain, PAIR_STEP);
                    }
                    if gap[before] + gain > best.0 {
                        best = (gap[before] + gain, PAIR_AFTER_GAP);
                    }
                }
                let opening = if old[row - 1].is_placeholder { GAP_COST.1 } else { GAP_COST.0 };
                let (opened, extended) = (here[at(row, column - 1)] - opening, gap[at(row, column - 1)] - GAP_COST.1);
                gap[at(row, column)] = opened.max(extended);
                if opened >= extended {
                    steps[at(row, column)] |= OPEN_FLAG;
                }
            }
            here[at(row, column)] = best.0;
            steps[at(row, column)] |= best.1;
        }
    }
    let last = &here[at(old.len(), 0)..];
    let end = (0..=file.len()).max_by(|a, b| last[*a].total_cmp(&last[*b]).then(b.cmp(a))).unwrap_or(0);
    traced_back(&steps, width, old.len(), end)
}

/// The alignment that the `steps` of a table lead to at its last row and the column `end`.
fn traced_back(steps: &[u8], width: usize, rows: usize, end: usize) -> Vec<LinePair> {
    let (mut row, mut column, mut in_gap) = (rows, end, false);
    let mut pairs = Vec::new();
    while row > 0 {
        let step = steps[row * width + column];
        if in_gap {
            pairs.push(LinePair { old: None, file: Some(column - 1) });
            in_gap = step & OPEN_FLAG == 0;
            column -= 1;
            continue;
        }
        row -= 1;
        let step = step & !OPEN_FLAG;
        in_gap = matches!(step, PAIR_AFTER_GAP | SKIP_AFTER_GAP);
        let is_pair = matches!(step, PAIR_STEP | PAIR_AFTER_GAP);
        column -= usize::from(is_pair);
        pairs.push(LinePair { old: Some(row), file: is_pair.then_some(column) });
    }
    pairs.reverse();
    pairs
}

/// The worth of a pair of lines; `None` for lines that are none.
fn gain(old: &LineKey<'_>, file: &LineKey<'_>, budget: &mut Budget) -> Option<f32> {
    if old.content.is_empty() || file.content.is_empty() {
        return (old.content == file.content).then_some(1.0);
    }
    let alike = old.alike(file, budget);
    #[expect(clippy::cast_possible_truncation, reason = "a share, of which two digits matter")]
    let worth = (2.0 * alike - 0.9) as f32;
    let indent = if old.indent == file.indent { INDENT_WORTH } else { 0.0 };
    (alike >= MIN_SIMILARITY).then(|| old.weight.max(file.weight) * worth + indent)
}

/// The same for more lines: those that are equal, and what is between them line by line.
fn compared(old: &[LineKey<'_>], file: &[LineKey<'_>]) -> Vec<LinePair> {
    let contents = |keys: &[LineKey<'_>]| -> Vec<u64> { keys.iter().map(|key| hash(key.content)).collect() };
    let mut pairs = Vec::new();
    for op in diff::ops(&contents(old), &contents(file), DIFF_TIME) {
        let (old, file) = (op.old_range(), op.new_range());
        let both = old.len().min(file.len());
        pairs.extend(old.clone().zip(file.clone()).map(|(old, file)| LinePair { old: Some(old), file: Some(file) }));
        pairs.extend(old.skip(both).map(|old| LinePair { old: Some(old), file: None }));
        pairs.extend(file.skip(both).map(|file| LinePair { old: None, file: Some(file) }));
    }
    pairs
}
