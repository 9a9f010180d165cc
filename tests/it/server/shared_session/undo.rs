//! `undo` takes back the changes of its own caller, where callers can be told apart.

use file_tools::{Group, Selection};
use serde_json::{Value, json};

use crate::harness::{Answer, Harness, Setup};

fn setup() -> Setup {
    let selection = Selection { groups: vec![Group::Manage], ..Selection::default() };
    Setup { selection, state: true, ..Setup::default() }
}

fn content(h: &Harness, path: &str) -> String {
    String::from_utf8(h.bytes(path)).expect("text")
}

fn write(h: &Harness, thread: &str, path: &str, content: &str) {
    h.call_as(thread, "write", json!({ "path": path, "content": content })).ok();
}

fn undo(h: &Harness, thread: &str, arguments: Value) -> Answer {
    h.call_as(thread, "undo", arguments)
}

#[test]
fn a_plain_undo_takes_back_no_change_of_another_caller() {
    let h = setup().open();
    write(&h, "a1", "f", "a\n");
    write(&h, "b2", "g", "b\n");
    let text = undo(&h, "a1", json!({})).ok();
    assert!(text.ends_with("Deleted f, which had been created"), "{text}");
    assert!(h.exists("g") && !h.exists("f"));
    let text = undo(&h, "a1", json!({})).fails("not_found");
    let message = "the last change of this session was made by thread b2 (write of g); undo without a path takes back your \
        own changes only\n\nhint: leave it as it is, or pass path=g to take it back";
    assert_eq!(text, message);
    // With the path it is taken back, and the answer says whose it was.
    let text = undo(&h, "a1", json!({ "path": "g" })).ok();
    assert!(text.starts_with("Deleted g, which had been created by thread b2\n"), "{text}");
    let text = undo(&h, "b2", json!({})).fails("not_found");
    assert!(text.starts_with("this session has made no change that could be undone"), "{text}");
}

#[test]
fn redo_takes_back_no_undo_of_another_caller() {
    let h = setup().open();
    write(&h, "a1", "f", "a\n");
    write(&h, "b2", "g", "b\n");
    undo(&h, "a1", json!({})).ok();
    undo(&h, "b2", json!({ "to": "redo" })).fails("not_found");
    undo(&h, "b2", json!({})).ok();
    undo(&h, "a1", json!({ "to": "redo" })).ok();
    assert!(h.exists("f") && !h.exists("g"));
    undo(&h, "a1", json!({ "to": "redo" })).fails("not_found");
    undo(&h, "b2", json!({ "to": "redo" })).ok();
    assert!(h.exists("f") && h.exists("g"));
}

#[test]
fn an_undo_of_a_file_that_another_caller_has_changed_since_says_who() {
    let h = setup().open();
    write(&h, "a1", "f", "one\ntwo\n");
    h.call_as("b2", "read", json!({ "path": "f" })).ok();
    h.call_as("b2", "edit", json!({ "path": "f", "old_string": "two", "new_string": "2" })).ok();
    let text = undo(&h, "a1", json!({})).fails("stale");
    assert!(text.starts_with("f has changed since, by thread b2, and undo would lose that change\n"), "{text}");
    let text = undo(&h, "a1", json!({ "path": "f" })).ok();
    assert!(text.starts_with("Reverted the last edit of f by thread b2, rev "), "{text}");
    undo(&h, "a1", json!({})).ok();
    assert!(!h.exists("f"));
}

#[test]
fn the_session_of_a_caller_is_what_it_did_itself() {
    for state in [true, false] {
        let h = Setup { state, ..setup() }.open();
        h.write("shared", "0\n");
        write(&h, "a1", "f", "a\n");
        write(&h, "b2", "g", "b\n");
        for (thread, old, new) in [("a1", "0", "1"), ("b2", "1", "2")] {
            h.call_as(thread, "read", json!({ "path": "shared" })).ok();
            h.call_as(thread, "edit", json!({ "path": "shared", "old_string": old, "new_string": new })).ok();
        }
        let text = undo(&h, "a1", json!({ "to": "session" })).ok();
        assert!(text.contains("(undo takes this back); 2 paths were left alone"), "{text}");
        for path in ["g", "shared"] {
            assert_eq!(text.matches(&format!("\nleft alone: {path} (changed by thread b2)\n")).count(), 1, "{text}");
        }
        assert!(!h.exists("f") && h.exists("g") && content(&h, "shared") == "2\n");
        // Nothing is left of the own changes but those below another one's.
        let text = undo(&h, "c3", json!({ "to": "session" })).ok();
        assert!(text.starts_with("Nothing was changed: what could be taken back is left alone\n"), "{text}");
        assert!(text.contains("left alone: f (changed by thread a1)"), "{text}");
        undo(&h, "a1", json!({ "to": "session", "include_others": true })).ok();
        assert!(!h.exists("f") && !h.exists("g") && content(&h, "shared") == "0\n");
    }
}

#[test]
fn a_checkpoint_goes_back_over_the_own_changes_alone() {
    for state in [true, false] {
        let h = Setup { state, ..setup() }.open();
        h.call_as("a1", "write", json!({ "path": "f", "content": "a\n", "checkpoint": "start" })).ok();
        write(&h, "b2", "g", "b\n");
        let text = undo(&h, "a1", json!({ "to": "start" })).ok();
        assert!(text.contains("left alone: g (changed by thread b2)"), "{text}");
        assert!(!h.exists("f") && h.exists("g"));
        let text = undo(&h, "b2", json!({ "to": "start", "include_others": true })).ok();
        assert!(!text.contains("left alone:") && !h.exists("g"), "{text}");
    }
}

#[test]
fn a_checkpoint_names_who_changed_a_path_in_another_process() {
    let h = setup().open();
    h.call_as("a1", "write", json!({ "path": "f", "content": "a\n", "checkpoint": "start" })).ok();
    let mut other = h.other();
    h.exchange(&mut other);
    write(&h, "b2", "g", "b\n");
    h.call("write", json!({ "path": "h", "content": "c\n" })).ok();
    h.exchange(&mut other);
    let text = undo(&h, "a1", json!({ "to": "start" })).ok();
    assert!(text.contains("\nleft alone: g (changed by thread b2 in session "), "{text}");
    assert!(text.contains("\nleft alone: h (changed by another session)\n"), "{text}");
    // Its own session has nothing to do with another process.
    h.call_as("a1", "write", json!({ "path": "f", "content": "a\n" })).ok();
    let text = undo(&h, "a1", json!({ "to": "session" })).ok();
    assert!(!text.contains("left alone"), "{text}");
    let text = undo(&h, "a1", json!({ "path": "g" })).ok();
    assert!(text.starts_with("Reverted the last write of g by thread b2 in session "), "{text}");
}

#[test]
fn callers_that_cannot_be_told_apart_are_named_together() {
    let h = Setup { client: Some("some-client"), ..setup() }.open();
    let note = "\n(made through some-client, whose callers cannot be told apart)";
    for path in ["f", "g", "h"] {
        h.call("write", json!({ "path": path, "content": "x\n" })).ok();
    }
    // As long as nobody else can know them, whoever undoes made them.
    assert!(!h.call("undo", json!({ "dry_run": true })).ok().contains("told apart"));
    for path in ["f", "g", "h"] {
        h.call("read", json!({ "path": path })).ok();
    }
    let answer = h.call("undo", json!({ "dry_run": true }));
    assert!(answer.ok().contains(note), "{}", answer.ok());
    let text = h.call("undo", json!({})).ok();
    assert!(text.starts_with(&format!("Deleted h, which had been created{note}")), "{text}");
    assert!(h.call("undo", json!({ "to": "redo" })).ok().contains(note));
    assert!(h.call("undo", json!({ "to": "session" })).ok().contains(note));
    // A thread is told apart from them.
    let text = undo(&h, "a1", json!({})).fails("not_found");
    assert!(text.starts_with("the last change of this session was made by some-client ("), "{text}");
    write(&h, "a1", "f", "x\n");
    let text = h.call("undo", json!({ "path": "f" })).ok();
    assert!(text.starts_with("Deleted f, which had been created by thread a1\n") && !text.contains(note), "{text}");
}

#[test]
fn a_caller_without_a_name_is_another_caller() {
    let h = setup().open();
    h.call("write", json!({ "path": "f", "content": "x\n" })).ok();
    let text = undo(&h, "a1", json!({})).fails("not_found");
    assert!(text.starts_with("the last change of this session was made by another caller (write of f); "), "{text}");
    assert_eq!(h.call("undo", json!({})).ok().lines().next(), Some("Deleted f, which had been created"));
}
