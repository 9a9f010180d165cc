//! The steps by which a text is looked for, from strict to tolerant, each in a file below with what only steps use:
//! `spelling` and `misspelling` compare characters and words.

pub(super) mod applied;
mod blank_lines;
mod exact;
mod misspelling;
mod spelling;
mod typos;
mod whole_lines;

use std::cell::OnceCell;

use crate::search::{self, Search, TextFacts};
use crate::{EditError, Located, Request, Strategy, diagnosis, found::StepResult};

pub(super) type LadderStep = fn(&Search<'_>) -> StepResult;

/// From strict to tolerant; the first step that finds a place decides, and one that refuses for good ends the search.
pub(super) const LADDER_STEPS: &[LadderStep] = &[
    // The text byte for byte, also within a line.
    exact::as_given,
    // LF and CR LF taken for the same.
    exact::through_line_endings,
    // Refuses a file whose lines would take too much memory; all steps below list them.
    search::refuse_too_many_lines,
    // Refuses where the file has the new text already: what else resembles the old text is not the place meant.
    applied::find,
    // Whole lines, through white space at their ends, then indentation, then typographic characters, then all of them.
    |search| whole_lines::find(search, |one| one.by.is_exact()),
    // The same without the line numbers of `read` or `cat -n`, pasted along.
    |search| whole_lines::find(search, |one| one.by == Strategy::LineNumbers),
    // The same with `\n`, `\t` and `\"` resolved, as after escaping once too often, in text with a gutter, too.
    |search| whole_lines::find(search, |one| one.by.has(Strategy::Escapes) && !one.by.has(Strategy::Entities)),
    // The same with `&lt;`, `&amp;` and the like resolved, in text with a gutter or escapes, too.
    |search| whole_lines::find(search, |one| one.by.has(Strategy::Entities)),
    // Typos in lines that stay, in a block that is nearly identical otherwise, where no other block is as near.
    typos::find,
    // Blank lines missing or too many between lines that stay.
    blank_lines::find,
];

/// The steps that look for whole lines alone: for text that is known to be lines, and not to be there exactly.
pub(super) fn of_lines() -> &'static [LadderStep] {
    // Without the two of `exact`, which look within lines as well.
    &LADDER_STEPS[2..]
}

/// Tries `steps` in their order, for places that are whole words if so wanted. `facts` are those of `text`.
pub(super) fn try_steps(
    text: &str,
    facts: &TextFacts,
    request: &Request<'_>,
    steps: &[LadderStep],
    whole_words: bool,
) -> Result<Located, EditError> {
    let interpretations = OnceCell::new();
    let mut search = Search::new(text, facts, request, &interpretations);
    search.whole_words = whole_words;
    let mut refusals = Vec::new();
    for step in steps {
        match step(&search) {
            Ok(Some(found)) => return found.decide(text, request),
            Ok(None) => {}
            Err(refusal) => {
                refusals.push(refusal);
                if refusal.is_final() {
                    break;
                }
            }
        }
    }
    Err(EditError::NotFound(diagnosis::diagnose(&search, &refusals)))
}
