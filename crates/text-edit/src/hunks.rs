//! Where the hunks of a patch apply in a text.
//!
//! A hunk is looked for as whole lines: exactly, and where it is at several places, at the one that the other hunks, the
//! lines of its header or its line number leave. Where it is nowhere, the steps of the ladder for whole lines
//! are tried. All hunks are about the text as it was; their changes must not overlap.

mod patched_text;
mod places;

use std::ops::Range;

use crate::line_parts::has_letters;
use crate::patch::{FinalNewline, HunkLine, PatchHunk};
use crate::search::{MAX_LINES, TextFacts, has_too_many_lines};
use crate::{Diagnosis, EditError, Located, Location, Next, Replacement, Request, Strategies, Strategy, ladder};
use patched_text::{PatchedText, plain};
use places::{HunkCandidates, PlacedHunk};

pub use places::{ContextNote, HunkError};

const MAX_SHOWN_PLACES: usize = 100;

/// Hunks without a place after which no other is looked for that is not there exactly: the patch is refused.
const MAX_MISSED: usize = 20;

/// Where a hunk applies.
#[derive(Clone, Debug)]
pub struct LocatedHunk {
    /// Ascending and disjoint, also from those of the other hunks; empty if the hunk changes nothing.
    pub replacements: Vec<Replacement>,
    /// How it was found.
    pub strategy: Strategies,
    /// The lines of the text that it covers, from 0.
    pub lines: Range<usize>,
    /// A statement about its place that is wrong.
    pub note: Option<ContextNote>,
}

/// Finds the place of each hunk in `text`. `go_on` is asked before each search that takes long.
///
/// # Examples
/// ```
/// use text_edit::{locate_hunks, patch::{FileAction, Patch}};
///
/// let patch = Patch::parse("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n").unwrap();
/// let FileAction::Update { hunks, .. } = &patch.files[0].action else { panic!("no update") };
/// let located = locate_hunks("one\r\ntwo\r\n", hunks, &mut || true);
/// assert_eq!(located[0].as_ref().unwrap().replacements[0].text, "2\r\n");
/// ```
pub fn locate_hunks(
    text: &str,
    hunks: &[PatchHunk<'_>],
    go_on: &mut dyn FnMut() -> bool,
) -> Vec<Result<LocatedHunk, HunkError>> {
    if has_too_many_lines(text) {
        let summary = format!("a file of more than {MAX_LINES} lines is not patched");
        return vec![Err(HunkError::NotFound(Diagnosis::without_place(summary)))];
    }
    let text = PatchedText::new(text);
    let mut candidates: Vec<Result<HunkCandidates, HunkError>> = Vec::with_capacity(hunks.len());
    for (index, hunk) in hunks.iter().enumerate() {
        // Equal hunks in a row have the same places, which are looked for once.
        let before = index.checked_sub(1).filter(|before| is_alike(&hunks[*before], hunk));
        candidates.push(match before.and_then(|before| candidates[before].as_ref().ok()) {
            Some(alike) => Ok(alike.clone()),
            None if go_on() => places::of_hunk(&text, hunk, go_on),
            None => Err(HunkError::Stopped),
        });
    }
    let found = hunks.iter().zip(&mut candidates).filter_map(|(hunk, one)| Some((hunk, one.as_mut().ok()?)));
    let mut found: Vec<PlacedHunk<'_>> = found.filter(|(_, one)| !one.places.lines.is_empty()).collect();
    places::settle(&text, &mut found, go_on);
    let windows = windows(&candidates, text.lines.len());
    let (mut from, mut missed, facts) = (0, 0, TextFacts::default());
    let mut located: Vec<Result<LocatedHunk, HunkError>> = Vec::with_capacity(hunks.len());
    for ((hunk, candidates), window) in hunks.iter().zip(candidates).zip(windows) {
        let one = candidates.and_then(|one| match one {
            exact if !exact.places.lines.is_empty() => at_candidates(&text, hunk, exact),
            _ if !go_on() => Err(HunkError::Stopped),
            _ if missed >= MAX_MISSED => Err(HunkError::Unsearched),
            _ => {
                let found = tolerant(&text, &facts, hunk)?;
                // Elsewhere than between the hunks around, it would not be in its order.
                let changed = changed(&text, &found);
                if window.start.max(from) > changed.end || changed.start > window.end {
                    return Err(HunkError::OutOfOrder(found.lines.start + 1));
                }
                from = found.lines.end;
                Ok(found)
            }
        });
        missed += usize::from(one.is_err());
        located.push(one);
    }
    refuse_overlaps(&mut located);
    located
}

/// The lines between the settled places around each hunk; all lines where those are in another order.
fn windows(candidates: &[Result<HunkCandidates, HunkError>], lines: usize) -> Vec<Range<usize>> {
    let settled: Vec<Option<Range<usize>>> =
        candidates.iter().map(|one| one.as_ref().ok().and_then(HunkCandidates::settled)).collect();
    let known: Vec<&Range<usize>> = settled.iter().flatten().collect();
    if known.windows(2).any(|pair| pair[0].end > pair[1].start) {
        return vec![0..lines; candidates.len()];
    }
    let mut windows = Vec::with_capacity(candidates.len());
    let mut from = 0;
    for one in &settled {
        windows.push(from..lines);
        from = one.as_ref().map_or(from, |one| one.end);
    }
    let mut until = lines;
    for (window, one) in windows.iter_mut().zip(&settled).rev() {
        window.end = until;
        until = one.as_ref().map_or(until, |one| one.start);
    }
    windows
}

fn changed(text: &PatchedText<'_>, found: &LocatedHunk) -> Range<usize> {
    let line = |at: usize| text.line_at(at).min(text.lines.len());
    match (found.replacements.first(), found.replacements.last()) {
        (Some(first), Some(last)) => line(first.span.start)..line(last.span.end),
        _ => found.lines.clone(),
    }
}

fn is_alike(one: &PatchHunk<'_>, other: &PatchHunk<'_>) -> bool {
    (&one.contexts, &one.sent, one.at_end) == (&other.contexts, &other.sent, other.at_end)
        && one.lines.iter().any(|line| line.old().is_some())
}

fn at_candidates(
    text: &PatchedText<'_>,
    hunk: &PatchHunk<'_>,
    found: HunkCandidates,
) -> Result<LocatedHunk, HunkError> {
    let lines = &found.places.lines;
    if !found.is_sure() {
        let content = |line: usize| text.lines.get(line).map_or("", |line| line.content(text.text));
        let places = lines.iter().take(MAX_SHOWN_PLACES).map(|line| Location::of(line + 1, content(*line))).collect();
        return Err(HunkError::Ambiguous { strategy: Strategies::default(), places });
    }
    let covered = lines[0]..lines[0] + found.covered;
    if hunk.at_end && covered.end != text.lines.len() {
        return Err(HunkError::NotAtEnd(covered.start + 1));
    }
    if let Some(line) = made_elsewhere(text, hunk, covered.start) {
        return Err(HunkError::Applied(line + 1));
    }
    let replacements = patched_text::replacements(text, hunk, &hunk.lines[..found.used], covered.start);
    Ok(LocatedHunk { replacements, strategy: Strategies::default(), lines: covered, note: found.note })
}

/// By the steps of the ladder, for a hunk whose lines are not there exactly.
fn tolerant(text: &PatchedText<'_>, facts: &TextFacts, hunk: &PatchHunk<'_>) -> Result<LocatedHunk, HunkError> {
    let new = hunk.new_lines();
    if is_telling(hunk)
        && let Some(line) = text.places(&new).lines.first()
    {
        return Err(HunkError::Applied(line + 1));
    }
    if hunk.lacks_blanks() {
        return Err(HunkError::NoBlanks);
    }
    // Without line ends on both sides; where all lines go, with the last of them.
    let joined = |lines: &[&str]| lines.iter().map(|line| plain(line)).collect::<Vec<_>>().join("\n");
    let leaves_none = new.is_empty();
    let (old, new) = (joined(&hunk.old()) + if leaves_none { "\n" } else { "" }, joined(&new));
    let request = Request { old: &old, new: &new, replace_all: false, expected_replacements: None };
    let Located { strategy, mut replacements } =
        ladder::try_steps(text.text, facts, &request, ladder::of_lines(), false).map_err(|miss| match miss {
            EditError::Ambiguous { strategy, places } | EditError::Count { strategy, places, .. } => {
                HunkError::Ambiguous { strategy, places }
            }
            EditError::TooMany { .. } => HunkError::Ambiguous { strategy: Strategies::default(), places: Vec::new() },
            EditError::NotFound(diagnosis) => HunkError::NotFound(of_a_patch(&diagnosis)),
        })?;
    let lines = match (replacements.first(), replacements.last()) {
        (Some(first), Some(last)) => {
            let end = text.line_at(last.span.end.saturating_sub(1).max(first.span.start)) + 1;
            text.line_at(first.span.start)..end.min(text.lines.len())
        }
        _ => 0..0,
    };
    if hunk.at_end && lines.end != text.lines.len() {
        return Err(HunkError::NotAtEnd(lines.start + 1));
    }
    if hunk.is_open && (strategy.has(Strategy::Typos) || lines.len() != hunk.old().len()) {
        let words = "its last line is not ended in the patch, and not in the file as it is, so it may have been cut";
        return Err(HunkError::NotFound(Diagnosis::without_place(words.to_owned())));
    }
    let has_ends = hunk.old().iter().any(|line| line.ends_with([' ', '\t']));
    if strategy == Strategy::TrailingWhitespace && !has_ends && lines.len() == hunk.old().len() {
        // White space at line ends was taken off the patch: which lines stay is what its signs say.
        let replacements = patched_text::replacements(text, hunk, &hunk.lines, lines.start);
        return Ok(LocatedHunk { replacements, strategy, lines, note: None });
    }
    if strategy.has(Strategy::Indentation) && may_lack_blank(text, hunk, &lines) {
        return Err(HunkError::NoBlanks);
    }
    if let Some(last) = replacements.last_mut().filter(|_| lines.end == text.lines.len() && !leaves_none) {
        let ending = &text.text[last.span.end..];
        match hunk.final_newline {
            FinalNewline::Added if ending.is_empty() => last.text.push_str(text.ending_near(lines.start)),
            FinalNewline::Removed if matches!(ending, "\n" | "\r\n") => last.span.end = text.text.len(),
            _ => {}
        }
    }
    Ok(LocatedHunk { replacements, strategy, lines, note: None })
}

/// Where the new lines of a hunk are that was found at `start`, if the hunk's numbers or name mean that place: then the
/// change is made already, and what was found is only like the lines that it had.
fn made_elsewhere(text: &PatchedText<'_>, hunk: &PatchHunk<'_>, start: usize) -> Option<usize> {
    let new = hunk.new_lines();
    let adds = |line: &HunkLine<'_>| matches!(line, HunkLine::Added(added) if added.contains(char::is_alphanumeric));
    if hunk.is_insertion || !is_telling(hunk) && !hunk.lines.iter().any(adds) {
        return None;
    }
    let numbers: Vec<usize> = [hunk.at, hunk.new_at].into_iter().flatten().map(|at| at.saturating_sub(1)).collect();
    if numbers.contains(&start) {
        return None;
    }
    let by_name = || {
        let lines = text.context_lines(hunk.contexts.last().copied().or(hunk.heading)?, 0);
        let [name] = lines[..] else { return None };
        let made = text.first_from(&new, name)?;
        if start < name {
            return Some(made);
        }
        let content = |line: usize| text.lines[line].content(text.text);
        let indent = |line: &str| line.len() - line.trim_start().len();
        // Another one of its kind begins in between.
        let ends = |line: usize| {
            indent(content(line)) <= indent(content(name))
                && content(line).trim_start().starts_with(|one: char| one.is_alphanumeric() || one == '_')
        };
        (made + new.len()..start).any(ends).then_some(made)
    };
    numbers.iter().copied().find(|line| text.is_at(&new, *line)).or_else(by_name)
}

/// Whether a line that stays is one blank off, which can be the sign that was left out or written twice.
fn may_lack_blank(text: &PatchedText<'_>, hunk: &PatchHunk<'_>, lines: &Range<usize>) -> bool {
    let file: Vec<&str> = text.lines[lines.clone()].iter().map(|line| line.content(text.text).trim_end()).collect();
    let has = |line: &str, more: &str| {
        !line.trim().is_empty()
            && file.iter().any(|own| {
                let (longer, shorter) = if more.is_empty() { (line, *own) } else { (*own, line) };
                longer.trim_end().strip_prefix(' ') == Some(shorter.trim_end())
            })
    };
    let removes = hunk.lines.iter().any(|line| matches!(line, HunkLine::Removed(_)));
    hunk.lines.iter().any(|line| match line {
        HunkLine::Kept(line) => !file.contains(&line.trim_end()) && (has(line, " ") || has(line, "") && !removes),
        _ => false,
    })
}

/// Whether the new lines say enough to be recognised where the old ones are not.
fn is_telling(hunk: &PatchHunk<'_>) -> bool {
    let says = |line: &str| has_letters([line], 3);
    let telling = |line: &&HunkLine<'_>| line.new_line().is_some_and(says);
    let adds = hunk.lines.iter().any(|line| matches!(line, HunkLine::Added(added) if says(added)));
    adds || hunk.lines.iter().filter(telling).count() > 1
}

/// A diagnosis in the words of a patch: what `edit` calls `old_string` are the lines of a hunk. What is quoted of the
/// file is left as it is.
fn of_a_patch(diagnosis: &Diagnosis) -> Diagnosis {
    let named = |text: &str| {
        let parts = text.split('`').enumerate().map(|(index, part)| match index % 2 {
            0 => part.replace("old_string", "the hunk's old text").replace("new_string", "its new text"),
            _ => part.to_owned(),
        });
        parts.collect::<Vec<_>>().join("`")
    };
    let is_of_file = |line: &str| line.trim_start_matches(['>', ' ']).starts_with(|one: char| one.is_ascii_digit());
    let details = diagnosis.details.lines().map(|line| if is_of_file(line) { line.to_owned() } else { named(line) });
    Diagnosis {
        summary: named(&diagnosis.summary),
        details: details.collect::<Vec<_>>().join("\n"),
        next: match diagnosis.next {
            Next::LeaveOutPath => Next::Copy,
            next => next,
        },
    }
}

/// Refuses a hunk that changes what an earlier one changes.
fn refuse_overlaps(located: &mut [Result<LocatedHunk, HunkError>]) {
    let spans = |(index, one): (usize, &Result<LocatedHunk, HunkError>)| {
        let found = one.as_ref().ok()?;
        let (first, last) = (found.replacements.first()?, found.replacements.last()?);
        Some((first.span.start, last.span.end, index))
    };
    let mut spans: Vec<(usize, usize, usize)> = located.iter().enumerate().filter_map(spans).collect();
    spans.sort_unstable_by_key(|(start, end, index)| (*start, *end, *index));
    let mut until: Option<(usize, usize)> = None;
    for (start, end, index) in spans {
        match until {
            Some((before, other)) if start < before => {
                let (first, second) = (other.min(index), other.max(index));
                located[second] = Err(HunkError::Overlaps(first));
                // The farther of the two ends: the next hunk may overlap the longer one alone.
                until = Some((before.max(end), first));
            }
            _ => until = Some((end, index)),
        }
    }
}

#[cfg(test)]
mod tests;
