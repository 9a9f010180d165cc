//! The place of each match in its file: the definition around it, or the cell of a notebook, whose lines are shown as `edit`
//! takes them, and not as the JSON around.

use std::{mem, ops::Range};

use source_outline::{Definition, definitions, enclosing, enclosing_definition};
use structured_text::Notebook;
use text_file::shorten;
use tree_search::{ContentHits, FileHits, HitLine, Pattern, outline_of_file};

use crate::tools::CallContext;

/// Notes for each match which definition it is in; returns how many files that was not possible for, because they
/// changed, cannot be read again or the time is up. With `outer`, a line that defines something is in what is around
/// that.
pub(super) fn note_scopes(cx: &CallContext, found: &mut ContentHits, outer: bool) -> usize {
    let mut unknown = 0;
    for (_, hits) in found.files.iter_mut().filter(|(_, hits)| !hits.lines.is_empty()) {
        let Some(definitions) = outline(cx, hits) else {
            unknown += 1;
            continue;
        };
        for line in hits.lines.iter_mut().filter(|line| line.hit.is_some()) {
            let number = usize::try_from(line.number).unwrap_or(usize::MAX);
            let around =
                if outer { enclosing_definition(&definitions, number) } else { enclosing(&definitions, number) };
            line.scope = around.map(Definition::label);
        }
    }
    unknown
}

fn outline(cx: &CallContext, hits: &FileHits) -> Option<Vec<Definition>> {
    let name = hits.path.to_string();
    if let Some(bytes) = hits.seen.as_ref().and_then(|seen| seen.bytes.as_deref()) {
        return text_file::view(bytes, None).ok().map(|text| definitions(&name, &text));
    }
    let mut file = cx.workspace.open_file(&hits.real).ok()?;
    let found = outline_of_file(&mut file, &name, None, &cx.stop).ok()?;
    // The file was searched before it is outlined: line numbers of two states would name wrong definitions.
    file.restat().ok()?.same_file_state(&hits.stat).then_some(found)
}

/// The note on a hit that is in no source.
const OUTSIDE: &str = "not in a cell's source";
/// Characters of a line that are shown.
const WIDTH: usize = 200;

/// Shows each line of a notebook that is in the source of a cell as it is there, and says in which one. A line of JSON
/// that has several is shown as those that match.
pub(super) fn show_sources(cx: &CallContext, pattern: &Pattern, found: &mut ContentHits) {
    for (_, hits) in found.files.iter_mut().filter(|(_, hits)| !hits.lines.is_empty() && is_notebook(hits)) {
        let Some(bytes) = content(cx, hits) else { continue };
        let Ok(text) = text_file::view(&bytes, None) else { continue };
        let Some(notebook) = Notebook::parse(&text) else { continue };
        let mut places: Vec<Range<usize>> = Vec::new();
        for line in text.split_inclusive('\n') {
            let start = places.last().map_or(0, |last| last.end);
            places.push(start..start + line.len());
        }
        let in_cells = |line: HitLine| {
            let place = usize::try_from(line.number).ok().and_then(|number| places.get(number.checked_sub(1)?));
            let sources = place.into_iter().flat_map(|place| notebook.source_lines(place)).collect();
            in_cells(line, sources, pattern)
        };
        hits.lines = mem::take(&mut hits.lines).into_iter().flat_map(in_cells).collect();
    }
}

/// A line of a notebook's JSON as the lines of `sources`, which are in it: the only one, or those of several that match.
fn in_cells(line: HitLine, mut sources: Vec<(usize, &str)>, pattern: &Pattern) -> Vec<HitLine> {
    let is_single = sources.len() == 1;
    if !is_single {
        sources.retain(|(_, source)| line.hit.is_some() && pattern.is_in_line(source.as_bytes()));
    }
    if sources.is_empty() {
        let scope = line.hit.map(|_| OUTSIDE.to_owned());
        return vec![HitLine { scope, ..line }];
    }
    let shown = |(cell, source): (usize, &str)| {
        let scope = line.hit.map(|_| format!("cell {cell}"));
        // What is cut is shown as it was found, around its match.
        if is_single && line.cut_at.is_some() {
            return HitLine { scope, ..line.clone() };
        }
        HitLine { text: shorten(source, WIDTH).into_owned(), cut_at: None, scope, ..line.clone() }
    };
    sources.into_iter().map(shown).collect()
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
