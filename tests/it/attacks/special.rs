//! FIFOs, sockets, devices, endless and enormous files: refused or bounded, never waited for.

use serde_json::json;

use super::{Case, Expect, case, every_tool};

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = ["fifo", "socket", "device"]
        .iter()
        .flat_map(|path| every_tool(path, &format!("app/{path}"), &NOT_A_FILE))
        .filter(|case| case.tool != "ls")
        .collect();
    for path in ["fifo", "socket", "device"] {
        let listed = Expect::Answers("special file");
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
        case("a directory as a file", "read", json!({ "path": "app/sub" }), NOT_A_FILE),
        case("a directory written", "write", json!({ "path": "app/sub", "content": "x" }), NOT_A_FILE),
        case("a root written", "write", json!({ "path": "app", "content": "x" }), NOT_A_FILE),
        case("a root edited", "edit", json!({ "path": ".", "old_string": "", "new_string": "x" }), NOT_A_FILE),
        case("an empty path", "write", json!({ "path": "", "content": "x" }), NOT_A_FILE),
    ]);
    cases
}

const NOT_A_FILE: Expect = Expect::Fails(&["invalid_input", "not_found", "denied"]);
