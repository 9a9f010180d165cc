//! The first steps: the text as given, anywhere, also in the middle of a line; then LF and CR LF taken for the same.

use std::ops::Range;

use super::partial_lines::{leaves_trailing_space, loses_indent};
use crate::{
    Replacement, Strategy,
    found::{Found, Refusal, StepResult},
    keep_line_endings::with_endings,
    search::Search,
};

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

/// Every place where `old` is if all line endings are read as LF.
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

/// The next match after `start`, where it overlaps the one there.
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
