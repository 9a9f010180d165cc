//! FIFOs, sockets, devices, endless and huge files: refused or limited, never waited for.

use std::{ffi::OsStr, os::fd::OwnedFd, process::Command};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use serde_json::json;

use super::{Barrier, Case, DENIED, Expect, case, every_tool, world::World};

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = ["fifo", "socket", "device"]
        .iter()
        .flat_map(|path| every_tool(path, &format!("app/{path}"), &NOT_A_FILE))
        .filter(|case| case.tool != "ls")
        .collect();
    for path in ["fifo", "socket", "device"] {
        // Who may make no device has a link to one.
        let is_link = path == "device" && !rustix::process::geteuid().is_root();
        let listed = if is_link { DENIED } else { Expect::Answers("special file") };
        cases.push(case(format!("{path}: ls"), "ls", json!({ "path": format!("app/{path}") }), listed));
    }
    cases.extend([
        case("grep passes them", "grep", json!({ "pattern": "alpha", "no_ignore": true }), Expect::Answers("a.txt:1")),
        case("glob names them at most", "glob", json!({ "pattern": "{fifo,socket,device}" }), Expect::Harmless),
        case(
            "a terabyte is not read",
            "read",
            json!({ "path": "app/sparse.bin" }),
            Expect::Fails(&["binary", "too_large"]),
        ),
        case(
            "nor its end",
            "read",
            json!({ "path": "app/sparse.bin", "offset": -5 }),
            Expect::Fails(&["binary", "too_large", "timed_out"]),
        ),
        case(
            "nor edited",
            "edit",
            json!({ "path": "app/sparse.bin", "old_string": "a", "new_string": "b" }),
            Expect::Fails(&["too_large"]),
        ),
        case(
            "nor appended to",
            "write",
            json!({ "path": "app/sparse.bin", "content": "b", "mode": "append" }),
            Expect::Fails(&["too_large"]),
        ),
        case("nor searched", "grep", json!({ "pattern": "a", "path": "app/sparse.bin" }), Expect::Harmless),
        case("a huge line is cut", "read", json!({ "path": "app/long-line.txt" }), Expect::Answers("xxx")),
        case("and cut as a hit", "grep", json!({ "pattern": "x", "path": "app/long-line.txt" }), Expect::Answers("…")),
        case("a deep tree is listed", "ls", json!({ "path": "app/deep", "depth": 5 }), Expect::Answers("dddddd")),
        case("a deep tree is walked", "glob", json!({ "pattern": "**/nothing-here" }), Expect::Harmless),
        case("a file as a directory", "read", json!({ "path": "app/a.txt/x" }), NOT_A_FILE),
        case(
            "a directory that is read is listed",
            "read",
            json!({ "path": "app/sub" }),
            Expect::Answers("[protected]"),
        ),
        case("a directory written", "write", json!({ "path": "app/sub", "content": "x" }), NOT_A_FILE),
        case("a root written", "write", json!({ "path": "app", "content": "x" }), NOT_A_FILE),
        case("a root edited", "edit", json!({ "path": ".", "old_string": "", "new_string": "x" }), NOT_A_FILE),
        case("an empty path", "write", json!({ "path": "", "content": "x" }), NOT_A_FILE),
    ]);
    cases
}

const NOT_A_FILE: Expect = Expect::Fails(&["invalid_input", "not_found", "denied"]);

/// Deeper than any path that a system call takes; found, listed and left without a crash.
#[test]
fn a_tree_of_five_thousand_levels_does_not_end_the_server() {
    for barrier in [Barrier::All, Barrier::Walk] {
        let mut world = World::new(barrier);
        let top = world.path("root/abyss");
        std::fs::create_dir(&top).expect("a folder");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut here: OwnedFd = openat(CWD, &top, flags, Mode::empty()).expect("it exists");
        for _ in 0..5_000 {
            mkdirat(&here, OsStr::new("d"), Mode::from_raw_mode(0o755)).expect("a folder");
            here = openat(&here, OsStr::new("d"), flags, Mode::empty()).expect("it exists");
        }
        drop(here);
        for (tool, arguments) in [
            ("glob", json!({ "pattern": "**/*.none", "path": "app/abyss" })),
            ("glob", json!({ "pattern": "**/d", "path": "app/abyss", "include_dirs": true, "max_results": 5 })),
            ("grep", json!({ "pattern": "x", "path": "app/abyss" })),
            ("ls", json!({ "path": "app/abyss", "depth": 5 })),
            ("read", json!({ "path": format!("app/abyss/{}x", "d/".repeat(1_900)) })),
            ("read", json!({ "path": format!("app/abyss/{}x", "d/".repeat(5_000)) })),
        ] {
            let answer = world.process().ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
            assert!(answer["result"]["content"].is_array(), "{barrier:?}: {answer}");
            world.silent(&arguments.to_string(), &answer).expect("nothing leaks");
        }
        world.alive();
        // The library's own removal holds a descriptor for each level.
        assert!(Command::new("rm").arg("-rf").arg(&top).status().expect("rm runs").success());
    }
}

/// Legitimate: a root that is a link.
#[test]
fn a_root_that_is_a_link_is_served() {
    for barrier in [Barrier::All, Barrier::Openat2, Barrier::Walk] {
        let dir = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(dir.path().join("real")).expect("a folder");
        std::fs::write(dir.path().join("real/a.txt"), "alpha\n").expect("a file");
        std::os::unix::fs::symlink("real", dir.path().join("alias")).expect("a link");
        std::os::unix::fs::symlink(dir.path().join("alias/a.txt"), dir.path().join("real/again")).expect("a link");
        let mut process =
            crate::harness::process::Process::start_checked(dir.path(), &[barrier.arguments(), &["alias"]].concat());
        process.initialize();
        for path in ["a.txt", "again", dir.path().join("alias/a.txt").to_str().expect("a plain name")] {
            let answer = process.ask("tools/call", &json!({ "name": "read", "arguments": { "path": path } }));
            assert_eq!(answer["result"]["isError"], false, "{barrier:?} {path}: {answer}");
        }
    }
}
