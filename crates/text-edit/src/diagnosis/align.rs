//! Which lines of a request answer which lines of the file, where some are missing, extra or changed.
//!
//! First a few regions of the file are chosen by the lines that both share and the file has rarely; then the request
//! is fitted into each, as in the alignment of a short sequence with a part of a long one. All costs are bounded,
//! whatever the texts hold.

use std::{collections::HashMap, ops::Range, time::Duration};

use similar::{Algorithm, DiffOp};

use super::line_key::{LEAST, LineKey, letters};
use crate::{
    Prepared, diff,
    line_parts::hash,
    placeholder,
    similarity::{self, Budget},
};

/// Regions that the request is fitted into.
const REGIONS: usize = 3;

/// Lines that may lie between two parts of the request, beyond those that it has there itself: a placeholder, or lines
/// that the request knows nothing of.
const FARTHEST: usize = 150;

/// Cells of the largest table that is filled; larger requests are compared by equal lines alone.
const CELLS: usize = 120_000;

/// Time for the comparison of larger requests; beyond it the alignment is coarser.
const DIFF_TIME: Duration = Duration::from_millis(200);

/// What it costs to pass over lines of the file between two lines of the request, and over each of them.
const GAP: (f32, f32) = (4.0, 0.05);

/// What it is worth that two lines are indented alike.
const INDENT: f32 = 2.0;

/// What it costs to leave out a line of the request.
const LEFT_OUT: f32 = 1.0;

/// A line on one side or on both, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    /// A line of the request and the file's version of it.
    Both {
        /// Counted within the request.
        old: usize,
        /// Counted within the file.
        file: usize,
    },
    /// A line that the file does not have there.
    OldOnly(usize),
    /// A line that the request lacks, between two that it has.
    FileOnly(usize),
}

/// The request fitted into the file.
#[derive(Clone, Debug)]
pub(super) struct Alignment {
    /// In order; lines of the file are listed between the first and the last that has a counterpart.
    pub(super) pairs: Vec<Pair>,
    /// From 0 to 1: how much of the request is there.
    pub(super) alike: f64,
    /// Lines with letters that are the same on both sides but for white space at their ends.
    pub(super) same: usize,
}

impl Alignment {
    /// The lines of the file from the first to the last that has a counterpart.
    pub(super) fn block(&self) -> Range<usize> {
        let file = |pair: &Pair| if let Pair::Both { file, .. } = pair { Some(*file) } else { None };
        let first = self.pairs.iter().find_map(file).unwrap_or(0);
        let last = self.pairs.iter().rev().find_map(file);
        first..last.map_or(first, |last| last + 1)
    }

    /// The lines of the file in the place of the lines `old` of the request: those of its counterparts, else the
    /// empty range where they belong.
    pub(super) fn place_of(&self, old: Range<usize>) -> Range<usize> {
        let within = |pair: &&Pair| matches!(pair, Pair::Both { old: at, .. } if old.contains(at));
        let file = |pair: &Pair| if let Pair::Both { file, .. } = pair { *file } else { 0 };
        let first = self.pairs.iter().find(within).map(file);
        let last = self.pairs.iter().rev().find(within).map(file);
        if let (Some(first), Some(last)) = (first, last) {
            return first..last + 1;
        }
        let before = |pair: &&Pair| matches!(pair, Pair::Both { old: at, .. } if *at < old.start);
        let at = self.pairs.iter().rev().find(before).map_or(self.block().start, |pair| file(pair) + 1);
        at..at
    }
}

/// The best of the alignments of `old` with the regions of the file that share the most with it, if any does, or with
/// the lines around `guess`, each a line of the file and the line of `old` that belongs there.
pub(super) fn nearest(prepared: &Prepared<'_>, old: &[&str], guess: &[(usize, usize)]) -> Option<Alignment> {
    let keys: Vec<LineKey<'_>> = old.iter().map(|line| LineKey::new(line)).collect();
    // What was left out may be anything.
    let has_placeholder = old.iter().any(|line| placeholder::is_placeholder(line));
    let slack = if has_placeholder { FARTHEST } else { 3 + keys.len() / 8 };
    let around = |(file, at): &(usize, usize)| {
        let start = file.saturating_sub(at + slack);
        start..(file + keys.len() - at + slack).min(prepared.lines().len())
    };
    let mut regions = regions(prepared, &keys, slack);
    regions.extend(guess.iter().map(around));
    let mut budget = Budget::default();
    let fitted = regions.into_iter().map(|region| fit(prepared, &keys, region, &mut budget));
    fitted.reduce(|best, other| if other.alike > best.alike { other } else { best }).filter(|best| best.alike > 0.0)
}

/// A line that the file has rarely: where in the request, where in the file, and how much it says.
type Anchor = (usize, usize, f32);

fn anchors(prepared: &Prepared<'_>, old: &[LineKey<'_>]) -> Vec<Anchor> {
    let shared =
        similarity::shared_lines(old.iter().map(|key| key.letters).enumerate(), prepared.contents().map(letters));
    let anchor = |line: &similarity::SharedLine| (line.old, line.file, old[line.old].weight / f32::from(line.count));
    let mut anchors: Vec<Anchor> = shared.iter().map(anchor).collect();
    anchors.sort_unstable_by_key(|(old, file, _)| (*old, *file));
    anchors
}

/// The regions of the file that the anchors point at, the best first.
fn regions(prepared: &Prepared<'_>, old: &[LineKey<'_>], slack: usize) -> Vec<Range<usize>> {
    let anchors = anchors(prepared, old);
    let size = i64::try_from((old.len() / 4).clamp(3, 40)).unwrap_or(3);
    let diagonal = |anchor: &Anchor| {
        let [old, file] = [anchor.0, anchor.1].map(|index| i64::try_from(index).unwrap_or(i64::MAX));
        (file - old).div_euclid(size)
    };
    let mut votes: HashMap<i64, f32> = HashMap::new();
    for anchor in &anchors {
        for bucket in [diagonal(anchor), diagonal(anchor) - 1] {
            *votes.entry(bucket).or_default() += anchor.2;
        }
    }
    let mut buckets: Vec<(i64, f32)> = votes.into_iter().collect();
    buckets.sort_unstable_by(|(a, first), (b, second)| second.total_cmp(first).then(a.cmp(b)));
    let mut chosen: Vec<i64> = Vec::new();
    for (bucket, _) in buckets {
        if chosen.len() < REGIONS && chosen.iter().all(|other| other.abs_diff(bucket) > 1) {
            chosen.push(bucket);
        }
    }
    let whole = prepared.lines().len();
    let region = |bucket: i64| {
        let near: Vec<&Anchor> =
            anchors.iter().filter(|anchor| (0..2).contains(&(diagonal(anchor) - bucket))).collect();
        let hull = hull(&anchors, &near, old.len())?;
        Some(hull.start.saturating_sub(slack)..(hull.end + slack).min(whole))
    };
    chosen.into_iter().filter_map(region).collect()
}

/// The lines of the file that the `near` anchors stretch over, and those that go on from them at a distance.
fn hull(anchors: &[Anchor], near: &[&Anchor], count: usize) -> Option<Range<usize>> {
    let (first, last) = (near.first()?, near.last()?);
    let (mut start, mut end) = ((first.0, first.1), (last.0, last.1));
    let follows = |first: (usize, usize), next: (usize, usize)| {
        next.0 > first.0 && next.1 > first.1 && next.1 - first.1 <= FARTHEST + (next.0 - first.0)
    };
    for (old, file, _) in anchors {
        end = if follows(end, (*old, *file)) { (*old, *file) } else { end };
    }
    for (old, file, _) in anchors.iter().rev() {
        start = if follows((*old, *file), start) { (*old, *file) } else { start };
    }
    let low = near.iter().map(|(old, file, _)| file.saturating_sub(*old)).min()?;
    let high = near.iter().map(|(old, file, _)| file + count - old).max()?;
    Some(low.min(start.1.saturating_sub(start.0))..high.max(end.1 + count - end.0))
}

/// The request fitted into a region of the file.
fn fit(prepared: &Prepared<'_>, old: &[LineKey<'_>], region: Range<usize>, budget: &mut Budget) -> Alignment {
    let lines = prepared.lines().get(region.clone()).unwrap_or_default();
    let file: Vec<LineKey<'_>> = lines.iter().map(|line| LineKey::new(line.content(prepared.text))).collect();
    let mut pairs = if old.len() * file.len() <= CELLS { fitted(old, &file, budget) } else { compared(old, &file) };
    let is_both = |pair: &Pair| matches!(pair, Pair::Both { .. });
    let first = pairs.iter().position(is_both).unwrap_or(pairs.len());
    let last = pairs.iter().rposition(is_both).unwrap_or(0);
    let mut index = 0;
    pairs.retain(|pair| {
        index += 1;
        !matches!(pair, Pair::FileOnly(_)) || (first..=last).contains(&(index - 1))
    });
    let whole: f32 = old.iter().map(|key| key.weight).sum();
    let (mut there, mut extra, mut same) = (0.0, 0.0, 0);
    for pair in &mut pairs {
        match pair {
            Pair::Both { old: at, file: line } => {
                // As much as the budget still pays for.
                let alike = old[*at].alike(&file[*line], budget);
                there += f64::from(old[*at].weight) * alike;
                same += usize::from(old[*at].letters.is_some() && old[*at].content == file[*line].content);
                *line += region.start;
            }
            Pair::FileOnly(line) => {
                extra += f64::from(file[*line].weight);
                *line += region.start;
            }
            Pair::OldOnly(_) => {}
        }
    }
    // Lines between count little: they do not make those around them another place.
    let alike = there / (f64::from(whole) + extra / 8.0).max(1.0);
    Alignment { pairs, alike, same }
}

/// How a cell of the table was reached: by pairing the two lines or by leaving out the request's, from the cell before
/// or from one where lines of the file were passed over.
const PAIR: u8 = 1;
const PAIR_AFTER_GAP: u8 = 2;
const SKIP: u8 = 3;
const SKIP_AFTER_GAP: u8 = 4;
/// Added where passing over lines of the file begins.
const OPEN: u8 = 8;

/// The best alignment of all lines of `old` with some lines of `file`, both in their order: Gotoh's algorithm for
/// alignments with affine gap costs (J. Mol. Biol. 162, 1982), free at the ends of the file.
fn fitted(old: &[LineKey<'_>], file: &[LineKey<'_>], budget: &mut Budget) -> Vec<Pair> {
    let width = file.len() + 1;
    let at = |row: usize, column: usize| row * width + column;
    let size = (old.len() + 1) * width;
    // What is reached with so many lines of both, and the same while lines of the file are passed over.
    let (mut here, mut gap) = (vec![0.0_f32; size], vec![f32::MIN; size]);
    let mut steps = vec![0_u8; size];
    for row in 1..=old.len() {
        for column in 0..=file.len() {
            let (above, above_gap) = (here[at(row - 1, column)], gap[at(row - 1, column)]);
            let mut best = (above - LEFT_OUT, SKIP);
            if above_gap - LEFT_OUT > best.0 {
                best = (above_gap - LEFT_OUT, SKIP_AFTER_GAP);
            }
            if column > 0 {
                let before = at(row - 1, column - 1);
                if let Some(gain) = gain(&old[row - 1], &file[column - 1], budget) {
                    if here[before] + gain > best.0 {
                        best = (here[before] + gain, PAIR);
                    }
                    if gap[before] + gain > best.0 {
                        best = (gap[before] + gain, PAIR_AFTER_GAP);
                    }
                }
                let opening = if old[row - 1].is_placeholder { GAP.1 } else { GAP.0 };
                let (opened, extended) = (here[at(row, column - 1)] - opening, gap[at(row, column - 1)] - GAP.1);
                gap[at(row, column)] = opened.max(extended);
                if opened >= extended {
                    steps[at(row, column)] |= OPEN;
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
fn traced_back(steps: &[u8], width: usize, rows: usize, end: usize) -> Vec<Pair> {
    let (mut row, mut column, mut in_gap) = (rows, end, false);
    let mut pairs = Vec::new();
    while row > 0 {
        let step = steps[row * width + column];
        if in_gap {
            pairs.push(Pair::FileOnly(column - 1));
            in_gap = step & OPEN == 0;
            column -= 1;
            continue;
        }
        row -= 1;
        let step = step & !OPEN;
        in_gap = matches!(step, PAIR_AFTER_GAP | SKIP_AFTER_GAP);
        if matches!(step, PAIR | PAIR_AFTER_GAP) {
            column -= 1;
            pairs.push(Pair::Both { old: row, file: column });
        } else {
            pairs.push(Pair::OldOnly(row));
        }
    }
    pairs.reverse();
    pairs
}

/// What it is worth that two lines are a pair; `None` for lines that are none.
fn gain(old: &LineKey<'_>, file: &LineKey<'_>, budget: &mut Budget) -> Option<f32> {
    if old.content.is_empty() || file.content.is_empty() {
        return (old.content == file.content).then_some(1.0);
    }
    let alike = old.alike(file, budget);
    #[expect(clippy::cast_possible_truncation, reason = "a share, of which two digits matter")]
    let worth = (2.0 * alike - 0.9) as f32;
    let indent = if old.has_indent_of(file) { INDENT } else { 0.0 };
    (alike >= LEAST).then(|| old.weight.max(file.weight) * worth + indent)
}

/// The same for more lines: those that are equal, and what is between them line by line.
fn compared(old: &[LineKey<'_>], file: &[LineKey<'_>]) -> Vec<Pair> {
    let contents = |keys: &[LineKey<'_>]| -> Vec<u64> { keys.iter().map(|key| hash(key.content)).collect() };
    let deadline = diff::deadline(old.len() + file.len(), DIFF_TIME);
    let ops = similar::capture_diff_slices_deadline(Algorithm::Myers, &contents(old), &contents(file), deadline);
    let mut pairs = Vec::new();
    for op in ops {
        let (old, file) = (op.old_range(), op.new_range());
        let both =
            if matches!(op, DiffOp::Insert { .. } | DiffOp::Delete { .. }) { 0 } else { old.len().min(file.len()) };
        pairs.extend((0..both).map(|index| Pair::Both { old: old.start + index, file: file.start + index }));
        pairs.extend((old.start + both..old.end).map(Pair::OldOnly));
        pairs.extend((file.start + both..file.end).map(Pair::FileOnly));
    }
    pairs
}
