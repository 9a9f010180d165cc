//! JSON, alone or with the extensions that configuration files have.
//!
//! Finds the first error, and keys that occur twice. One pass without recursion: nesting costs a few bytes a level.
//! Accepts what `serde_json` accepts and, with extensions, what `jsonc-parser` does; property tests compare them.
//! Numbers of any size and unpaired escaped surrogates are accepted: the grammar (RFC 8259) allows both.

use std::{collections::HashSet, ops::Range};

use super::syntax_error::{Findings, SyntaxError, line_of};
use crate::quoted;

/// Bytes of the largest text whose keys are compared: more would be held in memory for little.
const MAX_COMPARED: usize = 1 << 20;
/// Duplicate keys that are reported of one text.
const MAX_DUPLICATES: usize = 100;

/// What a text may hold beyond plain JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonDialect {
    /// Nothing.
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
        // A line hides none of those behind it.
        findings.warnings.extend(check_part(text, start..end, JsonDialect::Json).error);
        if findings.warnings.len() == MAX_DUPLICATES {
            break;
        }
        start += line.len();
    }
    findings
}

fn check_part(text: &str, part: Range<usize>, dialect: JsonDialect) -> Findings {
    let mut checker = Checker {
        text,
        bytes: &text.as_bytes()[..part.end],
        at: part.start,
        dialect,
        open: Vec::new(),
        objects: 0,
        keys: HashSet::new(),
        duplicates: Vec::new(),
    };
    let error = checker.document().err();
    Findings { error, warnings: checker.duplicates }
}

/// An array or object that is open.
struct Open {
    /// The byte of its bracket.
    at: usize,
    close: u8,
    /// The number of the object.
    number: u32,
}

struct Checker<'t> {
    text: &'t str,
    /// Those of the text up to the end of the part that is checked.
    bytes: &'t [u8],
    at: usize,
    dialect: JsonDialect,
    open: Vec<Open>,
    /// Objects so far.
    objects: u32,
    /// The keys of each object, as they are spelled.
    keys: HashSet<(u32, &'t str)>,
    duplicates: Vec<SyntaxError>,
}

impl<'t> Checker<'t> {
    fn document(&mut self) -> Result<(), SyntaxError> {
        self.skip_space()?;
        if self.at == self.bytes.len() {
            return Ok(());
        }
        loop {
            self.value()?;
            if !self.behind_value()? {
                return Ok(());
            }
        }
    }

    /// Up to where the next value begins, or the end of the text.
    fn behind_value(&mut self) -> Result<bool, SyntaxError> {
        // Whether nothing has come yet behind the opening bracket.
        let mut is_first = self.open.last().is_some_and(|open| open.at + 1 == self.at);
        loop {
            self.skip_space()?;
            let Some(open) = self.open.last() else {
                return if self.at == self.bytes.len() { Ok(false) } else { Err(self.after_the_end()) };
            };
            let (close, opened_at) = (open.close, open.at);
            match self.bytes.get(self.at) {
                None => return Err(self.not_closed(opened_at)),
                Some(byte) if *byte == close => {
                    self.at += 1;
                    self.open.pop();
                    is_first = false;
                    continue;
                }
                Some(_) if is_first => {}
                Some(b',') => {
                    let comma = self.at;
                    self.at += 1;
                    self.skip_space()?;
                    if self.bytes.get(self.at) == Some(&close) {
                        if self.dialect == JsonDialect::Json {
                            return Err(SyntaxError::new(comma, format!("trailing comma before `{}`", close as char)));
                        }
                        continue;
                    }
                }
                Some(byte @ (b']' | b'}')) => {
                    let opened = self.bytes[opened_at] as char;
                    let line = line_of(self.text, opened_at);
                    let message = format!("`{}` does not close the `{opened}` of line {line}", *byte as char);
                    return Err(SyntaxError::new(self.at, message));
                }
                Some(_) => return Err(SyntaxError::new(self.at, format!("expected `,` or `{}`", close as char))),
            }
            if close == b'}' {
                self.key()?;
            }
            return Ok(true);
        }
    }

    fn after_the_end(&self) -> SyntaxError {
        let message = match self.bytes[self.at] {
            byte @ (b']' | b'}') => format!("`{}` closes nothing", byte as char),
            _ => "expected the end of the file: the JSON value before is complete".to_owned(),
        };
        SyntaxError::new(self.at, message)
    }

    fn not_closed(&self, opened_at: usize) -> SyntaxError {
        let (opened, line) = (self.bytes[opened_at], line_of(self.text, opened_at));
        let (opened, close) = (opened as char, (opened + 2) as char);
        SyntaxError::new(self.at, format!("expected `{close}`: the `{opened}` of line {line} is not closed"))
    }

    /// The next value, of an array or object only its bracket.
    fn value(&mut self) -> Result<(), SyntaxError> {
        self.skip_space()?;
        let at = self.at;
        match self.bytes.get(at) {
            Some(bracket @ (b'[' | b'{')) => {
                self.objects += u32::from(*bracket == b'{');
                // Both closing brackets are two behind the opening ones in ASCII.
                self.open.push(Open { at, close: bracket + 2, number: self.objects });
                self.at += 1;
                Ok(())
            }
            Some(quote @ (b'"' | b'\'')) => self.string(*quote),
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => self.number(),
            Some(_) => self.literal(),
            None => Err(match self.open.last() {
                Some(open) => self.not_closed(open.at),
                None => SyntaxError::new(at, "expected a value"),
            }),
        }
    }

    /// A key and its colon.
    fn key(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        match self.bytes.get(start) {
            Some(quote @ (b'"' | b'\'')) => self.string(*quote)?,
            _ if self.dialect == JsonDialect::Json5 && !self.word(start).is_empty() => {
                self.at += self.word(start).len();
            }
            Some(b',') => return Err(SyntaxError::new(start, "expected a key, found `,`")),
            _ => return Err(SyntaxError::new(start, "expected a key in double quotes")),
        }
        let (end, number) = (self.at, self.open.last().map_or(0, |open| open.number));
        self.skip_space()?;
        if self.bytes.get(self.at) != Some(&b':') {
            return Err(SyntaxError::new(self.at, "expected `:` behind the key"));
        }
        self.at += 1;
        let key = &self.text[start..end];
        if self.bytes.len() <= MAX_COMPARED
            && self.duplicates.len() < MAX_DUPLICATES
            // `//` is the usual key of a comment.
            && key != "\"//\""
            && !self.keys.insert((number, key))
        {
            self.duplicates
                .push(SyntaxError::new(start, format!("duplicate key {}", quoted(key.trim_matches(['"', '\''])))));
        }
        Ok(())
    }

    fn string(&mut self, quote: u8) -> Result<(), SyntaxError> {
        let start = self.at;
        if quote == b'\'' && self.dialect != JsonDialect::Json5 {
            return Err(SyntaxError::new(start, "expected double quotes around a string"));
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
                    return Err(SyntaxError::new(start, "the string is not closed in its line"));
                }
                Some(byte @ 0..0x20) if self.dialect != JsonDialect::Json5 => {
                    let message = format!("control character in a string: write it as \\u{byte:04x}");
                    return Err(SyntaxError::new(self.at, message));
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
            Some(b'u') => return Err(SyntaxError::new(at, "expected four hexadecimal digits behind `\\u`")),
            Some(b'\r') if self.dialect == JsonDialect::Json5 && self.bytes.get(at + 2) == Some(&b'\n') => 3,
            // Any other escaped character means itself; an escaped line break is dropped.
            Some(_) if self.dialect == JsonDialect::Json5 => 2,
            Some(_) => {
                let next = self.text[at + 1..].chars().next().unwrap_or_default();
                return Err(SyntaxError::new(at, format!("unknown escape {}", quoted(&format!("\\{next}")))));
            }
            None => 1,
        };
        Ok(())
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        let is_json5 = self.dialect == JsonDialect::Json5;
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let length = self.bytes[start..].iter().take_while(|byte| is_part(byte)).count();
        let text = &self.text[start..start + length];
        self.at += length;
        let unsigned = text.strip_prefix('-').or_else(|| text.strip_prefix('+').filter(|_| is_json5)).unwrap_or(text);
        let is_number = is_decimal(unsigned, is_json5)
            || is_json5
                && (matches!(unsigned, "Infinity" | "NaN")
                    || unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")).is_some_and(|digits| {
                        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
                    }));
        if is_number { Ok(()) } else { Err(SyntaxError::new(start, format!("{} is no JSON number", quoted(text)))) }
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
        Err(SyntaxError::new(start, format!("expected a value, found {found}")))
    }

    /// The name that begins at `start`.
    fn word(&self, start: usize) -> &'t str {
        let rest = &self.text[start..];
        let is_part = |letter: char| letter.is_alphanumeric() || "_$\u{200c}\u{200d}".contains(letter);
        &rest[..rest.find(|letter| !is_part(letter)).unwrap_or(rest.len())]
    }

    /// Passes over white space and comments.
    fn skip_space(&mut self) -> Result<(), SyntaxError> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b'/') if matches!(self.bytes.get(self.at + 1), Some(b'/' | b'*')) => self.comment()?,
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
            return Err(SyntaxError::new(start, "comments are not allowed in JSON"));
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

/// Whether `text` is a decimal number without a sign. `lenient`: with the digits before or behind its point left out.
fn is_decimal(text: &str, lenient: bool) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    let mut rest = &text[whole..];
    if whole > 1 && text.starts_with('0') {
        return false;
    }
    let mut fraction = 0;
    if let Some(behind) = rest.strip_prefix('.') {
        fraction = digits(behind);
        rest = &behind[fraction..];
        if !lenient && (whole == 0 || fraction == 0) {
            return false;
        }
    }
    if whole + fraction == 0 {
        return false;
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let length = digits(exponent);
        return length > 0 && length == exponent.len();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

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
            ("{\"a\" 1}", 5, "expected `:` behind the key"),
            ("{\"a\": }", 6, "expected a value, found `}`"),
            ("{\"a\": True}", 6, "expected a value, found `True`"),
            ("[undefined]", 1, "expected a value, found `undefined`"),
            ("[01]", 1, "`01` is no JSON number"),
            ("[1.]", 1, "`1.` is no JSON number"),
            ("[+1]", 1, "`+1` is no JSON number"),
            ("[\"a\nb\"]", 1, "the string is not closed in its line"),
            ("[\"a\tb\"]", 3, "control character in a string: write it as \\u0009"),
            ("[\"\\x\"]", 2, "unknown escape `\\x`"),
            ("[\"\\u12g4\"]", 2, "expected four hexadecimal digits behind `\\u`"),
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
