//! Permissions that stop a change halfway: nothing is lost, and the answer says what happened.
//!
//! root may do everything, so a test that runs as root starts the server as another user.

#![cfg(unix)]
#![expect(clippy::print_stdout, reason = "says what was skipped")]

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::Command,
};

use rustix::process::geteuid;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::process::Process;

/// `nobody`, if the tests run as root.
const SOMEBODY: u32 = 65534;

struct Place {
    dir: TempDir,
    program: PathBuf,
    user: u32,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let user = if geteuid().is_root() { SOMEBODY } else { geteuid().as_raw() };
        // The other user may not read the folder of the binary. Another process copies it: a child that another test
        // starts meanwhile would inherit the open file, and a file open for writing cannot be run (ETXTBSY).
        let program = dir.path().join("program");
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_rootbound")).arg(&program).status();
        assert!(copied.expect("cp starts").success());
        let place = Self { dir, program, user };
        Self::give(&place.dir.path().join(""), 0o755, user);
        place.folder("root", 0o755, user);
        place
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    fn give(path: &Path, mode: u32, owner: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("rights are set");
        if owner != geteuid().as_raw() {
            chown(path, Some(owner), Some(owner)).expect("the superuser gives it away");
        }
    }

    fn folder(&self, below: &str, mode: u32, owner: u32) {
        fs::create_dir_all(self.path(below)).expect("a folder");
        Self::give(&self.path(below), mode, owner);
    }

    fn file(&self, below: &str, owner: u32) {
        fs::write(self.path(below), below).expect("a file");
        Self::give(&self.path(below), 0o644, owner);
    }

    fn serve(&self) -> Process {
        let mut process =
            Process::start_as(self.user, &self.program, self.dir.path(), &["--allow", "manage", "--root", "app=root"]);
        process.initialize();
        process
    }
}

fn call(process: &mut Process, tool: &str, arguments: &Value) -> (bool, String) {
    let answer = process.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    (answer["result"]["isError"] == json!(true), text)
}

#[test]
fn directory_that_may_not_be_read_is_one_line_and_one_sentence() {
    let place = Place::new();
    place.folder("locked/x", 0o755, place.user);
    place.file("root/here.txt", place.user);
    for (folder, mode) in [("locked/x", 0o000), ("locked/x", 0o644), ("locked", 0o000)] {
        Place::give(&place.path(folder), mode, place.user);
        for options in [&["locked/x"][..], &["--root", "x=locked/x", "--resolver", "walk"]] {
            let mut server = Process::start_as(place.user, &place.program, place.dir.path(), options);
            server.initialize();
            let (is_error, text) = call(&mut server, "ls", &json!({}));
            let why = "x could not be read when the server started (permission denied)";
            assert!(is_error && text.contains(why), "{folder} {mode:o}: {text}");
            server.end_input();
            let (_, log) = server.exit();
            assert_eq!(log.lines().count(), 1, "{folder} {mode:o}: {log}");
        }
        let mixed = ["--root", "app=root", "--root", "x=locked/x"];
        let mut server = Process::start_as(place.user, &place.program, place.dir.path(), &mixed);
        server.initialize();
        let (_, text) = call(&mut server, "ls", &json!({}));
        assert!(
            text.contains("\n  x/ (read-write, could not be read when the server started (permission denied))"),
            "{text}"
        );
        let optional = ["--root", "app=root", "--root", "x=locked/x:optional"];
        let mut server = Process::start_as(place.user, &place.program, place.dir.path(), &optional);
        server.initialize();
        let is_listed = mode != 0o000;
        let note = if is_listed { "" } else { ", may not be read (permission denied)" };
        let (_, text) = call(&mut server, "ls", &json!({}));
        assert_eq!(text, format!("2 roots:\n  app/ (read-write)\n  x/ (read-write{note})"), "{folder} {mode:o}");
        for tool in ["glob", "grep"] {
            let (is_error, text) = call(&mut server, tool, &json!({ "pattern": "here*" }));
            let left_out = text.contains("(not searched: x, may not be read (permission denied))");
            assert!(!is_error && text.contains("app/here.txt") && left_out != is_listed, "{folder} {mode:o}: {text}");
        }
        if is_listed {
            // One that only passes: what has a name there can be read, and a search of all roots says that it was left out.
            Place::give(&place.path("locked/x"), 0o111, place.user);
            let (is_error, text) = call(&mut server, "grep", &json!({ "pattern": "here*" }));
            assert!(!is_error && text.contains("(not searched: x, may not be read (permission denied))"), "{text}");
        }
        server.end_input();
        let (_, log) = server.exit();
        assert_eq!(log.matches(" cannot be used: ").count(), log.lines().count(), "{log}");
        Place::give(&place.path(folder), 0o755, place.user);
    }
}

#[test]
fn a_delete_without_permission_for_a_part_deletes_nothing() {
    let place = Place::new();
    place.folder("root/d", 0o755, place.user);
    place.folder("root/d/a", 0o755, place.user);
    place.file("root/d/a/one.txt", place.user);
    place.file("root/d/keep.txt", place.user);
    place.folder("root/d/ro", 0o755, place.user);
    place.file("root/d/ro/x.txt", place.user);
    Place::give(&place.path("root/d/ro"), 0o555, place.user);
    let mut process = place.serve();
    let (failed, text) = call(&mut process, "delete", &json!({ "path": "app/d", "recursive": true }));
    Place::give(&place.path("root/d/ro"), 0o755, place.user);
    assert!(failed && text.contains("permissions") && !text.contains("in part"), "{text}");
    for file in ["root/d/a/one.txt", "root/d/keep.txt", "root/d/ro/x.txt"] {
        assert_eq!(fs::read_to_string(place.path(file)).expect(file), file);
    }
    assert_eq!(fs::read_dir(place.path("root")).expect("a folder").count(), 1, "nothing is left aside");
    let (failed, text) = call(&mut process, "delete", &json!({ "path": "app/d", "recursive": true }));
    assert!(!failed && !place.path("root/d").exists(), "{text}");
}

/// Only root can prepare it: files of another user in a folder where everybody may create files and only their owners
/// may remove them (sticky bit).
#[test]
fn a_delete_that_fails_midway_is_rolled_back() {
    if !geteuid().is_root() {
        println!("SKIPPED: only the superuser can make files of two users");
        return;
    }
    let place = Place::new();
    place.folder("root/d", 0o755, place.user);
    place.file("root/d/keep.txt", place.user);
    place.folder("root/d/a", 0o755, place.user);
    place.file("root/d/a/one.txt", place.user);
    place.folder("root/d/sticky", 0o1777, 0);
    place.file("root/d/sticky/theirs.txt", 0);
    let mut process = place.serve();
    let (failed, text) = call(&mut process, "delete", &json!({ "path": "app/d", "recursive": true }));
    assert!(failed && text.contains("forbid access to app/d/sticky/theirs.txt"), "{text}");
    let (failed, text) = call(&mut process, "undo", &json!({}));
    assert!(failed, "nothing was done: {text}");
    for file in ["root/d/a/one.txt", "root/d/keep.txt", "root/d/sticky/theirs.txt"] {
        assert_eq!(fs::read_to_string(place.path(file)).expect(file), file);
    }
}
