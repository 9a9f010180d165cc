//! The second wall on macOS: the program behind its Seatbelt profile, as a client and a person see it.
//!
//! What the kernel refuses is tested with the profile itself, in `crates/self-sandbox/src/seatbelt/restart.rs`.

use std::{fs, process::Command};

use serde_json::json;

use crate::{
    process::Process,
    program::{Outcome, program},
};

#[test]
fn confined_server_reads_writes_and_keeps_its_records() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = |name: &str| dir.path().join(name);
    for name in ["app", "lib", "quote\" (x)"] {
        fs::create_dir(at(name)).expect("made");
        fs::write(at(name).join("file.txt"), "one\n").expect("written");
    }
    let options = ["--confine", "required", "--audit", "log/audit.jsonl", "--root", "app=app", "--root", "lib=lib:ro"];
    let odd = ["--root", "odd=quote\" (x)"];
    let mut server = Process::start_remembering(dir.path(), &at("state"), &[&options[..], &odd[..]].concat());
    server.initialize();
    let mut call = |tool: &str, arguments: serde_json::Value| {
        let answer = server.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        answer["result"]["isError"].as_bool() != Some(true)
    };
    for root in ["app", "odd"] {
        let path = format!("{root}/file.txt");
        assert!(call("glob", json!({ "pattern": "**/*.txt", "path": root })));
        assert!(call("grep", json!({ "pattern": "one", "path": root })));
        assert!(call("read", json!({ "path": path })));
        assert!(call("edit", json!({ "path": path, "old_string": "one", "new_string": "two" })));
        assert!(call("write", json!({ "path": format!("{root}/new/file"), "content": "new" })));
    }
    assert!(call("read", json!({ "path": "lib/file.txt" })));
    assert!(!call("edit", json!({ "path": "lib/file.txt", "old_string": "one", "new_string": "two" })));
    assert!(!call("read", json!({ "path": "/etc/hosts" })));
    assert_eq!(fs::read_to_string(at("app/file.txt")).expect("read"), "two\n");
    assert_eq!(fs::read_to_string(at("lib/file.txt")).expect("read"), "one\n");
    assert!(fs::read_to_string(at("log/audit.jsonl")).expect("read").lines().count() >= 10);
    assert!(fs::read_dir(at("state")).expect("a folder").count() > 0);
}

#[test]
fn doctor_says_that_the_profile_is_in_force() {
    let dir = tempfile::tempdir().expect("a folder");
    let ended = Outcome::of(program(dir.path()).args(["doctor", "--confine", "required", "--state-dir", "state", "."]));
    let text = ended.succeeded();
    assert!(text.contains("a Seatbelt profile allows only the directories"), "{text}");
    assert!(text.contains("programs and sockets are refused (Seatbelt)"), "{text}");
}

#[test]
fn variable_that_pretends_a_restart_does_not_make_it_confined() {
    let dir = tempfile::tempdir().expect("a folder");
    let run = |confine: &str| {
        let mut command = program(dir.path());
        command.env("_ROOTBOUND_RESTARTED", "run");
        Outcome::of(command.args(["doctor", "--state-dir", "off", "--confine", confine, "."]))
    };
    let error = run("required").failed(2);
    assert!(error.contains("confinement is required") && error.contains("may start programs"), "{error}");
    let ended = run("auto");
    assert!(
        ended.code == Some(1) && ended.stdout.contains("the kernel does not confine the process"),
        "{}",
        ended.stdout
    );
}

#[test]
fn inside_of_another_sandbox_the_server_still_works() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("file.txt"), "one\n").expect("written");
    let mut command = Command::new("/usr/bin/sandbox-exec");
    command.args(["-p", "(version 1)(allow default)(deny network*)", env!("CARGO_BIN_EXE_rootbound")]);
    command.args(["--state-dir", "off", ".", "call", "read", "path=file.txt"]).current_dir(dir.path());
    assert!(Outcome::of(&mut command).succeeded().contains("one"));
}
