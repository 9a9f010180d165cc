//! Where the hunks of a patch go, placed together: each below the one before.
//!
//! A hunk has one or several exact places. What is unique is certain; the order of the hunks narrows the others; of those
//! left, a name decides if one place lies in what it opens, and a number if the places of the hunks around agree with it
//! and no name speaks against it.

use std::ops::Range;

use super::patched_text::{FoundLines, MAX_KEPT, PatchedText, plain};
use crate::patch::{HunkLine, PatchHunk};
use crate::{Diagnosis, Location, Strategies};

/// Times that all hunks are looked at once more after some found their place.
const MAX_ROUNDS: usize = 16;

/// Lines of one name whose blocks are looked at.
const MAX_NAMED: usize = 100;

#[derive(Clone, Debug, Default)]
pub(super) struct HunkCandidates {
    pub(super) places: FoundLines,
    /// How many of the hunk's lines are there: those at its end that are only empty can be too many.
    pub(super) used: usize,
    pub(super) covered: usize,
    /// Those of them that go from its first change to its last, counted from its place.
    core: Range<usize>,
    pub(super) note: Option<ContextNote>,
    /// The lines below which its `@@` lines say that it is, as far as they are known.
    contexts: Vec<usize>,
    /// Whether only a number, or nothing, says where it is: then the order says nothing.
    is_loose: bool,
    /// Whether a name is in the text, and none of the places in what it opens.
    is_contradicted: bool,
}

/// A wrong statement of a hunk about its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContextNote {
    /// This line of a header is not in the file.
    Missing(String),
    /// The only place is not below this line of a header.
    NotBelow(String),
}

/// Why a hunk does not apply.
#[derive(Clone, Debug, thiserror::Error)]
pub enum HunkError {
    /// Its lines are not there.
    #[error("{}", .0.summary)]
    NotFound(Diagnosis),
    /// Several places could be meant.
    #[error("its lines are at several places")]
    Ambiguous {
        /// How they were found.
        strategy: Strategies,
        /// Some of the places, at most 100 of them.
        places: Vec<Location>,
    },
    /// Its new lines are there, from this line on (from 1), and the old ones are not.
    #[error("this hunk is applied already: its new lines are at line {0}, and its old ones are not in the file")]
    Applied(usize),
    /// Its lines are there, from this line on (from 1), but the file goes on after them.
    #[error("its lines are at line {0}, but the patch says that the file ends with them, and more lines follow")]
    NotAtEnd(usize),
    /// It only adds lines, below this line, which is not there.
    #[error("it only adds lines, below `{:.80}`, which is not in the file", .0)]
    NoContext(String),
    /// It only adds lines, and nothing says where.
    #[error("it only adds lines, without a place in the file")]
    NoPlace,
    /// It adds lines after a line, from 1, that the file does not have.
    #[error("it adds lines after line {at}, and the file has {lines} lines")]
    BeyondEnd {
        /// The line that is missing.
        at: usize,
        /// The number of lines that there are.
        lines: usize,
    },
    /// Its lines are there but for small things, from this line on (from 1), which is not between the hunks around it.
    #[error("its lines are at line {0}, though not exactly, and that is not between the places of the hunks around it")]
    OutOfOrder(usize),
    /// Lines that stay were sent without their blank, and are not in the file exactly.
    #[error("lines that stay were sent without the space in front, and are not in the file exactly")]
    NoBlanks,
    /// It changes the same lines as the hunk of this index.
    #[error("it changes lines that hunk {} changes as well", .0 + 1)]
    Overlaps(usize),
    /// Too many before it have no place.
    #[error("not searched: too many earlier hunks were not found")]
    Unsearched,
    /// The search was given up before it.
    #[error("the time was too short to look for it")]
    Stopped,
}

pub(super) type PlacedHunk<'h> = (&'h PatchHunk<'h>, &'h mut HunkCandidates);

/// The places of a hunk. What it returns once `go_on` says no is not to be used.
pub(super) fn of_hunk(
    text: &PatchedText<'_>,
    hunk: &PatchHunk<'_>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<HunkCandidates, HunkError> {
    if !hunk.lines.iter().any(|line| line.old().is_some()) {
        return of_insertion(text, hunk, go_on);
    }
    let is_end = |line: &HunkLine<'_>| hunk.is_open || *line != HunkLine::Kept("");
    let end = hunk.lines.iter().rposition(is_end).map_or(0, |last| last + 1);
    let lacks_blanks = hunk.lacks_blanks();
    for (used, is_as_sent) in [(hunk.lines.len(), true), (end, true), (hunk.lines.len(), false), (end, false)] {
        let old = hunk.lines[..used].iter().filter(|line| line.old().is_some()).count();
        // A line without its blank shows that others may lack theirs.
        if old == 0 || is_as_sent && lacks_blanks {
            continue;
        }
        let mut places =
            if is_as_sent { text.places(&old_lines(hunk, used)) } else { without_blanks(text, hunk, used) };
        if places.lines.is_empty() {
            continue;
        }
        if hunk.at_end && places.lines.last().is_some_and(|last| last + old == text.lines.len()) {
            places.lines.drain(..places.lines.len() - 1);
        }
        let mut found =
            HunkCandidates { places, used, covered: old, core: core(&hunk.lines[..used]), ..Default::default() };
        if !hunk.contexts.is_empty() {
            match below(text, &hunk.contexts, go_on) {
                Ok(contexts) => found.contexts = contexts,
                Err(missing) => found.note = Some(ContextNote::Missing(missing.to_owned())),
            }
        }
        return Ok(found);
    }
    Ok(HunkCandidates { used: hunk.lines.len(), ..HunkCandidates::default() })
}

fn old_lines<'p>(hunk: &PatchHunk<'p>, used: usize) -> Vec<&'p str> {
    hunk.lines[..used].iter().filter_map(|line| line.old()).collect()
}

/// The places where each line that stays is there as it is without its sign, or as it was sent.
fn without_blanks(text: &PatchedText<'_>, hunk: &PatchHunk<'_>, used: usize) -> FoundLines {
    let lines = || hunk.lines[..used].iter().copied().zip(hunk.sent.iter().copied());
    let wanted: Vec<[&str; 2]> = lines()
        .filter_map(|(line, sent)| match line {
            HunkLine::Kept(line) => Some([plain(line), plain(sent)]),
            HunkLine::Removed(line) => Some([plain(line); 2]),
            HunkLine::Added(_) => None,
        })
        .collect();
    let mut places = text.places_of_either(&wanted);
    // An item of a list, `+ item`, is one that stays where the file has it so.
    let is_added = |line: &(HunkLine<'_>, &str)| matches!(line.0, HunkLine::Added(_));
    let all: Vec<(HunkLine<'_>, &str)> = lines().collect();
    let above = all.iter().take_while(|line| is_added(line)).last().map(|(_, sent)| plain(sent));
    let below = all.iter().rev().take_while(|line| is_added(line)).last().map(|(_, sent)| plain(sent));
    let is_there = |line: Option<usize>, sent: Option<&str>| {
        let there = line.and_then(|line| text.lines.get(line)).map(|line| line.content(text.text));
        sent.is_some() && there == sent
    };
    places.lines.retain(|start| !is_there(start.checked_sub(1), above) && !is_there(Some(start + wanted.len()), below));
    places
}

fn core(lines: &[HunkLine<'_>]) -> Range<usize> {
    let is_change = |line: &HunkLine<'_>| !matches!(line, HunkLine::Kept(_));
    let old = |lines: &[HunkLine<'_>]| lines.iter().filter(|line| line.old().is_some()).count();
    let first = lines.iter().position(is_change).unwrap_or(0);
    let last = lines.iter().rposition(is_change).map_or(lines.len(), |last| last + 1);
    old(&lines[..first])..old(&lines[..last])
}

impl HunkCandidates {
    fn one(line: usize, used: usize, is_loose: bool) -> Self {
        let places = FoundLines { lines: vec![line], more: false };
        Self { places, used, is_loose, ..Self::default() }
    }

    pub(super) fn is_sure(&self) -> bool {
        self.places.lines.len() == 1 && !self.places.more
    }

    /// Its place, if that is sure and says something about the hunks around it.
    pub(super) fn settled(&self) -> Option<Range<usize>> {
        let line = self.places.lines.first().filter(|_| self.is_sure() && !self.is_loose)?;
        Some(line + self.core.start..line + self.core.end)
    }

    fn keep(&mut self, lines: Vec<usize>) {
        if !lines.is_empty() {
            self.places = FoundLines { more: false, lines };
        }
    }

    /// Keeps candidates inside the named definition.
    fn narrow_by_names(&mut self, text: &PatchedText<'_>, hunk: &PatchHunk<'_>) {
        let heading = hunk.heading.map(|heading| text.context_lines(heading, 0)).unwrap_or_default();
        for (lines, is_heading) in [(&self.contexts.clone(), false), (&heading, true)] {
            if lines.is_empty() {
                continue;
            }
            let blocks: Vec<Range<usize>> =
                lines.iter().take(MAX_NAMED).map(|line| text.opened(*line, is_heading)).collect();
            let mut within: Vec<usize> = if self.places.more && !hunk.lacks_blanks() {
                let old = old_lines(hunk, self.used);
                let within = |block: &'_ Range<usize>| {
                    text.all(&old).filter(|line| block.contains(line)).take(MAX_KEPT + 1).collect::<Vec<_>>()
                };
                blocks.iter().flat_map(within).collect()
            } else {
                let lines = self.places.lines.iter().copied();
                lines.filter(|line| blocks.iter().any(|block| block.contains(line))).collect()
            };
            within.sort_unstable();
            within.dedup();
            self.is_contradicted |= within.is_empty();
            if within.len() <= MAX_KEPT && lines.len() <= MAX_NAMED {
                self.keep(within);
            }
        }
    }

    fn narrow_by_number(&mut self, text: &PatchedText<'_>, hunk: &PatchHunk<'_>, shifts: [Option<isize>; 2]) {
        let Some(numbered) = number(hunk).filter(|_| !self.is_contradicted) else { return };
        let old = old_lines(hunk, self.used);
        let is_place = |line: &usize| {
            self.places.lines.contains(line) || self.places.more && !hunk.lacks_blanks() && text.is_at(&old, *line)
        };
        let shifted = |shift: isize| numbered.checked_add_signed(shift).filter(is_place);
        let mut lines: Vec<usize> = shifts.into_iter().flatten().filter_map(shifted).collect();
        lines.dedup();
        if lines.len() == 1 {
            self.keep(lines);
        }
    }
}

/// The line, from 0, that the number in a hunk's header means.
fn number(hunk: &PatchHunk<'_>) -> Option<usize> {
    hunk.at.map(|at| if hunk.is_insertion { at } else { at.saturating_sub(1) })
}

/// The lines of the last of `contexts`, each of which is below the one before it.
fn below<'p>(
    text: &PatchedText<'_>,
    contexts: &[&'p str],
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<usize>, &'p str> {
    let (first, others) = contexts.split_first().ok_or("")?;
    let mut lines = text.context_lines(first, 0);
    if lines.is_empty() {
        return Err(first);
    }
    for context in others {
        // A hostile patch has a hundred thousand of them.
        if !go_on() {
            return Err(context);
        }
        lines.truncate(MAX_KEPT);
        let mut next: Vec<usize> =
            lines.iter().filter_map(|line| text.context_lines(context, line + 1).first().copied()).collect();
        next.sort_unstable();
        next.dedup();
        if next.is_empty() {
            return Err(context);
        }
        lines = next;
    }
    Ok(lines)
}

/// The place of a hunk that only adds lines and names none around them: before which line they go.
fn of_insertion(
    text: &PatchedText<'_>,
    hunk: &PatchHunk<'_>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<HunkCandidates, HunkError> {
    let (used, end) = (hunk.lines.len(), text.lines.len());
    if hunk.at_end || end == 0 {
        return Ok(HunkCandidates::one(end, used, true));
    }
    let heading: Vec<&str> = hunk.heading.into_iter().collect();
    let contexts = match (hunk.contexts.as_slice(), hunk.at) {
        ([], Some(at)) if hunk.is_insertion && at > end => return Err(HunkError::BeyondEnd { at, lines: end }),
        ([], Some(at)) if hunk.is_insertion => return Ok(HunkCandidates::one(at, used, true)),
        ([], Some(_)) => return Err(HunkError::NoPlace),
        // As codex does: at the end of the file.
        ([], None) if heading.is_empty() => return Ok(HunkCandidates::one(end, used, true)),
        ([], None) => heading.as_slice(),
        (contexts, _) => contexts,
    };
    let lines = below(text, contexts, go_on).map_err(|missing| HunkError::NoContext(missing.to_owned()))?;
    let places = FoundLines { more: lines.len() > MAX_KEPT, lines: lines.iter().map(|line| line + 1).collect() };
    Ok(HunkCandidates { places, used, ..HunkCandidates::default() })
}

/// Narrows the places of all hunks of a text to those that they can have together.
pub(super) fn settle(text: &PatchedText<'_>, all: &mut [PlacedHunk<'_>], go_on: &mut dyn FnMut() -> bool) {
    let count = |all: &[PlacedHunk<'_>]| {
        all.iter().map(|(_, one)| one.places.lines.len() + usize::from(one.places.more)).sum::<usize>()
    };
    // A place that has become sure may narrow those of the hunks around it.
    for _ in 0..MAX_ROUNDS {
        let before = count(all);
        in_order(all);
        for (hunk, one) in all.iter_mut().filter(|(_, one)| !one.is_sure()) {
            if !go_on() {
                return;
            }
            one.narrow_by_names(text, hunk);
        }
        in_order(all);
        by_numbers(text, all);
        if count(all) == before || all.iter().all(|(_, one)| one.is_sure()) {
            break;
        }
    }
    loose(text, all);
    for (hunk, one) in all.iter_mut().filter(|(_, one)| one.is_sure() && one.note.is_none()) {
        if let (Some(first), Some(name), true) = (one.contexts.first(), hunk.contexts.last(), one.covered > 0)
            && one.places.lines[0] + one.covered <= *first
        {
            one.note = Some(ContextNote::NotBelow((*name).to_owned()));
        }
    }
}

/// How far the nearest settled hunks on both sides of each are from where their numbers say. Before the first one the
/// numbers are right.
fn shifts(all: &[PlacedHunk<'_>]) -> Vec<[Option<isize>; 2]> {
    let own = |(hunk, one): &PlacedHunk<'_>| {
        one.settled()?;
        moved_by(one.places.lines[0], number(hunk)?)
    };
    let mut shifts = vec![[Some(0), None]; all.len()];
    let mut before = Some(0);
    for (index, one) in all.iter().enumerate() {
        shifts[index][0] = before;
        before = own(one).or(before);
    }
    let mut after = None;
    for (index, one) in all.iter().enumerate().rev() {
        shifts[index][1] = after;
        after = own(one).or(after);
    }
    shifts
}

fn moved_by(line: usize, number: usize) -> Option<isize> {
    isize::try_from(line).ok()?.checked_sub_unsigned(number)
}

fn by_numbers(text: &PatchedText<'_>, all: &mut [PlacedHunk<'_>]) {
    let mut shifts = shifts(all);
    let mut found = None;
    for (index, (hunk, one)) in all.iter_mut().enumerate() {
        if !one.is_sure() {
            shifts[index][0] = found.or(shifts[index][0]);
            one.narrow_by_number(text, hunk, shifts[index]);
        }
        if one.settled().is_some() {
            found = number(hunk).and_then(|number| moved_by(one.places.lines[0], number)).or(found);
        }
    }
}

/// Moves the hunks that only have a number as the hunks around them moved.
fn loose(text: &PatchedText<'_>, all: &mut [PlacedHunk<'_>]) {
    let shifts = shifts(all);
    for ((hunk, one), [before, after]) in all.iter_mut().zip(shifts) {
        let (true, Some(numbered), false) = (one.is_loose, number(hunk), hunk.at_end) else { continue };
        let moved = |shift: isize| numbered.checked_add_signed(shift).filter(|line| *line <= text.lines.len());
        let mut lines: Vec<usize> = [before, after].into_iter().flatten().filter_map(moved).collect();
        lines.sort_unstable();
        lines.dedup();
        one.keep(lines);
    }
}

/// Leaves each hunk the places that it can have if all hunks are in the order of their places. Nothing changes where they
/// are in another order.
fn in_order(all: &mut [PlacedHunk<'_>]) {
    if all.iter().all(|(_, one)| one.is_sure()) || !all.iter().filter_map(|(hunk, _)| hunk.at).is_sorted() {
        return;
    }
    // Lines around the changes may be those of two hunks, if they do not fit otherwise.
    let Some(bounds) = [true, false].into_iter().find_map(|is_whole| bounds(all, is_whole)) else { return };
    for ((_, one), bounds) in all.iter_mut().zip(bounds).filter(|((_, one), _)| !one.is_loose) {
        one.places.lines.retain(|line| bounds.contains(line));
    }
}

fn bounds(all: &[PlacedHunk<'_>], is_whole: bool) -> Option<Vec<std::ops::RangeInclusive<usize>>> {
    let extent = |one: &HunkCandidates| if is_whole { 0..one.covered } else { one.core.clone() };
    let mut earliest = Vec::with_capacity(all.len());
    let mut from = 0;
    for (_, one) in all {
        if one.is_loose {
            earliest.push(0);
            continue;
        }
        let (lines, extent) = (&one.places.lines, extent(one));
        let found = lines.get(lines.partition_point(|line| line + extent.start < from)).copied();
        let line = found.or_else(|| one.places.more.then(|| from.saturating_sub(extent.start)))?;
        earliest.push(line);
        from = line + extent.end;
    }
    let mut bounds = Vec::with_capacity(all.len());
    let mut until = usize::MAX;
    for ((_, one), earliest) in all.iter().zip(earliest).rev() {
        if one.is_loose {
            bounds.push(0..=usize::MAX);
            continue;
        }
        let (lines, extent) = (&one.places.lines, extent(one));
        let latest = match lines.partition_point(|line| line + extent.end <= until).checked_sub(1) {
            _ if one.places.more => until.checked_sub(extent.end)?,
            last => lines[last?],
        };
        until = latest.saturating_add(extent.start);
        bounds.push(earliest..=latest);
    }
    bounds.reverse();
    Some(bounds)
}
