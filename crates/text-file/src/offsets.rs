//! Which bytes a piece of decoded text came from, and how new text takes their place.
//!
//! There is no table: the bytes are walked once, unit by unit, up to the last change. A unit is what one
//! step of the decoder consumes: a character, or an invalid sequence shown as U+FFFD.

use std::ops::Range;

use encoding_rs::{DecoderResult, Encoding, ISO_2022_JP, REPLACEMENT, UTF_8};

use crate::SpliceError;
use crate::encoding::{encode_piece, is_utf16};

/// The longest sequence that any WHATWG multi-byte encoding decodes in one step, in bytes.
const LONGEST_UNIT: usize = 4;

/// `bytes` (which decode to `text`) with the spans of `text` replaced.
pub(super) fn splice_bytes(
    encoding: &'static Encoding,
    bytes: &[u8],
    text: &str,
    replacements: &[(Range<usize>, &str)],
) -> Result<Vec<u8>, SpliceError> {
    let mut walk = OffsetWalk { encoding, bytes, text, at_byte: 0, at_text: 0 };
    let mut result = Vec::with_capacity(bytes.len());
    let mut kept_from = 0;
    for (span, new) in replacements {
        let (span, new) = changed_part(text, span, new);
        walk.advance(span.start)?;
        result.extend_from_slice(&bytes[kept_from..walk.at_byte]);
        let invalid = walk.advance_collecting(span.end)?;
        encode_around(encoding, new, &invalid, &mut result)?;
        kept_from = walk.at_byte;
    }
    result.extend_from_slice(&bytes[kept_from..]);
    Ok(result)
}

/// The span and the new text without what both have in common at either end.
fn changed_part<'n>(text: &str, span: &Range<usize>, new: &'n str) -> (Range<usize>, &'n str) {
    let old = &text[span.clone()];
    let prefix: usize = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let (old, new) = (&old[prefix..], &new[prefix..]);
    let suffix: usize =
        old.chars().rev().zip(new.chars().rev()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    (span.start + prefix..span.end - suffix, &new[..new.len() - suffix])
}

/// Encodes `new`, its U+FFFD standing for the raw bytes in `invalid`, in order.
fn encode_around(
    encoding: &'static Encoding,
    new: &str,
    invalid: &[Invalid<'_>],
    result: &mut Vec<u8>,
) -> Result<(), SpliceError> {
    let pieces: Vec<&str> = new.split(char::REPLACEMENT_CHARACTER).collect();
    let has_raw = invalid.iter().any(|invalid| !invalid.is_real);
    if pieces.len() == 1 || !has_raw {
        result.extend(encode_piece(encoding, new)?);
        return Ok(());
    }
    // With another number of them nobody can say which invalid sequence is which.
    if pieces.len() - 1 != invalid.len() {
        return Err(SpliceError::Unstable { encoding: encoding.name() });
    }
    for (index, piece) in pieces.iter().enumerate() {
        result.extend(encode_piece(encoding, piece)?);
        if let Some(invalid) = invalid.get(index) {
            result.extend_from_slice(invalid.raw);
        }
    }
    Ok(())
}

/// The bytes behind one U+FFFD of the text; `is_real` where they do encode that character.
struct Invalid<'b> {
    raw: &'b [u8],
    is_real: bool,
}

/// A position in the text and in the bytes at once.
struct OffsetWalk<'d> {
    encoding: &'static Encoding,
    bytes: &'d [u8],
    text: &'d str,
    at_byte: usize,
    at_text: usize,
}

impl<'d> OffsetWalk<'d> {
    fn advance(&mut self, goal: usize) -> Result<(), SpliceError> {
        while self.at_text < goal {
            let (text_len, byte_len) = self.unit()?;
            self.at_text += text_len;
            self.at_byte += byte_len;
        }
        // Past it: the goal is between two characters of one sequence (Big5 has such).
        if self.at_text == goal { Ok(()) } else { Err(self.unstable()) }
    }

    /// Goes on to `goal` and returns what is behind every U+FFFD on the way.
    fn advance_collecting(&mut self, goal: usize) -> Result<Vec<Invalid<'d>>, SpliceError> {
        let text = self.text;
        let mut found = Vec::new();
        let marks = text[self.at_text..goal].match_indices(char::REPLACEMENT_CHARACTER);
        let from = self.at_text;
        for (offset, mark) in marks {
            self.advance(from + offset)?;
            let start = self.at_byte;
            self.advance(from + offset + mark.len())?;
            let raw = &self.bytes[start..self.at_byte];
            let is_real = encode_piece(self.encoding, mark).is_ok_and(|bytes| bytes == raw);
            found.push(Invalid { raw, is_real });
        }
        self.advance(goal)?;
        Ok(found)
    }

    /// Lengths of the next unit in the text and in the bytes.
    fn unit(&self) -> Result<(usize, usize), SpliceError> {
        let rest = &self.bytes[self.at_byte..];
        let Some(next) = self.text[self.at_text..].chars().next() else { return Err(self.unstable()) };
        let text_len = next.len_utf8();
        let byte_len = if self.encoding == UTF_8 {
            if next == char::REPLACEMENT_CHARACTER { replaced_utf8_len(rest) } else { text_len }
        } else if is_utf16(self.encoding) {
            // A lone surrogate is shown as U+FFFD, which takes one unit as well; an odd last byte is shorter.
            (next.len_utf16() * 2).min(rest.len())
        } else if self.encoding.is_single_byte() {
            1
        } else {
            return self.multi_byte_unit(rest);
        };
        if byte_len == 0 || byte_len > rest.len() { Err(self.unstable()) } else { Ok((text_len, byte_len)) }
    }

    /// Finds the shortest run of bytes for which a fresh decoder yields something. The WHATWG decoders carry
    /// no state from one sequence to the next, but for ISO-2022-JP, which is refused.
    fn multi_byte_unit(&self, rest: &[u8]) -> Result<(usize, usize), SpliceError> {
        if self.encoding == ISO_2022_JP || self.encoding == REPLACEMENT {
            return Err(self.unstable());
        }
        if rest.first().is_some_and(u8::is_ascii) {
            return Ok((1, 1));
        }
        // Ample: the longest result is the two characters of a Big5 sequence such as 0x8862.
        let mut output = [0; 16];
        for len in 1..=LONGEST_UNIT.min(rest.len()) {
            let mut decoder = self.encoding.new_decoder_without_bom_handling();
            let is_last = len == rest.len();
            let (result, _, written) = decoder.decode_to_utf8_without_replacement(&rest[..len], &mut output, is_last);
            let unit: &[u8] = match result {
                DecoderResult::Malformed(sequence, _) if written == 0 => {
                    return self.checked("\u{fffd}".as_bytes(), usize::from(sequence));
                }
                _ => &output[..written],
            };
            if !unit.is_empty() {
                return self.checked(unit, len);
            }
        }
        Err(self.unstable())
    }

    /// A unit, if the text goes on with what the bytes decode to.
    fn checked(&self, decoded: &[u8], byte_len: usize) -> Result<(usize, usize), SpliceError> {
        let agrees = self.text.as_bytes()[self.at_text..].starts_with(decoded);
        if agrees { Ok((decoded.len(), byte_len)) } else { Err(self.unstable()) }
    }

    fn unstable(&self) -> SpliceError {
        SpliceError::Unstable { encoding: self.encoding.name() }
    }
}

/// The length of the bytes behind one U+FFFD of lossily decoded UTF-8: a real U+FFFD, or an invalid sequence
/// (at most three bytes, ended by the fourth).
fn replaced_utf8_len(rest: &[u8]) -> usize {
    if rest.starts_with("\u{fffd}".as_bytes()) {
        return "\u{fffd}".len();
    }
    let window = &rest[..rest.len().min(LONGEST_UNIT)];
    window.utf8_chunks().next().map_or(0, |chunk| chunk.invalid().len())
}

#[cfg(test)]
mod tests {
    use encoding_rs::{BIG5, EUC_JP, EUC_KR, GB18030, ISO_2022_JP, SHIFT_JIS, UTF_16BE, UTF_16LE, WINDOWS_1252};
    use proptest::prelude::*;

    use super::*;
    use crate::Document;
    use crate::encoding::decode_as;

    fn document(bytes: &[u8], encoding: &'static Encoding) -> Document {
        Document::decode(bytes.to_vec(), Some(encoding)).unwrap()
    }

    /// Replaces the only `old` in `bytes` by `new`.
    fn replaced(bytes: &[u8], encoding: &'static Encoding, old: &str, new: &str) -> Result<Vec<u8>, SpliceError> {
        let document = document(bytes, encoding);
        let start = document.text().find(old).unwrap();
        document.splice(&[(start..start + old.len(), new)]).map(Document::into_bytes)
    }

    #[test]
    fn invalid_bytes_next_to_and_inside_a_change_survive() {
        assert_eq!(replaced(b"\xff a \xe2\x82", UTF_8, "a", "\u{e9}").unwrap(), b"\xff \xc3\xa9 \xe2\x82");
        assert_eq!(replaced(b"x\xe9y", UTF_8, "x\u{fffd}y", "z\u{fffd}y!").unwrap(), b"z\xe9y!");
        assert_eq!(
            replaced(b"x\xe9y\xfez", UTF_8, "x\u{fffd}y\u{fffd}z", "1\u{fffd}2\u{fffd}3").unwrap(),
            b"1\xe92\xfe3"
        );
    }

    #[test]
    fn an_invalid_byte_of_unclear_place_refuses_the_change() {
        let result = replaced(b"x\xe9y\xfez", UTF_8, "x\u{fffd}y\u{fffd}z", "1\u{fffd}3");
        assert_eq!(result, Err(SpliceError::Unstable { encoding: "UTF-8" }));
    }

    #[test]
    fn bytes_that_would_join_into_another_character_refuse_the_change() {
        let result = replaced(b"\xe2x\x82\xac", UTF_8, "x", "");
        assert_eq!(result, Err(SpliceError::Unstable { encoding: "UTF-8" }));
    }

    #[test]
    fn a_byte_with_two_spellings_keeps_its_own_where_it_stays() {
        // 0xFA54 and 0x81CA both read as FULLWIDTH NOT SIGN; only the latter is ever written.
        assert_eq!(replaced(b"\xfa\x54 a", SHIFT_JIS, "\u{ffe2} a", "\u{ffe2} b").unwrap(), b"\xfa\x54 b");
    }

    #[test]
    fn multi_byte_text_is_walked_with_its_errors() {
        assert_eq!(replaced(b"\x93\xfa\x81 \x96\x7b=1", SHIFT_JIS, "=1", "=2").unwrap(), b"\x93\xfa\x81 \x96\x7b=2");
        assert_eq!(replaced(b"\x81\x30\x81 z", GB18030, "z", "\u{1f600}").unwrap(), b"\x81\x30\x81 \x94\x39\xfc\x36");
        assert_eq!(replaced(b"\x8f\xa2\xaf\xa4\xa2 z", EUC_JP, "z", "y").unwrap(), b"\x8f\xa2\xaf\xa4\xa2 y");
    }

    #[test]
    fn one_sequence_for_two_characters_is_never_cut() {
        // Big5 0x8862 reads as U+00CA U+0304.
        assert_eq!(replaced(b"\x88\x62 z", BIG5, "z", "y").unwrap(), b"\x88\x62 y");
        let result = replaced(b"\x88\x62 z", BIG5, "\u{304}", "");
        assert_eq!(result, Err(SpliceError::Unstable { encoding: "Big5" }));
    }

    #[test]
    fn a_lone_surrogate_and_an_odd_last_byte_survive() {
        let bytes = b"a\0\x00\xd8b\0\n\0\x41";
        assert_eq!(replaced(bytes, UTF_16LE, "b", "\u{1f600}").unwrap(), b"a\0\x00\xd8\x3d\xd8\x00\xde\n\0\x41");
    }

    #[test]
    fn a_stateful_encoding_is_refused() {
        let result = replaced(b"\x1b$B$3\x1b(B a", ISO_2022_JP, "a", "b");
        assert_eq!(result, Err(SpliceError::Unstable { encoding: "ISO-2022-JP" }));
    }

    #[test]
    fn a_character_the_encoding_lacks_is_refused() {
        let result = replaced(b"caf\xe9", WINDOWS_1252, "caf", "日");
        assert_eq!(result, Err(SpliceError::Unrepresentable { character: '日', encoding: "windows-1252" }));
    }

    const TESTED_ENCODINGS: [&Encoding; 8] =
        [UTF_8, UTF_16LE, UTF_16BE, SHIFT_JIS, GB18030, WINDOWS_1252, EUC_KR, BIG5];

    /// A piece of a file: text of all sorts, or noise. No NUL, which would be binary.
    fn piece() -> impl Strategy<Value = Result<String, Vec<u8>>> {
        prop_oneof![
            3 => "[a-z \n\r]{0,6}".prop_map(Ok),
            3 => "[éüß日本語한글ｱ™€😀]{0,4}".prop_map(Ok),
            2 => proptest::collection::vec(1_u8..=255, 0..4).prop_map(Err),
        ]
    }

    /// The bytes of `pieces`, those left out that the encoding cannot write.
    fn bytes_of(encoding: &'static Encoding, pieces: &[Result<String, Vec<u8>>]) -> Vec<u8> {
        let bytes = pieces.iter().flat_map(|piece| match piece {
            Ok(text) => encode_piece(encoding, text).unwrap_or_default(),
            Err(noise) => noise.clone(),
        });
        bytes.collect()
    }

    proptest! {
        /// The oracle: a file of three parts that decode on their own, the middle one valid text, has exactly the
        /// bytes of its outer parts around those of the new text; undone, it is the file it was.
        #[test]
        fn every_byte_outside_a_change_is_kept_and_undoing_it_restores_the_file(
            encoding in prop::sample::select(&TESTED_ENCODINGS),
            before in proptest::collection::vec(piece(), 0..5),
            old in "[a-c é日한ｱ\n]{0,4}",
            after in proptest::collection::vec(piece(), 0..5),
            new in "[a-c é日한ｱ\n]{0,4}",
        ) {
            let (before, after) = (bytes_of(encoding, &before), bytes_of(encoding, &after));
            let (Ok(old_bytes), Ok(new_bytes)) =
                (encode_piece(encoding, &old), encode_piece(encoding, &new)) else { return Ok(()) };
            let file = [&before[..], &old_bytes, &after].concat();
            let Ok(document) = Document::decode(file.clone(), Some(encoding)) else { return Ok(()) };
            let head = decode_as(encoding, &before).0;
            let tail = decode_as(encoding, &after).0;
            prop_assume!(!document.has_bom() && document.text() == format!("{head}{old}{tail}"));
            let span = head.len()..head.len() + old.len();
            match document.splice(&[(span.clone(), new.as_str())]) {
                Err(_) => {
                    // Only where the new bytes would join with invalid bytes next to them.
                    let joined = decode_as(encoding, &[&before[..], &new_bytes, &after].concat()).0;
                    prop_assert_ne!(joined, format!("{head}{new}{tail}"));
                }
                Ok(changed) => {
                    prop_assert_eq!(changed.bytes(), &[&before[..], &new_bytes, &after].concat()[..]);
                    let back = changed.splice(&[(span.start..span.start + new.len(), old.as_str())]).unwrap();
                    prop_assert_eq!(back.into_bytes(), file);
                }
            }
        }

        #[test]
        fn any_spans_of_any_bytes_give_the_wanted_text_or_an_error(
            encoding in prop::sample::select(&TESTED_ENCODINGS),
            pieces in proptest::collection::vec(piece(), 0..8),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 4),
            new in "[a-zé日\n\u{fffd}]{0,5}",
        ) {
            let Ok(document) = Document::decode(bytes_of(encoding, &pieces), Some(encoding)) else { return Ok(()) };
            let text = document.text();
            let boundaries: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
            let mut at: Vec<usize> = cuts.iter().map(|cut| boundaries[cut.index(boundaries.len())]).collect();
            at.sort_unstable();
            if let Ok(changed) = document.splice(&[(at[0]..at[1], new.as_str()), (at[2]..at[3], "")]) {
                let expected = [&text[..at[0]], &new, &text[at[1]..at[2]], &text[at[3]..]].concat();
                prop_assert_eq!(changed.text(), &expected);
            }
        }
    }
}
