//! TOML: the first error, by the parser that reads the server's own configuration, and the values of a file that is masked.
//!
//! To find an error the values are built and dropped, so the size is bounded. The parser follows no more than 80 levels of
//! nesting; what is deeper is skipped. The mask reads lines, so that it also knows what follows an error.

use toml::de::DeTable;

use crate::mask::span::{Span, Syntax, TextLine, closing_bracket, closing_string, skip_blanks, trim_blanks};
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

/// The values of a text for its mask, line by line: those in brackets are one. `None` where a line is none of TOML.
pub(crate) fn values(text: &str) -> Option<Vec<Span>> {
    let body = text.as_bytes();
    let (mut spans, mut at) = (Vec::new(), 0);
    while at < body.len() {
        let line = TextLine::at(body, at);
        let first = line.first(body);
        at = line.next;
        if first == line.end {
            continue;
        }
        match body[first] {
            b'#' => spans.extend(Span::comment(body, first, line.end)),
            b'[' => {
                let brackets = body[first..line.end].iter().take_while(|byte| **byte == b'[').count().min(2);
                let end = name_end(body, first + brackets, line.end, b']')? + brackets;
                if body.get(end - brackets..end.min(line.end)) != Some(&b"]]"[..brackets]) {
                    return None;
                }
                rest_of_line(body, end, line.end, &mut spans)?;
            }
            _ => {
                let separator = name_end(body, first, line.end, b'=').filter(|at| *at > first)?;
                let name = &text[first..trim_blanks(body, first, separator)];
                let value = skip_blanks(body, separator + 1, line.end);
                let end = match body.get(value).filter(|_| value < line.end)? {
                    b'"' | b'\'' => closing_string(body, value, Syntax::Toml)?,
                    b'[' | b'{' => closing_bracket(body, value, Syntax::Toml)?,
                    _ => {
                        // Nothing without quotes holds a `#` in TOML.
                        let comment = memchr::memchr(b'#', &body[value..line.end]);
                        trim_blanks(body, value, comment.map_or(line.end, |found| value + found))
                    }
                };
                spans.push(Span::quoted(value..end, name.rsplit('.').next().unwrap_or(name).trim_matches(['"', '\''])));
                let last = TextLine::at(body, end);
                rest_of_line(body, end, last.end, &mut spans)?;
                at = at.max(last.next);
            }
        }
    }
    Some(spans)
}

/// Nothing but a comment may follow a value or the name of a table.
fn rest_of_line(body: &[u8], from: usize, end: usize, spans: &mut Vec<Span>) -> Option<()> {
    let rest = skip_blanks(body, from, end);
    if rest < end {
        if body[rest] != b'#' {
            return None;
        }
        spans.extend(Span::comment(body, rest, end));
    }
    Some(())
}

/// The byte of the `stop` that follows a name with dots and quotes.
fn name_end(body: &[u8], mut at: usize, end: usize, stop: u8) -> Option<usize> {
    loop {
        match *body.get(at).filter(|_| at < end)? {
            byte if byte == stop => return Some(at),
            b'"' | b'\'' => at = closing_string(body, at, Syntax::Toml).filter(|close| *close <= end)?,
            byte if byte.is_ascii_alphanumeric() || b"_-. \t".contains(&byte) => at += 1,
            _ => return None,
        }
    }
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
