//! A text whose lines are looked up as a patch names them: whole, and whatever ends them.

use memchr::memmem::{self, Finder};

use crate::text::{self, Line, LineEnding};

/// Places of one text that are kept; of more of them none is sure.
pub(super) const MOST_KEPT: usize = 100;

/// Occurrences of a context that are looked at.
const MOST_LOOKED_AT: usize = 1000;

/// A text and its lines.
pub(super) struct PatchedText<'t> {
    pub(super) text: &'t str,
    pub(super) lines: Vec<Line>,
    /// The lines with a line feed before the first and behind each.
    joined: String,
    /// Where the line feed before each line is.
    starts: Vec<usize>,
}

/// Lines where a text is, from 0, ascending.
#[derive(Clone, Debug, Default)]
pub(super) struct FoundLines {
    pub(super) lines: Vec<usize>,
    /// Whether there are more.
    pub(super) more: bool,
}

impl<'t> PatchedText<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let lines: Vec<Line> = match LineEnding::of(text) {
            LineEnding::Cr => text::lines_ended_by_cr(text).collect(),
            _ => text::lines(text).collect(),
        };
        let mut joined = String::with_capacity(text.len() + 2);
        joined.push('\n');
        let mut starts = Vec::with_capacity(lines.len());
        for line in &lines {
            starts.push(joined.len() - 1);
            joined.push_str(line.content(text));
            joined.push('\n');
        }
        Self { text, lines, joined, starts }
    }

    /// Where these whole lines are.
    pub(super) fn places(&self, wanted: &[&str]) -> FoundLines {
        let needle = needle(wanted);
        let finder = Finder::new(needle.as_bytes());
        let mut places = FoundLines::default();
        let mut from = 0;
        while let Some(line) = self.next(&finder, from) {
            if places.lines.len() == MOST_KEPT {
                places.more = true;
                break;
            }
            places.lines.push(line);
            from = line + 1;
        }
        places
    }

    /// The first place of these whole lines from `line` on.
    pub(super) fn first_from(&self, wanted: &[&str], line: usize) -> Option<usize> {
        self.next(&Finder::new(needle(wanted).as_bytes()), line)
    }

    /// Whether these whole lines are at `line`.
    pub(super) fn is_at(&self, wanted: &[&str], line: usize) -> bool {
        let start = self.starts.get(line).copied();
        start.is_some_and(|start| self.joined.as_bytes()[start..].starts_with(needle(wanted).as_bytes()))
    }

    fn next(&self, finder: &Finder<'_>, from: usize) -> Option<usize> {
        let start = *self.starts.get(from)?;
        let found = start + finder.find(&self.joined.as_bytes()[start..])?;
        Some(self.starts.partition_point(|start| *start < found))
    }

    /// The lines from `from` on that are `context`, white space around them aside; else those that hold it.
    pub(super) fn context_lines(&self, context: &str, from: usize) -> Vec<usize> {
        let (context, mut equal, mut holding) = (context.trim(), Vec::new(), Vec::new());
        let Some(start) = self.starts.get(from).copied().filter(|_| !context.is_empty()) else { return equal };
        for found in memmem::find_iter(&self.joined.as_bytes()[start..], context.as_bytes()).take(MOST_LOOKED_AT) {
            // The line begins behind the line feed that is counted in `starts`.
            let line = self.starts.partition_point(|one| *one < start + found) - 1;
            let is_equal = self.lines[line].content(self.text).trim() == context;
            let list = if is_equal { &mut equal } else { &mut holding };
            if list.last() != Some(&line) {
                list.push(line);
            }
        }
        if equal.is_empty() { holding } else { equal }
    }

    /// What ends the lines around `line`, for a line that is put there.
    pub(super) fn ending_near(&self, line: usize) -> &'t str {
        let before = self.lines[..line.min(self.lines.len())].iter().rev();
        let around = before.take(2).chain(self.lines.get(line..).unwrap_or_default().iter().take(1));
        around.map(|line| line.terminator(self.text)).find(|ending| !ending.is_empty()).unwrap_or("\n")
    }

    /// The line that holds `offset`.
    pub(super) fn line_at(&self, offset: usize) -> usize {
        self.lines.partition_point(|line| line.next <= offset)
    }
}

/// Lines as they are in a joined text. A patch of a file with CR LF can have the CR in its lines.
fn needle(wanted: &[&str]) -> String {
    let mut needle = String::with_capacity(wanted.iter().map(|line| line.len() + 1).sum::<usize>() + 1);
    needle.push('\n');
    for line in wanted {
        needle.push_str(plain(line));
        needle.push('\n');
    }
    needle
}

/// A line of a patch without the CR of a CR LF.
pub(super) fn plain(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}
