//! Lines by their numbers: where they are in a text, and what takes their place.
//!
//! Lines are those that [`lines`] yields, so that a file with nothing but CR is a single line.

use std::{cell::OnceCell, ops::Range};

use text_file::{LineEnding, lines, with_lf};

use super::{Prepared, Replacement, Request, keep_line_endings, prepared::TextFacts};

/// Lines of a text, or a place between two, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinePlace {
    /// These lines. Not empty.
    Range(Range<usize>),
    /// After so many lines.
    After(usize),
}

impl LinePlace {
    /// Where it is in `text`: from the start of the first line to the end of the last, without its line ending.
    ///
    /// # Errors
    /// How many lines there are, where it is beyond them.
    pub fn span(&self, text: &str) -> Result<Range<usize>, usize> {
        match self {
            Self::Range(range) => {
                let mut wanted = lines(text).skip(range.start);
                let first = wanted.next();
                let last = if range.len() == 1 { first } else { wanted.nth(range.len() - 2) };
                let (Some(first), Some(last)) = (first, last) else { return Err(lines(text).count()) };
                let content = last.content(text);
                let end = match LineEnding::of(text) {
                    LineEnding::Cr => content.strip_suffix('\r').unwrap_or(content).len(),
                    _ => content.len(),
                };
                Ok(first.start..last.start + end)
            }
            Self::After(0) => Ok(0..0),
            Self::After(count) => {
                let before = lines(text).nth(count - 1).ok_or_else(|| lines(text).count())?;
                Ok(before.next..before.next)
            }
        }
    }

    /// The change that puts `new` there as whole lines; `span` is where the place is in `text`. The lines take on the
    /// line endings around them, unless they are `verbatim`. Whether `new` ends with a line ending makes no difference:
    /// the text has a final newline afterwards if it had one. An empty `new` deletes the lines.
    ///
    /// In an empty text `new` is put as it is.
    pub fn replacement(&self, text: &str, span: Range<usize>, new: &str, verbatim: bool) -> Replacement {
        let whole = LineEnding::of(text);
        let body = without_final_ending(new, whole);
        if text.is_empty() {
            return Replacement { span, text: new.to_owned() };
        }
        let after = ending_at(&text[span.end..], whole);
        match self {
            Self::Range(_) if new.is_empty() => {
                Replacement { span: span.start..span.end + after.len(), text: String::new() }
            }
            Self::Range(_) if verbatim => {
                let given = &new[body.len()..];
                let ending = if after.is_empty() || given.is_empty() { after } else { given };
                Replacement { span: span.start..span.end + after.len(), text: [body, ending].concat() }
            }
            Self::Range(_) => {
                let old = &text[span.clone()];
                let text = if with_lf(old) == with_lf(body) { old.to_owned() } else { fitted(text, &span, body) };
                Replacement { span, text }
            }
            Self::After(_) => {
                let around = ending_around(text, span.start, whole, new);
                let given = &new[body.len()..];
                let before = &text[..span.start];
                let follows_line_end =
                    before.is_empty() || before.ends_with('\n') || whole == LineEnding::Cr && before.ends_with('\r');
                let ending = if verbatim && !given.is_empty() { given } else { around };
                let body = if verbatim { body.to_owned() } else { with_endings(body, around) };
                let lines = if follows_line_end { body + ending } else { around.to_owned() + &body };
                Replacement { span, text: lines }
            }
        }
    }
}

/// `body` with the line endings that fit in the place of `span`.
fn fitted(text: &str, span: &Range<usize>, body: &str) -> String {
    let old = &text[span.clone()];
    let request = Request { old, new: body, replace_all: false, expected_replacements: None };
    keep_line_endings::fit(&Prepared::new(text, &TextFacts::default(), &request, &OnceCell::new()), span, old, body)
}

fn with_endings(body: &str, ending: &str) -> String {
    let plain = body.replace("\r\n", "\n");
    if ending == "\n" { plain } else { plain.replace('\n', ending) }
}

/// `new` without the ending of its last line. `whole` are the line endings of the text that it is for.
fn without_final_ending(new: &str, whole: LineEnding) -> &str {
    let is_cr = whole == LineEnding::Cr || LineEnding::of(new) == LineEnding::Cr;
    let without = new.strip_suffix("\r\n").or_else(|| new.strip_suffix('\n'));
    without.or_else(|| new.strip_suffix('\r').filter(|_| is_cr)).unwrap_or(new)
}

/// The line ending that `rest` begins with.
fn ending_at(rest: &str, whole: LineEnding) -> &str {
    let length = match whole {
        _ if rest.starts_with("\r\n") => 2,
        _ if rest.starts_with('\n') => 1,
        LineEnding::Cr if rest.starts_with('\r') => 1,
        _ => 0,
    };
    &rest[..length]
}

/// The ending of the line before `offset`, else of the next one; in a text without any, that of `new`.
fn ending_around(text: &str, offset: usize, whole: LineEnding, new: &str) -> &'static str {
    let (before, after) = text.split_at(offset);
    let (before, after) = (before.as_bytes(), after.as_bytes());
    let of_line = |text: &[u8], at: usize| if at > 0 && text[at - 1] == b'\r' { "\r\n" } else { "\n" };
    let found = memchr::memrchr(b'\n', before).map(|at| of_line(before, at));
    let found = found.or_else(|| memchr::memchr(b'\n', after).map(|at| of_line(after, at)));
    found.unwrap_or_else(|| match whole {
        LineEnding::None => LineEnding::of(new).characters(),
        whole => whole.characters(),
    })
}
