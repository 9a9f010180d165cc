//! The first steps: the text as given, anywhere, also in the middle of a line; then LF and CR LF taken for the same. Places
//! that begin or end within the white space of a line, where new lines may come out wrong, are refused.

use std::ops::Range;

use crate::found::{Found, Refusal, StepResult};
use crate::line_parts::{opens_block_without_body, parts};
use crate::search::{Search, Site};
use crate::{Replacement, Strategy, keep_line_endings::with_endings};

/// Every place where `old` is byte for byte, without those that would cut a CR LF in two, and those where
/// the further lines of `new` would come out with too little indentation.
pub(super) fn as_given(search: &Search<'_>) -> StepResult {
    let (text, old) = (search.text, search.old);
    let new = |span: &Range<usize>| Some(with_endings(text, search.ending, span, old, search.new));
    let (found, within) = collect(search, (text, old), |offset| offset, new);
    match (found.result(), within) {
        (Ok(None), Some(start)) => Err(Refusal::WithinWord(start)),
        (result, _) => result,
    }
}

pub(super) fn through_line_endings(search: &Search<'_>) -> StepResult {
    if !search.text.contains('\r') && !search.old.contains('\r') {
        return Ok(None);
    }
    let text = search.canonical_text();
    let (old, new) = (search.canonical_old.as_ref(), search.canonical_new.as_ref());
    // Where the canonical text lacks a CR: offsets of the LF of each CR LF.
    let collapsed: Vec<usize> =
        search.text.match_indices("\r\n").enumerate().map(|(earlier, (offset, _))| offset - earlier).collect();
    let real = |offset: usize| offset + collapsed.partition_point(|collapse| *collapse < offset);
    let (found, _) = collect(search, (text, old), real, |span| {
        let new =
            if old == new { search.new.to_owned() } else { with_endings(search.text, search.ending, span, old, new) };
        (new != search.text[span.clone()]).then_some(new)
    });
    Found { by: Strategy::LineEndings.into(), ..found }.result()
}

/// The places of `old` in `text` that can take what `new` makes of them, and the first that is within a longer word, where
/// whole words are asked for. `real` turns an offset of that text into one of the file's.
fn collect(
    search: &Search<'_>,
    (text, old): (&str, &str),
    real: impl Fn(usize) -> usize,
    new: impl Fn(&Range<usize>) -> Option<String>,
) -> (Found, Option<usize>) {
    let (mut found, mut within) = (Found::default(), None);
    // Bytes for speed: UTF-8 matches UTF-8 at character boundaries only.
    for start in memchr::memmem::find_iter(text.as_bytes(), old) {
        let span = real(start)..real(start + old.len());
        if cuts_crlf(search.text, span.start) || cuts_crlf(search.text, span.end) {
            continue;
        }
        if search.is_within_word(&span) {
            within.get_or_insert(span.start);
            continue;
        }
        if let Some(refusal) = loses_indent(search, &span).or_else(|| leaves_trailing_space(search, &span)) {
            found.refuse(span.start, refusal);
            continue;
        }
        if found.is_empty() && !search.whole_words {
            found.overlapping = overlapping_second(text, old, start).map(&real);
        }
        found.replacements.extend(new(&span).map(|text| Replacement { span, text }));
        if found.replacements.len() == search.limit {
            break;
        }
    }
    (found.settled(search.wants_all), within)
}

fn overlapping_second(text: &str, old: &str, start: usize) -> Option<usize> {
    let after = start + old.chars().next()?.len_utf8();
    // One that overlaps begins within this one, and so ends within twice its length.
    let window = (start + 2 * old.len()).min(text.len());
    let window = (window..text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
    text[after..window].find(old).map(|found| after + found).filter(|found| *found < start + old.len())
}

fn cuts_crlf(text: &str, offset: usize) -> bool {
    let bytes = text.as_bytes();
    offset > 0 && bytes[offset - 1] == b'\r' && bytes.get(offset) == Some(&b'\n')
}

#[cfg(test)]
mod tests;

/// Whether the first line of the request, matched after white space at the start of the file's line, would leave
/// further lines of `new` with less than that. Either `old` begins with white space itself, too little of it,
/// which the shift of indentation resolves. Or it is a whole line without its indentation: then nobody can tell
/// whether the other lines lack theirs too or are meant to be further left, and the request is refused.
pub(super) fn loses_indent(search: &Search<'_>, span: &Range<usize>) -> Option<Refusal> {
    let new_lines = || search.new.lines().filter(|line| !line.trim().is_empty());
    // Whole lines that go would leave the indentation of the first in front of the line after them.
    let deletes = search.old.ends_with('\n') && search.new.trim().is_empty();
    let has_further_lines = search.old.trim_end().contains('\n');
    if search.old.trim().is_empty() || !deletes && !has_further_lines && new_lines().nth(1).is_none() {
        return None;
    }
    let is_indented = |line: &str| line.starts_with([' ', '\t']);
    // The first of several lines with a part of its indentation: what is brought in may lack as much. One without
    // any stays in front of its own line only.
    let is_placed = || {
        let (first, new_first) = (search.old.lines().next(), search.new.lines().next());
        if !is_indented(search.old) {
            // Further down in the new text, it would lack what is in front of it now.
            let is_moved = search.new.lines().skip(1).any(|new| Some(new) == first && !new.trim().is_empty());
            return first == new_first || !is_moved && search.old.lines().skip(1).all(|old| Some(old) != new_first);
        }
        let is_new = |line: &str| search.old.lines().all(|old| old != line);
        first == new_first && !new_lines().any(|line| is_indented(line) && is_new(line))
    };
    if has_further_lines && !deletes && is_placed() {
        return None;
    }
    let before = &search.text[..span.start];
    let indent = &before[before.trim_end_matches([' ', '\t']).len()..];
    let line_start = span.start - indent.len();
    let starts_line = line_start == 0 || before[..line_start].ends_with('\n');
    if indent.is_empty() || !starts_line {
        return None;
    }
    if deletes || has_further_lines || is_indented(search.old) {
        return Some(Refusal::Unclear);
    }
    let after = search.text[span.end..].trim_start_matches([' ', '\t']);
    let is_end = |rest: &str| rest.is_empty() || rest.starts_with('\n') || rest.starts_with("\r\n");
    let ends_line = search.old.ends_with('\n') || is_end(after);
    let loses = ends_line
        && (new_lines().skip(1).any(|line| !line.starts_with(indent)) || opens_block_without_body(new_lines(), indent));
    loses.then_some(Refusal::BareLine(line_start))
}

/// Whether white space that ends the last line would be left as a separate line, after a new text that ends with a
/// line ending where the old one does not.
pub(super) fn leaves_trailing_space(search: &Search<'_>, span: &Range<usize>) -> Option<Refusal> {
    // Asked first, as the rest of a long line is long for each of its places.
    if !search.new.ends_with('\n') || search.old.ends_with('\n') {
        return None;
    }
    let rest = search.text[span.end..].split('\n').next().unwrap_or_default();
    let rest = rest.strip_suffix('\r').unwrap_or(rest);
    let leaves = !rest.is_empty() && rest.trim().is_empty();
    leaves.then_some(Refusal::TrailingSpace(span.end))
}

/// Whether a single line found at `site`, without its indentation, is to be followed by lines that may lack theirs too,
/// or is to go and would leave its indentation.
pub(super) fn line_loses_indent(site: Site<'_, '_>) -> Option<Refusal> {
    let edit = site.edit;
    let (indent, ..) = parts(site.search.line(site.line));
    let filled = |line: &&&str| !line.trim().is_empty();
    if edit.new.first().is_none_or(|first| first.trim().is_empty()) {
        return Some(Refusal::Unclear);
    }
    let moves = edit.changes().any(|(is_kept, old, new)| is_kept && old.start == 0 && new.start > 0);
    let loses = moves
        || edit.old.iter().filter(filled).count() == 1
            && (edit.new.iter().skip(1).filter(filled).any(|line| !line.starts_with(indent))
                || opens_block_without_body(edit.new.iter().copied(), indent));
    loses.then_some(Refusal::Unclear)
}
