//! Unified diffs, such that `patch` turns the old text into the new one.
//!
//! Lines end at LF only, as for `diff -u`: a CR is content, shown as it is.

mod truncated_diff;

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use similar::{Algorithm, ChangeTag, DiffOp, TextDiffConfig, udiff::UnifiedHunkHeader};

pub use truncated_diff::TruncatedDiff;

/// How much a diff shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffExtent {
    /// All of it, with three unchanged lines around each change, as `diff -u` shows.
    Full,
    /// At most so many lines of hunks, their `@@` lines counted, and one unchanged line around each change: a model
    /// pays for each line and knows the place that it asked to change.
    Brief(usize),
}

impl DiffExtent {
    /// Unchanged lines shown around a change.
    fn context(self) -> usize {
        match self {
            Self::Full => 3,
            Self::Brief(_) => 1,
        }
    }

    fn max_lines(self) -> usize {
        match self {
            Self::Full => usize::MAX,
            Self::Brief(lines) => lines,
        }
    }
}

/// After so long the search for the shortest diff ends and a longer, equally true one is given.
const PATIENCE: Duration = Duration::from_millis(300);
/// So few pieces of text are compared to the end, which takes milliseconds at worst.
const FEW: usize = 1_000;

/// When the comparison of so many pieces of text, old and new, ends without the shortest diff; never for few, so that
/// what comes of a small change does not depend on how busy the machine is.
pub(super) fn deadline(pieces: usize, patience: Duration) -> Option<Instant> {
    (pieces > FEW).then(|| Instant::now() + patience)
}

/// Bytes of the text, after which the rest is left out: no answer holds a tenth of that, and the lines
/// of a file may be as long as the file.
const MOST: usize = 4 << 20;

/// A unified diff and its size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// Headers and hunks, each line ended by LF; empty for equal texts, cut at 4 MiB.
    pub text: String,
    /// Lines only the new text has, also those that were cut.
    pub added: usize,
    /// Lines only the old text has, also those that were cut.
    pub removed: usize,
    /// How many lines of hunks were left out.
    pub cut_lines: usize,
}

/// The unified diff with `--- a/path` and `+++ b/path`. `path` must be printable; it is not escaped here.
///
/// # Examples
/// ```
/// use text_edit::{DiffExtent, unified_diff};
///
/// let diff = unified_diff("a.txt", "one\ntwo\n", "one\n2\n", DiffExtent::Full);
/// assert_eq!(diff.text, "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
/// assert_eq!((diff.added, diff.removed), (1, 1));
/// ```
pub fn unified_diff(path: &str, old: &str, new: &str, extent: DiffExtent) -> Diff {
    if old == new {
        return Diff::default();
    }
    let narrow = Window::of(old, new, extent).diff(path, extent);
    narrow.or_else(|| Window::whole(old, new).diff(path, extent)).unwrap_or_default()
}

/// What is left of two texts without the lines that they share at both ends, but for those shown around a
/// change. Sorting the lines of a large file out costs far more than comparing its bytes.
struct Window<'t> {
    old: &'t str,
    new: &'t str,
    /// Lines in front of it, as many in both texts.
    lines_before: usize,
    /// Whether there are lines behind it.
    is_cut: bool,
}

impl<'t> Window<'t> {
    fn of(old: &'t str, new: &'t str, extent: DiffExtent) -> Self {
        let (was, is) = (old.as_bytes(), new.as_bytes());
        let before = shared_prefix(was, is);
        let start = lines_back(&was[..before], extent.context());
        // The end is looked for behind the shared beginning, so that the two never overlap.
        let after = shared_suffix(&was[before..], &is[before..]);
        let cut = after - lines_on(&was[was.len() - after..], extent.context());
        Self {
            old: &old[start..old.len() - cut],
            new: &new[start..new.len() - cut],
            lines_before: memchr::memchr_iter(b'\n', &was[..start]).count(),
            is_cut: cut > 0,
        }
    }

    fn whole(old: &'t str, new: &'t str) -> Self {
        Self { old, new, lines_before: 0, is_cut: false }
    }

    /// The diff of the texts; `None` where a change came out too near an edge of the window, as one among
    /// equal lines does, to be shown as it would be without one.
    fn diff(&self, path: &str, extent: DiffExtent) -> Option<Diff> {
        let old_lines: Vec<&str> = self.old.split_inclusive('\n').collect();
        let new_lines: Vec<&str> = self.new.split_inclusive('\n').collect();
        let mut config = TextDiffConfig::default();
        config.algorithm(Algorithm::Myers);
        if let Some(deadline) = deadline(old_lines.len() + new_lines.len(), PATIENCE) {
            config.deadline(deadline);
        }
        let changes = config.diff_slices(&old_lines, &new_lines);
        let context = extent.context();
        let is_context = |op: Option<&DiffOp>| matches!(op, Some(DiffOp::Equal { len, .. }) if *len >= context);
        if (self.lines_before > 0 && !is_context(changes.ops().first()))
            || (self.is_cut && !is_context(changes.ops().last()))
        {
            return None;
        }
        let mut diff = Diff { text: format!("--- a/{path}\n+++ b/{path}\n"), ..Diff::default() };
        let mut left = extent.max_lines();
        for ops in changes.grouped_ops(context).iter().filter(|ops| !ops.is_empty()) {
            diff.push(&mut left, &header(ops, self.lines_before), "\n");
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
        Some(diff)
    }
}

/// Bytes compared at once: a whole piece is compared much faster than each byte on its own.
const PIECE: usize = 4096;

/// How many bytes two texts have in common at their beginning.
fn shared_prefix(a: &[u8], b: &[u8]) -> usize {
    let pieces = a.chunks_exact(PIECE).zip(b.chunks_exact(PIECE)).take_while(|(a, b)| a == b).count() * PIECE;
    pieces + a[pieces..].iter().zip(&b[pieces..]).take_while(|(a, b)| a == b).count()
}

/// How many bytes two texts have in common at their end.
fn shared_suffix(a: &[u8], b: &[u8]) -> usize {
    let pieces = a.rchunks_exact(PIECE).zip(b.rchunks_exact(PIECE)).take_while(|(a, b)| a == b).count() * PIECE;
    let (a, b) = (&a[..a.len() - pieces], &b[..b.len() - pieces]);
    pieces + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

/// Where the last `lines` whole lines of `text` begin; what follows its last LF is left over.
fn lines_back(text: &[u8], lines: usize) -> usize {
    memchr::memrchr_iter(b'\n', text).nth(lines).map_or(0, |end| end + 1)
}

/// Where the first `lines` whole lines of `text` end, behind what may be the rest of a line.
fn lines_on(text: &[u8], lines: usize) -> usize {
    memchr::memchr_iter(b'\n', text).nth(lines).map_or(text.len(), |end| end + 1)
}

/// The line that begins a hunk of `ops`, which are so many lines further down in both texts.
fn header(ops: &[DiffOp], lines_before: usize) -> String {
    let range = |range: fn(&DiffOp) -> Range<usize>| range(&ops[0]).start..range(&ops[ops.len() - 1]).end;
    let (old, new) = (range(DiffOp::old_range), range(DiffOp::new_range));
    let (old_index, new_index) = (old.start + lines_before, new.start + lines_before);
    UnifiedHunkHeader::new(&[DiffOp::Replace { old_index, old_len: old.len(), new_index, new_len: new.len() }])
        .to_string()
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
        let room = MOST.saturating_sub(self.text.len());
        if line.len() > room {
            let end = (0..=room).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
            self.text.push_str(&line[..end]);
            *left = 0;
            return;
        }
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

    #[test]
    fn a_small_change_is_compared_to_the_end_however_long_it_takes() {
        assert_eq!(deadline(FEW, Duration::ZERO), None);
        assert!(deadline(FEW + 1, Duration::ZERO).is_some_and(|deadline| deadline <= Instant::now()));
    }

    /// The diff with nothing set aside beforehand.
    fn whole(old: &str, new: &str, extent: DiffExtent) -> String {
        if old == new { String::new() } else { Window::whole(old, new).diff("f", extent).unwrap().text }
    }

    proptest! {
        #[test]
        fn setting_shared_lines_aside_shows_in_no_line_number(
            head in "([ab]\n){0,9}", old in "([abc]\n){0,4}", new in "([abc]\n){0,4}", tail in "([ab]\n){0,9}",
        ) {
            let (old, new) = (format!("{head}{old}{tail}"), format!("{head}{new}{tail}"));
            for extent in [DiffExtent::Full, DiffExtent::Brief(100)] {
                prop_assert_eq!(unified_diff("f", &old, &new, extent).text, whole(&old, &new, extent));
            }
        }
    }

    #[test]
    fn a_line_deep_in_a_large_text_has_its_own_number() {
        let old = (1..=20_000).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
        let diff = unified_diff("f", &old, &old.replace("line 15000\n", "fifteen é\n"), DiffExtent::Full);
        assert_eq!(
            diff.text,
            "--- a/f\n+++ b/f\n@@ -14997,7 +14997,7 @@\n line 14997\n line 14998\n line 14999\n\
             -line 15000\n+fifteen é\n line 15001\n line 15002\n line 15003\n"
        );
    }

    #[test]
    fn a_diff_of_endless_lines_is_cut_and_counts_what_it_leaves_out() {
        let (old, new) = ("é".repeat(MOST), "ü".repeat(MOST));
        let diff = unified_diff("f", &old, &new, DiffExtent::Full);
        assert!(diff.text.len() <= MOST && diff.text.len() > MOST - 4, "{}", diff.text.len());
        assert!(diff.text.starts_with("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-éé"));
        assert_eq!((diff.added, diff.removed, diff.cut_lines), (1, 1, 1));
    }

    #[test]
    fn a_change_inside_a_character_is_shown_in_whole_lines() {
        let diff = unified_diff("f", "é\nx\n", "è\nx\n", DiffExtent::Full);
        assert!(diff.text.ends_with("@@ -1,2 +1,2 @@\n-é\n+è\n x\n"), "{}", diff.text);
        let diff = unified_diff("f", "é", "ĩ", DiffExtent::Full);
        assert!(diff.text.contains("-é\n") && diff.text.contains("+ĩ\n"), "{}", diff.text);
    }

    #[test]
    fn equal_texts_have_no_diff() {
        assert_eq!(unified_diff("f", "a\n", "a\n", DiffExtent::Full).text, "");
    }

    #[test]
    fn a_change_is_shown_with_three_lines_around_it() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let diff = unified_diff("d/f", old, &old.replace('5', "five"), DiffExtent::Full);
        assert_eq!(diff.text, "--- a/d/f\n+++ b/d/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
        assert_eq!((diff.added, diff.removed, diff.cut_lines), (1, 1, 0));
    }

    #[test]
    fn a_brief_diff_shows_one_line_around_a_change() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let diff = unified_diff("f", old, &old.replace('5', "five"), DiffExtent::Brief(60));
        assert_eq!(diff.text, "--- a/f\n+++ b/f\n@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n");
    }

    #[test]
    fn a_missing_final_newline_is_marked_on_its_side() {
        let diff = unified_diff("f", "a\nb", "a\nb\n", DiffExtent::Full);
        assert!(diff.text.ends_with(" a\n-b\n\\ No newline at end of file\n+b\n"), "{}", diff.text);
        let diff = unified_diff("f", "b\nz", "a\nz", DiffExtent::Full);
        assert!(diff.text.ends_with("-b\n+a\n z\n\\ No newline at end of file\n"), "{}", diff.text);
    }

    #[test]
    fn creation_and_deletion_start_at_line_zero() {
        assert!(unified_diff("f", "", "a\n", DiffExtent::Full).text.contains("@@ -0,0 +1 @@\n+a\n"));
        assert!(unified_diff("f", "a\n", "", DiffExtent::Full).text.contains("@@ -1 +0,0 @@\n-a\n"));
    }

    #[test]
    fn carriage_returns_are_kept_and_end_no_line() {
        let diff = unified_diff("f", "a\rb\r\n", "a\rc\r\n", DiffExtent::Full);
        assert!(diff.text.ends_with("@@ -1 +1 @@\n-a\rb\r\n+a\rc\r\n"), "{:?}", diff.text);
    }

    #[test]
    fn a_cut_counts_what_it_left_out() {
        let old = "line\n".repeat(100);
        let diff = unified_diff("f", &old, "", DiffExtent::Brief(10));
        assert_eq!(diff.text.lines().count(), 12);
        assert_eq!((diff.removed, diff.cut_lines), (100, 91));
    }
}
