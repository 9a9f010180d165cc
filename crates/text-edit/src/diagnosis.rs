//! What to say when nothing matched: the reason of a step that refused, else the nearest block and what differs.
//!
//! Below it is how that block is found, compared and shown, and how `neighbours` tells several places apart.

mod differences;
mod excerpt;
mod nearest;

use text_file::shorten;

use crate::line_parts::{contents, has_letters};
use crate::search::{MAX_LINES, Search};
use crate::{Diagnosis, Next, found::Refusal, interpretation::LineEdit, ladder::applied, longer_word, placeholder};
use nearest::{Nearest, PlainRequest, line_of};

pub use excerpt::neighbours;

/// Longest summary, in characters: with the tool's own words it must stay within what clients keep of an error.
const MAX_SUMMARY: usize = 300;

/// Characters of a word that is named.
const MAX_WORD: usize = 60;

/// Lines of a change that is made already which are shown.
const MAX_APPLIED_LINES: usize = 12;

/// Explains why `old` was not found; `refusals` are the reasons of the steps.
pub(super) fn diagnose(search: &Search<'_>, refusals: &[Refusal]) -> Diagnosis {
    // The one that explains the most.
    let chief = refusals.iter().copied().max().filter(|refusal| *refusal != Refusal::Unclear);
    let Some(refusal) = chief else { return by_nearest(search) };
    let summary = explanation(search, refusal);
    match refusal {
        Refusal::TooManyLines => Diagnosis::without_place(summary),
        Refusal::WithinWord(_) => Diagnosis { next: Next::LeaveOutWord, ..Diagnosis::without_place(summary) },
        // Not the nearest block: that is not the place meant.
        Refusal::AlreadyApplied(start) => {
            Diagnosis { summary, details: applied_lines(search, start), next: Next::Look }
        }
        _ => Diagnosis { summary, ..by_nearest(search) },
    }
}

fn explanation(search: &Search<'_>, refusal: Refusal) -> String {
    let line = |offset: usize| line_of(search.text, offset);
    match refusal {
        Refusal::BareLine(start) => format!(
            "old_string is line {line} without its indentation, and new_string has further lines with less \
             indentation than that line; repeat both with the full indentation of line {line}",
            line = line(start)
        ),
        Refusal::TrailingSpace(end) => format!(
            "old_string ends before the white space that ends line {line}, and new_string ends with a line \
             ending, which would leave that white space as a separate line; repeat line {line} to its end, or \
             end new_string without a line ending",
            line = line(end)
        ),
        Refusal::AlreadyApplied(start) => format!(
            "old_string was not found exactly; new_string is already there, at line {}; if another place is meant, \
             copy old_string from it exactly, with its indentation",
            line(start)
        ),
        Refusal::Indentation(start) => format!(
            "old_string matches from line {} on except for its indentation, and the indentation of new_string cannot be \
             derived from it: several are possible, or none; repeat both with the indentation of the file",
            line(start)
        ),
        Refusal::Placeholder(line) => format!(
            "old_string was not found exactly, and line {line} of new_string looks like a placeholder for code that was left \
             out; write that code out in both, or replace a smaller part"
        ),
        Refusal::WithinWord(start) => {
            let word = longer_word(search.text, start..start + search.old.len()).unwrap_or_default();
            let word = shorten(word, MAX_WORD);
            format!(
                "old_string is there only within longer words, such as `{word}` at line {}, and word=true asks for \
                 whole ones",
                line(start)
            )
        }
        Refusal::TooManyLines => format!(
            "old_string was not found exactly, and a file of more than {MAX_LINES} lines is not searched for similar text"
        ),
        Refusal::Unclear => String::new(),
    }
}

fn applied_lines(search: &Search<'_>, start: usize) -> String {
    let first = search.lines().partition_point(|line| line.start < start);
    let count = search.canonical_new.lines().count().min(MAX_APPLIED_LINES);
    let end = (first + count).min(search.lines().len());
    excerpt::show(search, &(first..end), &[], &[])
}

/// A diagnosis by the block of the file that is nearest to the request.
fn by_nearest(search: &Search<'_>) -> Diagnosis {
    let request = PlainRequest::of(search);
    let nearest = Nearest::of(search, &request);
    let applied_at = applied_at(search, &request);
    let already_applied = applied_at.is_some();
    let mut summary = "old_string was not found".to_owned();
    let mut add = |clause: &str| {
        let fits = summary.chars().count() + clause.chars().count() <= MAX_SUMMARY;
        if fits {
            summary.push_str(clause);
        }
        fits
    };
    if let Some(line) = applied_at {
        add(&format!("; new_string is already there, at line {line}"));
    }
    let is_named = nearest
        .as_ref()
        .is_some_and(|nearest| nearest.clauses.iter().any(|clause| clause.contains(differences::LEAVES_OUT)));
    if let Some(line) = placeholder::line_of_old(search).filter(|_| !already_applied && !is_named) {
        add(&format!(
            "; line {line} of old_string looks like a placeholder for code that was left out: write that code out, or \
             send a smaller part without it"
        ));
    }
    let Some(nearest) = nearest else {
        if !already_applied {
            add(" and nothing in the file resembles it");
        }
        let next = if already_applied { Next::Look } else { Next::Read };
        return Diagnosis { summary, details: String::new(), next };
    };
    let in_other_case = |line| format!("; the same text in another casing is at line {line}");
    add(&nearest.other_case.filter(|_| !already_applied).map_or_else(|| nearest.named(), in_other_case));
    let mut clauses: Vec<&str> = request.note.into_iter().collect();
    clauses.extend(nearest.clauses.iter().map(String::as_str));
    let reported = clauses.iter().take_while(|clause| !already_applied && add(&format!("; {clause}"))).count();
    let mut details: String = clauses.iter().skip(reported).flat_map(|clause| [*clause, "\n"]).collect();
    if !details.is_empty() {
        details.push('\n');
    }
    details.push_str(&excerpt::show(search, &nearest.shown, &nearest.focus, &nearest.parts));
    let next = match (already_applied, nearest.is_rewritten) {
        (true, _) => Next::Look,
        (false, true) => Next::LeaveOutPath,
        (false, false) => Next::Copy,
    };
    Diagnosis { summary, details, next }
}

/// Line of the new text, where that is long enough to be no accident and not a part of the old one.
fn applied_at(search: &Search<'_>, request: &PlainRequest<'_>) -> Option<usize> {
    let (new, old) = (&request.new, &request.old);
    let edit = LineEdit::new(old, new);
    if edit.is_some_and(|edit| applied::is_held(&edit, &contents(&edit.old))) {
        return None;
    }
    let new = new.trim_matches('\n');
    if new.trim().len() < 8 || !has_letters([new], 4) || old.contains(new) {
        return None;
    }
    let text = search.canonical_text();
    text.find(new).map(|at| line_of(text, at))
}
