//! What the tests of the checks share.

use super::syntax_error::{Findings, SyntaxError};

/// No text has an error.
pub(super) fn assert_valid<'t>(check: impl Fn(&str) -> Findings, texts: impl IntoIterator<Item = &'t str>) {
    for text in texts {
        assert_eq!(check(text).error, None, "{text:?}");
    }
}

/// Each text has its first error at this byte, with a message that contains this.
pub(super) fn assert_first_errors<'t>(
    check: impl Fn(&str) -> Findings,
    rows: impl IntoIterator<Item = (&'t str, usize, &'t str)>,
) {
    for (text, at, message) in rows {
        let SyntaxError { at: found, message: said } = check(text).error.expect(text);
        assert!(found == at && said.contains(message), "{text:?}: {found} {said}");
    }
}
