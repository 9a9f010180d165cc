//! The answer to a caller that has an earlier revision of a text file: that nothing changed, or what did.

use std::ops::Range;

use text_file::{Document, lines, with_lf};

use confined_fs::{RevisionPrefix, WorkspacePath};

use super::{
    super::{AnswerBudget, answer::count},
    footer::{FOOTER, footer},
    hunks::{DiffHunk, hunks, shift},
    output::Facts,
    properties::Properties,
    section::Section,
};

/// Bytes of the lines around the hunks.
const AROUND: usize = 200;
/// Bytes of hunks that are shown however short the file is.
const FEW: usize = 500;

/// What a caller that has the content `old` is shown of the file `new`.
pub(super) struct Changes<'c> {
    pub(super) since: RevisionPrefix,
    pub(super) old: &'c Document,
    pub(super) new: &'c Document,
    pub(super) properties: &'c Properties,
    /// The lines that were asked for, numbered from 0; `None` for all.
    pub(super) asked: Option<Range<usize>>,
    pub(super) budget: AnswerBudget,
}

impl Changes<'_> {
    /// The hunks in the lines that were asked for. `None` if the lines themselves are much shorter, or the
    /// hunks cannot be shown.
    pub(super) fn section(&self, path: &WorkspacePath) -> Option<Section> {
        let (old, new) = (self.old.text(), self.new.text());
        let section = |said: (String, String), returned, next| {
            let facts = Facts { since: Some("changed"), ..self.properties.facts(returned, next) };
            Some(Section { closing: said.1, ..Section::of(path.clone(), said.0, facts) })
        };
        let total = count(self.properties.total, "line");
        let footer = |next: Option<&str>| footer(&total, self.properties, next);
        if with_lf(old) == with_lf(new) {
            let said = format!("only line endings or encoding changed since {}\n", self.since);
            return section((String::new(), said + &footer(None)), 0, None);
        }
        let all = hunks(old, new)?;
        let inside: Vec<&DiffHunk> =
            all.iter().filter(|hunk| self.asked.as_ref().is_none_or(|asked| touch(&hunk.lines, asked))).collect();
        let elsewhere = match all.len() - inside.len() {
            0 => String::new(),
            n => format!("({} outside these lines)\n", count(n, "change")),
        };
        if inside.is_empty() {
            let asked = self.asked.clone()?;
            let said = self.unchanged_lines(&all, asked.start..asked.end.min(self.properties.total))?;
            return section((String::new(), said + &elsewhere + &footer(None)), 0, None);
        }
        // A file that was rewritten has both its texts in the hunks.
        if inside.iter().map(|hunk| hunk.text.len()).sum::<usize>() > self.plain_bytes() / 2 * 3 + FEW {
            return None;
        }
        let mut text = format!("changed since {}:\n", self.since);
        let mut gauge = self.budget.reduced(FOOTER + AROUND).gauge();
        let mut returned = 0;
        for hunk in &inside {
            let before = text.len();
            text.push_str(&hunk.text);
            if gauge.fits(&text) {
                returned += hunk.lines.len();
                continue;
            }
            if returned == 0 {
                return None;
            }
            text.truncate(before);
            let end = self.asked.as_ref().filter(|asked| asked.end < self.properties.total);
            let end = end.map(|asked| format!(", end_line={}", asked.end)).unwrap_or_default();
            let next = format!("since={}, start_line={}{end}", self.since, hunk.lines.start + 1);
            return section((text, footer(Some(&next))), returned, Some(hunk.lines.start));
        }
        section((text, elsewhere + &footer(None)), returned, None)
    }

    /// Bytes of the lines that were asked for.
    fn plain_bytes(&self) -> usize {
        let text = self.new.text();
        match &self.asked {
            None => text.len(),
            Some(asked) => lines(text).take(asked.end).skip(asked.start).map(|line| line.next - line.start).sum(),
        }
    }

    /// The sentence that nothing changed in the lines `asked`, with their former numbers. `None` if there are no such
    /// lines.
    fn unchanged_lines(&self, all: &[DiffHunk], asked: Range<usize>) -> Option<String> {
        if asked.is_empty() {
            return None;
        }
        let before = |line: usize| line.saturating_add_signed(-shift(all, asked.start));
        let numbers = |range: &Range<usize>| format!("{}-{}", range.start + 1, range.end);
        let old = before(asked.start)..before(asked.end);
        let was = if old == asked { String::new() } else { format!(", where they were lines {}", numbers(&old)) };
        Some(format!("lines {} unchanged since {}{was}\n", numbers(&asked), self.since))
    }
}

fn touch(hunk: &Range<usize>, asked: &Range<usize>) -> bool {
    hunk.start < asked.end && asked.start < hunk.end.max(hunk.start + 1)
}
