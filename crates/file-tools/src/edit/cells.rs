//! Edits of a notebook: `old_string` is looked for in the sources of its cells, as `read` shows them.
//!
//! Text that is exactly in a cell is meant there: put into the JSON as it is, a new text with a quotation mark would
//! break it. Text that is in no cell, but in the JSON, is left to the search that all files have.

use std::{cmp::Reverse, collections::HashSet};

use structured_text::Notebook;
use text_edit::{EditError, Located, Request};
use text_file::Document;

use change_set::WritablePath;
use confined_fs::WorkspacePath;

use super::{
    super::{CallContext, Kind, ToolError, answer::count},
    entry::{LinesEdit, TextEdit},
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
            places.within.look(
                source(index),
                one.word.then_some(&one.old),
                &located,
                &format!("cell {} line ", index + 1),
            );
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

/// The numbers of the cells that differ between two states of a notebook, and the sources of each.
pub(super) fn changed_sources(old: &Notebook<'_>, new: &Notebook<'_>) -> Vec<(usize, [String; 2])> {
    let pairs = (1..).zip(old.cells().iter().zip(new.cells()));
    let changed = pairs.filter(|(_, (old, new))| old.source() != new.source());
    changed.map(|(number, (old, new))| (number, [old.source().to_owned(), new.source().to_owned()])).collect()
}

/// The lines of a cell that `edit` names, with what takes their place; `document` has the changes of the entries before it.
///
/// # Errors
/// `invalid_input` for a cell or lines that are not there, and for a cell that an entry before has changed; `no_match` where
/// the new text is there already.
pub(super) fn replaced_lines(
    edit: &LinesEdit,
    (path, number): (&WorkspacePath, usize),
    (first, now): (&Notebook<'_>, &Notebook<'_>),
    verbatim: bool,
) -> Result<Places, ToolError> {
    let index = number.wrapping_sub(1);
    let missing = |sentence: String| ToolError::invalid(sentence).hint("read it again, and name lines of a cell of it");
    let (Some(was), Some(cell)) = (first.cells().get(index), now.cells().get(index)) else {
        let total = count(first.cells().len(), "cell");
        return Err(missing(format!("{path} has {total}, so there is no cell {number}")));
    };
    let source = cell.source();
    if source != was.source() {
        return Err(ToolError::invalid(format!("an earlier edit of this call changes cell {number}, too: join both"))
            .hint("make one entry of both, or send them in two calls"));
    }
    let span = edit.place.span(source).map_err(|total| {
        missing(format!("cell {number} of {path} has {}, so it does not have these lines", count(total, "line")))
    })?;
    let made = edit.place.replacement(source, span, &edit.new, verbatim);
    if source[made.span.clone()] == made.text {
        return Err(ToolError::new(
            Kind::NoMatch,
            format!("the new text is what these lines of cell {number} are already"),
        )
        .hint("the change may already be made; there is nothing to change here"));
    }
    let change = now.replaced(index, &text_file::spliced("", source, &[(made.span, made.text.as_str())]));
    Ok(Places { cells: vec![number], ..Places::one(change.span, change.json) })
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
