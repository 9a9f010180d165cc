//! Files of lines: `KEY=value`, with or without sections.
//!
//! Programs differ in what a value is: where quotes end, what an indented line means. A value that begins with a quote
//! ends here where the last of them would end it; any other ends with its line, whatever quotes and backslashes it holds,
//! so that they cannot be told from the lines after it. What is no entry, section or comment is masked whole.

use super::span::{Slot, Span, TextLine, closing_quote, skip_blanks, text_lines, trim_blanks};

/// Which program reads the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineDialect {
    /// Shells and libraries for `.env`.
    Dotenv,
    /// With sections; an indented line continues a value.
    Ini,
}

/// Bytes of the longest name that is shown: a longer one may be something else.
const MAX_NAME: usize = 64;

/// The first line of a key in PEM.
const KEY_BEGIN: &[u8] = b"-----BEGIN";
/// And its last line.
const KEY_END: &[u8] = b"-----END";

/// The meaning of the lines before for the next one.
#[derive(Default)]
struct Before {
    /// The name of the entry that an indented line continues.
    entry: Option<String>,
    /// The value that a line which is no entry continues.
    value: Option<usize>,
    /// Whether that value is of lines that are no entries.
    is_run: bool,
}

/// The values of the text; `None` where one is open at the end of the text: what comes there next would be a part of it.
pub(super) fn scan(body: &[u8], dialect: LineDialect) -> Option<Vec<Span>> {
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
        if dialect == LineDialect::Ini && is_indented && (before.entry.is_some() || before.is_run) {
            let name = before.entry.clone().unwrap_or_default();
            continued(&mut spans, &mut before, Span::bare(first..line.end, name).at(Slot::Continuation));
            continue;
        }
        if body[first] == b'#' || dialect == LineDialect::Ini && body[first] == b';' {
            spans.extend(comment(body, first, line.end));
            before = Before { entry: before.entry, ..Before::default() };
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
                let end = value_end(body, value, line.end)?;
                before.value = Some(spans.len());
                spans.push(Span::bare(value..end, name));
                at = after(body, end, at);
            }
        } else {
            let end = key_end(body, first, line.end)?;
            before = Before { entry: None, value: before.value.filter(|_| before.is_run), is_run: true };
            continued(&mut spans, &mut before, Span::bare(first..end, "line").at(Slot::Line));
            at = after(body, end, at);
        }
    }
    Some(spans)
}

/// The beginning of the line after `end`, no earlier than `at`.
fn after(body: &[u8], end: usize, at: usize) -> usize {
    if end < at { at } else { TextLine::at(body, end).next }
}

/// Adds the lines to the value before them, or as a value by themselves.
fn continued(spans: &mut Vec<Span>, before: &mut Before, lines: Span) {
    if let Some(value) = before.value.and_then(|value| spans.get_mut(value)) {
        value.range.end = lines.range.end;
    } else {
        before.value = Some(spans.len());
        spans.push(lines);
    }
}

/// The value in a comment: of an entry that was commented out, else all of it.
fn comment(body: &[u8], first: usize, end: usize) -> Option<Span> {
    let marks = body[first..end].iter().take_while(|byte| matches!(byte, b'#' | b';')).count();
    let whole = Span::comment(body, first + marks - 1, end)?;
    let text = whole.range.start;
    let was_entry = entry(body, text, end, LineDialect::Dotenv).filter(|entry| {
        let is_capital = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
        entry.name.as_bytes().iter().all(is_capital) && entry.value < end && body[entry.separator] == b'='
    });
    Some(was_entry.map_or(whole, |entry| Span::bare(entry.value..end, entry.name).at(Slot::OldEntry)))
}

/// Whether the line is `[name]`, with a name that is shown.
fn is_section(line: &[u8]) -> bool {
    let is_shown = |byte: &u8| byte.is_ascii_alphanumeric() || b"_. :/@\"-".contains(byte);
    let name = line.strip_prefix(b"[").and_then(|line| line.trim_ascii_end().strip_suffix(b"]"));
    name.is_some_and(|name| name.len() <= MAX_NAME && name.iter().all(is_shown))
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
    /// Whether nothing but the padding of Base64 follows the name.
    fn is_unfinished(&self, body: &[u8]) -> bool {
        is_padding(&body[self.separator..self.end])
    }

    /// Whether it may be the end of something in Base64, not a name. Whatever the separator: after another one, its value
    /// would make it so.
    fn is_doubtful(&self, body: &[u8]) -> bool {
        let has = |is: fn(&u8) -> bool| self.name.as_bytes().iter().any(is);
        let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
        let is_empty = self.value == self.end;
        if is_empty { is_mixed && self.is_unfinished(body) } else { is_padding(&body[self.value..self.end]) }
    }
}

fn is_padding(text: &[u8]) -> bool {
    text.iter().all(|byte| b"= \t".contains(byte))
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
        && name.len() <= MAX_NAME
        // A sentinel with that name would be read as the beginning of a key: see `key_end`.
        && memchr::memmem::find(name, KEY_BEGIN).is_none()
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || extra.contains(byte))
}

/// Where the value that begins at `from`, in a line up to `line_end`, ends: in its line, or where its quote, its here
/// document or its key in PEM does. `None` if that has no end.
fn value_end(body: &[u8], from: usize, line_end: usize) -> Option<usize> {
    let value = &body[from..line_end];
    if let Some(word) = here_word(value) {
        let mut lines = text_lines(body, TextLine::at(body, line_end).next);
        return lines.find(|line| body[line.start..line.end].trim_ascii() == word).map(|line| line.end);
    }
    // `$'…'` and `$"…"` are strings of Bash.
    let open = from + usize::from(value.starts_with(b"$"));
    let end = match body[open..line_end].first() {
        Some(b'"' | b'\'' | b'`') => TextLine::at(body, closing_quote(body, open)?).end,
        _ => line_end,
    };
    key_end(body, from, end)
}

/// The word that ends the here document of a value with `<<WORD`.
fn here_word(value: &[u8]) -> Option<Vec<u8>> {
    let word = value.strip_prefix(b"<<")?;
    let word = word.strip_prefix(b"-").unwrap_or(word).trim_ascii();
    let word: Vec<u8> = word.iter().copied().filter(|byte| !b"\"'".contains(byte)).collect();
    (!word.is_empty()).then_some(word)
}

/// `end`, or where a key in PEM that begins in `from..end` ends; `None` if it does not.
fn key_end(body: &[u8], from: usize, end: usize) -> Option<usize> {
    let value = &body[from..end];
    let open = memchr::memmem::rfind(value, KEY_BEGIN);
    if open.is_none_or(|open| memchr::memmem::find(&value[open..], KEY_END).is_some()) {
        return Some(end);
    }
    Some(TextLine::at(body, end + memchr::memmem::find(&body[end..], KEY_END)?).end)
}
