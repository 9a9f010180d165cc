//! `--events`: one line for each change, to a file, a FIFO or a socket, and never in the way of a call.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    harness::process::Process,
    harness::program::{Outcome, program},
};

#[cfg(unix)]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

fn folder() -> TempDir {
    let dir = tempfile::Builder::new().prefix("rootbound-host-").tempdir().expect("a temporary folder");
    for folder in ["app", "logs"] {
        fs::create_dir(dir.path().join(folder)).expect("a folder");
    }
    dir
}

fn start(dir: &Path, events: &str, more: &[&str]) -> Process {
    let mut arguments = vec!["--root", "app", "--allow", "manage", "--events", events];
    arguments.extend(more);
    let mut process = Process::start(dir, &arguments);
    process.initialize();
    process
}

#[expect(clippy::needless_pass_by_value, reason = "written in the call")]
fn call(process: &mut Process, tool: &str, arguments: Value) {
    let answer = process.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// Event, tool, path and former path of each line.
fn shown(lines: &[Value]) -> Vec<String> {
    let text = |line: &Value, key: &str| line[key].as_str().unwrap_or("-").to_owned();
    lines.iter().map(|line| ["event", "tool", "path", "from"].map(|key| text(line, key)).join(" ")).collect()
}

#[test]
fn each_change_is_one_line() {
    let dir = folder();
    let mut process = start(dir.path(), "logs/events.jsonl", &["--audit-label", "here"]);
    call(&mut process, "write", json!({ "path": "a.txt", "content": "one\n" }));
    call(&mut process, "edit", json!({ "path": "a.txt", "old_string": "one", "new_string": "two" }));
    call(&mut process, "write", json!({ "path": "a.txt", "content": "two\n" }));
    call(&mut process, "read", json!({ "path": "a.txt" }));
    call(&mut process, "write", json!({ "path": "x/b.txt", "content": "b\n" }));
    call(&mut process, "mkdir", json!({ "path": "d" }));
    call(&mut process, "copy", json!({ "source": "x", "destination": "y" }));
    call(&mut process, "move", json!({ "source": "a.txt", "destination": "d/a.txt" }));
    call(&mut process, "move", json!({ "source": "x", "destination": "d/x" }));
    call(&mut process, "delete", json!({ "path": "y", "recursive": true }));
    call(&mut process, "delete", json!({ "path": "d/a.txt" }));
    call(&mut process, "undo", json!({}));
    process.end_input();
    let (status, log) = process.exit();
    assert!(status.success(), "{log}");
    let text = fs::read_to_string(dir.path().join("logs/events.jsonl")).expect("a file");
    assert!(!text.contains("rootbound-host-"), "{text}");
    let lines = lines(&text);
    let expected = [
        "file.created write a.txt -",
        "file.written edit a.txt -",
        "directory.created write x -",
        "file.created write x/b.txt -",
        "directory.created mkdir d -",
        "directory.created copy y -",
        "file.moved move d/a.txt a.txt",
        "directory.moved move d/x x",
        "directory.deleted delete y -",
        "file.deleted delete d/a.txt -",
        "file.created undo d/a.txt -",
    ];
    assert_eq!(shown(&lines), expected);
    assert!(lines.iter().all(|line| line["label"] == "here" && line["time"].is_string()), "{text}");
    assert_eq!(lines[1]["uri"], "file:///a.txt");
    assert_eq!(lines[6]["from_uri"], "file:///a.txt");
    assert_eq!(lines[6]["revision"], lines[1]["revision"], "moved as it was");
}

#[test]
fn file_below_an_offered_directory_is_refused() {
    let dir = folder();
    let arguments = ["--root", "app", "--events", "app/events.jsonl", "call", "ls"];
    let refusal = Outcome::of(program(dir.path()).args(arguments)).failed(2);
    assert!(refusal.contains("--events"), "{refusal}");
}

#[test]
fn events_file_is_rotated() {
    let dir = folder();
    fs::write(dir.path().join("logs/events.jsonl"), "{}\n".repeat((10 << 20) / 3 - 1000)).unwrap();
    let mut process = start(dir.path(), "logs/events.jsonl", &[]);
    let long = "n".repeat(200);
    for number in 0..20 {
        call(&mut process, "write", json!({ "path": format!("{long}{number}.txt"), "content": "x" }));
    }
    process.end_input();
    process.exit();
    assert!(dir.path().join("logs/events.jsonl.1").exists());
}

#[cfg(unix)]
#[expect(clippy::disallowed_types, reason = "opened for writing as well, so that the open does not wait")]
#[test]
fn fifo_without_a_reader_drops_lines_and_says_how_many() {
    use std::{
        io::{BufRead as _, BufReader},
        process::Command,
        time::Instant,
    };
    let dir = folder();
    let path = dir.path().join("logs/events");
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo runs").success());
    let mut process = start(dir.path(), "logs/events", &["--read-before-write", "off"]);
    let begun = Instant::now();
    for number in 0..1200 {
        call(&mut process, "write", json!({ "path": "a.txt", "content": format!("{number}\n") }));
    }
    assert!(begun.elapsed() < PATIENCE * 4, "no call waits for a reader");
    let mut reader = BufReader::new(fs::OpenOptions::new().read(true).write(true).open(&path).expect("a FIFO"));
    let (mut seen, mut dropped, mut more) = (0, 0, 0);
    // Lines that waited may be written after the one that says how many were dropped.
    while dropped == 0 || seen + dropped < 1200 {
        // Behind what fits into a pipe, the next change finds room.
        if dropped > 0 || seen > 0 && seen % 50 == 0 {
            more += 1;
            call(&mut process, "write", json!({ "path": "a.txt", "content": format!("more {more}\n") }));
        }
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        let line: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        match line["count"].as_u64().filter(|_| line["event"] == "events.dropped") {
            Some(count) => dropped += count,
            None => seen += 1,
        }
        assert!(begun.elapsed() < PATIENCE * 4, "no line about dropped ones");
    }
    assert!(seen + dropped <= 1200 + more, "{dropped} dropped, {seen} seen of {more} more than 1200");
}

#[cfg(target_os = "linux")]
#[test]
fn socket_of_the_host_gets_the_lines() {
    use std::{
        io::{BufRead as _, BufReader},
        os::unix::net::UnixListener,
    };
    let dir = folder();
    let listener = UnixListener::bind(dir.path().join("logs/s")).expect("a socket");
    let mut process = start(dir.path(), "unix:logs/s", &[]);
    let (socket, _) = listener.accept().expect("a connection");
    socket.set_read_timeout(Some(PATIENCE)).expect("a limit");
    call(&mut process, "write", json!({ "path": "a.txt", "content": "one\n" }));
    let mut reader = BufReader::new(socket);
    let mut line = String::new();
    reader.read_line(&mut line).expect("a line");
    assert_eq!(shown(&lines(&line)), ["file.created write a.txt -"]);
    drop(reader);
    // Nobody listens any more: calls go on.
    for (old, new) in [("one", "two"), ("two", "three"), ("three", "four")] {
        call(&mut process, "edit", json!({ "path": "a.txt", "old_string": old, "new_string": new }));
    }
    process.end_input();
    assert!(process.exit().0.success());
}
