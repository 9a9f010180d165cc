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

/// Iterator over the lines of a text; see [`lines`].
#[derive(Clone, Debug)]
pub struct Lines<'t> {
    text: &'t str,
    at: usize,
    separator: char,
}

/// The lines of `text` as `read` numbers them: ended by LF, a CR before it belonging to the terminator.
/// A lone CR is content. A final terminator opens no further, empty line.
///
/// # Examples
/// ```
/// use rootbound::text::lines;
///
/// let text = "one\r\ntwo\n";
/// let contents: Vec<&str> = lines(text).map(|line| line.content(text)).collect();
/// assert_eq!(contents, ["one", "two"]);
/// ```
pub fn lines(text: &str) -> Lines<'_> {
    Lines { text, at: 0, separator: '\n' }
}

/// The lines of a text whose only terminator is a lone CR.
pub fn lines_ended_by_cr(text: &str) -> Lines<'_> {
    Lines { text, at: 0, separator: '\r' }
}

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let start = self.at;
        let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
        let (end, next) = match rest.find(self.separator) {
            None => (self.text.len(), self.text.len()),
            Some(found) => {
                let terminator = start + found;
                let before = self.text.as_bytes()[start..terminator].last();
                let is_crlf = self.separator == '\n' && before == Some(&b'\r');
                (terminator - usize::from(is_crlf), terminator + 1)
            }
        };
        self.at = next;
        Some(Line { start, end, next })
    }
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
    fn lone_carriage_returns_can_end_lines() {
        let text = "a\rb";
        let found: Vec<_> = lines_ended_by_cr(text).map(|line| line.content(text)).collect();
        assert_eq!(found, ["a", "b"]);
    }
}
