//! Edits of a notebook: `old_string` is looked for in the sources of its cells, as `read` shows them.
//!
//! Text that is exactly in a cell is meant there: put into the JSON as it is, a new text with a quotation mark would
//! break it. Text that is in no cell, but in the JSON, is left to the search that all files have.

use std::{cmp::Reverse, collections::HashSet, fmt::Write as _};

use structured_text::Notebook;
use text_edit::{EditError, Located, Request};
use text_file::Document;

use change_set::WritablePath;
use confined_fs::WorkspacePath;

use super::{
    super::{CallContext, Kind, ToolError, answer::count},
    entry::TextEdit,
    no_match,
    places::Places,
};

/// Cells in which text is looked for that is in none exactly: those that share the most words with it.
const MAX_LIKELY_CELLS: usize = 32;
const NAMED_CELLS: usize = 20;

/// Where `one` applies in the cells of `notebook`, whose text is `json`; `None` where it is for that text.
///
/// # Errors
/// As for other files, with the cell.
pub(super) fn find(
    cx: &CallContext,
    target: &WritablePath,
    json: &str,
    notebook: &Notebook<'_>,
    one: &TextEdit,
    expected: Option<usize>,
) -> Result<Option<Places>, ToolError> {
    let source = |index: usize| notebook.cells()[index].source();
    let exact: Vec<usize> = (0..notebook.cells().len()).filter(|index| source(*index).contains(&one.old)).collect();
    if exact.is_empty() && json.contains(&one.old) {
        return Ok(None);
    }
    let is_exact = !exact.is_empty();
    let likely = if is_exact { exact } else { likely(notebook, &one.old) };
    let wants_all = one.replace_all || expected.is_some_and(|expected| expected > 1);
    let request = Request { old: &one.old, new: &one.new, replace_all: wants_all, expected_replacements: None };
    let mut found: Vec<(usize, Result<Located, EditError>)> = Vec::new();
    let (mut nearest, mut total) = (None, 0);
    for index in likely {
        cx.check()?;
        let outcome = one.locate(source(index), &request);
        total += outcome.as_ref().map_or(0, |located| located.replacements.len());
        if wants_all && total >= request.most_places() {
            return Err(no_match::explain(cx, target, json, one, &EditError::TooMany { places: total }));
        }
        match outcome {
            // Where the text is, but cannot be changed safely, it is a place all the same.
            Err(miss @ EditError::NotFound(_)) if !is_exact => nearest = nearest.or(Some((index, miss))),
            outcome => found.push((index, outcome)),
        }
    }
    let explained = |index: usize, miss: &EditError| {
        no_match::explain(cx, target, source(index), one, miss).within(&format!("cell {}", index + 1))
    };
    // They came by their likeness; a splice takes places in the order of the file.
    found.sort_by_key(|(index, _)| *index);
    match found.as_slice() {
        [] => return nearest.map_or(Ok(None), |(index, miss)| Err(explained(index, &miss))),
        [_] => {}
        _ if wants_all => {}
        several => return Err(ambiguous(target, several)),
    }
    let mut places = Places::default();
    for (index, outcome) in found {
        cx.check()?;
        let located = outcome.map_err(|miss| explained(index, &miss))?;
        if one.replace_all {
            places.within.look(source(index), &located, &format!("cell {} line ", index + 1));
        }
        let spans: Vec<_> = located.replacements.iter().map(|one| (one.span.clone(), one.text.as_str())).collect();
        let edit = notebook.replaced(index, &text_file::spliced("", source(index), &spans));
        places.spans.push((edit.span, edit.json));
        places.strategy = places.strategy.with(located.strategy);
        places.replacements += located.replacements.len();
        places.cells.push(index + 1);
    }
    match expected {
        Some(expected) if expected != places.replacements => Err(ToolError::new(
            if places.replacements > expected { Kind::Ambiguous } else { Kind::NoMatch },
            format!(
                "old_string occurs at {} in {} ({}), not at the expected {expected}",
                count(places.replacements, "place"),
                target.asked(),
                cells(&places.cells)
            ),
        )
        .hint("nothing was changed; correct expected_replacements, or make old_string match just those places")),
        _ => Ok(Some(places)),
    }
}

/// `cell 3`, or `cells 2, 5`.
pub(super) fn cells(numbers: &[usize]) -> String {
    let mut shown: Vec<String> = numbers.iter().take(NAMED_CELLS).map(usize::to_string).collect();
    if numbers.len() > NAMED_CELLS {
        shown.push("…".to_owned());
    }
    format!("{} {}", if numbers.len() == 1 { "cell" } else { "cells" }, shown.join(", "))
}

/// The sources of the cells that differ between two states of a notebook, each with a heading where there are several.
pub(super) fn changed_sources(old: &Notebook<'_>, new: &Notebook<'_>) -> (String, String) {
    let pairs = old.cells().iter().zip(new.cells()).enumerate();
    let changed: Vec<_> = pairs.filter(|(_, (old, new))| old.source() != new.source()).collect();
    if let [(_, (old, new))] = changed.as_slice() {
        return (old.source().to_owned(), new.source().to_owned());
    }
    let mut texts = (String::new(), String::new());
    for (index, (old, new)) in changed {
        for (text, cell) in [(&mut texts.0, old), (&mut texts.1, new)] {
            let _ = write!(text, "--- cell {} ---\n{}\n", index + 1, cell.source());
        }
    }
    texts
}

/// The error for a single place that is in several cells.
fn ambiguous(target: &WritablePath, found: &[(usize, Result<Located, EditError>)]) -> ToolError {
    let numbers: Vec<usize> = found.iter().map(|(index, _)| index + 1).collect();
    let sentence =
        format!("old_string occurs in {} of {}: {}", count(numbers.len(), "cell"), target.asked(), cells(&numbers));
    ToolError::new(Kind::Ambiguous, sentence)
        .hint("add to old_string the neighbouring lines of the place you mean, or set replace_all=true for all of them")
}

/// The cells that share words with `old`, those with the most of them first.
fn likely(notebook: &Notebook<'_>, old: &str) -> Vec<usize> {
    let words = |text: &'_ str| -> HashSet<String> {
        let is_part = |character: char| !character.is_alphanumeric() && character != '_';
        text.split(is_part).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let wanted = words(old);
    let shared = |source: &str| words(source).intersection(&wanted).count();
    let scores = notebook.cells().iter().enumerate().map(|(index, cell)| (shared(cell.source()), index));
    let mut scores: Vec<(usize, usize)> = scores.filter(|(score, _)| *score > 0).collect();
    scores.sort_by_key(|(score, index)| (Reverse(*score), *index));
    scores.into_iter().take(MAX_LIKELY_CELLS).map(|(_, index)| index).collect()
}

pub(super) fn notebook<'d>(path: &WorkspacePath, document: &'d Document) -> Option<Notebook<'d>> {
    let is_named = path.relative().extension().is_some_and(|name| name.eq_ignore_ascii_case("ipynb"));
    if is_named { Notebook::parse(document.text()) } else { None }
}
