//! What all steps of the ladder look at, and what they answer.

use std::{borrow::Cow, cell::OnceCell};

use super::{
    MAX_PLACES, Replacement, Request, indent::Habit, line_endings, most_places, refusal::Refusal, strategy::Strategies,
};
use crate::text::{self, Line, LineEnding};

/// The request and the text, prepared once. Steps read it and change nothing.
pub(super) struct Search<'a> {
    pub(super) text: &'a str,
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    /// Whether every place is to be replaced.
    pub(super) wants_all: bool,
    /// Stop collecting after so many places.
    pub(super) limit: usize,
    pub(super) ending: LineEnding,
    lines: OnceCell<Vec<Line>>,
    habit: OnceCell<Habit>,
    contents: OnceCell<Vec<u64>>,
}

impl<'a> Search<'a> {
    pub(super) fn new(text: &'a str, request: &Request<'a>) -> Self {
        let wants_all = request.wants_all();
        Self {
            text,
            old: request.old,
            new: request.new,
            wants_all,
            limit: if wants_all { most_places(request.new) } else { MAX_PLACES },
            ending: LineEnding::of(text),
            lines: OnceCell::new(),
            habit: OnceCell::new(),
            contents: OnceCell::new(),
        }
    }

    /// The lines of the text; ended by CR where nothing else ends one.
    pub(super) fn lines(&self) -> &[Line] {
        self.lines.get_or_init(|| match self.ending {
            LineEnding::Cr => text::lines_ended_by_cr(self.text).collect(),
            _ => text::lines(self.text).collect(),
        })
    }

    /// How the file is indented as a whole.
    pub(super) fn habit(&self) -> Habit {
        *self.habit.get_or_init(|| Habit::of(self))
    }

    /// For each line the hash of its content in plain characters, made once for all readings of the request.
    pub(super) fn content_hashes(&self, hash: impl Fn(&str) -> u64) -> &[u64] {
        self.contents.get_or_init(|| self.lines().iter().map(|line| hash(line.content(self.text))).collect())
    }

    /// The text to be replaced, its lines ended by LF.
    pub(super) fn canonical_old(&self) -> Cow<'a, str> {
        line_endings::canonical(self.old)
    }

    /// The new text, its lines ended by LF.
    pub(super) fn canonical_new(&self) -> Cow<'a, str> {
        line_endings::canonical(self.new)
    }
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

impl Found {
    /// Places beside one that was `refused`, which matched but cannot take the new text as it is: it makes a single
    /// place ambiguous, and all places no answer.
    pub(super) fn settled(mut self, search: &Search<'_>, refused: Option<(usize, Refusal)>) -> Self {
        let Some((start, refusal)) = refused else { return self };
        if search.wants_all {
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
