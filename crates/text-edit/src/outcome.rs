//! The answer of a step of the ladder, what it comes to for the request, and why a request does not apply.

use text_file::shorten;

use super::{Replacement, Request, Strategies, Strategy};

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
        if !self.by.is_exact() && old.contains('\r') != text.contains('\r') && old.contains('\n') {
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

/// Why a place that matched is none. Offsets are byte offsets into the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The line that starts here was given without its indentation, and further new lines may lack theirs.
    BareLine(usize),
    /// White space that begins here would be left as a separate line.
    TrailingSpace(usize),
    /// The change is made already, in the lines that start here.
    AlreadyApplied(usize),
    /// New lines would have several possible indentations in the block that starts here, or none.
    Indentation(usize),
    /// This line of the new text (counted from 1) is a placeholder for code, and the old text is not exact.
    Placeholder(usize),
    /// Whole words are wanted, and the text is within longer ones alone, the first of them here.
    WithinWord(usize),
    /// The file has too many lines to be searched for anything but the exact text.
    TooManyLines,
    /// A reason that says nothing beyond what differs.
    Unclear,
}

impl Refusal {
    /// Whether no other step may look for another place.
    pub(super) const fn is_final(self) -> bool {
        !matches!(self, Self::TrailingSpace(_) | Self::Unclear)
    }

    /// How much it explains: of several the highest is said.
    const fn rank(self) -> usize {
        match self {
            Self::Unclear => 0,
            Self::Indentation(_) => 1,
            Self::TrailingSpace(_) => 2,
            Self::Placeholder(_) => 3,
            Self::AlreadyApplied(_) => 4,
            Self::BareLine(_) => 5,
            Self::WithinWord(_) => 6,
            Self::TooManyLines => 7,
        }
    }

    /// The one of `refusals` that explains the most.
    pub(super) fn chief(refusals: &[Self]) -> Option<Self> {
        refusals.iter().copied().max_by_key(|refusal| refusal.rank()).filter(|refusal| *refusal != Self::Unclear)
    }
}

/// At most so many places are listed in a [`EditError`]; a list of this length means "or more".
pub const MAX_PLACES: usize = 1000;

/// Why a request does not apply.
#[derive(Clone, Debug)]
pub enum EditError {
    /// Several places match and only one was asked for.
    Ambiguous {
        /// The step that found them.
        strategy: Strategies,
        /// At least two, at most [`MAX_PLACES`].
        places: Vec<Place>,
    },
    /// The number of places is not the expected one.
    Count {
        /// The step that found them.
        strategy: Strategies,
        /// `expected_replacements`.
        expected: usize,
        /// At least one, at most [`MAX_PLACES`].
        places: Vec<Place>,
    },
    /// All places were asked for, and their replacements would take too much memory.
    TooMany {
        /// At least so many places match.
        places: usize,
    },
    /// No place matches.
    NotFound(Diagnosis),
}

/// A place that matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Counted from 1, as `read` does.
    pub line: usize,
    /// That line, cut to a printable length.
    pub text: String,
}

/// What is known about a text that was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// One to three lower-case clauses of at most 300 characters: the first lines of an error.
    pub summary: String,
    /// Further differences and the nearest block with line numbers; may be empty.
    pub details: String,
    /// What to do about it.
    pub next: Next,
}

impl Diagnosis {
    /// There is no place to be shown.
    pub(super) fn without_place(summary: String) -> Self {
        Self { summary, details: String::new(), next: Next::Read }
    }
}

/// What a model does best about a text that was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Copy the lines that the details show.
    Copy,
    /// Read the file: there is nothing to be shown.
    Read,
    /// Look whether the change is made already.
    Look,
    /// Ask for parts of words as well.
    LeaveOutWord,
    /// Send less of the text, without the path in it: the client may have shown another one than the file has.
    LeaveOutPath,
}
