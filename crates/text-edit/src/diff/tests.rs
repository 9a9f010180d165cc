//! Tests of diffs and of how they are cut.

use proptest::prelude::{prop_assert_eq, proptest};

use super::*;

#[test]
fn a_small_change_is_compared_to_the_end_however_long_it_takes() {
    assert_eq!(deadline(FEW_PIECES, Duration::ZERO), None);
    assert!(deadline(FEW_PIECES + 1, Duration::ZERO).is_some_and(|deadline| deadline <= Instant::now()));
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
    let (old, new) = ("é".repeat(MAX_TEXT), "ü".repeat(MAX_TEXT));
    let diff = unified_diff("f", &old, &new, DiffExtent::Full);
    assert!(diff.text.len() <= MAX_TEXT && diff.text.len() > MAX_TEXT - 4, "{}", diff.text.len());
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
