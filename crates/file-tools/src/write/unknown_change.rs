//! An overwrite whose content does not know a change: several agents of one client share one server, and one of them
//! writes a whole file made from a state before the change of another.
//!
//! Who calls is not known, so the content decides: by its base, the known state that is nearest to it, and where the
//! file was read more than once, by each change that it undoes without a trace.

use std::collections::HashMap;

use confined_fs::{Revision, WorkspacePath};
use text_edit::DiffExtent;
use text_file::Document;

use crate::session::{KnownStates, Seen, Shown};

use super::super::{
    CallContext, Kind, ReadBeforeWrite, ToolError, read_before_write,
    shown_diff::{self, ShownDiff},
};

/// Bytes of the largest content that is compared, and of all that are.
const MAX_COMPARED_BYTES: usize = 2 << 20;
const IN_ALL: usize = 8 << 20;

type Lines<'c> = HashMap<&'c [u8], isize>;

/// Refuses, once, to make `new` of the file that is truly at `real` and holds `now` at `revision`, where it would undo
/// a change that it does not know.
///
/// # Errors
/// `stale`, with that change; where all of it is shown, the file counts as seen.
pub(super) fn check(
    cx: &CallContext,
    (asked, real): (&WorkspacePath, &WorkspacePath),
    (now, revision): (&Document, Revision),
    new: &[u8],
) -> Result<(), ToolError> {
    if cx.settings.read_before_write == ReadBeforeWrite::Off || new.len().max(now.bytes().len()) > MAX_COMPARED_BYTES {
        return Ok(());
    }
    let mut known = cx.session.ledger.states(real);
    // A client with a process for each call: only the state folder and the history know what was seen.
    let is_recalled = known.seen.is_empty();
    if is_recalled {
        known = cx.session.ledger.states_elsewhere(real, |revision| cx.session.history.content(revision));
    }
    // What the caller made itself, or where it is the only one, and goes back to from what it was shown last.
    let is_own = |state: &Seen| state.is_made && state.by == cx.by;
    let is_alone = known.seen.iter().all(|state| !state.is_made || is_own(state));
    let is_new = |state: &Seen| state.content.as_deref() == Some(new);
    let caller = (cx.by.as_ref(), cx.is_individual);
    if known.seen.iter().any(|state| is_new(state) && (is_alone || is_own(state)))
        && cx.session.ledger.was_read_whole(real, caller, revision)
    {
        return Ok(());
    }
    let unknown = unknown_since(&known, (now.bytes(), revision), new);
    let Some(base) = unknown.first() else { return Ok(()) };
    let text = |at: &usize| {
        let was = known.seen[*at].content.as_ref()?.to_vec();
        Document::decode(was, None).ok().filter(|was| was.text() != now.text())
    };
    let Some(was) = text(base) else { return Ok(()) };
    // Whoever repeats the call means it.
    if !cx.session.ledger.refuse_once(real, revision, Revision::of(new), is_recalled) {
        return Ok(());
    }
    let diff = |was: &Document| {
        text_edit::unified_diff(&shown_diff::diff_name(asked), was.text(), now.text(), DiffExtent::Full).text
    };
    let mut all = diff(&was);
    // What came after that state and is gone again is in no diff from there.
    for later in unknown[1..].iter().filter_map(text) {
        let later = diff(&later);
        if later.lines().any(|line| line.starts_with(['+', '-']) && !all.contains(line)) {
            all.push_str(&later);
        }
    }
    let shown = ShownDiff::whole(cx, real, &all, cx.budget.text_bytes() / 4 * 3);
    let is_whole = shown.cut_lines == 0 && shown.text == all;
    let mut hint =
        "the change is shown below and counts as read; write content that has it, or repeat the same call to undo it";
    if is_whole {
        cx.session.ledger.record_read(real, revision, Some(now.bytes()), cx.by.as_ref(), Shown::Change);
    } else {
        hint = "the change is shown below in part; read the file and write content that has it, or repeat the same call to \
            undo it";
    }
    let by = read_before_write::by(cx, real, (known.seen[*base].content.as_deref(), revision), "");
    let spaceless = |text: &str| -> String { text.split_whitespace().collect() };
    let white =
        if spaceless(was.text()) == spaceless(now.text()) { "; it is unchanged but for white space" } else { "" };
    let message = format!(
        "{asked} was changed{by} after the state that this content was made from, and it would undo that{white}"
    );
    Err(ToolError::new(Kind::Stale, message).hint(hint).details(format!("what changed:\n{}", shown.block)))
}

/// The states after which a change was made that `new` does not know, the oldest first.
fn unknown_since(known: &KnownStates, (now, revision): (&[u8], Revision), new: &[u8]) -> Vec<usize> {
    let mut left = IN_ALL;
    let mut earlier: Vec<(usize, &Seen, Lines<'_>)> = Vec::new();
    for (at, state) in known.seen.iter().enumerate().rev().filter(|(_, state)| state.revision != revision) {
        let Some(content) = state.content.as_deref() else { continue };
        let Some(rest) = left.checked_sub(content.len()) else { break };
        left = rest;
        earlier.push((at, state, lines(content)));
    }
    // Whoever was never shown the file knows what it wrote.
    if earlier.is_empty() || now == new || known.reads == 0 {
        return Vec::new();
    }
    earlier.reverse();
    let (now, new) = (lines(now), lines(new));
    let mut nearest = (distance(&new, &now), None);
    for (at, _, lines) in earlier.iter().rev() {
        let distance = distance(&new, lines);
        if distance < nearest.0 {
            nearest = (distance, Some((*at, lines)));
        }
    }
    let base =
        (nearest.1).filter(|(_, base)| is_made_from(base, &new) && is_undone(base, &now, &new)).map(|(at, _)| at);
    if !known.is_shared() {
        return Vec::from_iter(base);
    }
    let current = known.seen.iter().find(|state| state.revision == revision);
    let steps = earlier.iter().enumerate().map(|(index, (at, was, before))| {
        let after = earlier.get(index + 1).map(|(_, state, lines)| (Some(*state), lines));
        let (state, after) = after.unwrap_or((current, &now));
        // What was there before is no trace of this change.
        let is_first = |line: &[u8]| earlier[..index].iter().all(|(.., lines)| !lines.contains_key(line));
        let unread = state.is_some_and(|is| is.reads >= was.reads + 2 && is.reads == known.reads);
        (*at, is_made_from(before, &new) && knows_nothing(before, after, (&now, &new), &is_first, unread))
    });
    let unknown = steps.filter(|(_, is_unknown)| *is_unknown).map(|(at, _)| at);
    let mut unknown: Vec<usize> = unknown.chain(base).collect();
    unknown.sort_unstable();
    unknown.dedup();
    unknown
}

/// Lines by their content; an ending of its own makes no other line.
fn lines(content: &[u8]) -> Lines<'_> {
    let mut lines = Lines::new();
    for line in content.split(|byte| *byte == b'\n') {
        *lines.entry(line.strip_suffix(b"\r").unwrap_or(line)).or_default() += 1;
    }
    lines
}

fn times(lines: &Lines<'_>, line: &[u8]) -> isize {
    lines.get(line).copied().unwrap_or(0)
}

fn distance(one: &Lines<'_>, other: &Lines<'_>) -> usize {
    let more = |one: &Lines<'_>, other: &Lines<'_>| -> isize {
        one.iter().map(|(line, count)| (count - times(other, line)).max(0)).sum()
    };
    (more(one, other) + more(other, one)).unsigned_abs()
}

/// Whether `new` has so much of `state` that it may have been made from it, and is no text of its own.
fn is_made_from(state: &Lines<'_>, new: &Lines<'_>) -> bool {
    let size = |lines: &Lines<'_>| lines.keys().filter(|line| says_something(line)).count();
    let shared = state.keys().filter(|line| says_something(line) && new.contains_key(*line)).count();
    shared > 0 && shared * 2 >= size(state).min(size(new))
}

fn says_something(line: &[u8]) -> bool {
    line.iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
}

/// Whether `new` lacks what the change from `base` to `now` added, or brings back what it removed.
fn is_undone(base: &Lines<'_>, now: &Lines<'_>, new: &Lines<'_>) -> bool {
    let is_lacking = |line: &[u8], count: isize| count > times(base, line) && times(new, line) < count;
    let is_back = |line: &[u8], count: isize| times(now, line) < count && times(new, line) > times(now, line);
    now.iter().any(|(line, count)| is_lacking(line, *count)) || base.iter().any(|(line, count)| is_back(line, *count))
}

/// Whether `new` has no trace of the change from `before` to `after`, as far as that is still in the file `now`: none of
/// its new lines, and, where it removed some, one of those. Where it has neither, both have changed the same lines;
/// that counts if the change is `unread`: nobody was shown the file since, and it had been shown twice just before.
fn knows_nothing(
    before: &Lines<'_>,
    after: &Lines<'_>,
    (now, new): (&Lines<'_>, &Lines<'_>),
    is_first: &dyn Fn(&[u8]) -> bool,
    unread: bool,
) -> bool {
    let only_in = |one: &Lines<'_>, other: &Lines<'_>, is_meant: &dyn Fn(&[u8]) -> bool| -> Vec<bool> {
        let only = one.keys().filter(|line| says_something(line) && !other.contains_key(*line) && is_meant(line));
        only.map(|line| times(new, line) > 0).collect()
    };
    let added = only_in(after, before, &|line| times(now, line) > 0 && is_first(line));
    let gone = only_in(before, after, &|line| times(now, line) == 0);
    let is_back = gone.contains(&true);
    if added.is_empty() { is_back } else { !added.contains(&true) && (gone.is_empty() || is_back || unread) }
}
