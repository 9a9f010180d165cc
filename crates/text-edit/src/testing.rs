//! For the tests of the steps: a request tried on a text, and what came of it.

use super::{Diagnosis, EditError, Located, Request, Strategies, Strategy, locate};

/// The strategy and the text with all replacements made.
pub(super) fn edited(text: &str, old: &str, new: &str) -> Result<(Strategies, String), EditError> {
    tried(text, &Request { old, new, replace_all: false, expected_replacements: None })
}

pub(super) fn tried(text: &str, request: &Request<'_>) -> Result<(Strategies, String), EditError> {
    let located = locate(text, request)?;
    Ok((located.strategy, apply(text, &located)))
}

/// The text with the replacements made.
pub(super) fn apply(text: &str, located: &Located) -> String {
    let mut result = text.to_owned();
    for replacement in located.replacements.iter().rev() {
        result.replace_range(replacement.span.clone(), &replacement.text);
    }
    result
}

/// Asserts that the request applies by `strategy` (and perhaps others) and makes `expected` of the text.
#[track_caller]
pub(super) fn assert_edited(text: &str, old: &str, new: &str, strategy: Strategy, expected: &str) {
    match edited(text, old, new) {
        Ok((by, result)) => {
            assert_eq!(result, expected, "by {by}");
            assert!(by.has(strategy), "by {by}, not {strategy:?}");
        }
        Err(miss) => panic!("not applied: {miss:?}"),
    }
}

/// Asserts that the request has no place at all, and returns why.
#[track_caller]
pub(super) fn assert_missed(text: &str, old: &str, new: &str) -> Diagnosis {
    match edited(text, old, new) {
        Err(EditError::NotFound(diagnosis)) => diagnosis,
        other => panic!("not missed: {other:?}"),
    }
}

/// Asserts that several places match, and returns their lines.
#[track_caller]
pub(super) fn assert_ambiguous(text: &str, old: &str, new: &str) -> Vec<usize> {
    match edited(text, old, new) {
        Err(EditError::Ambiguous { places, .. }) => places.iter().map(|place| place.line).collect(),
        other => panic!("not ambiguous: {other:?}"),
    }
}
