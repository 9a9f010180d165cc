//! A unified diff as an answer shows it: bounded in lines and bytes, with a count of what it leaves out.
//!
//! Works on the text of a diff alone. Where that is too large, long lines are cut to the part around what
//! changed in them first, so that every change is seen; then the last lines are left out, and counted.

use std::fmt::Write as _;

use text_file::shorten_around;

/// Where a diff has to be cut, the widest line of it takes this share of the room: a change with the context
/// on both its sides fits.
const SHARE: usize = 24;
/// Characters that are left of a long line at least, and at most (as `read` shows of one).
const WIDTHS: (usize, usize) = (80, 2000);

/// Lines that name the file; they are shown in any case.
const HEADER: usize = 2;

/// What is shown of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruncatedDiff {
    /// Headers and hunks. A line that was cut says how long it is.
    pub text: String,
    /// Lines that were left out.
    pub cut_lines: usize,
}

impl TruncatedDiff {
    /// As much of `diff` as fits into `lines` lines of hunks and `room` bytes; `cut_lines` of it are gone already.
    ///
    /// # Examples
    /// ```
    /// use text_edit::TruncatedDiff;
    ///
    /// let diff = "--- a/a\n+++ b/a\n@@ -1,2 +0,0 @@\n-one\n-two\n";
    /// let shown = TruncatedDiff::of(diff, 0, 2, 1000);
    /// assert_eq!(shown.with_note(), "--- a/a\n+++ b/a\n@@ -1,2 +0,0 @@\n-one\n… 1 more line of diff");
    /// ```
    pub fn of(diff: &str, cut_lines: usize, lines: usize, room: usize) -> Self {
        let mut this = Self { text: String::new(), cut_lines };
        let all: Vec<&str> = diff.split_terminator('\n').collect();
        let fits = diff.len() <= room;
        let (width, others) = if fits {
            (usize::MAX, vec![None; all.len()])
        } else {
            ((room / SHARE).clamp(WIDTHS.0, WIDTHS.1), counterparts(&all))
        };
        for (index, line) in all.iter().enumerate() {
            let is_header = index < HEADER;
            let line = if is_header { (*line).to_owned() } else { narrowed(line, others[index], width) };
            if !is_header && (index >= lines.saturating_add(HEADER) || this.text.len() + line.len() + 1 > room) {
                this.cut_lines += all.len() - index;
                break;
            }
            this.text.push_str(&line);
            this.text.push('\n');
        }
        this
    }

    /// The text, and a last line that says how much was left out.
    pub fn with_note(&self) -> String {
        let mut text = self.text.trim_end_matches('\n').to_owned();
        if self.cut_lines > 0 {
            let lines = if self.cut_lines == 1 { "line" } else { "lines" };
            let _ = write!(text, "\n… {} more {lines} of diff", self.cut_lines);
        }
        text
    }
}

/// The line, cut to `width` characters where it is longer: those around the first that it does not share with
/// the line on the other side of the change.
fn narrowed(line: &str, other: Option<&str>, width: usize) -> String {
    // Bytes first: most lines need not be counted.
    if line.len() <= width || line.chars().nth(width).is_none() {
        return line.to_owned();
    }
    let (sign, content) = line.split_at(1);
    let length = content.chars().count();
    let shared = other
        .map_or(0, |other| content.chars().zip(other[1..].chars()).take_while(|(mine, theirs)| mine == theirs).count());
    format!("{sign}{} [line of {length} characters]", shorten_around(content, shared, width / 4, width))
}

/// For each line of a diff the one on the other side of its change at the same depth in it.
fn counterparts<'d>(all: &[&'d str]) -> Vec<Option<&'d str>> {
    let mut others = vec![None; all.len()];
    let (mut removed, mut added) = (Vec::<usize>::new(), 0);
    for (index, line) in all.iter().enumerate().skip(HEADER) {
        match line.chars().next() {
            Some('+') => {
                if let Some(other) = removed.get(added).copied() {
                    others[index] = Some(all[other]);
                    others[other] = Some(*line);
                }
                added += 1;
            }
            // "\ No newline at end of file" belongs to the line above it.
            Some('\\') => {}
            sign => {
                if sign != Some('-') || added > 0 {
                    removed.clear();
                    added = 0;
                }
                if sign == Some('-') {
                    removed.push(index);
                }
            }
        }
    }
    others
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DiffExtent, unified_diff};

    #[test]
    fn a_diff_that_fits_is_shown_as_it_is() {
        let diff = unified_diff("f", "a\r\nb", "a\r\nc\n", DiffExtent::Full).text;
        assert_eq!(TruncatedDiff::of(&diff, 0, 60, 1000), TruncatedDiff { text: diff.clone(), cut_lines: 0 });
    }

    #[test]
    fn a_long_line_next_to_a_change_is_cut_and_the_change_shown() {
        let long = "a".repeat(300_000);
        let diff = unified_diff("f", &format!("{long}\nb\n"), &format!("{long}\nc\n"), DiffExtent::Full);
        let brief = TruncatedDiff::of(&diff.text, diff.cut_lines, 60, 50_000);
        assert!(brief.text.contains("… [line of 300000 characters]\n-b\n+c\n"), "{}", &brief.text[2000..]);
        assert!(brief.text.len() < 2200 && brief.cut_lines == 0);
    }

    #[test]
    fn a_long_line_is_cut_to_the_part_that_changed() {
        let (head, tail) = ("é".repeat(30_000), "z".repeat(30_000));
        let diff = unified_diff("f", &format!("{head}old{tail}"), &format!("{head}new{tail}\n"), DiffExtent::Full);
        let brief = TruncatedDiff::of(&diff.text, 0, 60, 50_000);
        for part in ["\n-…é", "éoldz", "\n\\ No newline at end of file\n+…é", "énewz", "… [line of 60003 characters]\n"]
        {
            assert!(brief.text.contains(part), "{part}: {}", brief.text);
        }
    }

    #[test]
    fn lines_are_compared_with_those_they_replace() {
        let line = |head: &str, end: &str| format!("{}{end}{}\n", head.repeat(3_000), "-".repeat(3_000));
        let old = [line("a", "1"), line("b", "2")].concat();
        let new = [line("a", "3"), line("b", "4"), line("c", "5")].concat();
        let brief = TruncatedDiff::of(&unified_diff("f", &old, &new, DiffExtent::Full).text, 0, 60, 15_000);
        for part in ["a1-", "b2-", "a3-", "b4-", "\n+ccc"] {
            assert!(brief.text.contains(part), "{part}: {}", brief.text);
        }
    }

    #[test]
    fn lines_that_do_not_fit_are_counted() {
        let diff = unified_diff("f", &"line\n".repeat(100), "", DiffExtent::Full);
        let (by_lines, by_bytes) =
            (TruncatedDiff::of(&diff.text, 7, 10, 50_000), TruncatedDiff::of(&diff.text, 0, 60, 100));
        assert_eq!((by_lines.text.lines().count(), by_lines.cut_lines), (12, 98));
        assert!(by_lines.with_note().ends_with("-line\n… 98 more lines of diff"), "{}", by_lines.with_note());
        assert!(by_bytes.text.len() <= 100 && by_bytes.text.ends_with("-line\n"), "{}", by_bytes.text);
        assert_eq!(by_bytes.text.lines().count() + by_bytes.cut_lines, 103);
    }
}
