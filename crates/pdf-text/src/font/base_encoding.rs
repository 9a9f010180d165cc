//! The encodings that fonts refer to by name (ISO 32000-1, annex D).

use encoding_rs::{MACINTOSH, WINDOWS_1252};

/// An encoding that needs no table in the file.
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
            Self::Standard => listed(STANDARD),
            Self::Symbol => listed(SYMBOL),
            Self::ZapfDingbats => listed(ZAPF_DINGBATS),
        }
    }
}

/// The codes from 32 to 127, and from 128 on; a space where there is no character.
const STANDARD: [&str; 2] = [
    " !\"#$%&’()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_‘abcdefghijklmnopqrstuvwxyz{|}~ ",
    "                                 ¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ –†‡· ¶•‚„”»…‰ ¿ `´ˆ˜¯˘˙¨ ˚¸ ˝˛ˇ—                Æ ª    ŁØŒº     æ   ı  łøœß    ",
];

/// The codes of the font of that name, as in [`STANDARD`].
const SYMBOL: [&str; 2] = [
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧ∆ΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼ ",
    "                                €ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ ⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭ ",
];

/// The codes of the font of that name, as in [`STANDARD`].
const ZAPF_DINGBATS: [&str; 2] = [
    " ✁✂✃✄☎✆✇✈✉☛☞✌✍✎✏✐✑✒✓✔✕✖✗✘✙✚✛✜✝✞✟✠✡✢✣✤✥✦✧★✩✪✫✬✭✮✯✰✱✲✳✴✵✶✷✸✹✺✻✼✽✾✿❀❁❂❃❄❅❆❇❈❉❊❋●❍■❏❐❑❒▲▼◆❖◗❘❙❚❛❜❝❞ ",
    "❨❩❪❫❬❭❮❯❰❱❲❳❴❵                   ❡❢❣❤❥❦❧♣♦♥♠①②③④⑤⑥⑦⑧⑨⑩❶❷❸❹❺❻❼❽❾❿➀➁➂➃➄➅➆➇➈➉➊➋➌➍➎➏➐➑➒➓➔→↔↕➘➙➚➛➜➝➞➟➠➡➢➣➤➥➦➧➨➩➪➫➬➭➮➯ ➱➲➳➴➵➶➷➸➹➺➻➼➽➾ ",
];

#[cfg(test)]
mod tests {
    use super::*;

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
