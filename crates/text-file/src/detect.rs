//! Which encoding the bytes of a file are in, where neither the caller nor a byte-order mark says it.
//!
//! A guess: legacy encodings are distinguished by letter frequencies, which a file of a few words does not show.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, GB18030, GBK, UTF_8, UTF_16BE, UTF_16LE};

use super::encoding::{decode_as, has_nul, unit, unrepresentable, without_padding};

/// How much of a file the UTF-16 heuristic looks at, in bytes.
const UTF16_SAMPLE: usize = 8 * 1024;

/// How much of a file the detector sees, in bytes from the first one that is not ASCII; it reads some 4 MB a second.
const DETECTION_SAMPLE: usize = 256 * 1024;

pub(super) fn detect(bytes: &[u8]) -> &'static Encoding {
    if has_nul(bytes)
        && let Some(encoding) = utf16_without_bom(bytes)
    {
        return encoding;
    }
    let bytes = without_padding(bytes);
    if has_nul(bytes) || std::str::from_utf8(bytes).is_ok() || is_damaged_utf8(bytes) {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let first = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(0).saturating_sub(1);
    let sample = &bytes[first..bytes.len().min(first + DETECTION_SAMPLE)];
    detector.feed(sample, first + sample.len() == bytes.len());
    // It is no UTF-8: that was asked above.
    let guess = detector.guess(None, Utf8Detection::Deny);
    let (text, had_errors) = decode_as(guess, bytes);
    // A wrong guess: bytes that windows-1252 leaves unassigned, such as 0x81, decode to these controls.
    if had_errors || text.chars().any(|character| matches!(character, '\u{80}'..='\u{9f}')) {
        return UTF_8;
    }
    // The detector answers GBK for all of GB 18030; only the latter can write back its four-byte sequences.
    if guess == GBK && unrepresentable(GBK, &text).is_some() {
        return GB18030;
    }
    guess
}

/// Whether bytes with NULs among them look like UTF-16 without a byte-order mark: what is worth to be decoded. The
/// first 8 KiB are looked at.
pub fn looks_like_utf16(head: &[u8]) -> bool {
    utf16_without_bom(head).is_some()
}

/// UTF-16 without a byte-order mark, where the first bytes are clearly that: at least a quarter of the units
/// is ASCII text in one byte order, next to none in the other, no unit is a control character, no
/// surrogate is unpaired, and the other units are not pairs of ASCII characters, as in a text with a few NUL bytes.
pub(super) fn utf16_without_bom(bytes: &[u8]) -> Option<&'static Encoding> {
    if bytes.len() < 4 || !bytes.len().is_multiple_of(2) && bytes.len() < UTF16_SAMPLE {
        return None;
    }
    let sample = &bytes[..bytes.len().min(UTF16_SAMPLE) & !1];
    let (little, big) = (ascii_units(UTF_16LE, sample), ascii_units(UTF_16BE, sample));
    let (encoding, most, least) = if little >= big { (UTF_16LE, little, big) } else { (UTF_16BE, big, little) };
    if most * 4 < sample.len() / 2 || least * 8 > most {
        return None;
    }
    // By chance that is every fifth unit of a Chinese text.
    let pairs = sample.chunks_exact(2).filter(|pair| pair.iter().all(|byte| is_ascii_text(u16::from(*byte)))).count();
    if pairs * 4 > (sample.len() / 2 - most) * 3 {
        return None;
    }
    // A sample may end between the halves of a pair.
    let is_cut = bytes.len() > sample.len();
    let units = sample.chunks_exact(2).map(|pair| unit(encoding, pair));
    let count = sample.len() / 2;
    let is_text = char::decode_utf16(units).enumerate().all(|(index, decoded)| match decoded {
        Ok(character) => !character.is_control() || matches!(character, '\t' | '\n' | '\r' | '\u{c}'),
        Err(_) => is_cut && index + 2 >= count,
    });
    is_text.then_some(encoding)
}

/// Mostly valid multi-byte UTF-8 with a few stray bytes: a legacy encoding yields valid sequences only by
/// chance (about one pair in eight for GBK, fewer elsewhere).
fn is_damaged_utf8(bytes: &[u8]) -> bool {
    let (mut valid, mut invalid) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    valid > 2 * invalid
}

fn ascii_units(encoding: &'static Encoding, sample: &[u8]) -> usize {
    sample.chunks_exact(2).filter(|pair| is_ascii_text(unit(encoding, pair))).count()
}

fn is_ascii_text(unit: u16) -> bool {
    matches!(unit, 0x20..=0x7E | 0x09 | 0x0A | 0x0D)
}
