//! Hunks on texts: where they go, what they leave, and what is refused.

use proptest::prelude::{Strategy as _, any, prop, prop_assert, prop_assert_eq, proptest};

use super::{HunkError, LocatedHunk, locate_hunks};
use crate::{
    Strategy,
    patch::{FileAction, Patch, PatchHunk},
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

fn located(text: &str, body: &str) -> Vec<Result<LocatedHunk, HunkError>> {
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
fn miss(text: &str, body: &str) -> HunkError {
    located(text, body).into_iter().find_map(Result::err).expect("a miss")
}

#[test]
fn whole_lines_are_replaced_and_no_parts_of_lines() {
    assert_eq!(patched("xa\na\nab\n", "@@\n-a\n+b\n"), "xa\nb\nab\n");
    assert_eq!(patched("a\nb\nc\n", "@@\n a\n-b\n c\n"), "a\nc\n");
    assert_eq!(patched("a\nb\nc\nd\n", "@@\n-a\n+A\n b\n-c\n+C\n+CC\n"), "A\nb\nC\nCC\nd\n");
    assert_eq!(patched("a\n\nb\n", "@@\n a\n-\n b\n"), "a\nb\n");
    assert!(matches!(miss("xay\n", "@@\n-a\n+b\n"), HunkError::NotFound(_)));
}

#[test]
fn endings_of_lines_and_of_the_file_stay() {
    assert_eq!(patched("a\r\nb\r\n", "@@\n-a\n+x\n+y\n b\n"), "x\r\ny\r\nb\r\n");
    assert_eq!(patched("a\r\nb\nc\r\n", "@@\n a\n-b\n+x\n c\n"), "a\r\nx\nc\r\n");
    assert_eq!(patched("a\nb", "@@\n a\n-b\n+x\n+y\n"), "a\nx\ny");
    assert_eq!(patched("a\nb", "@@\n b\n+c\n"), "a\nb\nc");
    assert_eq!(patched("a\rb\nc\n", "@@\n-a\rb\n+x\n c\n"), "x\nc\n");
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
    // Lines that go at the end, and empty ones that are added there.
    assert_eq!(patched("a\nb", &format!("@@ -1,2 +1 @@\n a\n-b\n{mark}")), "a\n");
    assert_eq!(patched("a\nb", "@@\n a\n-b\n"), "a");
    assert_eq!(patched("a", "@@\n-a\n"), "");
    assert_eq!(patched("a", &format!("@@ -1 +1,2 @@\n-a\n{mark}+a\n+\n")), "a\n\n");
    assert_eq!(patched("a", &format!("@@ -1 +0,0 @@\n-a\n{mark}")), "");
    assert_eq!(patched("a \nb", &format!("@@ -1,2 +0,0 @@\n-a\n-b\n{mark}")), "");
    // A CR is content, where the lines are there with it.
    assert_eq!(patched("b\r", &format!("@@ -1 +1 @@\n-b\r\n{mark}+b\n{mark}")), "b");
    assert_eq!(patched("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n"), "a\nb\r\n");
    assert_eq!(patched("a\na\r\n", "@@\n-a\r\n+x\r\n"), "a\nx\r\n");
    assert!(matches!(miss("a\nb\nc\n", &format!("@@ -1 +1 @@\n-b\n+x\n{mark}")), HunkError::NotAtEnd(2)));
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
    assert!(matches!(miss(text, "@@\n-    x = 1\n+    x = 2\n"), HunkError::Ambiguous { .. }));
    // A hunk between two equal places leaves the one above it to the hunk before.
    assert_eq!(patched("a\nb\na\n", "@@\n-a\n+x\n@@\n-b\n+y\n"), "x\ny\na\n");
}

#[test]
fn nested_contexts_narrow_the_place() {
    let text = "class A\n def f\n  x\nclass B\n def f\n  x\n";
    assert_eq!(patched(text, "@@ class B\n@@  def f\n-  x\n+  y\n"), "class A\n def f\n  x\nclass B\n def f\n  y\n");
    assert!(matches!(miss(text, "@@ def f\n-  x\n+  y\n"), HunkError::Ambiguous { .. }));
    // A context that is wrong is noted where the lines are sure.
    let found = located("a\nb\n", "@@ gone\n-b\n+c\n");
    assert!(matches!(&found[0], Ok(LocatedHunk { note: Some(_), .. })), "{found:?}");
}

#[test]
fn a_line_number_chooses_only_the_place_that_it_names() {
    let text = format!("{}x\n{}x\n", "a\n".repeat(10), "b\n".repeat(200));
    assert_eq!(located(&text, "@@ -11 +11 @@\n-x\n+y\n")[0].as_ref().unwrap().lines, 10..11);
    for said in [10, 12, 100] {
        let HunkError::Ambiguous { places, .. } = miss(&text, &format!("@@ -{said} +{said} @@\n-x\n+y\n")) else {
            panic!("line {said}")
        };
        assert_eq!(places.iter().map(|place| place.line).collect::<Vec<_>>(), [11, 212]);
    }
}

#[test]
fn a_line_number_shifted_as_those_around_it_chooses() {
    let body = |from: usize| format!("top {from}\nx\nmid {from}\nx\n");
    let text = (0..9).map(body).collect::<String>();
    // All three are five lines further down.
    let hunks = "@@ -4 +4 @@\n-top 2\n+TOP\n@@ -5 +5 @@\n-x\n+y\n@@ -14 +14 @@\n-mid 4\n+MID\n";
    assert_eq!(located(&text, hunks)[1].as_ref().unwrap().lines, 9..10);
    // The hunks around disagree, and a place is at both.
    let hunks = "@@ -9 +9 @@\n-top 2\n+TOP\n@@ -10 +10 @@\n-x\n+y\n@@ -17 +17 @@\n-mid 4\n+MID\n";
    assert!(matches!(located(&text, hunks)[1], Err(HunkError::Ambiguous { .. })));
    // A hunk that only has a number goes along.
    let hunks = "@@ -4 +4 @@\n-top 2\n+TOP\n@@ -6,0 +7 @@\n+new\n";
    assert_eq!(patched(&text, hunks), text.replace("top 2\nx\nmid 2\n", "TOP\nx\nmid 2\nnew\n"));
}

#[test]
fn equal_hunks_go_to_different_places_or_nowhere() {
    let text = "def a():\n    x = 1\n    y()\n    x = 1\n\ndef b():\n    x = 1\n";
    let one = "@@ def a():\n-    x = 1\n+    x = 2\n";
    let both = text.replacen("x = 1", "x = 2", 2);
    assert_eq!(patched(text, &one.repeat(2)), both);
    // Below one `@@` line, too.
    assert_eq!(
        patched(text, &format!("{one}@@\n-    x = 1\n+    x = 3\n@@ def b():\n-    x = 1\n+    x = 4\n")),
        "def a():\n    x = 2\n    y()\n    x = 3\n\ndef b():\n    x = 4\n"
    );
    let HunkError::Ambiguous { places, .. } = miss(text, one) else { panic!("found") };
    assert_eq!(places.iter().map(|place| place.line).collect::<Vec<_>>(), [2, 4]);
    let plain = "@@\n-    x = 1\n+    x = 2\n";
    assert_eq!(patched(text, &plain.repeat(3)).matches("x = 2").count(), 3);
    assert!(located(text, &plain.repeat(2)).iter().all(Result::is_err));
    assert!(located(text, &plain.repeat(4)).iter().all(Result::is_err));
}

#[test]
fn the_text_behind_the_numbers_names_what_it_opens() {
    let function = |name: &str, lines: &str| format!("int {name}(void)\n{{\n{lines}}}\n\n");
    let text = function("one", "    go();\n    return 0;\n")
        + &function("two", "    stop();\n")
        + &function("three", "    go();\n    return 0;\n");
    let hunk = |header: &str| format!("@@ {header}\n     go();\n-    return 0;\n+    return 1;\n");
    let changed = |nth: usize| {
        let at = text.match_indices("return 0").nth(nth).unwrap().0;
        format!("{}return 1{}", &text[..at], &text[at + 8..])
    };
    assert_eq!(patched(&text, &hunk("... @@ int three(void)")), changed(1));
    assert_eq!(patched(&text, &hunk("... @@ int one(void)")), changed(0));
    // No place is in what it opens: the first one below it is not meant.
    assert!(matches!(miss(&text, &hunk("... @@ int two(void)")), HunkError::Ambiguous { .. }));
    // Not by a number either, even one that is right.
    assert!(matches!(miss(&text, &hunk("-3,2 +3,2 @@ int two(void)")), HunkError::Ambiguous { .. }));
    // A name beats a number.
    assert_eq!(patched(&text, &hunk("-3,2 +3,2 @@ int three(void)")), changed(1));
    assert_eq!(patched(&text, &hunk("-3,2 +3,2 @@ int gone(void)")), changed(0));
}

#[test]
fn a_hunk_that_is_nearly_found_elsewhere_is_refused() {
    let text = "start();\nlet total = 1;  \nmiddle();\nlast();\n";
    let hunks = "@@\n-middle();\n+center();\n@@\n-let total = 1;\n+let total = 2;\n";
    assert!(matches!(miss(text, hunks), HunkError::OutOfOrder(2)));
    let hunks = "@@\n-let total = 1;\n+let total = 2;\n@@\n-middle();\n+center();\n";
    let lines: Vec<String> = patched(text, hunks).lines().map(|line| line.trim_end().to_owned()).collect();
    assert_eq!(lines, ["start();", "let total = 2;", "center();", "last();"]);
}

#[test]
fn lines_that_stay_may_come_without_their_blank() {
    let text = "fn f() {\n    one();\n    two();\n}\n\nfn g() {\n    one();\n}\n";
    let wanted = text.replace("    two();\n", "    two();\n    three();\n");
    let numbered = "@@ -1,4 +1,5 @@\n";
    for header in ["@@\n", numbered] {
        // All of them, and some.
        assert_eq!(patched(text, &format!("{header}fn f() {{\n    one();\n    two();\n+    three();\n}}\n")), wanted);
        assert_eq!(patched(text, &format!("{header} fn f() {{\n    one();\n     two();\n+    three();\n}}\n")), wanted);
    }
    // Only those that are indented show.
    assert_eq!(patched(text, "@@\n    two();\n+    three();\n }\n"), wanted);
    assert_eq!(patched(text, "@@\n    two();\n+    three();\n"), wanted);
    assert_eq!(patched(text, "@@\n-    two();\n+    three();\n}\n\nfn g() {\n"), text.replace("two", "three"));
    // Nothing but an exact place is one.
    assert!(matches!(miss(text, "@@\nfn f() {\n    one();\n    twice();\n+    three();\n}\n"), HunkError::NoBlanks));
    assert!(matches!(miss(text, "@@\nfn  f() {\n    one();\n    two();\n+    three();\n}\n"), HunkError::NoBlanks));
    assert!(matches!(miss(text, "@@\n    one();\n+    three();\n"), HunkError::Ambiguous { .. }));
}

#[test]
fn a_blank_that_may_be_the_sign_indents_nothing() {
    let text = "class A:\n    def f(self):\n        return 1  \n";
    // With white space lost at the end of a line, nothing is exact.
    let hunk = "@@\n    def f(self):\n        return 1\n+        # done\n";
    assert!(matches!(miss(text, hunk), HunkError::NoBlanks), "{:?}", miss(text, hunk));
    let hunk = "@@\n     def f(self):\n         return 1\n+        # done\n";
    assert_eq!(patched(text, hunk), format!("{text}        # done\n"));
}

#[test]
fn an_item_of_a_list_is_no_change_where_the_file_has_it() {
    let text = "# Title\n+ item\nfoo\n- other\n";
    assert!(located(text, "@@\n+ item\nfoo\n-bar\n+baz\n").iter().all(Result::is_err));
    assert!(located(text, "@@\n# Title\n+ item\nfoo\n+baz\n").iter().all(Result::is_err));
    assert!(located(text, "@@\n+ item\nfoo\n+baz\n").iter().all(Result::is_err));
    assert!(located(text, "@@\nfoo\n- other\n+baz\n").iter().all(Result::is_err));
}

#[test]
fn added_lines_without_others_go_where_the_header_says() {
    assert_eq!(patched("a\nb\n", "@@\n+c\n"), "a\nb\nc\n");
    assert_eq!(patched("a\nb", "@@\n+c\n+d\n"), "a\nb\nc\nd");
    assert_eq!(patched("", "@@\n+c\n"), "c\n");
    assert_eq!(patched("a\nb\n", "@@ a\n+c\n"), "a\nc\nb\n");
    assert_eq!(patched("a\nb\n", "@@ -1,0 +2 @@\n+c\n"), "a\nc\nb\n");
    assert_eq!(patched("a\nb\n", "@@ -0,0 +1 @@\n+c\n"), "c\na\nb\n");
    assert!(matches!(miss("a\nb\n", "@@ -1,3 +1,4 @@\n+c\n"), HunkError::NoPlace));
    assert!(matches!(miss("a\nb\n", "@@ -7,0 +8 @@\n+c\n"), HunkError::BeyondEnd { at: 7, lines: 2 }));
    assert!(matches!(miss("a\nb\n", "@@ gone\n+c\n"), HunkError::NoContext(_)));
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
    // What was taken off at line ends is no change of another line than the signs say.
    let text = "a\n\n    \nb  \n\nc\n";
    assert_eq!(patched(text, "@@\n a\n-\n \n-b\n+b\n+\n \n c\n"), "a\n    \nb\n\n\nc\n");
}

#[test]
fn a_hunk_that_is_made_already_is_recognised() {
    let found = miss("start\nnew line\nend\n", "@@\n start\n-old line\n+new line\n end\n");
    assert!(matches!(found, HunkError::Applied(1)), "{found:?}");
    let found = miss("start here\nend here\n", "@@\n start here\n-old line\n end here\n");
    assert!(matches!(found, HunkError::Applied(1)), "{found:?}");
}

#[test]
fn a_hunk_that_is_made_already_does_not_change_a_twin() {
    let text = "def f():\n    value = 2\n\ndef g():\n    value = 1\n";
    let change = "-    value = 1\n+    value = 2\n";
    for header in ["@@ def f():", "@@ -2 +2 @@", "@@ -1 +2 @@", "@@ -9 +9 @@ def f():"] {
        let found = miss(text, &format!("{header}\n{change}"));
        assert!(matches!(found, HunkError::Applied(2)), "{header}: {found:?}");
    }
    let expected = "def f():\n    value = 2\n\ndef g():\n    value = 2\n";
    for header in ["@@", "@@ def g():", "@@ -5 +5 @@", "@@ -7 +7 @@", "@@ -2 +5 @@ def f():"] {
        assert_eq!(patched(text, &format!("{header}\n{change}")), expected, "{header}");
    }
    // Short lines as well, and a twin above what the name opens.
    let short = "def f():\n    v = 2\n    pass\n\ndef g():\n    v = 1\n    pass\n";
    let change = "-    v = 1\n+    v = 2\n     pass\n";
    for header in ["@@ def f():", "@@ -2,2 +2,2 @@"] {
        let found = miss(short, &format!("{header}\n{change}"));
        assert!(matches!(found, HunkError::Applied(2)), "{header}: {found:?}");
    }
    let other = "def f():\n    v = 1\n    pass\n\ndef g():\n    v = 2\n    pass\n";
    for header in ["@@ def g():", "@@ -6,2 +6,2 @@", "@@ -9,2 +9,2 @@ def g():"] {
        let found = miss(other, &format!("{header}\n{change}"));
        assert!(matches!(found, HunkError::Applied(6)), "{header}: {found:?}");
    }
    let change = "-    value = 1\n+    value = 2\n";
    // The second place of what the name opens.
    let text = "def f():\n    value = 2\n    value = 1\n";
    assert_eq!(patched(text, &format!("@@ def f():\n{change}")), "def f():\n    value = 2\n    value = 2\n");
}

#[test]
fn hunks_that_change_the_same_lines_are_refused() {
    let found = located("a\nb\nc\n", "@@\n-a\n-b\n+x\n@@\n-b\n+y\n");
    assert!(matches!(found[1], Err(HunkError::Overlaps(0))), "{found:?}");
    // Also one that only the first of them covers.
    let found = located("a\nb\nc\n", "@@\n-a\n-b\n@@\n-b\n@@\n-a\n");
    assert!(found[0].is_ok() && found[1].is_err() && found[2].is_err(), "{found:?}");
}

#[test]
fn a_diagnosis_speaks_of_the_hunk() {
    let HunkError::NotFound(diagnosis) =
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
    assert!(matches!(miss(&text, "@@\n-x\n+y\n"), HunkError::Ambiguous { .. }));
    let many = format!("@@\n{}+y\n", "-x\n".repeat(50_000));
    assert!(matches!(miss(&text, &many), HunkError::Ambiguous { .. }));
    let hunks = "@@\n-x\n+y\n".repeat(2000);
    assert!(matches!(miss(&text, &hunks), HunkError::Ambiguous { .. }));
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

#[test]
fn hunks_after_twenty_without_a_place_are_not_searched() {
    let hunks: Vec<String> = (0..60).map(|n| format!("@@\n-let absent_{n} = call({n});\n+changed({n});\n")).collect();
    let located = located("one line\nanother line\n", &hunks.concat());
    assert_eq!(located.iter().filter(|one| matches!(one, Err(HunkError::Unsearched))).count(), 40);
}
