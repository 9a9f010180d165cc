//! One line of a file as bytes, and as the text that it means.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Bytes of a line that are kept; the rest is counted, and not matched.
pub(super) const MAX_LINE: usize = 1 << 20;

/// Where lines end in the bytes of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineUnit {
    /// At a byte LF. In no legacy encoding of the WHATWG standard is it a part of another character.
    Byte,
    Utf16Le,
    Utf16Be,
}

impl LineUnit {
    pub(super) fn of(encoding: &'static Encoding) -> Self {
        if encoding == UTF_16LE {
            Self::Utf16Le
        } else if encoding == UTF_16BE {
            Self::Utf16Be
        } else {
            Self::Byte
        }
    }

    /// Bytes of a unit: lines begin and end at multiples of it.
    pub(super) fn width(self) -> usize {
        if self == Self::Byte { 1 } else { 2 }
    }

    /// Where the first line break of `bytes`, which begin at a unit, begins.
    pub(super) fn find(self, bytes: &[u8]) -> Option<usize> {
        let (lf, other) = match self {
            Self::Byte => return memchr::memchr(b'\n', bytes),
            Self::Utf16Le => (0, 1),
            Self::Utf16Be => (1, 0),
        };
        memchr::memchr_iter(b'\n', bytes)
            .filter(|at| at % 2 == lf)
            .map(|at| at - lf)
            .find(|at| bytes.get(at + other) == Some(&0))
    }
}

/// A line without its line break, as far as it is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawLine<'b> {
    pub(super) bytes: &'b [u8],
    /// Whether it has more bytes than are kept.
    pub(super) is_cut: bool,
    pub(super) number: usize,
}

impl<'b> RawLine<'b> {
    /// Its text, without the byte-order mark of a first line and the carriage return of a line break.
    pub(super) fn text(&self, encoding: &'static Encoding) -> Cow<'b, str> {
        let mark = Encoding::for_bom(self.bytes).filter(|(marked, _)| self.number == 1 && *marked == encoding);
        let bytes = &self.bytes[mark.map_or(0, |(_, length)| length)..];
        let mut text = match encoding {
            utf8 if utf8 == UTF_8 => String::from_utf8_lossy(bytes),
            other => other.decode_without_bom_handling(bytes).0,
        };
        if !self.is_cut && text.ends_with('\r') {
            match &mut text {
                Cow::Borrowed(text) => *text = &text[..text.len() - 1],
                Cow::Owned(text) => drop(text.pop()),
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf16_lines_end_at_whole_units() {
        // U+0A00 and U+000A: only the second is a line break.
        assert_eq!(LineUnit::Utf16Le.find(&[0x00, 0x0A, 0x0A, 0x00]), Some(2));
        assert_eq!(LineUnit::Utf16Be.find(&[0x0A, 0x00, 0x00, 0x0A]), Some(2));
        assert_eq!(LineUnit::Utf16Le.find(&[0x0A]), None);
        assert_eq!(LineUnit::Byte.find(b"ab\n"), Some(2));
    }

    #[test]
    fn text_has_neither_mark_nor_carriage_return() {
        let text = |bytes, number, encoding| RawLine { bytes, is_cut: false, number }.text(encoding).into_owned();
        assert_eq!(text(b"\xef\xbb\xbfa\r", 1, UTF_8), "a");
        assert_eq!(text(b"\xff\xfea\0\r\0", 1, UTF_16LE), "a");
        assert_eq!(text(b"caf\xe9", 2, encoding_rs::WINDOWS_1252), "caf\u{e9}");
    }
}
