//! The filter: which files of a tree cannot hold a match, from signatures kept in memory.
//!
//! Only ever leaves files out; whatever it admits is searched for real. Whether a file is still what
//! it was when it was taken in is the live list's to know.

mod formula;
mod gram;
mod signature;

use formula::Formula;
pub(in crate::search) use signature::{Admitted, Candidates, Placement, Signatures};

use super::pattern::Pattern;

/// What a pattern demands of content.
#[derive(Debug)]
pub(in crate::search) struct Probe {
    formula: Formula,
    /// A match may span lines.
    across: bool,
}

impl Probe {
    /// The demands of `pattern`.
    pub(in crate::search) fn of(pattern: &Pattern) -> Self {
        // What cannot be told leaves nothing out.
        let formula = pattern.hir().map_or(Formula::All, |hir| Formula::of(&hir, !pattern.multiline()));
        Self { formula, across: pattern.multiline() }
    }
}
