//! The search for an edit's places, in the way of the file's format.

use crate::{
    edit::{self, Request},
    text::{Document, Notebook},
    workspace::{WorkspacePath, WritablePath},
};

use super::{
    super::{CallContext, ToolError},
    cells,
    entry::TextEdit,
    no_match,
    places::Places,
};

/// Finds the places of `one` in `document`.
///
/// # Errors
/// Where there is none, or not the wanted number of them.
pub(super) fn find(
    cx: &CallContext,
    target: &WritablePath,
    document: &Document,
    one: &TextEdit,
    expected: Option<usize>,
) -> Result<Places, ToolError> {
    let text = document.text();
    if let Some(notebook) = notebook(target.path(), document)
        && let Some(places) = cells::find(cx, target, text, &notebook, one, expected)?
    {
        return Ok(places);
    }
    let request =
        Request { old: &one.old, new: &one.new, replace_all: one.replace_all, expected_replacements: expected };
    let located = edit::locate(text, &request).map_err(|miss| no_match::explain(cx, target, text, one, &miss))?;
    Ok(Places {
        replacements: located.replacements.len(),
        strategy: located.strategy,
        spans: located.replacements.into_iter().map(|one| (one.span, one.text)).collect(),
        cells: Vec::new(),
    })
}

/// The notebook that a file is by its name and its content.
pub(super) fn notebook<'d>(path: &WorkspacePath, document: &'d Document) -> Option<Notebook<'d>> {
    let is_named = path.relative().extension().is_some_and(|name| name.eq_ignore_ascii_case("ipynb"));
    if is_named { Notebook::parse(document.text()) } else { None }
}
