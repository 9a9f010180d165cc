//! Hunks on texts: where they go, what they leave, and what is refused.

use proptest::prelude::{Strategy as _, any, prop, prop_assert, prop_assert_eq, proptest};

use super::{HunkMiss, LocatedHunk, locate_hunks};
use crate::{
    edit::Strategy,
    text::patch::{FileAction, Patch, PatchHunk},
};

/// The hunks of a patch of one file, in the `@@` form.
fn hunks<R>(body: &str, with: impl FnOnce(&[PatchHunk<'_>]) -> R) -> R {
    let text = if body.starts_with("@@ -") || body.contains("\n@@ -") {
        format!("--- x\n+++ x\n{body}")
    } else {
        format!("*** Begin Patch\n*** Update File: x\n{body}*** End Patch\n")
    };
    let patch = Patch::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let FileAction::Update { hunks, .. } = &patch.files[0].action else { panic!("{patch:?}") };
    with(hunks)
}

fn located(text: &str, body: &str) -> Vec<Result<LocatedHunk, HunkMiss>> {
    hunks(body, |hunks| locate_hunks(text, hunks, &mut || true))
}

/// The text with all hunks made.
#[track_caller]
fn patched(text: &str, body: &str) -> String {
    let mut replacements: Vec<_> = located(text, body)
        .into_iter()
        .flat_map(|one| one.unwrap_or_else(|miss| panic!("{miss:?}")).replacements)
        .collect();
    replacements.sort_by_key(|one| (one.span.start, one.span.end));
    let mut result = text.to_owned();
    for one in replacements.iter().rev() {
        result.replace_range(one.span.clone(), &one.text);
    }
    result
}

#[track_caller]
fn miss(text: &str, body: &str) -> HunkMiss {
    located(text, body).into_iter().find_map(Result::err).expect("a miss")
}

#[test]
fn whole_lines_are_replaced_and_no_parts_of_lines() {
    assert_eq!(patched("xa\na\nab\n", "@@\n-a\n+b\n"), "xa\nb\nab\n");
    assert_eq!(patched("a\nb\nc\n", "@@\n a\n-b\n c\n"), "a\nc\n");
    assert_eq!(patched("a\nb\nc\nd\n", "@@\n-a\n+A\n b\n-c\n+C\n+CC\n"), "A\nb\nC\nCC\nd\n");
    assert_eq!(patched("a\n\nb\n", "@@\n a\n-\n b\n"), "a\nb\n");
    assert!(matches!(miss("xay\n", "@@\n-a\n+b\n"), HunkMiss::NotFound(_)));
}

#[test]
fn endings_of_lines_and_of_the_file_stay() {
    assert_eq!(patched("a\r\nb\r\n", "@@\n-a\n+x\n+y\n b\n"), "x\r\ny\r\nb\r\n");
    assert_eq!(patched("a\r\nb\nc\r\n", "@@\n a\n-b\n+x\n c\n"), "a\r\nx\nc\r\n");
    assert_eq!(patched("a\nb", "@@\n a\n-b\n+x\n+y\n"), "a\nx\ny");
    assert_eq!(patched("a\nb", "@@\n b\n+c\n"), "a\nb\nc");
    assert_eq!(patched("a\rb\r", "@@\n-a\n+x\n b\n"), "x\rb\r");
    // The CR of a patch that was made of a CR LF file.
    assert_eq!(patched("a\r\nb\r\n", "@@\n-a\r\n+x\r\n b\n"), "x\r\nb\r\n");
    assert_eq!(patched("a\nb\n", "@@\n-a\r\n+x\r\n b\n"), "x\nb\n");
}

#[test]
fn final_newlines_are_added_and_removed_only_as_marked() {
    let mark = "\\ No newline at end of file\n";
    assert_eq!(patched("a\nb", &format!("@@ -1,2 +1,2 @@\n a\n-b\n{mark}+b\n")), "a\nb\n");
    assert_eq!(patched("a\nb\n", &format!("@@ -1,2 +1,2 @@\n a\n-b\n+b\n{mark}")), "a\nb");
    assert_eq!(patched("a\nb\n", &format!("@@ -1,2 +1,3 @@\n a\n b\n+c\n{mark}")), "a\nb\nc");
    assert_eq!(patched("a\nb", &format!("@@ -1,2 +1,2 @@\n a\n-b\n{mark}+c\n{mark}")), "a\nc");
    assert!(matches!(miss("a\nb\nc\n", &format!("@@ -1 +1 @@\n-b\n+x\n{mark}")), HunkMiss::NotAtEnd { line: 2 }));
}

#[test]
fn one_of_several_places_is_chosen_by_what_the_hunk_says() {
    let text = "def a():\n    x = 1\n\ndef b():\n    x = 1\n";
    assert_eq!(patched(text, "@@ def b():\n-    x = 1\n+    x = 2\n"), "def a():\n    x = 1\n\ndef b():\n    x = 2\n");
    assert_eq!(patched(text, "@@ -2 +2 @@\n-    x = 1\n+    x = 2\n"), "def a():\n    x = 2\n\ndef b():\n    x = 1\n");
    assert_eq!(
        patched(text, "@@\n-    x = 1\n+    x = 2\n*** End of File\n"),
        "def a():\n    x = 1\n\ndef b():\n    x = 2\n"
    );
    assert_eq!(patched(text, "@@ -9 +9 @@ def b():\n-    x = 1\n+    x = 2\n").matches("x = 2").count(), 1);
    // Both, in their order.
    let both = "@@\n-    x = 1\n+    x = 2\n@@\n-    x = 1\n+    x = 3\n";
    assert_eq!(patched(text, both), "def a():\n    x = 2\n\ndef b():\n    x = 3\n");
    assert!(matches!(miss(text, "@@\n-    x = 1\n+    x = 2\n"), HunkMiss::Ambiguous { .. }));
    // A hunk between two equal places leaves the one above it to the hunk before.
    assert_eq!(patched("a\nb\na\n", "@@\n-a\n+x\n@@\n-b\n+y\n"), "x\ny\na\n");
}

#[test]
fn nested_contexts_narrow_the_place() {
    let text = "class A\n def f\n  x\nclass B\n def f\n  x\n";
    assert_eq!(patched(text, "@@ class B\n@@  def f\n-  x\n+  y\n"), "class A\n def f\n  x\nclass B\n def f\n  y\n");
    assert!(matches!(miss(text, "@@ def f\n-  x\n+  y\n"), HunkMiss::Ambiguous { .. }));
    // A context that is wrong is noted where the lines are sure.
    let found = located("a\nb\n", "@@ gone\n-b\n+c\n");
    assert!(matches!(&found[0], Ok(LocatedHunk { note: Some(_), .. })), "{found:?}");
}

#[test]
fn a_line_number_chooses_a_place_near_to_it() {
    let text = format!("{}x\n{}x\n", "a\n".repeat(10), "b\n".repeat(200));
    assert_eq!(located(&text, "@@ -13 +13 @@\n-x\n+y\n")[0].as_ref().unwrap().lines, 10..11);
    assert!(matches!(miss(&text, "@@ -100 +100 @@\n-x\n+y\n"), HunkMiss::Ambiguous { .. }));
}

#[test]
fn added_lines_without_others_go_where_the_header_says() {
    assert_eq!(patched("a\nb\n", "@@\n+c\n"), "a\nb\nc\n");
    assert_eq!(patched("a\nb", "@@\n+c\n+d\n"), "a\nb\nc\nd");
    assert_eq!(patched("", "@@\n+c\n"), "c\n");
    assert_eq!(patched("a\nb\n", "@@ a\n+c\n"), "a\nc\nb\n");
    assert_eq!(patched("a\nb\n", "@@ -1,0 +2 @@\n+c\n"), "a\nc\nb\n");
    assert_eq!(patched("a\nb\n", "@@ -0,0 +1 @@\n+c\n"), "c\na\nb\n");
    assert!(matches!(miss("a\nb\n", "@@ -1,3 +1,4 @@\n+c\n"), HunkMiss::NoPlace));
    assert!(matches!(miss("a\nb\n", "@@ -7,0 +8 @@\n+c\n"), HunkMiss::BeyondEnd { at: 7, lines: 2 }));
    assert!(matches!(miss("a\nb\n", "@@ gone\n+c\n"), HunkMiss::NoContext(_)));
}

#[test]
fn empty_lines_behind_a_hunk_can_be_too_many() {
    assert_eq!(patched("a\nb\n", "@@\n-a\n+x\n b\n\n"), "x\nb\n");
    assert_eq!(patched("a\nb\n\nc\n", "@@\n-a\n+x\n b\n\n"), "x\nb\n\nc\n");
}

#[test]
fn lines_that_differ_are_found_by_the_ladder() {
    let found = located("if x {\n\tone();\n\ttwo();\n}\n", "@@\n     one();\n-    two();\n+    three();\n");
    let found = found[0].as_ref().unwrap();
    assert!(found.strategy.has(Strategy::Indentation), "{found:?}");
    assert_eq!(
        patched("say “hello” to\nall\n", "@@\n-say \"hello\" to\n+say \"bye\" to\n all\n"),
        "say “bye” to\nall\n"
    );
    assert_eq!(patched("one two  \nall\n", "@@\n-one two\n all\n"), "all\n");
}

#[test]
fn a_hunk_that_is_made_already_is_recognised() {
    let found = miss("start\nnew line\nend\n", "@@\n start\n-old line\n+new line\n end\n");
    assert!(matches!(found, HunkMiss::Applied { line: 1 }), "{found:?}");
    let found = miss("start here\nend here\n", "@@\n start here\n-old line\n end here\n");
    assert!(matches!(found, HunkMiss::Applied { line: 1 }), "{found:?}");
}

#[test]
fn hunks_that_change_the_same_lines_are_refused() {
    let found = located("a\nb\nc\n", "@@\n-a\n-b\n+x\n@@\n-b\n+y\n");
    assert!(matches!(found[1], Err(HunkMiss::Overlaps(0))), "{found:?}");
    // Also one that only the first of them covers.
    let found = located("a\nb\nc\n", "@@\n-a\n-b\n@@\n-b\n@@\n-a\n");
    assert!(found[0].is_ok() && found[1].is_err() && found[2].is_err(), "{found:?}");
}

#[test]
fn a_diagnosis_speaks_of_the_hunk() {
    let HunkMiss::NotFound(diagnosis) =
        miss("let total = 1;\nlet other = 2;\n", "@@\n-let totals = 1;\n+let totals = 3;\n let other_one = 2;\n")
    else {
        panic!("found")
    };
    assert!(diagnosis.summary.contains("the hunk's old text was not found"), "{diagnosis:?}");
    assert!(!diagnosis.summary.contains("old_string") && !diagnosis.details.contains("old_string"));
}

#[test]
fn a_hunk_that_is_everywhere_is_answered() {
    let text = "x\n".repeat(200_000);
    assert!(matches!(miss(&text, "@@\n-x\n+y\n"), HunkMiss::Ambiguous { .. }));
    let many = format!("@@\n{}+y\n", "-x\n".repeat(50_000));
    assert!(matches!(miss(&text, &many), HunkMiss::Ambiguous { .. }));
    let hunks = "@@\n-x\n+y\n".repeat(2000);
    assert!(matches!(miss(&text, &hunks), HunkMiss::Ambiguous { .. }));
}

#[test]
fn search_among_many_contexts_is_stopped() {
    let (text, contexts) = ("x\ny\n".repeat(1000), "@@ x\n".repeat(50_000));
    for lines in ["-y\n+z\n", "+z\n"] {
        let marked = format!("*** Begin Patch\n*** Update File: x\n{contexts}{lines}*** End Patch\n");
        let patch = Patch::parse(&marked).unwrap();
        let FileAction::Update { hunks, .. } = &patch.files[0].action else { panic!("no update") };
        let mut asked = 0;
        let mut go_on = || {
            asked += 1;
            asked < 5
        };
        let _ = locate_hunks(&text, hunks, &mut go_on);
        assert!((5..10).contains(&asked), "asked {asked} times");
    }
}

proptest! {
    /// A patch of two texts makes the second of the first, whatever their endings, and never panics.
    #[test]
    fn a_diff_of_two_texts_makes_one_of_the_other(
        old in prop::collection::vec("[abc]{0,2}", 0..20), new in prop::collection::vec("[abc]{0,2}", 0..20),
        ending in prop::sample::select(&["\n", "\r\n"]), is_open in any::<bool>(),
    ) {
        let joined = |lines: &[String]| lines.join(ending) + if is_open || lines.is_empty() { "" } else { ending };
        let (before, after) = (joined(&old), joined(&new));
        // A last line that is empty and not ended is none.
        let is_plain = |lines: &[String]| lines.last().is_some_and(|last| !last.is_empty());
        // Nothing shows which ending a text without one would have.
        if !is_plain(&old) || !is_plain(&new) || old == new || !before.ends_with(ending) && old.len() < 2 {
            return Ok(());
        }
        let diff = similar::TextDiff::from_lines(before.replace("\r\n", "\n"), after.replace("\r\n", "\n"))
            .unified_diff().context_radius(1).to_string();
        prop_assert_eq!(patched(&before, &diff), after);
    }

    #[test]
    fn any_hunks_on_any_text_are_answered(
        text in prop::collection::vec(prop::sample::select(&["a", "b", "ab c", "", "\n", "\r\n", "\r", " ", "\t", "é"]), 0..30).prop_map(|pieces| pieces.concat()),
        body in prop::collection::vec(prop::sample::select(&[" a", "-b", "+c", "+", " ", "-ab c", "@@", "@@ a", "@@ b", "-é\r", "+x\r", "*** End of File"]), 1..12),
    ) {
        let text_of_patch = format!("*** Begin Patch\n*** Update File: x\n@@\n{}\n*** End Patch\n", body.join("\n"));
        let Ok(patch) = Patch::parse(&text_of_patch) else { return Ok(()) };
        let FileAction::Update { hunks, .. } = &patch.files[0].action else { return Ok(()) };
        let located = locate_hunks(&text, hunks, &mut || true);
        prop_assert_eq!(located.len(), hunks.len());
        let mut spans: Vec<_> = located.iter().flatten().flat_map(|one| one.replacements.iter().map(|one| one.span.clone())).collect();
        spans.sort_by_key(|span| (span.start, span.end));
        for pair in spans.windows(2) {
            prop_assert!(pair[0].end <= pair[1].start);
        }
        for span in spans {
            // Panics off a character boundary.
            let _ = &text[span];
        }
    }
}
