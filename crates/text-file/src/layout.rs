//! What is unusual about a text file: what an edit has to keep and a reader does not see.

use super::LineEnding;

/// The form of a text file.
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
