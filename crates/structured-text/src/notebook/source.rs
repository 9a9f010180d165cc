//! The source of a cell: one string, or a list of strings, and where its lines are in the JSON.

use std::ops::Range;

use serde_json::value::RawValue;

use super::json_string::JsonStyle;

/// A change of a notebook's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceEdit {
    /// In the text of the notebook.
    pub span: Range<usize>,
    /// What takes its place.
    pub json: String,
}

/// The source of a cell.
#[derive(Debug)]
pub(super) struct CellSource {
    text: String,
    /// The pieces of the text, in their order: lines, or the strings of a list.
    pieces: Vec<SourcePiece>,
    /// The value in the JSON.
    span: Range<usize>,
    is_list: bool,
}

/// A part of the source and its place in the JSON: a string of a list with its quotation marks, or a line of the only
/// string without them.
#[derive(Debug)]
struct SourcePiece {
    /// In the source.
    text: Range<usize>,
    /// In the JSON.
    json: Range<usize>,
}

/// The white space of a list of strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListLayout {
    /// Behind the bracket that opens it.
    open: String,
    /// Between two strings, with the comma.
    between: String,
    /// Before the bracket that closes it.
    close: String,
}

impl CellSource {
    /// The source that is `raw`, a part of `text`; `None` where it is neither a string nor a list of strings.
    pub(super) fn parse(raw: &RawValue, text: &str) -> Option<Self> {
        let span = span_of(raw, text);
        let mut source = Self { text: String::new(), pieces: Vec::new(), is_list: raw.get().starts_with('['), span };
        if source.is_list {
            for item in serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok()? {
                source.push(&serde_json::from_str::<String>(item.get()).ok()?, span_of(item, text));
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

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The lines whose JSON begins at `place`.
    pub(super) fn lines_in(&self, place: Range<usize>) -> impl Iterator<Item = &str> {
        let here = self.pieces.iter().filter(move |piece| place.contains(&piece.json.start));
        here.map(|piece| self.text[piece.text.clone()].trim_end_matches('\n'))
    }

    /// The white space of this list; `None` where it has too few strings to show it.
    pub(super) fn list_layout(&self, text: &str) -> Option<ListLayout> {
        let (first, last) = (self.pieces.first().filter(|_| self.is_list)?, self.pieces.last()?);
        let open = text[self.span.start + 1..first.json.start].to_owned();
        let between = match self.pieces.get(1) {
            Some(second) => text[first.json.end..second.json.start].to_owned(),
            None if open.contains('\n') => format!(",{open}"),
            None => return None,
        };
        Some(ListLayout { open, between, close: text[last.json.end..self.span.end - 1].to_owned() })
    }

    /// What makes it `new`. Whole lines that stay at its start and its end keep their JSON.
    pub(super) fn replaced(
        &self,
        text: &str,
        new: &str,
        style: JsonStyle,
        others: impl FnOnce() -> Option<ListLayout>,
    ) -> SourceEdit {
        let (first, last) = self.changed(new);
        let before = self.pieces[..first].last().map_or(0, |piece| piece.text.end);
        let after = self.pieces.get(last).map_or(self.text.len(), |piece| piece.text.start);
        let middle = &new[before..new.len() - (self.text.len() - after)];
        if !self.is_list {
            let start = self.pieces[..first].last().map_or(self.span.start + 1, |piece| piece.json.end);
            let end = self.pieces.get(last).map_or(self.span.end - 1, |piece| piece.json.start);
            return SourceEdit { span: start..end, json: style.escaped(middle) };
        }
        let items: Vec<String> =
            middle.split_inclusive('\n').map(|line| format!("\"{}\"", style.escaped(line))).collect();
        let is_all = first == 0 && last == self.pieces.len();
        if is_all && items.is_empty() {
            return SourceEdit { span: self.span.clone(), json: "[]".to_owned() };
        }
        let layout = self.list_layout(text).or_else(others);
        let ListLayout { open, between, close } = layout.unwrap_or_else(|| match self.pieces.len() {
            0 => ListLayout::guessed(text, self.span.start),
            _ => ListLayout { open: String::new(), between: ", ".to_owned(), close: String::new() },
        });
        let items = items.join(&between);
        if self.pieces.is_empty() {
            return SourceEdit { span: self.span.clone(), json: format!("[{open}{items}{close}]") };
        }
        // With the comma before what is put in or taken out, where something stays before it; else with the one behind.
        let (start, lead) = match first.checked_sub(1) {
            Some(kept) => (self.pieces[kept].json.end, between.as_str()),
            None => (self.pieces[0].json.start, ""),
        };
        let end = self.pieces.get(last).map_or(self.pieces[self.pieces.len() - 1].json.end, |piece| piece.json.start);
        let tail = if last < self.pieces.len() { between.as_str() } else { "" };
        let json = match (items.is_empty(), lead.is_empty()) {
            (false, _) => format!("{lead}{items}{tail}"),
            (true, false) if tail.is_empty() => String::new(),
            (true, false) => tail.to_owned(),
            (true, true) => String::new(),
        };
        SourceEdit { span: start..end, json }
    }

    /// The pieces that do not stay, when the source becomes `new`. Those before and behind are whole lines.
    fn changed(&self, new: &str) -> (usize, usize) {
        let piece = |index: usize| &self.text[self.pieces[index].text.clone()];
        let mut first = 0;
        let mut rest = new;
        while first < self.pieces.len() && piece(first).ends_with('\n') {
            let Some(behind) = rest.strip_prefix(piece(first)) else { break };
            (rest, first) = (behind, first + 1);
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
    /// For an empty list in a notebook whose other lists do not show theirs; `at` is where the list is.
    pub(super) fn guessed(text: &str, at: usize) -> Self {
        let Some(line) = text[..at].rfind('\n') else {
            return Self { open: String::new(), between: ", ".to_owned(), close: String::new() };
        };
        let end = if text[..line].ends_with('\r') { "\r\n" } else { "\n" };
        let line = &text[line + 1..at];
        let indentation = &line[..line.len() - line.trim_start().len()];
        // Jupyter indents each level by one space.
        Self {
            open: format!("{end}{indentation} "),
            between: format!(",{end}{indentation} "),
            close: format!("{end}{indentation}"),
        }
    }
}

/// Where `raw` is in the text that it was parsed from.
fn span_of(raw: &RawValue, text: &str) -> Range<usize> {
    let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
    start..start + raw.get().len()
}

/// The lines of a string's body, each with the escape that ends it.
fn lines(body: &str) -> impl Iterator<Item = &str> {
    let mut rest = body;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut at = 0;
        while let Some(found) = memchr::memchr(b'\\', &rest.as_bytes()[at..]) {
            let escape = &rest[at + found..];
            let is_end = escape.starts_with("\\n")
                || escape.get(..6).is_some_and(|escape| escape.eq_ignore_ascii_case("\\u000a"));
            at += found
                + if escape.starts_with("\\n") {
                    2
                } else if is_end {
                    6
                } else {
                    2
                };
            if is_end {
                let (line, behind) = rest.split_at(at);
                rest = behind;
                return Some(line);
            }
        }
        Some(std::mem::take(&mut rest))
    })
}
