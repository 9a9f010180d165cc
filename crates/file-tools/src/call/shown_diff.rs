//! The diff that an answer shows of a change.

use std::{fmt::Write as _, ops::Range};

use text_edit::{DiffExtent, TruncatedDiff};
use text_file::{Document, hidden};

use confined_fs::WorkspacePath;

use super::{context::CallContext, fence::fenced, hidden_note::HiddenNote};

pub(crate) const DIFF_LINES: usize = 60;
/// The extent of the diff of a change that the model itself made.
pub(crate) const BRIEF_EXTENT: DiffExtent = DiffExtent::Brief(DIFF_LINES);
/// Bytes of an answer reserved for the text around a diff.
const RESERVED_BYTES: usize = 700;

/// The whole diff between two contents, where both are text; `None` is a file that does not exist.
pub(crate) fn diff(path: &WorkspacePath, old: Option<Vec<u8>>, new: Option<Vec<u8>>) -> String {
    let text = |bytes: Option<Vec<u8>>| {
        bytes.map_or(Some(String::new()), |bytes| Some(Document::decode(bytes, None).ok()?.text().to_owned()))
    };
    let (Some(old), Some(new)) = (text(old), text(new)) else { return String::new() };
    text_edit::unified_diff(&diff_name(path), &old, &new, DiffExtent::Full).text
}

pub(crate) struct ShownDiff {
    pub(crate) text: String,
    pub(crate) cut_lines: usize,
    pub(crate) hidden: Option<String>,
    /// The diff with its notes, fenced if it is untrusted; empty without a change.
    pub(crate) block: String,
}

impl ShownDiff {
    /// As much as an answer has room for of a diff of the file that is truly at `real`.
    pub(crate) fn of(cx: &CallContext, real: &WorkspacePath, diff: &str, cut_lines: usize) -> Self {
        Self::within(cx, real, diff, cut_lines, room(cx, real))
    }

    /// As much of it as fits into `room` bytes.
    pub(crate) fn within(cx: &CallContext, real: &WorkspacePath, diff: &str, cut_lines: usize, room: usize) -> Self {
        Self::from(cx, real, truncated(cx, diff, cut_lines, (DIFF_LINES, room)))
    }

    /// All lines of it that fit into `room` bytes: of a change that somebody else made.
    pub(crate) fn whole(cx: &CallContext, real: &WorkspacePath, diff: &str, room: usize) -> Self {
        Self::from(cx, real, truncated(cx, diff, 0, (usize::MAX, room)))
    }

    fn from(cx: &CallContext, real: &WorkspacePath, shown: TruncatedDiff) -> Self {
        cx.session.ledger.record_numbers(real, cx.by.as_ref(), None, hunk_lines(&shown.text));
        let hidden = hidden_in(&shown.text);
        let mut block = fenced(&cx.workspace, [real], shown.with_note());
        if let Some(note) = &hidden {
            let _ = write!(block, "\n{note}");
        }
        let TruncatedDiff { text, cut_lines } = shown;
        Self { text, cut_lines, hidden, block }
    }
}

/// As much of it as fits into `lines` lines and `room` bytes, and into the data of an answer that has it as a JSON string.
fn truncated(cx: &CallContext, diff: &str, cut_lines: usize, (lines, room): (usize, usize)) -> TruncatedDiff {
    let mut shown = TruncatedDiff::of(diff, cut_lines, lines, room);
    if !cx.settings.structured_output {
        return shown;
    }
    let (budget, mut room) = (cx.budget.of_json().reduced(RESERVED_BYTES), room.min(shown.text.len()));
    loop {
        let size = budget.cost(&serde_json::Value::from(shown.text.as_str()).to_string());
        if size <= budget.limit || room == 0 {
            return shown;
        }
        // Less each time, as `size` is over the limit: it ends with 0 at the latest.
        room = room * budget.limit / size;
        shown = TruncatedDiff::of(diff, cut_lines, lines, room);
    }
}

/// Bytes of a diff that an answer about `path` has room for.
pub(crate) fn room(cx: &CallContext, path: &WorkspacePath) -> usize {
    cx.budget.text_bytes().saturating_sub(RESERVED_BYTES + path.to_string().len())
}

/// The lines of `@@ -3,7 +3,7 @@` in the old text and in the new one, counted from 0.
pub(crate) fn hunk_sides(line: &str) -> Option<[Range<usize>; 2]> {
    let side = |text: &str| {
        let (start, len) = text.split_once(',').unwrap_or((text, "1"));
        let (start, len): (usize, usize) = (start.parse().ok()?, len.parse().ok()?);
        // Of an empty range the line before it is named.
        let start = if len == 0 { start } else { start.checked_sub(1)? };
        Some(start..start.saturating_add(len))
    };
    let (old, new) = line.strip_prefix("@@ -")?.split_once(" @@")?.0.split_once(" +")?;
    Some([side(old)?, side(new)?])
}

/// The lines that the hunks of a diff have numbers for, on either side, counted from 0.
pub(crate) fn hunk_lines(diff: &str) -> Vec<Range<usize>> {
    diff.lines().filter_map(hunk_sides).flatten().collect()
}

/// The note on hidden characters in a unified diff: `+12` is line 12 of the new text, `-12` of the old one.
pub(crate) fn hidden_in(diff: &str) -> Option<String> {
    let mut note = HiddenNote::default();
    // Hunks have line numbers of their own, and most diffs are plain.
    if diff.lines().all(|line| hidden::in_line(line).next().is_none()) {
        return None;
    }
    // The lines before the first hunk are the header: `---` and `+++` are no changes, and have no numbers.
    let mut next: Option<[usize; 2]> = None;
    for line in diff.split('\n') {
        match (line.as_bytes().first(), &mut next) {
            (Some(b'@'), next) => *next = hunk_sides(line).map(|sides| sides.map(|lines| lines.start + 1)),
            (Some(b'-'), Some([old, _])) => {
                note.look(format_args!("-{old}"), &line[1..]);
                *old += 1;
            }
            (Some(b'+'), Some([_, new])) => {
                note.look(format_args!("+{new}"), &line[1..]);
                *new += 1;
            }
            (Some(b' '), Some([old, new])) => {
                note.look(&new, &line[1..]);
                (*old, *new) = (*old + 1, *new + 1);
            }
            _ => {}
        }
    }
    note.text()
}

/// Lines whose numbers are in a text of the server's own, counted from 0.
pub(crate) fn numbers(text: &str) -> Vec<Range<usize>> {
    let words = text.split(|one: char| !one.is_ascii_digit());
    words.filter_map(|word| word.parse::<usize>().ok()?.checked_sub(1)).map(|line| line..line + 1).collect()
}

/// The name of a file in a diff's header: `a/` and `b/` are put before it.
pub(crate) fn diff_name(path: &WorkspacePath) -> String {
    path.to_string().trim_start_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_diff_have_the_numbers_of_their_side() {
        let old = "1\n2\n3\n4\u{200b}\n5\n6\u{202e}\n7\n";
        let new = "1\nnew\u{2060}\n2\n3\n4\u{200b}\n5\n6\n7\n";
        let note = hidden_in(&text_edit::unified_diff("f\u{200b}", old, new, DiffExtent::Full).text);
        let places = "U+2060 at +2:4, U+200B at 5:2, U+202E at -6:2";
        assert_eq!(note.unwrap(), format!("(hidden characters: {places})"));
    }
}
