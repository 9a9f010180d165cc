//! Tests of whole lines through white space and indentation.

use crate::{
    Next, Request,
    Strategy::{Exact, Indentation, TrailingWhitespace},
    testing::{assert_ambiguous, assert_edited, assert_missed, tried},
};

#[test]
fn white_space_at_line_ends_is_ignored_on_either_side() {
    assert_edited("a  \nb\nc\n", "a\nb\n", "a\nx\n", TrailingWhitespace, "a  \nx\nc\n");
    assert_edited("a\nb\nc\n", "a \nb\t\n", "a \nx\t\n", TrailingWhitespace, "a\nx\nc\n");
    assert_edited("{\n    \n}\n", "{\n\n}", "{\n\n  x\n}", TrailingWhitespace, "{\n    \n  x\n}\n");
}

#[test]
fn a_line_that_is_only_reworded_keeps_its_end() {
    assert_edited("one two  \nend\n", "one two\nend\n", "one too\nend\n", TrailingWhitespace, "one too  \nend\n");
}

#[test]
fn an_end_that_the_request_changes_is_written_as_asked() {
    assert_edited("a \nb\t\n", "a\nb\n", "a\nb  \n", TrailingWhitespace, "a \nb  \n");
}

#[test]
fn ends_that_every_copied_line_has_are_not_brought_in() {
    assert_edited("a\nb\n", "a  \nb  \n", "a  \nn  \nm\nb  \n", TrailingWhitespace, "a\nn\nm\nb\n");
}

#[test]
fn a_fragment_of_a_line_is_never_widened_to_the_line() {
    assert_missed("foo(a) \nbar(b)\n", "o(a)\nbar(b)", "x");
    assert_missed("foo(a) \nbar(b, c)\n", "foo(a)\nbar(b", "x");
}

#[test]
fn a_first_line_without_its_indentation_leaves_it_in_place() {
    assert_edited(
        "    if a: \n        b\n",
        "if a:\n        b\n",
        "if c:\n        b\n",
        TrailingWhitespace,
        "    if c: \n        b\n",
    );
    assert_missed("    a \n    b\n", "a\n", "");
}

#[test]
fn whole_lines_are_deleted_with_their_endings() {
    assert_edited("a\nb \nc\n", "b\nc\n", "", TrailingWhitespace, "a\n");
    assert_edited("a\nb \nc", "b\nc\n", "", TrailingWhitespace, "a\n");
    assert_edited("a\nb \nc\n", "a\nb\n", "a\n", TrailingWhitespace, "a\nc\n");
}

#[test]
fn a_missing_final_newline_stays_missing() {
    assert_edited("a \nb", "a\nb\n", "a\nc\n", TrailingWhitespace, "a \nc");
    assert_edited("b", "b\n", "c\n", TrailingWhitespace, "c");
}

#[test]
fn a_final_newline_in_only_one_of_the_texts_is_refused() {
    assert_missed("a \nb\nc\n", "a\nb\n", "a\nx");
    assert_missed("a \nb\nc\n", "a\nb", "a\nx\n");
}

#[test]
fn mixed_endings_survive() {
    assert_edited("a \r\nb\nc\r\n", "a\nb\nc\n", "a\nB\nn\nc\n", TrailingWhitespace, "a \r\nB\nn\nc\r\n");
    assert_edited("a \r\nb\r\n", "a\nb\n", "n\na\nb\nm\n", TrailingWhitespace, "n\r\na \r\nb\r\nm\r\n");
}

#[test]
fn several_places_are_ambiguous_and_blank_text_is_not_found() {
    assert_eq!(assert_ambiguous("a \nb\na\t\nb\n", "a\nb\n", "x\n"), [1, 3]);
    assert_eq!(assert_ambiguous("x \nx \nx \n", "x\nx\n", "y\n"), [1, 2]);
    assert_missed("a\n \n \n", "\n\n  \n", "x");
}

#[test]
fn a_change_already_made_is_not_made_twice() {
    assert!(assert_missed("one \ntwo\nthree\n", "one\ntwo\n", "one \ntwo\nthree\n").next == Next::Look);
    assert!(assert_missed("one  \ntwo  \nthree  \n", "one\ntwo\n", "one\ntwo\nthree\n").next == Next::Look);
}

#[test]
fn new_lines_are_shifted_as_the_old_ones_are() {
    assert_edited(
        "class A:\n    def f(self):\n        return 1\n",
        "def f(self):\n    return 1\n",
        "def f(self):\n    if x:\n        return 2\n    return 1\n",
        Indentation,
        "class A:\n    def f(self):\n        if x:\n            return 2\n        return 1\n",
    );
    assert_edited("if a:\n  foo\n", "    if a:\n      foo\n", "    if b:\n      foo\n", Indentation, "if b:\n  foo\n");
}

#[test]
fn new_lines_take_the_tabs_or_spaces_of_the_file() {
    assert_edited(
        "fn f() {\n\tif a {\n\t\tone();\n\t}\n}\n",
        "    if a {\n        one();\n    }\n",
        "    if a {\n        if b {\n            two();\n        }\n    }\n",
        Indentation,
        "fn f() {\n\tif a {\n\t\tif b {\n\t\t\ttwo();\n\t\t}\n\t}\n}\n",
    );
    assert_edited(
        "  if a {\n    one();\n  }\n",
        "\tif a {\n\t\tone();\n\t}\n",
        "\tif a {\n\t\tone();\n\t\t\ttwo();\n\t}\n",
        Indentation,
        "  if a {\n    one();\n      two();\n  }\n",
    );
}

#[test]
fn tabs_with_spaces_for_alignment_are_counted_in_columns() {
    assert_edited(
        "    f(a1,\n      b1);\n    g();\n",
        "\tf(a1,\n\t  b1);\n",
        "\tf(a2,\n\t  b1);\n\th();\n",
        Indentation,
        "    f(a2,\n      b1);\n    h();\n    g();\n",
    );
}

#[test]
fn a_bare_block_with_spaces_in_a_file_of_tabs_is_refused() {
    let (text, old) = ("x {\n\t\tfoo(a)\n\t\tbar(b)\n}\n", "foo(a)\nbar(b)\n");
    let diagnosis = assert_missed(text, old, "foo(a)\nif c {\n    bar(b)\n}\n");
    assert!(diagnosis.summary.contains("the indentation of new_string cannot be derived"), "{diagnosis:?}");
    assert_edited(
        text,
        old,
        "foo(a)\nif c {\n\tbar(b)\n}\n",
        Indentation,
        "x {\n\t\tfoo(a)\n\t\tif c {\n\t\t\tbar(b)\n\t\t}\n}\n",
    );
}

#[test]
fn blank_lines_have_no_indentation() {
    assert_edited(
        "    foo1\n\n    bar\n",
        "foo1\n\nbar\n",
        "foo1\n\nnew\n\nbar\n",
        Indentation,
        "    foo1\n\n    new\n\n    bar\n",
    );
}

#[test]
fn a_first_line_with_a_part_of_its_indentation_is_no_place_to_write_others() {
    let text = "    return p\n\ndef f():\n";
    assert_missed(text, "  return p\n\ndef f():\n", "  if x:\n    return p\n\n  def f():\n");
    assert_edited(text, "  return p\n\ndef f():\n", "  return p\n\ndef g():\n", Exact, "    return p\n\ndef g():\n");
}

#[test]
fn a_bare_first_line_is_not_put_further_down_without_its_indentation() {
    let text = "if a:\n    one()\ntwo()\n";
    assert_missed(text, "one()\ntwo()\n", "zero()\none()\ntwo()\n");
    assert_missed(text, "one() \ntwo()\n", "zero()\none() \ntwo()\n");
    assert_edited(text, "one()\ntwo()\n", "one()\nthree()\ntwo()\n", Exact, &text.replace("two", "three()\ntwo"));
}

#[test]
fn a_first_line_that_goes_does_not_leave_a_part_of_its_indentation_behind() {
    let text = "fn f() {\n    run(0);\n}\n";
    assert_missed(text, "  run(0);\n}", "}");
    assert_missed(text, "run(0);\n}", "}");
    assert_edited(text, "run(0);\n}", "run(1);\n}", Exact, "fn f() {\n    run(1);\n}\n");
}

#[test]
fn a_bare_line_is_not_put_behind_one_that_opens_a_block_at_its_own_depth() {
    let text = "def f():\n    return 1\n\n\nx\n";
    assert_missed(text, "return 1\n", "if x:\n    return 1\n");
    assert_missed(text, "return 1 \n\n\n", "if x:\n    return 1\n\n");
    assert_edited(text, "return 1", "if x:\n        return 1", Exact, "def f():\n    if x:\n        return 1\n\n\nx\n");
    assert_edited(text, "return 1", "g()\n    return 1", Exact, "def f():\n    g()\n    return 1\n\n\nx\n");
}

#[test]
fn the_space_before_a_comments_star_does_not_turn_tabs_into_spaces() {
    let text = "int f(void)\n{\n\tint a;\n\tint b;\n\tint c;\n}\n/*\n * one two\n * three\n */\n";
    assert_edited(
        text,
        "\t\t * one two\n\t\t * three\n",
        "\t\t when:\n\t\t\t * one two\n\t\t\t * three\n",
        Indentation,
        &text.replace(" * one two\n", " when:\n\t * one two\n").replace(" * three", "\t * three"),
    );
}

#[test]
fn a_place_that_cannot_take_the_new_lines_still_makes_another_ambiguous() {
    let text = "  a(1)\n  b(2)\n\tc(3)\n        a(1)\n \tb(2)\n";
    assert_eq!(assert_ambiguous(text, "a(1)\nb(2)\n", "a(1)\nx()\nb(2)\n"), [1, 4]);
    let request =
        Request { old: "a(1)\nb(2)\n", new: "a(1)\nx()\nb(2)\n", replace_all: true, expected_replacements: None };
    assert!(tried(text, &request).is_err());
}

#[test]
fn a_line_that_goes_takes_its_indentation_along() {
    let text = "if x:\n    foo()\nbar()\n";
    assert_edited(text, "foo()\n", "", Indentation, "if x:\nbar()\n");
    assert_edited(text, "  foo()\n", "", Indentation, "if x:\nbar()\n");
    assert_edited("if x:\n    foo()\n\nbar()\n", "foo()\n\n", "\n", Indentation, "if x:\n\nbar()\n");
}

#[test]
fn indentation_that_differs_from_line_to_line_is_not_found() {
    assert_missed("  foo\n      bar\n", "foo\n  bar\n", "foo\n");
    assert_missed("\tfoo\n        bar\n", "foo\nbar\n", "baz\n");
}

#[test]
fn lines_that_cannot_be_shifted_so_far_refuse_the_match() {
    assert_missed("foo1\nbar1\n", "    foo1\n    bar1\n", "    foo1\n  x\n    bar1\n");
}

#[test]
fn the_same_lines_at_two_depths_are_ambiguous() {
    assert_eq!(assert_ambiguous("  foo(a)\n  bar\n    foo(a)\n    bar\n", "foo(a)\nbar\n", "x\n"), [1, 3]);
}

#[test]
fn braces_alone_are_not_found() {
    assert_missed("    {\n    }\n", "{\n}\n", "{ }\n");
}

#[test]
fn a_change_of_indentation_is_not_made_twice() {
    assert!(assert_missed("    foo1\n    bar1\n", "  foo1\n  bar1\n", "    foo1\n    bar1\n").next == Next::Look);
}

#[test]
fn unchanged_lines_keep_the_files_white_space() {
    assert_edited("    foo1 \n    bar\n", "foo1\nbar\n", "foo1\nbaz\n", Indentation, "    foo1 \n    baz\n");
}

#[test]
fn one_level_shows_no_shift_that_leaves_the_files_levels() {
    let file = "def f():\n    if a:\n        b1()\n    elif c:\n        d1()\n";
    assert_missed(file, "  elif c:\n    d2()\n", "x");
    assert_missed(file, "      elif c:\n", "      elif c:\n          e1()\n");
    assert_missed(file, "          b1()\n", "          b1()\n            e1()\n");
}

#[test]
fn short_line_with_blanks_for_its_tab_is_a_place() {
    let text = "a:\n\tx = 1\n\ty = 2\n}\n";
    assert_edited(text, "    y = 2", "    y = 5", Indentation, "a:\n\tx = 1\n\ty = 5\n}\n");
    assert_edited(text, "    x = 1\n    y = 2\n", "    x = 3\n", Indentation, "a:\n\tx = 3\n}\n");
    assert_edited("if (a) {\n\t}\n}\n", "    }\n", "    };\n", Indentation, "if (a) {\n\t};\n}\n");
    assert_edited("a\n    y\n", "\ty", "\tz", Indentation, "a\n    z\n");
    // A lone brace further left or right is no description of a place.
    assert_missed("f {\n  }\n", "    }\n", "    };\n");
    assert_missed("f {\n}\n", "    }\n", "    };\n");
    assert_ambiguous("\t}\n\t}\n", "    }\n", "    };\n");
}
