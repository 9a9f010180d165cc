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
    /// Some lines end with LF, others with CR LF.
    Mixed,
}

impl LineEnding {
    /// The name reported to clients: `none`, `lf`, `crlf` or `mixed`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lf => "lf",
            Self::CrLf => "crlf",
            Self::Mixed => "mixed",
        }
    }

    /// The characters that end a line; LF where the text shows none.
    pub fn characters(self) -> &'static str {
        match self {
            Self::CrLf => "\r\n",
            Self::None | Self::Lf | Self::Mixed => "\n",
        }
    }

    /// The ending of a line that is added to `text`: the ending of its last line that has one.
    pub fn at_end_of(text: &str) -> Self {
        match memchr::memrchr(b'\n', text.as_bytes()) {
            Some(at) if text[..at].ends_with('\r') => Self::CrLf,
            Some(_) => Self::Lf,
            None => Self::None,
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
        let mut endings = memchr::memchr_iter(b'\n', bytes).map(|at| at > 0 && bytes[at - 1] == b'\r');
        match endings.next() {
            None => Self::None,
            Some(first) if endings.any(|other| other != first) => Self::Mixed,
            Some(true) => Self::CrLf,
            Some(false) => Self::Lf,
        }
    }
}

/// `text` with LF for every CR LF; a CR alone is a character.
///
/// # Examples
/// ```
/// assert_eq!(text_file::with_lf("a\r\nb\rc\n"), "a\nb\rc\n");
/// ```
pub fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
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
            ("a\rb\r", "none"),
            ("a\n10%\r20%\r\n", "mixed"),
            ("a\n10%\r20%\n", "lf"),
            ("a\r\nb\n", "mixed"),
            ("a\r\r\n", "crlf"),
            ("\n\r", "lf"),
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
            ("a\rb", "none"),
            ("a\n10%\r20%\r", "lf"),
            ("\r\n", "crlf"),
        ] {
            assert_eq!(LineEnding::at_end_of(text).as_str(), expected, "{text:?}");
        }
    }
}
