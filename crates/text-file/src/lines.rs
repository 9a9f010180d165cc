//! The lines of a text, without losing their terminators, and what ends them.

use std::borrow::Cow;

/// One line as offsets into its text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where the line starts.
    pub start: usize,
    /// Where its content ends and its terminator (LF or CR LF, or nothing at the end) starts.
    pub end: usize,
    /// Where the next line starts.
    pub next: usize,
}

impl Line {
    /// The line without its terminator.
    pub fn content<'t>(&self, text: &'t str) -> &'t str {
        &text[self.start..self.end]
    }

    /// `"\n"`, `"\r\n"`, or `""` for a last line that is not terminated.
    pub fn terminator<'t>(&self, text: &'t str) -> &'t str {
        &text[self.end..self.next]
    }
}

/// The lines of `text` as `read` numbers them: ended by LF, a CR before it belonging to the terminator.
/// A lone CR is content. A final terminator opens no further, empty line.
///
/// # Examples
/// ```
/// use text_file::lines;
///
/// let text = "one\r\ntwo\n";
/// let contents: Vec<&str> = lines(text).map(|line| line.content(text)).collect();
/// assert_eq!(contents, ["one", "two"]);
/// ```
pub fn lines(text: &str) -> impl Iterator<Item = Line> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let start = next;
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let mut end = text.len();
        next = end;
        if let Some(found) = rest.find('\n') {
            let is_crlf = rest[..found].ends_with('\r');
            (end, next) = (start + found - usize::from(is_crlf), start + found + 1);
        }
        Some(Line { start, end, next })
    })
}

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
    use super::*;

    fn split(text: &str) -> Vec<(&str, &str)> {
        lines(text).map(|line| (line.content(text), line.terminator(text))).collect()
    }

    #[test]
    fn terminators_are_kept_apart_from_content() {
        assert_eq!(split("a\r\n\nb\rc"), [("a", "\r\n"), ("", "\n"), ("b\rc", "")]);
        assert_eq!(split("a\r\r\n"), [("a\r", "\r\n")]);
    }

    #[test]
    fn a_final_newline_opens_no_further_line() {
        assert_eq!(split(""), []);
        assert_eq!(split("\n"), [("", "\n")]);
        assert_eq!(split("a\n"), [("a", "\n")]);
    }

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
