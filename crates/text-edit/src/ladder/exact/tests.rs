//! Tests of texts that are found as given, or through line endings.

use crate::{
    EditError, Request,
    Strategy::{Exact, Indentation, LineEndings},
    testing::{assert_ambiguous, assert_edited, assert_missed, tried},
};

#[test]
fn a_text_is_found_anywhere_also_within_a_line() {
    assert_edited("let a = 1;\n", "a = 1", "b = 2", Exact, "let b = 2;\n");
    assert_edited("a\nb\nc", "a\nb", "x", Exact, "x\nc");
    assert_edited("größe", "ö", "oe", Exact, "groeße");
}

#[test]
fn several_places_are_ambiguous_and_listed() {
    assert_eq!(assert_ambiguous("x\ny\nx\n", "x", "z"), [1, 3]);
}

#[test]
fn overlapping_places_are_ambiguous_too() {
    assert_eq!(assert_ambiguous("}\n}\n}\n", "}\n}\n", ""), [1, 2]);
    assert_eq!(assert_ambiguous("ééé", "éé", "e"), [1, 1]);
}

#[test]
fn all_places_are_replaced_on_demand() {
    let mut request = Request { old: "a", new: "bb", replace_all: true, expected_replacements: None };
    assert_eq!(tried("aXaa", &request).unwrap().1, "bbXbbbb");
    request.expected_replacements = Some(3);
    assert!(tried("aXaa", &request).is_ok());
    request.expected_replacements = Some(2);
    assert!(matches!(tried("aXaa", &request), Err(EditError::Count { expected: 2, places, .. }) if places.len() == 3));
}

#[test]
fn no_more_than_a_hundred_thousand_places_are_replaced_at_once() {
    let mut request = Request { old: "a", new: "b", replace_all: true, expected_replacements: None };
    assert!(tried(&"a\n".repeat(100_000), &request).is_ok());
    assert!(matches!(tried(&"a\n".repeat(100_001), &request), Err(EditError::TooMany { places: 100_001 })));
    request.expected_replacements = Some(200_000);
    assert!(matches!(tried(&"a\n".repeat(200_000), &request), Err(EditError::TooMany { .. })));
}

#[test]
fn white_space_behind_the_last_line_is_not_left_as_a_line_of_its_own() {
    assert_missed("a1 b2\nc3 d4 \ne\n", "a1 b2\nc3 d4", "a1 b2\n");
    assert_missed("a1 b2\r\nc3 d4 \r\ne\r\n", "a1 b2\nc3 d4", "a1 b2\n");
    assert_edited("a1 b2\nc3 d4 \ne\n", "a1 b2\nc3 d4", "a1 b2", Exact, "a1 b2 \ne\n");
}

#[test]
fn an_expected_number_that_is_met_replaces_all() {
    let mut request = Request { old: "a", new: "b", replace_all: false, expected_replacements: Some(2) };
    assert_eq!(tried("a a", &request).unwrap().1, "b b");
    assert!(matches!(tried("a", &request), Err(EditError::Count { .. })));
    request.expected_replacements = Some(1);
    assert!(matches!(tried("a a", &request), Err(EditError::Ambiguous { .. })));
    assert_eq!(tried("a", &request).unwrap().1, "b");
}

#[test]
fn inserted_lines_take_the_endings_around_them() {
    assert_edited("a\r\nb\r\n", "a", "a\nz", Exact, "a\r\nz\r\nb\r\n");
    assert_edited("a\nb\n", "a", "a\r\nz", Exact, "a\nz\nb\n");
    assert_edited("a\rb\r", "a", "a\nz", Exact, "a\nz\rb\r");
    assert_edited("a\nb\r\nc\n", "b", "b\nz", Exact, "a\nb\r\nz\r\nc\n");
    assert_edited("a\nb\r\nc", "c", "c\nz", Exact, "a\nb\r\nc\r\nz");
}

#[test]
fn a_change_of_nothing_but_line_endings_is_made_as_asked() {
    assert_edited("a\nb\n", "a\nb\n", "a\r\nb\r\n", Exact, "a\r\nb\r\n");
    assert_edited("a\r\nb\n", "a\r\n", "a\n", Exact, "a\nb\n");
}

#[test]
fn a_match_never_cuts_a_crlf_in_two() {
    assert_edited("a\r\nb\r\n", "\nb", "\nc", LineEndings, "a\r\nc\r\n");
    assert_missed("a\r\nb", "a\r", "c\r");
}

#[test]
fn further_lines_are_indented_when_the_line_given_is_indented_deeper_in_the_file() {
    assert_edited(
        "if x:\n        foo()\n",
        "    foo()\n",
        "    foo()\n    bar()\n",
        Indentation,
        "if x:\n        foo()\n        bar()\n",
    );
    assert_edited("        foo()\n", "    foo()\n", "    bar()\n", Exact, "        bar()\n");
    assert_missed("        foo(1)\n", "    foo(", "    a()\n    foo(");
}

#[test]
fn a_whole_line_given_without_its_indentation_is_refused_with_further_lines_that_lack_it() {
    let text = "if x:\n    foo()\n";
    let diagnosis = assert_missed(text, "foo()\n", "foo()\nbar()\n");
    assert!(diagnosis.summary.contains("repeat both with the full indentation of line 2"), "{diagnosis:?}");
    assert_edited(text, "foo()", "foo()\n    bar()", Exact, "if x:\n    foo()\n    bar()\n");
    assert_edited(text, "foo()", "bar()", Exact, "if x:\n    bar()\n");
    assert_eq!(assert_ambiguous("foo()\n  foo()\n", "foo()", "foo()\nbar()"), [1, 2]);
    assert_edited(text, "foo", "a\nb", Exact, "if x:\n    a\nb()\n");
}

#[test]
fn endings_of_any_kind_match_and_the_files_own_are_written() {
    assert_edited("a\r\nb\r\nc\r\n", "a\nb\n", "a\nx\n", LineEndings, "a\r\nx\r\nc\r\n");
    assert_edited("a\nb\nc\n", "a\r\nb\r\n", "a\r\nx\r\n", LineEndings, "a\nx\nc\n");
}

#[test]
fn a_match_may_begin_and_end_within_lines() {
    assert_edited("f(1,\r\n  2)\r\n", "1,\n  2", "3,\n  4", LineEndings, "f(3,\r\n  4)\r\n");
}

#[test]
fn in_mixed_files_unchanged_lines_keep_their_own_ending() {
    assert_edited("a\r\nb\nc\r\nd\n", "a\nb\nc\n", "a\nB\nn\nc\n", LineEndings, "a\r\nB\nn\nc\r\nd\n");
}

#[test]
fn in_mixed_files_a_reindented_line_and_the_last_one_keep_their_own_ending() {
    assert_edited("a\nb\r\nc\nd\n", "a\nb\nc", "if x\n  a\n  b\n  c", LineEndings, "if x\n  a\n  b\r\n  c\nd\n");
    assert_edited("a\r\nb\nc\n", "a\nb", "a\nb\n\nn", LineEndings, "a\r\nb\n\nn\nc\n");
}

#[test]
fn in_mixed_files_the_line_that_goes_takes_its_own_ending_along() {
    assert_edited("  }\n }\r\nx\nend\n", "  }\n }\nx", " }\nx", LineEndings, " }\r\nx\nend\n");
}

#[test]
fn places_are_counted_over_all_endings() {
    assert_eq!(assert_ambiguous("a\r\nb\r\n\r\na\r\nb\r\n", "a\nb", "x"), [1, 4]);
}

#[test]
fn half_a_crlf_is_no_part_of_a_line_ending() {
    for text in ["one\r\ntwo\r\nthree\r\n", "one\ntwo\nthree\n"] {
        for new in ["X", "X\r", "", "two"] {
            assert_missed(text, "two\r", new);
        }
    }
}

#[test]
fn a_cr_alone_is_a_character() {
    assert_edited("one\rtwo\rthree\r", "two\r", "X", Exact, "one\rXthree\r");
    assert_edited("10%\r20%\r\ndone\r\n", "20%\ndone\n", "30%\nend\n", LineEndings, "10%\r30%\r\nend\r\n");
    assert_missed("a\rb\rc", "a\nb", "x\ny");
    assert_missed("a\nb\nc", "a\rb", "x\ry");
}

#[test]
fn text_that_is_there_in_other_endings_already_is_no_change() {
    assert_missed("a\r\nb\r\n", "a\nb\n", "a\r\nb\r\n");
}
