//! The line endings that new text takes on where it is put.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};
use text_file::{LineEnding, lines, with_lf};

/// `new` with the line endings that fit the place of `span`, which matched `old`.
///
/// A request that changes nothing but line endings is left as it is: there they are the point.
pub(super) fn with_endings(text: &str, endings: LineEnding, span: &Range<usize>, old: &str, new: &str) -> String {
    if !new.contains('\n') || with_lf(old) == with_lf(new) {
        return new.to_owned();
    }
    let plain = with_lf(new);
    match endings {
        LineEnding::None => new.to_owned(),
        LineEnding::Lf => plain.into_owned(),
        LineEnding::CrLf => plain.replace('\n', "\r\n"),
        LineEnding::Mixed => with_mixed(text, span, old, &plain),
    }
}

/// In a file of mixed endings each line that stays keeps its own; the others take the one before them.
fn with_mixed(text: &str, span: &Range<usize>, old: &str, new: &str) -> String {
    let within = &text[span.clone()];
    let mut endings: Vec<&str> = lines(within).map(|line| line.terminator(within)).collect();
    endings.retain(|ending| !ending.is_empty());
    let around = ending_after(text, span.start).or_else(|| ending_before(text, span.start)).unwrap_or("\n");
    // The ending of the line in which the match ends decides where that line gets another one after it.
    endings.extend(ending_after(text, span.end));
    if endings.windows(2).all(|pair| pair[0] == pair[1]) {
        let ending = endings.first().copied().unwrap_or(around);
        return new.replace('\n', ending);
    }
    let old = with_lf(old);
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
    // A line that is only reindented is still the same line. But where lines go, those that stay as they are show
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

pub(super) fn ending_before(text: &str, offset: usize) -> Option<&'static str> {
    memchr::memrchr(b'\n', &text.as_bytes()[..offset]).map(|at| ending_by(text, at))
}

pub(super) fn ending_after(text: &str, offset: usize) -> Option<&'static str> {
    memchr::memchr(b'\n', &text.as_bytes()[offset..]).map(|at| ending_by(text, offset + at))
}

fn ending_by(text: &str, newline: usize) -> &'static str {
    if text[..newline].ends_with('\r') { "\r\n" } else { "\n" }
}
