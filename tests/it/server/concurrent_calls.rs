//! Many concurrent calls to one server: none is lost, and each answer says what happened.

use std::{collections::HashMap, fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{harness::process::Process, harness::share};

const MANY: usize = 64;

/// Sends all calls before it reads an answer; the answers in the order of the calls.
fn at_once(process: &mut Process, calls: &[(&str, Value)]) -> Vec<Value> {
    let ids: Vec<u64> = calls
        .iter()
        .map(|(tool, arguments)| process.send("tools/call", &json!({ "name": tool, "arguments": arguments })))
        .collect();
    let mut answers: HashMap<u64, Value> = HashMap::new();
    while answers.len() < ids.len() {
        let mut message = process.next().expect("the server goes on");
        if let Some(id) = message["id"].as_u64() {
            answers.insert(id, message["result"].take());
        }
    }
    ids.iter().map(|id| answers.remove(id).expect("every call was answered")).collect()
}

fn start(folder: &Path) -> Process {
    let state = folder.join("state");
    let root = folder.join("root");
    fs::create_dir(&root).unwrap();
    let mut process = Process::start_remembering(&root, &state, &["--allow", "manage", "--time-limit", "120", "."]);
    process.initialize();
    process
}

fn read(process: &mut Process, path: &str) {
    let answer = process.ask("tools/call", &json!({ "name": "read", "arguments": { "path": path } }));
    assert_ne!(answer["result"]["isError"], true, "{answer}");
}

fn landed(answers: &[Value]) -> usize {
    answers.iter().filter(|answer| answer["isError"] != true).count()
}

#[test]
fn parallel_edits_of_one_file_all_succeed() {
    let folder = TempDir::new().unwrap();
    let mut process = start(folder.path());
    let line = |n: usize, value: &str| format!("line {n:02} = {value}\n");
    let content = |value: &str| (0..MANY).map(|n| line(n, value)).collect::<String>();
    fs::write(folder.path().join("root/f"), content("old")).unwrap();
    read(&mut process, "f");
    let calls: Vec<_> = (0..MANY)
        .map(|n| ("edit", json!({ "path": "f", "old_string": line(n, "old"), "new_string": line(n, "new") })))
        .collect();
    let answers = at_once(&mut process, &calls);
    assert_eq!(landed(&answers), MANY, "{answers:#?}");
    assert_eq!(fs::read_to_string(folder.path().join("root/f")).unwrap(), content("new"));

    // Undo takes as many steps, each of the last change.
    for left in (0..MANY).rev() {
        let answer = process.ask("tools/call", &json!({ "name": "undo", "arguments": { "path": "f" } }));
        assert_ne!(answer["result"]["isError"], true, "{left} left: {answer}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("root/f")).unwrap(), content("old"));
}

#[test]
fn of_parallel_edits_of_one_place_one_succeeds_and_the_others_report_why() {
    let folder = TempDir::new().unwrap();
    let mut process = start(folder.path());
    fs::write(folder.path().join("root/f"), "value = none\n").unwrap();
    read(&mut process, "f");
    let calls: Vec<_> = (0..MANY)
        .map(|n| {
            let new = format!("value = {n}\n");
            ("edit", json!({ "path": "f", "old_string": "value = none\n", "new_string": new }))
        })
        .collect();
    let answers = at_once(&mut process, &calls);
    assert_eq!(landed(&answers), 1, "{answers:#?}");
    let winner = answers.iter().position(|answer| answer["isError"] != true).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("root/f")).unwrap(), format!("value = {winner}\n"));
    for answer in answers.iter().filter(|answer| answer["isError"] == true) {
        assert_eq!(answer["_meta"]["rootbound/error"], "no_match", "{answer}");
    }
}

#[test]
fn a_thousand_edits_of_as_many_files_in_one_folder_all_succeed() {
    const FILES: usize = share(1000) as usize;
    let folder = TempDir::new().unwrap();
    let mut process = start(folder.path());
    for n in 0..FILES {
        fs::write(folder.path().join(format!("root/{n}.txt")), format!("old {n}\n")).unwrap();
    }
    let calls: Vec<_> = (0..FILES)
        .map(|n| {
            let revision = confined_fs::Revision::of(format!("old {n}\n").as_bytes()).to_string();
            let (path, old, new) = (format!("{n}.txt"), "old", "new");
            ("edit", json!({ "path": path, "old_string": old, "new_string": new, "expected_revision": revision }))
        })
        .collect();
    let answers = at_once(&mut process, &calls);
    let refused: Vec<&Value> = answers.iter().filter(|answer| answer["isError"] == true).collect();
    assert!(refused.is_empty(), "{} refused, such as {}", refused.len(), refused[0]);
    for n in 0..FILES {
        assert_eq!(fs::read_to_string(folder.path().join(format!("root/{n}.txt"))).unwrap(), format!("new {n}\n"));
    }
}

#[test]
fn parallel_appends_that_create_the_file_all_succeed() {
    let folder = TempDir::new().unwrap();
    let mut process = start(folder.path());
    let calls: Vec<_> = (0..MANY)
        .map(|n| ("write", json!({ "path": "log", "content": format!("line {n:02}\n"), "mode": "append" })))
        .collect();
    let answers = at_once(&mut process, &calls);
    assert_eq!(landed(&answers), MANY, "{answers:#?}");
    let text = fs::read_to_string(folder.path().join("root/log")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, (0..MANY).map(|n| format!("line {n:02}")).collect::<Vec<_>>());
    let created = answers.iter().filter(|answer| answer["_meta"]["rootbound/result"]["created"] == true).count();
    assert_eq!(created, 1, "{answers:#?}");
}

#[test]
fn of_parallel_creations_one_succeeds() {
    let folder = TempDir::new().unwrap();
    let mut process = start(folder.path());
    let calls: Vec<_> =
        (0..MANY).map(|n| ("write", json!({ "path": "new", "content": format!("{n}\n"), "mode": "create" }))).collect();
    let answers = at_once(&mut process, &calls);
    assert_eq!(landed(&answers), 1, "{answers:#?}");
    let winner = answers.iter().position(|answer| answer["isError"] != true).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("root/new")).unwrap(), format!("{winner}\n"));
    for answer in answers.iter().filter(|answer| answer["isError"] == true) {
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("new already exists, and mode=create never replaces a file"), "{answer}");
    }
}

#[test]
fn parallel_moves_and_writes_below_a_directory_lose_nothing() {
    let folder = TempDir::new().unwrap();
    let mut process = start(folder.path());
    fs::create_dir(folder.path().join("root/a")).unwrap();
    let mut calls = Vec::new();
    for n in 0..MANY / 2 {
        calls.push(("write", json!({ "path": format!("a/{n}"), "content": "x" })));
        let (from, to) = if n % 2 == 0 { ("a", "b") } else { ("b", "a") };
        calls.push(("move", json!({ "source": from, "destination": to })));
    }
    let answers = at_once(&mut process, &calls);
    let written = answers.iter().step_by(2).filter(|answer| answer["isError"] != true).count();
    let count = |name: &str| fs::read_dir(folder.path().join("root").join(name)).map_or(0, Iterator::count);
    assert_eq!(count("a") + count("b"), written, "{answers:#?}");
    assert!(written > 0);
}
