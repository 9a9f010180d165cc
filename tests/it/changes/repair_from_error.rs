//! A refused edit can be repaired from its error alone: the next call, made from it, works.

use serde_json::{Value, json};

use crate::harness::{Harness, mcp_test};

fn edit(old: &str, new: &str) -> Value {
    json!({ "path": "a.txt", "old_string": old, "new_string": new })
}

fn opened(h: &Harness, content: &str) {
    h.write("a.txt", content);
    h.call("read", json!({ "path": "a.txt" })).ok();
}

/// The lines that an error shows, without their numbers.
fn shown(error: &str) -> Vec<String> {
    let numbered =
        |line: &str| Some((line.split_once('\t')?.0.parse::<usize>().ok()?, line.split_once('\t')?.1.to_owned()));
    error.lines().filter_map(numbered).map(|(_, line)| line).collect()
}

mcp_test!(stale_edit_works_once_its_diff_was_shown, |h| {
    opened(&h, "one\ntwo\nthree\n");
    h.write("a.txt", "one\n2\nthree\n");
    let error = h.call("edit", edit("two", "zwei")).fails("stale");
    assert!(error.contains("-two\n+2\n") && error.contains("counts as read"), "{error}");
    assert_eq!(h.bytes("a.txt"), b"one\n2\nthree\n");
    h.call("edit", edit("2", "zwei")).ok();
    assert_eq!(h.bytes("a.txt"), b"one\nzwei\nthree\n");
    // A later change is another one.
    h.write("a.txt", "1\nzwei\nthree\n");
    h.call("edit", edit("three", "drei")).fails("stale");
});

mcp_test!(an_edit_elsewhere_in_a_file_that_somebody_changed_is_made, |h| {
    let lines = |changed: &[(usize, &str)]| -> String {
        let line =
            |n: usize| changed.iter().find(|(at, _)| *at == n).map_or(format!("line {n}"), |(_, text)| (*text).into());
        (0..20).map(|n| line(n) + "\n").collect()
    };
    opened(&h, &lines(&[]));
    h.write("a.txt", lines(&[(3, "an editor")]));
    h.call("edit", edit("line 12", "twelve")).ok();
    assert_eq!(h.bytes("a.txt"), lines(&[(3, "an editor"), (12, "twelve")]).as_bytes());
    // A content made from what was read would undo what the editor has changed.
    let call = json!({ "path": "a.txt", "content": lines(&[(12, "twelve"), (19, "the end")]) });
    assert!(h.call("write", call).fails("stale").contains("+an editor"));
    // Next to a change, or where the text has come back with more, it has to be looked at.
    for (now, old) in [(lines(&[(8, "another")]), "line 9"), (lines(&[(12, "line 1200")]), "line 12\n")] {
        h.call("read", json!({ "path": "a.txt" })).ok();
        h.write("a.txt", lines(&[]));
        h.call("read", json!({ "path": "a.txt" })).ok();
        h.write("a.txt", &now);
        h.call("edit", edit(old.trim_end(), "x")).fails("stale");
        assert_eq!(h.bytes("a.txt"), now.as_bytes());
    }
});

mcp_test!(stale_write_works_once_its_diff_was_shown, |h| {
    opened(&h, "one\n");
    h.write("a.txt", "other\n");
    h.call("write", json!({ "path": "a.txt", "content": "new\n" })).fails("stale");
    h.call("write", json!({ "path": "a.txt", "content": "new\n" })).ok();
});

mcp_test!(a_cut_stale_diff_does_not_count_as_read, |h| {
    let lines = |word: &str| -> String { (0..80).map(|line| [word, " ", &line.to_string(), "\n"].concat()).collect() };
    opened(&h, &lines("old"));
    h.write("a.txt", lines("new"));
    for _ in 0..2 {
        let error = h.call("edit", edit("new 7\n", "x\n")).fails("stale");
        assert!(error.contains("read it again") && error.contains("more lines of diff"), "{error}");
    }
    h.call("read", json!({ "path": "a.txt" })).ok();
    h.call("edit", edit("new 7\n", "x\n")).ok();
});

mcp_test!(stale_by_expected_revision_shows_the_diff, |h| {
    h.write("a.txt", "one\n");
    let revision = h.call("read", json!({ "path": "a.txt" })).facts()["revision"].clone();
    h.write("a.txt", "two\n");
    let mut call = edit("one", "1");
    call["expected_revision"] = revision;
    let error = h.call("edit", call).fails("stale");
    assert!(error.contains("-one\n+two"), "{error}");
    // With the revision that the hint names, and without one.
    let (_, hint) = error.split_once("expected_revision=").expect("the revision to pass");
    let mut call = edit("two", "zwei");
    call["expected_revision"] = hint.split(' ').next().into();
    h.call("edit", call).ok();
    h.call("edit", edit("zwei", "2")).ok();
});

mcp_test!(lines_shown_after_no_match_are_those_of_the_file, |h| {
    let file = "fn a() {\n\tlet total\u{a0}= sum(a,\u{a0}b);\n\treturn total;  \n}\n\nfn b() {}\n";
    opened(&h, file);
    let error = h.call("edit", edit("fn a() {\n\tlet totals = sum(b, b);\n\treturn other;\n}", "x")).fails("no_match");
    let shown = shown(&error).join("\n");
    assert!(file.contains(&shown) && shown.contains("return total;  "), "{error}");
    h.call("edit", edit(&shown, "gone")).ok();
});

mcp_test!(lines_copied_from_an_error_with_their_numbers_are_found, |h| {
    opened(&h, "start\n\tfirst(1)\n\n\tsecond(2)\nend\n");
    let error = h.call("edit", edit("\tfirst(7)\n\tsecond(8)\nends", "x")).fails("no_match");
    let (_, block) = error.split_once("\n1\tstart\n").expect("the block is shown");
    h.call("edit", edit(block.trim_end(), "\tthird(3)")).ok();
    assert_eq!(h.bytes("a.txt"), b"start\n\tthird(3)\n");
});

mcp_test!(ambiguous_edit_is_unique_with_the_lines_shown, |h| {
    opened(&h, "def a():\n    x = 1\n    y = 2\ndef b():\n    x = 1\n    y = 2\n");
    let error = h.call("edit", edit("    x = 1\n    y = 2\n", "    x = 3\n")).fails("ambiguous");
    assert!(error.contains("line 5, unique with line 4 before it:\n4\tdef b():\n"), "{error}");
    h.call("edit", edit("def b():\n    x = 1\n    y = 2\n", "def b():\n    x = 3\n")).ok();
    assert_eq!(h.bytes("a.txt"), b"def a():\n    x = 1\n    y = 2\ndef b():\n    x = 3\n");
});

mcp_test!(point_of_an_edit_error_is_in_its_first_480_characters, |h| {
    let long = "word ".repeat(400);
    opened(&h, &format!("first {long}\nsecond {long}\nthird\n"));
    let error = h.call("edit", edit(&format!("first {long}\nsecond {long} x\nthird"), "x")).fails("no_match");
    let head: String = error.chars().take(480).collect();
    assert!(head.contains("lines 1-3") && head.contains("hint: copy old_string from the lines below"), "{head}");
});
