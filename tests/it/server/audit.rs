//! `--audit`: what a line says, that it is out of reach, and what happens when it cannot be written.

use std::{fs, path::Path};

use file_tools::{Group, Selection, Toolbox};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::process::{Process, modern};

fn folders() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(dir.path().join("root")).expect("a folder");
    fs::write(dir.path().join("root/a.txt"), "alpha\n").expect("a file");
    fs::write(dir.path().join("secret.txt"), "outside\n").expect("a file");
    dir
}

fn start(dir: &TempDir, more: &[&str]) -> Process {
    let arguments = [&["--root", "app=root", "--audit", "log/audit.jsonl"], more].concat();
    Process::start(dir.path(), &arguments)
}

fn call(process: &mut Process, tool: &str, arguments: &Value) -> Value {
    process.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))["result"].take()
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

#[test]
fn each_call_is_one_line_with_client_tool_path_and_outcome() {
    let dir = folders();
    let mut process = start(&dir, &[]);
    process.initialize();
    call(&mut process, "read", &json!({ "path": "a.txt" }));
    call(&mut process, "read", &json!({ "path": "../secret.txt" }));
    call(
        &mut process,
        "edit",
        &json!({ "file_path": "app/a.txt", "old_string": "alpha", "new_string": "beta-content" }),
    );
    call(&mut process, "read", &json!({ "path": "missing" }));
    let lines = lines(&dir.path().join("log/audit.jsonl"));
    let recorded: Vec<_> = lines
        .iter()
        .map(|line| {
            [&line["event"], &line["tool"], &line["decision"], &line["outcome"]]
                .map(|value| value.as_str().expect("text"))
        })
        .collect();
    assert_eq!(
        recorded,
        [
            ["call", "read", "allowed", "ok"],
            ["call", "read", "denied", "denied"],
            ["call", "edit", "allowed", "ok"],
            ["call", "read", "allowed", "not_found"],
        ]
    );
    let first = &lines[0];
    assert_eq!(first["client"], json!({ "name": "test", "version": "1" }));
    assert_eq!(first["paths"][0]["public"], "app/a.txt");
    let host = fs::canonicalize(dir.path().join("root/a.txt")).expect("it exists");
    // As people write it: Windows puts `\\?\` before a canonical path.
    assert_eq!(first["paths"][0]["resolved"], host.to_str().expect("a plain name").trim_start_matches(r"\\?\"));
    let time = first["time"].as_str().expect("text");
    assert!(time.len() == 24 && time.ends_with('Z') && time.contains('T'), "{time}");
    assert!(first["bytes"].as_u64() > Some(0) && first["duration_ms"].is_number(), "{first}");
    assert_eq!(lines[1]["paths"][0]["resolved"], Value::Null);
    let edit = &lines[2];
    assert_eq!(edit["arguments"]["new_string"]["bytes"], "beta-content".len());
    assert_eq!(edit["written"], "beta-content\n".len());
    assert!(!edit.to_string().contains("beta-content"), "{edit}");
}

#[test]
fn a_path_is_recorded_under_every_alias() {
    let dir = folders();
    let mut process = start(&dir, &["--allow", "manage"]);
    process.initialize();
    let toolbox = Toolbox::new(&Selection { groups: vec![Group::Manage], ..Selection::default() });
    let mut sent = Vec::new();
    for entry in toolbox.tools() {
        let names = entry.spec.aliases().filter(|alias| alias.flag.is_none());
        let aliases = names.flat_map(|alias| alias.given.iter().filter_map(|given| Some((*given, alias.name?))));
        let own = entry.input_schema()["properties"].as_object().expect("properties").keys();
        let own = own.map(|name| (name.as_str(), name.as_str()));
        for (given, _) in own.chain(aliases).filter(|(_, name)| ["path", "source", "destination"].contains(name)) {
            // Refused for a missing argument or an unknown path, and recorded anyway.
            call(&mut process, entry.spec.name, &json!({ given: "missing.txt" }));
            sent.push((entry.spec.name, given));
        }
    }
    assert!(sent.len() > 60 && sent.contains(&("move", "src")), "{sent:?}");
    let lines = lines(&dir.path().join("log/audit.jsonl"));
    for (line, (tool, given)) in lines.iter().zip(&sent) {
        assert_eq!(line["arguments"][given], "missing.txt", "{tool} {given}");
        let recorded = line["paths"].as_array().expect("a list");
        assert_eq!((recorded.len(), &recorded[0]["argument"]), (1, &json!(given)), "{tool}");
        assert_eq!(recorded[0]["public"], "app/missing.txt", "{tool} {given}");
    }
    assert_eq!(lines.len(), sent.len());
}

#[test]
fn a_client_without_handshake_is_recorded_by_name() {
    let dir = folders();
    let mut process = start(&dir, &[]);
    let mut params = modern(json!({ "name": "read", "arguments": { "path": "a.txt" } }));
    params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({ "name": "modern", "version": "9" });
    process.ask("tools/call", &params);
    assert_eq!(lines(&dir.path().join("log/audit.jsonl"))[0]["client"], json!({ "name": "modern", "version": "9" }));
}

#[test]
fn a_file_inside_or_above_a_root_is_refused() {
    let dir = folders();
    fs::create_dir(dir.path().join("aside")).expect("made");
    for file in [
        "root/audit.jsonl",
        "root/new/audit.jsonl",
        "audit.jsonl",
        "root/../root/audit.jsonl",
        "aside/../root/audit.jsonl",
        "missing/../root/audit.jsonl",
    ] {
        let process = Process::start(dir.path(), &["--root", "app=root", "--audit", file]);
        let (status, log) = process.exit();
        assert_eq!(status.code(), Some(2), "{file}: {log}");
        assert!(log.contains("outside of all directories"), "{log}");
    }
    assert_eq!(fs::read_dir(dir.path().join("root")).expect("it exists").count(), 1);
}

#[cfg(unix)]
#[test]
fn a_link_into_a_root_is_refused() {
    let dir = folders();
    std::os::unix::fs::symlink("root", dir.path().join("alias")).expect("a link");
    let process = Process::start(dir.path(), &["--root", "app=root", "--audit", "alias/audit.jsonl"]);
    assert_eq!(process.exit().0.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn a_required_audit_that_cannot_be_written_refuses_calls_and_changes_nothing() {
    let dir = folders();
    let mut process = start(&dir, &["--audit-required", "--read-before-write", "off"]);
    process.initialize();
    assert_eq!(call(&mut process, "read", &json!({ "path": "a.txt" }))["isError"], false);
    // A directory in its place: nothing can be appended to it, whoever runs the server.
    let log = dir.path().join("log/audit.jsonl");
    fs::remove_file(&log).expect("it exists");
    fs::create_dir(&log).expect("a folder");
    for (tool, arguments) in [
        ("read", json!({ "path": "a.txt" })),
        ("write", json!({ "path": "a.txt", "content": "changed\n" })),
        ("edit", json!({ "path": "a.txt", "old_string": "alpha", "new_string": "changed" })),
    ] {
        let result = call(&mut process, tool, &arguments);
        assert_eq!(result["_meta"]["rootbound/error"], "declined", "{result}");
        assert!(!result.to_string().contains("alpha"), "{result}");
    }
    assert_eq!(fs::read_to_string(dir.path().join("root/a.txt")).expect("it exists"), "alpha\n");
    // Once it can be written again, calls go on.
    fs::remove_dir(&log).expect("it is empty");
    assert_eq!(call(&mut process, "write", &json!({ "path": "b.txt", "content": "b\n" }))["isError"], false);
    let events: Vec<_> = lines(&log).iter().map(|line| line["event"].clone()).collect();
    assert_eq!(events, ["intent", "call"]);
}

#[cfg(unix)]
#[test]
fn a_failure_of_an_optional_audit_does_not_stop_calls() {
    let dir = folders();
    let mut process = start(&dir, &[]);
    process.initialize();
    let log = dir.path().join("log/audit.jsonl");
    fs::remove_file(&log).expect("it exists");
    fs::create_dir(&log).expect("a folder");
    assert_eq!(call(&mut process, "read", &json!({ "path": "a.txt" }))["isError"], false);
    process.end_input();
    let (_, stderr) = process.exit();
    assert!(stderr.contains("the audit could not be written"), "{stderr}");
}

#[test]
fn a_call_of_an_unknown_tool_is_recorded() {
    let dir = folders();
    let mut process = start(&dir, &["--read-only"]);
    process.initialize();
    let long = format!("run {}", "words ".repeat(200));
    for (tool, arguments) in [
        ("shell", json!({ "path": "../secret.txt", "command": "private text", "file \n name": 1 })),
        ("write", json!({ "path": "a.txt", "content": "x" })),
        (&long, json!({})),
    ] {
        let answer = process.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let lines = lines(&dir.path().join("log/audit.jsonl"));
    let recorded: Vec<_> =
        lines.iter().map(|line| [&line["event"], &line["tool"], &line["decision"], &line["outcome"]]).collect();
    assert_eq!(recorded[0], ["call", "shell", "denied", "unknown_tool"]);
    assert_eq!(recorded[1], ["call", "write", "denied", "unknown_tool"]);
    assert!(recorded[2][1].as_str().is_some_and(|tool| tool.starts_with("run… (1204 bytes, sha256 ")), "{recorded:?}");
    assert_eq!(lines[0]["arguments"]["path"], "../secret.txt");
    let first = lines[0].to_string();
    assert!(!first.contains("private text") && !first.contains("name\":1"), "{first}");
    assert_eq!(recorded.len(), 3);
}

#[test]
fn a_full_file_is_rotated() {
    let dir = folders();
    let size = 10 << 20;
    let line = format!("{{\"former\":\"{}\"}}\n", "x".repeat(1000));
    let file = dir.path().join("log/audit.jsonl");
    fs::create_dir(dir.path().join("log")).unwrap();
    fs::write(&file, line.repeat(usize::try_from(size).unwrap() / line.len() - 5)).unwrap();
    let mut process = start(&dir, &[]);
    process.initialize();
    for _ in 0..50 {
        call(&mut process, "read", &json!({ "path": "a.txt", "encoding": "x".repeat(900) }));
    }
    let former = dir.path().join("log/audit.jsonl.1");
    assert!(former.metadata().is_ok_and(|former| former.len() > size - (64 << 10) && former.len() <= size));
    assert!(file.metadata().is_ok_and(|now| now.len() > 0 && now.len() <= 64 << 10));
}

/// The changes of each line, without what a call left as it was.
fn changes(dir: &TempDir) -> Vec<Value> {
    lines(&dir.path().join("log/audit.jsonl")).iter().filter_map(|line| line.get("changes").cloned()).collect()
}

/// The revision of a text: the first half of its SHA-256.
fn revision(text: &str) -> String {
    confined_fs::Revision::of(text.as_bytes()).to_string()
}

#[test]
fn each_changed_file_is_recorded_with_its_revision_before_and_after() {
    let dir = folders();
    fs::create_dir(dir.path().join("root/sub")).expect("made");
    fs::write(dir.path().join("root/sub/c.txt"), "gamma\n").expect("written");
    let mut process = start(&dir, &["--allow", "manage", "--read-before-write", "off"]);
    process.initialize();
    let (alpha, beta, two, gamma) =
        (revision("alpha\n"), revision("beta\n"), revision("beta\ntwo\n"), revision("gamma\n"));
    for (tool, arguments, expected) in [
        ("read", json!({ "path": "a.txt" }), None),
        ("write", json!({ "path": "n.txt", "content": "beta\n" }), Some(json!([["app/n.txt", null, beta]]))),
        ("write", json!({ "path": "n.txt", "content": "beta\n" }), None),
        (
            "edit",
            json!({ "path": "a.txt", "old_string": "alpha", "new_string": "beta" }),
            Some(json!([["app/a.txt", alpha, beta]])),
        ),
        (
            "write",
            json!({ "path": "a.txt", "content": "two\n", "mode": "append" }),
            Some(json!([["app/a.txt", beta, two]])),
        ),
        ("undo", json!({}), Some(json!([["app/a.txt", two, beta]]))),
        (
            "move",
            json!({ "source": "a.txt", "destination": "m.txt" }),
            Some(json!([["app/a.txt", beta, null], ["app/m.txt", null, beta]])),
        ),
        ("undo", json!({}), Some(json!([["app/m.txt", beta, null], ["app/a.txt", null, beta]]))),
        (
            "move",
            json!({ "source": "sub/c.txt", "destination": "n.txt", "overwrite": true }),
            Some(json!([["app/sub/c.txt", gamma, null], ["app/n.txt", beta, gamma]])),
        ),
        (
            "copy",
            json!({ "source": "n.txt", "destination": "sub/c.txt" }),
            Some(json!([["app/sub/c.txt", null, gamma]])),
        ),
        (
            "copy",
            json!({ "source": "a.txt", "destination": "n.txt", "overwrite": true }),
            Some(json!([["app/n.txt", gamma, beta]])),
        ),
        ("mkdir", json!({ "path": "x/y" }), Some(json!([["app/x", "directory"], ["app/x/y", "directory"]]))),
        (
            "delete",
            json!({ "path": "sub", "recursive": true }),
            Some(json!([["app/sub", "directory"], ["app/sub/c.txt", gamma, null]])),
        ),
        ("undo", json!({}), Some(json!([["app/sub", "directory"], ["app/sub/c.txt", null, gamma]]))),
        ("edit", json!({ "path": "a.txt", "old_string": "missing", "new_string": "x" }), None),
        ("read", json!({ "path": "../secret.txt" }), None),
    ] {
        let before = changes(&dir).len();
        let result = call(&mut process, tool, &arguments);
        let now = changes(&dir);
        let recorded = now.get(before).map(|entries| {
            let short = |entry: &Value| match entry.get("kind") {
                Some(kind) => json!([entry["path"], kind]),
                None => json!([entry["path"], entry["before"], entry["after"]]),
            };
            entries.as_array().expect("a list").iter().map(short).collect::<Value>()
        });
        assert_eq!(recorded, expected, "{tool} {arguments}: {result}");
    }
}

#[test]
fn recorded_revisions_are_those_of_history_and_restore() {
    let dir = folders();
    let state = dir.path().join("state");
    let arguments = ["--root", "app=root", "--audit", "log/audit.jsonl", "--read-before-write", "off"];
    let mut process = Process::start_remembering(dir.path(), &state, &arguments);
    process.initialize();
    call(&mut process, "write", &json!({ "path": "a.txt", "content": "beta\n" }));
    process.end_input();
    process.exit();
    let before = changes(&dir)[0][0]["before"].as_str().expect("a revision").to_owned();
    let run = |arguments: &[&str]| {
        let mut command = crate::harness::program::program(dir.path());
        command.args(arguments).args(["--root", "app=root", "--state-dir"]).arg(&state);
        crate::harness::program::Outcome::of(&mut command).succeeded()
    };
    assert!(run(&["history"]).contains(&before[..12]), "{before}");
    run(&["history", "restore", "a.txt", &before]);
    assert_eq!(fs::read_to_string(dir.path().join("root/a.txt")).expect("it exists"), "alpha\n");
}

#[test]
fn changes_of_a_large_tree_are_counted_beyond_a_hundred() {
    let dir = folders();
    fs::create_dir(dir.path().join("root/many")).expect("made");
    for number in 0..150 {
        fs::write(dir.path().join(format!("root/many/{number}.txt")), "x").expect("written");
    }
    let mut process = start(&dir, &["--allow", "manage"]);
    process.initialize();
    for (tool, arguments) in [
        ("move", json!({ "source": "many", "destination": "moved" })),
        ("copy", json!({ "source": "moved", "destination": "copied" })),
        ("delete", json!({ "path": "copied", "recursive": true })),
    ] {
        let result = call(&mut process, tool, &arguments);
        assert_eq!(result["isError"], false, "{result}");
        let recorded = changes(&dir).pop().expect("changes");
        let entries = recorded.as_array().expect("a list");
        let total = if tool == "move" { 302 } else { 151 };
        assert_eq!((entries.len(), &entries[100]), (101, &json!({ "more": total - 100 })), "{tool}");
    }
}

#[test]
fn label_of_the_server_and_thread_and_user_of_the_request_are_recorded() {
    let dir = folders();
    let mut process = start(&dir, &["--audit-label", "thread tools"]);
    process.initialize();
    for meta in [
        json!({ "headers": { "X-Thread-Id": "t-1", "X-User-Id": "u-1" } }),
        json!({ "thread_id": "t-2", "user_id": 7, "progressToken": 1 }),
        json!({ "headers": "wrong", "thread_id": { "a": 1 } }),
        json!({ "thread_id": "x".repeat(1 << 20), "user_id": "a\u{202e}\nb" }),
    ] {
        let params = json!({ "name": "read", "arguments": { "path": "a.txt" }, "_meta": meta });
        process.ask("tools/call", &params);
    }
    call(&mut process, "read", &json!({ "path": "a.txt", "thread_id": "not one" }));
    let lines = lines(&dir.path().join("log/audit.jsonl"));
    let named: Vec<_> = lines.iter().map(|line| [line.get("thread"), line.get("user")]).collect();
    assert_eq!(named[0], [Some(&json!("t-1")), Some(&json!("u-1"))]);
    assert_eq!(named[1], [Some(&json!("t-2")), Some(&json!("7"))]);
    assert_eq!((named[2], named[4]), ([None, None], [None, None]));
    assert_eq!(named[3][1], Some(&json!("a\\u{202e}\nb")));
    assert!(lines[3].to_string().len() < 1000, "{}", lines[3]);
    assert!(lines.iter().all(|line| line["label"] == "thread tools"), "{lines:?}");
}

#[test]
fn a_label_that_is_no_line_of_text_is_refused() {
    let dir = folders();
    for label in ["", " ", "a\nb", "a\tb", "a\u{202e}b", &"x".repeat(101)] {
        let mut command = crate::harness::program::program(dir.path());
        command.args(["tools", "--root", "app=root", "--audit-label", label]);
        let refused = crate::harness::program::Outcome::of(&mut command).failed(2);
        assert!(refused.contains("--audit-label"), "{refused}");
    }
}

#[test]
fn edit_of_several_files_is_one_line_with_each_file() {
    let dir = folders();
    let mut process = start(&dir, &["--read-before-write", "off"]);
    process.initialize();
    let edits = json!([
        { "path": "a.txt", "old_string": "alpha", "new_string": "beta" },
        { "path": "b.txt", "old_string": "", "new_string": "new\n" },
    ]);
    call(&mut process, "edit", &json!({ "edits": edits }));
    let lines = lines(&dir.path().join("log/audit.jsonl"));
    assert_eq!(lines.len(), 1);
    let changed = |at: usize| [&lines[0]["changes"][at]["path"], &lines[0]["paths"][at]["public"]];
    assert_eq!([changed(0), changed(1)], [[&json!("app/a.txt"); 2], [&json!("app/b.txt"); 2]], "{}", lines[0]);
    assert!(lines[0]["changes"][1]["before"].is_null() && lines[0]["written"] == 9, "{}", lines[0]);
}
