//! Unified diffs, such that `patch` turns the old text into the new one.
//!
//! Lines end at LF only: a CR is content, shown as it stands.

use std::time::Duration;

use similar::{Algorithm, ChangeTag, TextDiffConfig, udiff::UnifiedHunkHeader};

/// Unchanged lines shown around a change, as `diff -u` does.
const CONTEXT: usize = 3;

/// After so long the search for the shortest diff ends and a longer, equally true one is given.
const PATIENCE: Duration = Duration::from_millis(300);

/// A unified diff and its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// Headers and hunks, each line ended by LF; empty for equal texts.
    pub text: String,
    /// Lines only the new text has, also those that were cut.
    pub added: usize,
    /// Lines only the old text has, also those that were cut.
    pub removed: usize,
    /// How many lines of hunks were left out.
    pub cut_lines: usize,
}

/// The unified diff with `--- a/path` and `+++ b/path`; at most `max_lines` lines of hunks, their `@@` lines
/// counted. `path` must be printable; it is not escaped here.
pub fn unified_diff(path: &str, old: &str, new: &str, max_lines: Option<usize>) -> Diff {
    let mut diff = Diff { text: String::new(), added: 0, removed: 0, cut_lines: 0 };
    if old == new {
        return diff;
    }
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let mut config = TextDiffConfig::default();
    config.algorithm(Algorithm::Myers).timeout(PATIENCE);
    let changes = config.diff_slices(&old_lines, &new_lines);
    let mut left = max_lines.unwrap_or(usize::MAX);
    diff.text = format!("--- a/{path}\n+++ b/{path}\n");
    for ops in changes.grouped_ops(CONTEXT).iter().filter(|ops| !ops.is_empty()) {
        diff.push(&mut left, &UnifiedHunkHeader::new(ops).to_string(), "\n");
        for change in ops.iter().flat_map(|op| changes.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Equal => " ",
                ChangeTag::Delete => "-",
                ChangeTag::Insert => "+",
            };
            diff.added += usize::from(change.tag() == ChangeTag::Insert);
            diff.removed += usize::from(change.tag() == ChangeTag::Delete);
            diff.push(&mut left, sign, change.value());
        }
    }
    diff
}

impl Diff {
    /// Adds one line while there are lines `left`. A last line without LF gets the mark `patch` expects.
    fn push(&mut self, left: &mut usize, sign: &str, line: &str) {
        if *left == 0 {
            self.cut_lines += 1;
            return;
        }
        *left -= 1;
        self.text.push_str(sign);
        self.text.push_str(line);
        if !line.ends_with('\n') {
            self.text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    /// What `patch` does, for a diff that applies without offset.
    fn patched(old: &str, diff: &str) -> String {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let (mut at, mut result) = (0, String::new());
        let lines: Vec<&str> = diff.split_inclusive('\n').skip(2).collect();
        for (index, line) in lines.iter().enumerate() {
            let is_unterminated = lines.get(index + 1).is_some_and(|next| next.starts_with('\\'));
            let content = if is_unterminated { &line[1..line.len() - 1] } else { &line[1..] };
            match line.as_bytes()[0] {
                b'@' => {
                    let range = line.split(['-', ' ']).nth(2).unwrap();
                    let (start, len) = range.split_once(',').unwrap_or((range, "1"));
                    let start = start.parse::<usize>().unwrap() - usize::from(len != "0");
                    result.extend(old[at..start].iter().copied());
                    at = start;
                }
                b'+' => result.push_str(content),
                b'\\' => {}
                sign => {
                    assert_eq!(old[at], content);
                    at += 1;
                    if sign == b' ' {
                        result.push_str(content);
                    }
                }
            }
        }
        result.extend(old[at..].iter().copied());
        result
    }

    proptest! {
        #[test]
        fn the_old_text_patched_is_the_new_one(old in "([ab\r]?\n|[cd]){0,30}", new in "([ab\r]?\n|[cd]){0,30}") {
            let diff = unified_diff("f", &old, &new, None);
            prop_assert_eq!(patched(&old, &diff.text), new);
        }
    }

    #[test]
    fn equal_texts_have_no_diff() {
        assert_eq!(unified_diff("f", "a\n", "a\n", None).text, "");
    }

    #[test]
    fn a_change_is_shown_with_three_lines_around_it() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let diff = unified_diff("d/f", old, &old.replace('5', "five"), None);
        assert_eq!(diff.text, "--- a/d/f\n+++ b/d/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
        assert_eq!((diff.added, diff.removed, diff.cut_lines), (1, 1, 0));
    }

    #[test]
    fn a_missing_final_newline_is_marked_on_its_side() {
        let diff = unified_diff("f", "a\nb", "a\nb\n", None);
        assert!(diff.text.ends_with(" a\n-b\n\\ No newline at end of file\n+b\n"), "{}", diff.text);
        let diff = unified_diff("f", "b\nz", "a\nz", None);
        assert!(diff.text.ends_with("-b\n+a\n z\n\\ No newline at end of file\n"), "{}", diff.text);
    }

    #[test]
    fn creation_and_deletion_start_at_line_zero() {
        assert!(unified_diff("f", "", "a\n", None).text.contains("@@ -0,0 +1 @@\n+a\n"));
        assert!(unified_diff("f", "a\n", "", None).text.contains("@@ -1 +0,0 @@\n-a\n"));
    }

    #[test]
    fn carriage_returns_are_kept_and_end_no_line() {
        let diff = unified_diff("f", "a\rb\r\n", "a\rc\r\n", None);
        assert!(diff.text.ends_with("@@ -1 +1 @@\n-a\rb\r\n+a\rc\r\n"), "{:?}", diff.text);
    }

    #[test]
    fn a_cut_counts_what_it_left_out() {
        let old = "line\n".repeat(100);
        let diff = unified_diff("f", &old, "", Some(10));
        assert_eq!(diff.text.lines().count(), 12);
        assert_eq!((diff.removed, diff.cut_lines), (100, 91));
    }
}
