//! `rootbound stats`: the sums of a hand-made audit, of a recorded one, and of what is no audit.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    process::Process,
    program::{Outcome, program},
};

/// Runs `rootbound stats` in a home directory, which is never offered by default.
fn stats(folder: &Path, arguments: &[&str]) -> Outcome {
    let mut command = program(folder);
    command.env("HOME", folder).env("USERPROFILE", folder);
    Outcome::of(command.arg("stats").args(arguments))
}

fn line(time: &str, tool: &str, outcome: &str, milliseconds: f64, client: &str) -> String {
    json!({
        "time": time, "client": { "name": client, "version": "1" }, "request": "1", "tool": tool, "arguments": {},
        "paths": [], "event": "call", "decision": "allowed", "outcome": outcome, "bytes": 1000, "written": 10,
        "duration_ms": milliseconds,
    })
    .to_string()
}

/// A folder with an audit of two files: 100 reads of 1 to 100 ms, 3 edits, and lines of something else.
fn audit() -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let mut old = String::new();
    for number in 1..=100 {
        let outcome = if number % 25 == 0 { "not_found" } else { "ok" };
        old += &line("2026-11-20T10:00:00.000Z", "read", outcome, f64::from(number), "one");
        old += "\n";
    }
    let mut new = String::new();
    for (outcome, milliseconds) in [("ok", 2.0), ("asked", 4.0), ("denied", 12_500.0)] {
        new += &line("2026-11-22T10:00:00.000Z", "edit", outcome, milliseconds, "two");
        new += "\n";
    }
    new += "{\"time\":\"2026-11-22T10:00:00.000Z\",\"tool\":\"edit\",\"event\":\"intent\"}\n";
    new += "{\"level\":\"info\"}\n[1]\n\n{\"time\":\"2026-1";
    fs::write(dir.path().join("a.jsonl.1"), old).expect("written");
    fs::write(dir.path().join("a.jsonl"), new).expect("written");
    dir
}

#[test]
fn calls_errors_bytes_and_times_are_added_up_over_rotated_files() {
    let dir = audit();
    let printed = stats(dir.path(), &["a.jsonl"]).succeeded();
    let expected = "\
103 calls in 2 files, 2026-11-20T10:00:00.000Z to 2026-11-22T10:00:00.000Z

tool  calls  errors  answered  written   median      p95  longest
edit      3       1    2.9 KB     30 B  4.00 ms   12.5 s   12.5 s  denied 1
read    100       4   97.7 KB   1000 B  50.5 ms  95.0 ms   100 ms  not_found 4
all     103       5  100.6 KB   1.0 KB  50.0 ms  96.0 ms   12.5 s  denied 1, not_found 4

client  calls  errors  answered  written   median      p95  longest
one       100       4   97.7 KB   1000 B  50.5 ms  95.0 ms   100 ms  not_found 4
two         3       1    2.9 KB     30 B  4.00 ms   12.5 s   12.5 s  denied 1

1 line was left out: damaged, so that it is not JSON

2 lines were left out: not of an audit
";
    assert_eq!(printed, expected);
    let data: Value = serde_json::from_str(&stats(dir.path(), &["--json", "a.jsonl"]).succeeded()).expect("JSON");
    assert_eq!((&data["files"], &data["calls"], &data["failed"]), (&json!(2), &json!(103), &json!(5)));
    assert_eq!((&data["damaged"], &data["foreign"]), (&json!(1), &json!(2)));
    let edit = &data["tools"][0];
    assert_eq!(edit["errors"], json!({ "denied": 1 }));
    let times = [&edit["median_ms"], &edit["p95_ms"], &edit["max_ms"]];
    assert_eq!(times, [&json!(4.0), &json!(12_500.0), &json!(12_500.0)]);
    assert_eq!((&edit["bytes"], &edit["written"]), (&json!(3000), &json!(30)));
    assert_eq!(data["clients"][1]["client"], "two");
}

#[test]
fn since_leaves_out_earlier_calls() {
    let dir = audit();
    let calls = |since: &str| {
        let printed = stats(dir.path(), &["--json", "--since", since, "a.jsonl"]).succeeded();
        let data: Value = serde_json::from_str(&printed).expect("JSON");
        (data["calls"].as_u64().expect("a number"), data["earlier"].as_u64().expect("a number"))
    };
    assert_eq!(calls("2026-11-21"), (3, 100));
    assert_eq!(calls("2026-11-22T10:00:00Z"), (3, 100));
    assert_eq!(calls("2026-11-22T10:00:01Z"), (0, 103));
    assert_eq!(calls("2000-01-01"), (103, 0));
    assert_eq!(calls("1000y"), (103, 0));
    let none = stats(dir.path(), &["--since", "2999-01-01", "a.jsonl"]).succeeded();
    assert!(none.starts_with("no calls since then; 103 were before"), "{none}");
    assert!(stats(dir.path(), &["--since", "soon", "a.jsonl"]).failed(2).contains("such as 2h"));
}

#[test]
fn missing_empty_and_unnamed_audits_are_sentences_with_the_next_step() {
    let dir = tempfile::tempdir().expect("a folder");
    let missing = stats(dir.path(), &["none.jsonl"]).failed(1);
    assert!(missing.contains("does not exist") && missing.contains("--audit none.jsonl"), "{missing}");
    let unnamed = stats(dir.path(), &[]).failed(2);
    assert!(unnamed.contains("no audit file was named") && unnamed.contains("--audit FILE"), "{unnamed}");
    fs::write(dir.path().join("empty"), "").expect("written");
    let empty = stats(dir.path(), &["empty"]).succeeded();
    assert!(empty.starts_with("no calls are recorded in empty; ") && empty.contains("--audit"), "{empty}");
    let data: Value = serde_json::from_str(&stats(dir.path(), &["empty", "--json"]).succeeded()).expect("JSON");
    assert_eq!((&data["calls"], &data["median_ms"]), (&json!(0), &Value::Null));
    assert!(stats(dir.path(), &["."]).failed(1).contains("not a file"));
}

#[test]
fn recorded_calls_are_added_up_by_client_and_label_with_the_options_of_the_server() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir(dir.path().join("root")).expect("made");
    fs::write(dir.path().join("root/a.txt"), "alpha\n").expect("written");
    fs::write(dir.path().join("r.toml"), "root = [\"app=root\"]\naudit = \"log/calls.jsonl\"\n").expect("written");
    for label in ["first", "second"] {
        let mut process = Process::start(dir.path(), &["--config", "r.toml", "--audit-label", label]);
        process.initialize();
        process.ask("tools/call", &json!({ "name": "read", "arguments": { "path": "a.txt" } }));
        process.ask("tools/call", &json!({ "name": "shell", "arguments": {} }));
        process.end_input();
        process.exit();
    }
    let printed = stats(dir.path(), &["--config", "r.toml"]).succeeded();
    for part in ["4 calls, ", "unknown_tool 2", "test · first", "test · second"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

#[test]
fn hostile_files_are_counted_within_bounded_memory() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut bytes = vec![b'['; 8 << 20];
    bytes.push(b'\n');
    bytes.extend([0xff, 0, b'\n']);
    for number in 0..3_000 {
        let (tool, outcome) = (format!("tool{number}\u{1b}[2J"), format!("kind{number}"));
        bytes.extend(line("2026-11-22T10:00:00.000Z", &tool, &outcome, f64::from(number), &tool).into_bytes());
        bytes.push(b'\n');
    }
    for (key, value) in [("bytes", json!(-1)), ("duration_ms", json!(1e300)), ("time", json!("soon"))] {
        let mut odd: Value =
            serde_json::from_str(&line("2026-11-22T10:00:00.000Z", "odd", "ok", 1.0, "c")).expect("it");
        odd[key] = value;
        bytes.extend(format!("{odd}\n").into_bytes());
    }
    fs::write(dir.path().join("a"), bytes).expect("written");
    let printed = stats(dir.path(), &["a"]).succeeded();
    assert!(printed.starts_with("3001 calls, ") && printed.contains("(others)"), "{printed}");
    assert!(printed.contains("2 lines were left out: damaged") && !printed.contains('\u{1b}'), "{printed}");
    assert!(printed.lines().count() < 250);
}
