//! Reading a file that is small enough to be decoded whole.

use crate::{
    session::PendingSighting,
    text::{self, Document},
    workspace::{OpenFile, Revision, WorkspacePath},
};

use super::{
    super::{CallContext, ToolError},
    footer::{FOOTER, Properties},
    page::Page,
    request::FileRequest,
    source::{binary, changed},
    window::Window,
};

/// The lines asked for, and the sighting of the file, to be written down before they are sent.
pub(super) fn read_whole(
    cx: &CallContext,
    path: &WorkspacePath,
    file: &OpenFile,
    bytes: Vec<u8>,
    request: &FileRequest,
) -> Result<(Page, Option<PendingSighting>), ToolError> {
    let changed = changed(path, file)?;
    let ledger = &cx.session.ledger;
    let revision = ledger.revision_of(file.real_path(), &bytes).unwrap_or_else(|| Revision::of(&bytes));
    let size = bytes.len() as u64;
    let document = Document::decode(bytes, request.encoding).map_err(|error| binary(path, size, &error))?;
    let budget = request.budget.reduced(FOOTER);
    let range = request.lines.bounds(|| Ok(text::lines(document.text()).count()), budget)?;
    let mut window = Window::new(range);
    window.push(document.text());
    let totals = window.finish();
    let sighting = if changed { None } else { ledger.note(file.real_path(), revision, Some(document.bytes())) };
    let properties = Properties {
        encoding: document.encoding().name(),
        bom: document.has_bom(),
        lossy: document.had_errors(),
        line_ending: document.line_ending(),
        final_newline: totals.final_newline,
        revision: Some(revision),
    };
    let page = Page { window, total: totals.lines, properties, size, changed };
    Ok((page, sighting))
}
