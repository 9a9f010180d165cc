//! The diff that an answer shows of a change.

use std::{fmt::Write as _, ops::Range};

use text_edit::{DiffExtent, TruncatedDiff};
use text_file::Document;

use confined_fs::WorkspacePath;

use super::{context::CallContext, fence::fenced, hidden_note::HiddenNote};

/// Lines of a diff that are shown.
pub(crate) const DIFF_LINES: usize = 60;
/// The extent of the diff of a change that the model itself made.
pub(crate) const BRIEF: DiffExtent = DiffExtent::Brief(DIFF_LINES);
/// Bytes of an answer reserved for the text around a diff.
const AROUND: usize = 700;

/// The whole diff between two contents, where both are text; `None` is a file that does not exist.
pub(crate) fn diff(path: &WorkspacePath, old: Option<Vec<u8>>, new: Option<Vec<u8>>) -> String {
    let text = |bytes: Option<Vec<u8>>| match bytes {
        None => Some(String::new()),
        Some(bytes) => Document::decode(bytes, None).ok().map(|document| document.text().to_owned()),
    };
    let (Some(old), Some(new)) = (text(old), text(new)) else { return String::new() };
    text_edit::unified_diff(&diff_name(path), &old, &new, DiffExtent::Full).text
}

/// A diff as an answer shows it.
pub(crate) struct ShownDiff {
    /// Headers and hunks.
    pub(crate) text: String,
    /// Lines that were left out.
    pub(crate) cut_lines: usize,
    /// Where hidden characters are in it.
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
        cx.session.ledger.showed(real, None, hunk_lines(&shown.text));
        let mut hidden = HiddenNote::default();
        hidden.look_at_diff(&shown.text);
        let hidden = hidden.text();
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
    let (budget, mut room) = (cx.budget.of_json().reduced(AROUND), room.min(shown.text.len()));
    loop {
        let size = budget.cost(&serde_json::Value::from(shown.text.as_str()).to_string());
        if size <= budget.limit || room == 0 {
            return shown;
        }
        room = room * budget.limit / size;
        shown = TruncatedDiff::of(diff, cut_lines, lines, room);
    }
}

/// Bytes of a diff that an answer about `path` has room for.
pub(crate) fn room(cx: &CallContext, path: &WorkspacePath) -> usize {
    cx.budget.text_bytes().saturating_sub(AROUND + path.to_string().len())
}

/// The lines that the hunks of a diff have numbers for, on either side, counted from 0.
pub(crate) fn hunk_lines(diff: &str) -> impl Iterator<Item = Range<usize>> {
    let sides = diff.lines().filter_map(|line| line.strip_prefix("@@ -")?.split_once(" @@")?.0.split_once(" +"));
    sides.flat_map(|(old, new)| [old, new]).filter_map(|side| {
        let (start, len) = side.split_once(',').unwrap_or((side, "1"));
        let (start, len): (usize, usize) = (start.parse().ok()?, len.parse().ok()?);
        Some(start.saturating_sub(1)..start.saturating_sub(1).saturating_add(len))
    })
}

/// Lines whose numbers are in a text of the server's own, counted from 0.
pub(crate) fn numbers(text: &str) -> impl Iterator<Item = Range<usize>> {
    let words = text.split(|one: char| !one.is_ascii_digit());
    words.filter_map(|word| word.parse::<usize>().ok()?.checked_sub(1)).map(|line| line..line + 1)
}

/// The name of a file in a diff's header: `a/` and `b/` are put before it.
pub(crate) fn diff_name(path: &WorkspacePath) -> String {
    path.to_string().trim_start_matches('/').to_owned()
}
