//! The encodings of fonts with codes of one byte: those that have a name, the one in a font program, and the names of
//! glyphs, which both use, to text.

use encoding_rs::{MACINTOSH, WINDOWS_1252};

use crate::lexer::{PdfLexer, PdfToken};
use crate::object::{Dict, Object};
use crate::{budget::PdfError, pdf_file::PdfFile};

/// `name;code points`, sorted by name after comments. Searched where it is: nothing is built at the start.
static GLYPH_LIST: &str = include_str!("glyphlist.txt");

/// Names that TeX fonts and others use in addition to Adobe's.
const OTHER_GLYPH_NAMES: &str = "angbracketleft=⟨ angbracketright=⟩ arrowhookleft=↩ arrowhookright=↪ bar1=| circlecopyrt=© dotlessj=ȷ \
    epsilon1=ϵ floorleft=⌊ floorright=⌋ ceilingleft=⌈ ceilingright=⌉ hyphenchar=- lessorequalslant=⩽ \
    greaterorequalslant=⩾ mapsto=↦ nbspace=\u{a0} slashalt=/ star=⋆ visiblespace=␣ vector=\u{20d7} \
    sfthyphen=\u{ad}";

/// The text of the glyph `name`, from Adobe's list and the forms that spell out a code; `None` if the name says nothing.
///
/// After <https://github.com/adobe-type-tools/agl-specification>.
pub(super) fn text_of(name: &str) -> Option<String> {
    // What follows a dot is a variant: `a.sc`.
    let base = name.split('.').next().filter(|base| !base.is_empty())?;
    // A ligature has the names of its letters.
    one(base).or_else(|| base.split('_').map(one).collect())
}

fn one(name: &str) -> Option<String> {
    let mut others = OTHER_GLYPH_NAMES.split(' ').filter_map(|pair| pair.split_once('='));
    if let Some((_, text)) = others.find(|(other, _)| *other == name) {
        return Some(text.to_owned());
    }
    // Small capitals and old digits are in the list, but as characters for private use.
    let base = ["small", "oldstyle"].iter().find_map(|style| name.strip_suffix(style));
    if let Some(codes) = base.and_then(listed).or_else(|| listed(name)) {
        return codes.split(' ').map(hex).collect();
    }
    let digits = name.strip_prefix("uni").filter(|digits| digits.len() >= 4 && digits.len() % 4 == 0);
    if let Some(digits) = digits.filter(|digits| digits.len() <= 32 && digits.is_ascii()) {
        return (0..digits.len()).step_by(4).map(|at| hex(&digits[at..at + 4])).collect();
    }
    let digits = name.strip_prefix('u').filter(|digits| (4..=6).contains(&digits.len()));
    digits.and_then(hex).map(String::from)
}

fn hex(digits: &str) -> Option<char> {
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

fn listed(name: &str) -> Option<&'static str> {
    let (mut from, mut to) = (0, GLYPH_LIST.len());
    while from < to {
        // The line around the middle.
        let middle = from.midpoint(to);
        let start = GLYPH_LIST.as_bytes()[..middle].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let end = memchr::memchr(b'\n', &GLYPH_LIST.as_bytes()[start..]).map_or(GLYPH_LIST.len(), |at| start + at);
        let line = &GLYPH_LIST[start..end];
        // The comments come before all names.
        let key = if line.starts_with('#') { "" } else { line.split(';').next().unwrap_or_default() };
        match key.cmp(name) {
            std::cmp::Ordering::Equal => return line.split_once(';').map(|(_, codes)| codes.trim_end()),
            std::cmp::Ordering::Less => from = end + 1,
            std::cmp::Ordering::Greater => to = start,
        }
    }
    None
}

/// An encoding that fonts refer to by name, which needs no table in the file (ISO 32000-1, annex D).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BaseEncoding {
    Standard,
    WinAnsi,
    MacRoman,
    Symbol,
    ZapfDingbats,
}

impl BaseEncoding {
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"StandardEncoding" => Some(Self::Standard),
            b"WinAnsiEncoding" => Some(Self::WinAnsi),
            b"MacRomanEncoding" => Some(Self::MacRoman),
            _ => None,
        }
    }

    /// The character of a code; `None` where there is none.
    pub(super) fn character(self, code: u8) -> Option<char> {
        let decoded = |encoding: &'static encoding_rs::Encoding| {
            encoding.decode_without_bom_handling(&[code]).0.chars().next().filter(|character| !character.is_control())
        };
        let listed = |table: [&str; 2]| {
            let at = usize::from(code).checked_sub(32)?;
            let half = usize::from(at >= 96);
            let character = table[half].chars().nth(at - 96 * half)?;
            (character != ' ' || code == b' ').then_some(character)
        };
        match self {
            Self::WinAnsi => decoded(WINDOWS_1252),
            Self::MacRoman => decoded(MACINTOSH),
            Self::Standard => listed(STANDARD_CODES),
            Self::Symbol => listed(SYMBOL_CODES),
            Self::ZapfDingbats => listed(ZAPF_DINGBATS),
        }
    }
}

/// The codes from 32 to 127, and from 128 on; a space where there is no character.
const STANDARD_CODES: [&str; 2] = [
    " !\"#$%&’()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_‘abcdefghijklmnopqrstuvwxyz{|}~ ",
    "                                 ¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ –†‡· ¶•‚„”»…‰ ¿ `´ˆ˜¯˘˙¨ ˚¸ ˝˛ˇ—                Æ ª    ŁØŒº     æ   ı  łøœß    ",
];

/// The codes of the font of that name, as in [`STANDARD_CODES`].
const SYMBOL_CODES: [&str; 2] = [
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧ∆ΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼ ",
    "                                €ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ ⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭ ",
];

/// The codes of the font of that name, as in [`STANDARD_CODES`].
const ZAPF_DINGBATS: [&str; 2] = [
    " ✁✂✃✄☎✆✇✈✉☛☞✌✍✎✏✐✑✒✓✔✕✖✗✘✙✚✛✜✝✞✟✠✡✢✣✤✥✦✧★✩✪✫✬✭✮✯✰✱✲✳✴✵✶✷✸✹✺✻✼✽✾✿❀❁❂❃❄❅❆❇❈❉❊❋●❍■❏❐❑❒▲▼◆❖◗❘❙❚❛❜❝❞ ",
    "❨❩❪❫❬❭❮❯❰❱❲❳❴❵                   ❡❢❣❤❥❦❧♣♦♥♠①②③④⑤⑥⑦⑧⑨⑩❶❷❸❹❺❻❼❽❾❿➀➁➂➃➄➅➆➇➈➉➊➋➌➍➎➏➐➑➒➓➔→↔↕➘➙➚➛➜➝➞➟➠➡➢➣➤➥➦➧➨➩➪➫➬➭➮➯ ➱➲➳➴➵➶➷➸➹➺➻➼➽➾ ",
];

/// Bytes of a font program up to the end of its encoding, which is at its beginning.
const CLEAR_TEXT: usize = 64 << 10;

/// The encoding in a Type 1 font program, which counts where the PDF names none: the mathematical fonts of TeX.
///
/// The glyph names of the 256 codes; `None` if the font has no such program, or the standard encoding.
pub(super) fn own_encoding(file: &PdfFile<'_>, font: &Dict) -> Result<Option<Vec<String>>, PdfError> {
    let descriptor = file.get(font, b"FontDescriptor")?;
    let Some(descriptor) = descriptor.dict() else { return Ok(None) };
    let Object::Stream(program) = file.get(descriptor, b"FontFile")? else { return Ok(None) };
    let Some(decoded) = file.decode(&program, CLEAR_TEXT)? else { return Ok(None) };
    let Some(start) = memchr::memmem::find(&decoded.bytes, b"/Encoding") else { return Ok(None) };
    let mut names = vec![String::new(); 256];
    let mut found = false;
    let mut lexer = PdfLexer::of_content(&decoded.bytes[start + "/Encoding".len()..]);
    let mut code = None;
    let mut name = None;
    while let Some(token) = lexer.token() {
        match token {
            PdfToken::Object(Object::Number(_)) if name.is_some() => {}
            PdfToken::Object(number @ Object::Number(_)) => code = number.index(),
            PdfToken::Object(Object::Name(text)) => name = Some(text),
            // `dup 65 /A put`
            PdfToken::Keyword(b"put") => {
                if let (Some(slot), Some(name)) = (code.take().and_then(|code| names.get_mut(code)), name.take()) {
                    *slot = String::from_utf8_lossy(&name).into_owned();
                    found = true;
                }
            }
            PdfToken::Keyword(b"StandardEncoding" | b"currentfile" | b"eexec") => break,
            PdfToken::Keyword(b"def" | b"readonly") if found => break,
            PdfToken::Keyword(b"dup") => (code, name) = (None, None),
            _ => {}
        }
    }
    Ok(found.then_some(names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_is_found() {
        let lines: Vec<&str> = GLYPH_LIST.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(lines.len() > 4000);
        for line in lines {
            let (name, codes) = line.split_once(';').unwrap();
            assert_eq!(listed(name), Some(codes), "{name}");
        }
    }

    #[test]
    fn names_that_spell_a_code_and_ligatures_are_understood() {
        for (name, text) in [
            ("A", "A"),
            ("Adieresis", "Ä"),
            ("f_f_i", "ffi"),
            ("a.sc", "a"),
            ("uni20AC", "€"),
            ("uni00410042", "AB"),
            ("u1F600", "😀"),
            ("dotlessj", "ȷ"),
            ("oneoldstyle", "1"),
        ] {
            assert_eq!(text_of(name).as_deref(), Some(text), "{name}");
        }
        for name in ["", ".notdef", "g12", "uniD800", "unié000", "zzz"] {
            assert_eq!(text_of(name), None, "{name}");
        }
    }

    #[test]
    fn codes_have_their_characters() {
        for (encoding, code, character) in [
            (BaseEncoding::Standard, 0x27, Some('’')),
            (BaseEncoding::Standard, 0xAE, Some('ﬁ')),
            (BaseEncoding::Standard, 0x20, Some(' ')),
            (BaseEncoding::Standard, 0x80, None),
            (BaseEncoding::WinAnsi, 0x80, Some('€')),
            (BaseEncoding::MacRoman, 0x8A, Some('ä')),
            (BaseEncoding::Symbol, 0x61, Some('α')),
            (BaseEncoding::Symbol, 0xE5, Some('∑')),
            (BaseEncoding::Symbol, 0xFF, None),
            (BaseEncoding::ZapfDingbats, 0x34, Some('✔')),
            (BaseEncoding::ZapfDingbats, 0xFE, Some('➾')),
            (BaseEncoding::Symbol, 0x07, None),
        ] {
            assert_eq!(encoding.character(code), character, "{encoding:?} {code:#x}");
        }
    }
}
