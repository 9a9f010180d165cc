//! Jupyter notebooks, shown as their cells.

use std::{fmt::Write as _, mem};

use confined_fs::Revision;
use structured_text::{Cell, CellOutput, Notebook};
use text_file::{Document, hidden::printable};

use super::{
    super::{
        AnswerBudget, CallContext, ToolError, answer::count, decode_memory::DecodeMemory, hidden_note::HiddenNote,
    },
    open::{Format, Source},
    request::FileRequest,
    section::{CHANGED_NOTE, FOOTER_BYTES, Properties, ReadFacts, Section, footer, record_of},
    selection::Part,
    text::read_text,
};

/// How often the bytes of a notebook are in memory: as they are, and what is shown of them before it is cut.
const COPIES_IN_MEMORY: u64 = 3;

/// Cells with glued lines that are named.
const MAX_GLUED: usize = 8;

/// The cells that are wanted of a notebook; its lines where these are asked for, or where it is none.
pub(super) fn read_notebook(cx: &CallContext, request: &FileRequest, mut source: Source) -> Result<Section, ToolError> {
    let range = match &request.part {
        Some(Part::Cells(cells)) => Some(*cells),
        Some(part) => return Err(part.unfit(source.path(), Format::Notebook)),
        None => None,
    };
    let size = source.size();
    // Cells need the JSON as a whole in memory. One that is too large for that is streamed by lines, as text is.
    if range.is_none() && (!request.lines.is_default() || size > cx.settings.max_file_size) {
        return read_text(cx, request, source);
    }
    let _memory =
        if source.whole { None } else { Some(DecodeMemory::reserve(cx, size.saturating_mul(COPIES_IN_MEMORY))?) };
    source.read_on(cx.settings.max_file_size)?;
    cx.check()?;
    let revision = Revision::of(&source.head);
    let bytes = mem::take(&mut source.head);
    let document = Document::decode(bytes, request.encoding).map_err(|error| source.binary(&error))?;
    let Some(notebook) = Notebook::parse(document.text()) else {
        return match &request.part {
            Some(part) => Err(part.unfit(source.path(), Format::Text)),
            None => read_text(cx, request, Source { head: document.into_bytes(), whole: true, ..source }),
        };
    };
    cx.check()?;
    let is_changed = source.has_changed()?;
    let properties = Properties {
        // Nothing that is shown has lines of the file.
        total: 0,
        size: document.bytes().len() as u64,
        layout: document.layout(),
        nuls: 0,
        lone_crs: 0,
        final_newline: true,
        revision: (!is_changed).then_some(revision),
    };
    let shown = ShownCells::of(&notebook, range, request.budget.reduced(FOOTER_BYTES));
    let mut hidden = HiddenNote::default();
    // The lines of the file are those of its JSON, which is not shown.
    for (index, line) in shown.text.lines().enumerate() {
        hidden.look(format_args!("line {} of this answer", index + 1), line);
    }
    let mut closing = hidden.text().map(|note| note + "\n").unwrap_or_default();
    if is_changed {
        closing.push_str(CHANGED_NOTE);
    }
    let total = notebook.cells().len();
    let glued =
        notebook.cells().iter().zip(1..).filter(|(cell, _)| cell.is_glued()).map(|(_, number)| number.to_string());
    let glued: Vec<String> = glued.take(MAX_GLUED).collect();
    if !glued.is_empty() {
        let more = if glued.len() == MAX_GLUED { " and perhaps more" } else { "" };
        let cells = if glued.len() == 1 { "cell" } else { "cells" };
        let _ = writeln!(
            closing,
            "({cells} {}{more}: strings of the source lack their line breaks in the file, so that lines are glued together)",
            glued.join(", ")
        );
    }
    let next = shown.next.map(|cell| format!("part=\"cells {cell}-\""));
    closing.push_str(&footer(&shown.summary, &properties, next.as_deref()));
    let facts = ReadFacts {
        total_cells: Some(total),
        returned_cells: Some(shown.count),
        has_more: Some(shown.next.is_some()),
        next_cell: shown.next,
        total_lines: None,
        returned_lines: None,
        final_newline: None,
        ..properties.facts(0, None)
    };
    let record = (!is_changed).then(|| record_of(cx, source.file.real_path(), revision, Some(document)));
    Ok(Section { closing, record, ..Section::of(source.file.into_path(), shown.text, facts) })
}

/// Characters of a line of a source.
const LINE_CHARS: usize = 2000;

#[derive(Clone, Copy)]
struct OutputSize {
    lines: usize,
    chars: usize,
}

pub(super) struct ShownCells {
    pub(super) text: String,
    pub(super) count: usize,
    /// `12 cells`, or `cells 1-9 of 12`.
    pub(super) summary: String,
    pub(super) next: Option<usize>,
}

impl ShownCells {
    /// As many as fit into `budget`, at least one; `range` is the first and the last one, counted from 1. Outputs are
    /// shown longer where cells were asked for.
    pub(super) fn of(notebook: &Notebook<'_>, range: Option<(usize, usize)>, budget: AnswerBudget) -> Self {
        let total = notebook.cells().len();
        let size = match range {
            None => OutputSize { lines: 10, chars: 200 },
            Some(_) => OutputSize { lines: 50, chars: LINE_CHARS },
        };
        let (first, last) = range.unwrap_or((1, usize::MAX));
        let last = last.min(total);
        if first > total {
            let past = if total == 0 { String::new() } else { format!("cell {first} is past the end: ") };
            return Self { text: String::new(), count: 0, summary: past + &count(total, "cell"), next: None };
        }
        let mut text = String::new();
        let (mut gauge, mut end) = (budget.gauge(), first - 1);
        for number in first..=last {
            let before = text.len();
            push_cell(&mut text, number, &notebook.cells()[number - 1], size);
            let fits = gauge.fits(&text);
            if !fits && number > first {
                text.truncate(before);
                break;
            }
            end = number;
            if !fits {
                cut(&mut text, budget);
                break;
            }
        }
        let is_all = first == 1 && end == total;
        let summary = if is_all { count(total, "cell") } else { format!("cells {first}-{end} of {total}") };
        Self { text, count: end + 1 - first, summary, next: (end < last).then_some(end + 1) }
    }
}

fn push_cell(text: &mut String, number: usize, cell: &Cell<'_>, size: OutputSize) {
    let _ = write!(text, "--- cell {number}: {}", printable(&cell.kind));
    if let Some(count) = cell.count {
        let _ = write!(text, " [{count}]");
    }
    if let Some(id) = &cell.id {
        let _ = write!(text, ", id {}", printable(id));
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
    let other =
        if output.other.is_empty() { String::new() } else { format!(": {}", printable(&output.other.join("; "))) };
    let _ = writeln!(text, "--- {}{other} ---", printable(&output.kind));
    let mut lines = output.text.lines();
    for line in lines.by_ref().take(size.lines) {
        push_line(text, line, size.chars);
    }
    let more = lines.count();
    if more > 0 {
        let how =
            if size.chars < LINE_CHARS { format!(" (part=\"cells {number}\" shows up to 50)") } else { String::new() };
        let _ = writeln!(text, "… {} more{how}", count(more, "line"));
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

fn cut(text: &mut String, budget: AnswerBudget) {
    const NOTE_BYTES: usize = 120;
    let (mut gauge, mut end) = (budget.reduced(NOTE_BYTES).gauge(), 0);
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
