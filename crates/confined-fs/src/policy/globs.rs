//! Lists of configured globs, compiled.

pub(super) mod glob_fold;
pub(super) mod glob_lint;

use std::path::Path;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use text_file::with_slashes;

use super::Folded;

/// A configured list of globs.
#[derive(Clone, Debug)]
pub(super) struct Globs {
    set: GlobSet,
    /// The pattern each member of the set came from.
    sources: Vec<String>,
}

impl Globs {
    /// For names in the form they are compared in (`folded`), or as they are.
    pub(super) fn new(patterns: &[String], folded: bool) -> Self {
        let mut builder = GlobSetBuilder::new();
        let mut sources = Vec::new();
        for pattern in patterns {
            for glob in globs_for(pattern, folded).unwrap_or_default() {
                builder.add(glob);
                sources.push(format!("`{pattern}`"));
            }
        }
        let set = builder.build().unwrap_or_else(|_| GlobSet::empty());
        Self { set, sources }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// The patterns, each as often as it has globs.
    pub(super) fn sources(&self) -> &[String] {
        &self.sources
    }

    pub(super) fn first_match(&self, path: impl AsRef<Path>) -> Option<&str> {
        if self.is_empty() {
            return None;
        }
        let found = self.set.matches(path);
        found.first().map(|index| self.sources[*index].as_str())
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
        Self { folded: Globs::new(patterns, true), exact: Globs::new(patterns, false) }
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

/// A pattern as globs on the whole relative path: what it names, and everything below that.
pub(super) fn globs_for(pattern: &str, folded: bool) -> Result<Vec<Glob>, String> {
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
    [translated.clone(), format!("{translated}/**")]
        .iter()
        .map(|text| GlobBuilder::new(text).case_insensitive(true).literal_separator(true).build().map_err(failed))
        .collect()
}
