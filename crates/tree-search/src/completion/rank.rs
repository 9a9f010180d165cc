//! The order of the names that fit.
//!
//! How a name fits decides first ([`Fit`]). Within one kind of fit, files come before directories where a name was
//! typed, then what was used last, then the better score of the fuzzy matcher. Scores take time, so they are computed
//! only for the best kinds of fit, and there for the shortest paths.

use std::{borrow::Cow, cmp::Reverse, collections::HashMap};

use code_fuzzy_match::FuzzyMatcher;
use confined_fs::{WorkspacePath, stop::StopSignal};

use super::{
    names::{Name, TreeNames},
    query::{PathQuery, folded, has_in_order},
};

/// Names that are scored at most.
const SCORED: usize = 1000;
/// Bytes of the longest path that is scored: the time grows with it.
const LONGEST_SCORED: usize = 1024;
/// Names between two looks at the stop signal.
const CHECK_EVERY: usize = 256;

/// Paths in the order of an answer.
#[derive(Debug, Default)]
pub(super) struct Ranked {
    pub(super) paths: Vec<WorkspacePath>,
    /// All that fit.
    pub(super) total: usize,
}

/// How a name or a path fits what was typed, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The whole name, with or without its ending; or the whole path.
    Whole,
    /// The beginning of the name, or of the path.
    Beginning,
    /// A part of the name; for a path, whole names in it.
    Part,
    /// Letters of the name in order; for a path, a part of it.
    Letters,
    /// Where a name was typed, a part of the path.
    PathPart,
    /// Letters of the path in order.
    PathLetters,
}

/// A name that fits.
struct Candidate<'n> {
    name: Name<'n>,
    text: Cow<'n, str>,
    group: (Fit, bool),
    recent: usize,
}

/// The `wanted` best of `names`.
pub(super) fn ranked(
    names: &TreeNames,
    query: &PathQuery,
    recent: &HashMap<&WorkspacePath, usize>,
    wanted: usize,
    stop: &StopSignal,
) -> Ranked {
    let mut candidates = Vec::new();
    for (at, name) in names.iter().enumerate() {
        if at % CHECK_EVERY == 0 && stop.stopped().is_some() {
            break;
        }
        // Nobody types what is not Unicode.
        let Some(text) = name.relative().to_str() else { continue };
        let text = if cfg!(windows) { Cow::Owned(text.replace('\\', "/")) } else { Cow::Borrowed(text) };
        if let Some(fit) = fit(&text, query) {
            let recent = if recent.is_empty() { None } else { recent.get(name.path()).copied() };
            let group = (fit, name.is_directory() && !query.is_path());
            candidates.push(Candidate { name, text, group, recent: recent.unwrap_or(usize::MAX) });
        }
    }
    let total = candidates.len();
    shorten(&mut candidates);
    let mut matcher = FuzzyMatcher::new();
    let mut order: Vec<_> = candidates
        .iter()
        .enumerate()
        .map(|(at, candidate)| {
            let (name, path) = scores(&mut matcher, &candidate.text, query);
            (
                candidate.group,
                candidate.recent,
                Reverse(name),
                Reverse(path),
                candidate.text.len(),
                &*candidate.text,
                at,
            )
        })
        .collect();
    order.sort_unstable();
    let paths = order.into_iter().take(wanted).map(|(.., at)| candidates[at].name.path().clone()).collect();
    Ranked { paths, total }
}

/// Leaves the candidates that can be the best: of all groups in their order, and of the last one of these what was used
/// last and is shortest.
fn shorten(candidates: &mut Vec<Candidate<'_>>) {
    if candidates.len() > SCORED {
        let key = |candidate: &Candidate<'_>| (candidate.group, candidate.recent, candidate.text.len());
        candidates.select_nth_unstable_by(SCORED, |one, other| {
            key(one).cmp(&key(other)).then_with(|| one.text.cmp(&other.text))
        });
        candidates.truncate(SCORED);
    }
}

/// How well the name and the path fit.
fn scores(matcher: &mut FuzzyMatcher, path: &str, query: &PathQuery) -> (usize, usize) {
    if path.len() > LONGEST_SCORED {
        return (0, 0);
    }
    let mut score = |text: &str| matcher.fuzzy_match(text, &query.text).unwrap_or(0);
    let name = if query.is_path() { 0 } else { score(name_of(path)) };
    (name, score(path))
}

fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

fn fit(path: &str, query: &PathQuery) -> Option<Fit> {
    let wanted = query.folded.as_str();
    // Most do not fit at all, which is seen at once; of a mention, `@src/a`, its first character.
    if wanted.starts_with('@') && !path.contains('@') {
        return None;
    }
    let path = folded(path);
    if !has_in_order(&path, wanted) {
        return None;
    }
    if query.is_path() {
        return Some(if path == wanted {
            Fit::Whole
        } else if path.starts_with(wanted) {
            Fit::Beginning
        } else {
            match path.find(wanted) {
                Some(at) if path.as_bytes()[at - 1] == b'/' => Fit::Part,
                Some(_) => Fit::Letters,
                None => Fit::PathLetters,
            }
        });
    }
    let name = name_of(&path);
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    Some(if name == wanted || stem == wanted {
        Fit::Whole
    } else if name.starts_with(wanted) {
        Fit::Beginning
    } else if name.contains(wanted) {
        Fit::Part
    } else if has_in_order(name, wanted) {
        Fit::Letters
    } else if path.contains(wanted) {
        Fit::PathPart
    } else {
        Fit::PathLetters
    })
}
