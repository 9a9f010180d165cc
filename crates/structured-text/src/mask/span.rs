//! Where a value is in a text, and where a line, a string, or a list in brackets ends.

use std::ops::Range;

/// Where a format has a value. Any value of such a place is read as one in every other place that takes it: what is read
/// of a text never depends on which values are in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// The value after a name.
    Value,
    /// Lines that are no entries.
    Line,
    /// Indented lines that continue an entry.
    Continuation,
    Comment,
    /// The value of an entry that was commented out.
    OldEntry,
    /// The user in `.pgpass`.
    User,
    /// A word of `.netrc` that is no entry's.
    Word,
    /// A word that is in the place of a machine's name.
    Machine,
    Macro,
    /// In YAML, below this indentation. `is_closed`: with a comment after it.
    Yaml {
        below: YamlParent,
        indent: usize,
        is_closed: bool,
    },
}

/// The mark that a value of YAML follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum YamlParent {
    Key,
    Dash,
    /// None in its line: the lines before.
    Line,
}

impl Slot {
    /// Whether every value of a place `from` is one here.
    pub(crate) fn takes(self, from: Self) -> bool {
        match (self, from) {
            (
                Self::Yaml { below, indent, is_closed },
                Self::Yaml { below: was, indent: deepest, is_closed: closed },
            ) => below == was && indent <= deepest && (closed || !is_closed),
            _ => self == from,
        }
    }
}

/// A value, in bytes of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) range: Range<usize>,
    /// The name that its sentinel is given.
    pub(crate) name: String,
    /// Whether its sentinel is shown in quotes, so that the text stays what its format is.
    pub(crate) quoted: bool,
    pub(crate) place: Slot,
}

impl Span {
    pub(crate) fn bare(range: Range<usize>, name: impl Into<String>) -> Self {
        Self { range, name: name.into(), quoted: false, place: Slot::Value }
    }

    /// The text of a comment after its mark; `None` if it has none.
    pub(crate) fn comment(body: &[u8], mark: usize, end: usize) -> Option<Self> {
        let text = skip_blanks(body, mark + 1, end);
        (text < end).then(|| Self::bare(text..end, "comment").at(Slot::Comment))
    }

    pub(crate) fn at(self, place: Slot) -> Self {
        Self { place, ..self }
    }

    pub(crate) fn quoted(range: Range<usize>, name: impl Into<String>) -> Self {
        Self { quoted: true, ..Self::bare(range, name) }
    }
}

/// Whether the values are in order, apart from one another, none empty, and inside of a text of `length` bytes.
pub(crate) fn is_disjoint(spans: &[Span], length: usize) -> bool {
    let mut at = 0;
    spans.iter().all(|Span { range, .. }| {
        let fits = range.start >= at && range.start < range.end && range.end <= length;
        at = range.end;
        fits
    })
}

/// The whole text as one value, without line breaks at its end.
pub(crate) fn whole(body: &[u8]) -> Vec<Span> {
    let end = body.trim_ascii_end().len();
    let start = body.len() - body.trim_ascii_start().len();
    if start < end { vec![Span::bare(start..end, "content")] } else { Vec::new() }
}

/// One line of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextLine {
    pub(crate) start: usize,
    /// Without the line break, and all CRs before it.
    pub(crate) end: usize,
    /// Where the next line begins.
    pub(crate) next: usize,
}

impl TextLine {
    /// The line of `body` that begins at `start`.
    pub(crate) fn at(body: &[u8], start: usize) -> Self {
        let next = memchr::memchr(b'\n', &body[start..]).map_or(body.len(), |found| start + found + 1);
        let end = body[start..next].strip_suffix(b"\n").map_or(next, |line| start + line.len());
        let end = body[start..end].iter().rposition(|byte| *byte != b'\r').map_or(start, |last| start + last + 1);
        Self { start, end, next }
    }

    /// Where its first character other than a space or tab is; `end` if there is none.
    pub(crate) fn first(self, body: &[u8]) -> usize {
        skip_blanks(body, self.start, self.end)
    }
}

/// The lines of a text from `start` on, the first of which may be the end of one.
pub(crate) fn text_lines(body: &[u8], start: usize) -> impl Iterator<Item = TextLine> {
    let line = |at: usize| (at < body.len()).then(|| TextLine::at(body, at));
    std::iter::successors(line(start), move |before| line(before.next))
}

/// The first position from `at` that is no space or tab, at most `end`.
pub(crate) fn skip_blanks(body: &[u8], at: usize, end: usize) -> usize {
    body[at..end].iter().position(|byte| !matches!(byte, b' ' | b'\t')).map_or(end, |found| at + found)
}

/// Where the text between `at` and `end` ends without the spaces and tabs after it.
pub(crate) fn trim_blanks(body: &[u8], at: usize, end: usize) -> usize {
    body[at..end].iter().rposition(|byte| !matches!(byte, b' ' | b'\t')).map_or(at, |found| at + found + 1)
}

/// How strings and comments are written between the brackets of lists and tables, which YAML and TOML masks as one value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    Toml,
    Yaml,
}

/// The position after the bracket that closes the one at `open`; `None` if none does.
pub(crate) fn closing_bracket(text: &[u8], open: usize, syntax: Syntax) -> Option<usize> {
    let (mut at, mut expected) = (open, Vec::new());
    loop {
        let byte = *text.get(at)?;
        at = match byte {
            b'"' | b'\'' => closing_string(text, at, syntax)?,
            b'#' => at + memchr::memchr(b'\n', &text[at..])?,
            _ => at + 1,
        };
        match byte {
            // Both closing brackets are two after the opening ones in ASCII.
            b'[' | b'{' => expected.push(byte + 2),
            b']' | b'}' if expected.pop() != Some(byte) => return None,
            b']' | b'}' if expected.is_empty() => return Some(at),
            _ => {}
        }
    }
}

/// The position after the string that begins at `open`; `None` if it does not end.
pub(crate) fn closing_string(text: &[u8], open: usize, syntax: Syntax) -> Option<usize> {
    let quote = *text.get(open)?;
    let triple = [quote; 3];
    let is_long = syntax == Syntax::Toml && text[open..].starts_with(&triple);
    let mut at = open + if is_long { 3 } else { 1 };
    loop {
        let byte = *text.get(at)?;
        if byte == b'\\' && quote == b'"' {
            at += 2;
        } else if is_long && text[at..].starts_with(&triple) {
            // As many as two more belong to the string.
            return Some(at + text[at..].iter().take(5).take_while(|byte| **byte == quote).count());
        } else if is_long || byte != quote {
            if byte == b'\n' && syntax == Syntax::Toml && !is_long {
                return None;
            }
            at += 1;
        } else if syntax == Syntax::Yaml && quote == b'\'' && text.get(at + 1) == Some(&quote) {
            at += 2;
        } else {
            return Some(at + 1);
        }
    }
}

/// The quote that closes the one at `open`, if a backslash before a quote keeps it open.
pub(super) fn closing_quote(body: &[u8], open: usize) -> Option<usize> {
    let quote = body[open];
    let mut at = open + 1;
    loop {
        at += memchr::memchr2(quote, b'\\', body.get(at..)?)?;
        if body[at] == quote {
            return Some(at);
        }
        at += 2;
    }
}
