//! What a search pattern demands of the content of a file.

use regex_syntax::hir::Look;

use super::gram_query::GramQuery;
use crate::search::pattern::Pattern;

/// What a pattern demands of content.
#[derive(Debug)]
pub(in crate::search) struct FilterQuery {
    pub(super) grams: GramQuery,
    /// A part of a file does not decide: a match may span lines, or look at where the file begins or ends.
    pub(super) whole_file: bool,
}

impl FilterQuery {
    /// The demands of `pattern`.
    pub(in crate::search) fn of(pattern: &Pattern) -> Self {
        let Some(hir) = pattern.hir() else {
            // An unknown demand leaves nothing out.
            return Self { grams: GramQuery::All, whole_file: true };
        };
        let looks = hir.properties().look_set();
        let at_an_end = looks.contains(Look::Start) || looks.contains(Look::End);
        Self { grams: GramQuery::of(&hir, !pattern.multiline()), whole_file: pattern.multiline() || at_an_end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::pattern::PatternOptions;

    #[test]
    fn anchors_to_file_ends_need_the_whole_file() {
        let whole_file =
            |text: &str| FilterQuery::of(&Pattern::compile(text, PatternOptions::default()).unwrap()).whole_file;
        for text in ["end\\z", "\\Astart", "end(?:\\z|x)", "(?-m:end$)", "(?-m:^start)"] {
            assert!(whole_file(text), "{text}");
        }
        for text in ["end$", "^start", "\\bword\\b", "plain"] {
            assert!(!whole_file(text), "{text}");
        }
    }
}
