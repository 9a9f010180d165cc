//! A path with a selection behind it: `src/a.rs:120-180,300-340`, `src/a.rs:def load` or another part, as in
//! `book.pdf:pages 3-5`. Also as clients and compilers write lines: `src/a.rs#L10-20`, `"my file.rs:10"`, `src/a.rs:10:5`.

use std::ops::Range;

use confined_fs::peeled;

use super::{super::ToolError, line_range::LineRange, part::Part};

/// What is selected behind a path.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Selection {
    Lines(Vec<Range<usize>>),
    Part(Part),
}

/// The path before a selection.
pub(in crate::tools) fn path_before_selection(text: &str) -> Option<&str> {
    Selection::split(text).map(|(path, _)| path)
}

impl Selection {
    /// The path in front of a selection and the selection. `None` if the text has none at its end.
    ///
    /// # Errors
    /// `invalid_input` for a selection that names no lines.
    pub(super) fn split(text: &str) -> Option<(&str, Result<Self, ToolError>)> {
        peeled(text).into_iter().find_map(|text| Self::split_outer(text).or_else(|| Self::split_fragment(text)))
    }

    fn split_outer(text: &str) -> Option<(&str, Result<Self, ToolError>)> {
        if let Some((path, name)) = text.split_once(":def ") {
            let part = Part::parse(&format!("def {name}")).map(Self::Part);
            return (!path.is_empty()).then_some((path, part));
        }
        let (path, ranges) = text.rsplit_once(':')?;
        let is_part = |form: &&str| ranges.strip_prefix(*form).is_some_and(|rest| rest.starts_with(' '));
        if !path.is_empty() && ["pages", "cells", "region", "columns"].iter().any(is_part) {
            return Some((path, Part::parse(ranges).map(Self::Part)));
        }
        let is_ranges = |text: &str| {
            text.starts_with(|first: char| first.is_ascii_digit())
                && text.chars().all(|one| one.is_ascii_digit() || matches!(one, '-' | ',' | ' '))
        };
        // A compiler's line and column.
        if let Some((file, line)) = path.rsplit_once(':')
            && [line, ranges].iter().all(|number| is_number(number))
        {
            return (!file.is_empty()).then(|| (file, line_ranges(line).map(Self::Lines)));
        }
        (!path.is_empty() && is_ranges(ranges)).then(|| (path, line_ranges(ranges).map(Self::Lines)))
    }

    /// `#L10`, `#L10-L20`, `#10-20` and `#L10C5-L20C8`, of which the lines count.
    fn split_fragment(text: &str) -> Option<(&str, Result<Self, ToolError>)> {
        let (path, fragment) = text.rsplit_once('#')?;
        let line = |end: &str| {
            let number = end.strip_prefix('L').unwrap_or(end);
            let (line, column) = number.split_once('C').unwrap_or((number, "1"));
            (is_number(line) && is_number(column)).then(|| line.to_owned())
        };
        let (first, last) = fragment.split_once('-').unwrap_or((fragment, fragment));
        let range = format!("{}-{}", line(first)?, line(last)?);
        (!path.is_empty()).then(|| (path, line_ranges(&range).map(Self::Lines)))
    }

    /// The lines and the part that it means.
    pub(super) fn into_parts(self) -> (LineRange, Option<Part>) {
        match self {
            Self::Lines(ranges) => (LineRange::Ranges(ranges), None),
            Self::Part(part) => (LineRange::All, Some(part)),
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `120-180,300-340`, `120` or `120-`, numbered from 0: disjoint and ascending, in whichever order they were given.
fn line_ranges(text: &str) -> Result<Vec<Range<usize>>, ToolError> {
    let wrong = |why: String| {
        ToolError::invalid(format!("`{text}` names no lines: {why}")).hint("name lines as in src/a.rs:120-180,300-340")
    };
    let mut ranges = Vec::new();
    for range in text.split(',').map(str::trim).filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| {
            let text = text.trim();
            is_number(text).then(|| text.parse().unwrap_or(usize::MAX))
        };
        let last = if last.trim().is_empty() { Some(usize::MAX) } else { number(last) };
        match (number(first), last) {
            (Some(0), _) => return Err(wrong("lines count from 1".to_owned())),
            (Some(first), Some(last)) if last < first => return Err(wrong(format!("{range} ends before it starts"))),
            (Some(first), Some(last)) => ranges.push(first - 1..last),
            _ => return Err(wrong(format!("{range:?} is not a range of numbers"))),
        }
    }
    ranges.sort_unstable_by_key(|range: &Range<usize>| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut().filter(|last| last.end >= range.start) {
            Some(last) => last.end = last.end.max(range.end),
            None => merged.push(range),
        }
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::single_range_in_vec_init, reason = "a list of ranges may have one")]

    use proptest::prelude::*;

    use super::*;

    fn lines(text: &str) -> Option<(String, Vec<Range<usize>>)> {
        match Selection::split(text)? {
            (path, Ok(Selection::Lines(ranges))) => Some((path.to_owned(), ranges)),
            _ => None,
        }
    }

    #[test]
    fn lines_behind_a_path_are_read() {
        for (text, path, ranges) in [
            ("src/a.rs:120-180,300-340", "src/a.rs", &[119..180, 299..340][..]),
            ("a:7", "a", &[6..7]),
            ("a:7-", "a", &[6..usize::MAX]),
            ("a:9, 2-4 ,4-5", "a", &[1..5, 8..9]),
            ("a:b:1-2", "a:b", &[0..2]),
            ("a:1-99999999999999999999", "a", &[0..usize::MAX]),
            ("@src/a.rs#L10-20", "@src/a.rs", &[9..20]),
            ("a.rs#L10-L20", "a.rs", &[9..20]),
            ("a.rs#L7", "a.rs", &[6..7]),
            ("a.rs#7-9", "a.rs", &[6..9]),
            ("a.rs#L7C3-L9C1", "a.rs", &[6..9]),
            ("@\"a b.rs:7\"", "a b.rs", &[6..7]),
            ("@\"a b.rs\"#L7", "@\"a b.rs\"", &[6..7]),
            ("a.rs:10:5", "a.rs", &[9..10]),
        ] {
            assert_eq!(lines(text), Some((path.to_owned(), ranges.to_vec())), "{text}");
        }
        for text in ["a", "a:", ":7", "a:x", "C:/a.rs", "a:-7", "a:7b", "a#b", "#L7", "a#L", "a#L7-", "a#Lx", "C#"] {
            assert!(Selection::split(text).is_none(), "{text}");
        }
        for text in ["a:0", "a:5-3", "a:1-2-3", "a#L0", "a#L5-L3"] {
            let (_, refused) = Selection::split(text).expect("a selection");
            assert!(refused.unwrap_err().text().contains("names no lines"), "{text}");
        }
    }

    #[test]
    fn part_behind_a_path_is_read() {
        for (text, path, part) in [
            ("a b.pdf:pages 3-5", "a b.pdf", Part::Pages { first: 3, last: 5 }),
            ("a.ipynb:cells 2", "a.ipynb", Part::Cells { first: 2, last: 2 }),
            ("C:/a.png:region 0,0,8,6", "C:/a.png", Part::Region { x: 0, y: 0, width: 8, height: 6 }),
        ] {
            let (found, selection) = Selection::split(text).expect("a selection");
            assert_eq!((found, selection.unwrap()), (path, Selection::Part(part)), "{text}");
        }
        let (path, part) = Selection::split("src/a.rs:def Walk::next").expect("a selection");
        assert_eq!((path, part.unwrap()), ("src/a.rs", Selection::Part(Part::Def("Walk::next".to_owned()))));
    }

    proptest! {
        #[test]
        fn ranges_are_disjoint_and_ascending(text in "a:[0-9, -]{0,30}") {
            for pair in lines(&text).unwrap_or_default().1.windows(2) {
                prop_assert!(pair[0].end < pair[1].start);
            }
        }
    }
}
