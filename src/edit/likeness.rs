//! How alike two blocks of lines are, and where to look for the block most alike.
//!
//! Used by the anchored step and by the diagnosis. Lines are compared without indentation and white space at
//! their ends. All costs are bounded, whatever the texts hold.

use std::collections::HashMap;

use rapidfuzz::distance::levenshtein;

use super::{Search, block};

/// Lines of `old` that vote for a place.
const VOTERS: usize = 4000;

/// A line that the file has more often than this tells nothing about a place.
const COMMON: usize = 64;

/// Places in `old` of one repeated line that may vote.
const REPEATS: usize = 4;

/// Characters of a line that are compared one by one; longer lines are alike only when equal.
const LONGEST_LINE: usize = 2000;

/// Lengths of the probe and of the file's lines in the search for a single line, in characters.
const PROBE: usize = 256;

/// Work for comparisons of characters, in machine words of 64 cells each.
const CELL_BUDGET: usize = 40_000_000;

/// What comparing characters may still cost.
pub(super) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(CELL_BUDGET)
    }
}

impl Budget {
    /// Takes the cost of comparing two lines; false when it cannot be afforded.
    pub(super) fn spend(&mut self, a: usize, b: usize) -> bool {
        let cost = a * b.div_ceil(64) + a + b;
        let left = self.0.checked_sub(cost);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// A line without white space at either end.
pub(super) fn trimmed(line: &str) -> &str {
    block::parts(line).1
}

/// How alike two lines are, from 0 to 1, with the number of characters that this is a share of.
pub(super) fn of_lines(old: &str, file: &str, budget: &mut Budget) -> (f64, usize) {
    let (old, file) = (trimmed(old), trimmed(file));
    let (a, b) = (old.chars().count(), file.chars().count());
    let longest = a.max(b);
    if old == file {
        return (1.0, longest);
    }
    if longest > LONGEST_LINE || a.min(b) == 0 || !budget.spend(a, b) {
        return (0.0, longest);
    }
    (levenshtein::normalized_similarity(old.chars(), file.chars()), longest)
}

/// How alike two blocks of equally many lines are, from 0 to 1: the likeness of their lines, weighted by length.
/// Never more than Levenshtein's likeness over the whole block, whose distance is at most the sum over its lines.
/// `None` when it is below `least`, which is found out early.
pub(super) fn of_blocks<'t>(
    old: &[&str],
    file: impl Iterator<Item = &'t str>,
    least: f64,
    budget: &mut Budget,
) -> Option<f64> {
    let whole: usize = old.iter().map(|line| trimmed(line).chars().count()).sum();
    let (mut total, mut lost) = (0.0, 0.0);
    for (old, file) in old.iter().zip(file) {
        let (alike, weight) = of_lines(old, file, budget);
        let weight = f64::from(u32::try_from(weight).unwrap_or(u32::MAX));
        total += weight;
        lost += (1.0 - alike) * weight;
        let at_most = f64::from(u32::try_from(whole).unwrap_or(u32::MAX)).max(total) + lost;
        if lost > (1.0 - least) * at_most {
            return None;
        }
    }
    let alike = if total == 0.0 { 1.0 } else { 1.0 - lost / total };
    (alike >= least).then_some(alike)
}

/// First lines of at most `count` windows of the file that share the most lines with `old`, the best first. The lines of
/// `old` come with their index in it, the file's as hashes.
pub(super) fn voted<'l>(hashes: &[u64], lines: impl Iterator<Item = (usize, &'l str)>, count: usize) -> Vec<usize> {
    let mut voters: HashMap<u64, (Vec<usize>, usize)> = HashMap::new();
    for (index, line) in lines.take(VOTERS) {
        if line.chars().any(char::is_alphanumeric) {
            let (places, _) = voters.entry(block::hash(line)).or_default();
            if places.len() < REPEATS {
                places.push(index);
            }
        }
    }
    for hash in hashes {
        if let Some((_, seen)) = voters.get_mut(hash) {
            *seen += 1;
        }
    }
    let mut ballots: HashMap<usize, usize> = HashMap::new();
    for (line, hash) in hashes.iter().enumerate() {
        let Some((places, seen)) = voters.get(hash) else { continue };
        if *seen <= COMMON {
            for start in places.iter().filter_map(|place| line.checked_sub(*place)) {
                *ballots.entry(start).or_default() += 1;
            }
        }
    }
    let mut windows: Vec<(usize, usize)> = ballots.into_iter().map(|(start, count)| (count, start)).collect();
    windows.sort_unstable_by_key(|(ballots, start)| (usize::MAX - ballots, *start));
    windows.into_iter().take(count).map(|(_, start)| start).collect()
}

/// The file's line most like the longest line of `old`, and that line, both counted from 0.
pub(super) fn line_like_longest(search: &Search<'_>, old: &[&str]) -> Option<(usize, usize)> {
    let (index, probe) = old.iter().enumerate().take(VOTERS).max_by_key(|(_, line)| trimmed(line).len())?;
    let probe: Vec<char> = trimmed(probe).chars().take(PROBE).collect();
    let comparator = levenshtein::BatchComparator::new(probe.iter().copied());
    let mut budget = Budget::default();
    let mut best: Option<(f64, usize)> = None;
    for (number, line) in search.lines().iter().enumerate() {
        let line = trimmed(line.content(search.text));
        // Bytes are at least a quarter as many characters and at most all of them.
        if line.len() < probe.len() / 2 || line.len() / 4 > probe.len() * 2 {
            continue;
        }
        let line: Vec<char> = line.chars().take(PROBE).collect();
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
