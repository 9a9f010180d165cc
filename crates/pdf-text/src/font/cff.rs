//! The encoding in a compact font program (CFF, Adobe Technical Note 5176), which counts where the PDF names none: the
//! ligatures of most fonts of TeX.

use super::encoding::BaseEncoding;
use crate::object::{Dict, Object};
use crate::{budget::PdfError, pdf_file::PdfFile};

/// The standard strings from 150 on (appendix A of the note); those from 1 on are the standard encoding in its order.
const LATIN_STRINGS: &str = "¹¬µ™Ð½±Þ¼÷¦°þ¾²®−ð×³©ÁÂÄÀÅÃÇÉÊËÈÍÎÏÌÑÓÔÖÒÕŠÚÛÜÙÝŸŽáâäàåãçéêëèíîïìñóôöòõšúûüùýÿž";
const FIRST_LATIN_STRING: usize = 150;
const STANDARD_STRINGS: usize = 391;
/// The only ones of the expert set that text has.
const LIGATURES: [(usize, &str); 3] = [(266, "ff"), (267, "ffi"), (268, "ffl")];

/// Operators of the top dictionary.
const CHARSET: u8 = 15;
const ENCODING: u8 = 16;
const CHAR_STRINGS: u8 = 17;

/// Bytes of a program up to the tables that are read of it.
const MAX_PROGRAM_BYTES: usize = 1 << 20;

/// The encoding in the compact program of a font, if it has one.
pub(super) fn own_encoding(file: &PdfFile<'_>, font: &Dict) -> Result<Option<Vec<String>>, PdfError> {
    let descriptor = file.get(font, b"FontDescriptor")?;
    let Some(descriptor) = descriptor.dict() else { return Ok(None) };
    let Object::Stream(program) = file.get(descriptor, b"FontFile3")? else { return Ok(None) };
    if program.dict.get(b"Subtype").and_then(Object::name) != Some(b"Type1C") {
        return Ok(None);
    }
    let decoded = file.decode(&program, MAX_PROGRAM_BYTES)?;
    Ok(decoded.and_then(|decoded| encoding_of(&decoded.bytes)))
}

/// The glyph names of the 256 codes; `None` for the standard encoding, and for a program that cannot be followed.
fn encoding_of(program: &[u8]) -> Option<Vec<String>> {
    let names = Index::at(program, usize::from(*program.get(2)?))?;
    let tops = Index::at(program, names.end()?)?;
    let strings = Index::at(program, tops.end()?)?;
    let top = tops.get(0)?;
    // 0 and 1 are the standard encoding and the expert one.
    let encoding = operand(top, ENCODING).filter(|offset| *offset > 1)?;
    let glyphs = Index::at(program, operand(top, CHAR_STRINGS)?)?.count;
    let charset = charset(program, operand(top, CHARSET).unwrap_or(0), glyphs)?;
    let name = |string: usize| match string.checked_sub(STANDARD_STRINGS) {
        Some(own) => strings.get(own).map(|name| String::from_utf8_lossy(name).into_owned()),
        None => standard_string(string),
    };
    let mut found = vec![String::new(); 256];
    let mut set = |code: u8, string: usize| found[usize::from(code)] = name(string).unwrap_or_default();
    let (format, count) = (*program.get(encoding)?, usize::from(*program.get(encoding + 1)?));
    let (kind, mut at) = (format & 0x7F, encoding + 2);
    let has_ranges = kind != 0;
    let mut glyph = 1;
    for _ in 0..count {
        let (first, more) = (*program.get(at)?, if has_ranges { *program.get(at + 1)? } else { 0 });
        at += 1 + usize::from(has_ranges);
        for code in first..=first.saturating_add(more) {
            set(code, charset.get(glyph).copied().unwrap_or(0));
            glyph += 1;
        }
    }
    if format & 0x80 != 0 {
        for supplement in program.get(at + 1..)?.chunks_exact(3).take(usize::from(*program.get(at)?)) {
            set(supplement[0], usize::from(u16::from_be_bytes([supplement[1], supplement[2]])));
        }
    }
    Some(found)
}

/// The string of each glyph. `None` for the expert sets.
fn charset(program: &[u8], offset: usize, glyphs: usize) -> Option<Vec<usize>> {
    match offset {
        0 => return Some((0..glyphs).collect()),
        1 | 2 => return None,
        _ => {}
    }
    let wide = |at: usize| Some(usize::from(u16::from_be_bytes(*program.get(at..)?.first_chunk()?)));
    let (mut strings, mut at) = (vec![0], offset + 1);
    while strings.len() < glyphs {
        let first = wide(at)?;
        let (more, bytes) = match program.get(offset)? {
            0 => (0, 2),
            1 => (usize::from(*program.get(at + 2)?), 3),
            _ => (wide(at + 2)?, 4),
        };
        strings.extend((first..=first + more).take(glyphs));
        at += bytes;
    }
    Some(strings)
}

fn standard_string(string: usize) -> Option<String> {
    if let Some((_, name)) = LIGATURES.iter().find(|(ligature, _)| *ligature == string) {
        return Some((*name).to_owned());
    }
    let character = match string.checked_sub(FIRST_LATIN_STRING) {
        Some(latin) => LATIN_STRINGS.chars().nth(latin),
        None => (0..=255).filter_map(|code| BaseEncoding::Standard.character(code)).nth(string.checked_sub(1)?),
    };
    character.map(|character| format!("uni{:04X}", u32::from(character)))
}

/// The first operand of an operator of one byte in a dictionary.
fn operand(dict: &[u8], operator: u8) -> Option<usize> {
    let (mut at, mut last) = (0, None);
    while let Some(byte) = dict.get(at).copied() {
        let rest = &dict[at + 1..];
        let (length, number) = match byte {
            12 => (1, None),
            0..=21 if byte == operator => return last.and_then(|number| usize::try_from(number).ok()),
            0..=21 => (0, None),
            28 => (2, Some(i32::from(i16::from_be_bytes(*rest.first_chunk()?)))),
            29 => (4, Some(i32::from_be_bytes(*rest.first_chunk()?))),
            // A real number: digits of four bits up to one that ends it.
            30 => (rest.iter().position(|pair| pair & 0xF == 0xF)? + 1, None),
            32..=246 => (0, Some(i32::from(byte) - 139)),
            247..=250 => (1, Some((i32::from(byte) - 247) * 256 + i32::from(*rest.first()?) + 108)),
            251..=254 => (1, Some(-(i32::from(byte) - 251) * 256 - i32::from(*rest.first()?) - 108)),
            _ => return None,
        };
        last = number;
        at += 1 + length;
    }
    None
}

/// A list of pieces of bytes.
struct Index<'p> {
    program: &'p [u8],
    count: usize,
    offset_bytes: usize,
    offsets: usize,
}

impl<'p> Index<'p> {
    fn at(program: &'p [u8], at: usize) -> Option<Self> {
        let count = usize::from(u16::from_be_bytes(*program.get(at..)?.first_chunk()?));
        let offset_bytes = if count == 0 { 0 } else { usize::from(*program.get(at + 2)?) };
        Some(Self { program, count, offset_bytes, offsets: at + 2 + usize::from(count > 0) })
            .filter(|_| offset_bytes <= 4)
    }

    /// Where the piece of that number begins; that of the number behind the last is the end.
    fn place(&self, number: usize) -> Option<usize> {
        let at = self.offsets + number * self.offset_bytes;
        let bytes = self.program.get(at..at + self.offset_bytes)?;
        let offset = bytes.iter().fold(0, |offset, byte| offset << 8 | usize::from(*byte));
        // They count from the byte before the data.
        (self.offsets + (self.count + 1) * self.offset_bytes + offset).checked_sub(1)
    }

    fn get(&self, number: usize) -> Option<&'p [u8]> {
        let number = Some(number).filter(|number| *number < self.count)?;
        self.program.get(self.place(number)?..self.place(number + 1)?)
    }

    fn end(&self) -> Option<usize> {
        if self.count == 0 { Some(self.offsets) } else { self.place(self.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of pieces, with offsets of one byte.
    fn index(pieces: &[&[u8]]) -> Vec<u8> {
        let mut bytes = u16::try_from(pieces.len()).unwrap().to_be_bytes().to_vec();
        if pieces.is_empty() {
            return bytes;
        }
        bytes.push(1);
        let ends = pieces.iter().scan(1, |end, piece| Some(std::mem::replace(end, *end + piece.len())));
        let all: usize = pieces.iter().map(|piece| piece.len()).sum();
        bytes.extend(ends.chain([all + 1]).map(|end| u8::try_from(end).unwrap()));
        bytes.extend(pieces.concat());
        bytes
    }

    /// A program with four glyphs after the one for no character: `A`, the ligatures `fi` and `ff`, and one of its own name.
    fn program(encoding: &[u8], charset: &[u8]) -> Vec<u8> {
        let glyphs = index(&[b"", b"", b"", b"", b""]);
        let before = |top: &[u8]| {
            [&[1, 0, 4, 1][..], &index(&[b"F"]), &index(&[top]), &index(&[b"alpha"]), &index(&[])].concat()
        };
        let top = |at: usize| {
            let number = |operator: u8, at: usize| {
                let at = u16::try_from(at).unwrap().to_be_bytes();
                [28, at[0], at[1], operator]
            };
            let (one, two) = (at + encoding.len(), at + encoding.len() + charset.len());
            [&[30, 0xE2, 0xAF][..], &number(ENCODING, at), &number(CHARSET, one), &number(CHAR_STRINGS, two)].concat()
        };
        let at = before(&top(0)).len();
        [before(&top(at)), encoding.to_vec(), charset.to_vec(), glyphs].concat()
    }

    #[test]
    fn codes_have_the_names_of_their_glyphs() {
        let charset = [0, 0, 34, 0, 109, 1, 10, 1, 135];
        let ranges = [0, 0, 34, 0, 109, 1, 10, 1, 135];
        for encoding in
            [&[0, 4, 65, 28, 27, 97][..], &[0x80, 3, 65, 28, 27, 1, 97, 1, 135], &[1, 4, 65, 0, 28, 0, 27, 0, 97, 0]]
        {
            let names = encoding_of(&program(encoding, if encoding[0] == 1 { &ranges } else { &charset })).unwrap();
            let shown: Vec<&str> = [65, 28, 27, 97].iter().map(|code: &usize| names[*code].as_str()).collect();
            assert_eq!(shown, ["uni0041", "uniFB01", "ff", "alpha"], "{encoding:?}");
        }
        assert_eq!(standard_string(228).as_deref(), Some("uni017E"));
        assert_eq!(standard_string(149).as_deref(), Some("uni00DF"));
    }

    #[test]
    fn program_that_is_cut_or_damaged_anywhere_is_none_or_has_256_names() {
        let whole = program(&[0, 4, 65, 28, 27, 97], &[1, 0, 34, 3]);
        for end in 0..whole.len() {
            let _ = encoding_of(&whole[..end]);
            for byte in [0, 1, 28, 29, 30, 0x80, 0xFF] {
                let mut damaged = whole.clone();
                damaged[end] = byte;
                assert!(encoding_of(&damaged).is_none_or(|names| names.len() == 256));
            }
        }
    }
}
