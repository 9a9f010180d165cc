//! Fonts: what the codes of a string mean, and how wide their glyphs are. They are kept from page to page.
//!
//! # Map
//! A code is a character by the font's `cmap` or its `encoding`: a named one, or that in its program. Glyphs have names,
//! whose text is in `encoding`, too; those of Adobe's collections have numbers, whose text is in `cid`. `standard_widths.txt` has the widths that a file need not give.

mod cff;
mod cid;
mod cmap;
mod encoding;

use std::{cell::RefCell, collections::HashMap, hash::Hash, rc::Rc};

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GBK, SHIFT_JIS};

use crate::object::{Dict, Object, Reference};
use crate::{budget::PdfError, pdf_file::PdfFile};
use cid::Collection;
use cmap::CMap;
use encoding::BaseEncoding;

/// Bytes of a character map; one for all codes of two bytes has half of it.
const MAX_CMAP_BYTES: usize = 2 << 20;

const MAX_WIDTHS: usize = 70_000;

/// A font: the text and the width of each code of its strings.
pub(super) struct Font {
    codes: Codes,
    to_unicode: Option<ToUnicode>,
    unit: f64,
    pub(super) is_vertical: bool,
}

enum Codes {
    /// Of one byte each: the text and the width of all 256.
    Simple {
        texts: Vec<String>,
        widths: Vec<f64>,
    },
    Composite {
        encoding: CodeEncoding,
        collection: Option<&'static Collection>,
        widths: Widths,
    },
}

enum CodeEncoding {
    /// The numbers of glyphs, of two bytes.
    Identity,
    Utf16,
    Map(CMap),
    Legacy(&'static Encoding),
    /// One whose codes lack the highest bit of each byte: ISO-2022 without its escapes.
    SevenBit(&'static Encoding),
}

enum ToUnicode {
    Map(CMap),
    Identity,
}

struct Widths {
    /// First and last number, sorted.
    ranges: Vec<(u32, u32, f64)>,
    default: f64,
}

pub(super) struct ShownGlyph<'t> {
    /// Empty where it is not known.
    pub(super) text: &'t str,
    /// In text space, at size 1.
    pub(super) width: f64,
    pub(super) is_space: bool,
}

impl Font {
    pub(super) fn load(file: &PdfFile<'_>, dict: &Dict) -> Result<Self, PdfError> {
        let to_unicode = match file.get(dict, b"ToUnicode")? {
            Object::Stream(stream) => {
                let decoded = file.decode(&stream, MAX_CMAP_BYTES)?;
                decoded.map(|map| CMap::parse(&map.bytes, &file.budget).map(ToUnicode::Map)).transpose()?
            }
            Object::Name(name) if name.starts_with(b"Identity") => Some(ToUnicode::Identity),
            _ => None,
        };
        let subtype = dict.get(b"Subtype").and_then(Object::name).unwrap_or_default().to_vec();
        if subtype == b"Type0" {
            return Self::composite(file, dict, to_unicode);
        }
        let mut unit = 0.001;
        if subtype == b"Type3" {
            let matrix = file.get(dict, b"FontMatrix")?;
            let scale = matrix.array().and_then(|matrix| matrix.first()?.number());
            unit = scale.filter(|scale| scale.is_normal()).unwrap_or(unit).abs();
        }
        let codes = Codes::Simple { texts: texts(file, dict, &subtype)?, widths: simple_widths(file, dict)? };
        Ok(Self { codes, to_unicode, unit, is_vertical: false })
    }

    fn composite(file: &PdfFile<'_>, dict: &Dict, to_unicode: Option<ToUnicode>) -> Result<Self, PdfError> {
        let (encoding, is_vertical) = match file.get(dict, b"Encoding")? {
            Object::Name(name) if matches!(name.as_slice(), b"CNS-EUC-H" | b"CNS-EUC-V") => {
                (CodeEncoding::Map(cid::cns_euc(&file.budget)?), name.ends_with(b"V"))
            }
            Object::Name(name) => (CodeEncoding::named(&name), name.ends_with(b"V")),
            Object::Stream(stream) => match file.decode(&stream, MAX_CMAP_BYTES)? {
                Some(decoded) => {
                    let map = CMap::parse(&decoded.bytes, &file.budget)?;
                    let is_vertical = map.is_vertical;
                    let map = if map.has_code_spaces() { CodeEncoding::Map(map) } else { CodeEncoding::Identity };
                    (map, is_vertical)
                }
                None => (CodeEncoding::Identity, false),
            },
            _ => (CodeEncoding::Identity, false),
        };
        let descendants = file.get(dict, b"DescendantFonts")?;
        let descendant = descendants.array().and_then(<[Object]>::first).unwrap_or(&Object::Null);
        let descendant = file.resolve(descendant)?;
        let (mut collection, mut widths) = (None, Widths { ranges: Vec::new(), default: 1000.0 });
        if let Some(descendant) = descendant.dict() {
            widths = Widths::load(file, descendant)?;
            let system = file.get(descendant, b"CIDSystemInfo")?;
            let ordering = system.dict().map(|system| file.get(system, b"Ordering")).transpose()?;
            collection = ordering.as_ref().and_then(Object::string).and_then(Collection::of);
        }
        Ok(Self { codes: Codes::Composite { encoding, collection, widths }, to_unicode, unit: 0.001, is_vertical })
    }

    fn weight(&self) -> usize {
        let to_unicode = if let Some(ToUnicode::Map(map)) = &self.to_unicode { map.weight() } else { 0 };
        let codes = match &self.codes {
            Codes::Simple { .. } => 8192,
            Codes::Composite { encoding: CodeEncoding::Map(map), widths, .. } => map.weight() + widths.weight(),
            Codes::Composite { widths, .. } => widths.weight(),
        };
        to_unicode + codes
    }

    pub(super) fn each_glyph(
        &self,
        mut string: &[u8],
        mut show: impl FnMut(ShownGlyph<'_>) -> Result<(), PdfError>,
    ) -> Result<(), PdfError> {
        let mut text = String::new();
        while !string.is_empty() {
            text.clear();
            let (code, bytes) = self.next_code(string);
            // At least one byte, so that it comes to an end whatever a map says.
            let (first, rest) = string.split_at(bytes.clamp(1, string.len()));
            string = rest;
            let known = match &self.to_unicode {
                Some(ToUnicode::Map(map)) => map.text(code, &mut text),
                Some(ToUnicode::Identity) => push_code(code, &mut text),
                None => false,
            };
            let width = match &self.codes {
                Codes::Simple { texts, widths } => {
                    let at = usize::from(first[0]);
                    if !known {
                        text.push_str(&texts[at]);
                    }
                    widths[at]
                }
                Codes::Composite { encoding, collection, widths } => {
                    let glyph = match encoding {
                        CodeEncoding::Identity => Some(code),
                        CodeEncoding::Map(map) => map.glyph(code),
                        CodeEncoding::Utf16 => {
                            if !known {
                                text.extend(char::from_u32(code));
                            }
                            None
                        }
                        CodeEncoding::Legacy(encoding) => {
                            if !known {
                                text.push_str(&encoding.decode_without_bom_handling(first).0);
                            }
                            None
                        }
                        CodeEncoding::SevenBit(encoding) => {
                            if !known {
                                let eight: Vec<u8> = first.iter().map(|byte| byte | 0x80).collect();
                                text.push_str(&encoding.decode_without_bom_handling(&eight).0);
                            }
                            None
                        }
                    };
                    if let (Some(glyph), Some(collection), false) = (glyph, collection, known) {
                        collection.push_text(glyph, &mut text);
                    }
                    match glyph {
                        Some(glyph) => widths.of(glyph),
                        // Latin letters are half as wide as a Chinese character.
                        None if text.is_ascii() && !text.is_empty() => widths.default / 2.0,
                        None => widths.default,
                    }
                }
            };
            show(ShownGlyph { text: &text, width: width * self.unit, is_space: first == b" " })?;
        }
        Ok(())
    }

    /// The first code of a string and its bytes.
    fn next_code(&self, string: &[u8]) -> (u32, usize) {
        let two = || match string {
            [high, low, ..] => (u32::from(*high) << 8 | u32::from(*low), 2),
            _ => (u32::from(string[0]), 1),
        };
        match &self.codes {
            Codes::Simple { .. } => (u32::from(string[0]), 1),
            Codes::Composite { encoding: CodeEncoding::Identity | CodeEncoding::SevenBit(_), .. } => two(),
            Codes::Composite { encoding: CodeEncoding::Map(map), .. } => map.next_code(string),
            Codes::Composite { encoding: CodeEncoding::Utf16, .. } => match string {
                [0xD8..=0xDB, _, _, _, ..] => {
                    let units = [two().0, u32::from(string[2]) << 8 | u32::from(string[3])];
                    (0x10000 + ((units[0] & 0x3FF) << 10) + (units[1] & 0x3FF), 4)
                }
                _ => two(),
            },
            Codes::Composite { encoding: CodeEncoding::Legacy(encoding), .. } => {
                let is_katakana = *encoding == SHIFT_JIS && (0xA1..=0xDF).contains(&string[0]);
                if string[0] < 0x80 || is_katakana { (u32::from(string[0]), 1) } else { two() }
            }
        }
    }
}

fn push_code(code: u32, text: &mut String) -> bool {
    let character = char::from_u32(code);
    text.extend(character);
    character.is_some()
}

impl CodeEncoding {
    /// A predefined character map (ISO 32000-1, table 118).
    fn named(name: &[u8]) -> Self {
        let name = str::from_utf8(name).unwrap_or_default();
        if name.contains("UCS2") || name.contains("UTF16") {
            return Self::Utf16;
        }
        let seven_bit = [(EUC_JP, &["", "78", "Add", "Ext", "NWP"][..]), (GBK, &["GB", "GBT"]), (EUC_KR, &["KSC"])];
        let stem = name.strip_suffix(['H', 'V']).map(|stem| stem.strip_suffix('-').unwrap_or(stem));
        if let Some((encoding, _)) =
            seven_bit.into_iter().find(|(_, stems)| stem.is_some_and(|stem| stems.contains(&stem)))
        {
            return Self::SevenBit(encoding);
        }
        let of_system = [("RKSJ", SHIFT_JIS), ("KSC", EUC_KR), ("GB", GBK), ("B5", BIG5), ("ETen", BIG5)];
        let found = of_system.into_iter().find(|(part, _)| name.contains(part)).map(|(_, encoding)| encoding);
        found.or_else(|| name.starts_with("EUC-").then_some(EUC_JP)).map_or(Self::Identity, Self::Legacy)
    }
}

impl Widths {
    fn load(file: &PdfFile<'_>, descendant: &Dict) -> Result<Self, PdfError> {
        let default = file.get(descendant, b"DW")?.number().unwrap_or(1000.0);
        let listed = file.get(descendant, b"W")?;
        let mut items = listed.array().unwrap_or_default().iter();
        let mut ranges = Vec::new();
        let glyph = |object: &Object| object.index().and_then(|number| u32::try_from(number).ok());
        while let Some(first) = items.next().and_then(glyph) {
            file.budget.work(4)?;
            match items.next().map(|item| file.resolve(item)).transpose()? {
                Some(Object::Array(widths)) => {
                    let widths = widths.iter().map(|width| width.number().unwrap_or(default));
                    ranges.extend((first..).zip(widths).map(|(glyph, width)| (glyph, glyph, width)));
                }
                Some(last) => {
                    if let (Some(last), Some(width)) = (glyph(&last), items.next().and_then(Object::number)) {
                        ranges.push((first, last, width));
                    }
                }
                None => {}
            }
            if ranges.len() >= MAX_WIDTHS {
                ranges.truncate(MAX_WIDTHS);
                break;
            }
        }
        ranges.sort_by_key(|(first, _, _)| *first);
        Ok(Self { ranges, default })
    }

    fn weight(&self) -> usize {
        self.ranges.len() * 16
    }

    fn of(&self, glyph: u32) -> f64 {
        let after = self.ranges.partition_point(|(first, _, _)| *first <= glyph);
        match self.ranges[..after].last() {
            Some((_, last, width)) if glyph <= *last => *width,
            _ => self.default,
        }
    }
}

fn simple_widths(file: &PdfFile<'_>, dict: &Dict) -> Result<Vec<f64>, PdfError> {
    let descriptor = file.get(dict, b"FontDescriptor")?;
    let listed = file.get(dict, b"Widths")?;
    let Some(listed) = listed.array() else {
        let name = file.get(dict, b"BaseFont")?;
        return Ok(standard_widths(&String::from_utf8_lossy(name.name().unwrap_or_default())));
    };
    let missing = match descriptor.dict() {
        Some(descriptor) => file.get(descriptor, b"MissingWidth")?.number().unwrap_or(0.0),
        None => 0.0,
    };
    let mut widths = vec![missing; 256];
    let first = file.get(dict, b"FirstChar")?.index().unwrap_or(0).min(256);
    for (width, listed) in widths[first..].iter_mut().zip(listed) {
        *width = file.resolve(listed)?.number().unwrap_or(missing);
    }
    Ok(widths)
}

/// A font and its widths in a line, from the space to the tilde.
static STANDARD_WIDTHS: &str = include_str!("font/standard_widths.txt");

/// The widths of all codes in the standard font whose name is most like `font`. Good enough to distinguish a space from a
/// gap between letters: an italic font has the widths of its upright one.
fn standard_widths(font: &str) -> Vec<f64> {
    let has = |part: &str| font.contains(part);
    if has("Courier") || has("Mono") {
        return vec![600.0; 256];
    }
    let family = if has("Times") || has("Serif") || has("Roman") { "Times" } else { "Helvetica" };
    let style = if has("Bold") { "-Bold " } else { " " };
    let line = STANDARD_WIDTHS.lines().find_map(|line| line.strip_prefix(family)?.strip_prefix(style));
    let mut widths = vec![556.0; 256];
    for (width, listed) in widths[32..].iter_mut().zip(line.unwrap_or_default().split(' ')) {
        *width = listed.parse().unwrap_or(*width);
    }
    widths
}

/// The text of each code of a simple font, empty where it is not known.
fn texts(file: &PdfFile<'_>, dict: &Dict, subtype: &[u8]) -> Result<Vec<String>, PdfError> {
    let encoding = file.get(dict, b"Encoding")?;
    let named = match &encoding {
        Object::Name(name) => BaseEncoding::named(name),
        Object::Dict(encoding) => file.get(encoding, b"BaseEncoding")?.name().and_then(BaseEncoding::named),
        _ => None,
    };
    let name = file.get(dict, b"BaseFont")?;
    let name = name.name().unwrap_or_default();
    let has = |part: &[u8]| memchr::memmem::find(name, part).is_some();
    let mut own = None;
    let base = match named {
        Some(base) => base,
        None if has(b"ZapfDingbats") => BaseEncoding::ZapfDingbats,
        None if has(b"Symbol") && !has(b"SymbolNeu") => BaseEncoding::Symbol,
        None => {
            own = encoding::own_encoding(file, dict)?;
            if own.is_none() {
                own = cff::own_encoding(file, dict)?;
            }
            if subtype == b"TrueType" { BaseEncoding::WinAnsi } else { BaseEncoding::Standard }
        }
    };
    let mut texts: Vec<String> = match own {
        Some(glyphs) => glyphs.iter().map(|glyph| encoding::text_of(glyph).unwrap_or_default()).collect(),
        None => (0..=255).map(|code| base.character(code).map(String::from).unwrap_or_default()).collect(),
    };
    texts.resize(256, String::new());
    if let Some(encoding) = encoding.dict() {
        let differences = file.get(encoding, b"Differences")?;
        let mut code = 0;
        for item in differences.array().unwrap_or_default() {
            match file.resolve(item)? {
                Object::Number(_) => code = item.index().unwrap_or(256),
                Object::Name(name) => {
                    if let (Some(text), Ok(byte)) = (texts.get_mut(code), u8::try_from(code)) {
                        *text = named_glyph(&name, byte);
                    }
                    code += 1;
                }
                _ => {}
            }
        }
    }
    Ok(texts)
}

/// The text of a glyph. Names like `a65` or `g12` say nothing, but most such fonts keep the codes of ASCII.
fn named_glyph(name: &[u8], code: u8) -> String {
    let name = str::from_utf8(name).unwrap_or_default();
    let is_numbered = name.ends_with(|last: char| last.is_ascii_digit()) && code.is_ascii_graphic();
    encoding::text_of(name).or_else(|| is_numbered.then(|| char::from(code).to_string())).unwrap_or_default()
}

const MAX_FONT_BYTES: usize = 24 << 20;

#[derive(Default)]
pub(super) struct FontCache {
    loaded: RefCell<HashMap<u32, Rc<Font>>>,
}

impl FontCache {
    /// The font that `dict` describes, which is the object `reference` where it is one.
    pub(super) fn load(
        &self,
        file: &PdfFile<'_>,
        reference: Option<Reference>,
        dict: &Dict,
    ) -> Result<Rc<Font>, PdfError> {
        let kept = reference.and_then(|reference| self.loaded.borrow().get(&reference.number).cloned());
        if let Some(font) = kept {
            return Ok(font);
        }
        let font = Rc::new(Font::load(file, dict)?);
        if let Some(reference) = reference {
            keep(&mut self.loaded.borrow_mut(), reference.number, &font);
        }
        Ok(font)
    }
}

/// Keeps a font; drops all others if together they would take too much.
pub(super) fn keep<K: Eq + Hash>(fonts: &mut HashMap<K, Rc<Font>>, key: K, font: &Rc<Font>) {
    let weight: usize = fonts.values().map(|font| font.weight()).sum();
    if weight + font.weight() > MAX_FONT_BYTES {
        fonts.clear();
    }
    fonts.insert(key, Rc::clone(font));
}
