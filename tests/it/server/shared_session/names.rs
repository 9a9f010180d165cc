//! Who made a change: in refusals, in the journal and in the events.

use std::fs;

use serde_json::{Value, json};

use crate::{
    harness::process::Process,
    harness::program::{Outcome, program},
    harness::{Harness, Setup},
};

fn with_state() -> Setup {
    Setup { state: true, ..Setup::default() }
}

fn edit(old: &str, new: &str) -> Value {
    json!({ "path": "f", "old_string": old, "new_string": new })
}

fn write(content: &str) -> Value {
    json!({ "path": "f", "content": content })
}

fn read() -> Value {
    json!({ "path": "f" })
}

fn journal(h: &Harness) -> String {
    let files = fs::read_dir(h.outside("state/history")).expect("a history");
    files.filter_map(|file| fs::read_to_string(file.expect("an entry").path()).ok()).collect()
}

#[test]
fn a_refused_overwrite_and_the_journal_name_the_thread() {
    let h = with_state().open();
    h.write("f", "one\ntwo\n");
    h.call_as("a1", "read", read()).ok();
    h.call_as("b2", "read", read()).ok();
    h.call_as("b2", "edit", edit("two", "two and more")).ok();
    let text = h.call_as("a1", "write", write("one\ntwo\nthree\n")).fails("stale");
    assert!(text.starts_with("f was changed by thread b2 after"), "{text}");
    assert!(journal(&h).contains(r#""by":"thread b2""#));
}

#[test]
fn a_label_counts_without_an_audit_and_a_client_where_nothing_else_is_known() {
    let label = |label: &str| Setup { options: labelled(label), ..with_state() };
    let cases = [
        (label("blue"), r#""by":"blue""#),
        (Setup { client: Some("some-client\nx"), ..with_state() }, r#""by":"some-client x""#),
        (Setup { client: Some("some-client"), ..label("blue") }, r#""by":"blue""#),
    ];
    for (setup, by) in cases {
        let h = setup.open();
        h.call("write", write("one\n")).ok();
        assert!(journal(&h).contains(by), "{by}: {}", journal(&h));
        h.call_as("b2", "write", json!({ "path": "g", "content": "x" })).ok();
        let named = if by.contains("blue") { "thread b2 (blue)" } else { "thread b2" };
        assert!(journal(&h).contains(&format!(r#""by":"{named}""#)), "{}", journal(&h));
    }
    let h = with_state().open();
    h.call("write", write("one\n")).ok();
    assert!(!journal(&h).contains(r#""by""#), "a call of this process has no name");
}

fn labelled(label: &str) -> rootbound::server::ServerOptions {
    rootbound::server::ServerOptions { label: Some(label.to_owned()), ..Default::default() }
}

#[test]
fn a_stale_file_names_who_changed_it_in_another_process() {
    let h = Setup { client: Some("some-client"), ..with_state() }.open();
    h.write("f", "one\ntwo\nthree\n");
    let mut other = h.other();
    h.call_as("a1", "read", read()).ok();
    h.exchange(&mut other);
    h.call_as("b2", "read", read()).ok();
    h.call_as("b2", "edit", edit("two", "two and more")).ok();
    h.exchange(&mut other);
    let text = h.call_as("a1", "write", write("one\ntwo\nthree\nfour\n")).fails("stale");
    assert!(text.starts_with("f has changed since it was read, by thread b2 in session "), "{text}");
    // The client is named where there is no thread.
    h.exchange(&mut other);
    h.call("edit", edit("three", "3")).ok();
    h.exchange(&mut other);
    let text = h.call_as("a1", "write", write("one\nnew\n")).fails("stale");
    assert!(text.starts_with("f has changed since it was read, by some-client in session "), "{text}");
    // Nobody is known for what another program does.
    h.write("f", "one\nby another program\n");
    let text = h.call_as("a1", "write", write("one\nnew\n")).fails("stale");
    assert!(text.starts_with("f has changed since it was read\n"), "{text}");
}

#[test]
fn an_outdated_rev_names_who_changed_the_file_since() {
    let h = with_state().open();
    h.write("f", "one\ntwo\nthree\n");
    let rev = h.call_as("a1", "read", read()).facts()["revision"].as_str().unwrap()[..8].to_owned();
    h.call_as("b2", "read", read()).ok();
    h.call_as("b2", "edit", edit("two", "2")).ok();
    let expected = json!({ "path": "f", "old_string": "three", "new_string": "3", "expected_revision": rev });
    let text = h.call_as("a1", "edit", expected.clone()).fails("stale");
    assert!(text.contains(&format!(", not at expected_revision {rev}; changed by thread b2\n")), "{text}");
    let lines = |lines: &str| json!({ "path": "f", "edits": [{ "lines": lines, "rev": rev, "new_string": "x\n" }] });
    let text = h.call_as("a1", "edit", lines("2-2")).fails("stale");
    assert!(text.contains(&format!("line 2 of f changed since rev {rev}, by thread b2\n")), "{text}");
    h.call_as("a1", "edit", edit("one", "1")).ok();
    let text = h.call_as("a1", "edit", expected.clone()).fails("stale");
    assert!(text.contains("; changed by thread b2 and you\n"), "{text}");
    let at = json!({ "path": "f", "content": "four\n", "mode": "append", "at": "3" });
    let text = h.call_as("a1", "write", at.clone()).fails("stale");
    assert!(text.contains("is not its end; last changed by you\n"), "{text}");
    let text = h.call_as("c3", "write", at).fails("stale");
    assert!(text.contains("is not its end; last changed by thread a1\n"), "{text}");
    h.write("f", "one\ntwo\nthree\nby another program\n");
    let text = h.call_as("a1", "edit", expected).fails("stale");
    assert!(text.contains("; changed by thread b2 and you\n"), "{text}");
}

#[test]
fn names_of_several_makers_are_listed_once_and_few() {
    let h = Harness::new();
    h.write("f", "0\nend\n");
    let rev = h.call_as("a1", "read", read()).facts()["revision"].as_str().unwrap()[..8].to_owned();
    for (n, thread) in ["b2", "c3", "b2", "d4", "e5"].iter().enumerate() {
        h.call_as(thread, "read", read()).ok();
        h.call_as(thread, "edit", edit(&format!("{n}\n"), &format!("{}\n", n + 1))).ok();
    }
    let expected = json!({ "path": "f", "old_string": "end", "new_string": "e", "expected_revision": rev });
    let text = h.call_as("a1", "edit", expected).fails("stale");
    assert!(text.contains("; changed by thread b2 and thread c3 and thread d4\n"), "{text}");
}

#[test]
fn events_have_who_and_which_session() {
    let dir = tempfile::Builder::new().prefix("rootbound-host-").tempdir().expect("a temporary folder");
    for folder in ["app", "logs"] {
        fs::create_dir(dir.path().join(folder)).expect("a folder");
    }
    let state = dir.path().join("state");
    let arguments = ["--root", "app", "--allow", "manage", "--events", "logs/events", "--audit-label", "blue"];
    let mut process = Process::start_remembering(dir.path(), &state, &arguments);
    process.initialize();
    let calls = [
        ("write", json!({ "path": "d/f", "content": "one\n" }), json!({ "thread_id": "b2" })),
        ("move", json!({ "source": "d", "destination": "e" }), json!({ "user_id": "u" })),
        ("write", json!({ "path": "e/f", "content": "two\n" }), json!({})),
        ("undo", json!({}), json!({})),
        ("delete", json!({ "path": "e", "recursive": true }), json!({ "thread_id": "x\n\u{1b}[31m" })),
    ];
    for (tool, arguments, meta) in calls {
        let answer = process.ask("tools/call", &json!({ "name": tool, "arguments": arguments, "_meta": meta }));
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    process.end_input();
    process.exit();
    let text = fs::read_to_string(dir.path().join("logs/events")).expect("a file");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let by: Vec<&str> = lines.iter().map(|line| line["by"].as_str().expect("who")).collect();
    let escaped = r"thread x \u{1b}[31m (blue)";
    assert_eq!(by, ["thread b2 (blue)", "thread b2 (blue)", "user u (blue)", "blue", "blue", escaped], "{text}");
    let session = lines[0]["session"].as_str().expect("a session");
    assert!(session.len() == 16 && lines.iter().all(|line| line["session"] == session), "{text}");
    // The session is the one of the history.
    let state = state.to_str().expect("a plain name");
    let listed = Outcome::of(program(dir.path()).args(["--root", "app", "--state-dir", state, "history"])).succeeded();
    assert!(listed.contains(&session[..8]) && listed.contains("(by test, thread b2 (blue))"), "{listed}");
}
