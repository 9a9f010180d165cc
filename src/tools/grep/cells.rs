//! Hits in notebooks: lines of the sources of their cells, as `edit` takes them, and not of the JSON around.

use std::ops::Range;

use crate::{
    search::{ContentHits, FileHits},
    text::{self, Notebook},
};

use super::super::CallContext;

/// What is said of a hit that is in no source.
const OUTSIDE: &str = "not in a cell's source";

/// Shows each line of a notebook that is in the source of a cell as it is there, and says in which one.
pub(super) fn show_sources(cx: &CallContext, found: &mut ContentHits) {
    for (_, hits) in found.files.iter_mut().filter(|(_, hits)| !hits.lines.is_empty() && is_notebook(hits)) {
        let Some(bytes) = content(cx, hits) else { continue };
        let Ok(text) = text::view(&bytes, None) else { continue };
        let Some(notebook) = Notebook::parse(&text) else { continue };
        let mut places: Vec<Range<usize>> = Vec::new();
        for line in text.split_inclusive('\n') {
            let start = places.last().map_or(0, |last| last.end);
            places.push(start..start + line.len());
        }
        for line in &mut hits.lines {
            let place = usize::try_from(line.number).ok().and_then(|number| places.get(number.checked_sub(1)?));
            let source = place.and_then(|place| notebook.source_line(place));
            // What is cut is shown as it was found, around its match.
            if let Some((_, source)) = source.filter(|_| line.cut_at.is_none()) {
                source.clone_into(&mut line.text);
            }
            if line.hit.is_some() {
                line.scope = Some(source.map_or_else(|| OUTSIDE.to_owned(), |(cell, _)| format!("cell {cell}")));
            }
        }
    }
}

fn is_notebook(hits: &FileHits) -> bool {
    hits.real.relative().extension().is_some_and(|name| name.eq_ignore_ascii_case("ipynb"))
}

/// The file as it was searched.
fn content(cx: &CallContext, hits: &FileHits) -> Option<Vec<u8>> {
    if let Some(bytes) = hits.seen.as_ref().and_then(|seen| seen.bytes.clone()) {
        return Some(bytes);
    }
    let mut file = cx.workspace.open_file(&hits.real).ok()?;
    let mut bytes = Vec::new();
    let is_all = file.read_to_limit(&mut bytes, cx.settings.max_file_size).ok()?;
    (is_all && file.restat().ok()?.same_file_state(&hits.stat)).then_some(bytes)
}
