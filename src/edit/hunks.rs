//! Where the hunks of a patch apply in a text.
//!
//! A hunk is looked for as whole lines: exactly, and where it is at several places, at the one that its line number, the
//! lines of its header or the order of the hunks leave. Where it is nowhere, the steps of the ladder for whole lines
//! are tried. All hunks are about the text as it was; their changes must not overlap.

use std::ops::Range;

use super::{
    Diagnosis, Located, Miss, Next, Place, Replacement, Request, Strategies,
    hunk_places::{self, ContextNote, HunkCandidates, NoPlace},
    hunk_replacements, ladder,
    patched_text::{PatchedText, plain},
    prepared::MOST_LINES,
};
use crate::text::{
    patch::{FinalNewline, HunkLine, PatchHunk},
    shorten,
};

/// Characters of a line that are shown.
const SHOWN: usize = 160;

/// Where a hunk applies.
#[derive(Clone, Debug)]
pub struct LocatedHunk {
    /// Ascending and disjoint, also from those of the other hunks; empty if the hunk changes nothing.
    pub replacements: Vec<Replacement>,
    /// How it was found.
    pub strategy: Strategies,
    /// The lines of the text that it covers, from 0.
    pub lines: Range<usize>,
    /// What it says of its place that is not so.
    pub note: Option<ContextNote>,
}

/// Why a hunk does not apply.
#[derive(Clone, Debug)]
pub enum HunkMiss {
    /// Its lines are not there.
    NotFound(Diagnosis),
    /// Several places could be meant.
    Ambiguous {
        /// How they were found.
        strategy: Strategies,
        /// Some of them.
        places: Vec<Place>,
    },
    /// Its new lines are there, from this line on (from 1), and the old ones are not.
    Applied {
        /// Counted from 1.
        line: usize,
    },
    /// Its lines are there, but the file goes on behind them.
    NotAtEnd {
        /// Counted from 1.
        line: usize,
    },
    /// It only adds lines, below this line, which is not there.
    NoContext(String),
    /// It only adds lines, and nothing says where.
    NoPlace,
    /// It adds lines behind a line that the file does not have.
    BeyondEnd {
        /// That line.
        at: usize,
        /// How many there are.
        lines: usize,
    },
    /// It changes the same lines as the hunk of this index.
    Overlaps(usize),
    /// The search was given up before it.
    Stopped,
}

/// Finds the place of each hunk in `text`. `go_on` is asked before each search that takes long.
///
/// # Examples
/// ```
/// use rootbound::{edit::locate_hunks, text::patch::{FileAction, Patch}};
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
) -> Vec<Result<LocatedHunk, HunkMiss>> {
    if text.len() > MOST_LINES && memchr::memchr_iter(b'\n', text.as_bytes()).count() > MOST_LINES {
        let summary = format!("a file of more than {MOST_LINES} lines is not patched");
        return vec![Err(HunkMiss::NotFound(Diagnosis::without_place(summary)))];
    }
    let text = PatchedText::new(text);
    let mut candidates: Vec<Result<HunkCandidates, HunkMiss>> = hunks
        .iter()
        .map(|hunk| if go_on() { candidates(&text, hunk, go_on) } else { Err(HunkMiss::Stopped) })
        .collect();
    let mut found: Vec<&mut HunkCandidates> =
        candidates.iter_mut().flatten().filter(|one| !one.places.lines.is_empty()).collect();
    hunk_places::in_order(&mut found);
    let mut located: Vec<Result<LocatedHunk, HunkMiss>> = hunks
        .iter()
        .zip(candidates)
        .map(|(hunk, candidates)| match candidates? {
            exact if !exact.places.lines.is_empty() => at_candidates(&text, hunk, exact),
            _ if go_on() => tolerant(&text, hunk),
            _ => Err(HunkMiss::Stopped),
        })
        .collect();
    refuse_overlaps(&mut located);
    located
}

fn candidates(
    text: &PatchedText<'_>,
    hunk: &PatchHunk<'_>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<HunkCandidates, HunkMiss> {
    if hunk.lines.iter().any(|line| line.old().is_some()) {
        return Ok(hunk_places::of_lines(text, hunk, go_on));
    }
    hunk_places::of_insertion(text, hunk, go_on).map_err(|none| match none {
        NoPlace::Context(context) => HunkMiss::NoContext(context),
        NoPlace::BeyondEnd(at) => HunkMiss::BeyondEnd { at, lines: text.lines.len() },
        NoPlace::Unsaid => HunkMiss::NoPlace,
    })
}

fn at_candidates(text: &PatchedText<'_>, hunk: &PatchHunk<'_>, found: HunkCandidates) -> Result<LocatedHunk, HunkMiss> {
    let lines = &found.places.lines;
    if !found.is_sure() {
        let places = lines.iter().map(|line| place(text, *line)).collect();
        return Err(HunkMiss::Ambiguous { strategy: Strategies::default(), places });
    }
    let covered = lines[0]..lines[0] + found.covered;
    if hunk.at_end && covered.end != text.lines.len() {
        return Err(HunkMiss::NotAtEnd { line: covered.start + 1 });
    }
    let replacements = hunk_replacements::of(text, hunk, &hunk.lines[..found.used], covered.start);
    Ok(LocatedHunk { replacements, strategy: Strategies::default(), lines: covered, note: found.note })
}

fn place(text: &PatchedText<'_>, line: usize) -> Place {
    let content = text.lines.get(line).map_or("", |line| line.content(text.text));
    Place { line: line + 1, text: shorten(content, SHOWN).into_owned() }
}

/// By the steps of the ladder, for a hunk whose lines are not there exactly.
fn tolerant(text: &PatchedText<'_>, hunk: &PatchHunk<'_>) -> Result<LocatedHunk, HunkMiss> {
    let new = hunk.new_lines();
    if is_telling(hunk)
        && let Some(line) = text.places(&new).lines.first()
    {
        return Err(HunkMiss::Applied { line: line + 1 });
    }
    // Without line ends on both sides; where all lines go, with the last of them.
    let joined = |lines: &[&str]| lines.iter().map(|line| plain(line)).collect::<Vec<_>>().join("\n");
    let (old, new) = (joined(&hunk.old()) + if new.is_empty() { "\n" } else { "" }, joined(&new));
    let request = Request { old: &old, new: &new, replace_all: false, expected_replacements: None };
    let Located { strategy, mut replacements } =
        ladder::climb(text.text, &request, ladder::of_lines()).map_err(|miss| match miss {
            Miss::Ambiguous { strategy, places } | Miss::Count { strategy, places, .. } => {
                HunkMiss::Ambiguous { strategy, places }
            }
            Miss::TooMany { .. } => HunkMiss::Ambiguous { strategy: Strategies::default(), places: Vec::new() },
            Miss::NotFound(diagnosis) => HunkMiss::NotFound(of_a_patch(&diagnosis)),
        })?;
    let lines = match (replacements.first(), replacements.last()) {
        (Some(first), Some(last)) => {
            let end = text.line_at(last.span.end.saturating_sub(1).max(first.span.start)) + 1;
            text.line_at(first.span.start)..end.min(text.lines.len())
        }
        _ => 0..0,
    };
    if hunk.at_end && lines.end != text.lines.len() {
        return Err(HunkMiss::NotAtEnd { line: lines.start + 1 });
    }
    if let Some(last) = replacements.last_mut().filter(|_| lines.end == text.lines.len()) {
        let ending = &text.text[last.span.end..];
        match hunk.final_newline {
            FinalNewline::Added if ending.is_empty() => last.text.push_str(text.ending_near(lines.start)),
            FinalNewline::Removed if matches!(ending, "\n" | "\r\n" | "\r") => last.span.end = text.text.len(),
            _ => {}
        }
    }
    Ok(LocatedHunk { replacements, strategy, lines, note: None })
}

/// Whether the new lines say enough to be recognised where the old ones are not.
fn is_telling(hunk: &PatchHunk<'_>) -> bool {
    let says = |line: &str| line.chars().filter(|one| one.is_alphanumeric()).nth(2).is_some();
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
fn refuse_overlaps(located: &mut [Result<LocatedHunk, HunkMiss>]) {
    let spans = |(index, one): (usize, &Result<LocatedHunk, HunkMiss>)| {
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
                located[second] = Err(HunkMiss::Overlaps(first));
                until = Some((before.max(end), first));
            }
            _ => until = Some((end, index)),
        }
    }
}

#[cfg(test)]
mod tests;
