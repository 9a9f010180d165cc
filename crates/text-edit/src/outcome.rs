//! The answer of a step of the ladder, and what it comes to for the request.

use text_file::shorten;

use super::{EditError, MAX_PLACES, Place, Refusal, Replacement, Request, Strategies, Strategy};

/// Lines shown to a model are cut to so many characters.
const SHOWN_CHARS: usize = 160;

/// Where a request applies.
#[derive(Clone, Debug)]
pub struct Located {
    /// How the places were found; to be named to the model unless exact.
    pub strategy: Strategies,
    /// At least one, ascending and disjoint.
    pub replacements: Vec<Replacement>,
}

/// The answer of a step.
pub(super) enum Outcome {
    /// The places, at least one.
    Found(Found),
    /// There is a place, but nobody can be sure of the change.
    Refused(Refusal),
    /// Nothing that this step looks for.
    None,
}

/// Places that a step found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Disjoint and ascending.
    pub(super) replacements: Vec<Replacement>,
    /// Where the text matches once more, which makes the only replacement no single place: overlapping it as in
    /// `aa` in `aaa`, or where the replacement could not be made.
    pub(super) overlapping: Option<usize>,
    /// What the match looked through.
    pub(super) by: Strategies,
    /// Why a place that matched was left out.
    pub(super) refusal: Option<Refusal>,
}

/// Places that match but cannot take the new text as it is: where the first of them is, and the first reason that
/// explains anything.
#[derive(Clone, Copy, Default)]
pub(super) struct RefusedPlaces(Option<(usize, Refusal)>);

impl RefusedPlaces {
    pub(super) fn add(&mut self, start: usize, refusal: Refusal) {
        self.0 = match self.0 {
            None => Some((start, refusal)),
            Some((first, Refusal::Unclear)) => Some((first, refusal)),
            explained => explained,
        };
    }
}

impl Found {
    /// These places where others were `refused`: those make a single place ambiguous, and all places no answer.
    pub(super) fn settled(mut self, wants_all: bool, refused: RefusedPlaces) -> Self {
        let Some((start, refusal)) = refused.0 else { return self };
        if wants_all {
            self.replacements.clear();
        }
        self.overlapping = if self.replacements.len() == 1 { self.overlapping.or(Some(start)) } else { None };
        self.refusal = Some(refusal);
        self
    }

    pub(super) fn is_ambiguous(&self) -> bool {
        self.replacements.len() > 1 || self.overlapping.is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.replacements.is_empty()
    }

    /// With the endings of lines named, where a tolerant step looked through them as well.
    pub(super) fn through_line_endings(mut self, text: &str, old: &str) -> Self {
        if !self.by.is_exact() && old.contains('\r') != text.contains('\r') && old.contains(['\n', '\r']) {
            self.by = self.by.with(Strategy::LineEndings);
        }
        self
    }

    /// The places, if they are as many as were asked for.
    pub(super) fn decide(self, text: &str, request: &Request<'_>) -> Result<Located, EditError> {
        let Self { replacements, overlapping, by: strategy, .. } = self;
        let count = replacements.len();
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

impl From<Found> for Outcome {
    fn from(found: Found) -> Self {
        match (found.is_empty(), found.refusal) {
            (false, _) => Self::Found(found),
            (true, Some(refusal)) => Self::Refused(refusal),
            (true, None) => Self::None,
        }
    }
}

/// Line numbers and lines of ascending offsets.
fn places(text: &str, starts: impl Iterator<Item = usize>) -> Vec<Place> {
    let (mut line, mut counted_to) = (1, 0);
    let mut places: Vec<Place> = Vec::new();
    for start in starts.take(MAX_PLACES) {
        line += text[counted_to..start].matches('\n').count();
        counted_to = start;
        let known = places.last().filter(|last| last.line == line).map(|last| last.text.clone());
        places.push(Place { line, text: known.unwrap_or_else(|| line_at(text, start)) });
    }
    places
}

/// The line around `offset`, cut.
fn line_at(text: &str, offset: usize) -> String {
    let start = text[..offset].rfind('\n').map_or(0, |found| found + 1);
    let end = text[offset..].find('\n').map_or(text.len(), |found| offset + found);
    let line = &text[start..end];
    shorten(line.strip_suffix('\r').unwrap_or(line), SHOWN_CHARS).into_owned()
}
