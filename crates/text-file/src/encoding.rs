//! From text to bytes, without a single substitute character, and the primitives that
//! [`Document`](super::Document) shares with that.
//!
//! `encoding_rs` implements the WHATWG encoding standard (<https://encoding.spec.whatwg.org/>), which encodes for forms and
//! URLs (<https://encoding.spec.whatwg.org/#output-encodings>): UTF-16 comes out as UTF-8, and unmappable characters as
//! `&#1234;`. Where that serves the web rather than an editor, the difference is made here: UTF-16 is decoded and encoded by
//! hand, a character counts as representable only where its bytes read back as itself, and any other is an error.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::{LineEnding, SpliceError};

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

/// Bytes for a whole new text in `encoding`, with a byte-order mark where `bom` asks for one and the encoding
/// (UTF-8, UTF-16) has one. With [`LineEnding::CrLf`], LF becomes that unless the text
/// holds a CR already; other line endings leave the text as it is.
///
/// # Errors
/// [`SpliceError::Unrepresentable`] for a character that the encoding cannot write so that it reads back as
/// itself, [`SpliceError::Unstable`] where the whole text does not.
///
/// # Examples
/// ```
/// use encoding_rs::{UTF_16LE, WINDOWS_1252};
/// use text_file::{LineEnding, encode};
///
/// assert_eq!(encode("a\n", UTF_16LE, true, LineEnding::CrLf).unwrap(), b"\xff\xfea\0\r\0\n\0");
/// assert!(encode("日本", WINDOWS_1252, false, LineEnding::Lf).is_err());
/// ```
pub fn encode(
    text: &str,
    encoding: &'static Encoding,
    bom: bool,
    line_ending: LineEnding,
) -> Result<Vec<u8>, SpliceError> {
    let converts = line_ending == LineEnding::CrLf && !text.contains('\r');
    let converted = converts.then(|| text.replace('\n', "\r\n"));
    let text = converted.as_deref().unwrap_or(text);
    let has_mark = bom && (encoding == UTF_8 || is_utf16(encoding));
    if !has_mark {
        return encode_piece(encoding, text);
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    encode_piece(encoding, &format!("\u{feff}{text}"))
}

/// The first character of `text` that [`encode`] refuses, and the line and column, from 1, where it is.
///
/// # Examples
/// ```
/// use encoding_rs::WINDOWS_1252;
/// use text_file::first_unwritable;
///
/// assert_eq!(first_unwritable("é\na→b", WINDOWS_1252), Some(('→', 2, 2)));
/// assert_eq!(first_unwritable("é", WINDOWS_1252), None);
/// ```
pub fn first_unwritable(text: &str, encoding: &'static Encoding) -> Option<(char, usize, usize)> {
    if encoding == UTF_8 || is_utf16(encoding) {
        return None;
    }
    let (at, character) = unrepresentable(encoding, text)?;
    let before = &text[..at];
    let line_start = memchr::memrchr(b'\n', before.as_bytes()).map_or(0, |end| end + 1);
    let line = memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1;
    Some((character, line, before[line_start..].chars().count() + 1))
}

/// Bytes for a piece of text anywhere in a file.
pub(super) fn encode_piece(encoding: &'static Encoding, text: &str) -> Result<Vec<u8>, SpliceError> {
    if encoding == UTF_8 {
        return Ok(text.as_bytes().to_vec());
    }
    if encoding == UTF_16LE {
        return Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect());
    }
    if encoding == UTF_16BE {
        return Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect());
    }
    // `replacement` and its like can be read but never written.
    if encoding.output_encoding() != encoding {
        return Err(SpliceError::Unstable { encoding: encoding.name() });
    }
    let (bytes, _, had_unmappable) = encoding.encode(text);
    if !had_unmappable && decode_as(encoding, &bytes).0 == text {
        return Ok(bytes.into_owned());
    }
    Err(match unrepresentable(encoding, text) {
        Some((_, character)) => SpliceError::Unrepresentable { character, encoding: encoding.name() },
        None => SpliceError::Unstable { encoding: encoding.name() },
    })
}

#[cfg(test)]
mod tests {
    use encoding_rs::{GBK, ISO_2022_JP, SHIFT_JIS, WINDOWS_1252};

    use super::*;

    #[test]
    fn utf16_is_written_as_utf16() {
        assert_eq!(encode("é\n", UTF_16LE, true, LineEnding::Lf).unwrap(), b"\xff\xfe\xe9\0\n\0");
        assert_eq!(encode("😀", UTF_16BE, false, LineEnding::None).unwrap(), b"\xd8\x3d\xde\x00");
    }

    #[test]
    fn crlf_is_restored_unless_the_text_has_its_own_carriage_returns() {
        assert_eq!(encode("a\nb\n", UTF_8, false, LineEnding::CrLf).unwrap(), b"a\r\nb\r\n");
        assert_eq!(encode("a\r\nb\n", UTF_8, false, LineEnding::CrLf).unwrap(), b"a\r\nb\n");
        assert_eq!(encode("a\nb\n", UTF_8, false, LineEnding::Mixed).unwrap(), b"a\nb\n");
    }

    #[test]
    fn a_byte_order_mark_is_written_once() {
        assert_eq!(encode("\u{feff}a", UTF_8, true, LineEnding::Lf).unwrap(), b"\xef\xbb\xbfa");
        assert_eq!(encode("a", WINDOWS_1252, true, LineEnding::Lf).unwrap(), b"a");
    }

    #[test]
    fn an_unrepresentable_character_is_an_error() {
        let character = |result: Result<Vec<u8>, SpliceError>| match result {
            Err(SpliceError::Unrepresentable { character, .. }) => Some(character),
            _ => None,
        };
        assert_eq!(character(encode("a→b", WINDOWS_1252, false, LineEnding::None)), Some('→'));
        assert_eq!(character(encode("日本😀", GBK, false, LineEnding::None)), Some('😀'));
        assert_eq!(character(encode("100¥", SHIFT_JIS, false, LineEnding::None)), Some('¥'));
    }

    #[test]
    fn a_whole_text_can_be_written_in_a_stateful_encoding() {
        let bytes = encode("日本 x", ISO_2022_JP, false, LineEnding::None).unwrap();
        assert_eq!(decode_as(ISO_2022_JP, &bytes).0, "日本 x");
    }
}
