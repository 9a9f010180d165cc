//! Which definition the lines that follow are in, said once for lines in a row (`[fn load]`).

use tree_search::{FileHits, HitLine};

/// What has been said of one file.
#[derive(Debug)]
pub(super) struct ScopeLabels<'h> {
    /// Whether there is anything to say.
    known: bool,
    last: Option<&'h str>,
}

/// Where no definition is around a match.
const NONE: &str = "top level";

impl<'h> ScopeLabels<'h> {
    pub(super) fn of(hits: &FileHits) -> Self {
        Self { known: hits.lines.iter().any(|line| line.scope.is_some()), last: None }
    }

    /// The next label is printed even if it repeats the last one.
    pub(super) fn begin_group(&mut self) {
        self.last = None;
    }

    /// What to say before line `index` of adjacent lines: where the first match is, or this one if that is elsewhere.
    pub(super) fn label(&mut self, group: &[(&'h HitLine, Option<usize>)], index: usize) -> Option<&'h str> {
        let from = if index == 0 { group } else { &group[index..=index] };
        let (line, _) = from.iter().find(|(_, hit)| hit.is_some())?;
        let label = line.scope.as_deref().unwrap_or(NONE);
        (self.known && self.last.replace(label) != Some(label)).then_some(label)
    }
}
