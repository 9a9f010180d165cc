//! Paragraphs, lists and tables as lines of Markdown.
//!
//! A reader reports what begins and what ends; text goes to what began last: a paragraph, in a cell, a note or a text box.

use std::{fmt::Write as _, mem, ops::ControlFlow};

use crate::scripts::Scripts;

/// Bytes of text that are held before they are handed out: a paragraph with its notes, or a row.
pub(crate) const MAX_HELD: usize = 4 << 20;

/// A paragraph, an item of a list or a row of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paragraph<'t> {
    /// Counted from 1, without those that are empty.
    pub number: usize,
    /// The level of a heading, from 1.
    pub heading: Option<u8>,
    /// Its sign or number in a list, as `2.1 `, which its text has as well.
    pub label: &'t str,
    /// One line, or several where it has line breaks or notes; without the last line end.
    pub text: &'t str,
    /// Whether a limit was reached, so that text is missing.
    pub cut: bool,
}

pub(crate) type TakeParagraph<'t> = dyn FnMut(Paragraph<'_>) -> ControlFlow<()> + 't;

/// The paragraph that is written, and what it is part of: a cell, a note or another text within a paragraph or a table.
#[derive(Default)]
struct Line {
    text: String,
    mark: Option<String>,
    /// Raised and lowered text, and the mark that was open where such text is at the end.
    scripts: Scripts,
    script_mark: Option<String>,
    is_equation: bool,
    captured: String,
    between: char,
}

#[derive(Default)]
pub(crate) struct Table {
    cells: Vec<String>,
    has_rows: bool,
}

pub(crate) struct Flow<'t> {
    take: &'t mut TakeParagraph<'t>,
    first: usize,
    number: usize,
    pub(crate) is_done: bool,
    line: Line,
    /// The paragraphs around it; none for one of the text itself.
    around: Vec<Line>,
    pub(crate) tables: Vec<Table>,
    after: Vec<String>,
    held: usize,
    cut: bool,
    was_cut: bool,
    /// Marks of the text that comes: `inserted by A`, `hidden`.
    pub(crate) marks: Vec<String>,
    notes: [usize; 2],
}

impl<'t> Flow<'t> {
    pub(crate) fn new(first: usize, take: &'t mut TakeParagraph<'t>) -> Self {
        Self {
            take,
            first,
            number: 0,
            is_done: false,
            line: Line::default(),
            around: Vec::new(),
            tables: Vec::new(),
            after: Vec::new(),
            held: 0,
            cut: false,
            was_cut: false,
            marks: Vec::new(),
            notes: [0; 2],
        }
    }

    /// Whether `bytes` more bytes may be held.
    fn hold(&mut self, bytes: usize) -> bool {
        self.cut |= self.held + bytes > MAX_HELD;
        self.held += if self.cut { 0 } else { bytes };
        !self.cut
    }

    /// Forgets what was handed out, and notes within a note; true if a limit was reached since the last time. What is
    /// within a text or a row that has not ended stays held.
    pub(crate) fn release(&mut self) -> bool {
        let is_in_row = self.tables.iter().any(|table| !table.cells.is_empty());
        if self.around.is_empty() && self.line.text.is_empty() && !self.line.scripts.is_open() && !is_in_row {
            self.held = 0;
            self.after.clear();
        }
        mem::take(&mut self.cut)
    }

    /// Says whether the text that comes is raised (`^`), lowered (`_`), or neither.
    pub(crate) fn set_script(&mut self, sign: Option<char>) {
        self.line.scripts.set(sign);
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        let mark = self.marks.last();
        if self.line.scripts.is_open() && self.line.script_mark.as_ref() != mark {
            self.end_script(text.chars().next());
        }
        self.line.script_mark = self.marks.last().cloned();
        let shown = self.line.scripts.add(text);
        self.push_marked(&shown, self.marks.last().cloned());
    }

    fn end_script(&mut self, next: Option<char>) {
        if self.line.scripts.is_open() {
            let (shown, mark) = (self.line.scripts.end(next), self.line.script_mark.take());
            self.push_marked(&shown, mark);
        }
    }

    pub(crate) fn push(&mut self, text: &str) {
        if !text.is_empty() {
            self.end_script(text.chars().next());
            self.push_marked(text, self.marks.last().cloned());
        }
    }

    /// As [`Self::push`], of an equation in one line: 5 and 1/2 after it are no 51/2.
    pub(crate) fn push_equation(&mut self, text: &str) {
        self.end_script(text.chars().next());
        self.line.is_equation = true;
        self.push(text);
        self.line.is_equation = true;
    }

    fn push_marked(&mut self, text: &str, mark: Option<String>) {
        let sides = self.line.text.chars().next_back().zip(text.chars().next());
        let is_one = |(one, other): (char, char)| {
            one.is_alphanumeric() && other.is_alphanumeric() && (one.is_ascii_digit() || other.is_ascii_digit())
        };
        if !text.is_empty() && mem::take(&mut self.line.is_equation) && sides.is_some_and(is_one) {
            return self.push_marked(&format!(" {text}"), mark);
        }
        let frame = mark.as_ref().map_or(0, |mark| mark.len() + 4);
        let room = if self.cut { 0 } else { MAX_HELD.saturating_sub(self.held + frame) };
        let end = (0..=room.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        let shown = &text[..end.unwrap_or(0)];
        self.cut |= shown.len() < text.len();
        if shown.is_empty() {
            return;
        }
        self.held += shown.len() + frame;
        if self.line.mark != mark {
            self.end_mark();
            if let Some(mark) = &mark {
                let _ = write!(self.line.text, "[{mark}: ");
            }
            self.line.mark = mark;
        }
        self.line.text.push_str(shown);
    }

    fn end_mark(&mut self) {
        self.line.text.extend(self.line.mark.take().map(|_| ']'));
    }

    /// Ends the paragraph; `prefix` is the sign of a list. Empty ones are left out.
    pub(crate) fn end_paragraph(&mut self, heading: Option<u8>, prefix: &str) {
        self.end_script(None);
        self.end_mark();
        let line = mem::take(&mut self.line.text);
        let text = line.trim_end();
        let is_empty = text.trim_start().is_empty();
        if !self.around.is_empty() {
            self.capture(prefix, text);
        } else if let Some(level) = heading.filter(|_| !is_empty) {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            self.emit(format!("{} {prefix}{text}", "#".repeat(usize::from(level.clamp(1, 6)))), heading, prefix);
        } else {
            self.emit(if is_empty { String::new() } else { format!("{prefix}{text}") }, None, prefix);
        }
    }

    fn emit(&mut self, mut text: String, heading: Option<u8>, label: &str) {
        for after in self.after.drain(..) {
            text.extend((!text.is_empty()).then_some('\n'));
            text.push_str(&after);
        }
        self.was_cut |= self.release();
        if text.is_empty() || self.is_done {
            return;
        }
        let cut = mem::take(&mut self.was_cut);
        self.number += 1;
        if self.number >= self.first {
            self.is_done = (self.take)(Paragraph { number: self.number, heading, label, text: &text, cut }).is_break();
        }
    }

    pub(crate) fn begin_capture(&mut self, between: char) {
        let around = mem::replace(&mut self.line, Line { between, ..Line::default() });
        self.around.push(around);
    }

    fn capture(&mut self, prefix: &str, text: &str) {
        if !text.trim().is_empty() {
            let prefix = if self.hold(prefix.len() + 1) { prefix } else { "" };
            let Line { captured, between, .. } = &mut self.line;
            captured.extend((!captured.is_empty()).then_some(*between));
            captured.extend([prefix, text]);
        }
    }

    pub(crate) fn end_capture(&mut self) -> String {
        self.end_paragraph(None, "");
        mem::replace(&mut self.line, self.around.pop().unwrap_or_default()).captured
    }

    /// Adds the reference to the next note of a kind, and gives it: `[^1]`, or `[^e1]` for an endnote.
    pub(crate) fn reference(&mut self, kind: &str) -> String {
        let is_end = kind == "endnote";
        let count = &mut self.notes[usize::from(is_end)];
        *count += 1;
        let label = format!("[^{}{count}]", if is_end { "e" } else { "" });
        self.push(&label);
        label
    }

    pub(crate) fn push_after(&mut self, text: String) {
        if !text.is_empty() && self.hold(text.len() + 24) {
            self.after.push(text);
        }
    }

    /// Ends the cell that [`begin_capture`](Self::begin_capture) began, which is `columns` wide or repeated as often; a cell of
    /// none is part of another one. Gives the bytes that repeats have, which are work.
    pub(crate) fn end_cell(&mut self, columns: usize, is_repeated: bool) -> usize {
        let text = self.end_capture();
        let more = if is_repeated { text.clone() } else { String::new() };
        // Word has at most 63 columns.
        let columns = columns.min(100);
        // What was held before the limit is shown.
        let columns =
            if self.hold(columns * (24 + more.len())) { columns } else { columns.min(usize::from(!text.is_empty())) };
        if columns > 0
            && let Some(table) = self.tables.last_mut()
        {
            table.cells.push(text);
            table.cells.extend((1..columns).map(|_| more.clone()));
        }
        if is_repeated { columns * (24 + more.len()) } else { 0 }
    }

    pub(crate) fn end_row(&mut self) {
        let Some(table) = self.tables.last_mut() else { return };
        let cells = mem::take(&mut table.cells);
        let is_first = !mem::replace(&mut table.has_rows, true);
        if cells.iter().all(String::is_empty) && self.after.is_empty() {
            self.was_cut |= self.release();
            return;
        }
        // A table within a cell, for which Markdown has no form, is flat.
        if !self.around.is_empty() {
            return self.capture("", &cells.join(" / "));
        }
        let mut row = String::from("|");
        for cell in &cells {
            let _ = write!(row, " {} |", cell.replace('|', "\\|").replace('\n', "<br>").replace('\t', " "));
        }
        row.extend(is_first.then(|| format!("\n|{}", "---|".repeat(cells.len()))));
        self.emit(row, None, "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_not_ended_stays_held() {
        let mut take = |_: Paragraph<'_>| ControlFlow::Continue(());
        let half = "a".repeat(MAX_HELD / 2 + 1);
        for is_row in [false, true] {
            let mut flow = Flow::new(1, &mut take);
            flow.tables.push(Table::default());
            flow.begin_capture(' ');
            flow.push(&half);
            if is_row {
                flow.end_cell(1, false);
                // A paragraph beside the cells.
                flow.end_paragraph(None, "");
            } else {
                // The end of a note that has not begun there.
                flow.release();
            }
            flow.push(&half);
            assert!(flow.release(), "{is_row}");
        }
    }

    #[test]
    fn a_cell_over_the_limit_shows_what_fits() {
        let mut found = Vec::new();
        let mut take = |paragraph: Paragraph<'_>| {
            found.push((paragraph.text.len(), paragraph.cut));
            ControlFlow::Continue(())
        };
        let mut flow = Flow::new(1, &mut take);
        let part = "a".repeat(MAX_HELD / 2 - 100);
        flow.tables.push(Table::default());
        for cells in [vec![1, 1], vec![3, 1], vec![1]] {
            for parts in cells {
                flow.begin_capture('\n');
                for _ in 0..parts {
                    flow.push(&part);
                    flow.end_paragraph(None, "1. ");
                }
                flow.end_cell(1, false);
            }
            flow.end_row();
        }
        drop(flow);
        let (one, frame) = (part.len() + "1. ".len(), "|  |".len());
        let header = "\n|---|---|".len();
        assert_eq!(found[0], (2 * one + frame + "  |".len() + header, false));
        assert!(found[1].1 && (2 * one + frame..MAX_HELD + 64).contains(&found[1].0), "{:?}", found[1]);
        assert_eq!(found[2], (one + frame, false));
    }

    #[test]
    fn notes_within_notes_are_not_kept() {
        let mut take = |_: Paragraph<'_>| ControlFlow::Continue(());
        let mut flow = Flow::new(1, &mut take);
        for _ in 0..3 {
            flow.begin_capture(' ');
            flow.push("a");
            flow.push_after("another note".to_owned());
            assert_eq!(flow.end_capture(), "a");
            assert!(!flow.release() && flow.after.is_empty());
        }
    }
}
