//! The search for an edit's places, in the way of the file's format.

use structured_text::Notebook;
use text_edit::{EditError, Request};
use text_file::Document;

use confined_fs::{WorkspacePath, WritablePath};

use super::{
    super::{CallContext, ToolError},
    cells,
    entry::TextEdit,
    no_match,
    places::Places,
    relative_paths::{self, WithoutRoots},
    within_words::WithinWords,
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
    let located = match one.locate(text, &request) {
        Ok(located) => located,
        Err(miss) => {
            let path = target.asked().to_string();
            let others = matches!(miss, EditError::NotFound(_)).then(|| relative_paths::find(cx, &path, document, one));
            return match others.flatten() {
                None => Err(no_match::explain(cx, target, text, one, &miss)),
                Some(WithoutRoots::Unclear(error)) => Err(error),
                Some(WithoutRoots::Found(other, note)) => {
                    let places = find(cx, target, document, &other, expected)?;
                    Ok(Places { note: Some(note), ..places })
                }
            };
        }
    };
    let mut within = WithinWords::default();
    if one.replace_all {
        within.look(text, &located, "line ");
    }
    Ok(Places {
        within,
        note: None,
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
