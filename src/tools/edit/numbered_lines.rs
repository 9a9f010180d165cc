//! The argument `lines` of an entry: `120-134`, `120` or `after 120`, by the numbers that `read` showed at `rev`.

use std::{fmt, ops::Range};

use text_edit::LinePlace;

use confined_fs::RevisionPrefix;

use super::super::ToolError;

/// Lines of a file, and the revision at which they have these numbers; without one that of the file now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NumberedLines {
    pub(super) place: LinesPlace,
    pub(super) rev: Option<RevisionPrefix>,
}

/// Lines, or a place between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinesPlace {
    /// From the first to the last, counted from 1.
    Range { first: usize, last: usize },
    /// After so many lines.
    After(usize),
}

impl LinesPlace {
    /// Parses the argument. A number too large for any file is read as the largest one.
    ///
    /// # Errors
    /// `invalid_input`, which names the value and the forms there are.
    pub(super) fn parse(text: &str) -> Result<Self, ToolError> {
        let text = text.trim();
        let wrong = |why: &str| {
            ToolError::invalid(format!("`lines` is not valid: {text:?}: {why}"))
                .hint("use lines=\"120-134\" or \"120\" to replace whole lines, or \"after 120\" to insert after one")
        };
        let number = |text: &str| {
            let text = text.trim();
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse().unwrap_or(usize::MAX))
        };
        let not_a_number = || wrong("it is not a line number or a range of two");
        if let Some(after) = text.strip_prefix("after ") {
            return number(after).map(Self::After).ok_or_else(not_a_number);
        }
        if text.contains(',') {
            return Err(wrong("it names several ranges; pass an entry of edits for each"));
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (number(first), number(last)) {
            (Some(0), _) => Err(wrong("lines count from 1; to insert before the first line use \"after 0\"")),
            (Some(first), Some(last)) if last < first => Err(wrong("it ends before it starts")),
            (Some(first), Some(last)) => Ok(Self::Range { first, last }),
            _ => Err(not_a_number()),
        }
    }
}

impl LinesPlace {
    /// As numbers of lines.
    pub(super) fn of(place: &LinePlace) -> Self {
        match place {
            LinePlace::Range(range) => Self::Range { first: range.start + 1, last: range.end },
            LinePlace::After(count) => Self::After(*count),
        }
    }

    /// The same place counted from 0.
    pub(super) fn counted_from_0(self) -> LinePlace {
        match self {
            Self::Range { first, last } => LinePlace::Range(first - 1..last),
            Self::After(count) => LinePlace::After(count),
        }
    }

    pub(super) fn numbers(self) -> String {
        match self {
            Self::Range { first, last } if first == last => first.to_string(),
            Self::Range { first, last } => format!("{first}-{last}"),
            Self::After(line) => format!("after {line}"),
        }
    }

    /// The lines that the numbers name, counted from 0.
    pub(super) fn named(self) -> Range<usize> {
        match self {
            Self::Range { first, last } => first - 1..last,
            Self::After(line) => line.saturating_sub(1)..line,
        }
    }

    /// The lines that must be as they were.
    pub(super) fn subject(self) -> String {
        match self {
            Self::Range { .. } => self.to_string(),
            Self::After(line) => format!("line {line}"),
        }
    }
}

impl fmt::Display for LinesPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range { first, last } if first == last => write!(f, "line {first}"),
            Self::Range { first, last } => write!(f, "lines {first}-{last}"),
            Self::After(line) => write!(f, "after line {line}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranges_single_lines_and_insertions_are_read() {
        for (text, place) in [
            ("120-134", LinesPlace::Range { first: 120, last: 134 }),
            (" 120 - 134 ", LinesPlace::Range { first: 120, last: 134 }),
            ("7", LinesPlace::Range { first: 7, last: 7 }),
            ("after 0", LinesPlace::After(0)),
            ("after  12 ", LinesPlace::After(12)),
            ("1-999999999999999999999", LinesPlace::Range { first: 1, last: usize::MAX }),
        ] {
            assert_eq!(LinesPlace::parse(text).unwrap(), place, "{text}");
        }
    }

    #[test]
    fn invalid_lines_are_named_with_the_forms() {
        for (text, why) in [
            ("", "not a line number"),
            ("0", "count from 1"),
            ("0-3", "count from 1"),
            ("-3", "not a line number"),
            ("after -1", "not a line number"),
            ("after", "not a line number"),
            ("5-3", "ends before it starts"),
            ("3-", "not a line number"),
            ("1-2,5", "an entry of edits for each"),
            ("1-2-3", "not a line number"),
            ("٣", "not a line number"),
            ("１-２", "not a line number"),
            ("+3", "not a line number"),
            ("0x10", "not a line number"),
        ] {
            let error = LinesPlace::parse(text).unwrap_err().text();
            assert!(error.contains(why) && error.contains("after 120"), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(after)?[- 0-9a-z,٣]{0,12}") {
            let _ = LinesPlace::parse(&text);
        }
    }
}
