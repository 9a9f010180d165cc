//! The source of a cell: one string, or a list of strings, where its lines are in the JSON, and how the file writes them.

use std::{fmt::Write as _, ops::Range};

use serde_json::value::RawValue;

/// A change of a notebook's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceEdit {
    /// In the text of the notebook.
    pub span: Range<usize>,
    /// The JSON that takes its place.
    pub json: String,
}

#[derive(Debug)]
pub(super) struct CellSource {
    text: String,
    /// The pieces of the text, in their order: lines, or the strings of a list.
    pieces: Vec<SourcePiece>,
    span: Range<usize>,
    is_list: bool,
    is_of_lines: bool,
}

/// A part of the source and its place in the JSON: a string of a list with its quotation marks, or a line of the only
/// string without them.
#[derive(Debug)]
struct SourcePiece {
    text: Range<usize>,
    json: Range<usize>,
}

/// The brackets of a source, with the white space inside, and what is between two of its strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListLayout {
    open: String,
    between: String,
    close: String,
}

/// What is between two strings of a list: a line break in version 3, where the first has none (as `nbformat` decides it).
pub(super) fn between(strings: &[String], is_old: bool) -> &'static str {
    let is_of_lines = is_old && !strings.first().is_some_and(|first| first.ends_with(['\n', '\r']));
    if is_of_lines { "\n" } else { "" }
}

impl CellSource {
    /// The source that is `raw`, a part of `text`; `None` where it is neither a string nor a list of strings.
    pub(super) fn parse(raw: &RawValue, text: &str, is_old: bool) -> Option<Self> {
        let (is_list, span) = (raw.get().starts_with('['), span_of(raw, text));
        let mut source = Self { text: String::new(), pieces: Vec::new(), is_list, is_of_lines: false, span };
        if is_list {
            let items: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
            let decoded: Vec<String> = serde_json::from_str(raw.get()).ok()?;
            let between = between(&decoded, is_old);
            source.is_of_lines = !between.is_empty();
            let last = items.len().saturating_sub(1);
            for (at, (item, decoded)) in items.into_iter().zip(decoded).enumerate() {
                source.push(&(decoded + if at == last { "" } else { between }), span_of(item, text));
            }
            return Some(source);
        }
        let body = raw.get().strip_prefix('"')?.strip_suffix('"')?;
        let mut start = source.span.start + 1;
        for line in lines(body) {
            let decoded: String = serde_json::from_str(&format!("\"{line}\"")).ok()?;
            source.push(&decoded, start..start + line.len());
            start += line.len();
        }
        Some(source)
    }

    fn push(&mut self, text: &str, json: Range<usize>) {
        let start = self.text.len();
        self.text.push_str(text);
        self.pieces.push(SourcePiece { text: start..self.text.len(), json });
    }

    /// Whether a string of a list ends within a line and another one follows.
    pub(super) fn is_glued(&self) -> bool {
        let pieces = self.pieces.iter().rev().skip(1).filter(|_| self.is_list);
        pieces.map(|piece| &self.text[piece.text.clone()]).any(|piece| !piece.ends_with('\n'))
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The lines whose JSON is at `place`, each with its number.
    pub(super) fn lines_in(&self, place: Range<usize>) -> impl Iterator<Item = (usize, &str)> {
        let here = self.pieces.iter().filter(move |piece| place.contains(&piece.json.start));
        here.map(|piece| {
            let number = self.text[..piece.text.start].matches('\n').count() + 1;
            (number, self.text[piece.text.clone()].trim_end_matches('\n'))
        })
    }

    /// The layout of this list; `None` where it has too few strings to show it.
    pub(super) fn list_layout(&self, text: &str) -> Option<ListLayout> {
        let (first, last) = (self.pieces.first().filter(|_| self.is_list)?, self.pieces.last()?);
        let open = text[self.span.start..first.json.start].to_owned();
        let between = match self.pieces.get(1) {
            Some(second) => text[first.json.end..second.json.start].to_owned(),
            None => format!(",{}", open.strip_prefix('[').filter(|blanks| blanks.contains('\n'))?),
        };
        Some(ListLayout { open, between, close: text[last.json.end..self.span.end].to_owned() })
    }

    /// The change that makes it `new`. Whole lines that stay at its start and its end keep their JSON.
    pub(super) fn replaced(
        &self,
        text: &str,
        new: &str,
        style: JsonStyle,
        others: impl FnOnce() -> Option<ListLayout>,
    ) -> SourceEdit {
        let (first, last) = self.changed(new);
        let (before, after) = (&self.pieces[..first], &self.pieces[last..]);
        let kept = before.last().map_or(0, |piece| piece.text.end);
        let middle = &new[kept..new.len() - after.first().map_or(0, |piece| self.text.len() - piece.text.start)];
        let layout = match (self.pieces.as_slice(), self.is_list) {
            (_, false) => ListLayout::new("\"", "", "\""),
            ([], true) => others().unwrap_or_else(|| ListLayout::guessed(text, self.span.start)),
            ([first, ..], true) => ListLayout {
                between: self
                    .list_layout(text)
                    .or_else(others)
                    .map_or_else(|| ", ".to_owned(), |layout| layout.between),
                open: text[self.span.start..first.json.start].to_owned(),
                close: text[self.pieces[self.pieces.len() - 1].json.end..self.span.end].to_owned(),
            },
        };
        let quoted = |line| if self.is_list { format!("\"{}\"", style.escaped(line)) } else { style.escaped(line) };
        let items: Vec<String> = if self.is_of_lines {
            // After the last break comes a line, be it an empty one, but where other strings follow.
            let lines = middle.strip_suffix('\n').filter(|_| !after.is_empty()).unwrap_or(middle);
            let lines = (!middle.is_empty() || after.is_empty()).then(|| lines.split('\n'));
            lines.into_iter().flatten().map(quoted).collect()
        } else {
            middle.split_inclusive('\n').map(quoted).collect()
        };
        if self.is_list && new.is_empty() && before.is_empty() && after.is_empty() {
            return SourceEdit { span: self.span.clone(), json: "[]".to_owned() };
        }
        let (at_start, at_end) = ((Some(layout.open), self.span.start), (Some(layout.close), self.span.end));
        let (open, start) = before.last().map_or(at_start, |piece| (None, piece.json.end));
        let (close, end) = after.first().map_or(at_end, |piece| (None, piece.json.start));
        // The strings that stay are at the ends, and not a part of the change: only the commas next to them are.
        let mut parts = vec![String::new(); before.len().min(1)];
        parts.extend(items);
        parts.extend(after.first().map(|_| String::new()));
        let parts = parts.join(&layout.between);
        SourceEdit { span: start..end, json: [open.unwrap_or_default(), parts, close.unwrap_or_default()].concat() }
    }

    /// The pieces that do not stay, when the source becomes `new`. Those before and after are whole lines.
    fn changed(&self, new: &str) -> (usize, usize) {
        let piece = |index: usize| &self.text[self.pieces[index].text.clone()];
        let mut first = 0;
        let mut rest = new;
        while first < self.pieces.len() && piece(first).ends_with('\n') {
            let Some(after) = rest.strip_prefix(piece(first)) else { break };
            (rest, first) = (after, first + 1);
        }
        let mut last = self.pieces.len();
        while last > first {
            let Some(before) = rest.strip_suffix(piece(last - 1)) else { break };
            let begins_line = last - 1 == 0 || piece(last - 2).ends_with('\n');
            if !begins_line || !(before.is_empty() || before.ends_with('\n')) {
                break;
            }
            (rest, last) = (before, last - 1);
        }
        (first, last)
    }
}

impl ListLayout {
    fn new(open: &str, between: &str, close: &str) -> Self {
        Self { open: open.to_owned(), between: between.to_owned(), close: close.to_owned() }
    }

    /// For an empty list in a notebook whose other lists do not show theirs; `at` is where the list is.
    fn guessed(text: &str, at: usize) -> Self {
        let Some(line) = text[..at].rfind('\n') else { return Self::new("[", ", ", "]") };
        let end = if text[..line].ends_with('\r') { "\r\n" } else { "\n" };
        let line = &text[line + 1..at];
        let close = format!("{end}{}", &line[..line.len() - line.trim_start().len()]);
        // Jupyter indents each level by one space.
        Self::new(&format!("[{close} "), &format!(",{close} "), &format!("{close}]"))
    }
}

/// How a file spells characters that may be escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonStyle {
    /// As they are, in UTF-8.
    Plain,
    /// All beyond ASCII as `\u00e9`, as Python's `json` does by default.
    Ascii,
    /// The same as `\u00E9`.
    UpperAscii,
}

impl JsonStyle {
    /// The style of a file. By default characters are written unescaped, as Jupyter does.
    pub(super) fn of(text: &str) -> Self {
        if !text.is_ascii() {
            return Self::Plain;
        }
        let (mut at, mut style) = (0, Self::Plain);
        while let Some(found) = memchr::memchr(b'\\', &text.as_bytes()[at..]) {
            let escape = at + found + 1;
            // A backslash that is escaped begins no escape.
            at = (escape + 1).min(text.len());
            let digits = text[escape..].strip_prefix('u').and_then(|rest| rest.get(..4)).unwrap_or_default();
            if u32::from_str_radix(digits, 16).is_ok_and(|code| code >= 0x80) {
                style = Self::Ascii;
                if digits.bytes().any(|digit| digit.is_ascii_alphabetic()) {
                    let is_upper = digits.bytes().any(|digit| digit.is_ascii_uppercase());
                    return if is_upper { Self::UpperAscii } else { Self::Ascii };
                }
            }
        }
        style
    }

    pub(super) fn escaped(self, text: &str) -> String {
        let mut json = String::with_capacity(text.len() + 16);
        for character in text.chars() {
            if let Some(at) = "\"\\\n\r\t\u{8}\u{c}".find(character) {
                json.extend(['\\', char::from(b"\"\\nrtbf"[at])]);
            } else if character >= ' ' && (character.is_ascii() || self == Self::Plain) {
                json.push(character);
            } else {
                character.encode_utf16(&mut [0; 2]).iter().for_each(|unit| self.push_unit(&mut json, *unit));
            }
        }
        json
    }

    fn push_unit(self, json: &mut String, unit: u16) {
        // Writing to a string cannot fail.
        let _ = if self == Self::UpperAscii { write!(json, "\\u{unit:04X}") } else { write!(json, "\\u{unit:04x}") };
    }
}

fn span_of(raw: &RawValue, text: &str) -> Range<usize> {
    // A borrowed `RawValue` is a slice of the text itself.
    let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
    start..start + raw.get().len()
}

fn lines(mut body: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let mut at = 0;
        while let Some(found) = memchr::memchr(b'\\', &body.as_bytes()[at..]) {
            let escape = &body[at + found..];
            let is_short = escape.starts_with("\\n");
            let is_long = escape.get(..6).is_some_and(|escape| escape.eq_ignore_ascii_case("\\u000a"));
            at += found + if is_long { 6 } else { 2 };
            if is_short || is_long {
                let (line, rest) = body.split_at(at);
                body = rest;
                return Some(line);
            }
        }
        Some(std::mem::take(&mut body)).filter(|line| !line.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn style_is_that_of_the_escapes_in_a_file() {
        for (text, style) in [
            ("plain", JsonStyle::Plain),
            ("é and \\u00e9", JsonStyle::Plain),
            ("a \\u001b", JsonStyle::Plain),
            ("a \\\\u00e9", JsonStyle::Plain),
            ("a \\u0085", JsonStyle::Ascii),
            ("a \\u0085 \\u00E9", JsonStyle::UpperAscii),
            ("a \\u00e9", JsonStyle::Ascii),
            ("\\", JsonStyle::Plain),
            ("\\u00", JsonStyle::Plain),
        ] {
            assert_eq!(JsonStyle::of(text), style, "{text}");
        }
    }

    #[test]
    fn characters_are_escaped_as_json_demands_and_the_style_wants() {
        let text = "\"\\\t\u{1b}é😀\u{2028}/";
        assert_eq!(JsonStyle::Plain.escaped(text), "\\\"\\\\\\t\\u001bé😀\u{2028}/");
        assert_eq!(JsonStyle::Ascii.escaped(text), "\\\"\\\\\\t\\u001b\\u00e9\\ud83d\\ude00\\u2028/");
        assert!(JsonStyle::UpperAscii.escaped(text).contains("\\u001B\\u00E9\\uD83D"));
    }

    proptest! {
        #[test]
        fn escaped_text_reads_back(text in any::<String>()) {
            for style in [JsonStyle::Plain, JsonStyle::Ascii, JsonStyle::UpperAscii] {
                let json = format!("\"{}\"", style.escaped(&text));
                prop_assert_eq!(&serde_json::from_str::<String>(&json).unwrap(), &text);
                prop_assert!(style == JsonStyle::Plain || json.is_ascii());
            }
        }
    }
}
