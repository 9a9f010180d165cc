//! The name of an encoding as a caller writes it → the encoding, and whether a new file in it begins with a byte-order
//! mark.
//!
//! WHATWG labels (<https://encoding.spec.whatwg.org/#names-and-labels>), and what models bring from Python
//! (`latin-1`, `utf_16_le`, `cp932`, `utf-8-sig`) and from editors (`UTF-8 with BOM`).

use encoding_rs::{Encoding, UTF_8, UTF_16LE};

use super::{
    encoding::is_utf16,
    nearest_name::{ONE_OF_FEW, nearest_names},
};

/// An encoding as a label asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodingLabel {
    /// The encoding that is meant, by the WHATWG standard.
    pub encoding: &'static Encoding,
    /// Whether a new file begins with a byte-order mark: in UTF-16, where few readers recognise a file without one, and
    /// in UTF-8 where the label says so.
    pub bom: bool,
}

/// Names that are offered for one that is not known, and found in any spelling: `utf_16_le` is `utf-16le`.
const NAMES: &str = "utf-8 utf-16le utf-16be utf-16 windows-1250 windows-1251 windows-1252 windows-1253 windows-1254 \
     windows-1255 windows-1256 windows-1257 windows-1258 windows-874 latin1 latin2 iso-8859-1 iso-8859-2 \
     iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7 iso-8859-8 iso-8859-8-i iso-8859-9 iso-8859-10 \
     iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 us-ascii shift_jis euc-jp iso-2022-jp gbk gb18030 gb2312 \
     big5 big5-hkscs euc-kr koi8-r koi8-u ibm866 macintosh x-mac-cyrillic";

/// Python's names that are no WHATWG label in any spelling.
const OTHER_NAMES: &str = "cp932=shift_jis cp936=gbk cp949=euc-kr cp950=big5 cp65001=utf-8 cp874=windows-874 \
     latin9=iso-8859-15 macroman=macintosh maccyrillic=x-mac-cyrillic";

/// Ends of a label, without separators, that ask for a byte-order mark.
const MARKED: [&str; 5] = ["withsignature", "withbom", "bom", "signature", "sig"];

impl EncodingLabel {
    /// Reads a label in any spelling.
    ///
    /// # Errors
    /// Up to three names that an unknown label may mean.
    ///
    /// # Examples
    /// ```
    /// use text_file::EncodingLabel;
    ///
    /// let found = |label| EncodingLabel::parse(label).map(|found| (found.encoding.name(), found.bom));
    /// assert_eq!(found("latin-1"), Ok(("windows-1252", false)));
    /// assert_eq!(found("utf-8-sig"), Ok(("UTF-8", true)));
    /// assert_eq!(found("utf_16_be"), Ok(("UTF-16BE", true)));
    /// assert_eq!(found("shift_jsi"), Err(vec!["shift_jis"]));
    /// ```
    pub fn parse(label: &str) -> Result<Self, Vec<&'static str>> {
        let folded = folded(label);
        if let Some(encoding) = known(label, &folded) {
            return Ok(Self { encoding, bom: is_utf16(encoding) });
        }
        let unmarked = MARKED.iter().find_map(|end| folded.strip_suffix(end));
        match unmarked.and_then(|name| known(name, name)) {
            Some(encoding) if encoding == UTF_8 || is_utf16(encoding) => Ok(Self { encoding, bom: true }),
            _ => Err(nearest_names(label, NAMES.split_ascii_whitespace(), ONE_OF_FEW).into_iter().take(3).collect()),
        }
    }
}

/// The encoding of a label, or of its letters and digits alone.
fn known(label: &str, letters: &str) -> Option<&'static Encoding> {
    let by_letters = || {
        let mut others = OTHER_NAMES.split(' ').filter_map(|pair| pair.split_once('='));
        let other = others.find_map(|(name, label)| (name == letters).then_some(label));
        let name = other.or_else(|| NAMES.split_ascii_whitespace().find(|name| folded(name) == letters))?;
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
    use super::*;

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
        assert!(EncodingLabel::parse("windows-1225").unwrap_err()[0].starts_with("windows-125"));
        assert_eq!(EncodingLabel::parse("ibm-8666").unwrap_err()[0], "ibm866");
        for label in ["", "klingon", "latin1-sig", "sig", "bom", &"u".repeat(1 << 20), "utf-8\0"] {
            assert!(EncodingLabel::parse(label).is_err(), "{label:.20}");
        }
    }

    #[test]
    fn every_listed_name_is_a_label() {
        for name in NAMES.split_ascii_whitespace().chain(OTHER_NAMES.split(['=', ' ']).skip(1).step_by(2)) {
            assert!(Encoding::for_label(name.as_bytes()).is_some(), "{name}");
        }
    }
}
