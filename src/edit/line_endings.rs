//! The second step: LF, CR LF and CR taken for the same; and the endings that new text takes on.

use std::{borrow::Cow, ops::Range};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{Found, Outcome, Replacement, Search, Strategy, exact};
use crate::text::LineEnding;

/// Every place where `old` stands if all line endings are read as LF.
pub(super) fn find(search: &Search<'_>) -> Outcome {
    if !search.text.contains('\r') && !search.old.contains('\r') {
        return Outcome::None;
    }
    let text = canonical(search.text);
    let (old, new) = (search.canonical_old(), search.canonical_new());
    // Where the canonical text lacks a CR: offsets of the LF that stand for CR LF.
    let collapsed: Vec<usize> =
        search.text.match_indices("\r\n").enumerate().map(|(earlier, (offset, _))| offset - earlier).collect();
    let real = |offset: usize| offset + collapsed.partition_point(|collapse| *collapse < offset);
    let mut found = Found { by: Strategy::LineEndings.into(), ..Found::default() };
    let mut refused = None;
    for (start, matched) in text.match_indices(old.as_ref()) {
        if found.is_empty() {
            found.overlapping = exact::overlapping_second(&text, &old, start).map(real);
        }
        let span = real(start)..real(start + matched.len());
        if let Some(refusal) = search.loses_indent(&span).or_else(|| exact::leaves_trail(search, &span)) {
            refused = Some(exact::first(refused, span.start, refusal));
            continue;
        }
        let text = if old == new { search.new.to_owned() } else { fit(search, &span, &old, &new) };
        if text != search.text[span.clone()] {
            found.replacements.push(Replacement { span, text });
        }
        if found.replacements.len() == search.limit {
            break;
        }
    }
    found.settled(search, refused).into()
}

/// `text` with every line ending an LF.
pub(super) fn canonical(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(text) }
}

/// `new` with the line endings that fit where `span` stood, which matched `old`.
///
/// A request that changes nothing but line endings is left as it is: there they are the point.
pub(super) fn fit(search: &Search<'_>, span: &Range<usize>, old: &str, new: &str) -> String {
    // One character at a time is a memchr; this runs for every place.
    if !(new.contains('\n') || new.contains('\r')) || canonical(old) == canonical(new) {
        return new.to_owned();
    }
    let plain = new.replace("\r\n", "\n");
    match search.ending {
        LineEnding::None => new.to_owned(),
        LineEnding::Lf => plain,
        LineEnding::CrLf => plain.replace('\n', "\r\n"),
        LineEnding::Cr => plain.replace('\n', "\r"),
        LineEnding::Mixed => fit_mixed(search, span, old, &plain),
    }
}

/// In a file of mixed endings each line that stays keeps its own; the others take the one before them.
fn fit_mixed(search: &Search<'_>, span: &Range<usize>, old: &str, new: &str) -> String {
    let mut endings = endings_in(&search.text[span.clone()]);
    let around = ending_around(search, span.start);
    // The ending of the line in which the match ends decides where that line gets another one after it.
    let after = &search.text[span.end..];
    endings.extend(after.find(['\n', '\r']).map(|found| {
        let len = if after[found..].starts_with("\r\n") { 2 } else { 1 };
        &after[found..found + len]
    }));
    if endings.windows(2).all(|pair| pair[0] == pair[1]) {
        let ending = endings.first().copied().unwrap_or(around);
        return new.replace('\n', ending);
    }
    let old = canonical(old);
    let old_lines: Vec<&str> = old.split('\n').collect();
    let new_lines: Vec<&str> = new.split('\n').collect();
    let mut chosen: Vec<Option<&str>> = vec![None; new_lines.len()];
    for (old, new) in versions(&old_lines, &new_lines) {
        chosen[new] = endings.get(old).copied();
    }
    let mut result = String::with_capacity(new.len());
    let mut last = endings.first().copied().unwrap_or(around);
    for (index, line) in new_lines.iter().enumerate() {
        result.push_str(line);
        if index + 1 < new_lines.len() {
            last = chosen[index].unwrap_or(last);
            result.push_str(last);
        }
    }
    result
}

/// Which line of `new` is a version of which line of `old`, as pairs of indices into both.
fn versions(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    // A line that is only indented anew is still the same line. But where lines go, those that stay as they are tell
    // better which ones: of two braces the one that is left.
    let trimmed = |lines: &[&'_ str]| -> Vec<String> { lines.iter().map(|line| line.trim().to_owned()).collect() };
    let (old_trimmed, new_trimmed) = (trimmed(old), trimmed(new));
    let by_content = capture_diff_slices(Algorithm::Myers, &old_trimmed, &new_trimmed);
    let loses_lines = by_content.iter().any(|op| !matches!(op, DiffOp::Equal { .. } | DiffOp::Insert { .. }));
    if !loses_lines {
        return pairs(&by_content, 0, 0);
    }
    let mut found = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        let (old, new) = (op.old_range(), op.new_range());
        if matches!(op, DiffOp::Equal { .. }) {
            found.extend(old.zip(new));
        } else {
            let within = capture_diff_slices(Algorithm::Myers, &old_trimmed[old.clone()], &new_trimmed[new.clone()]);
            found.extend(pairs(&within, old.start, new.start));
        }
    }
    found
}

/// The lines that `ops` pair, those of a replacement in their order, counted from the given ones on.
fn pairs(ops: &[DiffOp], old: usize, new: usize) -> Vec<(usize, usize)> {
    let paired = |op: &&DiffOp| matches!(op, DiffOp::Equal { .. } | DiffOp::Replace { .. });
    let shifted = |op: &DiffOp| op.old_range().zip(op.new_range()).map(move |(from, to)| (old + from, new + to));
    ops.iter().filter(paired).flat_map(shifted).collect()
}

/// The line endings in `text`, in order.
fn endings_in(text: &str) -> Vec<&str> {
    let mut endings = Vec::new();
    let mut rest = text;
    while let Some(found) = rest.find(['\n', '\r']) {
        let len = if rest[found..].starts_with("\r\n") { 2 } else { 1 };
        endings.push(&rest[found..found + len]);
        rest = &rest[found + len..];
    }
    endings
}

/// The ending of the line that holds `offset`, or of the one before it.
pub(super) fn ending_around<'a>(search: &Search<'a>, offset: usize) -> &'a str {
    let lines = search.lines();
    let after = lines.partition_point(|line| line.start <= offset);
    lines[..after]
        .iter()
        .rev()
        .take(2)
        .map(|line| line.terminator(search.text))
        .find(|terminator| !terminator.is_empty())
        .unwrap_or("\n")
}

#[cfg(test)]
mod tests {
    use crate::edit::{
        Strategy::LineEndings,
        trial::{assert_ambiguous, assert_edited, assert_missed},
    };

    #[test]
    fn endings_of_any_kind_match_and_the_files_own_are_written() {
        assert_edited("a\r\nb\r\nc\r\n", "a\nb\n", "a\nx\n", LineEndings, "a\r\nx\r\nc\r\n");
        assert_edited("a\nb\nc\n", "a\r\nb\r\n", "a\r\nx\r\n", LineEndings, "a\nx\nc\n");
        assert_edited("a\rb\rc", "a\nb", "x\ny", LineEndings, "x\ry\rc");
        assert_edited("a\nb\nc", "a\rb", "x\ry", LineEndings, "x\ny\nc");
    }

    #[test]
    fn a_match_may_begin_and_end_within_lines() {
        assert_edited("f(1,\r\n  2)\r\n", "1,\n  2", "3,\n  4", LineEndings, "f(3,\r\n  4)\r\n");
    }

    #[test]
    fn in_mixed_files_unchanged_lines_keep_their_own_ending() {
        assert_edited("a\r\nb\nc\r\nd\n", "a\nb\nc\n", "a\nB\nn\nc\n", LineEndings, "a\r\nB\nn\nc\r\nd\n");
    }

    #[test]
    fn in_mixed_files_a_line_indented_anew_and_the_last_one_keep_their_own_ending() {
        assert_edited("a\nb\r\nc\nd\n", "a\nb\nc", "if x\n  a\n  b\n  c", LineEndings, "if x\n  a\n  b\r\n  c\nd\n");
        assert_edited("a\r\nb\nc\n", "a\nb", "a\nb\n\nn", LineEndings, "a\r\nb\n\nn\nc\n");
    }

    #[test]
    fn in_mixed_files_the_line_that_goes_takes_its_own_ending_along() {
        assert_edited("  }\n }\r\nx\nend\n", "  }\n }\nx", " }\nx", LineEndings, " }\r\nx\nend\n");
    }

    #[test]
    fn places_are_counted_over_all_endings() {
        assert_eq!(assert_ambiguous("a\r\nb\r\n\r\na\r\nb\r\n", "a\nb", "x"), [1, 4]);
    }

    #[test]
    fn text_that_is_there_in_other_endings_already_is_no_change() {
        assert_missed("a\r\nb\r\n", "a\nb\n", "a\r\nb\r\n");
    }
}
