//! The note on a file that was changed in part: which of its lines somebody else has changed since the server last showed
//! the caller all of it.
//!
//! The states since then are followed from one to the next, and each line keeps who put it there, so that what the caller
//! did itself is left out wherever it has moved to. Where no state came from somebody else, nothing is compared.

use std::collections::HashMap;

use confined_fs::WorkspacePath;
use text_edit::{DiffExtent, unified_diff};
use text_file::Document;

use crate::session::Seen;

use super::{super::shown_diff::hunk_sides, CallContext, MAX_MAKERS, SOMEBODY};

/// Ranges of lines that the note has.
const MAX_RANGES: usize = 5;

/// Adds the note on the file that is truly at `real`, which this call has just changed, as a line to `text` and to the
/// `notes`; nothing where all that was done since it was shown whole was done by this caller.
pub(crate) fn note_unseen(cx: &CallContext, real: &WorkspacePath, text: &mut String, notes: &mut Vec<String>) {
    let ledger = &cx.session.ledger;
    let Some(whole) = ledger.whole_before(real, cx.by.as_ref()) else { return };
    let mut states = ledger.states(real).seen;
    states.drain(..states.iter().rposition(|state| state.revision == whole).unwrap_or(states.len()));
    // In one look at the journal: a formatter that runs after each edit makes as many states as the caller.
    let foreign: Vec<_> = states.iter().skip(1).filter(|state| !state.is_made).map(|state| state.revision).collect();
    let others = if foreign.is_empty() { HashMap::new() } else { cx.session.history.other_makers(real, &foreign) };
    let maker = |state: &Seen| match &state.by {
        by if state.is_made && *by == cx.by => None,
        by if state.is_made => Some(by.as_deref().unwrap_or(SOMEBODY).to_owned()),
        _ => Some(others.get(&state.revision).cloned().unwrap_or_else(|| ANOTHER_PROGRAM.to_owned())),
    };
    let steps: Vec<(Option<String>, &Seen)> = states.iter().skip(1).map(|state| (maker(state), state)).collect();
    if !steps.is_empty() && steps.iter().all(|(by, _)| by.is_none()) {
        return;
    }
    // Where the states are not kept, all that is known is that the caller has not made each of them.
    let lines = states.first().and_then(|whole| lines(whole, &steps));
    let note = lines.map_or_else(|| Some(("others".to_owned(), String::new())), |lines| places(&lines));
    if let Some((makers, places)) = note {
        notes.push(format!("(changed by {makers} since you last saw the whole file{places})"));
        text.extend(notes.last().map(|note| format!("\n{note}")));
    }
}

/// Whoever does not write through a server whose history this one knows.
const ANOTHER_PROGRAM: &str = "another program";

/// Who else has changed each line of the last state or removed what was before it. The last one is the end of the file.
/// `None` where a state is not kept, or no text.
fn lines<'s>(whole: &Seen, steps: &'s [(Option<String>, &Seen)]) -> Option<Vec<Option<&'s str>>> {
    let document = |state: &Seen| Document::decode(state.content.as_deref()?.to_vec(), None).ok();
    let mut was = document(whole)?;
    let mut lines = vec![None; was.text().split_inclusive('\n').count() + 1];
    // What one has done in a row is one change.
    for run in steps.chunk_by(|(one, _), (other, _)| one == other) {
        let (by, is) = (run[0].0.as_deref(), document(run.last()?.1)?);
        let diff = unified_diff("", was.text(), is.text(), DiffExtent::Lines);
        let (mut next, mut at) = (Vec::new(), 0);
        for [old, new] in diff.text.lines().filter_map(hunk_sides) {
            next.extend_from_slice(lines.get(at..old.start)?);
            next.resize(next.len() + new.len(), by);
            at = old.end;
            let after = lines.get_mut(at)?;
            *after = by.filter(|_| new.is_empty()).or(*after);
        }
        next.extend_from_slice(lines.get(at..)?);
        (lines, was) = (next, is);
    }
    Some(lines)
}

/// Who they are, and the end of the sentence that says where; `None` for nowhere.
fn places(lines: &[Option<&str>]) -> Option<(String, String)> {
    let (mut ranges, mut makers): (Vec<[usize; 2]>, Vec<&str>) = Default::default();
    for (index, maker) in lines.iter().enumerate().filter_map(|(index, by)| Some((index, (*by)?))) {
        // What is gone at the end was after the last line.
        let number = (index + 1).min(lines.len() - 1).max(1);
        match ranges.last_mut().filter(|last| last[1] + 1 >= number) {
            Some(last) => last[1] = number,
            None => ranges.push([number; 2]),
        }
        makers.extend((!makers.contains(&maker)).then_some(maker));
    }
    let range = |[first, last]: &[usize; 2]| if first == last { first.to_string() } else { format!("{first}-{last}") };
    let shown: Vec<String> = ranges.iter().take(MAX_RANGES).map(range).collect();
    let word = if ranges.iter().map(|[first, last]| last - first + 1).sum::<usize>() == 1 { "line" } else { "lines" };
    let more = if ranges.len() > MAX_RANGES { ", …" } else { "" };
    makers.truncate(MAX_MAKERS);
    (!shown.is_empty()).then(|| (makers.join(" and "), format!(": {word} {}{more}", shown.join(", "))))
}
