//! Jupyter notebooks, shown as their cells.

use crate::{
    text::{Document, Notebook},
    workspace::Revision,
};

use super::{
    super::{CallContext, ToolError, decode_memory::DecodeMemory, hidden_note::HiddenNote},
    cells::{CellRange, ShownCells},
    footer::{FOOTER, Properties, footer},
    format::Format,
    output::Facts,
    part::Part,
    request::FileRequest,
    section::Section,
    source::{Source, binary, changed, failed},
    text_file::read_text,
};

/// How often the bytes of a notebook are in memory: as they are, and what is shown of them before it is cut.
const COPIES: u64 = 3;

/// The cells that are wanted of a notebook; its lines where these are asked for, or where it is none.
pub(super) fn read_notebook(cx: &CallContext, request: &FileRequest, source: Source) -> Result<Section, ToolError> {
    let range = match &request.part {
        Some(Part::Cells { first, last }) => Some(CellRange { first: *first, last: *last }),
        Some(part) => return Err(part.unfit(&source.path, Format::Notebook)),
        None => None,
    };
    let size = source.file.stat().size;
    if range.is_none() && (request.lines.is_given() || size > cx.settings.max_file_size) {
        return read_text(cx, request, source);
    }
    let _memory = if source.whole { None } else { Some(DecodeMemory::reserve(cx, size.saturating_mul(COPIES))?) };
    let Source { path, mut file, mut head, whole } = source;
    if !whole {
        file.read_to_limit(&mut head, cx.settings.max_file_size).map_err(|error| failed(&path, error))?;
    }
    cx.check()?;
    let revision = Revision::of(&head);
    let document = Document::decode(head, request.encoding).map_err(|error| binary(&path, size, &error))?;
    let Some(notebook) = Notebook::parse(document.text()) else {
        return match &request.part {
            Some(part) => Err(part.unfit(&path, Format::Text)),
            None => read_text(cx, request, Source { path, file, head: document.into_bytes(), whole: true }),
        };
    };
    cx.check()?;
    let is_changed = changed(&path, &file)?;
    let properties = Properties {
        encoding: document.encoding().name(),
        bom: document.has_bom(),
        lossy: document.had_errors(),
        line_ending: document.line_ending(),
        final_newline: true,
        revision: (!is_changed).then_some(revision),
    };
    let shown = ShownCells::of(&notebook, range, request.budget.reduced(FOOTER));
    let mut text = shown.text;
    let mut hidden = HiddenNote::default();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.is_ascii()) {
        hidden.look(format_args!("line {} of this answer", index + 1), line);
    }
    if let Some(note) = hidden.text() {
        text.push_str(&note);
        text.push('\n');
    }
    if is_changed {
        text.push_str("(the file changed while it was read; read it again before an edit)\n");
    }
    let total = notebook.cells().len();
    let next = shown.next.map(|cell| format!("part=\"cells {cell}-\""));
    text.push_str(&footer(&shown.summary, total, &properties, next.as_deref()));
    let sighting =
        if is_changed { None } else { cx.session.ledger.note(file.real_path(), revision, Some(document.bytes())) };
    let facts = Facts {
        total_cells: Some(total),
        returned_cells: Some(shown.count),
        has_more: Some(shown.next.is_some()),
        next_cell: shown.next,
        revision: properties.revision.map(|revision| revision.to_string()),
        encoding: Some(properties.encoding.to_owned()),
        line_ending: Some(properties.line_ending.as_str().to_owned()),
        bom: properties.bom,
        lossy: properties.lossy,
        size: document.bytes().len() as u64,
        ..Facts::default()
    };
    Ok(Section { path, text, image: None, facts, sighting })
}
