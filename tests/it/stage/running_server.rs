//! A server with `--stage` while the person applies or discards, and changes that take directories of the disk away.

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};

use crate::process::Process;

use super::project::{Project, tree};

/// Whether a call succeeded, and its text.
fn call(server: &mut Process, tool: &str, arguments: &Value) -> (bool, String) {
    let answer = server.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    (answer["result"]["isError"] == false, text)
}

#[track_caller]
fn ok(server: &mut Process, tool: &str, arguments: &Value) -> String {
    let (succeeded, text) = call(server, tool, arguments);
    assert!(succeeded, "{tool} {arguments}: {text}");
    text
}

#[test]
fn undo_takes_directories_away_that_the_person_has_applied() {
    let project = Project::new(&[("d/f", "f\n"), ("d/sub/g", "g\n"), ("e/h", "h\n")]);
    let start = tree(&project.root());
    let mut server = project.serve();
    ok(&mut server, "mkdir", &json!({"path": "made/deep"}));
    ok(&mut server, "copy", &json!({"source": "d", "destination": "copied"}));
    ok(&mut server, "delete", &json!({"path": "e", "recursive": true}));
    project.ok(&["stage", "apply"]);
    assert!(project.path("made/deep").is_dir() && project.path("copied/sub/g").is_file());
    let applied = tree(&project.root());
    let text = ok(&mut server, "undo", &json!({"to": "session"}));
    assert_eq!(tree(&project.root()), applied);
    let found = ok(&mut server, "ls", &json!({"depth": 5}));
    assert!(!found.contains("copied") && !found.contains("made") && found.contains("e/"), "{text}\n{found}");
    project.ok(&["stage", "apply"]);
    assert_eq!(tree(&project.root()), start, "{text}");
    assert_eq!(project.ok(&["stage", "diff"]).trim_end(), "nothing is staged");
    assert!(!project.layer().join("record").exists());
}

/// One change of each kind to the files `a`, `gone` and `d/f`, and a new one.
fn change_each(server: &mut Process) {
    ok(server, "edit", &json!({"path": "a", "old_string": "one", "new_string": "ONE"}));
    ok(server, "write", &json!({"path": "new/x", "content": "x\n"}));
    ok(server, "delete", &json!({"path": "gone"}));
    ok(server, "move", &json!({"source": "d", "destination": "e"}));
}

#[test]
fn single_undo_after_apply_stages_the_way_back() {
    let project = Project::new(&[("a", "one\n"), ("gone", "x\n"), ("d/f", "f\n")]);
    let start = tree(&project.root());
    let mut server = project.serve();
    change_each(&mut server);
    project.ok(&["stage", "apply"]);
    let applied = tree(&project.root());
    for _ in 0..4 {
        ok(&mut server, "undo", &json!({}));
    }
    assert_eq!(tree(&project.root()), applied);
    project.ok(&["stage", "apply"]);
    // The directory on the disk is another one than the call has made in the layer, and stays.
    fs::remove_dir(project.path("new")).unwrap();
    assert_eq!(tree(&project.root()), start);
    ok(&mut server, "mkdir", &json!({"path": "made"}));
    project.ok(&["stage", "apply"]);
    let (succeeded, text) = call(&mut server, "undo", &json!({}));
    assert!(!succeeded && text.starts_with("made has changed since, and undo would lose that change"), "{text}");
    assert!(project.path("made").is_dir());
}

#[test]
fn undo_and_edits_after_discard_work_on_the_disk_that_shows() {
    let project = Project::new(&[("a", "one\n"), ("gone", "x\n"), ("d/f", "f\n")]);
    let start = tree(&project.root());
    let mut server = project.serve();
    change_each(&mut server);
    project.ok(&["stage", "discard"]);
    let (succeeded, text) = call(&mut server, "undo", &json!({}));
    assert!(!succeeded && text.starts_with("another entry is at d now, and undo does not replace it"), "{text}");
    let text = ok(&mut server, "undo", &json!({"to": "session"}));
    assert!(text.starts_with("Nothing was changed") && text.contains("left alone: gone"), "{text}");
    assert!(ok(&mut server, "read", &json!({"path": "a"})).starts_with("1\tone"));
    let (succeeded, text) = call(&mut server, "edit", &json!({"path": "a", "old_string": "ONE", "new_string": "x"}));
    assert!(!succeeded && text.contains("only the casing differs"), "{text}");
    ok(&mut server, "edit", &json!({"path": "a", "old_string": "one", "new_string": "two"}));
    assert_eq!(tree(&project.root()), start);
    project.ok(&["stage", "apply"]);
    assert_eq!(project.content("a"), "two\n");
    assert_eq!(project.ok(&["stage", "diff"]).trim_end(), "nothing is staged");
}

#[test]
fn directory_in_the_place_of_a_file_is_applied_in_the_same_transaction() {
    let project = Project::new(&[("file", "f\n"), ("a", "a\n")]);
    let before = tree(&project.root());
    project.staged("delete", &json!({"path": "file"}));
    project.staged("write", &json!({"path": "file/deep/inner", "content": "i\n"}));
    project.staged("write", &json!({"path": "file/two", "content": "2\n"}));
    project.staged("write", &json!({"path": "a", "content": "A\n"}));
    assert_eq!(tree(&project.root()), before);
    assert_eq!(project.ok(&["stage", "apply"]).trim_end(), "Applied 5 staged changes");
    assert_eq!((project.content("file/deep/inner"), project.content("a")), ("i\n".into(), "A\n".into()));
    assert_eq!(project.ok(&["stage", "diff"]).trim_end(), "nothing is staged");
    // One change of the history: one number after that of the process.
    let history = project.ok(&["history"]);
    let numbers: BTreeSet<&str> = history.lines().skip(1).filter_map(|line| line.split_whitespace().nth(6)).collect();
    assert_eq!(numbers.len(), 1, "{history}");
}
