//! From text to bytes, without a single substitute character, and the primitives that
//! [`Document`](super::Document) shares with that.
//!
//! `encoding_rs` implements the WHATWG encoding standard (<https://encoding.spec.whatwg.org/>), which encodes for forms and
//! URLs (<https://encoding.spec.whatwg.org/#output-encodings>): UTF-16 comes out as UTF-8, and unmappable characters as
//! `&#1234;`. Where that serves the web rather than an editor, the difference is made here: UTF-16 is decoded and encoded by
//! hand, a character counts as representable only where its bytes read back as itself, and any other is an error.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_874, WINDOWS_1252, WINDOWS_1254, X_USER_DEFINED};

use crate::nearest_name::{ONE_OF_FEW, nearest_names};
use crate::{LineEnding, SpliceError};

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
pub(super) fn unrepresentable(charset: Charset, text: &str) -> Option<(usize, char)> {
    let (encoding, mut buffer) = (charset.encoding, [0; 4]);
    text.char_indices().filter(|(_, character)| !character.is_ascii()).find(|(_, character)| {
        let one = &*character.encode_utf8(&mut buffer);
        let (bytes, _, had_unmappable) = encoding.encode(one);
        had_unmappable || charset.lacks(*character) || decode_as(encoding, &bytes).0 != one
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
    charset: impl Into<Charset>,
    bom: bool,
    line_ending: LineEnding,
) -> Result<Vec<u8>, SpliceError> {
    let charset = charset.into();
    let encoding = charset.encoding;
    let converts = line_ending == LineEnding::CrLf && !text.contains('\r');
    let converted = converts.then(|| text.replace('\n', "\r\n"));
    let text = converted.as_deref().unwrap_or(text);
    let has_mark = bom && (encoding == UTF_8 || is_utf16(encoding));
    if !has_mark {
        return encode_piece(charset, text);
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    encode_piece(charset, &format!("\u{feff}{text}"))
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
pub fn first_unwritable(text: &str, charset: impl Into<Charset>) -> Option<(char, usize, usize)> {
    let charset = charset.into();
    let encoding = charset.encoding;
    if encoding == UTF_8 || is_utf16(encoding) {
        return None;
    }
    let (at, character) = unrepresentable(charset, text)?;
    let before = &text[..at];
    let line_start = memchr::memrchr(b'\n', before.as_bytes()).map_or(0, |end| end + 1);
    let line = memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1;
    Some((character, line, before[line_start..].chars().count() + 1))
}

/// Bytes for a piece of text anywhere in a file.
pub(super) fn encode_piece(charset: impl Into<Charset>, text: &str) -> Result<Vec<u8>, SpliceError> {
    let charset = charset.into();
    let encoding = charset.encoding;
    if encoding == UTF_8 {
        return Ok(text.as_bytes().to_vec());
    }
    if is_utf16(encoding) {
        let bytes = |unit: u16| if encoding == UTF_16LE { unit.to_le_bytes() } else { unit.to_be_bytes() };
        return Ok(text.encode_utf16().flat_map(bytes).collect());
    }
    // `replacement` and its like can be read but never written.
    if encoding.output_encoding() != encoding {
        return Err(SpliceError::Unstable { encoding: encoding.name() });
    }
    let (bytes, _, had_unmappable) = encoding.encode(text);
    let lacks = text.chars().any(|character| charset.lacks(character));
    if !had_unmappable && !lacks && decode_as(encoding, &bytes).0 == text {
        return Ok(bytes.into_owned());
    }
    Err(match unrepresentable(charset, text) {
        Some((_, character)) => SpliceError::Unrepresentable { character, encoding: charset.name() },
        None => SpliceError::Unstable { encoding: encoding.name() },
    })
}

/// An encoding as a caller's label asks for it.
///
/// WHATWG labels (<https://encoding.spec.whatwg.org/#names-and-labels>), and what models bring from Python
/// (`latin-1`, `utf_16_le`, `cp932`, `utf-8-sig`) and from editors (`UTF-8 with BOM`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodingLabel {
    /// The encoding that is meant, by the WHATWG standard.
    pub encoding: &'static Encoding,
    /// Whether a new file begins with a byte-order mark: in UTF-16, where few readers recognise a file without one, and
    /// in UTF-8 where the label says so.
    pub bom: bool,
}

/// An encoding, and the set of characters within it that was named: the web reads ISO-8859-1 as windows-1252, other
/// programs do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset {
    /// The encoding by the WHATWG standard.
    pub encoding: &'static Encoding,
    /// The name of the smaller set: ASCII, or all but what the encoding has in place of the controls up to 0x9F.
    smaller: Option<&'static str>,
}

impl From<&'static Encoding> for Charset {
    fn from(encoding: &'static Encoding) -> Self {
        Self { encoding, smaller: None }
    }
}

impl Charset {
    /// Its name in errors.
    pub fn name(self) -> &'static str {
        self.smaller.unwrap_or(self.encoding.name())
    }

    pub(super) fn lacks(self, character: char) -> bool {
        let Some(smaller) = self.smaller.filter(|_| !character.is_ascii()) else { return false };
        let mut buffer = [0; 4];
        let (bytes, ..) = self.encoding.encode(character.encode_utf8(&mut buffer));
        smaller == ASCII_NAME || matches!(*bytes, [0x80..=0x9F])
    }

    pub(super) fn of_label(label: &str) -> Option<Self> {
        let label = label.trim().to_ascii_lowercase();
        // Emacs adds the line endings.
        let plain = ["-unix", "-dos", "-mac"].iter().find_map(|ending| label.strip_suffix(ending)).unwrap_or(&label);
        let encoding = EncodingLabel::parse(plain).ok()?.encoding;
        let smaller = match encoding {
            _ if plain.contains("ascii") => Some(ASCII_NAME),
            one if one == WINDOWS_1252 && !plain.contains("1252") && !plain.contains("ansi") => Some("ISO-8859-1"),
            one if one == WINDOWS_1254 && !plain.contains("1254") => Some("ISO-8859-9"),
            one if one == WINDOWS_874 && !plain.contains("874") => Some("ISO-8859-11"),
            _ => None,
        };
        let is_one = encoding.is_ascii_compatible() && encoding != X_USER_DEFINED;
        is_one.then_some(Self { encoding, smaller })
    }
}

const ASCII_NAME: &str = "US-ASCII";

/// Names that are offered for one that is not known, and found in any spelling: `utf_16_le` is `utf-16le`.
const ENCODING_NAMES: &str = "utf-8 utf-16le utf-16be utf-16 windows-1250 windows-1251 windows-1252 windows-1253 windows-1254 \
     windows-1255 windows-1256 windows-1257 windows-1258 windows-874 latin1 latin2 iso-8859-1 iso-8859-2 \
     iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7 iso-8859-8 iso-8859-8-i iso-8859-9 iso-8859-10 \
     iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 us-ascii shift_jis euc-jp iso-2022-jp gbk gb18030 gb2312 \
     big5 big5-hkscs euc-kr koi8-r koi8-u ibm866 macintosh x-mac-cyrillic";

/// Names of Python, Emacs, Vim and LaTeX that are no WHATWG label in any spelling.
const OTHER_NAMES: &str = "cp932=shift_jis cp936=gbk cp949=euc-kr cp950=big5 cp65001=utf-8 cp874=windows-874 \
     latin7=iso-8859-13 latin8=iso-8859-14 latin9=iso-8859-15 latin0=iso-8859-15 latin10=iso-8859-16 \
     macroman=macintosh applemac=macintosh maccyrillic=x-mac-cyrillic maccyr=x-mac-cyrillic ansinew=windows-1252 \
     8859=iso-8859-1 cp819=iso-8859-1 latin=iso-8859-1 isolatin1=iso-8859-1 isolatin2=iso-8859-2 \
     isolatin9=iso-8859-15 koi8ru=koi8-u koi8=koi8-r cp10000=macintosh hkscs=big5 uhc=euc-kr ms949=euc-kr \
     ksc5601=euc-kr ksx1001=euc-kr ujis=euc-jp mskanji=shift_jis ms932=shift_jis 932=shift_jis 936=gbk 949=euc-kr \
     950=big5 ms936=gbk ms950=big5 euccn=gbk big5tw=big5 gb180302000=gb18030 thai=tis-620 iso885911=tis-620 \
     japaneseiso8bit=euc-jp japaneseshiftjis=shift_jis chinesegbk=gbk chinesebig5=big5 chineseiso8bit=gbk \
     koreaniso8bit=euc-kr cyrillickoi8=koi8-r cyrilliciso8bit=iso-8859-5 utf8x=utf-8 u8=utf-8 muleutf8=utf-8";

/// Ends of a label, without separators, that ask for a byte-order mark.
const MARK_ENDINGS: [&str; 5] = ["withsignature", "withbom", "bom", "signature", "sig"];

/// No encoding has the label.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown encoding label")]
pub struct LabelError {
    /// Up to three names that it may mean, the best first.
    pub nearest: Vec<&'static str>,
}

impl EncodingLabel {
    /// Reads a label in any spelling.
    ///
    /// # Errors
    /// With the names that an unknown label may mean.
    ///
    /// # Examples
    /// ```
    /// use text_file::EncodingLabel;
    ///
    /// let found = |label| EncodingLabel::parse(label).map(|found| (found.encoding.name(), found.bom));
    /// assert_eq!(found("latin-1"), Ok(("windows-1252", false)));
    /// assert_eq!(found("utf-8-sig"), Ok(("UTF-8", true)));
    /// assert_eq!(found("utf_16_be"), Ok(("UTF-16BE", true)));
    /// assert_eq!(found("shift_jsi").unwrap_err().nearest, ["shift_jis"]);
    /// ```
    pub fn parse(label: &str) -> Result<Self, LabelError> {
        let folded = folded(label);
        if let Some(encoding) = known(label, &folded) {
            return Ok(Self { encoding, bom: is_utf16(encoding) });
        }
        let unmarked = MARK_ENDINGS.iter().find_map(|end| folded.strip_suffix(end));
        match unmarked.and_then(|name| known(name, name)) {
            Some(encoding) if encoding == UTF_8 || is_utf16(encoding) => Ok(Self { encoding, bom: true }),
            _ => {
                let nearest = nearest_names(label, ENCODING_NAMES.split_ascii_whitespace(), ONE_OF_FEW);
                Err(LabelError { nearest: nearest.into_iter().take(3).collect() })
            }
        }
    }
}

fn known(label: &str, letters: &str) -> Option<&'static Encoding> {
    let by_letters = || {
        let mut others = OTHER_NAMES.split(' ').filter_map(|pair| pair.split_once('='));
        let other = others.find_map(|(name, label)| (name == letters).then_some(label));
        let name = other.or_else(|| ENCODING_NAMES.split_ascii_whitespace().find(|name| folded(name) == letters))?;
        Encoding::for_label(name.as_bytes())
    };
    // `ucs-2` and `unicode`, which the standard reads as UTF-16LE, are no more than that.
    Encoding::for_label(label.as_bytes()).or_else(by_letters).or_else(|| (letters == "utf16").then_some(UTF_16LE))
}

/// The letters and digits of a label, in lower case; nothing of what cannot be one.
fn folded(label: &str) -> String {
    const MAX_LABEL: usize = 64;
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | ' ');
    if label.len() > MAX_LABEL || !label.chars().all(fits) {
        return String::new();
    }
    label.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
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

    #[test]
    fn labels_of_the_standard_of_python_and_of_editors_are_known() {
        for (label, name, bom) in [
            ("utf-8", "UTF-8", false),
            (" UTF8 ", "UTF-8", false),
            ("utf_8", "UTF-8", false),
            ("utf_8_sig", "UTF-8", true),
            ("UTF-8 with BOM", "UTF-8", true),
            ("utf-8-bom", "UTF-8", true),
            ("utf-16", "UTF-16LE", true),
            ("UTF-16 LE", "UTF-16LE", true),
            ("utf-16be", "UTF-16BE", true),
            ("utf-16-be-bom", "UTF-16BE", true),
            ("unicode", "UTF-16LE", true),
            ("iso8859_15", "ISO-8859-15", false),
            ("ISO-8859-1", "windows-1252", false),
            ("ascii", "windows-1252", false),
            ("cp1252", "windows-1252", false),
            ("windows1251", "windows-1251", false),
            ("cp932", "Shift_JIS", false),
            ("eucJP", "EUC-JP", false),
            ("koi8_r", "KOI8-R", false),
        ] {
            let found = EncodingLabel::parse(label).unwrap_or_else(|near| panic!("{label}: {near:?}"));
            assert_eq!((found.encoding.name(), found.bom), (name, bom), "{label}");
        }
    }

    #[test]
    fn unknown_label_has_near_names() {
        assert!(EncodingLabel::parse("windows-1225").unwrap_err().nearest[0].starts_with("windows-125"));
        assert_eq!(EncodingLabel::parse("ibm-8666").unwrap_err().nearest[0], "ibm866");
        for label in ["", "klingon", "latin1-sig", "sig", "bom", &"u".repeat(1 << 20), "utf-8\0"] {
            assert!(EncodingLabel::parse(label).is_err(), "{label:.20}");
        }
    }

    #[test]
    fn every_listed_name_is_a_label() {
        for name in ENCODING_NAMES.split_ascii_whitespace().chain(OTHER_NAMES.split(['=', ' ']).skip(1).step_by(2)) {
            assert!(Encoding::for_label(name.as_bytes()).is_some(), "{name}");
        }
    }
}
