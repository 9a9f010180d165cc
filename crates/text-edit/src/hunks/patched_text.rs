//! A text whose lines are looked up as a patch names them: whole, and whatever ends them.

use std::{collections::HashMap, ops::Range};

use memchr::memmem;
use text_file::Line;

use crate::Replacement;
use crate::keep_line_endings::{ending_after, ending_before};
use crate::patch::{FinalNewline, HunkLine, PatchHunk};

/// Places of one text that are kept; of more of them none is sure.
pub(super) const MAX_KEPT: usize = 1000;

/// Bytes compared for one text, for which fewer of its places are kept where it is long.
const MAX_COMPARED: usize = 100_000;

/// Occurrences of a context that are looked at.
const MAX_LOOKED_AT: usize = 1000;

pub(super) struct PatchedText<'t> {
    pub(super) text: &'t str,
    pub(super) lines: Vec<Line>,
    /// Where each line is, ascending, by what it says: a patch can have thousands of hunks.
    by_content: HashMap<&'t str, Vec<usize>>,
}

/// Lines where a text is, from 0, ascending.
#[derive(Clone, Debug, Default)]
pub(super) struct FoundLines {
    pub(super) lines: Vec<usize>,
    pub(super) more: bool,
}

impl<'t> PatchedText<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let lines: Vec<Line> = text_file::lines(text).collect();
        let mut by_content: HashMap<&str, Vec<usize>> = HashMap::with_capacity(lines.len());
        for (index, line) in lines.iter().enumerate() {
            by_content.entry(plain(line.content(text))).or_default().push(index);
        }
        Self { text, lines, by_content }
    }

    /// Where these whole lines are; with the CR that they have, if that is anywhere.
    pub(super) fn places(&self, wanted: &[&str]) -> FoundLines {
        let length: usize = wanted.iter().map(|line| line.len() + 1).sum();
        let most = (MAX_COMPARED / length.max(1)).clamp(100, MAX_KEPT);
        let found = |lines: &mut dyn Iterator<Item = usize>| {
            let lines: Vec<usize> = lines.take(most + 1).collect();
            FoundLines { more: lines.len() > most, lines: lines.into_iter().take(most).collect() }
        };
        let exact = found(&mut self.all(wanted).filter(|line| self.is_exactly_at(wanted, *line)));
        if exact.lines.iter().any(|line| self.shows_ending(wanted, *line)) {
            return exact;
        }
        found(&mut self.all(wanted))
    }

    pub(super) fn first_from(&self, wanted: &[&str], line: usize) -> Option<usize> {
        let all = || self.all(wanted).filter(|at| *at >= line);
        let exact = all().find(|at| self.is_exactly_at(wanted, *at) && self.shows_ending(wanted, *at));
        exact.or_else(|| all().next())
    }

    /// Whether an ending of the wanted lines at `line` is one of theirs: a last line without one may be ended by any.
    fn shows_ending(&self, wanted: &[&str], line: usize) -> bool {
        wanted.len() > 1 || wanted[0].contains('\r') || line + 1 < self.lines.len() || self.text.ends_with('\n')
    }

    pub(super) fn places_of_either(&self, wanted: &[[&str; 2]]) -> FoundLines {
        let longest = (0..wanted.len()).max_by_key(|index| wanted[*index][0].len()).unwrap_or(0);
        let mut anchors: Vec<usize> = Vec::new();
        let mut places = FoundLines::default();
        for line in wanted.get(longest).into_iter().flatten() {
            let found = self.places(&[*line]);
            places.more |= found.more;
            anchors.extend(found.lines);
        }
        let is_at = |start: &usize| {
            let lines = self.lines.get(*start..*start + wanted.len()).unwrap_or_default();
            let is_either = |(line, either): (&Line, &[&str; 2])| either.contains(&line.content(self.text));
            lines.len() == wanted.len() && lines.iter().zip(wanted).all(is_either)
        };
        places.lines = anchors.into_iter().filter_map(|line| line.checked_sub(longest)).filter(is_at).collect();
        places.lines.sort_unstable();
        places.lines.dedup();
        places
    }

    pub(super) fn is_exactly_at(&self, wanted: &[&str], line: usize) -> bool {
        let lines = self.lines.get(line..line + wanted.len()).unwrap_or_default();
        let bytes = |line: &Line| self.text[line.start..line.next].trim_end_matches('\n');
        lines.len() == wanted.len() && lines.iter().map(bytes).eq(wanted.iter().copied())
    }

    pub(super) fn is_at(&self, wanted: &[&str], line: usize) -> bool {
        let lines = self.lines.get(line..).and_then(|rest| rest.get(..wanted.len()));
        let is_wanted = |(line, wanted): (&Line, &&str)| plain(line.content(self.text)) == plain(wanted);
        lines.is_some_and(|lines| lines.iter().zip(wanted).all(is_wanted))
    }

    /// Where these whole lines are, whatever ends them, by the one that the text has least often.
    pub(super) fn all<'a>(&'a self, wanted: &'a [&'a str]) -> impl Iterator<Item = usize> + 'a {
        let lines = |line: &&str| self.by_content.get(plain(line)).map_or(&[][..], Vec::as_slice);
        let rarest = wanted.iter().map(lines).enumerate().min_by_key(|(_, lines)| lines.len());
        let (offset, lines) = rarest.unwrap_or_default();
        lines.iter().filter_map(move |line| line.checked_sub(offset)).filter(|start| self.is_at(wanted, *start))
    }

    /// The lines from `from` on that are `context`, white space around them aside; else those that hold it.
    pub(super) fn context_lines(&self, context: &str, from: usize) -> Vec<usize> {
        let (context, mut equal, mut holding) = (context.trim(), Vec::new(), Vec::new());
        let Some(first) = self.lines.get(from).filter(|_| !context.is_empty()) else { return equal };
        let rest = &self.text.as_bytes()[first.start..];
        for found in memmem::find_iter(rest, context.as_bytes()).take(MAX_LOOKED_AT) {
            let line = self.line_at(first.start + found);
            let is_equal = self.lines[line].content(self.text).trim() == context;
            let list = if is_equal { &mut equal } else { &mut holding };
            if list.last() != Some(&line) {
                list.push(line);
            }
        }
        if equal.is_empty() { holding } else { equal }
    }

    /// The lines from `line` on as far as they belong to it: its block and, below a heading of a diff or a line that
    /// opens none, all that no other line of its level begins.
    pub(super) fn opened(&self, line: usize, is_heading: bool) -> Range<usize> {
        let content = |line: usize| self.lines[line].content(self.text);
        let indent = |text: &str| text.len() - text.trim_start().len();
        let own = indent(content(line));
        let filled = |from: usize| (from..self.lines.len()).filter(|line| !content(*line).trim().is_empty());
        let is_word = |text: &str| text.starts_with(|one: char| one.is_alphabetic() || matches!(one, '_' | '$'));
        // `out:` of C and `else:`: what is below goes on.
        let is_label =
            |text: &str| text.trim_end().strip_suffix(':').is_some_and(|name| name.chars().all(char::is_alphanumeric));
        let goes_on =
            |text: &str| text.starts_with(['{', '}', ')', ']', '#']) || text.starts_with("//") || is_label(text);
        let opens = filled(line + 1)
            .next()
            .is_some_and(|next| indent(content(next)) > own || content(next).trim_start().starts_with('{'));
        let end = filled(line + 1).find(|next| {
            let text = content(*next).trim_start();
            match (indent(content(*next)), is_heading, opens) {
                (deeper, ..) if deeper > own => false,
                (_, true, _) => is_word(text) && !is_label(text),
                (_, false, true) => !goes_on(text),
                (level, false, false) => level < own && !goes_on(text),
            }
        });
        let closed = filled(line + 1).find(|next| {
            let text = content(*next).trim();
            indent(content(*next)) <= own
                && text.starts_with(['}', ')', ']'])
                && !text.ends_with(['{', '(', '[', ':', ','])
        });
        let end = end.unwrap_or(self.lines.len());
        line..if !is_heading && opens { closed.map_or(end, |closed| end.min(closed + 1)) } else { end }
    }

    pub(super) fn ending_near(&self, line: usize) -> &'static str {
        let start = self.line_start(line);
        ending_before(self.text, start).or_else(|| ending_after(self.text, start)).unwrap_or("\n")
    }

    /// Where a line begins; the end of the text for the one after the last.
    fn line_start(&self, line: usize) -> usize {
        self.lines.get(line).map_or(self.text.len(), |line| line.start)
    }

    pub(super) fn line_at(&self, offset: usize) -> usize {
        self.lines.partition_point(|line| line.next <= offset)
    }
}

pub(super) fn plain(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

/// The replacements of a hunk whose old lines are at `start` (or that goes before that line). `lines` are those of its
/// lines that are used. Lines that stay keep their bytes. Added lines get the line ending of those around them; where the
/// hunk has the lines with their endings as they are in the file, they get just what it says, as git does it.
pub(super) fn replacements(
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
    is_open: bool,
    ends: bool,
}

impl HunkSite<'_, '_> {
    fn replacement(&self, range: Range<usize>, added: &[&str]) -> Option<Replacement> {
        let text = self.text;
        let mut span = text.line_start(range.start)..text.line_start(range.end);
        let is_last = range.end == text.lines.len();
        let near = text.ending_near(range.start);
        let mut new = String::with_capacity(added.iter().map(|line| line.len() + 2).sum());
        if is_last && self.is_open && range.is_empty() && !added.is_empty() {
            // After a last line that is not ended.
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

    fn last_ending(&self) -> Option<Replacement> {
        let (size, last) = (self.text.text.len(), self.text.lines.last()?);
        let ending = if self.ends { self.text.ending_near(self.text.lines.len()) } else { "" };
        (self.is_open == self.ends).then(|| Replacement { span: last.end..size, text: ending.to_owned() })
    }
}
