//! Which of several exact places a hunk of a patch means.

use super::patched_text::{FoundLines, MOST_KEPT, PatchedText};
use crate::text::patch::{HunkLine, PatchHunk};

/// A place this near to the line that a hunk names can be meant by it.
const NEAR: usize = 20;
/// Another place must be farther from that line by this factor.
const FARTHER: usize = 3;

/// Where a hunk can go.
#[derive(Clone, Debug, Default)]
pub(super) struct HunkCandidates {
    pub(super) places: FoundLines,
    /// How many of the hunk's lines are there: those at its end that are only empty can be too many.
    pub(super) used: usize,
    /// How many lines of the text it covers.
    pub(super) covered: usize,
    pub(super) note: Option<ContextNote>,
}

/// What a hunk says of its place that is not so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContextNote {
    /// This line of a header is not in the file.
    Missing(String),
    /// The only place is not below this line of a header.
    NotBelow(String),
}

/// Why a hunk that adds lines without any around them has no place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoPlace {
    Context(String),
    BeyondEnd(usize),
    Unsaid,
}

/// The places of a hunk that has old lines.
pub(super) fn of_lines(text: &PatchedText<'_>, hunk: &PatchHunk<'_>) -> HunkCandidates {
    let end = hunk.lines.iter().rposition(|line| *line != HunkLine::Kept("")).map_or(0, |last| last + 1);
    for used in [hunk.lines.len(), end] {
        let old: Vec<&str> = hunk.lines[..used].iter().filter_map(|line| line.old()).collect();
        if old.is_empty() {
            continue;
        }
        let places = text.places(&old);
        if !places.lines.is_empty() {
            let mut found = HunkCandidates { places, used, covered: old.len(), note: None };
            found.narrow(text, hunk, &old);
            return found;
        }
    }
    HunkCandidates { used: hunk.lines.len(), ..HunkCandidates::default() }
}

impl HunkCandidates {
    fn one(line: usize, used: usize) -> Self {
        Self { places: FoundLines { lines: vec![line], more: false }, used, covered: 0, note: None }
    }

    pub(super) fn is_sure(&self) -> bool {
        self.places.lines.len() == 1 && !self.places.more
    }

    fn keep(&mut self, lines: Vec<usize>) {
        if !lines.is_empty() {
            self.places = FoundLines { more: lines.len() > MOST_KEPT, lines };
        }
    }

    /// Leaves out the places that what the hunk says of its place excludes.
    fn narrow(&mut self, text: &PatchedText<'_>, hunk: &PatchHunk<'_>, old: &[&str]) {
        let last = text.lines.len() - old.len();
        if hunk.at_end && text.is_at(old, last) {
            self.keep(vec![last]);
        }
        if !hunk.contexts.is_empty() {
            match below(text, &hunk.contexts) {
                Ok(contexts) => {
                    let mut first: Vec<usize> =
                        contexts.iter().filter_map(|context| text.first_from(old, *context)).collect();
                    first.sort_unstable();
                    first.dedup();
                    if first.is_empty() {
                        self.note = hunk.contexts.last().map(|last| ContextNote::NotBelow((*last).to_owned()));
                    }
                    if !self.is_sure() {
                        self.keep(first);
                    }
                }
                Err(missing) => self.note = Some(ContextNote::Missing(missing.to_owned())),
            }
        }
        if self.is_sure() {
            return;
        }
        if let Some(at) = hunk.at {
            let said = at.saturating_sub(1);
            if text.is_at(old, said) && (hunk.contexts.is_empty() || self.places.lines.contains(&said)) {
                return self.keep(vec![said]);
            }
            if let Some(near) = nearest(&self.places, said) {
                return self.keep(vec![near]);
            }
        }
        if let Some(heading) = hunk.heading {
            let lines = text.context_lines(heading, 0);
            let mut first: Vec<usize> = lines.iter().filter_map(|line| text.first_from(old, *line)).collect();
            first.sort_unstable();
            first.dedup();
            self.keep(first);
        }
    }
}

/// The place that is near to `said` where all others are much farther.
fn nearest(places: &FoundLines, said: usize) -> Option<usize> {
    let mut by_distance: Vec<(usize, usize)> = places.lines.iter().map(|line| (line.abs_diff(said), *line)).collect();
    by_distance.sort_unstable();
    match by_distance.as_slice() {
        [first, second, ..] if !places.more && first.0 <= NEAR && second.0 > first.0.max(1) * FARTHER => Some(first.1),
        _ => None,
    }
}

/// The lines of the last of `contexts`, each of which is below the one before it.
fn below<'p>(text: &PatchedText<'_>, contexts: &[&'p str]) -> Result<Vec<usize>, &'p str> {
    let (first, others) = contexts.split_first().ok_or("")?;
    let mut lines = text.context_lines(first, 0);
    if lines.is_empty() {
        return Err(first);
    }
    for context in others {
        lines.truncate(MOST_KEPT);
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
pub(super) fn of_insertion(text: &PatchedText<'_>, hunk: &PatchHunk<'_>) -> Result<HunkCandidates, NoPlace> {
    let (used, end) = (hunk.lines.len(), text.lines.len());
    if hunk.at_end || end == 0 {
        return Ok(HunkCandidates::one(end, used));
    }
    let heading: Vec<&str> = hunk.heading.into_iter().collect();
    let contexts = match (hunk.contexts.as_slice(), hunk.at) {
        ([], Some(at)) if hunk.is_insertion && at > end => return Err(NoPlace::BeyondEnd(at)),
        ([], Some(at)) if hunk.is_insertion => return Ok(HunkCandidates::one(at, used)),
        ([], Some(_)) => return Err(NoPlace::Unsaid),
        // As codex does: at the end of the file.
        ([], None) if heading.is_empty() => return Ok(HunkCandidates::one(end, used)),
        ([], None) => heading.as_slice(),
        (contexts, _) => contexts,
    };
    let lines = below(text, contexts).map_err(|missing| NoPlace::Context(missing.to_owned()))?;
    let places = FoundLines { more: lines.len() > MOST_KEPT, lines: lines.iter().map(|line| line + 1).collect() };
    Ok(HunkCandidates { places, used, covered: 0, note: None })
}

/// Leaves each hunk the one place that it can have if all hunks are in the order of their places, where that is only one.
/// Nothing changes where the hunks are in another order.
pub(super) fn in_order(all: &mut [&mut HunkCandidates]) {
    if all.iter().all(|one| one.is_sure()) {
        return;
    }
    let (mut earliest, mut from) = (Vec::with_capacity(all.len()), 0);
    for one in all.iter() {
        let Some(line) = one.places.lines.iter().copied().find(|line| *line >= from) else { return };
        earliest.push(line);
        from = line + one.covered;
    }
    let mut until = usize::MAX;
    for (one, earliest) in all.iter_mut().zip(earliest).rev() {
        let lines = &one.places.lines;
        let Some(latest) = lines.iter().copied().rfind(|line| line.saturating_add(one.covered) <= until) else {
            return;
        };
        until = latest;
        if latest == earliest && !one.places.more {
            one.places.lines = vec![latest];
        }
    }
}
