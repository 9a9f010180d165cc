//! From bytes to objects, for the file itself and for the instructions of a page.
//!
//! Accepts any bytes: an invalid token ends an object or is skipped. Depth and size of one object are
//! bounded. Which bytes are space, part of a word, or a digit is defined in ISO 32000-1, 7.2.2.

use std::ops::Range;

use memchr::memmem;

use crate::budget::{PdfBudget, PdfError};
use crate::object::{Dict, Object, Reference};

/// Arrays and dictionaries within one another; deeper ones are refused, as each level takes stack.
const MAX_DEPTH: usize = 64;

/// Objects within one object, and as many pieces of its strings.
const MAX_NODES: usize = 400_000;

/// Bytes of a string that cost as much as an object.
const PER_NODE: usize = 64;

const MAX_NAME_BYTES: usize = 512;

#[derive(Debug, PartialEq)]
pub(super) enum PdfToken<'a> {
    Object(Object),
    /// Letters that are not an object: an operator, `obj`, `stream`.
    Keyword(&'a [u8]),
}

/// A position in bytes.
#[derive(Clone, Debug)]
pub(super) struct PdfLexer<'a> {
    bytes: &'a [u8],
    position: usize,
    /// Whether `1 0 R` is a reference: in the file it is, on a page not.
    references: bool,
    nodes: usize,
    pub(super) is_damaged: bool,
}

impl<'a> PdfLexer<'a> {
    pub(super) fn of_file(bytes: &'a [u8], position: usize) -> Self {
        Self { bytes, position: position.min(bytes.len()), references: true, nodes: MAX_NODES, is_damaged: false }
    }

    pub(super) fn of_content(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0, references: false, nodes: MAX_NODES, is_damaged: false }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.position..]
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.position = self.position.saturating_add(bytes).min(self.bytes.len());
    }

    /// The next token; `None` at the end. An invalid object is skipped.
    pub(super) fn token(&mut self) -> Option<PdfToken<'a>> {
        self.nodes = MAX_NODES;
        loop {
            self.skip_space();
            let first = self.peek()?;
            if !is_regular(first) || is_number_start(first) {
                let from = self.position;
                if let Some(object) = self.value(0) {
                    return Some(PdfToken::Object(object));
                }
                // An end mark without its start hides nothing.
                self.is_damaged |= matches!(first, b'[' | b'(' | b'<');
                self.position = self.position.max(from + 1);
                continue;
            }
            let word = self.word();
            return Some(match word {
                b"true" => PdfToken::Object(Object::Bool(true)),
                b"false" => PdfToken::Object(Object::Bool(false)),
                b"null" => PdfToken::Object(Object::Null),
                _ => PdfToken::Keyword(word),
            });
        }
    }

    /// The object here; `None` if there is none, or it is too large.
    pub(super) fn object(&mut self) -> Option<Object> {
        self.nodes = MAX_NODES;
        self.value(0)
    }

    pub(super) fn keyword(&mut self, word: &[u8]) -> bool {
        self.skip_space();
        let is_next = self.rest().starts_with(word);
        if is_next {
            self.position += word.len();
        }
        is_next
    }

    pub(super) fn unsigned(&mut self) -> Option<u64> {
        self.skip_space();
        // As many digits as the largest `u64` has.
        let digits = self.rest().iter().take(20).take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(&self.rest()[..digits]).ok()?.parse().ok()?;
        self.position += digits;
        Some(number)
    }

    pub(super) fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            if is_space(byte) {
                self.position += 1;
            } else if byte == b'%' {
                let line = self.rest();
                self.position += memchr::memchr2(b'\n', b'\r', line).unwrap_or(line.len());
            } else {
                return;
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    fn word(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let length = rest.iter().position(|byte| !is_regular(*byte)).unwrap_or(rest.len());
        self.position += length;
        &rest[..length]
    }

    fn value(&mut self, depth: usize) -> Option<Object> {
        self.skip_space();
        self.nodes = self.nodes.checked_sub(1)?;
        let first = self.peek()?;
        match first {
            b'/' => Some(Object::Name(self.name())),
            b'(' => self.literal_string(),
            b'<' if self.rest().starts_with(b"<<") => self.dict(depth),
            b'<' => self.hex_string(),
            b'[' => self.array(depth),
            _ if is_number_start(first) => Some(self.number_or_reference()),
            _ if is_regular(first) => match self.word() {
                b"true" => Some(Object::Bool(true)),
                b"false" => Some(Object::Bool(false)),
                // The object ends without its end mark.
                b"endobj" | b"obj" | b"stream" | b"endstream" | b"xref" | b"trailer" | b"startxref" => None,
                _ => Some(Object::Null),
            },
            _ => None,
        }
    }

    fn array(&mut self, depth: usize) -> Option<Object> {
        self.position += 1;
        let mut items = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                // The end of the file ends everything that is open.
                end @ (None | Some(b']')) => {
                    self.is_damaged |= end.is_none();
                    self.position += usize::from(end.is_some());
                    return Some(Object::Array(items));
                }
                Some(_) if depth == MAX_DEPTH => return None,
                Some(_) => items.push(self.value(depth + 1)?),
            }
        }
    }

    fn dict(&mut self, depth: usize) -> Option<Object> {
        self.position += 2;
        let mut entries = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                None => {
                    self.is_damaged = true;
                    break;
                }
                Some(b'>') => {
                    self.position += if self.rest().starts_with(b">>") { 2 } else { 1 };
                    break;
                }
                Some(b'/') if depth < MAX_DEPTH => {
                    let name = self.name();
                    self.skip_space();
                    // A name without a value before the end.
                    let value = if self.peek() == Some(b'>') { Object::Null } else { self.value(depth + 1)? };
                    entries.push((name, value));
                }
                Some(_) => return None,
            }
        }
        Some(Object::Dict(Dict::of(entries)))
    }

    fn name(&mut self) -> Vec<u8> {
        self.position += 1;
        let word = self.word();
        let mut name = Vec::with_capacity(word.len().min(MAX_NAME_BYTES));
        let mut at = 0;
        while at < word.len() && name.len() < MAX_NAME_BYTES {
            let escaped = || Some(hex_digit(*word.get(at + 1)?)? << 4 | hex_digit(*word.get(at + 2)?)?);
            match (word[at], escaped()) {
                (b'#', Some(byte)) => {
                    name.push(byte);
                    at += 3;
                }
                (byte, _) => {
                    name.push(byte);
                    at += 1;
                }
            }
        }
        name
    }

    fn literal_string(&mut self) -> Option<Object> {
        self.position += 1;
        let mut string = Vec::new();
        let mut open = 1_usize;
        while let Some(byte) = self.peek() {
            self.position += 1;
            match byte {
                b'(' => open += 1,
                b')' => {
                    open -= 1;
                    if open == 0 {
                        break;
                    }
                }
                b'\\' => {
                    self.escape(&mut string);
                    continue;
                }
                // While it is read, not at its end: it may be as long as the file.
                _ if string.len() / PER_NODE > self.nodes => return None,
                // Any line ending is one line feed.
                b'\r' => {
                    if self.peek() == Some(b'\n') {
                        self.position += 1;
                    }
                    string.push(b'\n');
                    continue;
                }
                _ => {}
            }
            string.push(byte);
        }
        self.is_damaged |= open > 0;
        self.pay_for(string)
    }

    fn escape(&mut self, string: &mut Vec<u8>) {
        let Some(byte) = self.peek() else { return };
        self.position += 1;
        string.push(match byte {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'b' => 8,
            b'f' => 12,
            b'\r' => {
                if self.peek() == Some(b'\n') {
                    self.position += 1;
                }
                return;
            }
            b'\n' => return,
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(digit @ b'0'..=b'7') = self.peek() else { break };
                    self.position += 1;
                    code = code * 8 + u32::from(digit - b'0');
                }
                // Overflow is ignored, as the standard says.
                (code & 0xFF) as u8
            }
            other => other,
        });
    }

    fn hex_string(&mut self) -> Option<Object> {
        self.position += 1;
        let rest = self.rest();
        let length = memchr::memchr(b'>', rest).unwrap_or(rest.len());
        self.skip(length + 1);
        self.is_damaged |= length == rest.len();
        if length / 2 / PER_NODE > self.nodes {
            return None;
        }
        let mut string = Vec::with_capacity(length / 2);
        let mut high = None;
        for digit in rest[..length].iter().filter_map(|byte| hex_digit(*byte)) {
            high = match high {
                None => Some(digit << 4),
                Some(high) => {
                    string.push(high | digit);
                    None
                }
            };
        }
        string.extend(high);
        self.pay_for(string)
    }

    fn pay_for(&mut self, string: Vec<u8>) -> Option<Object> {
        self.nodes = self.nodes.checked_sub(string.len() / PER_NODE)?;
        Some(Object::String(string))
    }

    fn number_or_reference(&mut self) -> Object {
        let number = self.number();
        if self.references && number.fract() == 0.0 && (0.0..=4_294_967_295.0).contains(&number) {
            // A copy looks ahead: in an array two numbers may follow each other without an `R`.
            let mut ahead = self.clone();
            if let Some(generation) = ahead.unsigned().and_then(|generation| u32::try_from(generation).ok())
                && ahead.keyword(b"R")
                && ahead.peek().is_none_or(|byte| !is_regular(byte))
            {
                self.position = ahead.position;
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
                return Object::Reference(Reference { number: number as u32, generation });
            }
        }
        Object::Number(number)
    }

    /// Readers accept numbers that the standard does not allow: `--5`, `1.2.3`, `4-7`.
    fn number(&mut self) -> f64 {
        let mut number = 0.0_f64;
        let mut scale = 0.0_f64;
        let mut negative = false;
        let mut digits = 0;
        while let Some(byte) = self.peek() {
            match byte {
                b'0'..=b'9' => {
                    digits += 1;
                    let digit = f64::from(byte - b'0');
                    if scale == 0.0 {
                        number = number * 10.0 + digit;
                    } else {
                        number += digit * scale;
                        scale /= 10.0;
                    }
                }
                b'.' if scale == 0.0 => scale = 0.1,
                b'-' if digits == 0 => negative = true,
                b'+' if digits == 0 => {}
                b'.' | b'-' | b'+' => {
                    self.word();
                    break;
                }
                _ => break,
            }
            self.position += 1;
        }
        // `1e9` is not a number; on a page an operator may follow without a space.
        if self.references
            && self.peek().is_some_and(|byte| byte.is_ascii_alphabetic())
            && !self.rest().starts_with(b"endobj")
        {
            self.word();
        }
        if negative { -number } else { number }
    }
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b'\0' | b'\t' | b'\n' | 12 | b'\r' | b' ')
}

pub(super) fn is_regular(byte: u8) -> bool {
    !is_space(byte) && !matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

pub(super) fn is_number_start(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.')
}

pub(super) fn hex_digit(byte: u8) -> Option<u8> {
    u8::try_from(char::from(byte).to_digit(16)?).ok()
}

/// One indirect object where it is in the file (`12 0 obj … endobj`), and where its bytes begin if it is a stream.
pub(super) struct Indirect {
    pub(super) reference: Reference,
    pub(super) object: Object,
    pub(super) stream: Option<usize>,
}

/// The object at `position`; `None` where there is none.
pub(super) fn read_indirect(
    bytes: &[u8],
    position: usize,
    budget: &PdfBudget<'_>,
) -> Result<Option<Indirect>, PdfError> {
    let mut lexer = PdfLexer::of_file(bytes, position);
    let Some(reference) = header(&mut lexer) else { return Ok(None) };
    let object = lexer.object();
    budget.parsed(lexer.position().saturating_sub(position))?;
    let Some(object) = object else { return Ok(None) };
    let stream = (matches!(object, Object::Dict(_)) && lexer.keyword(b"stream")).then(|| {
        // One line ending, and no other white space: that would belong to the bytes.
        let ending = match lexer.rest() {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            _ => 0,
        };
        lexer.position() + ending
    });
    Ok(Some(Indirect { reference, object, stream }))
}

/// The numbers that an object begins with, as in `12 0 obj`.
fn header(lexer: &mut PdfLexer<'_>) -> Option<Reference> {
    let number = u32::try_from(lexer.unsigned()?).ok()?;
    let generation = u32::try_from(lexer.unsigned()?).ok()?;
    lexer.keyword(b"obj").then_some(Reference { number, generation })
}

/// The bytes of a stream: as many as its dictionary says, if it ends there, and otherwise up to its end mark.
pub(super) fn stream_range(
    bytes: &[u8],
    start: usize,
    length: Option<usize>,
    budget: &PdfBudget<'_>,
) -> Result<Range<usize>, PdfError> {
    let start = start.min(bytes.len());
    if let Some(end) = length.and_then(|length| start.checked_add(length)).filter(|end| *end <= bytes.len())
        && PdfLexer::of_file(bytes, end).keyword(b"endstream")
    {
        return Ok(start..end);
    }
    let rest = &bytes[start..];
    let end = memmem::find(rest, b"endstream").or_else(|| memmem::find(rest, b"endobj")).unwrap_or(rest.len());
    budget.work(end as u64 / 8)?;
    // The line ending before the mark is not part of the bytes.
    let mut kept = &rest[..end];
    kept = kept.strip_suffix(b"\n").unwrap_or(kept);
    kept = kept.strip_suffix(b"\r").unwrap_or(kept);
    Ok(start..start + kept.len())
}
