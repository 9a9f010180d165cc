//! Line endings: what a text uses.

use std::borrow::Cow;

/// The line endings of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnding {
    /// No line is terminated.
    None,
    /// Every line ends with LF.
    Lf,
    /// Every line ends with CR LF.
    CrLf,
    /// Every line ends with a lone CR, as on the first Macintoshes.
    Cr,
    /// At least two of the above.
    Mixed,
}

impl LineEnding {
    /// The name reported to clients: `none`, `lf`, `crlf`, `cr` or `mixed`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lf => "lf",
            Self::CrLf => "crlf",
            Self::Cr => "cr",
            Self::Mixed => "mixed",
        }
    }

    /// The characters that end a line; LF where the text shows none.
    pub fn characters(self) -> &'static str {
        match self {
            Self::CrLf => "\r\n",
            Self::Cr => "\r",
            Self::None | Self::Lf | Self::Mixed => "\n",
        }
    }

    /// The ending of a line that is added to `text`: the ending of its last line that has one. A lone CR counts
    /// only where no line ends otherwise: next to LF and CR LF it is content, as in recorded progress bars.
    pub fn at_end_of(text: &str) -> Self {
        match memchr::memrchr(b'\n', text.as_bytes()) {
            Some(at) if text[..at].ends_with('\r') => Self::CrLf,
            Some(_) => Self::Lf,
            None => Self::of(text),
        }
    }

    /// Classifies the whole of `text`; stops at the first proof of a mixture.
    ///
    /// # Examples
    /// ```
    /// use text_file::LineEnding;
    ///
    /// assert_eq!(LineEnding::of("a\r\nb\r\n"), LineEnding::CrLf);
    /// assert_eq!(LineEnding::of("a\r\nb\n"), LineEnding::Mixed);
    /// ```
    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        // Nearly every text: two fast scans instead of a stop at each line.
        if memchr::memchr(b'\r', bytes).is_none() {
            return if memchr::memchr(b'\n', bytes).is_some() { Self::Lf } else { Self::None };
        }
        let mut seen = Self::None;
        let mut at = 0;
        while let Some(found) = memchr::memchr2(b'\n', b'\r', &bytes[at..]) {
            at += found;
            let here = match (bytes[at], bytes.get(at + 1)) {
                (b'\n', _) => Self::Lf,
                (_, Some(b'\n')) => Self::CrLf,
                _ => Self::Cr,
            };
            if seen != Self::None && seen != here {
                return Self::Mixed;
            }
            seen = here;
            at += if here == Self::CrLf { 2 } else { 1 };
        }
        seen
    }
}

/// `text` with every line ending, a lone CR too, an LF.
///
/// # Examples
/// ```
/// assert_eq!(text_file::with_lf("a\r\nb\rc\n"), "a\nb\nc\n");
/// ```
pub fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::LineEnding;

    #[test]
    fn each_kind_of_ending_is_recognised() {
        for (text, expected) in [
            ("", "none"),
            ("a", "none"),
            ("a\n", "lf"),
            ("a\nb", "lf"),
            ("a\r\nb\r\n", "crlf"),
            ("a\rb\r", "cr"),
            ("a\r\nb\n", "mixed"),
            ("a\r\r\n", "mixed"),
            ("\n\r", "mixed"),
        ] {
            assert_eq!(LineEnding::of(text).as_str(), expected, "{text:?}");
        }
    }

    #[test]
    fn the_ending_at_the_end_is_that_of_the_last_terminated_line() {
        for (text, expected) in [
            ("", "none"),
            ("a", "none"),
            ("a\nb", "lf"),
            ("a\nb\r\nc", "crlf"),
            ("a\r\nb\n", "lf"),
            ("a\rb", "cr"),
            ("a\n10%\r20%\r", "lf"),
            ("\r\n", "crlf"),
        ] {
            assert_eq!(LineEnding::at_end_of(text).as_str(), expected, "{text:?}");
        }
    }
}
