//! Reading a file that is small enough to be decoded whole.

use crate::{
    text::{self, Document},
    workspace::{OpenFile, Revision, WorkspacePath},
};

use super::{
    super::{CallContext, ToolError},
    footer::FOOTER,
    page::Page,
    properties::Properties,
    request::FileRequest,
    source::{binary, changed},
    window::{Window, WindowBounds},
};

/// The lines asked for, and everything.
pub(super) fn read_whole(
    cx: &CallContext,
    path: &WorkspacePath,
    file: &OpenFile,
    bytes: Vec<u8>,
    request: &FileRequest,
) -> Result<(Page, Document), ToolError> {
    let changed = changed(path, file)?;
    let revision = cx.session.ledger.revision_of(file.real_path(), &bytes).unwrap_or_else(|| Revision::of(&bytes));
    let size = bytes.len() as u64;
    let document = Document::decode(bytes, request.encoding).map_err(|error| binary(path, size, &error))?;
    let ranges = request.lines.ranges(|| Ok(text::lines(document.text()).count()))?;
    let budget = request.budget.reduced(FOOTER);
    let mut window = Window::new(WindowBounds { ranges, columns: request.columns(), budget });
    window.push(document.text());
    let totals = window.finish();
    let properties = Properties {
        total: totals.lines,
        size,
        encoding: document.encoding().name(),
        bom: document.has_bom(),
        lossy: document.had_errors(),
        line_ending: document.line_ending(),
        final_newline: totals.final_newline,
        revision: Some(revision).filter(|_| !changed),
    };
    Ok((Page { window, properties, changed }, document))
}
