//! What a hunk makes of the lines where it was found.

use std::ops::Range;

use super::{
    Replacement,
    patched_text::{PatchedText, plain},
};
use crate::text::patch::{FinalNewline, HunkLine, PatchHunk};

/// The replacements of a hunk whose old lines are at `start` (or that goes before that line). `lines` are those of its
/// lines that are used. Lines that stay keep their bytes, and added lines get the line ending of those around them.
pub(super) fn of(
    text: &PatchedText<'_>,
    hunk: &PatchHunk<'_>,
    lines: &[HunkLine<'_>],
    start: usize,
) -> Vec<Replacement> {
    // A CR that the patch has and the file has not came with the patch.
    let brings_cr = lines.iter().any(|line| line.old().is_some_and(|old| old.ends_with('\r')));
    let mut replacements = Vec::new();
    let mut at = start;
    let mut index = 0;
    while index < lines.len() {
        let run = lines[index..].iter().take_while(|line| !matches!(line, HunkLine::Kept(_))).count();
        if run == 0 {
            (index, at) = (index + 1, at + 1);
            continue;
        }
        let run_lines = &lines[index..index + run];
        let removed = run_lines.iter().filter(|line| line.old().is_some()).count();
        let added: Vec<&str> = run_lines.iter().filter_map(|line| line.new_line()).collect();
        replacements.extend(replacement(text, at..at + removed, &added, brings_cr));
        (index, at) = (index + run, at + removed);
    }
    end_of_file(text, hunk, at, &mut replacements);
    replacements
}

/// The lines of `range` replaced by `added`.
fn replacement(text: &PatchedText<'_>, range: Range<usize>, added: &[&str], brings_cr: bool) -> Option<Replacement> {
    let line_start = |line: usize| text.lines.get(line).map_or(text.text.len(), |line| line.start);
    let span = line_start(range.start)..line_start(range.end);
    let is_last = range.end == text.lines.len();
    let is_open = is_last && text.lines.last().is_some_and(|last| last.end == last.next);
    let near = text.ending_near(range.start);
    let mut new = String::with_capacity(added.iter().map(|line| line.len() + 2).sum());
    if is_open && range.is_empty() && !added.is_empty() {
        // Behind a last line that is not ended.
        new.push_str(near);
    }
    for (index, line) in added.iter().enumerate() {
        let own = text.lines[range.clone()].get(index).map(|line| line.terminator(text.text));
        let ending = own.filter(|ending| !ending.is_empty()).unwrap_or(near);
        let without_cr = brings_cr || ending.starts_with('\r');
        new.push_str(if without_cr { plain(line) } else { line });
        if !is_open || index + 1 < added.len() {
            new.push_str(ending);
        }
    }
    (new != text.text[span.clone()]).then_some(Replacement { span, text: new })
}

/// Ends the last line of the text, or takes its ending, where the hunk says so and `end` is behind the last line.
fn end_of_file(text: &PatchedText<'_>, hunk: &PatchHunk<'_>, end: usize, replacements: &mut Vec<Replacement>) {
    if end != text.lines.len() || hunk.final_newline == FinalNewline::AsInFile {
        return;
    }
    let size = text.text.len();
    if replacements.last().is_none_or(|last| last.span.end != size) {
        let last = text.lines.last().map_or(size, |last| last.end);
        replacements.push(Replacement { span: last..size, text: text.text[last..].to_owned() });
    }
    let Some(last) = replacements.last_mut() else { return };
    let without_ending = last.text.trim_end_matches('\n').trim_end_matches('\r').len();
    let is_ended = last.text.ends_with(['\n', '\r']);
    match hunk.final_newline {
        FinalNewline::Added if !is_ended => last.text.push_str(text.ending_near(end)),
        FinalNewline::Removed if is_ended => {
            // One line ending, not all empty lines.
            let one = last.text.strip_suffix("\r\n").or_else(|| last.text.strip_suffix(['\n', '\r']));
            let length = one.map_or(without_ending, str::len);
            last.text.truncate(length);
        }
        _ => {}
    }
    let is_same = last.text == text.text[last.span.clone()];
    if is_same {
        replacements.pop();
    }
}
