//! Splitting a text into lines without losing their terminators.

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
}
