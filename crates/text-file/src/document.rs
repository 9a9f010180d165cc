//! From bytes to text: which encoding a file is in, and the [`Document`] that holds both sides.
//!
//! Detection follows what editors do: a given encoding, then a byte-order mark, then strict UTF-8 beyond ASCII, then
//! UTF-16 without a mark, then what the text declares, then chardetng (Firefox's detector) for legacy encodings. Bytes
//! that fit none are UTF-8 with U+FFFD in their place. Changing a document is [`Document::splice`].

use std::{borrow::Cow, ops::Range};

use encoding_rs::{Encoding, UTF_8};

use crate::declared::declared;
use crate::detect::{binary_kind, detect, kind_name, looks_like_utf16, may_be_declared};
use crate::encoding::{Charset, decode_as, encode_piece, has_nul, is_utf16, without_outer_nuls, without_padding};
use crate::{DecodeError, LineEnding, SpliceError, offsets};

/// Bytes at the front of a file by which its encoding is recognised; a file with no more is looked at as a whole.
pub const HEAD_BYTES: usize = 2 << 20;

/// The bytes of a text file together with their decoded text.
#[derive(Clone, Debug)]
pub struct Document {
    body: Body,
    charset: Charset,
    is_given: bool,
    bom_len: usize,
    had_errors: bool,
}

/// Valid UTF-8 is kept once; everything else as bytes and text side by side.
#[derive(Clone, Debug)]
enum Body {
    Utf8(String),
    Decoded { bytes: Vec<u8>, text: String },
}

impl Document {
    /// Decodes a file; `encoding` overrides detection.
    ///
    /// Invalid sequences become U+FFFD. With an override of UTF-16, a byte-order mark still decides the
    /// byte order, since the label `utf-16` names no particular one.
    ///
    /// # Errors
    /// [`DecodeError`] for content with NUL characters, but for fewer than others at its beginning or end, and for what
    /// is plainly something else than text.
    ///
    /// # Examples
    /// ```
    /// use text_file::Document;
    ///
    /// let document = Document::decode(b"d\xe9j\xe0 vu, caf\xe9\r\n".to_vec(), None).unwrap();
    /// assert_eq!((document.text(), document.encoding().name()), ("déjà vu, café\r\n", "windows-1252"));
    /// assert!(Document::decode(b"\x7fELF\0".to_vec(), None).is_err());
    /// ```
    pub fn decode(bytes: Vec<u8>, encoding: Option<&'static Encoding>) -> Result<Self, DecodeError> {
        let whole = bytes.len() <= HEAD_BYTES;
        let document = Self::decode_part(bytes, encoding, whole)?;
        Ok(Self { is_given: encoding.is_some(), ..document })
    }

    fn decode_part(bytes: Vec<u8>, encoding: Option<&'static Encoding>, whole: bool) -> Result<Self, DecodeError> {
        if let Some((_, bom_len)) = plain(&bytes, encoding, whole) {
            return Ok(Self::from_parts(bytes, UTF_8, bom_len));
        }
        if let Some(kind) = binary_without_override(&bytes, encoding) {
            return Err(DecodeError { kind });
        }
        let (charset, bom_len): (Charset, usize) = match (encoding, Encoding::for_bom(&bytes)) {
            (None, Some((marked, len))) => (marked.into(), len),
            (Some(wanted), Some((marked, len))) if wanted == marked || (is_utf16(wanted) && is_utf16(marked)) => {
                (marked.into(), len)
            }
            (Some(wanted), _) => (wanted.into(), 0),
            (None, None) => (detect(&bytes, whole), 0),
        };
        let document = Self::from_parts(bytes, charset, bom_len);
        if has_nul(without_padding(document.text().as_bytes())) {
            return Err(DecodeError { kind: kind_name(document.bytes()) });
        }
        Ok(document)
    }

    /// The same bytes, with the byte-order mark as the first character of the text, so that it can be replaced.
    #[must_use]
    pub fn with_mark_as_text(self) -> Self {
        let charset = self.charset;
        Self::from_parts(self.into_bytes(), charset, 0)
    }

    /// The text without the byte-order mark; invalid sequences are shown as U+FFFD.
    pub fn text(&self) -> &str {
        match &self.body {
            Body::Utf8(whole) => &whole[self.bom_len..],
            Body::Decoded { text, .. } => text,
        }
    }

    /// The file's bytes, with the byte-order mark.
    pub fn bytes(&self) -> &[u8] {
        match &self.body {
            Body::Utf8(whole) => whole.as_bytes(),
            Body::Decoded { bytes, .. } => bytes,
        }
    }

    /// Like [`Self::bytes`], without a copy.
    pub fn into_bytes(self) -> Vec<u8> {
        match self.body {
            Body::Utf8(whole) => whole.into_bytes(),
            Body::Decoded { bytes, .. } => bytes,
        }
    }

    /// The encoding given or found.
    pub fn encoding(&self) -> &'static Encoding {
        self.charset.encoding
    }

    /// What is written into it has to be of this set.
    pub fn charset(&self) -> Charset {
        self.charset
    }

    /// The encoding that a text declares for itself.
    pub fn declared(text: &str) -> Option<Charset> {
        declared(text.as_bytes(), text.len() <= HEAD_BYTES)
    }

    /// The text of a new file, in the encoding that it declares, else in UTF-8.
    ///
    /// # Errors
    /// [`SpliceError`] where that encoding cannot hold it, or it would be read as something else.
    pub fn created(text: String) -> Result<Self, SpliceError> {
        let declared = Self::declared(&text).filter(|one| one.encoding != UTF_8);
        let Some(charset) = declared else { return Ok(Self::from(text)) };
        let new = Self::from_parts(encode_piece(charset, &text)?, charset, 0);
        let is_read_so =
            text.is_ascii() || Self::decode(new.bytes().to_vec(), None).is_ok_and(|one| one.text() == text);
        if is_read_so { Ok(new) } else { Err(SpliceError::Unstable { encoding: charset.name() }) }
    }

    /// Whether the bytes begin with a byte-order mark of the encoding.
    pub fn has_bom(&self) -> bool {
        self.bom_len > 0
    }

    /// Whether some bytes are invalid in the encoding (and shown as U+FFFD).
    pub fn had_errors(&self) -> bool {
        self.had_errors
    }

    /// The line endings of the whole text.
    pub fn line_ending(&self) -> LineEnding {
        LineEnding::of(self.text())
    }

    /// The encoding and the line endings together.
    pub fn layout(&self) -> Layout {
        Layout {
            encoding: self.encoding().name(),
            bom: self.has_bom(),
            lossy: self.had_errors,
            line_ending: self.line_ending(),
        }
    }

    /// Replaces disjoint ascending spans (byte offsets into [`Self::text`]); every byte outside them is kept.
    ///
    /// What a replacement has in common with the text it replaces, at its start and at its end, keeps its
    /// bytes too, so that an invalid sequence survives an edit next to it. Where invalid sequences lie in the
    /// changed part, each U+FFFD of the new text keeps one of them, in their order.
    ///
    /// # Errors
    /// [`SpliceError`] when the new text cannot be written in the encoding, or when the new bytes would not
    /// read back as the new text. Nothing is replaced by a substitute character, ever.
    ///
    /// # Examples
    /// ```
    /// use text_file::Document;
    ///
    /// // A byte that is not UTF-8 survives a change next to it.
    /// let document = Document::decode(b"caf\xff one\n".to_vec(), None).unwrap();
    /// let at = document.text().find("one").unwrap();
    /// assert_eq!(document.splice(&[(at..at + 3, "two")]).unwrap().bytes(), b"caf\xff two\n");
    /// ```
    ///
    /// # Panics
    /// When a span is outside the text, off a character boundary, or before the end of the one before it.
    pub fn splice(&self, replacements: &[(Range<usize>, &str)]) -> Result<Self, SpliceError> {
        // ASCII is the same in all of them: what it declares with the change decides.
        if !self.is_given && self.bytes().is_ascii() && self.bytes().len() == self.text().len() {
            return Self::created(spliced("", self.text(), replacements));
        }
        let is_new =
            |span: &Range<usize>, one: &char| self.charset.lacks(*one) && !self.text()[span.clone()].contains(*one);
        let lacking = replacements.iter().find_map(|(span, new)| new.chars().find(|one| is_new(span, one)));
        if let Some(character) = lacking {
            return Err(SpliceError::Unrepresentable { character, encoding: self.charset.name() });
        }
        let (text, bytes) = match &self.body {
            Body::Utf8(whole) => {
                let new = spliced(&whole[..self.bom_len], self.text(), replacements);
                return Ok(Self { body: Body::Utf8(new), ..*self });
            }
            Body::Decoded { bytes, text: old } => {
                let (bom, content) = bytes.split_at(self.bom_len);
                let changed = offsets::splice_bytes(self.encoding(), content, old, replacements)?;
                (spliced("", old, replacements), [bom, &changed].concat())
            }
        };
        let new = Self { is_given: self.is_given, ..Self::from_parts(bytes, self.charset, self.bom_len) };
        // In encodings of several bytes a new one may join with what is next to it.
        if new.text() == text { Ok(new) } else { Err(SpliceError::Unstable { encoding: self.charset.name() }) }
    }

    fn from_parts(bytes: Vec<u8>, charset: impl Into<Charset>, bom_len: usize) -> Self {
        let charset = charset.into();
        let encoding = charset.encoding;
        let (body, had_errors) = if encoding == UTF_8 {
            match String::from_utf8(bytes) {
                Ok(whole) => (Body::Utf8(whole), false),
                Err(error) => {
                    let bytes = error.into_bytes();
                    let text = String::from_utf8_lossy(&bytes[bom_len..]).into_owned();
                    (Body::Decoded { bytes, text }, true)
                }
            }
        } else {
            let (text, had_errors) = decode_as(encoding, &bytes[bom_len..]);
            (Body::Decoded { bytes, text }, had_errors)
        };
        Self { body, charset, is_given: false, bom_len, had_errors }
    }
}

impl From<String> for Document {
    /// The text in UTF-8 as it is, also one that would be read as something else.
    fn from(text: String) -> Self {
        Self { body: Body::Utf8(text), charset: UTF_8.into(), is_given: false, bom_len: 0, had_errors: false }
    }
}

/// The form of a text file: what an edit has to keep and a reader does not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The WHATWG name of its encoding.
    pub encoding: &'static str,
    /// It begins with a byte-order mark.
    pub bom: bool,
    /// Some bytes are invalid in the encoding, and shown as U+FFFD.
    pub lossy: bool,
    /// How its lines end.
    pub line_ending: LineEnding,
}

impl Layout {
    /// Names what is not as in a UTF-8 file with LF.
    ///
    /// # Examples
    /// ```
    /// use text_file::Document;
    ///
    /// let layout = |bytes: &[u8]| Document::decode(bytes.to_vec(), None).unwrap().layout();
    /// assert_eq!(layout(b"d\xe9j\xe0 vu, caf\xe9\r\n").unusual().join(", "), "windows-1252, CRLF");
    /// assert!(layout(b"plain\n").unusual().is_empty());
    /// ```
    pub fn unusual(&self) -> Vec<String> {
        let encoding = match (self.encoding, self.lossy) {
            (name, true) => Some(format!("{name} with invalid bytes shown as \u{fffd}")),
            ("UTF-8", false) => None,
            (name, false) => Some(name.to_owned()),
        };
        let ending = match self.line_ending {
            LineEnding::CrLf => Some("CRLF"),
            LineEnding::Mixed => Some("mixed line endings"),
            LineEnding::Lf | LineEnding::None => None,
        };
        let words = [self.bom.then_some("BOM"), ending];
        encoding.into_iter().chain(words.into_iter().flatten().map(str::to_owned)).collect()
    }
}

/// The text of a file, as [`Document::decode`] has it, without a copy where the bytes are UTF-8.
///
/// # Errors
/// As [`Document::decode`].
pub fn view<'b>(bytes: &'b [u8], encoding: Option<&'static Encoding>) -> Result<Cow<'b, str>, DecodeError> {
    if let Some((text, bom_len)) = plain(bytes, encoding, bytes.len() <= HEAD_BYTES) {
        return Ok(Cow::Borrowed(&text[bom_len..]));
    }
    Document::decode(bytes.to_vec(), encoding).map(|document| Cow::Owned(document.text().to_owned()))
}

/// The encoding of a file larger than [`HEAD_BYTES`], by its first [`HEAD_BYTES`] bytes, as [`Document::decode`] has it. Whether NULs
/// at its beginning or end are too many is not decided by so few of its bytes.
///
/// # Errors
/// As [`Document::decode`].
pub fn encoding_of_head(head: &[u8], encoding: Option<&'static Encoding>) -> Result<&'static Encoding, DecodeError> {
    let end = whole_lines(head).len();
    // The unit of an LF of UTF-16LE is whole with the NUL after it: half of one is taken for no UTF-16.
    let lines = &head[..end + usize::from(end % 2 == 1 && head.get(end) == Some(&0))];
    let is_utf16 = encoding.or(Encoding::for_bom(lines).map(|(marked, _)| marked)).is_some_and(is_utf16);
    let content = if is_utf16 || looks_like_utf16(lines) { lines } else { without_outer_nuls(lines) };
    let content = if content.is_empty() { head } else { content };
    Document::decode_part(content.to_vec(), encoding, false).map(|found| found.encoding())
}

/// `head` up to its last line end, so that no character is cut in two.
pub fn whole_lines(head: &[u8]) -> &[u8] {
    &head[..memchr::memrchr(b'\n', head).map_or(head.len(), |end| end + 1)]
}

/// Whether the bytes are text but for NULs at their beginning or end, fewer than the other bytes.
pub fn is_padded(bytes: &[u8]) -> bool {
    let content = without_padding(bytes);
    content.len() < bytes.len() && !has_nul(content) && binary_kind(bytes).is_none()
}

/// Whether decoding the bytes takes no more than a look at each: they are UTF-8, and text. Telling another encoding
/// takes a hundred times as long.
pub fn is_plain(bytes: &[u8]) -> bool {
    plain(bytes, None, bytes.len() <= HEAD_BYTES).is_some()
}

/// Whether the beginning of a file, or all of it, is valid UTF-8, and `read` takes it for that.
pub fn is_utf8(bytes: &[u8], whole: bool) -> bool {
    // A character that is cut at the end is not an invalid one.
    std::str::from_utf8(bytes).map_or_else(|error| !whole && error.error_len().is_none(), |_| true)
        && !may_be_declared(bytes, whole)
}

/// Bytes that are UTF-8 and no more than that, as nearly every file is, and the length of their byte-order
/// mark. Everything else that is asked of a file comes to the same for them.
fn plain<'b>(bytes: &'b [u8], encoding: Option<&'static Encoding>, whole: bool) -> Option<(&'b str, usize)> {
    if encoding.is_some_and(|wanted| wanted != UTF_8) || has_nul(bytes) {
        return None;
    }
    // The mark below is that of UTF-8: those of UTF-16 (FF FE and FE FF) are no valid UTF-8.
    let text = std::str::from_utf8(bytes).ok()?;
    let bom_len = Encoding::for_bom(bytes).map_or(0, |(_, len)| len);
    let is_declared = || encoding.is_none() && bom_len == 0 && may_be_declared(bytes, whole);
    (!is_declared()).then_some((text, bom_len))
}

/// `mark`, and after it the text with `replacements` made, which are disjoint and ascending.
pub fn spliced(mark: &str, text: &str, replacements: &[(Range<usize>, &str)]) -> String {
    let added: usize = replacements.iter().map(|(_, new)| new.len()).sum();
    let mut result = String::with_capacity(mark.len() + text.len() + added);
    result.push_str(mark);
    let mut at = 0;
    for (span, new) in replacements {
        result.push_str(&text[at..span.start]);
        result.push_str(new);
        at = span.end;
    }
    result.push_str(&text[at..]);
    result
}

fn binary_without_override(bytes: &[u8], encoding: Option<&'static Encoding>) -> Option<String> {
    match encoding {
        None => binary_kind(bytes),
        Some(wanted) if is_utf16(wanted) => None,
        Some(_) => has_nul(without_padding(bytes)).then(|| kind_name(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::{GB18030, SHIFT_JIS, UTF_16BE, UTF_16LE, WINDOWS_1251, WINDOWS_1252};

    use super::*;
    use crate::encoding::encode_piece;

    fn decoded(bytes: &[u8]) -> Document {
        Document::decode(bytes.to_vec(), None).unwrap()
    }

    #[test]
    fn utf8_is_taken_as_it_is_and_a_mark_is_hidden() {
        let document = decoded("\u{feff}naïve\r\n".as_bytes());
        assert_eq!(document.text(), "naïve\r\n");
        assert!(document.has_bom() && !document.had_errors());
        assert_eq!(document.line_ending(), LineEnding::CrLf);
        assert_eq!(document.into_bytes(), "\u{feff}naïve\r\n".as_bytes());
    }

    #[test]
    fn a_head_with_one_line_end_is_known_as_utf16() {
        for encoding in [UTF_16LE, UTF_16BE] {
            let text = format!("one line\n{}", "and another that is long ".repeat(900));
            let head = &encode_piece(encoding, &text).unwrap()[..40_000];
            assert_eq!(encoding_of_head(head, None), Ok(encoding));
        }
        let padded = [&b"text\n"[..], &[0; 3], "n\u{e9}".repeat(4_000).as_bytes()].concat();
        assert_eq!(encoding_of_head(&padded, None).unwrap(), UTF_8);
    }

    #[test]
    fn a_view_shows_what_a_document_holds() {
        let long = [&b"a".repeat(20_000)[..], "ä".as_bytes()].concat();
        for bytes in
            [&b""[..], b"plain\n", "\u{feff}mark".as_bytes(), b"\xff\xfeh\0", b"caf\xe9", b"a\0b", b"\xc3", &long]
        {
            for encoding in [None, Some(UTF_8), Some(WINDOWS_1252), Some(UTF_16LE)] {
                let document = Document::decode(bytes.to_vec(), encoding);
                let text = document.map(|document| document.text().to_owned());
                assert_eq!(view(bytes, encoding).map(Cow::into_owned), text, "{bytes:?} {encoding:?}");
            }
        }
    }

    #[test]
    fn utf16_is_detected_by_its_mark_or_its_content() {
        for (bytes, encoding, bom) in [
            (&b"\xff\xfeh\0i\0"[..], UTF_16LE, true),
            (b"\xfe\xff\0h\0i", UTF_16BE, true),
            (b"h\0i\0\n\0", UTF_16LE, false),
            (b"\0h\0i\0\n", UTF_16BE, false),
        ] {
            let document = decoded(bytes);
            assert_eq!((document.encoding(), document.has_bom()), (encoding, bom));
            assert_eq!(document.text().trim_end(), "hi");
        }
    }

    #[test]
    fn ascii_text_with_a_few_nul_bytes_is_not_utf16() {
        for bytes in [&b"hit\0hit\n"[..], b"ab\0cd\0ef", b"key\0value\0key\0value\0", b"one\0two three four\0"] {
            assert!(Document::decode(bytes.to_vec(), None).is_err(), "{bytes:?}");
        }
        let chinese = "设定 x = 1 文件编码 检测 one two 这是一个用来测试的文件\n";
        let bytes: Vec<u8> = chinese.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decoded(&bytes).text(), chinese);
    }

    #[test]
    fn a_mark_decides_the_byte_order_of_a_file_read_as_utf16() {
        let document = Document::decode(b"\xfe\xff\0h".to_vec(), Some(UTF_16LE)).unwrap();
        assert_eq!((document.text(), document.encoding()), ("h", UTF_16BE));
    }

    #[test]
    fn nul_bytes_are_binary_also_under_an_override() {
        let binary = |bytes: &[u8], encoding| Document::decode(bytes.to_vec(), encoding).is_err();
        assert!(binary(b"ab\0\x01\x02cd", None));
        assert!(binary(b"ab\0cd", Some(WINDOWS_1252)));
        assert!(binary(b"\xff\xfea\0\0\0", None));
        let late = [&b"a".repeat(20_000)[..], b"\0\x01"].concat();
        assert!(binary(&late, None));
    }

    #[test]
    fn legacy_encodings_are_detected() {
        let japanese = "これは日本語の文章です。設定を変更してください。\n";
        let russian = "Это обычный русский текст, который нужно прочитать.\n";
        for (text, encoding) in [(japanese, SHIFT_JIS), (russian, WINDOWS_1251), ("déjà vu à l'école\n", WINDOWS_1252)]
        {
            let bytes = encode_piece(encoding, text).unwrap();
            let document = decoded(&bytes);
            assert_eq!((document.text(), document.encoding()), (text, encoding));
        }
    }

    #[test]
    fn gbk_with_four_byte_sequences_is_gb18030() {
        let text = "这是一个用来测试编码检测的中文文件。\u{1f600}\n";
        let bytes = encode_piece(GB18030, text).unwrap();
        let document = decoded(&bytes);
        assert_eq!((document.text(), document.encoding()), (text, GB18030));
    }

    #[test]
    fn damaged_utf8_stays_utf8() {
        let document = decoded(b"na\xc3\xafve caf\xc3\xa9 d\xc3\xa9j\xc3\xa0 \xff\n");
        assert_eq!((document.text(), document.encoding()), ("naïve café déjà \u{fffd}\n", UTF_8));
        assert!(document.had_errors());
    }

    #[test]
    fn an_encoding_override_wins_over_detection() {
        let document = Document::decode(b"\xef\xbb\xbfa".to_vec(), Some(WINDOWS_1252)).unwrap();
        assert_eq!((document.text(), document.has_bom()), ("ï»¿a", false));
        let document = Document::decode(b"\xe9".to_vec(), Some(UTF_8)).unwrap();
        assert_eq!((document.text(), document.had_errors()), ("\u{fffd}", true));
    }

    #[test]
    fn several_spans_are_replaced_at_once() {
        let document = decoded(b"\xef\xbb\xbfone two three");
        let changed = document.splice(&[(0..3, "1"), (8..13, "3")]).unwrap();
        assert_eq!(changed.bytes(), b"\xef\xbb\xbf1 two 3");
        assert!(changed.has_bom());
    }
}
