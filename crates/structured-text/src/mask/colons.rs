//! Files of lines with fields between colons: `.pgpass` and `.htpasswd`.

use std::ops::Range;

use super::sentinel::OPENER;
use super::span::{Place, Span, skip_blanks, text_lines};

/// The values in the fields of one line; `None` where they are not what they should be.
type Fields = fn(&[u8], &[Range<usize>]) -> Option<Vec<Span>>;

/// The values of the text; a line with other fields is masked whole.
pub(super) fn scan(body: &[u8], of_line: Fields) -> Vec<Span> {
    text_lines(body)
        .flat_map(|line| {
            let first = line.first(body);
            if first == line.end {
                return Vec::new();
            }
            if body[first] == b'#' {
                let text = skip_blanks(body, first + 1, line.end);
                return if text < line.end { vec![Span::comment(text..line.end)] } else { Vec::new() };
            }
            let fields = fields(body, first, line.end);
            of_line(body, &fields).unwrap_or_else(|| vec![Span::bare(first..line.end, "line").at(Place::Line)])
        })
        .collect()
}

/// `host:port:database:user:password`, where the user and the password are values. More colons are a part of the password:
/// a line of another form would tell of them.
pub(super) fn pgpass(body: &[u8], fields: &[Range<usize>]) -> Option<Vec<Span>> {
    let [host, port, database, user, password, ..] = fields else { return None };
    let rest = password.start..fields.last()?.end;
    let are_shown = [host, port, database].into_iter().all(|field| is_shown(&body[field.clone()]));
    are_shown.then(|| named([(user, "user", Place::User), (&rest, "password", Place::Value)]))
}

/// `user:hash`, and more fields in a digest file.
pub(super) fn htpasswd(body: &[u8], fields: &[Range<usize>]) -> Option<Vec<Span>> {
    let [user, hash, ..] = fields else { return None };
    let rest = hash.start..fields.last()?.end;
    is_shown(&body[user.clone()]).then(|| named([(&rest, "password", Place::Value)]))
}

fn named<const N: usize>(fields: [(&Range<usize>, &str, Place); N]) -> Vec<Span> {
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
