//! `.netrc`: words, of which every second one is a value.

use std::ops::Range;

use super::span::{Place, Span, TextLine, skip_blanks};

/// The values of the text: all words but the names of the entries and of the machines. `None` where a quote is open.
pub(super) fn scan(body: &[u8]) -> Option<Vec<Span>> {
    let (mut spans, mut at, mut place) = (Vec::new(), 0, Place::Word);
    loop {
        let word = next_word(body, at)?;
        let text = &body[word.clone()];
        at = word.end;
        let is_machine = std::mem::replace(&mut place, Place::Word) == Place::Machine;
        match text {
            b"" => return Some(spans),
            b"default" => {}
            b"machine" => {
                let name = next_word(body, at)?;
                if is_host(&body[name.clone()]) {
                    at = name.end;
                } else {
                    place = Place::Machine;
                }
            }
            b"login" | b"account" | b"password" => {
                let value = next_word(body, at)?;
                at = value.end;
                if !value.is_empty() {
                    spans.push(Span::bare(value, String::from_utf8_lossy(text)));
                }
            }
            b"macdef" => {
                let end = end_of_macro(body, at);
                let rest = body[at..end].iter().position(|byte| !byte.is_ascii_whitespace());
                let last = at + body[at..end].trim_ascii_end().len();
                spans.extend(rest.map(|rest| Span::bare(at + rest..last, "macdef").at(Place::Macro)));
                at = end;
            }
            _ if text[0] == b'#' => {
                at = TextLine::at(body, word.start).end;
                let note = skip_blanks(body, word.start + 1, at);
                spans.extend((note < at).then(|| Span::comment(note..at)));
            }
            _ => {
                let place = if is_machine { Place::Machine } else { Place::Word };
                spans.push(Span::bare(word, "word").at(place));
            }
        }
    }
}

fn is_host(word: &[u8]) -> bool {
    let is_keyword = matches!(word, b"login" | b"account" | b"password" | b"macdef" | b"default" | b"machine");
    !is_keyword
        && !word.is_empty()
        && word.len() <= 253
        && word.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-_:".contains(byte))
}

/// The next word, with the white space in its quotes if it begins with one; empty at the end of the text. `None` if
/// these quotes do not end.
fn next_word(body: &[u8], from: usize) -> Option<Range<usize>> {
    let white = |byte: &u8| byte.is_ascii_whitespace();
    let start = from + body[from..].iter().position(|byte| !white(byte)).unwrap_or(body.len() - from);
    let mut at = start;
    if body.get(start) == Some(&b'"') {
        loop {
            at += 1;
            match *body.get(at)? {
                b'\\' => at += 1,
                b'"' => break,
                _ => {}
            }
        }
    }
    Some(start..at + body[at..].iter().position(white).unwrap_or(body.len() - at))
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
