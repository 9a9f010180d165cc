//! Jupyter notebooks, shown as their cells.

use structured_text::Notebook;
use text_file::Document;

use confined_fs::Revision;

use super::{
    super::{CallContext, ToolError, decode_memory::DecodeMemory, hidden_note::HiddenNote},
    cells::{CellRange, ShownCells},
    footer::{FOOTER, footer},
    format::Format,
    output::Facts,
    part::Part,
    properties::Properties,
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
    if range.is_none() && (!request.lines.is_default() || size > cx.settings.max_file_size) {
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
        // Nothing that is shown has lines of the file.
        total: 0,
        size: document.bytes().len() as u64,
        encoding: document.encoding().name(),
        bom: document.has_bom(),
        lossy: document.had_errors(),
        nuls: 0,
        line_ending: document.line_ending(),
        final_newline: true,
        revision: (!is_changed).then_some(revision),
    };
    let shown = ShownCells::of(&notebook, range, request.budget.reduced(FOOTER));
    let mut hidden = HiddenNote::default();
    for (index, line) in shown.text.lines().enumerate().filter(|(_, line)| !line.is_ascii()) {
        hidden.look(format_args!("line {} of this answer", index + 1), line);
    }
    let mut closing = hidden.text().map(|note| note + "\n").unwrap_or_default();
    if is_changed {
        closing.push_str("(the file changed while it was read; read it again before an edit)\n");
    }
    let total = notebook.cells().len();
    let next = shown.next.map(|cell| format!("part=\"cells {cell}-\""));
    closing.push_str(&footer(&shown.summary, &properties, next.as_deref()));
    let sighting =
        if is_changed { None } else { cx.session.ledger.note(file.real_path(), revision, Some(document.bytes())) };
    let facts = Facts {
        total_cells: Some(total),
        returned_cells: Some(shown.count),
        has_more: Some(shown.next.is_some()),
        next_cell: shown.next,
        total_lines: None,
        returned_lines: None,
        final_newline: None,
        ..properties.facts(0, None)
    };
    Ok(Section { path, text: shown.text, closing, image: None, facts, sighting })
}
