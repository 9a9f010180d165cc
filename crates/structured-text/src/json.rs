//! JSON, alone or with the extensions that configuration files have.
//!
//! The first error, and keys that occur twice. `jsonc-parser` finds the tokens; its own grammar recurses, takes a tree of
//! all values and gives up at 512 levels, while here a level costs a few bytes, and an error names the bracket it is about.
//! Accepts what `serde_json` accepts and, with extensions, what `jsonc-parser` does; property tests compare them.
//! Numbers of any size and unpaired escaped surrogates are accepted: the grammar (RFC 8259) allows both.

use std::{borrow::Cow, collections::HashSet, ops::Range};

use jsonc_parser::{
    ParseStringErrorKind, Scanner, ScannerOptions,
    errors::{ParseError, ParseErrorKind},
    tokens::Token,
};

use super::syntax_error::{Findings, SyntaxError, fail, line_of};
use crate::quoted;

/// Bytes of the largest text whose keys are compared: more would be held in memory for little.
const MAX_COMPARED: usize = 1 << 20;
const MAX_DUPLICATES: usize = 100;

/// The extensions that a text may have beyond plain JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonDialect {
    /// None, as RFC 8259 has it.
    Json,
    /// Comments and trailing commas.
    Jsonc,
    /// Also what <https://spec.json5.org> adds: single quotes, names as keys, more forms of numbers.
    Json5,
}

/// Checks one JSON text; an empty one is accepted.
pub fn check(text: &str, dialect: JsonDialect) -> Findings {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    check_part(text, start..text.len(), dialect)
}

/// Checks each line as a JSON text.
pub fn check_lines(text: &str) -> Findings {
    let mut findings = Findings::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.trim_end_matches(['\n', '\r']).len();
        // A line hides none of those after it.
        findings.warnings.extend(check_part(text, start..end, JsonDialect::Json).error);
        // A file of another format would have an error in each line.
        if findings.warnings.len() == MAX_DUPLICATES {
            break;
        }
        start += line.len();
    }
    findings
}

fn check_part(text: &str, part: Range<usize>, dialect: JsonDialect) -> Findings {
    let mut warnings = Vec::new();
    let error = read(text, part, dialect, &mut warnings).err();
    Findings { error, warnings }
}

#[derive(Clone, Copy)]
enum After {
    Open,
    Key,
    Colon,
    Comma(usize),
    Value,
}

fn read(text: &str, part: Range<usize>, dialect: JsonDialect, duplicates: &mut Vec<SyntaxError>) -> Checked {
    let mut plain = Cow::Borrowed(&text[part.clone()]);
    // Of the same length: the scanner wants surrogates in pairs, two digits after `\x`, and other space than that of a mark.
    if memchr::memmem::find(plain.as_bytes(), b"\\u").is_some() {
        plain = plain.replace("\\ud", "\\u0").replace("\\uD", "\\u0").into();
    }
    if dialect == JsonDialect::Json5 {
        plain = plain.replace("\\x", "\\/").replace('\u{feff}', "\u{2003}").into();
    }
    let mut tokens = Tokens::new(text, &plain, part.clone(), dialect);
    let mut keys = HashSet::new();
    // The bytes of the brackets that are open.
    let mut open: Vec<usize> = Vec::new();
    let mut after = After::Colon;
    loop {
        let (at, byte) = tokens.advance()?;
        let opened = open.last().copied();
        let line = || line_of(text, opened.unwrap_or_default());
        let bracket = opened.map_or(0, |opened_at| text.as_bytes()[opened_at]);
        // The bracket that closes another one: both are two after those that open, in ASCII.
        let is_close = opened.is_some() && byte == Some(bracket + 2);
        let (bracket, close) = (bracket as char, (bracket + 2) as char);
        match (after, byte) {
            (After::Colon | After::Value, None) if opened.is_none() => return Ok(()),
            (After::Comma(comma), _) if is_close && dialect == JsonDialect::Json => {
                return fail(comma, format!("trailing comma before `{close}`"));
            }
            (After::Open | After::Comma(_) | After::Value, _) if is_close => {
                open.pop();
                after = After::Value;
            }
            (After::Key, Some(b':')) => after = After::Colon,
            (After::Key, _) => return fail(at, "expected `:` after the key"),
            (After::Comma(_), _) | (After::Open, Some(_)) if bracket == '{' => {
                tokens.key()?;
                let key = &text[at..tokens.end];
                if part.end <= MAX_COMPARED
                    && duplicates.len() < MAX_DUPLICATES
                    // Usual keys of comments.
                    && !["\"//\"", "\"_comment\"", "\"$comment\""].contains(&key)
                    // The bracket that is open says which object the key is in.
                    && !keys.insert((opened, key))
                {
                    let shown = quoted(key.trim_matches(['"', '\'']));
                    duplicates.push(SyntaxError::new(at, format!("duplicate key {shown}")));
                }
                after = After::Key;
            }
            (_, None) => {
                return fail(at, format!("expected `{close}`: the `{bracket}` of line {} is not closed", line()));
            }
            (After::Value, Some(byte @ (b']' | b'}'))) if opened.is_none() => {
                return fail(at, format!("`{}` closes nothing", byte as char));
            }
            (After::Value, Some(byte @ (b']' | b'}'))) => {
                return fail(at, format!("`{}` does not close the `{bracket}` of line {}", byte as char, line()));
            }
            (After::Value, _) if opened.is_none() => {
                return fail(at, "expected the end of the file: the JSON value before is complete");
            }
            (After::Value, Some(b',')) => after = After::Comma(at),
            (After::Value, _) => return fail(at, format!("expected `,` or `{close}`")),
            (_, Some(b'[' | b'{')) => {
                open.push(at);
                after = After::Open;
            }
            _ => {
                tokens.value()?;
                after = After::Value;
            }
        }
    }
}

type Checked<T = ()> = Result<T, SyntaxError>;

struct Tokens<'t> {
    text: &'t str,
    dialect: JsonDialect,
    scanner: Scanner<'t>,
    scanned: Result<Option<Token<'t>>, ParseError>,
    base: usize,
    at: usize,
    end: usize,
}

impl<'t> Tokens<'t> {
    fn new(text: &'t str, plain: &'t str, part: Range<usize>, dialect: JsonDialect) -> Self {
        let more = dialect == JsonDialect::Json5;
        let options = ScannerOptions {
            allow_single_quoted_strings: more,
            allow_hexadecimal_numbers: more,
            allow_unary_plus_numbers: more,
            allow_bare_decimal_point_numbers: more,
            allow_non_finite_numbers: more,
            allow_extended_string_escapes: more,
        };
        let scanner = Scanner::new(plain, &options);
        let (text, base) = (&text[..part.end], part.start);
        Self { text, dialect, scanner, scanned: Ok(None), base, at: base, end: base }
    }

    /// The next token that is no comment: where it begins, and its first byte.
    fn advance(&mut self) -> Checked<(usize, Option<u8>)> {
        loop {
            self.scanned = self.scanner.scan();
            let space = &self.text.as_bytes()[self.end..self.base + self.scanner.token_start()];
            // The scanner takes that of Unicode, too, as JSON5 does.
            let is_space = |byte: &u8| self.dialect == JsonDialect::Json5 || b" \t\r\n".contains(byte);
            self.at = self.end + space.iter().take_while(|byte| is_space(byte)).count();
            self.end = self.base + self.scanner.token_end();
            let rest = &self.text.as_bytes()[self.at..];
            match rest {
                [b'/', b'/' | b'*', ..] if self.dialect == JsonDialect::Json => {
                    return fail(self.at, "comments are not allowed in JSON");
                }
                [b'/', b'/' | b'*', ..] if self.scanned.is_err() => return fail(self.at, "the comment is not closed"),
                [b'/', b'/' | b'*', ..] => {}
                _ => return Ok((self.at, rest.first().copied())),
            }
        }
    }

    fn key(&self) -> Checked {
        let rest = &self.text[self.at..];
        match rest.bytes().next() {
            Some(b'"' | b'\'') => self.string(),
            Some(b',') => fail(self.at, "expected a key, found `,`"),
            Some(_) if self.dialect == JsonDialect::Json5 && self.is_whole(word(rest)) => Ok(()),
            _ => fail(self.at, "expected a key in double quotes"),
        }
    }

    fn is_whole(&self, found: &str) -> bool {
        self.scanned.is_ok() && self.end == self.at + found.len()
    }

    fn value(&self) -> Checked {
        let (at, rest) = (self.at, &self.text[self.at..]);
        let is_number = rest.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
        let found = match rest.bytes().next() {
            Some(b'"' | b'\'') => return self.string(),
            // All of the word, so that the error repeats `1.2.3` or `12ab` as it is written.
            _ if is_number => until(rest, |letter| !letter.is_ascii_alphanumeric() && !"+-.".contains(letter)),
            _ => word(rest),
        };
        let is_value = matches!(self.scanned, Ok(Some(Token::Number(_) | Token::Boolean(_) | Token::Null)));
        if is_value && self.is_whole(found) {
            return Ok(());
        }
        if is_number {
            return fail(at, format!("{} is no JSON number", quoted(found)));
        }
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let found = if found.is_empty() { &rest[..first] } else { found };
        fail(at, format!("expected a value, found {}", quoted(found)))
    }

    fn string(&self) -> Checked {
        const UNCLOSED_STRING: &str = "the string is not closed in its line";
        let (at, is_json5) = (self.at, self.dialect == JsonDialect::Json5);
        let flaw = self.scanned.as_ref().err().map(|error| (self.base + error.range().start, error.kind()));
        if let Some((_, ParseErrorKind::SingleQuotedStringsNotAllowed)) = flaw {
            return fail(at, "expected double quotes around a string");
        }
        // Where the flaw is an escape; of a string without an end it is where that begins.
        let end = flaw.map_or(self.end, |(place, _)| if place == at { self.text.len() } else { place });
        let is_escaped = |place: usize| {
            let before = self.text[at..place].trim_end_matches('\r');
            is_json5 && !(before.len() - before.trim_end_matches('\\').len()).is_multiple_of(2)
        };
        for (place, byte) in (at..end).zip(self.text[at..end].bytes()) {
            match byte {
                b'\n' | b'\r' if !is_escaped(place) => return fail(at, UNCLOSED_STRING),
                ..0x20 if !is_json5 => {
                    return fail(place, format!("control character in a string: write it as \\u{byte:04x}"));
                }
                _ => {}
            }
        }
        match flaw {
            None => Ok(()),
            Some((place, _)) if place == at => fail(at, UNCLOSED_STRING),
            Some((place, ParseErrorKind::String(ParseStringErrorKind::ExpectedFourHexDigits))) => {
                fail(place, "expected four hexadecimal digits after `\\u`")
            }
            Some((place, _)) => {
                let length = 1 + self.text[place + 1..].chars().next().map_or(0, char::len_utf8);
                fail(place, format!("unknown escape {}", quoted(&self.text[place..place + length])))
            }
        }
    }
}

fn until(text: &str, is_end: impl Fn(char) -> bool) -> &str {
    &text[..text.find(is_end).unwrap_or(text.len())]
}

fn word(text: &str) -> &str {
    until(text, |letter| !letter.is_alphanumeric() && !"_$\u{200c}\u{200d}".contains(letter))
}

#[cfg(test)]
mod tests;
