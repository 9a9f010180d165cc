//! Nobody changes what they were not shown: who changed which line, what the caller was shown since, and what it sends.

use std::fmt::Write as _;

use file_tools::{Group, Selection};
use serde_json::{Value, json};

use crate::harness::{Answer, Harness, Setup};

fn setup() -> Setup {
    let selection = Selection { groups: vec![Group::Manage, Group::Patch], ..Selection::default() };
    Setup { selection, state: true, ..Setup::default() }
}

fn text(n: usize) -> String {
    (1..=n).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "line{n} = {n};");
        text
    })
}

fn edit(old: &str, new: &str) -> Value {
    json!({ "path": "f", "old_string": old, "new_string": new })
}

fn on_disk(h: &Harness) -> String {
    String::from_utf8(h.bytes("f")).unwrap()
}

/// Replaces a text in the file, as an editor does.
fn person(h: &Harness, old: &str, new: &str) {
    assert!(on_disk(h).contains(old), "{old}");
    h.write("f", on_disk(h).replace(old, new));
}

/// A file of 60 lines that the caller `me` has read.
fn opened(me: &str) -> Harness {
    let h = setup().open();
    h.write("f", text(60));
    h.call_as(me, "read", json!({ "path": "f" })).ok();
    h
}

/// Who changes line 4.
const WHO: [&str; 3] = ["a person", "another process", "a sibling call"];
/// What the caller does between that and its edit of line 3.
const BETWEEN: [&str; 4] = ["nothing", "an own edit elsewhere", "a grep hit elsewhere", "a read of other lines"];

fn changed_by(h: &Harness, who: &str, sibling: &str) {
    match who {
        "a person" => person(h, "line4 = 4;", "line4 = 4 + x;"),
        "another process" => {
            let mut other = h.other();
            h.exchange(&mut other);
            h.call_as(sibling, "read", json!({ "path": "f" })).ok();
            h.call_as(sibling, "edit", edit("line4 = 4;", "line4 = 4 + x;")).ok();
            h.exchange(&mut other);
        }
        _ => {
            h.call_as(sibling, "read", json!({ "path": "f" })).ok();
            h.call_as(sibling, "edit", edit("line4 = 4;", "line4 = 4 + x;")).ok();
        }
    }
}

fn does(h: &Harness, me: &str, between: &str) {
    let call = |tool: &str, arguments: Value| h.call_as(me, tool, arguments).ok();
    match between {
        "an own edit elsewhere" => drop(call("edit", edit("line50 = 50;", "line50 = 5;"))),
        "a grep hit elsewhere" => drop(call("grep", json!({ "path": "f", "pattern": "line40" }))),
        "a read of other lines" => drop(call("read", json!({ "path": "f", "start_line": 20, "end_line": 30 }))),
        _ => {}
    }
}

#[track_caller]
fn refused_once(h: &Harness, me: &str, call: &Value) -> String {
    let tool = if call.get("patch").is_some() { "apply_patch" } else { "edit" };
    let before = on_disk(h);
    let error = h.call_as(me, tool, call.clone()).fails("stale");
    assert_eq!(on_disk(h), before);
    let shown = error.contains("+line4 = 4 + x;") && error.contains("-line4 = 4;");
    assert!(shown && error.contains("counts as read"), "{error}");
    h.call_as(me, tool, call.clone()).ok();
    assert_ne!(on_disk(h), before);
    error
}

#[test]
fn an_edit_beside_a_change_that_was_not_shown_is_refused_in_twelve_ways() {
    for who in WHO {
        for between in BETWEEN {
            let h = opened("me");
            changed_by(&h, who, "another");
            does(&h, "me", between);
            let error = refused_once(&h, "me", &edit("line3 = 3;", "line3 = 30;"));
            let maker = if who == "a person" { "since it was read\n" } else { "since it was read, by thread another" };
            assert!(error.starts_with(&format!("f has changed {maker}")), "{who}, {between}: {error}");
        }
    }
}

#[test]
fn callers_that_cannot_be_told_apart_are_one() {
    for between in BETWEEN {
        let h = setup().open();
        h.write("f", text(60));
        h.call("read", json!({ "path": "f" })).ok();
        for (old, new) in [("line4 = 4;", "line4 = 4 + x;"), ("line50 = 50;", "line50 = 5;"), ("line3 = 3;", "x;")] {
            let text = h.call("edit", edit(old, new)).ok();
            assert!(!text.contains("changed by"), "{between}: {text}");
        }
    }
}

/// What is sent for line 3, by whichever form.
fn forms() -> Vec<(&'static str, Value)> {
    let entry = |entry: Value| json!({ "path": "f", "edits": [entry] });
    vec![
        ("text", edit("line3 = 3;", "line3 = 30;")),
        ("lines that it names", edit("line2 = 2;\nline3 = 3;\n", "line3 = 30;\n")),
        ("another casing of nothing", edit("line3 = 3;\n", "")),
        ("every place", json!({ "path": "f", "old_string": "line3 =", "new_string": "row3 =", "replace_all": true })),
        ("an insertion", edit("line3 = 3;\n", "line3 = 3;\nnew;\n")),
        (
            "several entries",
            json!({ "edits": [
                { "path": "g", "old_string": "g", "new_string": "h" },
                { "path": "f", "old_string": "line3 = 3;", "new_string": "line3 = 30;" },
            ]}),
        ),
        (
            "a glob",
            json!({ "edits": [{ "glob": "f*", "old_string": "line3 = 3;", "new_string": "x;", "replace_all": true }] }),
        ),
        ("text of another file", entry(json!({ "old_string": "line3 = 3;\n", "new_from": "g:1-1" }))),
        ("a patch", json!({ "patch": "--- a/f\n+++ b/f\n@@ -3 +3 @@\n-line3 = 3;\n+line3 = 30;\n" })),
    ]
}

#[test]
fn every_form_of_an_edit_is_checked() {
    for who in WHO {
        for (form, call) in forms() {
            let h = opened("me");
            h.write("g", "g\n");
            h.call_as("me", "read", json!({ "path": "g" })).ok();
            changed_by(&h, who, "another");
            does(&h, "me", "an own edit elsewhere");
            let answer = refused_once(&h, "me", &call);
            assert!(answer.contains("f has changed since it was read"), "{form}: {answer}");
        }
        for lines in ["3", "after 3", "after 4"] {
            let h = opened("me");
            let rev =
                h.call_as("me", "read", json!({ "path": "f" })).facts()["revision"].as_str().unwrap()[..8].to_owned();
            changed_by(&h, who, "another");
            let entry = json!({ "lines": lines, "rev": rev, "new_string": "line = 30;\n" });
            let call = json!({ "path": "f", "edits": [entry] });
            let error = h.call_as("me", "edit", call).fails("stale");
            assert!(error.contains("+line4 = 4 + x;"), "{lines}: {error}");
        }
    }
}

#[test]
fn a_line_that_holds_more_by_now_is_shown_first() {
    for between in BETWEEN {
        let h = opened("me");
        person(&h, "line10 = 10;", "line10 = 10 + x;");
        does(&h, "me", between);
        let call = edit("line10 = 10", "line10 = 5");
        assert!(h.call_as("me", "edit", call.clone()).fails("stale").contains("+line10 = 10 + x;"));
        h.call_as("me", "edit", call).ok();
    }
}

#[test]
fn what_was_shown_or_is_far_away_is_no_obstacle() {
    type Step = fn(&Harness) -> Answer;
    let shown: [(&str, Step); 6] = [
        ("a read of these lines", |h| h.call("read", json!({ "path": "f", "limit": 10 }))),
        ("a grep hit with the lines around", |h| {
            h.call("grep", json!({ "path": "f", "pattern": "line3 ", "context": 3 }))
        }),
        ("a grep hit of the line", |h| h.call("grep", json!({ "path": "f", "pattern": "line4 " }))),
        ("all of it", |h| h.call("read", json!({ "path": "f" }))),
        ("an own change of the line", |h| {
            h.call(
                "edit",
                json!({ "path": "f", "old_string": "4 + x", "new_string": "9", "expected_revision": rev(h) }),
            )
        }),
        ("that it is as before", |h| {
            person(h, "line4 = 4 + x;", "line4 = 4;");
            h.call("ls", json!({}))
        }),
    ];
    for (what, show) in shown {
        let h = setup().open();
        h.write("f", text(60));
        h.call("read", json!({ "path": "f" })).ok();
        person(&h, "line4 = 4;", "line4 = 4 + x;");
        show(&h).ok();
        let answer = h.call("edit", edit("line3 = 3;", "line3 = 30;"));
        assert!(answer.error_kind().is_none(), "{what}: {}", answer.text());
    }
    // Four lines away, above and below, changed, inserted or gone, and with numbers that have moved.
    for (old, new) in [
        ("line16 = 16;", "x;"),
        ("line24 = 24;", "x;"),
        ("line1 = 1;\n", "1;\n2;\n3;\n"),
        ("line16 = 16;\n", "line16 = 16;\nx;\n"),
        ("line16 = 16;\n", ""),
        ("line24 = 24;\n", ""),
    ] {
        for (edited, is_made) in
            [("line20 = 20;", true), ("line23 = 23;", !old.contains("24")), ("line17 = 17;", !old.contains("16"))]
        {
            let h = opened("me");
            person(&h, old, new);
            let answer = h.call_as("me", "edit", edit(edited, "y;"));
            assert_eq!(answer.error_kind().is_none(), is_made, "{old:?} {edited}: {}", answer.text());
        }
    }
}

fn rev(h: &Harness) -> String {
    confined_fs::Revision::of(&h.bytes("f")).to_string()
}

#[test]
fn line_endings_and_encodings_make_no_difference() {
    let (plain, changed) = (text(30), text(30).replace("line4 = 4;", "line4 = 4 + x;"));
    let utf16 = |text: &str| [b"\xff\xfe".to_vec(), text.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat();
    let latin = |text: &str| [b"caf\xe9 d\xe9j\xe0 vu\n".as_slice(), text.as_bytes()].concat();
    let crlf = |text: &str| text.replace('\n', "\r\n").into_bytes();
    for (was, now) in [
        (utf16(&plain), utf16(&changed)),
        (latin(&plain), latin(&changed)),
        (crlf(&plain), crlf(&changed)),
        (plain.trim_end().into(), changed.trim_end().into()),
    ] {
        let h = setup().open();
        h.write("f", was);
        h.call("read", json!({ "path": "f" })).ok();
        h.write("f", &now);
        h.call("edit", edit("line20 = 20;", "x;")).ok();
        let error = h.call("edit", edit("line3 = 3;", "y;")).fails("stale");
        assert!(error.contains("+line4 = 4 + x;") && !error.contains("+x;"), "{error}");
        h.call("edit", edit("line3 = 3;", "y;")).ok();
    }
}

#[test]
fn each_change_of_several_is_shown_where_it_matters() {
    let h = opened("me");
    changed_by(&h, "a sibling call", "another");
    person(&h, "line30 = 30;", "line30 = 3;");
    for (line, maker) in [("line31 = 31;", "\n"), ("line3 = 3;", ", by thread another\n")] {
        // The first refusal shows all of it.
        let h2 = opened("me");
        changed_by(&h2, "a sibling call", "another");
        person(&h2, "line30 = 30;", "line30 = 3;");
        let error = h2.call_as("me", "edit", edit(line, "x;")).fails("stale");
        assert!(error.starts_with(&format!("f has changed since it was read{maker}")), "{error}");
    }
    h.call_as("me", "edit", edit("line31 = 31;", "x;")).fails("stale");
    h.call_as("me", "edit", edit("line3 = 3;", "x;")).ok();
}

#[test]
fn of_a_large_change_the_lines_beside_the_edit_are_shown() {
    let h = setup().open();
    h.write("f", text(400));
    h.call("read", json!({ "path": "f" })).ok();
    let mut now = text(400).replace("line4 = 4;", "line4 = 4 + x;");
    for n in 100..200 {
        now = now.replace(&format!("line{n} ="), &format!("row{n} ="));
    }
    h.write("f", now);
    let error = h.call("edit", edit("line3 = 3;", "x;")).fails("stale");
    assert!(error.contains("+line4 = 4 + x;") && !error.contains("row100"), "{error}");
    h.call("edit", edit("line3 = 3;", "x;")).ok();
    assert!(h.call("edit", edit("line99 = 99;", "x;")).fails("stale").contains("read it again"));
}

#[test]
fn a_file_too_large_to_be_kept_is_refused_once_unless_the_lines_were_shown() {
    let large = |first: &str| format!("{first}\n{}", "a line of a large file\n".repeat(150_000)) + "the end\n";
    let h = setup().open();
    h.write("f", large("one"));
    h.call("read", json!({ "path": "f", "limit": 5 })).ok();
    h.call("edit", edit("the end\n", "an end\n")).ok();
    h.write("f", on_disk(&h).replace("one\n", "two\n"));
    let call = edit("an end\n", "the end\n");
    h.call("edit", call.clone()).fails("stale");
    h.call("edit", call).ok();
    h.call("edit", edit("the end\n", "an end\n")).ok();
    h.write("f", on_disk(&h).replace("two\n", "three\n"));
    h.call("read", json!({ "path": "f", "limit": 9 })).ok();
    h.call("edit", edit("three\n", "four\n")).ok();
}

#[test]
fn a_process_for_each_call_is_one_caller() {
    for (between, is_refused) in BETWEEN.into_iter().zip([true, true, true, true]) {
        let h = opened("me");
        h.restart();
        person(&h, "line4 = 4;", "line4 = 4 + x;");
        // Its own edit elsewhere is refused once, as what it has read is kept nowhere.
        if between == "an own edit elsewhere" {
            h.call_as("me", "edit", edit("line50 = 50;", "line50 = 5;")).fails("stale");
            continue;
        }
        does(&h, "me", between);
        h.restart();
        let call = edit("line3 = 3;", "x;");
        assert_eq!(h.call_as("me", "edit", call.clone()).error_kind(), is_refused.then_some("stale"), "{between}");
        h.restart();
        h.call_as("me", "edit", call).ok();
        h.restart();
        h.call_as("me", "edit", edit("line2 = 2;", "y;")).ok();
    }
    // What was changed by a server is kept, so that it can be compared; lines that were shown since count.
    let h = opened("me");
    h.restart();
    changed_by(&h, "another process", "another");
    h.call_as("me", "edit", edit("line50 = 50;", "line50 = 5;")).ok();
    h.restart();
    refused_once(&h, "me", &edit("line3 = 3;", "x;"));
    let h = opened("me");
    h.restart();
    person(&h, "line4 = 4;", "line4 = 4 + x;");
    h.call_as("me", "read", json!({ "path": "f", "limit": 10 })).ok();
    h.restart();
    h.call_as("me", "edit", edit("line3 = 3;", "x;")).ok();
}

#[test]
fn a_file_that_only_grew_is_refused_once_with_append_as_the_way() {
    let more = "written by a program\n";
    for (tool, call) in
        [("edit", edit("line3 = 3;", "x;")), ("write", json!({ "path": "f", "content": "another text\n" }))]
    {
        let h = opened("me");
        h.write("f", text(60) + more);
        let error = h.call_as("me", tool, call.clone()).fails("stale");
        assert!(error.contains("mode=append") && error.contains(more.trim_end()), "{error}");
        h.call_as("me", tool, call).ok();
    }
    let h = opened("me");
    h.write("f", text(60) + more);
    h.call_as("me", "edit", edit("line60 = 60;\n", "x;\n")).fails("stale");
    h.call_as("me", "edit", edit("line60 = 60;\n", "x;\n")).ok();
    h.call_as("me", "edit", edit("line3 = 3;", "x;")).ok();
}

/// What replaces or removes the file `f`, unseen.
fn removals() -> Vec<(&'static str, Value)> {
    vec![
        ("write", json!({ "path": "f", "content": "another text\n" })),
        ("delete", json!({ "path": "f" })),
        ("move", json!({ "source": "g", "destination": "f", "overwrite": true })),
        ("copy", json!({ "source": "g", "destination": "f", "overwrite": true })),
        ("apply_patch", json!({ "patch": "*** Begin Patch\n*** Delete File: f\n*** End Patch" })),
        ("apply_patch", json!({ "patch": "*** Begin Patch\n*** Delete File: f\n*** Add File: f\n+x\n*** End Patch" })),
    ]
}

#[test]
fn what_a_process_that_lives_was_shown_counts_for_edits_alone() {
    for (tool, call) in removals() {
        let h = setup().open();
        h.write("f", text(60));
        h.write("g", "g\n");
        let mut other = h.other();
        h.exchange(&mut other);
        h.call("read", json!({ "path": "f" })).ok();
        h.exchange(&mut other);
        let error = h.call(tool, call.clone()).fails("not_read");
        assert_eq!(error.contains("expected_revision"), tool == "write", "{error}");
        assert_eq!(on_disk(&h), text(60));
        drop(other);
        h.call(tool, call).ok();
    }
    let h = setup().open();
    h.write("f", text(60));
    let mut other = h.other();
    h.exchange(&mut other);
    h.call("read", json!({ "path": "f" })).ok();
    h.exchange(&mut other);
    h.call("write", json!({ "path": "f", "content": text(50), "expected_revision": rev(&h) })).ok();
    h.exchange(&mut other);
    h.write("g", text(60));
    h.call("read", json!({ "path": "g" })).ok();
    h.exchange(&mut other);
    // A number is no text of the file.
    let lines = json!({ "path": "g", "edits": [{ "lines": "3", "new_string": "x;" }] });
    assert!(h.call("edit", lines).fails("invalid_input").contains("`rev` is missing"));
    h.call("edit", json!({ "path": "g", "old_string": "line3 = 3;", "new_string": "x;" })).ok();
    // Beside a server that lives, a client with a process for each call.
    for n in 0..3 {
        h.restart();
        h.call("read", json!({ "path": "f" })).ok();
        h.restart();
        h.call("write", json!({ "path": "f", "content": format!("version {n}\n") })).ok();
    }
    h.restart();
    h.call("delete", json!({ "path": "f" })).ok();
}

#[test]
fn an_own_state_comes_back_after_a_read_of_the_whole_file() {
    for thread in [None, Some("me")] {
        let call = |h: &Harness, tool: &str, arguments: Value| match thread {
            None => h.call(tool, arguments),
            Some(thread) => h.call_as(thread, tool, arguments),
        };
        let h = setup().open();
        h.write("f", text(10));
        let write = |n: usize| json!({ "path": "f", "content": text(n) });
        call(&h, "read", json!({ "path": "f" })).ok();
        for n in [12, 15] {
            call(&h, "write", write(n)).ok();
        }
        call(&h, "edit", edit("line3 = 3;", "x;")).ok();
        // Not seen since: it may be a call from before.
        call(&h, "write", write(12)).fails("stale");
        call(&h, "edit", edit("x;", "y;")).ok();
        call(&h, "read", json!({ "path": "f" })).ok();
        call(&h, "write", write(12)).ok();
        call(&h, "read", json!({ "path": "f" })).ok();
        call(&h, "write", write(15)).ok();
        // What it was shown first, where nobody else has changed anything since.
        let h = setup().open();
        h.write("f", text(10));
        call(&h, "read", json!({ "path": "f" })).ok();
        call(&h, "write", write(12)).ok();
        call(&h, "read", json!({ "path": "f" })).ok();
        call(&h, "write", write(10)).ok();
    }
    // Not what another one has made.
    let h = opened("me");
    h.call_as("another", "read", json!({ "path": "f" })).ok();
    h.call_as("another", "write", json!({ "path": "f", "content": text(62) })).ok();
    h.call_as("me", "read", json!({ "path": "f" })).ok();
    h.call_as("me", "edit", edit("line3 = 3;", "x;")).ok();
    h.call_as("another", "read", json!({ "path": "f" })).ok();
    h.call_as("me", "write", json!({ "path": "f", "content": text(62) })).fails("stale");
}
