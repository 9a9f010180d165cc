//! `.netrc`: words, of which every second one is a value.

use std::ops::Range;

use super::span::{Span, TextLine};

/// The values of the text: all words but the names of the entries and of the machines.
pub(super) fn scan(body: &[u8]) -> Vec<Span> {
    let (mut spans, mut at) = (Vec::new(), 0);
    while let Some(word) = next_word(body, at) {
        at = word.end;
        let text = &body[word.clone()];
        match text {
            b"default" => {}
            b"machine" => {
                if let Some(name) = next_word(body, at).filter(|name| is_host(&body[name.clone()])) {
                    at = name.end;
                }
            }
            b"login" | b"account" | b"password" => {
                let Some(value) = next_word(body, at) else { break };
                at = value.end;
                spans.push(Span::bare(value, String::from_utf8_lossy(text)));
            }
            b"macdef" => {
                let end = end_of_macro(body, at);
                let rest = body[at..end].iter().position(|byte| !byte.is_ascii_whitespace());
                let last = at + body[at..end].trim_ascii_end().len();
                spans.extend(rest.map(|rest| Span::bare(at + rest..last, "macdef")));
                at = end;
            }
            _ if text[0] == b'#' => {
                at = TextLine::at(body, word.start).end;
                spans.push(Span::bare(word.start..at, "comment"));
            }
            _ => spans.push(Span::bare(word, "word")),
        }
    }
    spans
}

fn is_host(word: &[u8]) -> bool {
    let is_keyword = matches!(word, b"login" | b"account" | b"password" | b"macdef" | b"default" | b"machine");
    !is_keyword && word.len() <= 253 && word.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-_:".contains(byte))
}

/// The next word, quoted or not. A quote that is not closed in its line takes the rest of the text.
fn next_word(body: &[u8], from: usize) -> Option<Range<usize>> {
    let start = from + body[from..].iter().position(|byte| !byte.is_ascii_whitespace())?;
    let (mut at, mut quoted) = (start, false);
    while let Some(byte) = body.get(at) {
        match byte {
            b'\\' if at + 1 < body.len() => at += 1,
            b'"' => quoted = !quoted,
            byte if !quoted && byte.is_ascii_whitespace() => break,
            _ => {}
        }
        at += 1;
    }
    let end = at.min(body.len());
    Some(start..start + body[start..end].trim_ascii_end().len())
}

/// A macro ends at an empty line.
fn end_of_macro(body: &[u8], from: usize) -> usize {
    let mut line = TextLine::at(body, from);
    while line.next < body.len() {
        line = TextLine::at(body, line.next);
        if line.first(body) == line.end {
            return line.start;
        }
    }
    body.len()
}
