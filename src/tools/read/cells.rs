//! Cells of a notebook as text: a heading, the source, and the outputs cut to size.

use std::fmt::Write as _;

use structured_text::{Cell, CellOutput, Notebook};

use super::super::{AnswerBudget, answer::count};

/// Characters of a line of a source.
const LINE_CHARS: usize = 2000;

/// The cells that were asked for, counted from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellRange {
    pub(super) first: usize,
    pub(super) last: usize,
}

/// How much of each output is shown.
#[derive(Clone, Copy)]
struct OutputSize {
    lines: usize,
    chars: usize,
}

/// The cells of a notebook that fit into an answer.
pub(super) struct ShownCells {
    pub(super) text: String,
    pub(super) count: usize,
    /// `12 cells`, or `cells 1-9 of 12`.
    pub(super) summary: String,
    /// The cell that continues.
    pub(super) next: Option<usize>,
}

impl ShownCells {
    /// As many as fit into `budget`, at least one. Outputs are shown longer where cells were asked for.
    pub(super) fn of(notebook: &Notebook<'_>, range: Option<CellRange>, budget: AnswerBudget) -> Self {
        let total = notebook.cells().len();
        let size = match range {
            None => OutputSize { lines: 10, chars: 200 },
            Some(_) => OutputSize { lines: 50, chars: LINE_CHARS },
        };
        let CellRange { first, last } = range.unwrap_or(CellRange { first: 1, last: usize::MAX });
        let last = last.min(total);
        if first > total {
            let summary = if total == 0 {
                "0 cells".to_owned()
            } else {
                format!("cell {first} is past the end: {}", count(total, "cell"))
            };
            return Self { text: String::new(), count: 0, summary, next: None };
        }
        let mut text = String::new();
        let (mut gauge, mut end) = (budget.gauge(), first - 1);
        for number in first..=last {
            let before = text.len();
            push_cell(&mut text, number, &notebook.cells()[number - 1], size);
            if !gauge.fits(&text) {
                if number == first {
                    cut(&mut text, budget);
                    end = number;
                } else {
                    text.truncate(before);
                }
                break;
            }
            end = number;
        }
        let is_all = first == 1 && end == total;
        let summary = if is_all { count(total, "cell") } else { format!("cells {first}-{end} of {total}") };
        Self { text, count: end + 1 - first, summary, next: (end < last).then_some(end + 1) }
    }
}

/// Adds the lines of a cell.
fn push_cell(text: &mut String, number: usize, cell: &Cell<'_>, size: OutputSize) {
    let _ = write!(text, "--- cell {number}: {}", cell.kind);
    if let Some(count) = cell.count {
        let _ = write!(text, " [{count}]");
    }
    if let Some(id) = &cell.id {
        let _ = write!(text, ", id {id}");
    }
    text.push_str(" ---\n");
    for line in cell.source().lines() {
        push_line(text, line, LINE_CHARS);
    }
    for output in cell.outputs() {
        push_output(text, number, &output, size);
    }
}

fn push_output(text: &mut String, number: usize, output: &CellOutput, size: OutputSize) {
    let other = if output.other.is_empty() { String::new() } else { format!(": {}", output.other.join("; ")) };
    let _ = writeln!(text, "--- {}{other} ---", output.kind);
    let mut lines = output.text.lines();
    for line in lines.by_ref().take(size.lines) {
        push_line(text, line, size.chars);
    }
    match lines.count() {
        0 => {}
        more if size.chars < LINE_CHARS => {
            let _ = writeln!(text, "… {} more (part=\"cells {number}\" shows up to 50)", count(more, "line"));
        }
        more => {
            let _ = writeln!(text, "… {} more", count(more, "line"));
        }
    }
}

fn push_line(text: &mut String, line: &str, most: usize) {
    match line.char_indices().nth(most) {
        None => text.push_str(line),
        Some((end, _)) => {
            let _ = write!(text, "{}… [line of {} characters, cut after {most}]", &line[..end], line.chars().count());
        }
    }
    text.push('\n');
}

/// Cuts a single cell to as many of its lines as fit.
fn cut(text: &mut String, budget: AnswerBudget) {
    const NOTE: usize = 120;
    let (mut gauge, mut end) = (budget.reduced(NOTE).gauge(), 0);
    for line in text.split_inclusive('\n') {
        if end > 0 && !gauge.fits(&text[..end + line.len()]) {
            break;
        }
        end += line.len();
    }
    let more = text[end..].lines().count();
    text.truncate(end);
    let _ = writeln!(text, "… {} more of this cell; start_line reads the file's JSON by lines", count(more, "line"));
}
