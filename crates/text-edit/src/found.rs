//! The places that a step of the ladder found, or why it found none, and what that comes to for the request.

use super::{EditError, Located, Location, MAX_PLACES, Replacement, Request, Strategies, Strategy};

/// The answer of a step: its places, if there are any; an error where there is one, but nobody can be sure of the change.
pub(super) type StepResult = Result<Option<Found>, Refusal>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Disjoint and ascending; empty if nothing matched or could be replaced.
    pub(super) replacements: Vec<Replacement>,
    /// Where the text matches once more, which makes the only replacement no single place: overlapping it as in
    /// `aa` in `aaa`, or where the replacement could not be made.
    pub(super) overlapping: Option<usize>,
    pub(super) by: Strategies,
    /// The first place that matches but cannot take the new text, and the first reason that explains anything.
    pub(super) refused: Option<(usize, Refusal)>,
}

impl Found {
    pub(super) fn one(replacement: Replacement, by: Strategies) -> Self {
        Self { replacements: vec![replacement], by, ..Self::default() }
    }

    pub(super) fn refuse(&mut self, start: usize, refusal: Refusal) {
        self.refused = match self.refused {
            None => Some((start, refusal)),
            Some((first, Refusal::Unclear)) => Some((first, refusal)),
            explained => explained,
        };
    }

    /// Called once no more places can come: if one was refused, a single other place is ambiguous, and a request for all
    /// places gets none.
    pub(super) fn settled(mut self, wants_all: bool) -> Self {
        if let Some((start, _)) = self.refused {
            if wants_all {
                self.replacements.clear();
            }
            self.overlapping = if self.replacements.len() == 1 { self.overlapping.or(Some(start)) } else { None };
        }
        self
    }

    pub(super) fn is_ambiguous(&self) -> bool {
        self.replacements.len() > 1 || self.overlapping.is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.replacements.is_empty()
    }

    pub(super) fn refusal(&self) -> Option<Refusal> {
        self.refused.map(|(_, refusal)| refusal)
    }

    pub(super) fn result(self) -> StepResult {
        match self.refusal() {
            Some(refusal) if self.is_empty() => Err(refusal),
            _ => Ok(Some(self).filter(|found| !found.is_empty())),
        }
    }

    pub(super) fn decide(self, text: &str, request: &Request<'_>) -> Result<Located, EditError> {
        let Self { replacements, overlapping, by: mut strategy, .. } = self;
        let (count, old) = (replacements.len(), request.old);
        // A tolerant step looks through the endings of lines as well.
        if !strategy.is_exact() && old.contains('\r') != text.contains('\r') && old.contains('\n') {
            strategy = strategy.with(Strategy::LineEndings);
        }
        if request.wants_all() && count >= request.most_places() {
            return Err(EditError::TooMany { places: count });
        }
        let listed = || {
            let mut starts: Vec<usize> = replacements.iter().map(|replacement| replacement.span.start).collect();
            starts.extend(overlapping);
            starts.sort_unstable();
            places(text, starts.into_iter())
        };
        let is_single = count == 1 && overlapping.is_none();
        match request.expected_replacements {
            Some(expected) if count != expected && (request.replace_all || is_single || expected != 1) => {
                Err(EditError::Count { strategy, expected, places: listed() })
            }
            Some(expected) if expected > 1 && overlapping.is_none() => Ok(Located { strategy, replacements }),
            _ if is_single || request.replace_all => Ok(Located { strategy, replacements }),
            _ => Err(EditError::Ambiguous { strategy, places: listed() }),
        }
    }
}

/// Line numbers and lines of ascending offsets.
fn places(text: &str, starts: impl Iterator<Item = usize>) -> Vec<Location> {
    let (mut line, mut counted_to) = (1, 0);
    let mut places: Vec<Location> = Vec::new();
    for start in starts.take(MAX_PLACES) {
        line += text[counted_to..start].matches('\n').count();
        counted_to = start;
        // A long line is cut once for all places in it.
        let known = places.last().filter(|last| last.line == line).cloned();
        places.push(known.unwrap_or_else(|| {
            let from = text[..start].rfind('\n').map_or(0, |found| found + 1);
            let shown = text[from..].split('\n').next().unwrap_or_default();
            Location::of(line, shown.strip_suffix('\r').unwrap_or(shown))
        }));
    }
    places
}

/// Why a place that matched does not count, in order: a later reason explains more than an earlier one. Offsets are
/// byte offsets into the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Refusal {
    Unclear,
    /// New lines would have several possible indentations in the block that starts here, or none.
    Indentation(usize),
    TrailingSpace(usize),
    /// This line of the new text (counted from 1) is a placeholder for code, and the old text is not exact.
    Placeholder(usize),
    AlreadyApplied(usize),
    /// The line that starts here was given without its indentation, and further new lines may lack theirs.
    BareLine(usize),
    /// Whole words are wanted, and the text is within longer ones alone, the first of them here.
    WithinWord(usize),
    /// The file has too many lines to be searched for anything but the exact text.
    TooManyLines,
}

impl Refusal {
    pub(super) const fn is_final(self) -> bool {
        !matches!(self, Self::TrailingSpace(_) | Self::Unclear)
    }
}
