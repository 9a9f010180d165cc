//! Reading a file that is small enough to be decoded whole.

use source_outline::{definitions, not_shown};
use text_file::Document;

use confined_fs::{OpenFile, Revision, WorkspacePath};

use super::{
    super::{CallContext, ToolError},
    footer::FOOTER,
    page::Page,
    properties::Properties,
    request::FileRequest,
    source::{binary, changed},
    window::{LineTotals, Window, WindowBounds},
};

/// Bytes kept free for the names of definitions that a cut leaves out: five lines of at most 100 characters.
const OUTLINE: usize = 600;

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
    let (mut window, totals) = lines_of(&document, request, FOOTER)?;
    let file_path = path.to_string();
    let mut outline = None;
    let is_cut = |window: &Window| window.kept > 0 && (window.full || !request.lines.is_exact());
    let end = |window: &Window| window.shown.last().map_or(0, |last| last.end);
    // Names from an untrusted file stay out of what the server says.
    let is_shown = request.part.is_none() && !cx.workspace.is_untrusted(file.real_path());
    if is_shown && is_cut(&window) && end(&window) < totals.lines {
        let definitions = definitions(&file_path, document.text());
        let left_out = |window: &Window| not_shown(&definitions, &[end(window) + 1..=totals.lines]);
        outline = left_out(&window);
        if outline.is_some() && window.full {
            (window, _) = lines_of(&document, request, FOOTER + OUTLINE)?;
            outline = left_out(&window);
        }
        let room = request.budget.reduced(FOOTER).less(&window.text);
        outline = outline.filter(|outline| room.fits(outline));
    }
    let properties = Properties {
        total: totals.lines,
        size,
        encoding: document.encoding().name(),
        bom: document.has_bom(),
        lossy: document.had_errors(),
        nuls: window.nuls,
        line_ending: document.line_ending(),
        final_newline: totals.final_newline,
        revision: Some(revision).filter(|_| !changed),
    };
    Ok((Page { window, properties, changed, outline }, document))
}

/// The lines that are asked for, within the budget reduced by `kept_back` units.
fn lines_of(document: &Document, request: &FileRequest, kept_back: usize) -> Result<(Window, LineTotals), ToolError> {
    let ranges = request.lines.ranges(|| Ok(text_file::lines(document.text().trim_end_matches('\0')).count()))?;
    let budget = request.budget.reduced(kept_back);
    let mut window = Window::new(WindowBounds { ranges, columns: request.columns(), budget });
    window.push(document.text());
    let totals = window.finish();
    Ok((window, totals))
}
