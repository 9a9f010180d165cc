//! The first step: the text as given, anywhere, also in the middle of a line.

use super::{Found, Replacement, Search, line_endings};

/// Every place where `old` stands byte for byte, without those that would cut a CR LF in two.
pub(super) fn find(search: &Search<'_>) -> Found {
    let (text, old) = (search.text, search.old);
    let mut replacements = Vec::new();
    let mut overlapping = None;
    for (start, matched) in text.match_indices(old) {
        let span = start..start + matched.len();
        if cuts_crlf(text, span.start) || cuts_crlf(text, span.end) {
            continue;
        }
        if replacements.is_empty() {
            overlapping = overlapping_second(text, old, start);
        }
        let text = line_endings::fit(search, &span, old, search.new);
        replacements.push(Replacement { span, text });
        if replacements.len() == search.limit {
            break;
        }
    }
    if replacements.len() > 1 {
        overlapping = None;
    }
    Found { replacements, overlapping }
}

/// The next match after `start`, where it overlaps the one there.
pub(super) fn overlapping_second(text: &str, old: &str, start: usize) -> Option<usize> {
    let after = start + old.chars().next()?.len_utf8();
    let window = (start + 2 * old.len()).min(text.len());
    let window = (window..text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
    text[after..window].find(old).map(|found| after + found).filter(|found| *found < start + old.len())
}

fn cuts_crlf(text: &str, offset: usize) -> bool {
    let bytes = text.as_bytes();
    offset > 0 && bytes[offset - 1] == b'\r' && bytes.get(offset) == Some(&b'\n')
}
