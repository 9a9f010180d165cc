//! TOML: the first error, by the parser that reads the server's own configuration.
//!
//! To find it the values are built and dropped, so the size is bounded. The parser follows no more than 80 levels of
//! nesting; what is deeper is skipped.

use toml::de::DeTable;

use crate::syntax_error::{Findings, SyntaxError};

/// Bytes of the largest text that is checked: building its values takes a few times as much memory.
const MAX_BYTES: usize = 1 << 20;

/// Words in the parser's error for a text that is too deep for it.
const TOO_DEEP: [&str; 2] = ["recursion", "recurse"];

/// The first error of a text in TOML.
pub fn check(text: &str) -> Findings {
    if text.len() > MAX_BYTES {
        return Findings::default();
    }
    let Err(error) = DeTable::parse(text) else { return Findings::default() };
    let message = error.message();
    if TOO_DEEP.iter().any(|word| message.contains(word)) {
        return Findings::default();
    }
    let at = error.span().map_or(text.len(), |span| span.start);
    let is_line_over = text.get(at..).is_none_or(|rest| rest.is_empty() || rest.starts_with(['\n', '\r', '#']));
    // The parser has the same words for a value that is missing.
    let message = match message.strip_prefix("string values must be quoted") {
        Some(_) if is_line_over => "expected a value",
        Some(_) => "expected a value: strings need quotes",
        None => message,
    };
    Findings { error: Some(SyntaxError::new(at, message)), warnings: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_first_errors, assert_valid};
    use super::*;

    #[test]
    fn valid_texts_pass() {
        assert_valid(
            check,
            [
                "",
                "# x\r\na.b.\"c d\" = 1\r\n",
                "d = 1979-05-27T07:32:00.999-07:00\nt = 07:32:00\nday = 1979-05-27\n",
                "n = [0xFF, 0o7, 0b1, 1_000, -inf, nan, 6.6e-34]\n",
                "s = \"\"\"\n a\\\n b\"\"\"\nl = \'\'\'C:\\x\'\'\'\n",
                "[a]\nx = {b = 1, c = [1, 2,]}\n[[p]]\n[[p]]\nq.r = 1\n[p.s]\n",
            ],
        );
        assert_eq!(check(&format!("a = {}{}", "[".repeat(200), "]".repeat(200))).error, None);
    }

    #[test]
    fn first_error_is_named_at_its_place() {
        assert_first_errors(
            check,
            [
                ("a = 1\nb = \n", 10, "expected a value"),
                ("[a\nb = 1\n", 2, "unclosed table, expected `]`"),
                ("a = 1\na = 2\n", 6, "duplicate key"),
                ("e = yes\n", 4, "expected a value: strings need quotes"),
                ("a = [1, 2\nb = 1\n", 10, "missing comma between array elements, expected `,`"),
            ],
        );
    }
}
