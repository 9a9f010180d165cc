//! Files of lines: `KEY=value`, with or without sections.
//!
//! Programs differ in what a value is: where quotes end, whether a backslash continues a line, what an indented line
//! means. A value ends here where the last of them would end it. What is no entry, section or comment is masked whole.

use super::span::{Span, TextLine, skip_blanks, trim_blanks};

/// Which program reads the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineDialect {
    /// Shells and libraries for `.env`.
    Dotenv,
    /// With sections; an indented line continues a value.
    Ini,
}

/// Bytes of the longest name that is shown: a longer one may be something else.
const LONGEST_NAME: usize = 64;

/// What a key in PEM begins with.
const KEY_BEGIN: &[u8] = b"-----BEGIN";

/// What the lines before mean for the next one.
#[derive(Default)]
struct Before {
    /// The name of the entry that an indented line continues.
    entry: Option<String>,
    /// The value that a line which is no entry is taken to continue.
    value: Option<usize>,
    /// Whether that value has grown by such a line.
    is_run: bool,
}

/// The values of the text.
pub(super) fn scan(body: &[u8], dialect: LineDialect) -> Vec<Span> {
    let (mut spans, mut before, mut at) = (Vec::<Span>::new(), Before::default(), 0);
    while at < body.len() {
        let line = TextLine::at(body, at);
        let first = line.first(body);
        at = line.next;
        if first == line.end {
            // Lines of white space may be a part of an indented value.
            before = Before { entry: before.entry.filter(|_| dialect == LineDialect::Ini), ..Before::default() };
            continue;
        }
        let is_indented = first > line.start;
        if dialect == LineDialect::Ini && is_indented && before.entry.is_some() {
            let end = continued(body, &mut spans, &mut before, first, line.end);
            at = after(body, end, at);
            continue;
        }
        if body[first] == b'#' || dialect == LineDialect::Ini && body[first] == b';' {
            spans.extend(comment(body, first, line.end));
            before.value = None;
            before.is_run = false;
            continue;
        }
        if dialect == LineDialect::Ini && is_section(&body[first..line.end]) {
            before = Before::default();
            continue;
        }
        let entry = entry(body, first, line.end, dialect);
        if let Some(LineEntry { name, value, .. }) = entry.filter(|entry| !(before.is_run && entry.is_unfinished(body)))
        {
            before = Before { entry: Some(name.clone()), value: None, is_run: false };
            if value < line.end {
                let end = value_end(body, value, line.end);
                before.value = Some(spans.len());
                spans.push(Span::bare(value..end, name));
                at = after(body, end, at);
            }
        } else {
            let end = continued(body, &mut spans, &mut before, first, value_end(body, first, line.end));
            before.is_run = true;
            at = after(body, end, at);
        }
    }
    spans
}

/// The beginning of the line after `end`, no earlier than `at`.
fn after(body: &[u8], end: usize, at: usize) -> usize {
    if end < at { at } else { TextLine::at(body, end).next }
}

/// Adds the text from `first` to `end` to the value before it, or as a value by itself.
fn continued(body: &[u8], spans: &mut Vec<Span>, before: &mut Before, first: usize, end: usize) -> usize {
    let end = end.min(body.len());
    if let Some(value) = before.value.and_then(|value| spans.get_mut(value)) {
        value.range.end = end;
    } else {
        before.value = Some(spans.len());
        let name = before.entry.clone().unwrap_or_else(|| "line".to_owned());
        spans.push(Span::bare(first..end, name));
    }
    end
}

/// The value in a comment: of an entry that was commented out, else all of it.
fn comment(body: &[u8], first: usize, end: usize) -> Option<Span> {
    let marks = body[first..end].iter().take_while(|byte| matches!(byte, b'#' | b';')).count();
    let text = skip_blanks(body, first + marks, end);
    if text == end {
        return None;
    }
    let was_entry = entry(body, text, end, LineDialect::Dotenv).filter(|entry| {
        let is_capital = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
        entry.name.as_bytes().iter().all(is_capital) && entry.value < end && body[entry.separator] == b'='
    });
    Some(match was_entry {
        Some(entry) => Span::bare(entry.value..end, entry.name),
        None => Span::bare(text..end, "comment"),
    })
}

/// `[name]`.
fn is_section(line: &[u8]) -> bool {
    let is_shown = |byte: &u8| byte.is_ascii_alphanumeric() || b"_. :/@\"-".contains(byte);
    let name = line.strip_prefix(b"[").and_then(|line| line.trim_ascii_end().strip_suffix(b"]"));
    name.is_some_and(|name| name.len() <= LONGEST_NAME && name.iter().all(is_shown))
}

struct LineEntry {
    name: String,
    /// Where the `=` or `:` is.
    separator: usize,
    /// Where the value begins, at the end of the line if it is empty.
    value: usize,
    end: usize,
}

impl LineEntry {
    /// Whether nothing but the padding of Base64 is behind the name.
    fn is_unfinished(&self, body: &[u8]) -> bool {
        body[self.separator..self.end].trim_ascii().iter().all(|byte| *byte == b'=')
    }

    /// Whether it may be the end of something in Base64, not a name.
    fn is_doubtful(&self, body: &[u8]) -> bool {
        let has = |is: fn(&u8) -> bool| self.name.as_bytes().iter().any(is);
        let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
        body.get(self.separator + 1) == Some(&b'=') || is_mixed && self.is_unfinished(body)
    }
}

/// The entry in a line: its name and where its value begins.
fn entry(body: &[u8], first: usize, end: usize, dialect: LineDialect) -> Option<LineEntry> {
    let line = &body[first..end];
    let exported = line.strip_prefix(b"export").filter(|rest| rest.first().is_some_and(|byte| b" \t".contains(byte)));
    let start = match exported {
        Some(_) if dialect == LineDialect::Dotenv => skip_blanks(body, first + b"export".len(), end),
        _ => first,
    };
    let separator = match dialect {
        LineDialect::Dotenv => {
            let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
            let name_end = start + body[start..end].iter().take_while(|byte| is_name(byte)).count();
            let separator = skip_blanks(body, name_end, end);
            let is_colon = body.get(separator) == Some(&b':') && matches!(body.get(separator + 1), Some(b' ' | b'\t'));
            (separator < end && (body[separator] == b'=' || is_colon)).then_some(separator)?
        }
        LineDialect::Ini => {
            // `//registry.example/:_authToken=…` and `@scope:registry=…` of npm have colons in their names.
            let is_npm = body[start..end].starts_with(b"//") || body[start] == b'@';
            let ends_name = |byte: &u8| *byte == b'=' || *byte == b':' && !is_npm;
            start + body[start..end].iter().position(ends_name)?
        }
    };
    let name = &body[start..trim_blanks(body, start, separator)];
    if !is_shown_name(name, dialect) {
        return None;
    }
    let value = skip_blanks(body, separator + 1, end);
    let entry = LineEntry { name: String::from_utf8_lossy(name).into_owned(), separator, value, end };
    (!entry.is_doubtful(body)).then_some(entry)
}

/// Whether a text before a separator is a name for sure.
fn is_shown_name(name: &[u8], dialect: LineDialect) -> bool {
    let Some(first) = name.first() else { return false };
    let extra: &[u8] = match dialect {
        LineDialect::Dotenv => b"_.-",
        LineDialect::Ini if name.starts_with(b"//") => b"_.-/:",
        LineDialect::Ini if *first == b'@' => b"_.-/:@",
        LineDialect::Ini => b"_.-/ []",
    };
    let is_start =
        first.is_ascii_alphabetic() || *first == b'_' || dialect == LineDialect::Ini && b"/@".contains(first);
    is_start
        && name.len() <= LONGEST_NAME
        // A sentinel with that name would be read as the beginning of a key: see `key_block`.
        && memchr::memmem::find(name, KEY_BEGIN).is_none()
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || extra.contains(byte))
}

/// Where the value that begins at `from`, in a line up to `line_end`, ends at the latest.
fn value_end(body: &[u8], from: usize, line_end: usize) -> usize {
    if let Some(end) = here_document(body, from, line_end) {
        return end;
    }
    let (mut at, mut is_blank) = (from, true);
    let mut is_never_closed = [false; 3];
    let end = loop {
        let Some(byte) = body.get(at).copied() else { break body.len() };
        let was_blank = std::mem::replace(&mut is_blank, matches!(byte, b' ' | b'\t'));
        match byte {
            b'\n' => break at,
            // The line goes on in the next one.
            b'\\' if body[at + 1..].starts_with(b"\n") => at += 2,
            b'\\' if body[at + 1..].starts_with(b"\r\n") => at += 3,
            b'#' if was_blank => break continued_lines(body, at),
            b'"' | b'\'' | b'`' => {
                let kind = [b'"', b'\'', b'`'].iter().position(|quote| *quote == byte).unwrap_or(0);
                let close = if is_never_closed[kind] { None } else { closing_quote(body, at) };
                is_never_closed[kind] |= close.is_none();
                match close {
                    Some(close) => at = close + 1,
                    None if at == from => break body.len(),
                    None => at += 1,
                }
            }
            _ => at += 1,
        }
    };
    let end = without_break(body, from, end);
    key_block(body, from, end).unwrap_or(end)
}

/// Where a comment that begins at `at` ends, with the lines that a backslash at its end adds.
fn continued_lines(body: &[u8], at: usize) -> usize {
    let mut line = TextLine::at(body, at);
    while body[..line.end].ends_with(b"\\") && line.next < body.len() {
        line = TextLine::at(body, line.next);
    }
    line.end
}

/// Without the line break at the end of `from..end`.
fn without_break(body: &[u8], from: usize, end: usize) -> usize {
    let text = &body[from..end];
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    from + text.strip_suffix(b"\r").unwrap_or(text).len()
}

/// The quote that closes the one at `open`, if a backslash before a quote keeps it open.
fn closing_quote(body: &[u8], open: usize) -> Option<usize> {
    let quote = body[open];
    let mut at = open + 1;
    loop {
        at += memchr::memchr2(quote, b'\\', body.get(at..)?)?;
        if body[at] == quote {
            return Some(at);
        }
        at += 2;
    }
}

/// Where a value with `<<WORD` at its beginning ends: with the line that is that word.
fn here_document(body: &[u8], from: usize, line_end: usize) -> Option<usize> {
    let word = body[from..line_end].strip_prefix(b"<<")?;
    let word = word.strip_prefix(b"-").unwrap_or(word).trim_ascii();
    let word: Vec<u8> = word.iter().copied().filter(|byte| !b"\"'".contains(byte)).collect();
    if word.is_empty() {
        return None;
    }
    let mut at = TextLine::at(body, line_end).next;
    while at < body.len() {
        let line = TextLine::at(body, at);
        if body[line.start..line.end].trim_ascii() == word {
            return Some(line.end);
        }
        at = line.next;
    }
    Some(without_break(body, from, body.len()))
}

/// Where a key in PEM that begins in `from..end` ends, if it is not within that.
fn key_block(body: &[u8], from: usize, end: usize) -> Option<usize> {
    let value = &body[from..end];
    let open = memchr::memmem::rfind(value, KEY_BEGIN)?;
    if memchr::memmem::find(&value[open..], b"-----END").is_some() {
        return None;
    }
    let close = memchr::memmem::find(&body[end..], b"-----END");
    Some(close.map_or_else(|| without_break(body, from, body.len()), |close| TextLine::at(body, end + close).end))
}
