//! The primitives of encodings that [`Document`](super::Document) and [`encode`](super::encode()) share.
//!
//! `encoding_rs` implements the WHATWG encoding standard (<https://encoding.spec.whatwg.org/>). Where that serves the
//! web rather than an editor, the difference is made here: UTF-16 is decoded by hand, and a character counts as
//! representable only where its bytes read back as itself.

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

/// Whether a NUL is among the bytes.
pub(super) fn has_nul(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes).is_some()
}

/// The bytes without the NULs at their beginning and end, which a truncation or a crash leaves in a log, where those are
/// fewer than the others.
pub(super) fn without_padding(bytes: &[u8]) -> &[u8] {
    let content = without_outer_nuls(bytes);
    if bytes.len() - content.len() < content.len() { content } else { bytes }
}

/// The bytes without the NULs at their beginning and end.
pub(super) fn without_outer_nuls(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(start, |last| last + 1);
    &bytes[start..end]
}

/// Whether `encoding` is UTF-16 in either byte order.
pub(super) fn is_utf16(encoding: &'static Encoding) -> bool {
    encoding == UTF_16LE || encoding == UTF_16BE
}

/// Decodes without looking at a byte-order mark; also says whether some bytes were invalid.
pub(super) fn decode_as(encoding: &'static Encoding, bytes: &[u8]) -> (String, bool) {
    if !is_utf16(encoding) {
        let (text, had_errors) = encoding.decode_without_bom_handling(bytes);
        return (text.into_owned(), had_errors);
    }
    // By hand, so that the length of every unit is known: two bytes each, an odd last byte is one U+FFFD.
    let pairs = bytes.chunks_exact(2);
    let odd = !pairs.remainder().is_empty();
    let units = pairs.map(|pair| unit(encoding, pair));
    let mut had_errors = odd;
    let mut text: String = char::decode_utf16(units)
        .map(|decoded| {
            decoded.unwrap_or_else(|_| {
                had_errors = true;
                char::REPLACEMENT_CHARACTER
            })
        })
        .collect();
    if odd {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    (text, had_errors)
}

pub(super) fn unit(encoding: &'static Encoding, pair: &[u8]) -> u16 {
    let pair = [pair[0], pair[1]];
    if encoding == UTF_16LE { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
}

/// The first character of `text` that does not come back when written and read, and its offset. Some encoders fold
/// look-alikes (`Shift_JIS` writes U+00A5 as a backslash, <https://encoding.spec.whatwg.org/#shift_jis-encoder>), so
/// that mappable alone does not mean faithful.
pub(super) fn unrepresentable(encoding: &'static Encoding, text: &str) -> Option<(usize, char)> {
    let mut buffer = [0; 4];
    text.char_indices().filter(|(_, character)| !character.is_ascii()).find(|(_, character)| {
        let one = &*character.encode_utf8(&mut buffer);
        let (bytes, _, had_unmappable) = encoding.encode(one);
        had_unmappable || decode_as(encoding, &bytes).0 != one
    })
}
