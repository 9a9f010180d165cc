//! Lines of the file as an error shows them: to be copied, so whole, in the form of `read`, and bounded.

use std::{collections::BTreeSet, fmt::Write as _, ops::Range};

use memchr::memmem;
use text_file::Line;

use super::{approximate, differences::range};
use crate::Prepared;

/// Lines that are shown at most.
const LINES: usize = 80;

/// Bytes of lines that are shown at most: about 2,000 tokens, less than a second `read` of a file costs.
const BYTES: usize = 8 << 10;

/// Bytes of a line beyond which it is shown in part where not everything fits.
const LONG: usize = 1 << 10;

/// Bytes of a part of a line, at most.
const PART: usize = 2 << 10;

/// Lines around a change that are shown where not everything fits.
const AROUND: usize = 3;

/// Lines put in front of a block and behind it where it occurs more than once in the file.
const WIDENED: usize = 6;

/// The part of a long line that is to be copied where the line is not.
pub(super) struct Part {
    /// Counted from 0.
    pub(super) line: usize,
    /// Bytes of the text.
    pub(super) bytes: Range<usize>,
    /// Those of them that differ from the request.
    pub(super) differs: Range<usize>,
}

/// Shows the lines `block` of the file, and where that is too much those around `focus`, the most important first,
/// and the `parts` of lines that are too long.
pub(super) fn show(prepared: &Prepared<'_>, block: &Range<usize>, focus: &[Range<usize>], parts: &[Part]) -> String {
    let count = prepared.lines().len();
    let block = widened(prepared, block.start.min(count)..block.end.min(count));
    let bytes: usize = prepared.lines()[block.clone()].iter().map(|line| line.end - line.start + 1).sum();
    if block.len() <= LINES && bytes <= BYTES {
        return numbered(prepared.text, &prepared.lines()[block.clone()], block.start);
    }
    let chosen = chosen(prepared, &block, focus);
    let mut shown = String::new();
    let mut next = block.start;
    for line in chosen.iter().copied().chain([block.end]) {
        if line > next {
            let count = line - next;
            let is_are = if count == 1 { "is" } else { "are" };
            let _ = writeln!(shown, "({} {is_are} not shown)", range(next, count));
        }
        if line < block.end {
            shown.push_str(&numbered(prepared.text, &prepared.lines()[line..=line], line));
        }
        next = line + 1;
    }
    let mut seen = BTreeSet::new();
    for part in parts.iter().filter(|part| !chosen.contains(&part.line)) {
        if shown.len() < BYTES + PART && seen.insert(part.line) {
            shown.push_str(&self::part(prepared, part).unwrap_or_default());
        }
    }
    shown
}

/// Lines of `text` as `read` shows them, the number, a tab, the line as it is; `first` is that of the first, from 0.
pub(super) fn numbered(text: &str, lines: &[Line], first: usize) -> String {
    lines.iter().zip(first + 1..).fold(String::new(), |mut shown, (line, number)| {
        let _ = writeln!(shown, "{number}\t{}", line.content(text));
        shown
    })
}

/// The lines that fit, those around the focus first.
fn chosen(prepared: &Prepared<'_>, block: &Range<usize>, focus: &[Range<usize>]) -> BTreeSet<usize> {
    let near = |focus: &Range<usize>| focus.start.saturating_sub(AROUND)..focus.end + AROUND;
    let wanted = focus.iter().map(near).chain([block.clone()]).flatten().filter(|line| block.contains(line));
    let mut chosen = BTreeSet::new();
    let mut bytes = 0;
    for line in wanted {
        let length = prepared.lines()[line].end - prepared.lines()[line].start + 1;
        if chosen.len() == LINES {
            break;
        }
        if length <= LONG && bytes + length <= BYTES && chosen.insert(line) {
            bytes += length;
        }
    }
    chosen
}

/// A part of a line, said to be one.
fn part(prepared: &Prepared<'_>, part: &Part) -> Option<String> {
    let line = prepared.lines()[part.line];
    // Where the change takes more than can be shown, the first of what differs is shown.
    let shown = approximate::unique(prepared.text, &(line.start..line.end), part.bytes.clone(), PART)
        .or_else(|| approximate::unique(prepared.text, &(line.start..line.end), part.differs.clone(), PART))?;
    let columns = |bytes: Range<usize>| prepared.text[bytes].chars().count();
    let before = columns(line.start..shown.start);
    Some(format!(
        "line {} is {} characters long; characters {}-{} of it occur once in the file and can be old_string alone:\n\
         {}\t{}\n",
        part.line + 1,
        columns(line.start..line.end),
        before + 1,
        before + columns(shown.clone()),
        part.line + 1,
        &prepared.text[shown]
    ))
}

/// The block with as many lines around it as make it occur once in the file.
fn widened(prepared: &Prepared<'_>, block: Range<usize>) -> Range<usize> {
    let lines = prepared.lines();
    if block.len() > LINES {
        return block;
    }
    let mut wide = block.clone();
    for turn in 0..=2 * WIDENED {
        let (Some(first), Some(last)) = (lines.get(wide.start), wide.end.checked_sub(1).and_then(|end| lines.get(end)))
        else {
            return block;
        };
        let text = &prepared.text[first.start..last.end.max(first.start)];
        if text.len() > BYTES || memmem::find_iter(prepared.text.as_bytes(), text).nth(1).is_none() && !text.is_empty()
        {
            return wide;
        }
        if turn % 2 == 0 && wide.start > 0 {
            wide.start -= 1;
        } else {
            wide.end = (wide.end + 1).min(lines.len());
        }
    }
    block
}
