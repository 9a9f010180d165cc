//! JSON, alone or with the extensions that configuration files have.
//!
//! One reader gives the parts of a text with their places, for the check here (the first error, and keys that occur
//! twice) and for the mask. One pass without recursion: nesting costs a few bytes a level.
//! Accepts what `serde_json` accepts and, with extensions, what `jsonc-parser` does; property tests compare them.
//! Numbers of any size and unpaired escaped surrogates are accepted: the grammar (RFC 8259) allows both.

use std::{collections::HashSet, mem, ops::Range};

use serde::de::IgnoredAny;

use super::syntax_error::{Findings, SyntaxError, fail, line_of};
use crate::{mask::span::Span, quoted};

/// Bytes of the largest text whose keys are compared: more would be held in memory for little.
const MAX_COMPARED: usize = 1 << 20;
/// Duplicate keys that are reported of one text.
const MAX_DUPLICATES: usize = 100;
/// Levels of lists and objects in a text that is masked.
const MAX_MASKED_LEVELS: usize = 128;

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
    let is_compared = part.end <= MAX_COMPARED;
    let mut reader = JsonReader::new(text, part, dialect);
    let (mut keys, mut warnings) = (HashSet::new(), Vec::new());
    loop {
        match reader.next_part() {
            Err(error) => return Findings { error: Some(error), warnings },
            Ok(None) => return Findings { error: None, warnings },
            Ok(Some((JsonPart::Key, place))) => {
                let key = &text[place.clone()];
                if is_compared
                    && warnings.len() < MAX_DUPLICATES
                    // `//` is the usual key of a comment.
                    && key != "\"//\""
                    // The bracket that is open says which object the key is in.
                    && !keys.insert((reader.open.last().copied(), key))
                {
                    let shown = quoted(key.trim_matches(['"', '\'']));
                    warnings.push(SyntaxError::new(place.start, format!("duplicate key {shown}")));
                }
            }
            Ok(Some(_)) => {}
        }
    }
}

/// The values of a text for its mask: every string, number and word that is no key. `None` if it is not JSON from
/// beginning to end.
pub(crate) fn values(text: &str) -> Option<Vec<Span>> {
    let mut reader = JsonReader::new(text, 0..text.len(), JsonDialect::Json);
    // The key before the next value, and those before the lists and objects that are open.
    let (mut name, mut above, mut spans) = ("value", Vec::new(), Vec::new());
    while let Some((part, place)) = reader.next_part().ok()? {
        match part {
            // Plain JSON has quotation marks around each key.
            JsonPart::Key => name = &text[place.start + 1..place.end - 1],
            JsonPart::Open if above.len() == MAX_MASKED_LEVELS => return None,
            JsonPart::Open => above.push(name),
            JsonPart::Close => name = above.pop()?,
            JsonPart::Value => spans.push(Span::quoted(place, name)),
        }
    }
    Some(spans)
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonPart {
    /// The bracket that opens a list or an object.
    Open,
    Close,
    /// A key with its quotation marks.
    Key,
    /// A string with its quotation marks, a number or a word.
    Value,
}

/// A part and its place in the text.
type Placed = (JsonPart, Range<usize>);

struct JsonReader<'t> {
    text: &'t str,
    /// The bytes of the text up to the end of what is read.
    bytes: &'t [u8],
    at: usize,
    dialect: JsonDialect,
    /// The bytes of the brackets that are open.
    open: Vec<usize>,
    /// Whether nothing has come yet after the bracket that was opened last.
    is_first: bool,
    is_after_key: bool,
    has_value: bool,
}

impl<'t> JsonReader<'t> {
    fn new(text: &'t str, part: Range<usize>, dialect: JsonDialect) -> Self {
        let (bytes, at) = (&text.as_bytes()[..part.end], part.start);
        Self { text, bytes, at, dialect, open: Vec::new(), is_first: false, is_after_key: false, has_value: false }
    }

    /// The next part; `None` at the end of the text.
    fn next_part(&mut self) -> Result<Option<Placed>, SyntaxError> {
        self.skip_space()?;
        let next = self.peek();
        let Some(opened_at) = self.open.last().copied() else {
            return match next {
                None => Ok(None),
                Some(_) if !self.has_value => self.value().map(Some),
                Some(byte @ (b']' | b'}')) => fail(self.at, format!("`{}` closes nothing", byte as char)),
                Some(_) => fail(self.at, "expected the end of the file: the JSON value before is complete"),
            };
        };
        if mem::take(&mut self.is_after_key) {
            return self.value().map(Some);
        }
        let (opened, close) = (self.bytes[opened_at], closing(self.bytes[opened_at]));
        let is_first = mem::take(&mut self.is_first);
        match next {
            None => return Err(self.not_closed()),
            Some(byte) if byte == close => return Ok(Some(self.close())),
            Some(_) if is_first => {}
            Some(b',') => {
                let comma = self.at;
                self.at += 1;
                self.skip_space()?;
                if self.peek() == Some(close) {
                    if self.dialect == JsonDialect::Json {
                        return fail(comma, format!("trailing comma before `{}`", close as char));
                    }
                    return Ok(Some(self.close()));
                }
            }
            Some(byte @ (b']' | b'}')) => {
                let line = line_of(self.text, opened_at);
                let (byte, opened) = (byte as char, opened as char);
                return fail(self.at, format!("`{byte}` does not close the `{opened}` of line {line}"));
            }
            Some(_) => return fail(self.at, format!("expected `,` or `{}`", close as char)),
        }
        if close == b'}' { self.key().map(Some) } else { self.value().map(Some) }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn close(&mut self) -> Placed {
        self.at += 1;
        self.open.pop();
        (JsonPart::Close, self.at - 1..self.at)
    }

    /// The error of a text that ends within a list or an object.
    fn not_closed(&self) -> SyntaxError {
        // One is open here: a text that ends outside of all brackets is complete, and no value is asked for.
        let opened_at = self.open.last().copied().unwrap_or_default();
        let (opened, line) = (self.bytes[opened_at], line_of(self.text, opened_at));
        let (opened, close) = (opened as char, closing(opened) as char);
        SyntaxError::new(self.at, format!("expected `{close}`: the `{opened}` of line {line} is not closed"))
    }

    /// The next value, of an array or object only its bracket.
    fn value(&mut self) -> Result<Placed, SyntaxError> {
        let start = self.at;
        self.has_value = true;
        match self.peek() {
            Some(b'[' | b'{') => {
                self.open.push(start);
                self.is_first = true;
                self.at += 1;
                return Ok((JsonPart::Open, start..self.at));
            }
            Some(quote @ (b'"' | b'\'')) => self.string(quote)?,
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => self.number()?,
            Some(_) => self.literal()?,
            None => return Err(self.not_closed()),
        }
        Ok((JsonPart::Value, start..self.at))
    }

    /// A key, after which its colon is skipped.
    fn key(&mut self) -> Result<Placed, SyntaxError> {
        let start = self.at;
        match self.peek() {
            Some(quote @ (b'"' | b'\'')) => self.string(quote)?,
            _ if self.dialect == JsonDialect::Json5 && !self.word(start).is_empty() => {
                self.at += self.word(start).len();
            }
            Some(b',') => return fail(start, "expected a key, found `,`"),
            _ => return fail(start, "expected a key in double quotes"),
        }
        let end = self.at;
        self.skip_space()?;
        if self.peek() != Some(b':') {
            return fail(self.at, "expected `:` after the key");
        }
        self.at += 1;
        self.is_after_key = true;
        Ok((JsonPart::Key, start..end))
    }

    fn string(&mut self, quote: u8) -> Result<(), SyntaxError> {
        let start = self.at;
        if quote == b'\'' && self.dialect != JsonDialect::Json5 {
            return fail(start, "expected double quotes around a string");
        }
        self.at += 1;
        loop {
            match self.bytes.get(self.at) {
                Some(byte) if *byte == quote => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                None | Some(b'\n' | b'\r') => {
                    return fail(start, "the string is not closed in its line");
                }
                Some(byte @ 0..0x20) if self.dialect != JsonDialect::Json5 => {
                    let message = format!("control character in a string: write it as \\u{byte:04x}");
                    return fail(self.at, message);
                }
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<(), SyntaxError> {
        let at = self.at;
        let is_hex = |length: usize| {
            let digits = self.bytes.get(at + 2..at + 2 + length);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        };
        self.at += match self.bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') if is_hex(4) => 6,
            Some(b'u') => return Err(SyntaxError::new(at, "expected four hexadecimal digits after `\\u`")),
            Some(b'\r') if self.dialect == JsonDialect::Json5 && self.bytes.get(at + 2) == Some(&b'\n') => 3,
            // Any other escaped character means itself; an escaped line break is dropped.
            Some(_) if self.dialect == JsonDialect::Json5 => 2,
            Some(_) => {
                let next = self.text[at + 1..].chars().next().unwrap_or_default();
                return fail(at, format!("unknown escape {}", quoted(&format!("\\{next}"))));
            }
            // The text ends with a backslash: `string` then finds that the string is not closed.
            None => 1,
        };
        Ok(())
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        let is_json5 = self.dialect == JsonDialect::Json5;
        // All of the word, so that the error repeats `1.2.3` or `12ab` as it is written.
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        self.at += self.bytes[start..].iter().take_while(|byte| is_part(byte)).count();
        let text = &self.text[start..self.at];
        let unsigned = text.strip_prefix('-').or_else(|| text.strip_prefix('+').filter(|_| is_json5)).unwrap_or(text);
        let hexadecimal = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"));
        let is_more = || {
            matches!(unsigned, "Infinity" | "NaN")
                || hexadecimal.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
        };
        if is_decimal(unsigned, is_json5) || is_json5 && is_more() {
            return Ok(());
        }
        fail(start, format!("{} is no JSON number", quoted(text)))
    }

    /// `true`, `false`, `null` and, with extensions, more.
    fn literal(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        let word = self.word(start);
        let is_json5 = self.dialect == JsonDialect::Json5;
        if matches!(word, "true" | "false" | "null") || is_json5 && matches!(word, "Infinity" | "NaN") {
            self.at += word.len();
            return Ok(());
        }
        let found = match word {
            "" => self.text[start..].chars().next().map_or_else(String::new, |one| quoted(&one.to_string())),
            word => quoted(word),
        };
        fail(start, format!("expected a value, found {found}"))
    }

    /// The name that begins at `start`.
    fn word(&self, start: usize) -> &'t str {
        let rest = &self.text[start..];
        let is_part = |letter: char| letter.is_alphanumeric() || "_$\u{200c}\u{200d}".contains(letter);
        &rest[..rest.find(|letter| !is_part(letter)).unwrap_or(rest.len())]
    }

    /// Skips white space and comments.
    fn skip_space(&mut self) -> Result<(), SyntaxError> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b'/') if matches!(self.bytes.get(self.at + 1), Some(b'/' | b'*')) => self.comment()?,
                // JSON5 has more white space: VT, FF, a byte-order mark and the spaces of Unicode.
                Some(byte) if self.dialect == JsonDialect::Json5 && (*byte >= 0x80 || (0x0b..=0x0c).contains(byte)) => {
                    let next = self.text[self.at..].chars().next().unwrap_or_default();
                    if !next.is_whitespace() && next != '\u{feff}' {
                        return Ok(());
                    }
                    self.at += next.len_utf8();
                }
                _ => return Ok(()),
            }
        }
    }

    fn comment(&mut self) -> Result<(), SyntaxError> {
        let (start, rest) = (self.at, &self.bytes[self.at + 2..]);
        if self.dialect == JsonDialect::Json {
            return fail(start, "comments are not allowed in JSON");
        }
        let length = if self.bytes[start + 1] == b'/' {
            Some(memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len()))
        } else {
            memchr::memmem::find(rest, b"*/").map(|end| end + 2)
        };
        self.at += 2 + length.ok_or_else(|| SyntaxError::new(start, "the comment is not closed"))?;
        Ok(())
    }
}

/// The bracket that closes another one: both are two after those that open, in ASCII.
fn closing(bracket: u8) -> u8 {
    bracket + 2
}

/// Whether `text` is a decimal number without a sign. `lenient`: with the digits before or after its point left out.
fn is_decimal(text: &str, lenient: bool) -> bool {
    let is_digit = |first: char| first.is_ascii_digit();
    if !text.trim_start_matches(|first| first == '.' && lenient).starts_with(is_digit) {
        return false;
    }
    // Digits around the point, whatever others there are, leave a number a number.
    let padded = if lenient { text.replacen('.', ".0", 1) } else { text.to_owned() };
    let padded = if padded.starts_with('.') { "0".to_owned() + &padded } else { padded };
    // As `IgnoredAny`, since a number that fits no type, as `1e999`, is one of JSON all the same.
    serde_json::from_str::<IgnoredAny>(&padded).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error(text: &str, dialect: JsonDialect) -> Option<(usize, String)> {
        check(text, dialect).error.map(|fault| (fault.at, fault.message))
    }

    #[test]
    fn valid_texts_pass() {
        for text in [
            "",
            " \n",
            "1",
            "-0",
            "1e999",
            "0.1E-7",
            "\"\"",
            "null",
            "[]",
            "{}",
            "[[],{}]",
            "{\"a\":[1,{\"b\":2}]}",
            "\"\\ud800 \\u00e9\\/\"",
            "\u{feff}{}",
            "\r\n{\r\n\"é\": \"日本\"}\r\n",
            "123456789012345678901234567890",
            "{\"//\": 1, \"//\": 2}",
        ] {
            assert_eq!(check(text, JsonDialect::Json).error, None, "{text:?}");
            assert_eq!(check(text, JsonDialect::Json).warnings, [], "{text:?}");
        }
        for text in ["// a\n{/* b */\"a\": [1, 2,],}//", "[\n// x\n]", "/**/1", "{\"a\":1 // é\r\n}"] {
            assert_eq!(check(text, JsonDialect::Jsonc).error, None, "{text:?}");
            assert!(check(text, JsonDialect::Json).error.is_some(), "{text:?}");
        }
        for text in ["{a: 'b\\'', $c: +.5, 'd': 5., e: 0xFF, f: -Infinity, ünï: NaN}", "'a\\\nb\\\r\nc\\x'", "\u{a0}1"]
        {
            assert_eq!(check(text, JsonDialect::Json5).error, None, "{text:?}");
            assert!(check(text, JsonDialect::Jsonc).error.is_some(), "{text:?}");
        }
    }

    #[test]
    fn first_error_is_named_at_its_place() {
        for (text, at, message) in [
            ("{\"a\": 1\n \"b\": 2}", 9, "expected `,` or `}`"),
            ("[1 2]", 3, "expected `,` or `]`"),
            ("[1,]", 2, "trailing comma before `]`"),
            ("{\"a\": 1,\n}", 7, "trailing comma before `}`"),
            ("{,}", 1, "expected a key, found `,`"),
            ("[1,,2]", 3, "expected a value, found `,`"),
            ("{a: 1}", 1, "expected a key in double quotes"),
            ("{'a': 1}", 1, "expected double quotes around a string"),
            ("{\"a\" 1}", 5, "expected `:` after the key"),
            ("{\"a\": }", 6, "expected a value, found `}`"),
            ("{\"a\": True}", 6, "expected a value, found `True`"),
            ("[undefined]", 1, "expected a value, found `undefined`"),
            ("[01]", 1, "`01` is no JSON number"),
            ("[1.]", 1, "`1.` is no JSON number"),
            ("[+1]", 1, "`+1` is no JSON number"),
            ("[\"a\nb\"]", 1, "the string is not closed in its line"),
            ("[\"a\tb\"]", 3, "control character in a string: write it as \\u0009"),
            ("[\"\\x\"]", 2, "unknown escape `\\x`"),
            ("[\"\\u12g4\"]", 2, "expected four hexadecimal digits after `\\u`"),
            ("// a\n1", 0, "comments are not allowed in JSON"),
            ("{\n\"a\": [1\n}", 10, "`}` does not close the `[` of line 2"),
            ("{}}", 2, "`}` closes nothing"),
            ("{} {}", 3, "expected the end of the file: the JSON value before is complete"),
            ("{\n\"a\": 1\n", 9, "expected `}`: the `{` of line 1 is not closed"),
            ("{\"a\":", 5, "expected `}`: the `{` of line 1 is not closed"),
        ] {
            assert_eq!(error(text, JsonDialect::Json), Some((at, message.to_owned())), "{text:?}");
        }
        assert_eq!(error("{} /* a", JsonDialect::Jsonc), Some((3, "the comment is not closed".to_owned())));
    }

    #[test]
    fn key_that_occurs_twice_in_one_object_is_a_warning() {
        let warnings = check("{\"a\": {\"a\": 1}, \"b\": {\"a\": 1},\n\"a\": 2}", JsonDialect::Json).warnings;
        assert_eq!(warnings, [SyntaxError::new(31, "duplicate key `a`")]);
    }

    #[test]
    fn each_line_of_json_lines_is_a_text() {
        let faults = check_lines("{}\n{]\r\n\n[1\n2\n").warnings;
        assert_eq!(faults.iter().map(|fault| fault.at).collect::<Vec<_>>(), [4, 10]);
    }

    #[test]
    fn deep_nesting_needs_no_stack() {
        let text = "[{\"a\":".repeat(100_000);
        assert!(check(&text, JsonDialect::Json).error.is_some());
        let text = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(check(&text, JsonDialect::Json).error, None);
    }

    /// Pieces of JSON, so that most texts are nearly valid.
    fn pieces() -> impl Strategy<Value = String> {
        const PIECES: &[&str] = &[
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\\n\"", "1", "-2.5e3", "true", "null", " ", "\n", "// x\n",
            "/* y */", "'c'", "é", "\\", "\"", "0", ".", "+", "\t", "nul", "\u{feff}",
        ];
        let piece = prop_oneof![9 => prop::sample::select(PIECES).prop_map(str::to_owned), 1 => ".{0,4}"];
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn accepts_what_serde_json_accepts(text in pieces()) {
            let plain = text.strip_prefix('\u{feff}').unwrap_or(&text);
            let expected = plain.trim_matches([' ', '\n', '\t', '\r']).is_empty()
                || serde_json::from_str::<IgnoredAny>(plain).is_ok();
            prop_assert_eq!(check(&text, JsonDialect::Json).error.is_none(), expected, "{:?}", text);
        }

        #[test]
        fn each_dialect_accepts_what_a_smaller_one_does(text in pieces()) {
            let accepts = |dialect| check(&text, dialect).error.is_none();
            prop_assert!(!accepts(JsonDialect::Json) || accepts(JsonDialect::Jsonc), "{text:?}");
            prop_assert!(!accepts(JsonDialect::Jsonc) || accepts(JsonDialect::Json5), "{text:?}");
            if accepts(JsonDialect::Jsonc) {
                let plain = text.strip_prefix('\u{feff}').unwrap_or(&text);
                let options = jsonc_parser::ParseOptions::default();
                prop_assert!(jsonc_parser::parse_to_value(plain, &options).is_ok(), "{:?}", text);
            }
        }
    }
}
