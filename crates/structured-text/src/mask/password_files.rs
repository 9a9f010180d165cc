//! Files of user names and passwords: `.pgpass` and `.htpasswd` have lines with fields between colons, `.netrc` has words,
//! of which every second one is a value.

use std::ops::Range;

use super::sentinel::OPENER;
use super::span::{Slot, Span, TextLine, closing_quote, text_lines};

/// The values in the fields of one line; `None` where they are not what they should be.
type Fields = fn(&[u8], &[Range<usize>]) -> Option<Vec<Span>>;

/// The values of the text; a line with other fields is masked whole.
pub(super) fn colons(body: &[u8], of_line: Fields) -> Vec<Span> {
    text_lines(body, 0)
        .flat_map(|line| {
            let first = line.first(body);
            if first == line.end {
                return Vec::new();
            }
            if body[first] == b'#' {
                return Vec::from_iter(Span::comment(body, first, line.end));
            }
            let fields = fields(body, first, line.end);
            of_line(body, &fields).unwrap_or_else(|| vec![Span::bare(first..line.end, "line").at(Slot::Line)])
        })
        .collect()
}

/// `host:port:database:user:password`, where the user and the password are values. More colons are a part of the password:
/// a line of another form would tell of them.
pub(super) fn pgpass(body: &[u8], fields: &[Range<usize>]) -> Option<Vec<Span>> {
    let [host, port, database, user, password, ..] = fields else { return None };
    let rest = password.start..fields.last()?.end;
    let are_shown = [host, port, database].into_iter().all(|field| is_shown(&body[field.clone()]));
    are_shown.then(|| named([(user, "user", Slot::User), (&rest, "password", Slot::Value)]))
}

/// `user:hash`, and more fields in a digest file.
pub(super) fn htpasswd(body: &[u8], fields: &[Range<usize>]) -> Option<Vec<Span>> {
    let [user, hash, ..] = fields else { return None };
    let rest = hash.start..fields.last()?.end;
    is_shown(&body[user.clone()]).then(|| named([(&rest, "password", Slot::Value)]))
}

fn named<const N: usize>(fields: [(&Range<usize>, &str, Slot); N]) -> Vec<Span> {
    let fields = fields.into_iter().filter(|(field, ..)| !field.is_empty());
    fields.map(|(field, name, place)| Span::bare(field.clone(), name).at(place)).collect()
}

fn is_shown(field: &[u8]) -> bool {
    field.len() <= 64 && field.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.@*/-".contains(byte))
}

/// The fields of a line; a backslash escapes a colon, and the colon in a sentinel separates nothing.
fn fields(body: &[u8], first: usize, end: usize) -> Vec<Range<usize>> {
    let (mut fields, mut start, mut at) = (Vec::new(), first, first);
    while at < end {
        match body[at] {
            b'\\' => at += 1,
            b'<' if body[at..end].starts_with(OPENER.as_bytes()) => at += OPENER.len() - 1,
            b':' => {
                fields.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    fields.push(start..end);
    fields
}

/// The values of the text: all words but the names of the entries and of the machines. `None` where a quote is open.
pub(super) fn netrc(body: &[u8]) -> Option<Vec<Span>> {
    let (mut spans, mut at, mut place) = (Vec::new(), 0, Slot::Word);
    loop {
        let word = next_word(body, at)?;
        let text = &body[word.clone()];
        at = word.end;
        let is_machine = std::mem::replace(&mut place, Slot::Word) == Slot::Machine;
        match text {
            b"" => return Some(spans),
            b"default" => {}
            b"machine" => {
                let name = next_word(body, at)?;
                if is_host(&body[name.clone()]) {
                    at = name.end;
                } else {
                    place = Slot::Machine;
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
                // A macro ends at an empty line.
                let empty = text_lines(body, at).skip(1).find(|line| line.first(body) == line.end);
                let end = empty.map_or(body.len(), |line| line.start);
                let rest = body[at..end].iter().position(|byte| !byte.is_ascii_whitespace());
                let last = at + body[at..end].trim_ascii_end().len();
                spans.extend(rest.map(|rest| Span::bare(at + rest..last, "macdef").at(Slot::Macro)));
                at = end;
            }
            _ if text[0] == b'#' => {
                at = TextLine::at(body, word.start).end;
                spans.extend(Span::comment(body, word.start, at));
            }
            _ => {
                let place = if is_machine { Slot::Machine } else { Slot::Word };
                spans.push(Span::bare(word, "word").at(place));
            }
        }
    }
}

fn is_host(word: &[u8]) -> bool {
    let is_keyword = matches!(word, b"login" | b"account" | b"password" | b"macdef" | b"default" | b"machine");
    !is_keyword
        && !word.is_empty()
        // No name in DNS is longer: it has at most 255 bytes on the wire (RFC 1035).
        && word.len() <= 253
        && word.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-_:".contains(byte))
}

/// The next word, with the white space in its quotes if it begins with one; empty at the end of the text. `None` if
/// these quotes do not end.
fn next_word(body: &[u8], from: usize) -> Option<Range<usize>> {
    let white = |byte: &u8| byte.is_ascii_whitespace();
    let start = from + body[from..].iter().position(|byte| !white(byte)).unwrap_or(body.len() - from);
    let at = if body.get(start) == Some(&b'"') { closing_quote(body, start)? } else { start };
    Some(start..at + body[at..].iter().position(white).unwrap_or(body.len() - at))
}
