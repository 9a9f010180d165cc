//! Where a request may be in a file, by the lines that both share and the file has rarely.

use std::collections::HashMap;

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
pub(super) fn shared(
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
