//! Notebooks: read as cells, and edited in their cells with every other byte of the JSON kept.

use serde_json::{Value, json};

use crate::harness::{Harness, mcp_test};

/// A notebook as Jupyter writes it.
fn notebook(cells: &Value) -> String {
    let metadata = json!({ "kernelspec": { "name": "python3" } });
    let value = json!({ "cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5 });
    let mut bytes = Vec::new();
    let layout = serde_json::ser::PrettyFormatter::with_indent(b" ");
    serde::Serialize::serialize(&value, &mut serde_json::Serializer::with_formatter(&mut bytes, layout)).unwrap();
    String::from_utf8(bytes).unwrap() + "\n"
}

fn sample() -> String {
    notebook(&json!([
        { "cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["# Käse\n", "text"] },
        { "cell_type": "code", "execution_count": 2, "id": "a1", "metadata": {}, "source": ["x = 1\n", "y = \"ü\"\n", "print(x)"],
          "outputs": [
            { "name": "stdout", "output_type": "stream", "text": (1..=40).map(|n| format!("line {n}\n")).collect::<Vec<_>>() },
            { "output_type": "display_data", "data": { "image/png": "iVBOR".repeat(1000), "text/plain": "<Figure>" }, "metadata": {} }
        ] },
        { "cell_type": "code", "execution_count": null, "id": "b2", "metadata": {}, "outputs": [], "source": "z = 1\nprint(x)" },
    ]))
}

fn open(content: &str) -> Harness {
    let h = Harness::new();
    h.write("a.ipynb", content);
    h.call("read", json!({ "path": "a.ipynb" })).ok();
    h
}

fn edit(h: &Harness, old: &str, new: &str) -> crate::harness::Answer {
    h.call("edit", json!({ "path": "a.ipynb", "old_string": old, "new_string": new }))
}

mcp_test!(notebook_is_shown_as_its_cells, |h| {
    h.write("a.ipynb", sample());
    let answer = h.call("read", json!({ "path": "a.ipynb" }));
    let text = answer.ok();
    let expected = "--- cell 1: markdown, id intro ---\n# Käse\ntext\n--- cell 2: code [2], id a1 ---\nx = 1\ny = \"ü\"\nprint(x)\n\
        --- stdout ---\nline 1\n";
    assert!(text.starts_with(expected), "{text}");
    let rest = "line 10\n… 30 lines more (part=\"cells 2\" shows up to 50)\n--- display: image/png, 4.9 KB ---\n<Figure>\n\
        --- cell 3: code, id b2 ---\nz = 1\nprint(x)\n(3 cells, rev ";
    assert!(text.contains(rest), "{text}");
    let facts = answer.facts();
    assert_eq!(
        (&facts["total_cells"], &facts["returned_cells"], &facts["has_more"]),
        (&json!(3), &json!(3), &json!(false))
    );

    let text = h.call("read", json!({ "path": "a.ipynb", "part": "cells 2-3" })).ok();
    assert!(text.contains("line 40\n--- display") && text.contains("\n(cells 2-3 of 3, rev "), "{text}");
    let text = h.call("read", json!({ "path": "a.ipynb", "part": "cells 9" })).ok();
    assert!(text.starts_with("(cell 9 is past the end: 3 cells"), "{text}");
});

mcp_test!(line_arguments_read_the_json_of_a_notebook, |h| {
    h.write("a.ipynb", sample());
    let text = h.call("read", json!({ "path": "a.ipynb", "start_line": 1, "end_line": 2 })).ok();
    assert!(text.starts_with("1\t{\n2\t \"cells\": [\n"), "{text}");
    let text = h.call("read", json!({ "path": "a.ipynb", "limit": 1 })).ok();
    assert!(text.starts_with("1\t{\n"), "{text}");
    let text = h.call("read", json!({ "path": "a.ipynb", "part": "region 0,0,5,5" })).fails("invalid_input");
    assert!(text.contains("a.ipynb is a notebook"), "{text}");
});

mcp_test!(file_that_is_no_notebook_is_read_as_text, |h| {
    for content in ["", "no json\n", "{\"cells\": 1}\n", "[1, 2]\n", "{\"cells\": [{\"cell_type\": \"code\"}]}"] {
        h.write("a.ipynb", content);
        let text = h.call("read", json!({ "path": "a.ipynb" })).ok();
        let expected =
            if content.is_empty() { "(empty file)".to_owned() } else { format!("1\t{}", content.trim_end()) };
        assert!(text.starts_with(&expected), "{text}");
    }
    h.write("b.ipynb", b"{\"cells\": [\xff\xfe\x00]");
    h.call("read", json!({ "path": "b.ipynb" })).fails("binary");
    let text = h.call("read", json!({ "path": "a.ipynb", "part": "cells 1" })).fails("invalid_input");
    assert!(text.contains("is for notebooks"), "{text}");
});

mcp_test!(long_notebook_is_continued_cell_by_cell, |h| {
    let cells: Vec<Value> = (1..=300)
        .map(|n| json!({ "cell_type": "code", "source": [format!("name_{n} = '{}'", "x".repeat(400))], "outputs": [] }))
        .collect();
    h.write("a.ipynb", notebook(&Value::from(cells)));
    let (mut next, mut seen) = (1, Vec::new());
    loop {
        let answer = h.call("read", json!({ "path": "a.ipynb", "part": format!("cells {next}-") }));
        let text = answer.ok();
        seen.extend(
            text.lines().filter_map(|line| line.strip_prefix("name_")?.split(' ').next()?.parse::<usize>().ok()),
        );
        let Some(cell) = answer.facts().get("next_cell").and_then(Value::as_u64) else { break };
        assert!(text.contains(&format!("; continue with part=\"cells {cell}-\")")), "{text}");
        next = cell;
    }
    assert_eq!(seen, (1..=300).collect::<Vec<_>>());
});

mcp_test!(cell_larger_than_an_answer_is_cut_and_said, |h| {
    let source: Vec<String> = (1..=20_000).map(|n| format!("line_{n} = {n}\n")).collect();
    h.write(
        "a.ipynb",
        notebook(
            &json!([{ "cell_type": "code", "source": source, "outputs": [] }, { "cell_type": "raw", "source": "end" }]),
        ),
    );
    let text = h.call("read", json!({ "path": "a.ipynb" })).ok();
    assert!(text.contains(" lines more of this cell; start_line reads"), "{}", &text[text.len() - 300..]);
    assert!(text.contains("continue with part=\"cells 2-\""), "{}", &text[text.len() - 300..]);
});

#[test]
fn cell_is_edited_and_every_other_byte_stays() {
    let h = open(&sample());
    let text = edit(&h, "y = \"ü\"\nprint(x)", "y = 'a\\t\"b\"\t😀\u{2028}'\nz = 2\nprint(x)").ok();
    assert!(text.starts_with("Edited: 1 replacement, rev ") && text.contains("; in cell 2\n"), "{text}");
    assert!(text.contains("\n-y = \"ü\"\n+y = 'a\\t\"b\"\t😀") && text.contains("\n+z = 2\n print(x)"), "{text}");
    let new = sample()
        .replace("    \"y = \\\"ü\\\"\\n\",\n", "    \"y = 'a\\\\t\\\"b\\\"\\t😀\u{2028}'\\n\",\n    \"z = 2\\n\",\n");
    assert_eq!(String::from_utf8(h.bytes("a.ipynb")).unwrap(), new);
    // Its own change counts as seen.
    edit(&h, "z = 1", "z = 3").ok();
    assert_eq!(
        String::from_utf8(h.bytes("a.ipynb")).unwrap(),
        new.replace("\"z = 1\\nprint(x)\"", "\"z = 3\\nprint(x)\"")
    );
}

#[test]
fn text_in_several_cells_is_ambiguous_or_replaced_everywhere() {
    let h = open(&sample());
    let text = edit(&h, "print(x)", "print(y)").fails("ambiguous");
    assert!(text.starts_with("old_string occurs in 2 cells of a.ipynb: cells 2, 3"), "{text}");
    let all = json!({ "path": "a.ipynb", "old_string": "print(x)", "new_string": "print(y)", "replace_all": true });
    let answer = h.call("edit", all);
    assert!(answer.ok().contains("2 replacements") && answer.ok().contains("in cells 2, 3"), "{}", answer.ok());
    assert_eq!(String::from_utf8(h.bytes("a.ipynb")).unwrap(), sample().replace("print(x)", "print(y)"));
    let count = |expected: i64| json!({ "path": "a.ipynb", "old_string": "print(y)", "new_string": "p", "expected_replacements": expected });
    let text = h.call("edit", count(3)).fails("no_match");
    assert!(text.contains("occurs at 2 places in a.ipynb (cells 2, 3), not at the expected 3"), "{text}");
    h.call("edit", count(2)).ok();
}

#[test]
fn old_text_that_ends_with_half_a_crlf_is_in_no_cell() {
    let cell = |source: &str| notebook(&json!([{ "cell_type": "code", "source": source, "outputs": [] }]));
    for ending in ["\r\n", "\n"] {
        let h = open(&cell(&["one", "two", "three"].join(ending)));
        edit(&h, "two\r", "X").fails("no_match");
        assert_eq!(String::from_utf8(h.bytes("a.ipynb")).unwrap(), cell(&["one", "two", "three"].join(ending)));
    }
}

#[test]
fn text_in_each_of_many_cells_is_replaced_up_to_the_bound_of_one_request() {
    let many = |count: usize, word: &str| {
        let cell = format!("{{\"cell_type\":\"code\",\"source\":[\"{word} = 1\\n\",\"bar\"]}}");
        format!("{{\"cells\":[{}]}}", vec![cell; count].join(","))
    };
    let all = |h: &Harness| {
        let args = json!({ "path": "a.ipynb", "old_string": "foo", "new_string": "baz", "replace_all": true });
        h.call("edit", args)
    };
    let h = open(&many(20_000, "foo"));
    assert!(all(&h).ok().contains("20000 replacements"));
    assert_eq!(String::from_utf8(h.bytes("a.ipynb")).unwrap(), many(20_000, "baz"));
    let h = open(&many(100_001, "foo"));
    let text = all(&h).fails("too_large");
    assert!(text.contains("too many to replace at once"), "{text}");
}

#[test]
fn place_that_cannot_be_changed_safely_is_one_of_several() {
    // In the first cell the text ends before the white space of its line.
    let h = open(&notebook(&json!([
        { "cell_type": "code", "source": "a = 1  \nb", "outputs": [] },
        { "cell_type": "code", "source": "a = 1\nb", "outputs": [] },
    ])));
    edit(&h, "a = 1", "a = 2\n").fails("ambiguous");
}

#[test]
fn damaged_text_is_found_in_its_cell_or_shown_what_is_nearest() {
    let h = open(&sample());
    let text = edit(&h, "  x = 1\n  y = \"ü\"", "  x = 2\n  y = \"ü\"").ok();
    assert!(text.contains("in cell 2") && text.contains("not exactly as given"), "{text}");
    let text = edit(&h, "x = 2\ny = \"other\"\nprint(x)", "").fails("no_match");
    assert!(text.starts_with("in cell 2: ") && text.contains("y = \"ü\""), "{text}");
    edit(&h, "nothing like this anywhere", "x").fails("no_match");
}

#[test]
fn json_of_a_notebook_is_still_edited_as_text() {
    let h = open(&sample());
    let text = edit(&h, "\"name\": \"python3\"", "\"name\": \"julia\"").ok();
    assert!(text.contains("+   \"name\": \"julia\"") && !text.contains("in cell"), "{text}");
    let text = edit(&h, "\"nbformat\": 4,", "\"nbformat\": 4").ok();
    assert!(text.contains("its JSON is no longer that of a notebook"), "{text}");
}

#[test]
fn edits_of_a_notebook_are_made_in_order_previewed_and_undone() {
    let h = crate::harness::Setup {
        selection: file_tools::Selection { groups: vec![file_tools::Group::Manage], ..Default::default() },
        ..crate::harness::Setup::default()
    }
    .open();
    h.write("a.ipynb", sample());
    h.call("read", json!({ "path": "a.ipynb" })).ok();
    let edits =
        json!([{ "old_string": "x = 1", "new_string": "x = 5" }, { "old_string": "# Käse", "new_string": "# Brot" }]);
    let text = h.call("edit", json!({ "path": "a.ipynb", "edits": edits, "dry_run": true })).ok();
    let first = "--- a/a.ipynb:cell 1\n+++ b/a.ipynb:cell 1\n@@ -1";
    assert!(text.contains(first) && text.contains("-# Käse\n+# Brot"), "{text}");
    assert!(text.contains("--- a/a.ipynb:cell 2\n+++ b/a.ipynb:cell 2\n@@ -1,2 +1,2 @@\n-x = 1\n+x = 5"), "{text}");
    assert_eq!(h.bytes("a.ipynb"), sample().as_bytes());
    h.call("edit", json!({ "path": "a.ipynb", "edits": edits })).ok();
    assert_eq!(
        String::from_utf8(h.bytes("a.ipynb")).unwrap(),
        sample().replacen("x = 1", "x = 5", 1).replace("# Käse", "# Brot")
    );
    h.call("undo", json!({})).ok();
    assert_eq!(h.bytes("a.ipynb"), sample().as_bytes());
}

mcp_test!(grep_shows_lines_of_cells_as_edit_takes_them, |h| {
    h.write("a.ipynb", sample());
    let text = h.call("grep", json!({ "pattern": "y = ", "context": 1 })).ok();
    assert!(text.contains(" <==\ncell 2 line 1-x = 1\ncell 2 line 2:y = \"ü\"\ncell 2 line 3-print(x)"), "{text}");
    let text = h.call("grep", json!({ "pattern": "line 7", "path": "a.ipynb" })).ok();
    assert!(text.contains("[not in a cell's source]"), "{text}");
    h.call("edit", json!({ "path": "a.ipynb", "old_string": "y = \"ü\"", "new_string": "y = 2" })).ok();
    assert!(String::from_utf8_lossy(&h.bytes("a.ipynb")).contains("\"y = 2\\n\""));
    // A source that is one string, and a notebook that is one line.
    let one = r##"{"cells": [{"cell_type": "markdown", "source": "# load \"it\"\nthen\nand load"}], "nbformat": 4}"##;
    h.write("one.ipynb", one);
    let text = h.call("grep", json!({ "pattern": "load", "path": "one.ipynb" })).ok();
    assert!(text.contains(" <==\ncell 1 line 1:# load \"it\"\ncell 1 line 3:and load\n"), "{text}");
    // What is in front of a line is what `read` and `edit` take.
    h.write("b.txt", "load\n");
    let text = h.call("grep", json!({ "pattern": "load" })).ok();
    assert!(text.contains("\nb.txt:1: load\n") && text.contains("\none.ipynb:cell 1 line 3: and load"), "{text}");
    let read = h.call("read", json!({ "path": "one.ipynb:cell 1 line 3" })).ok();
    assert!(read.starts_with("--- cell 1: markdown"), "{read}");
    let rev = h.call("read", json!({ "path": "one.ipynb" })).facts()["revision"].as_str().unwrap()[..8].to_owned();
    let lines = |lines: &str, rev: &str| {
        let one = json!({ "lines": lines, "rev": rev, "new_string": "\"last\"\n" });
        h.call("edit", json!({ "path": "one.ipynb", "edits": [one] }))
    };
    assert!(lines("3", &rev).fails("invalid_input").contains("name the cell, as in lines=\"cell 2 lines 3-4\""));
    assert!(lines("cell 2 line 1", &rev).fails("invalid_input").starts_with("in edits[0]: one.ipynb has 1 cell, so"));
    assert!(lines("cell 1 line 4", &rev).fails("invalid_input").contains("cell 1 of one.ipynb has 3 lines"));
    lines("cell 1 line 3", "00000").fails("stale");
    let text = lines("cell 1 line 3", &rev).ok();
    assert!(
        text.contains("--- a/one.ipynb:cell 1\n+++ b/one.ipynb:cell 1\n@@ -2,2 +2,2 @@\n then\n-and load\n"),
        "{text}"
    );
    assert_eq!(h.bytes("one.ipynb"), one.replace("and load", "\\\"last\\\"").as_bytes());
});

#[test]
fn lines_of_old_and_wrong_notebooks() {
    let cells = r#""cells": [{"cell_type": "code", "input": ["x = 1", "y = 2", "print(x)"], "outputs": []}]"#;
    let three = format!("{{\"worksheets\": [{{{cells}}}],\n \"nbformat\": 3}}\n");
    let h = open(&three);
    let shown = h.call("read", json!({ "path": "a.ipynb" })).ok();
    assert!(shown.starts_with("--- cell 1: code ---\nx = 1\ny = 2\nprint(x)\n(1 cell, "), "{shown}");
    edit(&h, "y = 2\nprint", "y = 3\nz = 4\nprint").ok();
    let changed = three.replace("\"y = 2\"", "\"y = 3\", \"z = 4\"");
    assert_eq!(h.bytes("a.ipynb"), changed.as_bytes());
    // Version 2 is text.
    let two = three.replace("\"nbformat\": 3", "\"nbformat\": 2");
    let shown = open(&two).call("read", json!({ "path": "a.ipynb" })).ok();
    assert!(shown.starts_with("1\t{\"worksheets\"") && shown.contains("\n(2 lines, rev "), "{shown}");
    // Jupyter glues what version 4 has so.
    let cell = |source: Value| json!({ "cell_type": "code", "metadata": {}, "source": source, "outputs": [] });
    let four = notebook(&json!([cell(json!(["x = 1", "y = 2\n", "z"])), cell(json!(["x\n", "y"])), cell(json!("x"))]));
    let shown = open(&four).call("read", json!({ "path": "a.ipynb" })).ok();
    let note = "\n(cell 1: strings of the source lack their line breaks in the file, so that lines are glued together)\n(3 cells, ";
    assert!(shown.contains("\nx = 1y = 2\nz\n") && shown.contains(note), "{shown}");
}
