//! What only a process shows: real pipes, signals, exit codes, and nothing but messages on stdout.

use std::{fs, io::Write as _};

use serde_json::json;
use tempfile::TempDir;

use crate::harness::process::{Process, modern};

fn workspace() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    fs::write(dir.path().join("a.txt"), "first\nsecond\n").expect("a file");
    dir
}

#[test]
fn both_protocol_versions_are_served_on_real_pipes() {
    let dir = workspace();
    let mut process = Process::start(dir.path(), &[]);
    process.discover();
    let call = json!({ "name": "read", "arguments": { "path": "a.txt" } });
    let answer = process.ask("tools/call", &modern(call.clone()));
    assert_eq!(answer["result"]["content"][0]["text"], "1\tfirst\n2\tsecond\n(2 lines, rev dbea93)", "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete");
    process.initialize();
    let answer = process.ask("tools/call", &call);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert!(answer["result"].get("resultType").is_none(), "{answer}");
    process.end_input();
    assert_eq!(process.next(), None);
    let (status, log) = process.exit();
    assert_eq!(status.code(), Some(0), "{log}");
}

#[test]
fn with_a_mount_name_neither_answers_nor_errors_show_the_host_path() {
    let dir = workspace();
    let mut process = Process::start(dir.path(), &["--root", "/mnt/user-data/workspace=."]);
    let instructions = process.initialize()["instructions"].to_string();
    let mut shown = vec![instructions];
    for (tool, path) in [("read", "a.txt"), ("read", "missing.txt"), ("ls", "/mnt/user-data/workspace"), ("ls", "/etc")]
    {
        let answer = process.ask("tools/call", &json!({ "name": tool, "arguments": { "path": path } }));
        assert!(answer["result"]["content"].is_array(), "{answer}");
        shown.push(answer.to_string());
    }
    let host = dir.path().to_str().expect("a plain name");
    assert!(shown.iter().all(|text| !text.contains(host)), "{host}: {shown:?}");
    assert!(shown[2].contains("/mnt/user-data/workspace/"), "{}", shown[2]);
}

#[test]
fn end_of_input_exits_with_0_even_before_the_first_request() {
    let dir = workspace();
    let mut process = Process::start(dir.path(), &[]);
    process.end_input();
    assert_eq!(process.next(), None);
    let (status, log) = process.exit();
    assert_eq!(status.code(), Some(0), "{log}");
}

#[test]
fn a_running_call_is_answered_after_the_input_ends() {
    let dir = workspace();
    let mut process = Process::start(dir.path(), &[]);
    process.initialize();
    process.bytes(
        br#"{"jsonrpc":"2.0","id":"last","method":"tools/call","params":{"name":"grep","arguments":{"pattern":"second"},"_meta":{"progressToken":1}}}"#,
    );
    process.end_input();
    let answer = loop {
        let message = process.next().expect("an answer");
        if message.get("id").is_some() {
            break message;
        }
    };
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!("last"), &json!(false)), "{answer}");
    assert_eq!(process.next(), None);
    assert_eq!(process.exit().0.code(), Some(0));
}

#[test]
#[expect(clippy::disallowed_types, reason = "half a gigabyte is not written from memory")]
fn a_search_of_one_large_file_reports_progress() {
    let dir = workspace();
    // Progress is reported four times per second: this is enough for several reports, even on a fast machine.
    let size: u32 = if cfg!(debug_assertions) { 512 << 20 } else { 1 << 30 };
    let mut file = fs::File::create(dir.path().join("huge.log")).expect("a file");
    let block = vec![b'\n'; 1 << 20];
    (0..size >> 20).for_each(|_| file.write_all(&block).expect("space on the disk"));
    let mut process = Process::start(dir.path(), &["--time-limit", "600"]);
    process.initialize();
    process.line(
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"grep","arguments":{"pattern":"needle","path":"huge.log"},"_meta":{"progressToken":1}}}"#,
    );
    let mut progress = Vec::new();
    let answer = loop {
        let message = process.next().expect("an answer");
        if message.get("id").is_some() {
            break message;
        }
        assert_eq!(message["params"]["total"].as_f64(), Some(f64::from(size)), "{message}");
        let words = message["params"]["message"].as_str().expect("words").to_owned();
        assert!(words.ends_with(&format!("of {size} bytes")), "{words}");
        progress.push(message["params"]["progress"].as_f64().expect("progress"));
    };
    assert!(answer["result"]["content"][0]["text"].as_str().expect("text").starts_with("No matches"), "{answer}");
    assert!(
        !progress.is_empty() && progress.is_sorted() && progress.iter().all(|done| *done <= f64::from(size)),
        "{progress:?}"
    );
    process.end_input();
}

#[test]
fn broken_lines_are_answered_and_the_session_continues() {
    let dir = workspace();
    let mut process = Process::start(dir.path(), &[]);
    process.initialize();
    process.line("npm WARN deprecated");
    assert_eq!(process.next().expect("an answer")["error"]["code"], -32700);
    process.bytes(b"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/call\",\"params\":{\"name\":\"\xff\"}}\n");
    let answer = process.next().expect("an answer");
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("x"), &json!(-32602)), "{answer}");
    let long = "x".repeat(17 << 20);
    process.line(&format!(r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"name":"{long}"}},"id":"long"}}"#));
    let answer = process.next().expect("an answer");
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("long"), &json!(-32600)), "{answer}");
    assert_eq!(process.ask("ping", &json!({}))["result"], json!({}));
}

#[cfg(unix)]
mod signals {
    use rustix::process::Signal;

    use super::*;

    fn ends_with_0(process: Process, signal: Signal) {
        process.signal(signal);
        let (status, log) = process.exit();
        assert_eq!(status.code(), Some(0), "{signal:?} {status:?} {log}");
    }

    #[test]
    fn sigterm_and_sigint_exit_with_0_when_idle() {
        let dir = workspace();
        for signal in [Signal::TERM, Signal::INT] {
            let mut process = Process::start(dir.path(), &[]);
            process.initialize();
            ends_with_0(process, signal);
        }
    }

    #[test]
    fn sigterm_and_sigint_exit_with_0_before_a_session() {
        let dir = workspace();
        for signal in [Signal::TERM, Signal::INT] {
            let mut process = Process::start(dir.path(), &[]);
            // The answer shows that the server is running; it opens no session.
            assert_eq!(process.ask("ping", &json!({}))["result"], json!({}));
            ends_with_0(process, signal);
        }
    }

    #[test]
    fn a_signal_ends_a_server_during_calls() {
        let dir = workspace();
        let mut process = Process::start(dir.path(), &[]);
        process.initialize();
        for _ in 0..200 {
            process.send("tools/call", &json!({ "name": "grep", "arguments": { "pattern": "s.*d" } }));
        }
        ends_with_0(process, Signal::TERM);
    }
}
