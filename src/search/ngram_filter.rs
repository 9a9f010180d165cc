//! The filter: which files of a tree cannot hold a match, from signatures kept in memory.
//!
//! Only ever leaves files out; whatever it admits is searched for real. Whether a file is still what
//! it was when it was taken in is the path index's to know.

mod formula;
mod gram;
mod signature;

use formula::Formula;
pub(in crate::search) use signature::{Admitted, Candidates, Placement, ROW, Signatures};

use regex_syntax::hir::Look;

use super::pattern::Pattern;

/// What a pattern demands of content.
#[derive(Debug)]
pub(in crate::search) struct Probe {
    formula: Formula,
    /// A slice of a file does not tell: a match may span lines, or look at where the file begins or ends.
    across: bool,
}

impl Probe {
    /// The demands of `pattern`.
    pub(in crate::search) fn of(pattern: &Pattern) -> Self {
        let Some(hir) = pattern.hir() else {
            // What cannot be told leaves nothing out.
            return Self { formula: Formula::All, across: true };
        };
        let looks = hir.properties().look_set();
        let at_an_end = looks.contains(Look::Start) || looks.contains(Look::End);
        Self { formula: Formula::of(&hir, !pattern.multiline()), across: pattern.multiline() || at_an_end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::pattern::PatternOptions;

    #[test]
    fn a_slice_does_not_tell_of_the_beginning_or_the_end_of_a_file() {
        let across = |text: &str| Probe::of(&Pattern::compile(text, PatternOptions::default()).unwrap()).across;
        for text in ["end\\z", "\\Astart", "end(?:\\z|x)", "(?-m:end$)", "(?-m:^start)"] {
            assert!(across(text), "{text}");
        }
        for text in ["end$", "^start", "\\bword\\b", "plain"] {
            assert!(!across(text), "{text}");
        }
    }
}
