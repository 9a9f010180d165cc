//! YAML: the first error of a stream of documents and the keys that occur twice in a mapping, by the events of a parser
//! that builds nothing; and the values of a file that is masked, by its lines.
//!
//! An alias to a thousand others is one event ("billion laughs" cost nothing). The parser's own stack is bounded: what has
//! more than 255 levels of brackets is skipped, and so is what takes longer than `MAX_TIME`.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};

use crate::mask::span::{
    Slot, Span, Syntax, TextLine, YamlParent, closing_bracket, closing_string, skip_blanks, text_lines, trim_blanks,
};
use crate::quoted;
use crate::syntax_error::{Findings, SyntaxError, line_of};

/// Bytes of the largest text that is checked: a bracket that is not closed holds all tokens after it in memory.
const MAX_BYTES: usize = 1 << 20;
/// Time for one text: a megabyte of usual text takes a tenth of it.
const MAX_TIME: Duration = Duration::from_millis(250);
/// Events between two looks at the clock.
const CHECK_EVERY: u64 = 256;
/// Levels of nesting that are followed.
const MAX_LEVELS: usize = 1_000;
/// Duplicate keys that are reported of one text.
const MAX_DUPLICATES: usize = 100;

/// The first error of a text in YAML, and its duplicate keys.
pub fn check(text: &str) -> Findings {
    if text.len() > MAX_BYTES {
        return Findings::default();
    }
    let started = Instant::now();
    let mut keys = MappingKeys { text, open: Vec::new(), warnings: Vec::new() };
    let mut parser = Parser::new_from_str(text);
    let mut events = 0_u64;
    while let Some(event) = parser.next_event() {
        events += 1;
        match event {
            Ok((event, span)) => keys.take(&event, span.start.index()),
            Err(error) => {
                let error = (!is_tolerated(&error)).then(|| {
                    let open = keys.open_bracket().map_or_else(String::new, |(bracket, at)| {
                        format!("; the `{bracket}` of line {} is not closed yet", line_of(text, at))
                    });
                    SyntaxError::new(byte_at(text, error.marker().index()), message_of(&error) + &open)
                });
                return Findings { error, warnings: keys.warnings };
            }
        }
        // Short texts are checked on a busy machine, too.
        if keys.open.len() > MAX_LEVELS || (events.is_multiple_of(CHECK_EVERY) && started.elapsed() > MAX_TIME) {
            return Findings::default();
        }
    }
    Findings { error: None, warnings: keys.warnings }
}

/// Errors of the parser because of its own limit, or more strictly than libyaml does, which most programs read YAML
/// with: `[a, -, b]`, and a directive after a document without an end.
const TOLERATED: [&str; 3] = ["recursion limit", "cannot start with '-' followed by", "missing explicit document end"];

fn is_tolerated(error: &ScanError) -> bool {
    TOLERATED.iter().any(|words| error.info().contains(words))
}

/// The parser's error as a sentence that names the next step where it can.
fn message_of(error: &ScanError) -> String {
    match error.info() {
        "simple key expect ':'" | "simple key expected" => "expected `:` after the key".to_owned(),
        "mapping values are not allowed in this context" => {
            "`:` is not allowed here: quote the value, or indent the key as its siblings are".to_owned()
        }
        info => {
            let message = info.strip_prefix("while ").and_then(|rest| rest.split_once(", "));
            message.map_or(info, |(_, message)| message).to_owned()
        }
    }
}

/// The byte of a character.
fn byte_at(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(at, _)| at)
}

/// The keys of the mappings that are open.
struct MappingKeys<'t> {
    text: &'t str,
    open: Vec<Collection>,
    /// Keys that their mapping has already.
    warnings: Vec<SyntaxError>,
}

/// A sequence or mapping that is open.
struct Collection {
    /// The character that it begins at.
    at: usize,
    /// Of a mapping, its keys so far, and whether they are plain.
    keys: Option<HashSet<(String, bool)>>,
    /// Whether the next node is a key.
    is_key_next: bool,
}

impl MappingKeys<'_> {
    fn take(&mut self, event: &Event<'_>, at: usize) {
        match event {
            Event::Scalar(value, style, ..) => {
                let is_plain = *style == ScalarStyle::Plain;
                if let Some(keys) = self.open.last_mut().filter(|last| last.is_key_next).and_then(|last| last.keys.as_mut())
                    // Several merges into one mapping are usual.
                    && value != "<<"
                    && !keys.insert((value.to_string(), is_plain))
                    && self.warnings.len() < MAX_DUPLICATES
                {
                    let message = format!("duplicate key {}", quoted(value));
                    self.warnings.push(SyntaxError::new(byte_at(self.text, at), message));
                }
                self.node();
            }
            Event::Alias(_) => self.node(),
            Event::SequenceStart(..) => self.open.push(Collection { at, keys: None, is_key_next: false }),
            Event::MappingStart(..) => self.open.push(Collection { at, keys: Some(HashSet::new()), is_key_next: true }),
            Event::SequenceEnd | Event::MappingEnd => {
                self.open.pop();
                self.node();
            }
            _ => {}
        }
    }

    /// A node of the innermost collection is complete.
    fn node(&mut self) {
        if let Some(last) = self.open.last_mut().filter(|last| last.keys.is_some()) {
            last.is_key_next = !last.is_key_next;
        }
    }

    /// The innermost collection, if it has brackets: its opening bracket, and the byte of that.
    fn open_bracket(&self) -> Option<(char, usize)> {
        let at = byte_at(self.text, self.open.last()?.at);
        let bracket = self.text[at..].chars().next().filter(|sign| matches!(sign, '[' | '{'))?;
        Some((bracket, at))
    }
}

/// The values of a text in block style for its mask, line by line. `None` where it is not understood: what needs more than
/// its lines (tags, anchors, `?` keys, tabs) is not masked.
pub(crate) fn values(text: &str) -> Option<Vec<Span>> {
    let mut reader = BlockReader { text, body: text.as_bytes(), spans: Vec::new(), name: "value".to_owned() };
    let mut at = 0;
    while at < text.len() {
        at = reader.line(at)?;
    }
    Some(reader.spans)
}

struct BlockReader<'t> {
    text: &'t str,
    body: &'t [u8],
    spans: Vec<Span>,
    /// The last key, after which values are named.
    name: String,
}

impl BlockReader<'_> {
    /// Reads the line at `start` and what belongs to its value; where the next one begins.
    fn line(&mut self, start: usize) -> Option<usize> {
        let line = TextLine::at(self.body, start);
        let mut first = line.first(self.body);
        if first == line.end {
            return Some(line.next);
        }
        // A tab is no indentation, and programs differ in what else it is.
        // A CR alone is a line break in YAML 1.2, and none for `TextLine`.
        if self.body[line.start..first].contains(&b'\t') || memchr::memchr(b'\r', &self.body[start..line.end]).is_some()
        {
            return None;
        }
        let is_mark = matches!(self.body[line.start..line.end].trim_ascii_end(), b"---" | b"...");
        if is_mark || self.ends(first, line.end) {
            return Some(line.next);
        }
        let mut indent = first - line.start;
        let (is_nested, dash) = (indent > 0, first);
        while self.body[first] == b'-' && matches!(self.body.get(first + 1), None | Some(b' ' | b'\n' | b'\r')) {
            indent = first - line.start;
            first = skip_blanks(self.body, first + 1, line.end);
            if self.ends(first, line.end) {
                return Some(line.next);
            }
        }
        let (name, value) = self.key(first, line.end)?;
        if !name.is_empty() {
            self.name = name;
            if self.ends(value, line.end) {
                return Some(line.next);
            }
            return self.value(value, line, YamlParent::Key, first - line.start);
        }
        if first > dash {
            return self.value(first, line, YamlParent::Dash, indent);
        }
        // A value in a line for itself goes on in the lines that are no less indented than it is.
        self.value(first, line, YamlParent::Line, is_nested.then(|| indent - 1)?)
    }

    /// Whether nothing but a comment, which is masked, is left of the line.
    fn ends(&mut self, at: usize, end: usize) -> bool {
        if at < end && self.body[at] == b'#' {
            self.spans.extend(Span::comment(self.body, at, end));
            return true;
        }
        at == end
    }

    /// The key that begins at `first` and where its value does; an empty one where there is no key.
    fn key(&self, first: usize, end: usize) -> Option<(String, usize)> {
        let body = self.body;
        let no_key = Some((String::new(), first));
        if matches!(body[first], b'{' | b'[') {
            return no_key;
        }
        let is_quoted = matches!(body[first], b'"' | b'\'');
        let key_end = if is_quoted {
            let Some(close) = closing_string(body, first, Syntax::Yaml).filter(|close| *close <= end) else {
                return no_key;
            };
            let colon = skip_blanks(body, close, end);
            if body.get(colon) != Some(&b':') || colon >= end {
                return no_key;
            }
            if memchr::memchr(b'\\', &body[first..close]).is_some() {
                return None;
            }
            colon
        } else {
            let is_colon = |at: &usize| body[*at] == b':' && (at + 1 == end || matches!(body[at + 1], b' ' | b'\t'));
            let Some(colon) = (first..end).find(is_colon) else { return no_key };
            // `# a: b` after a value is a comment.
            if body[first..colon].windows(2).any(|pair| pair == b" #") {
                return no_key;
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
        Some((inner.to_owned(), skip_blanks(body, key_end + 1, end)))
    }

    /// Masks the value at `from`, whose key is indented by `indent`; where the next line begins.
    fn value(&mut self, from: usize, line: TextLine, below: YamlParent, indent: usize) -> Option<usize> {
        let body = self.body;
        let place = Slot::Yaml { below, indent, is_closed: false };
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
                let end = TextLine::at(body, close).end;
                // Whether a value is empty is visible in every format.
                if is_empty && skip_blanks(body, close, end) == end {
                    return self.after(close, indent);
                }
                close
            }
            // An anchor, a tag or a `?` key needs more than its lines; YAML lets no value begin with one of the others.
            b'&' | b'!' | b'?' | b'%' | b'@' | b'`' => return None,
            _ => {
                let end = self.deeper_lines(line, indent);
                self.mask(from, trim_blanks(body, from, end), place);
                return Some(TextLine::at(body, end).next);
            }
        };
        let last = TextLine::at(body, end);
        let rest = skip_blanks(body, end, last.end);
        // In quotes where a comment follows, which would be a part of a sentinel without them.
        self.mask(from, end, Slot::Yaml { below, indent, is_closed: rest < last.end });
        // After what is closed there is nothing but a comment.
        if self.ends(rest, last.end) { self.after(end, indent) } else { None }
    }

    /// The line after the one with `end`, which must not continue the value.
    fn after(&self, end: usize, indent: usize) -> Option<usize> {
        let last = TextLine::at(self.body, end);
        (self.deeper_lines(last, indent) == last.end).then_some(last.next)
    }

    /// The end of `line` and of the lines after it that are indented by more than `indent`.
    fn deeper_lines(&self, line: TextLine, indent: usize) -> usize {
        let lines = text_lines(self.body, line.next).map(|line| (line, line.first(self.body)));
        let lines = lines.filter(|(line, first)| *first < line.end);
        lines.take_while(|(line, first)| first - line.start > indent).last().map_or(line.end, |(line, _)| line.end)
    }

    fn mask(&mut self, from: usize, end: usize, place: Slot) {
        let quoted = matches!(place, Slot::Yaml { is_closed: true, .. });
        self.spans.push(Span { quoted, ..Span::bare(from..end, self.name.clone()).at(place) });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_first_errors;
    use super::*;

    #[test]
    fn valid_texts_pass() {
        for text in [
            "",
            "# only a comment\n",
            "a: 1\nb:\n- x\n- y: {c: [1, 2,], ? d : e}\n",
            "%YAML 1.2\n---\na: !!str 1\nb: !local {}\n...\n---\n- 2\n",
            "base: &base {a: 1}\nx:\n  <<: *base\n  <<: *base\n  b: 2\n",
            "a: |\n  text: with: colons\n   {{ and }} more\nb: >-\n  folded\n\n  text\n",
            "\"quoted \\u00e9\": 'it''s'\n? complex\n: value\n",
            "run: ${{ matrix.os }}\non: [push, pull_request]\n",
            "a: {b: 1,\n  c: 2}\r\nd: https://example.org/x#y\r\n",
            "---\n--- text\n---\n",
            "- - - a\n    - b\n- ? k\n",
            "1: a\n\"1\": b\ntrue: c\n2001-12-14t21:59:43.10-05:00: d\n",
        ] {
            let findings = check(text);
            assert_eq!((findings.error, findings.warnings), (None, Vec::new()), "{text:?}");
        }
    }

    #[test]
    fn first_error_is_named_at_its_place() {
        assert_first_errors(
            check,
            [
                ("a: [1, 2\nb: 3\n", 10, "illegal placement of ':' indicator; the `[` of line 1 is not closed yet"),
                ("a: b: c\n", 4, "`:` is not allowed here"),
                ("a:\n\tb: 1\n", 4, "tab"),
                ("a: 'é\n", 3, "unexpected end of stream"),
                ("a: *missing\n", 3, "unknown anchor"),
                ("é:\n  - 1\n x: 2\n", 11, "did not find expected"),
                ("a: \"\\q\"\n", 3, "unknown escape"),
                ("a: 1\n]\n", 5, "bracket"),
            ],
        );
    }

    #[test]
    fn key_that_occurs_twice_in_one_mapping_is_a_warning() {
        let warnings = check("é: {a: 1}\na: 2\nb: [a, a]\na:\n  - 3\n").warnings;
        assert_eq!(warnings, [SyntaxError::new(26, "duplicate key `a`")]);
    }

    #[test]
    fn hostile_texts_end_soon() {
        let laughs: Vec<String> = (1..60).map(|n| format!("a{n}: &a{n} [*a{0},*a{0},*a{0}]\n", n - 1)).collect();
        for text in [
            format!("a0: &a0 x\n{}", laughs.concat()),
            "[".repeat(200_000),
            "{a: ".repeat(200_000),
            "- ".repeat(200_000),
            "? ".repeat(100_000),
            "&a ".repeat(100_000),
            "!!".repeat(100_000),
            "a: ".repeat(100_000),
            format!("[{}", "a,".repeat(300_000)),
            "%".repeat(100_000),
            "\"".to_owned() + &"\\\n".repeat(200_000),
        ] {
            check(&text);
        }
    }
}
