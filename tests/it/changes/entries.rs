//! Entries of one call of `edit` that meet, and the forms in which models send lists.

use serde_json::{Value, json};

use crate::harness::{Harness, mcp_test};

const FILE: &str = "one\ntwo\nthree\nfour\nfive\n";

fn edits(h: &Harness, entries: &Value) -> crate::harness::Answer {
    h.write("a.rs", FILE);
    h.call("read", json!({ "path": "a.rs" })).ok();
    h.call("edit", json!({ "path": "a.rs", "edits": entries }))
}

fn text(old: &str, new: &str) -> Value {
    json!({ "old_string": old, "new_string": new })
}

mcp_test!(answer_names_the_entry_that_is_in_the_way, |h| {
    for (entries, kind, words) in [
        (
            json!([text("four", "4"), text("three\nfour", "x")]),
            "no_match",
            "edits[0] of this call replaces line 3: join both",
        ),
        (
            json!([text("two", "2"), text("four", "4"), text("four\nfive", "x")]),
            "no_match",
            "edits[1] of this call replaces line 4",
        ),
        (
            json!([text("one", "1"), text("one", "1")]),
            "invalid_input",
            "in edits[1]: edits[0] of this call makes the same",
        ),
        (
            json!([text("one", "one\n0"), text("one", "one\n0")]),
            "invalid_input",
            "edits[0] of this call makes the same",
        ),
        (
            json!([text("one", "one\nfive"), text("five", "5")]),
            "ambiguous",
            "lines 2, 6; edits[0] of this call puts it in once more",
        ),
        (
            json!([text("four", "4"), { "lines": "3-4", "new_string": "x" }]),
            "invalid_input",
            "edits[0] of this call replaces a part of lines 3-4: join both",
        ),
        (
            json!([{ "lines": "3-4", "new_string": "x" }, { "lines": "4", "new_string": "y" }]),
            "invalid_input",
            "in edits[1]: line 4: edits[0] of this call replaces lines 3-4: join both",
        ),
        (
            json!([{ "lines": "2-3", "new_string": "x" }, text("two", "y")]),
            "no_match",
            "edits[0] of this call replaces line 2",
        ),
        (
            json!([{ "lines": "after 2", "new_string": "x" }, { "lines": "after 2", "new_string": "x" }]),
            "invalid_input",
            "edits[0] of this call makes the same change",
        ),
        (json!([text("two", "2"), text("zwei", "x")]), "no_match", "old_string was not found"),
    ] {
        let error = edits(&h, &entries).fails(kind);
        assert!(error.contains(words) && error.starts_with("in edits["), "{entries}: {error}");
        assert!(error.contains("none of the edits was applied") || error.contains("nothing was changed"), "{error}");
        assert_eq!(h.bytes("a.rs"), FILE.as_bytes());
    }
});

mcp_test!(change_of_text_that_another_entry_made_is_named, |h| {
    let answer = edits(&h, &json!([text("two", "zwei"), text("zwei", "deux")])).ok();
    assert!(answer.contains("edits[1] changes text that edits[0] of this call put in"), "{answer}");
    let answer = edits(&h, &json!([text("two", "2"), text("four", "4"), text("five", "5")])).ok();
    assert!(!answer.contains("of this call"), "{answer}");
    // In one of several files.
    h.write("b.rs", "two\n");
    h.call("read", json!({ "path": "b.rs" })).ok();
    let of = |path: &str, old: &str, new: &str| json!({ "path": path, "old_string": old, "new_string": new });
    let entries = json!([of("b.rs", "two", "2"), of("a.rs", "one", "1"), of("a.rs", "one\ntwo", "x")]);
    let error = edits(&h, &entries).fails("no_match");
    assert!(
        error.contains("in edits[2]") && error.contains("edits[1] of this call replaces line 1: join both"),
        "{error}"
    );
});

mcp_test!(entries_and_edits_may_be_json_text, |h| {
    let entry = text("two", "2").to_string();
    let cases = [
        json!([entry]),
        json!([entry, text("four", "4")]),
        json!(json!([entry]).to_string()),
        json!(entry),
        json!(json!([text("two", "2")]).to_string()),
    ];
    for entries in cases {
        edits(&h, &entries).ok();
        assert!(String::from_utf8(h.bytes("a.rs")).unwrap().starts_with("one\n2\nthree\n"), "{entries}");
    }
    let error = edits(&h, &json!([&entry[..entry.len() - 4]])).fails("invalid_input");
    assert!(error.contains("`edits[0]` is JSON text that ends too early"), "{error}");
    let error = edits(&h, &json!(["two"])).fails("invalid_input");
    assert!(error.contains("`edits[0]` must be an object"), "{error}");
    let error = edits(&h, &json!([json!({ "old": "two", "new_string": "2" }).to_string()])).fails("invalid_input");
    assert!(error.starts_with("in edits[0]: "), "{error}");
});

mcp_test!(files_may_be_objects_with_their_lines, |h| {
    let lines: String = (1..=50).map(|n| format!("fn f{n}() {{}}\n")).collect::<Vec<_>>().concat();
    h.write("a.rs", lines);
    h.write("b.rs", "b\n");
    let read = |files: Value| h.call("read", json!({ "files": files }));
    let whole = read(json!(["a.rs", "b.rs"])).ok();
    assert_eq!(read(json!([{ "path": "a.rs" }, { "file_path": "b.rs" }])).ok(), whole);
    assert_eq!(read(json!(json!([{ "path": "a.rs" }, "b.rs"]).to_string())).ok(), whole);
    let wanted = read(json!(["a.rs:10-12,20-21"])).ok();
    for ranges in [
        json!(["10-12", "20-21"]),
        json!("10-12, 20-21"),
        json!([[10, 12], [20, 21]]),
        json!([{ "start": 10, "end": 12 }, { "start_line": 20, "end_line": "21" }]),
    ] {
        for name in ["line_ranges", "ranges", "lines"] {
            assert_eq!(read(json!([{ "path": "a.rs", name: ranges }])).ok(), wanted, "{name} {ranges}");
        }
    }
    let wanted = read(json!(["a.rs:10-12"])).ok();
    for more in [
        json!({ "start_line": 10, "end_line": 12 }),
        json!({ "offset": 9, "limit": "3" }),
        json!({ "line_range": [10, 12] }),
        json!({ "ranges": "10-12", "offset": null, "part": "" }),
    ] {
        let mut file = more.clone();
        file["path"] = "a.rs".into();
        assert_eq!(read(json!([file])).ok(), wanted, "{more}");
    }
    assert_eq!(read(json!([{ "path": "a.rs", "start_line": 49 }])).ok(), read(json!(["a.rs:49-"])).ok());
    assert_eq!(read(json!([{ "path": "a.rs", "part": "fn f7" }])).ok(), read(json!(["a.rs:def f7"])).ok());
    for (file, words) in [
        (json!({ "path": "a.rs", "lines": "1-2", "offset": 3 }), "in several ways"),
        (json!({ "path": "a.rs", "colour": 1 }), "in paths[0]: unknown argument `colour`"),
        (json!({ "lines": "1-2" }), "`path` is missing"),
        (json!({ "path": "a.rs", "offset": -5 }), "a negative `offset` is for one file"),
    ] {
        let error = read(json!([file])).fails("invalid_input");
        assert!(error.contains(words), "{error}");
    }
});

mcp_test!(text_is_found_under_the_escapes_of_json, |h| {
    for (file, old, new, wanted) in [
        (r#"{"a": "caf\u00e9"}"#, "café", "thé", r#"{"a": "th\u00e9"}"#),
        (r#"{"a": "caf\u00E9"}"#, "café", "über", r#"{"a": "\u00FCber"}"#),
        (r#"{"a": "café"}"#, r"caf\u00e9", r"th\u00e9", r#"{"a": "thé"}"#),
        (r#"{"a": "\ud83d\ude00 x"}"#, "😀 x", "😀 y 🎉", r#"{"a": "\ud83d\ude00 y \ud83c\udf89"}"#),
        (r#"{"a": "😀 x"}"#, r"\ud83d\ude00 x", r"\ud83d\ude00 y", r#"{"a": "😀 y"}"#),
        (r#"{"a": "\u003cb\u003e"}"#, "<b>", "<i>", r#"{"a": "\u003ci\u003e"}"#),
    ] {
        h.write("a.json", format!("{file}\n"));
        h.call("read", json!({ "path": "a.json" })).ok();
        let answer = h.call("edit", json!({ "path": "a.json", "old_string": old, "new_string": new })).ok();
        assert_eq!(String::from_utf8(h.bytes("a.json")).unwrap(), format!("{wanted}\n"), "{old}");
        assert!(answer.contains("escapes taken for their characters"), "{answer}");
        // Elsewhere these are other texts.
        h.write("a.js", format!("{file}\n"));
        h.call("read", json!({ "path": "a.js" })).ok();
        h.call("edit", json!({ "path": "a.js", "old_string": old, "new_string": new })).fails("no_match");
    }
    h.write("b.json", r#"["\u00e9", "x\\", "\u00e9"]"#);
    h.call("read", json!({ "path": "b.json" })).ok();
    h.call("edit", json!({ "path": "b.json", "old_string": "\"é\"", "new_string": "\"e\"" })).fails("ambiguous");
    let all = json!({ "path": "b.json", "old_string": "é", "new_string": "ü", "replace_all": true });
    h.call("edit", all).ok();
    assert_eq!(h.bytes("b.json"), br#"["\u00fc", "x\\", "\u00fc"]"#);
    // A backslash and the text of an escape.
    h.write("c.json", r#"["\u00e9", "\\u00e9"]"#);
    h.call("read", json!({ "path": "c.json" })).ok();
    h.call("edit", json!({ "path": "c.json", "old_string": "é", "new_string": "ü", "replace_all": true }))
        .fails("no_match");
});
