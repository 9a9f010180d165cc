//! Content is written as sent: numbers, line endings, encodings, and files that are no longer text.

use std::fs;

use file_tools::{Group, Selection};
use serde_json::{Value, json};

use crate::{
    harness::process::Process,
    harness::program::{Outcome, program},
    harness::{Harness, Setup, mcp_test},
};

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

/// Calls a tool with arguments exactly as spelled.
fn call_raw(process: &mut Process, id: u32, tool: &str, arguments: &str) -> Value {
    process.line(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    ));
    process.next().expect("an answer")
}

#[test]
fn a_number_as_content_keeps_its_spelling() {
    let dir = tempfile::tempdir().unwrap();
    let mut process = Process::start(dir.path(), &[]);
    process.initialize();
    let spellings =
        ["1.10", "1e5", "1E+2", "-0.0", "-0", "1.0", "12345678901234567890123", "1e400", "17", "true", "false"];
    for (id, number) in (100..).zip(spellings) {
        for argument in ["content", "file_text"] {
            let arguments = format!(r#"{{"path":"n.txt","mode":"overwrite","{argument}":{number}}}"#);
            let answer = call_raw(&mut process, id, "write", &arguments);
            assert_eq!(answer["result"]["isError"], false, "{answer}");
            assert_eq!(fs::read_to_string(dir.path().join("n.txt")).unwrap(), number);
        }
    }
    call_raw(&mut process, 300, "write", r#"{"path":"v.toml","content":"v = 1.10\nw = 2e3\n"}"#);
    let edits = r#"{"path":"v.toml","edits":[{"old_string":1.10,"new_string":1.20},{"oldText":2e3,"newText":3E3}]}"#;
    let answer = call_raw(&mut process, 301, "edit", edits);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    let in_text = r#"{"path":"v.toml","edits":"[{\"old_string\":1.20,\"new_string\":1.30}]"}"#;
    call_raw(&mut process, 302, "edit", in_text);
    assert_eq!(fs::read_to_string(dir.path().join("v.toml")).unwrap(), "v = 1.30\nw = 3E3\n");
    // Scalars are read as before.
    let answer = call_raw(&mut process, 303, "read", r#"{"path":"v.toml","limit":1.0e0,"offset":"1"}"#);
    assert!(text(&answer).contains("w = 3E3"), "{answer}");
    let answer = call_raw(&mut process, 304, "read", r#"{"path":"v.toml","limit":1.50}"#);
    assert!(text(&answer).starts_with("`limit` must be a whole number, not 1.50\n"), "{answer}");
    let answer = call_raw(&mut process, 305, "write", r#"{"path":"o","content":{"a":1}}"#);
    assert!(text(&answer).starts_with("`content` must be a text, not {\"a\":1}"), "{answer}");
    let answer = call_raw(&mut process, 306, "write", r#"{"path":"o","content":null}"#);
    assert!(text(&answer).starts_with("the argument `content` is missing; the request may have been cut"), "{answer}");
}

#[test]
fn a_number_keeps_its_spelling_on_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    for words in [&[r#"{"path":"n.txt","content":1.10}"#][..], &["path=n.txt", "content=1.10"]] {
        let options = ["--state-dir", "off", "--read-before-write", "off", "call", "write"];
        Outcome::of(program(dir.path()).args(options).args(words)).succeeded();
        assert_eq!(fs::read_to_string(dir.path().join("n.txt")).unwrap(), "1.10");
    }
}

fn appended(before: &[u8], content: &str) -> (Vec<u8>, String) {
    let h = Harness::new();
    h.write("f", before);
    h.call("read", json!({ "path": "f" })).ok();
    let answer = h.call("write", json!({ "path": "f", "content": content, "mode": "append" })).ok();
    (h.bytes("f"), answer)
}

#[test]
fn appended_text_takes_the_line_endings_of_the_last_line() {
    for (before, content, after) in [
        (&b"a\rb\r"[..], "c\nd\n", &b"a\rb\rc\nd\n"[..]),
        (b"a\r\nb\r\n", "c\nd\n", b"a\r\nb\r\nc\r\nd\r\n"),
        (b"a\nb\r\n", "c\nd\n", b"a\nb\r\nc\r\nd\r\n"),
        (b"a\r\nb\n", "c\nd\n", b"a\r\nb\nc\nd\n"),
        (b"a\n10%\r20%\r", "c\n", b"a\n10%\r20%\rc\n"),
        (b"a\r\nb", "\nc", b"a\r\nb\r\nc"),
        (b"a\n", "c\r\n", b"a\nc\r\n"),
        (b"a", "\nc\n", b"a\nc\n"),
        (b"\xef\xbb\xbfa\r", "b\n", b"\xef\xbb\xbfa\rb\n"),
        (b"\xff\xfea\0\r\0\n\0", "b\n", b"\xff\xfea\0\r\0\n\0b\0\r\0\n\0"),
        // UTF-16 without a BOM, only ASCII.
        (b"h\0e\0l\0l\0o\0\n\0", "b\n", b"h\0e\0l\0l\0o\0\n\0b\0\n\0"),
    ] {
        assert_eq!(appended(before, content).0, after, "{before:?} + {content:?}");
    }
}

#[test]
fn an_append_says_what_was_appended() {
    let (_, text) = appended(b"one\ntwo\n", "three\nfour\n");
    assert!(text.starts_with("Appended 11 bytes, 2 lines (now 19 bytes, 4 lines), rev c45d3a\n\n"), "{text}");
    assert!(text.ends_with("+three\n+four"), "{text}");
    let (_, text) = appended(b"a\r\nb\r\n", "c\n");
    assert!(text.contains("; CRLF line endings kept") && text.ends_with("+c\r"), "{text}");
    let (_, text) = appended(b"a\n", "c\r\n");
    assert!(text.contains("the content has CRLF line endings, but the file has LF"), "{text}");
    let (_, text) = appended(b"a\n", &"line\n".repeat(200));
    assert!(text.lines().count() < 70 && text.contains("more lines of diff"), "{text}");
}

#[test]
fn a_character_that_the_encoding_lacks_is_reported() {
    let h = Harness::new();
    h.write("latin", b"caf\xe9 cr\xe8me br\xfbl\xe9e\n");
    h.call("read", json!({ "path": "latin" })).ok();
    let error =
        h.call("write", json!({ "path": "latin", "content": "5 → 6\n", "mode": "append" })).fails("invalid_input");
    assert!(error.contains("'→' (U+2192)") && error.contains("windows-1252"), "{error}");
    let text = h.call("write", json!({ "path": "latin", "content": "5 → 6\n" })).ok();
    assert!(text.contains("now in UTF-8, because windows-1252 has no '→' (U+2192)"), "{text}");
    // Half a character at the end would consume half of the next.
    h.write("odd", b"\xff\xfea\0\n\0b");
    h.call("read", json!({ "path": "odd" })).ok();
    h.call("write", json!({ "path": "odd", "content": "c", "mode": "append" })).fails("invalid_input");
    assert_eq!(h.bytes("odd"), b"\xff\xfea\0\n\0b");
}

#[test]
fn uniform_crlf_survives_an_overwrite() {
    let h = Harness::new();
    h.write("f", b"a\r\nb\r\n");
    h.call("read", json!({ "path": "f" })).ok();
    let text = h.call("write", json!({ "path": "f", "content": "c\nd\n" })).ok();
    assert!(text.contains("; CRLF line endings kept"), "{text}");
    assert_eq!(h.bytes("f"), b"c\r\nd\r\n");
}

#[test]
fn a_file_that_became_binary_is_reported_with_a_next_step() {
    let h = Harness::new();
    let write = |content: &str, revision: Option<&str>| {
        h.call("write", json!({ "path": "f", "content": content, "expected_revision": revision }))
    };
    for seen in [true, false] {
        let _ = fs::remove_file(h.path("f"));
        h.write("f", "text\n");
        if seen {
            h.call("read", json!({ "path": "f" })).ok();
        } else {
            h.restart();
        }
        h.write("f", [&b"\x7fELF\x02\x01\x01"[..], &[0; 57]].concat());
        let kind = if seen { "binary" } else { "not_read" };
        let edit = json!({ "path": "f", "old_string": "text", "new_string": "x" });
        let append = json!({ "path": "f", "content": "x", "mode": "append" });
        // An append needs no read.
        let calls = [(h.call("edit", edit), kind), (write("x", None), kind), (h.call("write", append), "binary")];
        for (error, kind) in calls {
            let error = error.fails(kind);
            assert!(error.contains("ELF executable, 64 bytes"), "{error}");
            assert!(!error.contains("read it"), "{error}");
            let (_, revision) = error.split_once("expected_revision=").expect("the way out");
            if seen {
                continue;
            }
            let error = h
                .call(
                    "edit",
                    json!({ "path": "f", "old_string": "a", "new_string": "b", "expected_revision": revision }),
                )
                .fails("binary");
            assert!(error.contains(revision), "{error}");
        }
        let error = write("x", None).fails(kind);
        let (_, revision) = error.split_once("expected_revision=").expect("the way out");
        write("new\n", Some(revision)).ok();
        assert_eq!(h.bytes("f"), b"new\n");
    }
}

#[test]
fn every_diff_is_cut_to_sixty_lines() {
    let selection = Selection { groups: vec![Group::Manage], ..Selection::default() };
    let h = Setup { selection, ..Setup::default() }.open();
    let long = (0..1500).fold(String::new(), |text, n| text + "line " + &n.to_string() + "\n");
    let cut = |answer: String| {
        assert!(answer.lines().count() <= 70 && answer.len() < 10_000, "{} lines", answer.lines().count());
        assert!(answer.contains("more lines of diff"), "{answer}");
    };
    cut(h.call("edit", json!({ "path": "a", "old_string": "", "new_string": long })).ok());
    let all = json!({ "path": "a", "old_string": "line", "new_string": "row", "replace_all": true });
    let mut dry = all.clone();
    dry["dry_run"] = true.into();
    cut(h.call("edit", dry).ok());
    cut(h.call("edit", all).ok());
    cut(h.call("undo", json!({ "dry_run": true })).ok());
    // What is known is not shown again.
    assert!(h.call("undo", json!({})).ok().ends_with("(+1500 -1500 lines)"));
    let edits: Vec<Value> =
        (0..100).map(|n| json!({ "old_string": format!("line {n}\n"), "new_string": format!("row {n}\n") })).collect();
    cut(h.call("edit", json!({ "path": "a", "edits": edits })).ok());
    cut(h.call("write", json!({ "path": "a", "content": long.to_uppercase() })).ok());
}

#[test]
fn an_image_is_shown_only_if_it_decodes() {
    use image::{DynamicImage, ImageFormat};
    let h = Harness::new();
    let picture = DynamicImage::new_rgb8(40, 30);
    for (name, format) in
        [("png", ImageFormat::Png), ("jpeg", ImageFormat::Jpeg), ("gif", ImageFormat::Gif), ("webp", ImageFormat::WebP)]
    {
        let mut bytes = std::io::Cursor::new(Vec::new());
        picture.write_to(&mut bytes, format).unwrap();
        let bytes = bytes.into_inner();
        h.write("whole", &bytes);
        let answer = h.call("read", json!({ "path": "whole" }));
        assert_eq!((&answer.facts()["width"], answer.content().len()), (&json!(40), 1), "{name}: {}", answer.ok());
        h.write("cut", &bytes[..bytes.len() * 3 / 4]);
        let answer = h.call("read", json!({ "path": "cut" }));
        let text = answer.fails("binary");
        assert!(answer.content().len() == 1 && text.starts_with("cut is "), "{name}: {text}");
        // It cannot have been read, and is replaced with the revision that the error names.
        let error = h.call("write", json!({ "path": "cut", "content": "x" })).fails("not_read");
        let (_, revision) = error.split_once("expected_revision=").expect("the way out");
        h.call("write", json!({ "path": "cut", "content": "x", "expected_revision": revision })).ok();
        fs::remove_file(h.path("cut")).unwrap();
        h.restart();
    }
}

mcp_test!(edit_says_which_encoding_and_line_endings_were_kept, |h| {
    h.write("a.txt", b"one\r\nK\xe4se mit Br\xf6tchen f\xfcr alle\r\n");
    h.write("b.txt", "one\r\ntwo\r\n");
    for path in ["a.txt", "b.txt"] {
        h.call("read", json!({ "path": path })).ok();
    }
    let edit = |path: &str, old: &str, new: &str| {
        h.call("edit", json!({ "path": path, "old_string": old, "new_string": new })).ok()
    };
    let text = edit("a.txt", "one", "eins\nzwei");
    assert!(text.contains("; line endings CRLF and windows-1252 kept"), "{text}");
    let text = edit("a.txt", "eins", "null");
    assert!(text.contains("; line endings CRLF and windows-1252 kept"), "{text}");
    let text = edit("b.txt", "one", "1");
    assert!(text.contains("; line endings CRLF kept"), "{text}");
    let text = edit("b.txt", "1\ntwo", "1\n2");
    assert!(text.contains("; line endings CRLF kept"), "{text}");
    assert_eq!(h.bytes("b.txt"), b"1\r\n2\r\n");
});

mcp_test!(short_rev_that_was_made_to_collide_does_not_pass_for_what_was_read, |h| {
    let (was, made) = ("def pay():\n    return 1\n", "def pay():\n    steal()  # 8237044\n");
    h.write("a.py", was);
    let rev = |text: &str| text.rsplit_once("rev ").expect("a rev").1[..6].to_owned();
    assert_eq!(rev(&h.call("read", json!({ "path": "a.py" })).ok()), "2d4253");
    h.write("a.py", made);
    let write = || h.call("write", json!({ "path": "a.py", "content": "x\n", "expected_revision": "2d4253" }));
    let text = write().fails("stale");
    assert!(text.contains("has changed since it was read") && text.contains("+    steal()"), "{text}");
    assert_eq!(h.bytes("a.py"), made.as_bytes());
    write().ok();
});

mcp_test!(an_overwrite_that_loses_most_of_a_file_says_so, |h| {
    let long = (0..100).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
    let write = |content: &str| h.call("write", json!({ "path": "a.txt", "content": content })).ok();
    write(&long);
    let text = write("// … the rest of the file\n");
    assert!(text.contains("; most of the file is gone: it had 789 bytes, 100 lines"), "{text}");
    assert!(text.contains(" more lines of diff"), "{text}");
    write("short\n");
    for content in [long.as_str(), &long[..600], "", "x\n"] {
        let text = write(content);
        assert_eq!(text.contains("most of the file is gone"), content.is_empty(), "{text}");
    }
});

mcp_test!(hidden_characters_in_a_diff_are_pointed_out, |h| {
    h.write("a.rs", "if admin\u{202e} {\n");
    h.call("read", json!({ "path": "a.rs" })).ok();
    let edit = json!({ "path": "a.rs", "old_string": "{\n", "new_string": "{\nlet x\u{200b} = 1;\n", "dry_run": true });
    let places = "\n(hidden characters: U+202E at 1:9, U+200B at +2:6)";
    assert!(h.call("edit", edit.clone()).ok().ends_with(places));
    h.write("a.rs", "if admin {\n}\n");
    assert!(h.call("edit", edit).fails("stale").ends_with("\n(hidden characters: U+202E at -1:9)"));
    let text = h.call("write", json!({ "path": "a.rs", "content": "if a\u{a0}b {\n}\n" })).ok();
    assert!(text.ends_with("\n(hidden characters: U+00A0 at +1:5)"), "{text}");
    // A new file has no diff.
    let text = h.call("write", json!({ "path": "new.rs", "content": "a\nb\u{feff}c\n" })).ok();
    assert!(text.ends_with("\n(hidden characters: U+FEFF at 2:2)"), "{text}");
    let text = h.call("write", json!({ "path": "marked.rs", "content": "\u{feff}a\n" })).ok();
    assert!(!text.contains("hidden"), "{text}");
});
