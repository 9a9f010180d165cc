//! Tests of the diagnosis: what it names, what it shows, and that it ends.

use std::{fmt::Write as _, ops::Range};

use super::{differs_in_paths, ignoring_whitespace, substring};
use crate::{Next, testing::assert_missed};

const FILE: &str = "fn one() {\n\tlet total = sum(a, b);\n    print(\"x\");\n}\n\nfn two() {\n    done(7);\n}\n";

fn summary(text: &str, old: &str, new: &str) -> String {
    assert_missed(text, old, new).summary
}

#[test]
fn the_nearest_block_is_named_and_shown_with_its_numbers() {
    let diagnosis = assert_missed(FILE, "fn one() {\n\tlet total = sum(a, c);\n    print(\"y\");\n}\n", "x");
    assert!(
        diagnosis.summary.starts_with("old_string was not found; the nearest block is at lines 1-4 ("),
        "{diagnosis:?}"
    );
    assert!(
        diagnosis
            .summary
            .contains("line 2: the file has `let total = sum(a, b);`, old_string has `let total = sum(a, c);`")
    );
    assert!(diagnosis.details.contains("\n2\t\tlet total = sum(a, b);\n"), "{}", diagnosis.details);
    assert_eq!(diagnosis.next, Next::Copy);
}

#[test]
fn what_cannot_be_seen_is_made_visible() {
    for (file, old, clause) in [
        ("\tfoo(1)\n  bar\n", "    foo(1)\nbar\n", "line 1: the file is indented by a tab, old_string by 4 spaces"),
        (
            "let x =\u{a0}one;\nlet z\n",
            "let x = one;\nlet y\n",
            "line 1: the file has U+00A0 at column 8, old_string has a space",
        ),
        ("let x\u{7} = one;\n", "let x = one;\n", "line 1: the file has U+0007 at column 6, old_string has a space"),
        ("let x\u{e000} = one;\n", "let x = one;\n", "line 1: the file has U+E000 at column 6, old_string has a space"),
        ("let x\u{200b} = one;\n", "let x = one;\n", "line 1: the file has U+200B at column 6, old_string has a space"),
        (
            "alpha beta \nfoo bar\n",
            "alpha beta\nfoo baz\n",
            "line 1: the file has a space at the end, old_string has nothing",
        ),
    ] {
        let diagnosis = assert_missed(file, old, "zzz\nz\n");
        assert!(diagnosis.summary.contains(clause), "{diagnosis:?}");
    }
}

#[test]
fn a_change_already_made_is_told() {
    let diagnosis = assert_missed(FILE, "    done(6);", "    done(7);");
    assert!(diagnosis.next == Next::Look);
    assert!(diagnosis.summary.contains("new_string is already there, at line 7"), "{diagnosis:?}");
    assert!(assert_missed(FILE, "    done(6);", "7").next != Next::Look);
}

#[test]
fn a_text_before_white_space_that_would_stay_is_not_called_absent() {
    let said = summary("one\u{a0}\ntwo\n", "one", "1\n");
    assert!(said.starts_with("old_string ends before the white space that ends line 1"), "{said}");
}

#[test]
fn another_casing_is_told() {
    assert!(summary(FILE, "FN TWO() {", "x").contains("the same text in another casing is at line 6"));
}

#[test]
fn nothing_like_it_is_said_as_plainly() {
    assert_eq!(
        summary(FILE, "completely unrelated words", "x"),
        "old_string was not found and nothing in the file resembles it"
    );
    assert_eq!(summary("", "anything", "x"), "old_string was not found and nothing in the file resembles it");
}

#[test]
fn a_path_that_a_client_rewrote_is_to_be_left_out() {
    let text = "a\nroot = \"/home/me/project/data\"\nb\n";
    let diagnosis = assert_missed(text, "root = \"/mnt/user-data/workspace/data\"", "x");
    assert_eq!(diagnosis.next, Next::LeaveOutPath, "{diagnosis:?}");
    for (text, old) in [
        (text, "root = \"/home/me/project/data\" + 1"),
        (text, "base = \"/home/me/project/data\""),
        (FILE, "let total = sum(a / b / c);"),
        (FILE, "open(\"/etc/hosts\") and sum(a, b)"),
    ] {
        let diagnosis = assert_missed(text, old, "x");
        assert_ne!(diagnosis.next, Next::LeaveOutPath, "{diagnosis:?}");
    }
}

/// A line for each number.
fn lines(numbers: Range<usize>, line: impl Fn(&mut String, usize) -> std::fmt::Result) -> String {
    let mut text = String::new();
    numbers.for_each(|number| line(&mut text, number).unwrap_or_default());
    text
}

fn numbered(numbers: Range<usize>) -> String {
    lines(numbers, |text, line| writeln!(text, "    call_{line}(value, {line});"))
}

#[test]
fn a_line_more_or_less_is_named_and_spoils_nothing() {
    let text = format!("start\n{}end\n", numbered(0..24));
    let without = numbered(0..24).replace("    call_9(value, 9);\n", "");
    let diagnosis = assert_missed(&text, &without, "x");
    assert!(diagnosis.summary.contains("lines 2-25"), "{diagnosis:?}");
    let clause = "old_string lacks line 11 of the file, `call_9(value, 9);`";
    assert!(diagnosis.summary.contains(clause), "{diagnosis:?}");
    assert!(diagnosis.details.contains("11\t    call_9(value, 9);\n12\t"), "{diagnosis:?}");

    let with = numbered(0..24).replace("    call_9(", "    audit(now);\n    call_9(");
    let diagnosis = assert_missed(&text, &with, "x");
    let clause = "line 10 of old_string, `audit(now);`, is not in the file";
    assert!(diagnosis.summary.contains(clause), "{diagnosis:?}");
    let blank = numbered(0..24).replace("    call_9(", "\n    call_9(").replace("call_15", "call_15x");
    let diagnosis = assert_missed(&text, &blank, "x");
    let clause = "line 10 of old_string is blank, and the file has no blank line there";
    assert!(diagnosis.summary.contains(clause), "{diagnosis:?}");
}

#[test]
fn a_third_of_the_lines_is_enough_to_find_the_block() {
    let text = format!("{}{}", "noise(here);\n".repeat(90), numbered(0..24));
    let old = lines(0..24, |text, line| {
        if line.is_multiple_of(3) {
            text.push_str(&numbered(line..line + 1));
            Ok(())
        } else {
            writeln!(text, "    wholly.different_{line}[];")
        }
    });
    let diagnosis = assert_missed(&text, &old, "x");
    assert!(diagnosis.details.contains("91\t    call_0(value, 0);\n92\t"), "{diagnosis:?}");
}

#[test]
fn an_elision_is_named_with_the_lines_it_leaves_out() {
    let text = format!("start\n{}end\n", numbered(0..40));
    for elision in ["...", "…", "// ... existing code ..."] {
        let old = format!("{}    {elision}\n{}", numbered(0..2), numbered(36..38));
        let diagnosis = assert_missed(&text, &old, "x");
        assert!(diagnosis.summary.contains("leaves out lines 4-37 of the file"), "{diagnosis:?}");
        assert!(diagnosis.details.contains("\n20\t    call_18"), "{diagnosis:?}");
    }
}

#[test]
fn the_same_casing_is_not_called_another_one() {
    let summary = summary(FILE, "6\tfn two() {\n7\t    done(7);\n", "6\tfn two() {\nplain\n");
    assert!(summary.contains("line numbers in front") && !summary.contains("casing"), "{summary}");
}

#[test]
fn another_casing_shows_its_lines() {
    let diagnosis = assert_missed(FILE, "FN TWO() {", "x");
    assert!(diagnosis.details.contains("6\tfn two() {\n"), "{diagnosis:?}");
}

#[test]
fn what_was_pasted_around_the_text_is_named() {
    let numbered = "1\tfn one() {\n2\tlet total = sum(a, c);\n3\t    print(\"x\");\n";
    for (old, clause) in [
        (numbered, "old_string has line numbers"),
        ("fn one() {\\n    let total = summ(a);\\n", "line endings spelled as \\n"),
        ("fn one() {\n    print(&quot;y&quot;);\n", "HTML entities"),
    ] {
        let diagnosis = assert_missed(FILE, old, "x");
        assert!(diagnosis.summary.contains(clause), "{diagnosis:?}");
        assert!(diagnosis.details.contains("1\tfn one() {\n"), "{diagnosis:?}");
    }
}

#[test]
fn a_long_line_is_shown_whole_where_it_fits() {
    let long = format!("let list = [{}];", "1234567, ".repeat(300));
    let diagnosis = assert_missed(&format!("a\n{long}\nb\n"), &format!("{long}\nc\nd"), "x");
    assert!(diagnosis.details.contains(&format!("2\t{long}\n")), "{diagnosis:?}");
}

#[test]
fn of_a_huge_line_a_part_is_shown_that_occurs_once() {
    let body = lines(0..9000, |text, one| write!(text, "f{one}(a,b);"));
    let line = format!("{body}function total(a,b){{return a+b}}{body}");
    let text = format!("first\n{line}\nlast\n");
    let whole = format!("first\n{}\nlast", line.replace("f700(a,b)", "f700(a,c)"));
    for (old, new) in [
        (whole.clone(), whole.replace("return a+b", "return a-b")),
        ("function total(a,c){return a+b}".to_owned(), "function total(a,c){return a-b}".to_owned()),
    ] {
        let diagnosis = assert_missed(&text, &old, &new);
        assert!(diagnosis.details.len() < 6000, "{}", diagnosis.details.len());
        let part = diagnosis.details.lines().find_map(|line| line.strip_prefix("2\t")).unwrap_or_default();
        assert!(part.contains("a+b") && text.matches(part).count() == 1, "{}{}", diagnosis.summary, diagnosis.details);
    }
}

#[test]
fn a_long_block_is_bounded_and_shows_where_it_differs() {
    let text = lines(0..2000, |text, line| writeln!(text, "word_{line} {}", "and ".repeat(20)));
    let old = text.replace("word_1500 ", "word_x ");
    let diagnosis = assert_missed(&text, &old, &old.replace("word_700 ", "word_y "));
    assert!(diagnosis.details.len() < 10_000, "{}", diagnosis.details.len());
    for line in ["\n701\tword_700 ", "\n1501\tword_1500 "] {
        assert!(diagnosis.details.contains(line), "{}", diagnosis.details);
    }
}

#[test]
fn a_block_that_occurs_twice_is_shown_with_a_line_that_makes_it_unique() {
    let text = "fn a() {\n    run(1);\n    stop();\n}\nfn b() {\n    run(1);\n    stop();\n}\n";
    let diagnosis = assert_missed(text, "    run(2);\n    stop();", "x");
    let lines: Vec<&str> =
        diagnosis.details.lines().filter_map(|line| line.split_once('\t')).map(|(_, line)| line).collect();
    assert_eq!(text.matches(&lines.join("\n")).count(), 1, "{diagnosis:?}");
}

#[test]
fn huge_texts_are_answered() {
    let line = "x".repeat(4 << 20);
    let many = lines(0..100_000, |text, line| writeln!(text, "line {line}"));
    for (text, old) in [
        (format!("a{line}b"), format!("a{line}c")),
        (many.clone(), many.replace("line 5\n", "")),
        (many.clone(), format!("other\n{many}")),
        ("}\n".repeat(300_000), "}\n".repeat(400) + "x\n"),
        (many.clone(), line.clone()),
    ] {
        let diagnosis = assert_missed(&text, &old, "new");
        assert!(diagnosis.details.len() < 20_000 && diagnosis.summary.len() < 1000, "{}", diagnosis.summary);
    }
}

#[test]
fn lines_that_are_broken_otherwise_are_named_and_shown() {
    let text = "- name: old\n  uses: it@v1\n\n- name: new\n  uses: it@v1\n";
    let diagnosis = assert_missed(text, "- name: new uses: it@v1", "- name: new uses: it@v2");
    assert!(
        diagnosis.summary.contains("at lines 4-5 (99% alike); old_string has 1 line for the file's 2"),
        "{diagnosis:?}"
    );
    assert!(diagnosis.details.contains("4\t- name: new\n5\t  uses: it@v1\n"), "{diagnosis:?}");
}

#[test]
fn behind_an_elision_the_brace_at_the_same_indentation_is_meant() {
    let text = "fn one() {\n    for a in b {\n        go(a);\n    }\n    last();\n}\n\nfn two() {\n}\n";
    let diagnosis = assert_missed(text, "fn one() {\n    ...\n}\n", "fn one() {\n    ...\n}\n\nfn three() {}\n");
    assert!(diagnosis.summary.contains("leaves out lines 2-5 of the file"), "{diagnosis:?}");
    assert!(diagnosis.details.contains("6\t}\n7\t\n8\tfn two() {\n"), "{diagnosis:?}");
}

#[test]
fn of_a_huge_line_that_is_replaced_whole_the_part_that_differs_is_shown() {
    let line = lines(0..2000, |text, one| write!(text, "k{one}:v,"));
    let diagnosis = assert_missed(&format!("a\n{line}\nb\n"), &line.replace("k700:v", "k700:w"), "z");
    let part = diagnosis.details.lines().find_map(|line| line.strip_prefix("2\t")).unwrap_or_default();
    assert!(part.contains("k700:v") && line.matches(part).count() == 1, "{diagnosis:?}");
}

#[test]
fn lines_that_differ_in_absolute_paths_alone_are_versions_of_one_another() {
    assert!(differs_in_paths("root = \"/mnt/user-data/data\"", "  root = \"/home/me/data\""));
    assert!(!differs_in_paths("root = \"/mnt/user-data/data\"", "base = \"/home/me/data\""));
    assert!(!differs_in_paths("import a/b/c", "import a/b/d"));
    assert!(!differs_in_paths("see https://host/a/b", "see https://host/a/c"));
    assert!(!differs_in_paths("x = a / b / c", "x = a / b / d"));
}

#[test]
fn a_part_of_a_long_line_is_found_by_its_pieces() {
    let head = "first(a,b);second(c);third(d,e,f);".repeat(700);
    let text = format!("{head}function total(first,second){{return first+second}}{head}");
    let found = substring(&text, "function total(first,second){return first-second}").unwrap_or_default();
    assert!(text[found.clone()].contains("return first+second"), "{found:?}");
}

#[test]
fn unrelated_text_has_no_place() {
    assert_eq!(substring(&"let value = compute(1);\n".repeat(50), "completely unrelated words"), None);
    assert_eq!(substring("", "completely unrelated words"), None);
}

#[test]
fn a_text_is_found_whatever_white_space_is_in_it() {
    let text = "one(a);\n- name: check out\n  uses: it@v1\nnext: é\n";
    for old in ["- name: check out uses: it@v1", "name:  check\n\n out\nuses: it@v1\n", "uses: it@v1 next: é"] {
        let black = |text: &str| text.split_ascii_whitespace().collect::<String>();
        assert_eq!(black(&text[ignoring_whitespace(text, old).unwrap()]), black(old));
    }
    assert_eq!(ignoring_whitespace(text, "- name: check in uses: it@v1"), None);
    assert_eq!(ignoring_whitespace(&text.repeat(2), "- name: check out uses: it@v1"), None);
    assert_eq!(ignoring_whitespace(text, "one(a);"), None);
}
