//! Lists of configured globs, compiled.

pub(super) mod glob_fold;
pub(super) mod glob_lint;

use std::{iter, path::Path};

use globset::{Glob, GlobBuilder, GlobSet};

use text_file::with_slashes;

use super::Folded;

/// A configured list of globs.
#[derive(Clone, Debug)]
pub(super) struct Globs {
    /// The parts of the list in its order: one, unless it is more than is compiled at once.
    sets: Vec<GlobSet>,
    /// The pattern each member of the sets came from.
    sources: Vec<String>,
}

impl Globs {
    /// `folded`: for names in the form they are compared in, or else as they are. `refuses`: what is no glob matches
    /// everything, or else nothing.
    pub(super) fn new(patterns: &[String], folded: bool, refuses: bool) -> Self {
        let set = match compiled(patterns, folded) {
            Ok(set) => set,
            Err(_) if patterns.len() > 1 => {
                let (one, two) = patterns.split_at(patterns.len() / 2);
                let [one, two] = [one, two].map(|half| Self::new(half, folded, refuses));
                return Self { sets: [one.sets, two.sets].concat(), sources: [one.sources, two.sources].concat() };
            }
            // That one always compiles.
            Err(_) => GlobSet::new(Glob::new("**").ok().filter(|_| refuses)).unwrap_or_default(),
        };
        let each = set.len() / patterns.len().max(1);
        let sources = patterns.iter().flat_map(|pattern| iter::repeat_n(format!("`{pattern}`"), each)).collect();
        Self { sets: Some(set).into_iter().filter(|set| !set.is_empty()).collect(), sources }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The patterns, each as often as it has globs.
    pub(super) fn sources(&self) -> &[String] {
        &self.sources
    }

    pub(super) fn first_match(&self, path: impl AsRef<Path>) -> Option<&str> {
        let mut before = 0;
        self.sets.iter().find_map(|set| {
            let found = set.matches(&path).first().map(|index| self.sources[before + index].as_str());
            before += set.len();
            found
        })
    }
}

/// A configured list that refuses: a name matches folded, or as it is. A wildcard may
/// match what folding removes (`*.` for `a.`), and then only the unfolded name matches.
#[derive(Clone, Debug)]
pub(super) struct Refusals {
    folded: Globs,
    exact: Globs,
}

impl Refusals {
    pub(super) fn new(patterns: &[String]) -> Self {
        Self { folded: Globs::new(patterns, true, true), exact: Globs::new(patterns, false, true) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.folded.is_empty() && self.exact.is_empty()
    }

    /// As [`Globs::sources`], of both lists.
    pub(super) fn sources(&self) -> impl Iterator<Item = &String> {
        self.folded.sources().iter().chain(self.exact.sources())
    }

    pub(super) fn first_match(&self, path: &Folded, relative: &Path) -> Option<&str> {
        self.folded.first_match(path.as_str()).or_else(|| self.exact.first_match(relative))
    }
}

/// The globs of all patterns in one set, which globset compiles to a regex of 10 MiB at most.
///
/// # Errors
/// Why they are none, in a few words.
pub(super) fn compiled(patterns: &[impl AsRef<str>], folded: bool) -> Result<GlobSet, String> {
    let globs: Vec<_> = patterns.iter().map(|pattern| globs_for(pattern.as_ref(), folded)).collect::<Result<_, _>>()?;
    GlobSet::new(globs.iter().flatten()).map_err(|_| "it is too long or too deeply nested".to_owned())
}

/// A pattern as globs on the whole relative path: what it names, and everything below that.
fn globs_for(pattern: &str, folded: bool) -> Result<[Glob; 2], String> {
    let pattern = &*with_slashes(pattern);
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let trimmed = pattern.trim_end_matches('/');
    let anchored = match trimmed.strip_prefix('/') {
        Some(rest) => rest.to_owned(),
        None if trimmed.contains('/') => trimmed.to_owned(),
        None => format!("**/{trimmed}"),
    };
    let failed = |error: globset::Error| error.kind().to_string();
    // First as it was written: an error in it must not be about the translation.
    Glob::new(&anchored).map_err(failed)?;
    let translated = glob_fold::translate(&anchored, folded)?;
    let glob =
        |text: &str| GlobBuilder::new(text).case_insensitive(true).literal_separator(true).build().map_err(failed);
    Ok([glob(&translated)?, glob(&format!("{translated}/**"))?])
}
