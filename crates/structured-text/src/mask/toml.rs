//! TOML, line by line: values in brackets are masked as one.

use super::span::{Span, Syntax, TextLine, closing_bracket, closing_string, skip_blanks, trim_blanks};

/// The values of the text; `None` where a line is none of TOML.
pub(super) fn scan(text: &str) -> Option<Vec<Span>> {
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
            b'#' => spans.extend(comment(body, first, line.end)),
            b'[' => {
                let end = table_end(body, first, line.end)?;
                rest_of_line(body, end, line.end, &mut spans)?;
            }
            _ => {
                let separator = key_end(body, first, line.end)?;
                let name = &text[first..trim_blanks(body, first, separator)];
                let value = skip_blanks(body, separator + 1, line.end);
                let end = match body.get(value).filter(|_| value < line.end)? {
                    b'"' | b'\'' => closing_string(body, value, Syntax::Toml)?,
                    b'[' | b'{' => closing_bracket(body, value, Syntax::Toml)?,
                    _ => {
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
        spans.extend(comment(body, rest, end));
    }
    Some(())
}

fn comment(body: &[u8], mark: usize, end: usize) -> Option<Span> {
    let text = skip_blanks(body, mark + 1, end);
    (text < end).then(|| Span::comment(text..end))
}

/// Where the `=` behind a key is.
fn key_end(body: &[u8], first: usize, end: usize) -> Option<usize> {
    let mut at = first;
    while at < end {
        match body[at] {
            b'=' => return (at > first).then_some(at),
            b'"' | b'\'' => at = closing_string(body, at, Syntax::Toml).filter(|close| *close <= end)?,
            byte if byte.is_ascii_alphanumeric() || b"_-. \t".contains(&byte) => at += 1,
            _ => return None,
        }
    }
    None
}

/// Where the name of a table in its brackets ends.
fn table_end(body: &[u8], first: usize, end: usize) -> Option<usize> {
    let brackets = body[first..end].iter().take_while(|byte| **byte == b'[').count();
    let mut at = first + brackets;
    loop {
        match *body.get(at).filter(|_| at < end)? {
            b']' => break,
            b'"' | b'\'' => at = closing_string(body, at, Syntax::Toml).filter(|close| *close <= end)?,
            byte if byte.is_ascii_alphanumeric() || b"_-. \t".contains(&byte) => at += 1,
            _ => return None,
        }
    }
    let close = at + brackets;
    (brackets <= 2 && close <= end && body[at..close].iter().all(|byte| *byte == b']')).then_some(close)
}
