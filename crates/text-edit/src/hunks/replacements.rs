//! What a hunk makes of the lines where it was found.

use std::ops::Range;

use super::patched_text::{PatchedText, plain};
use crate::Replacement;
use crate::patch::{FinalNewline, HunkLine, PatchHunk};

/// The replacements of a hunk whose old lines are at `start` (or that goes before that line). `lines` are those of its
/// lines that are used. Lines that stay keep their bytes. Added lines get the line ending of those around them; where the
/// hunk has the lines with their endings as they are in the file, they get just what it says, as git does it.
pub(super) fn of(
    text: &PatchedText<'_>,
    hunk: &PatchHunk<'_>,
    lines: &[HunkLine<'_>],
    start: usize,
) -> Vec<Replacement> {
    let old: Vec<&str> = lines.iter().filter_map(|line| line.old()).collect();
    let end = start + old.len();
    let is_open = text.lines.last().is_some_and(|last| last.end == last.next);
    // Of a last line that is not ended nobody can tell what would end it.
    let shows_ending = end - usize::from(end == text.lines.len() && is_open) > start;
    let has_cr = |line: &HunkLine<'_>| line.text().ends_with('\r');
    let site = HunkSite {
        text,
        is_exact: text.is_exactly_at(&old, start) && (shows_ending || !old.is_empty() && lines.iter().any(has_cr)),
        // A CR that the patch has and the file has not came with the patch.
        brings_cr: old.iter().any(|old| old.ends_with('\r')),
        is_open,
        ends: match hunk.final_newline {
            FinalNewline::AsInFile => !is_open,
            FinalNewline::Added => true,
            FinalNewline::Removed => false,
        },
    };
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
        replacements.extend(site.replacement(at..at + removed, &added));
        (index, at) = (index + run, at + removed);
    }
    if matches!(lines.last(), Some(HunkLine::Kept(_))) && end == text.lines.len() {
        replacements.extend(site.last_ending());
    }
    replacements
}

/// A text in which a hunk was found, and how its new lines are ended.
struct HunkSite<'s, 't> {
    text: &'s PatchedText<'t>,
    is_exact: bool,
    brings_cr: bool,
    /// Whether the last line of the text is not ended.
    is_open: bool,
    /// Whether the last line is ended afterwards, if the hunk is about it.
    ends: bool,
}

impl HunkSite<'_, '_> {
    /// The lines of `range` replaced by `added`.
    fn replacement(&self, range: Range<usize>, added: &[&str]) -> Option<Replacement> {
        let text = self.text;
        let line_start = |line: usize| text.lines.get(line).map_or(text.text.len(), |line| line.start);
        let mut span = line_start(range.start)..line_start(range.end);
        let is_last = range.end == text.lines.len();
        let near = text.ending_near(range.start);
        let mut new = String::with_capacity(added.iter().map(|line| line.len() + 2).sum());
        if is_last && self.is_open && range.is_empty() && !added.is_empty() {
            // Behind a last line that is not ended.
            new.push_str(near);
        }
        if is_last && !self.ends && added.is_empty() {
            // The line before becomes the last one.
            span.start = range.start.checked_sub(1).map_or(0, |before| text.lines[before].end);
        }
        for (index, line) in added.iter().enumerate() {
            let own = text.lines[range.clone()].get(index).map(|line| line.terminator(text.text));
            let around = own.filter(|ending| !ending.is_empty()).unwrap_or(near);
            let (line, ending) = match self.is_exact {
                true => (*line, "\n"),
                false if self.brings_cr || around.starts_with('\r') => (plain(line), around),
                false => (*line, around),
            };
            new.push_str(line);
            if !is_last || self.ends || index + 1 < added.len() {
                new.push_str(ending);
            }
        }
        (new != text.text[span.clone()]).then_some(Replacement { span, text: new })
    }

    /// What ends the last line, which stays, where the hunk changes that.
    fn last_ending(&self) -> Option<Replacement> {
        let (size, last) = (self.text.text.len(), self.text.lines.last()?);
        let ending = if self.ends { self.text.ending_near(self.text.lines.len()) } else { "" };
        (self.is_open == self.ends).then(|| Replacement { span: last.end..size, text: ending.to_owned() })
    }
}
