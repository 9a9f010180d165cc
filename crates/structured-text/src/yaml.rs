//! YAML: the first error of a stream of documents and the keys that occur twice in a mapping, by the events of a parser
//! that builds nothing.
//!
//! An alias to a thousand others is one event ("billion laughs" cost nothing). The parser's own stack is bounded: what has
//! more than 255 levels of brackets is skipped, and so is what takes longer than `MAX_TIME`.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};

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
                let is_tolerated = TOLERATED_ERRORS.iter().any(|words| error.info().contains(words));
                let error = (!is_tolerated).then(|| {
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
/// with: `[a, -, b]`, a directive after a document without an end, and a tab after the `:` of a key.
const TOLERATED_ERRORS: [&str; 4] = [
    "recursion limit",
    "cannot start with '-' followed by",
    "missing explicit document end",
    "must be followed by a valid YAML whitespace",
];

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

fn byte_at(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(at, _)| at)
}

struct MappingKeys<'t> {
    text: &'t str,
    open: Vec<Collection>,
    warnings: Vec<SyntaxError>,
}

struct Collection {
    at: usize,
    keys: Option<HashSet<(String, bool)>>,
    is_key_next: bool,
}

impl MappingKeys<'_> {
    fn take(&mut self, event: &Event<'_>, at: usize) {
        match event {
            Event::Scalar(value, style, ..) => {
                let is_plain = *style == ScalarStyle::Plain;
                if let Some(keys) = self.open.last_mut().filter(|last| last.is_key_next).and_then(|last| last.keys.as_mut())
                    // Several merges into one mapping are usual, and so are conditions of Azure Pipelines.
                    && value != "<<"
                    && !value.starts_with("${{")
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
