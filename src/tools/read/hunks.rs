//! What changed between two contents, as the hunks of a unified diff without its header.

use std::ops::Range;

use text_edit::{DiffExtent, unified_diff};

use super::partial_line::LINE_CHARS;

/// One change with the lines around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DiffHunk {
    /// From `@@` on, with a line break at its end.
    pub(super) text: String,
    /// Its lines in the new text, numbered from 0.
    pub(super) lines: Range<usize>,
    /// How many lines it adds, less those that it removes.
    growth: isize,
}

/// The hunks between two texts; `None` if they cannot be shown whole.
pub(super) fn hunks(old: &str, new: &str) -> Option<Vec<DiffHunk>> {
    let diff = unified_diff("", old, new, DiffExtent::Brief(usize::MAX));
    let is_long = |line: &str| line.len() > LINE_CHARS && line.chars().count() > LINE_CHARS;
    if diff.cut_lines > 0 || diff.text.split('\n').any(is_long) {
        return None;
    }
    let mut found: Vec<DiffHunk> = Vec::new();
    for line in diff.text.split_inclusive('\n').skip(2) {
        if line.starts_with("@@") {
            let (old, new) = header_ranges(line)?;
            let growth = new.len().cast_signed() - old.len().cast_signed();
            found.push(DiffHunk { text: String::new(), lines: new, growth });
        }
        found.last_mut()?.text.push_str(line);
    }
    Some(found)
}

/// How many lines further down the line `line` of the new text is than it was in the old one, where no hunk has it.
pub(super) fn shift(hunks: &[DiffHunk], line: usize) -> isize {
    hunks.iter().take_while(|hunk| hunk.lines.end <= line).map(|hunk| hunk.growth).sum()
}

/// The line ranges of `@@ -3,7 +3,7 @@`, numbered from 0.
fn header_ranges(line: &str) -> Option<(Range<usize>, Range<usize>)> {
    let range = |text: &str| {
        let (start, len) = text.split_once(',').unwrap_or((text, "1"));
        let (start, len): (usize, usize) = (start.parse().ok()?, len.parse().ok()?);
        // Of an empty range the line before it is named.
        let start = if len == 0 { start } else { start.checked_sub(1)? };
        Some(start..start + len)
    };
    let mut words = line.split(' ').skip(1);
    Some((range(words.next()?.strip_prefix('-')?)?, range(words.next()?.strip_prefix('+')?)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_hunk_has_its_lines_in_the_new_text() {
        let old: Vec<String> = (1..=40).map(|n| n.to_string()).collect();
        let mut new = old.clone();
        new[4] = "five".into();
        new.insert(5, "and more".into());
        new.remove(31);
        let (old, new) = (old.join("\n") + "\n", new.join("\n") + "\n");
        let found = hunks(&old, &new).unwrap();
        assert_eq!(found.iter().map(|hunk| hunk.lines.clone()).collect::<Vec<_>>(), [3..7, 30..32]);
        assert!(found[0].text.starts_with("@@ -4,3 +4,4 @@\n 4\n"), "{}", found[0].text);
        assert_eq!([0, 7, 20, 32, 39].map(|line| shift(&found, line)), [0, 1, 1, 0, 0]);
    }

    #[test]
    fn empty_ranges_are_where_the_text_was() {
        assert_eq!(hunks("a\nb\n", "").unwrap()[0].lines, 0..0);
        assert_eq!(hunks("", "a\n").unwrap()[0].lines, 0..1);
    }

    #[test]
    fn endless_lines_have_no_hunks() {
        assert_eq!(hunks(&"a".repeat(3000), "b\n"), None);
    }

    proptest! {
        /// Old lines that no hunk has are those of the new text, moved by the shift.
        #[test]
        fn lines_without_a_hunk_moved_by_the_shift(old in "([abc]\n){0,30}", new in "([abc]\n){0,30}") {
            let found = hunks(&old, &new).unwrap();
            let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
            for (number, line) in new.iter().enumerate() {
                if !found.iter().any(|hunk| hunk.lines.contains(&number)) {
                    let before = number.checked_add_signed(-shift(&found, number)).unwrap();
                    prop_assert_eq!(Some(line), old.get(before));
                }
            }
        }
    }
}
