//! How alike lines and blocks of lines are: the one measure of all steps and of the diagnosis. And where a request may
//! be in a file, by the lines that both share and the file has rarely.
//!
//! Lines are compared without indentation and white space at their ends. All costs are bounded, whatever the texts
//! hold.

use std::collections::HashMap;

use rapidfuzz::distance::levenshtein;

use super::{Prepared, line_parts::content};

/// Characters of a line that are compared one by one; longer lines are alike only when equal.
const LONGEST_LINE: usize = 2000;

/// Lines of `old` among which the longest is looked for.
const PROBED: usize = 4000;

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

/// How alike two lines are, from 0 to 1, with the number of characters that this is a share of.
pub(super) fn of_lines(old: &str, file: &str, budget: &mut Budget) -> (f64, usize) {
    let (old, file) = (content(old), content(file));
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

/// How alike the beginnings of two lines are, from 0 to 1: enough to tell a version of a line from another line.
pub(super) fn of_starts(old: &str, new: &str) -> f64 {
    const COMPARED: usize = 400;
    let start = |line: &str| line.chars().take(COMPARED).collect::<Vec<char>>();
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

/// The file's line most like the longest line of `old`, and that line, both counted from 0.
pub(super) fn line_like_longest(prepared: &Prepared<'_>, old: &[&str]) -> Option<(usize, usize)> {
    let (index, probe) = old.iter().enumerate().take(PROBED).max_by_key(|(_, line)| content(line).len())?;
    let probe: Vec<char> = content(probe).chars().take(PROBE).collect();
    let comparator = levenshtein::BatchComparator::new(probe.iter().copied());
    let mut budget = Budget::default();
    let mut best: Option<(f64, usize)> = None;
    for (number, line) in prepared.contents().map(content).enumerate() {
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

/// Lines of the request that vote for a place.
const VOTERS: usize = 4000;

/// A line that the file has more often than this says nothing about a place.
const COMMON: u16 = 64;

/// Places in the request of one repeated line that may vote.
const REPEATS: usize = 4;

/// A line that both have.
pub(super) struct SharedLine {
    /// Counted within the request.
    pub(super) old: usize,
    /// Counted within the file.
    pub(super) file: usize,
    /// How often the file has it.
    pub(super) count: u16,
}

/// The rare lines that both have, in the order of the file. Lines are given by a hash, those of the request with their
/// place in it; lines without one say nothing.
pub(super) fn shared_lines(
    old: impl Iterator<Item = (usize, Option<u64>)>,
    file: impl Iterator<Item = Option<u64>>,
) -> Vec<SharedLine> {
    let mut voters: HashMap<u64, (Vec<usize>, u16)> = HashMap::new();
    for (index, hash) in old.take(VOTERS) {
        let Some(hash) = hash else { continue };
        let (places, _) = voters.entry(hash).or_default();
        if places.len() < REPEATS {
            places.push(index);
        }
    }
    let mut seen: Vec<(usize, u64)> = Vec::new();
    for (line, hash) in file.enumerate() {
        let Some((hash, (_, count))) = hash.and_then(|hash| Some((hash, voters.get_mut(&hash)?))) else { continue };
        *count = count.saturating_add(1);
        if *count <= COMMON {
            seen.push((line, hash));
        }
    }
    let mut found = Vec::new();
    for (file, hash) in seen {
        let (places, count) = &voters[&hash];
        if *count <= COMMON {
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
    windows.sort_unstable_by_key(|(votes, start)| (usize::MAX - votes, *start));
    windows.into_iter().take(count).map(|(_, start)| start).collect()
}
