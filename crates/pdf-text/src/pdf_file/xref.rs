//! Where the objects of a file are: its cross-reference table (ISO 32000-1, 7.5), or what a search finds.

use memchr::memmem;

use super::filter::{self, direct_filters};
use crate::budget::{PdfBudget, PdfError};
use crate::lexer::{PdfLexer, is_space, read_indirect, stream_range};
use crate::object::{Dict, Object};

/// Objects of a file; the largest books have a tenth.
const MAX_OBJECTS: usize = 2_000_000;

/// Tables of one file, each of which names the one before it: one for each time it was changed.
const MAX_TABLES: usize = 512;

/// Bytes of one decoded cross-reference stream.
const MAX_STREAM_BYTES: usize = 40 << 20;

/// How far from the end the position of the last table is looked for.
const TAIL_BYTES: usize = 2048;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum XrefEntry {
    #[default]
    Missing,
    At(u32),
    Within {
        stream: u32,
        index: u32,
    },
}

#[derive(Debug, Default)]
pub(super) struct Xref {
    entries: Vec<XrefEntry>,
    pub(super) trailer: Dict,
}

impl Xref {
    pub(super) fn entry(&self, number: u32) -> XrefEntry {
        self.entries.get(number as usize).copied().unwrap_or_default()
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        (0_u32..).zip(&self.entries).filter(|(_, entry)| **entry != XrefEntry::Missing).map(|(number, _)| number)
    }

    pub(super) fn set(&mut self, number: u64, entry: XrefEntry) {
        let Some(at) = usize::try_from(number).ok().filter(|at| *at < MAX_OBJECTS) else { return };
        if at >= self.entries.len() {
            self.entries.resize(at + 1, XrefEntry::Missing);
        }
        self.entries[at] = entry;
    }

    /// Reads the tables, the newest first; `None` if they cannot be followed.
    pub(super) fn read(bytes: &[u8], budget: &PdfBudget<'_>) -> Result<Option<Self>, PdfError> {
        let tail = bytes.len().saturating_sub(TAIL_BYTES);
        let Some(found) = memmem::rfind(&bytes[tail..], b"startxref") else { return Ok(None) };
        let mut lexer = PdfLexer::of_file(bytes, tail + found + "startxref".len());
        let mut next = lexer.unsigned().and_then(|position| usize::try_from(position).ok());
        let mut xref = Self::default();
        let mut seen = Vec::new();
        while let Some(position) = next {
            // Tables that name each other would be read for ever.
            if seen.contains(&position) || seen.len() >= MAX_TABLES {
                break;
            }
            seen.push(position);
            let Some(trailer) = xref.read_section(bytes, position, budget)? else {
                if seen.len() == 1 {
                    return Ok(None);
                }
                break;
            };
            let position = |key: &[u8]| trailer.get(key).and_then(Object::index);
            // A file for readers of both forms has a stream besides its table (7.5.8.4).
            if let Some(stream) = position(b"XRefStm").filter(|stream| !seen.contains(stream)) {
                seen.push(stream);
                xref.read_section(bytes, stream, budget)?;
            }
            next = position(b"Prev");
            if seen.len() == 1 || xref.trailer.get(b"Root").is_none() {
                xref.trailer = trailer;
            }
        }
        Ok(xref.trailer.get(b"Root").is_some().then_some(xref))
    }

    /// One table or stream; its entries do not replace newer ones. Gives its trailer.
    fn read_section(
        &mut self,
        bytes: &[u8],
        position: usize,
        budget: &PdfBudget<'_>,
    ) -> Result<Option<Dict>, PdfError> {
        let mut lexer = PdfLexer::of_file(bytes, position);
        if lexer.keyword(b"xref") { self.read_table(lexer, budget) } else { self.read_stream(bytes, position, budget) }
    }

    fn read_table(&mut self, mut lexer: PdfLexer<'_>, budget: &PdfBudget<'_>) -> Result<Option<Dict>, PdfError> {
        while !lexer.keyword(b"trailer") {
            let (Some(first), Some(count)) = (lexer.unsigned(), lexer.unsigned()) else { return Ok(None) };
            for number in (first..).take(usize::try_from(count).unwrap_or(usize::MAX)) {
                budget.work(4)?;
                let (Some(offset), Some(_)) = (lexer.unsigned(), lexer.unsigned()) else { return Ok(None) };
                if lexer.keyword(b"n") {
                    self.add(number, u32::try_from(offset).map_or(XrefEntry::Missing, XrefEntry::At));
                } else if !lexer.keyword(b"f") {
                    return Ok(None);
                }
            }
        }
        Ok(lexer.object().and_then(|object| object.dict().cloned()))
    }

    fn read_stream(&mut self, bytes: &[u8], position: usize, budget: &PdfBudget<'_>) -> Result<Option<Dict>, PdfError> {
        let Some(found) = read_indirect(bytes, position, budget)? else { return Ok(None) };
        let (Object::Dict(dict), Some(start)) = (found.object, found.stream) else { return Ok(None) };
        let range = stream_range(bytes, start, dict.get(b"Length").and_then(Object::index), budget)?;
        let Some(filters) = direct_filters(&dict) else { return Ok(None) };
        let Some(decoded) = filter::decode(bytes[range].into(), &filters, MAX_STREAM_BYTES, budget)? else {
            return Ok(None);
        };
        let widths: Vec<usize> =
            dict.get(b"W").and_then(Object::array).unwrap_or_default().iter().filter_map(Object::index).collect();
        let [kind, second, third] = widths[..] else { return Ok(None) };
        let Some(row) =
            kind.checked_add(second).and_then(|sum| sum.checked_add(third)).filter(|row| (1..=24).contains(row))
        else {
            return Ok(None);
        };
        let whole = [Object::Number(0.0), Object::Number(4_294_967_295.0)];
        let sections = dict.get(b"Index").and_then(Object::array).unwrap_or(&whole);
        let mut rows = decoded.bytes.chunks_exact(row);
        for section in sections.chunks_exact(2) {
            let (Some(first), Some(count)) = (section[0].index(), section[1].index()) else { return Ok(None) };
            for (number, row) in (first as u64..).zip(rows.by_ref().take(count)) {
                budget.work(4)?;
                let (kind_field, rest) = row.split_at(kind);
                let (second, third) = rest.split_at(second);
                // Without a field for the kind it is 1 (7.5.8.2).
                let kind = if kind == 0 { 1 } else { big_endian(kind_field) };
                let [second, third] = [second, third].map(|field| u32::try_from(big_endian(field)));
                match (kind, second, third) {
                    (1, Ok(offset), _) => self.add(number, XrefEntry::At(offset)),
                    (2, Ok(stream), Ok(index)) => self.add(number, XrefEntry::Within { stream, index }),
                    _ => {}
                }
            }
        }
        Ok(Some(dict))
    }

    fn add(&mut self, number: u64, entry: XrefEntry) {
        if u32::try_from(number).is_ok_and(|number| self.entry(number) == XrefEntry::Missing) {
            self.set(number, entry);
        }
    }

    /// Looks for objects and trailers everywhere, for a file whose tables are damaged. Streams of objects are not
    /// opened.
    pub(super) fn search(bytes: &[u8], budget: &PdfBudget<'_>) -> Result<Self, PdfError> {
        let mut xref = Self::default();
        for found in memmem::find_iter(bytes, b"obj") {
            budget.work(8)?;
            if let Some((number, position)) = header_before(bytes, found) {
                // Of several with one number the last counts: a change adds the new object at the end (7.5.6).
                xref.set(number, XrefEntry::At(position));
            }
        }
        for found in memmem::find_iter(bytes, b"trailer") {
            let mut lexer = PdfLexer::of_file(bytes, found + "trailer".len());
            let trailer = lexer.object();
            budget.parsed(lexer.position() - found)?;
            if let Some(Object::Dict(trailer)) = trailer
                && trailer.get(b"Root").is_some()
            {
                xref.trailer = trailer;
            }
        }
        Ok(xref)
    }
}

fn header_before(bytes: &[u8], found: usize) -> Option<(u64, u32)> {
    let mut at = found;
    let mut back = |is: fn(u8) -> bool, most: usize| {
        let from = at;
        while at > 0 && from - at < most && is(bytes[at - 1]) {
            at -= 1;
        }
        (from > at).then_some(at..from)
    };
    let digit: fn(u8) -> bool = |byte| byte.is_ascii_digit();
    back(is_space, 16)?;
    // No generation has more digits: the largest is 65,535 (7.5.4).
    back(digit, 5)?;
    back(is_space, 16)?;
    let number = back(digit, 10)?;
    let position = u32::try_from(number.start).ok()?;
    let number = std::str::from_utf8(&bytes[number]).ok()?.parse().ok()?;
    Some((number, position))
}

fn big_endian(field: &[u8]) -> u64 {
    field.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}
