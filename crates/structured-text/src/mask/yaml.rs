//! The block style of YAML, line by line. What needs more to be understood (tags, anchors, `?` keys, tabs) is not masked.

use super::span::{
    Place, Span, Syntax, TextLine, YamlParent, closing_bracket, closing_string, skip_blanks, trim_blanks,
};

/// The values of the text; `None` where it is not understood.
pub(super) fn scan(text: &str) -> Option<Vec<Span>> {
    let mut reader = Reader { text, body: text.as_bytes(), spans: Vec::new(), name: "value".to_owned() };
    let mut at = 0;
    while at < text.len() {
        at = reader.line(at)?;
    }
    Some(reader.spans)
}

struct Reader<'t> {
    text: &'t str,
    body: &'t [u8],
    spans: Vec<Span>,
    /// The last key.
    name: String,
}

/// What a line begins with.
enum Begin {
    /// A key, and where its value begins.
    Key(String, usize),
    /// No key.
    Value,
}

impl Reader<'_> {
    /// Reads the line at `start` and what belongs to its value; where the next one begins.
    fn line(&mut self, start: usize) -> Option<usize> {
        let line = TextLine::at(self.body, start);
        let mut first = line.first(self.body);
        if first == line.end {
            return Some(line.next);
        }
        // A tab is no indentation, and programs differ in what else it is.
        if self.body[line.start..first].contains(&b'\t') || memchr::memchr(b'\r', &self.body[start..line.end]).is_some()
        {
            return None;
        }
        if self.body[first] == b'#' {
            self.comment(first, line.end);
            return Some(line.next);
        }
        if matches!(self.body[line.start..line.end].trim_ascii_end(), b"---" | b"...") {
            return Some(line.next);
        }
        let mut indent = first - line.start;
        let (is_nested, dash) = (indent > 0, first);
        while self.body[first] == b'-' && matches!(self.body.get(first + 1), None | Some(b' ' | b'\n' | b'\r')) {
            indent = first - line.start;
            first = skip_blanks(self.body, first + 1, line.end);
            if first == line.end {
                return Some(line.next);
            }
            if self.body[first] == b'#' {
                self.comment(first, line.end);
                return Some(line.next);
            }
        }
        match self.key(first, line.end)? {
            Begin::Key(name, value) => {
                self.name = name;
                let indent = first - line.start;
                if value == line.end {
                    return Some(line.next);
                }
                if self.body[value] == b'#' {
                    self.comment(value, line.end);
                    return Some(line.next);
                }
                self.value(value, line, YamlParent::Key, indent)
            }
            Begin::Value if first > dash => self.value(first, line, YamlParent::Dash, indent),
            // A value in a line for itself goes on in the lines that are no less indented than it is.
            Begin::Value => self.value(first, line, YamlParent::Line, is_nested.then(|| indent - 1)?),
        }
    }

    /// The key that begins at `first` and where its value does; `Some(Begin::Value)` where there is no key.
    fn key(&self, first: usize, end: usize) -> Option<Begin> {
        let body = self.body;
        if matches!(body[first], b'{' | b'[') {
            return Some(Begin::Value);
        }
        let is_quoted = matches!(body[first], b'"' | b'\'');
        let key_end = if is_quoted {
            let Some(close) = closing_string(body, first, Syntax::Yaml).filter(|close| *close <= end) else {
                return Some(Begin::Value);
            };
            let colon = skip_blanks(body, close, end);
            if body.get(colon) != Some(&b':') || colon >= end {
                return Some(Begin::Value);
            }
            if memchr::memchr(b'\\', &body[first..close]).is_some() {
                return None;
            }
            colon
        } else {
            let is_colon = |at: &usize| body[*at] == b':' && (at + 1 == end || matches!(body[at + 1], b' ' | b'\t'));
            let Some(colon) = (first..end).find(is_colon) else { return Some(Begin::Value) };
            // `# a: b` behind a value is a comment.
            if body[first..colon].windows(2).any(|pair| pair == b" #") {
                return Some(Begin::Value);
            }
            colon
        };
        let name = &self.text[first..trim_blanks(body, first, key_end)];
        let is_plain = |one: char| one.is_alphanumeric() || "_.-/$:@ *+".contains(one);
        let is_shown = |name: &str| !name.is_empty() && name.len() <= 128 && name.chars().all(is_plain);
        let inner = if is_quoted { &name[1..name.len() - 1] } else { name };
        if !is_shown(inner) || !is_quoted && name.starts_with(['*', '@', '-', ':']) && !name.starts_with(':') {
            return None;
        }
        Some(Begin::Key(inner.to_owned(), skip_blanks(body, key_end + 1, end)))
    }

    /// Masks the value at `from`, whose key is indented by `indent`; where the next line begins.
    fn value(&mut self, from: usize, line: TextLine, below: YamlParent, indent: usize) -> Option<usize> {
        let body = self.body;
        let place = Place::Yaml { below, indent, is_closed: false };
        let end = match body[from] {
            b'|' | b'>' => {
                let end = self.deeper_lines(line, indent);
                self.mask(from, end, place);
                return Some(TextLine::at(body, end).next);
            }
            b'"' | b'\'' => closing_string(body, from, Syntax::Yaml)?,
            b'{' | b'[' => {
                let close = closing_bracket(body, from, Syntax::Yaml)?;
                let is_empty = body[from + 1..close - 1].trim_ascii().is_empty();
                if is_empty && self.is_end_of_line(close) {
                    return self.after(close, indent);
                }
                close
            }
            b'&' | b'!' | b'?' | b'%' | b'@' | b'`' => return None,
            _ => {
                let end = self.deeper_lines(line, indent);
                self.mask(from, trim_blanks(body, from, end), place);
                return Some(TextLine::at(body, end).next);
            }
        };
        // After what is closed there is nothing but a comment.
        let last = TextLine::at(body, end);
        let rest = skip_blanks(body, end, last.end);
        if rest < last.end && body[rest] != b'#' {
            return None;
        }
        // In quotes where a comment follows, which would be a part of a sentinel without them.
        self.mask(from, end, Place::Yaml { below, indent, is_closed: rest < last.end });
        if rest < last.end {
            self.comment(rest, last.end);
        }
        self.after(end, indent)
    }

    /// The line after the one with `end`, which must not continue the value.
    fn after(&self, end: usize, indent: usize) -> Option<usize> {
        let last = TextLine::at(self.body, end);
        (self.deeper_lines(last, indent) == last.end).then_some(last.next)
    }

    fn is_end_of_line(&self, at: usize) -> bool {
        skip_blanks(self.body, at, TextLine::at(self.body, at).end) == TextLine::at(self.body, at).end
    }

    /// The end of `line` and of the lines after it that are indented by more than `indent`.
    fn deeper_lines(&self, line: TextLine, indent: usize) -> usize {
        let (mut end, mut at) = (line.end, line.next);
        while at < self.body.len() {
            let line = TextLine::at(self.body, at);
            let first = line.first(self.body);
            if first < line.end {
                if first - line.start <= indent {
                    break;
                }
                end = line.end;
            }
            at = line.next;
        }
        end
    }

    fn mask(&mut self, from: usize, end: usize, place: Place) {
        let quoted = matches!(place, Place::Yaml { is_closed: true, .. });
        self.spans.push(Span { quoted, ..Span::bare(from..end, self.name.clone()).at(place) });
    }

    fn comment(&mut self, mark: usize, end: usize) {
        let text = skip_blanks(self.body, mark + 1, end);
        if text < end {
            self.spans.push(Span::comment(text..end));
        }
    }
}
