//! Indentation: of whole blocks that are at another level in the file.

use super::whitespace;
use crate::{
    Hunk, Refusal, Site,
    indent_shift::{IndentShift, NoShift, Surroundings},
    line_parts::parts,
    typography,
};

/// The shift from `edit.old` to the file's lines at `site`, able to place all new lines.
pub(super) fn shift(site: Site<'_, '_>) -> Result<IndentShift, Refusal> {
    let Site { prepared, edit, .. } = site;
    let file = site.file_lines();
    let mut pairs = Vec::with_capacity(file.len());
    for (old, file) in edit.old.iter().zip(&file) {
        let (old_indent, old) = typography::indented(old);
        let (file_indent, file_content, _) = parts(file);
        if old.is_empty() || typography::content(old) != typography::content(file_content) {
            continue;
        }
        // Indentation by unusual spaces is none that new lines could take on.
        if !typography::indented(file_content).0.is_empty() {
            return Err(Refusal::Unclear);
        }
        pairs.push((old_indent, file_indent));
    }
    // Lines that do not change need no indentation.
    let changed = edit.changes().filter(|(is_kept, ..)| !is_kept).flat_map(|(.., new)| &edit.new[new]);
    let wanted = changed.map(|line| typography::indented(line)).filter(|(_, content)| !content.is_empty());
    let wanted: Vec<_> = wanted.map(|(indent, _)| indent).collect();
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(old, file)| (old.as_ref(), *file)).collect();
    // A single line without its indentation may be one that was copied from its first character on; then the others
    // may have theirs.
    let is_bare = matches!(pairs.as_slice(), [("", file)] if !file.is_empty());
    if is_bare && edit.new.iter().filter(|line| !line.trim().is_empty()).nth(1).is_some() {
        return Err(Refusal::Indentation(site.start()));
    }
    let wanted: Vec<&str> = wanted.iter().map(AsRef::as_ref).collect();
    let occurs =
        |indent: &str| prepared.contents().map(parts).any(|(own, content, _)| own == indent && !content.is_empty());
    let file = Surroundings { indentation: prepared.indentation(), occurs: &occurs };
    IndentShift::of(&pairs, &wanted, &file).map_err(|reason| match reason {
        NoShift::NotUniform => Refusal::Unclear,
        NoShift::Unclear => Refusal::Indentation(site.start()),
    })
}

/// The new lines of a hunk, shifted.
pub(super) fn lines(hunk: &Hunk<'_>, shift: &IndentShift, pasted: Option<&str>) -> Option<Vec<String>> {
    let line = |(index, new): (usize, &&str)| {
        let (indent, content, _) = parts(new);
        let trailing = whitespace::trailing(hunk, index, pasted);
        if content.is_empty() {
            return shift.apply_blank(trailing);
        }
        Some(format!("{}{content}{trailing}", shift.apply(indent)?))
    };
    hunk.new.iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use crate::{
        Next, Request,
        Strategy::{Exact, Indentation},
        testing::{assert_ambiguous, assert_edited, assert_missed, tried},
    };

    #[test]
    fn new_lines_are_shifted_as_the_old_ones_are() {
        assert_edited(
            "class A:\n    def f(self):\n        return 1\n",
            "def f(self):\n    return 1\n",
            "def f(self):\n    if x:\n        return 2\n    return 1\n",
            Indentation,
            "class A:\n    def f(self):\n        if x:\n            return 2\n        return 1\n",
        );
        assert_edited(
            "if a:\n  foo\n",
            "    if a:\n      foo\n",
            "    if b:\n      foo\n",
            Indentation,
            "if b:\n  foo\n",
        );
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
        assert_edited(
            text,
            "  return p\n\ndef f():\n",
            "  return p\n\ndef g():\n",
            Exact,
            "    return p\n\ndef g():\n",
        );
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
        assert_edited(
            text,
            "return 1",
            "if x:\n        return 1",
            Exact,
            "def f():\n    if x:\n        return 1\n\n\nx\n",
        );
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
}
