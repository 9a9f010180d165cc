//! Character maps: from the codes of a string to text, or to the numbers of glyphs (ISO 32000-1, 9.7.5 and 9.10.3).
//!
//! Maps of any size are read, but a limited number of entries is kept.

use crate::budget::{PdfBudget, PdfError};
use crate::lexer::{PdfLexer, PdfToken};
use crate::object::Object;

/// Entries of one map: a code of two bytes has no more.
const MAX_ENTRIES: usize = 70_000;

/// Bytes of all texts of one map.
const MAX_POOL_BYTES: usize = 1 << 20;

/// Ranges of codes that define how many bytes a code has.
const MAX_CODE_RANGES: usize = 256;

#[derive(Debug, Default)]
pub(super) struct CMap {
    /// Codes of so many bytes are between two of them.
    spaces: Vec<CodeSpace>,
    /// Sorted by their first code.
    ranges: Vec<Range>,
    pool: String,
    pub(super) is_vertical: bool,
}

#[derive(Debug)]
struct CodeSpace {
    bytes: usize,
    low: u32,
    high: u32,
}

#[derive(Debug)]
struct Range {
    low: u32,
    high: u32,
    target: CodeTarget,
}

#[derive(Clone, Copy, Debug)]
enum CodeTarget {
    Text { from: u32, length: u16 },
    Glyph(u32),
}

impl CMap {
    pub(super) fn parse(bytes: &[u8], budget: &PdfBudget<'_>) -> Result<Self, PdfError> {
        let mut map = Self::default();
        let mut lexer = PdfLexer::of_content(bytes);
        let mut operands: Vec<Object> = Vec::new();
        loop {
            let before = lexer.position();
            let Some(token) = lexer.token() else { break };
            budget.parsed(lexer.position() - before)?;
            match token {
                // No section has more than a hundred entries of three, says the standard; some have thousands.
                PdfToken::Object(object) if operands.len() < 3 * MAX_ENTRIES => operands.push(object),
                PdfToken::Object(_) => {}
                PdfToken::Keyword(word) => {
                    map.section(word, &operands);
                    operands.clear();
                }
            }
        }
        map.ranges.sort_by_key(|range| range.low);
        Ok(map)
    }

    fn section(&mut self, end: &[u8], operands: &[Object]) {
        match end {
            b"endcodespacerange" => {
                for pair in operands.chunks_exact(2) {
                    if let (Some(low), Some(high)) = (pair[0].string(), pair[1].string())
                        && self.spaces.len() < MAX_CODE_RANGES
                        && (1..=4).contains(&low.len())
                    {
                        self.spaces.push(CodeSpace { bytes: low.len(), low: code(low), high: code(high) });
                    }
                }
            }
            b"endbfchar" | b"endbfrange" | b"endcidchar" | b"endcidrange" => {
                // A code and its target, or the first and the last code and the target of the first.
                let size = if end.ends_with(b"range") { 3 } else { 2 };
                for entry in operands.chunks_exact(size) {
                    let (low, high) = (entry[0].string().map(code), entry[size - 2].string().map(code));
                    let (Some(low), Some(high)) = (low, high) else { continue };
                    match &entry[size - 1] {
                        first if end.starts_with(b"endcid") => {
                            let Some(glyph) = first.index() else { continue };
                            self.add(low, high, CodeTarget::Glyph(u32::try_from(glyph).unwrap_or_default()));
                        }
                        Object::Array(items) if size == 3 => {
                            (low..=high).zip(items).for_each(|(code, item)| self.add_text(code, code, item));
                        }
                        text => self.add_text(low, high, text),
                    }
                }
            }
            b"def" => {
                if let [Object::Name(name), Object::Number(mode)] = operands
                    && name == b"WMode"
                {
                    self.is_vertical = *mode != 0.0;
                }
            }
            _ => {}
        }
    }

    fn add_text(&mut self, low: u32, high: u32, text: &Object) {
        let from = self.pool.len();
        match text {
            Object::String(units) => {
                let units = units.chunks(2).map(|unit| unit.iter().fold(0, |unit, byte| unit << 8 | u16::from(*byte)));
                self.pool.extend(char::decode_utf16(units).map_while(Result::ok).take(64));
            }
            Object::Name(name) => {
                let name = str::from_utf8(name).unwrap_or_default();
                self.pool.push_str(&super::encoding::text_of(name).unwrap_or_default());
            }
            _ => return,
        }
        let length = u16::try_from(self.pool.len() - from);
        if let (Ok(from), Ok(length)) = (u32::try_from(from), length)
            && self.pool.len() <= MAX_POOL_BYTES
        {
            self.add(low, high, CodeTarget::Text { from, length });
        }
        if self.pool.len() > MAX_POOL_BYTES {
            self.pool.truncate(from);
        }
    }

    fn add(&mut self, low: u32, high: u32, target: CodeTarget) {
        if self.ranges.len() < MAX_ENTRIES && low <= high {
            self.ranges.push(Range { low, high, target });
        }
    }

    pub(super) fn has_code_spaces(&self) -> bool {
        !self.spaces.is_empty()
    }

    pub(super) fn weight(&self) -> usize {
        self.ranges.len() * size_of::<Range>() + self.pool.len()
    }

    /// The first code of a string that is not empty, and its bytes.
    pub(super) fn next_code(&self, string: &[u8]) -> (u32, usize) {
        for bytes in 1..=string.len().min(4) {
            let candidate = code(&string[..bytes]);
            if self.spaces.iter().any(|space| space.holds(candidate, bytes)) {
                return (candidate, bytes);
            }
        }
        let shortest = self.spaces.iter().map(|space| space.bytes).min().unwrap_or(1).min(string.len());
        (code(&string[..shortest]), shortest)
    }

    fn range(&self, code: u32) -> Option<&Range> {
        let after = self.ranges.partition_point(|range| range.low <= code);
        // Ranges that overlap are rare: of those that begin before, the nearest ones are looked at.
        self.ranges[..after].iter().rev().take(4).find(|range| code <= range.high)
    }

    pub(super) fn glyph(&self, code: u32) -> Option<u32> {
        let range = self.range(code)?;
        if let CodeTarget::Glyph(first) = range.target { Some(first.saturating_add(code - range.low)) } else { None }
    }

    /// Appends the text of a code; false if it has none.
    pub(super) fn text(&self, code: u32, to: &mut String) -> bool {
        let Some(Range { low, target: CodeTarget::Text { from, length }, .. }) = self.range(code) else { return false };
        let text = &self.pool[*from as usize..*from as usize + usize::from(*length)];
        let mut characters = text.chars();
        let Some(last) = characters.next_back() else { return true };
        to.push_str(characters.as_str());
        match u32::from(last).checked_add(code - low).and_then(char::from_u32) {
            Some(character) => to.push(character),
            None => return false,
        }
        true
    }
}

impl CodeSpace {
    /// Each byte is between those of the two ends.
    fn holds(&self, code: u32, bytes: usize) -> bool {
        self.bytes == bytes
            && [24, 16, 8, 0].iter().all(|shift| {
                let byte = |code: u32| code >> shift & 0xFF;
                (byte(self.low)..=byte(self.high)).contains(&byte(code))
            })
    }
}

fn code(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |code, byte| code << 8 | u32::from(*byte))
}
