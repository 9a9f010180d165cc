//! Limits of a session and of a call, as a model meets them.

use std::fs;

use confined_fs::Access;
use file_tools::{Group, Selection, session::QuotaLimits};
use rootbound::server::InProcessClient;
use serde_json::{Value, json};

use crate::{
    harness::process::Process,
    harness::{Harness, Setup, mcp_test},
};

fn limited(more: &[&str]) -> (tempfile::TempDir, Process) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(dir.path().join("root")).expect("a folder");
    fs::write(dir.path().join("root/a.txt"), "alpha\n").expect("a file");
    let arguments = [&["--read-before-write", "off", "root"], more].concat();
    let mut process = Process::start(dir.path(), &arguments);
    process.initialize();
    (dir, process)
}

/// A harness with the tools of the group manage.
fn manage(setup: Setup) -> Harness {
    let selection = Selection { groups: vec![Group::Manage], ..Selection::default() };
    Setup { selection, ..setup }.open()
}

fn call(process: &mut Process, tool: &str, arguments: &Value) -> (Option<String>, String) {
    let answer = process.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
    let result = &answer["result"];
    let kind = result["_meta"]["rootbound/error"].as_str().map(str::to_owned);
    (kind, result["content"][0]["text"].as_str().unwrap_or_default().to_owned())
}

fn refused(process: &mut Process, tool: &str, arguments: &Value, option: &str) {
    let (kind, text) = call(process, tool, arguments);
    assert_eq!(kind.as_deref(), Some("quota"), "{text}");
    assert!(text.contains(option), "{text}");
}

#[test]
fn a_session_creates_up_to_the_limit_of_files() {
    let (dir, mut process) = limited(&["--max-files-created", "2"]);
    for name in ["b.txt", "c.txt"] {
        assert_eq!(call(&mut process, "write", &json!({ "path": name, "content": "x" })).0, None);
    }
    refused(&mut process, "write", &json!({ "path": "d.txt", "content": "x" }), "--max-files-created");
    refused(
        &mut process,
        "edit",
        &json!({ "path": "d.txt", "old_string": "", "new_string": "x" }),
        "--max-files-created",
    );
    assert!(!dir.path().join("root/d.txt").exists());
    assert_eq!(call(&mut process, "write", &json!({ "path": "b.txt", "content": "y" })).0, None);
}

#[test]
fn parent_directories_count_and_are_removed_after_a_failure() {
    let (dir, mut process) = limited(&["--max-files-created", "5", "--allow", "manage"]);
    let deep = "d/".repeat(20);
    refused(&mut process, "write", &json!({ "path": format!("{deep}f"), "content": "x" }), "--max-files-created");
    refused(&mut process, "mkdir", &json!({ "path": deep }), "--max-files-created");
    refused(&mut process, "copy", &json!({ "source": "a.txt", "destination": format!("{deep}f") }), "--max-files");
    refused(&mut process, "move", &json!({ "source": "a.txt", "destination": format!("{deep}f") }), "--max-files");
    let long = format!("e/f/{}", "x".repeat(256));
    for tool in ["write", "mkdir"] {
        let content = if tool == "write" { json!({ "path": long, "content": "x" }) } else { json!({ "path": long }) };
        let (kind, text) = call(&mut process, tool, &content);
        assert_eq!(kind.as_deref(), Some("invalid_input"), "{text}");
    }
    assert!(!dir.path().join("root/d").exists() && !dir.path().join("root/e").exists());
    // Two directories and a file leave two.
    assert_eq!(call(&mut process, "write", &json!({ "path": "p/q/f", "content": "x" })).0, None);
    assert_eq!(call(&mut process, "mkdir", &json!({ "path": "p/r/s" })).0, None);
    refused(&mut process, "mkdir", &json!({ "path": "t" }), "--max-files-created");
    assert!(dir.path().join("root/p/r/s").is_dir());
}

#[test]
fn a_session_writes_up_to_the_limit_of_bytes() {
    let (dir, mut process) = limited(&["--max-bytes-written", "10"]);
    assert_eq!(call(&mut process, "write", &json!({ "path": "b.txt", "content": "123456" })).0, None);
    refused(&mut process, "write", &json!({ "path": "a.txt", "content": "12345" }), "--max-bytes-written");
    refused(
        &mut process,
        "edit",
        &json!({ "path": "a.txt", "old_string": "alpha", "new_string": "beta" }),
        "--max-bytes-written",
    );
    assert_eq!(fs::read_to_string(dir.path().join("root/a.txt")).expect("it exists"), "alpha\n");
    // A refused change cost nothing.
    assert_eq!(call(&mut process, "write", &json!({ "path": "b.txt", "content": "1234" })).0, None);
}

#[test]
fn a_failed_change_costs_nothing() {
    let (_dir, mut process) = limited(&["--max-files-created", "1"]);
    let taken = json!({ "path": "a.txt/b", "content": "x" });
    assert_eq!(call(&mut process, "write", &taken).0.as_deref(), Some("invalid_input"));
    assert_eq!(call(&mut process, "write", &json!({ "path": "b.txt", "content": "x" })).0, None);
}

#[test]
fn a_root_does_not_grow_beyond_its_limit() {
    let (dir, mut process) = limited(&["--max-root-size", "100"]);
    assert_eq!(call(&mut process, "write", &json!({ "path": "b.txt", "content": "x".repeat(80) })).0, None);
    refused(&mut process, "write", &json!({ "path": "c.txt", "content": "x".repeat(20) }), "--max-root-size");
    assert!(!dir.path().join("root/c.txt").exists());
    assert_eq!(call(&mut process, "write", &json!({ "path": "b.txt", "content": "x".repeat(40) })).0, None);
}

#[test]
fn root_size_counts_encoded_bytes() {
    let (dir, mut process) = limited(&["--max-root-size", "3000", "--allow", "manage"]);
    let root = dir.path().join("root");
    let utf16 =
        |letter: &str| [b"\xff\xfe".to_vec(), letter.repeat(1000).encode_utf16().flat_map(u16::to_le_bytes).collect()];
    fs::write(root.join("u.txt"), utf16("a").concat()).expect("a file");
    assert_eq!(call(&mut process, "write", &json!({ "path": "u.txt", "content": "b".repeat(1000) })).0, None);
    assert_eq!(fs::read(root.join("u.txt")).expect("it exists"), utf16("b").concat());
    let edit = json!({ "path": "u.txt", "old_string": "b".repeat(1000), "new_string": "c".repeat(1000) });
    assert_eq!(call(&mut process, "edit", &edit).0, None);
    // Binary content counts, too, and is freed.
    fs::write(root.join("u.txt"), [0; 2000]).expect("a file");
    assert_eq!(call(&mut process, "write", &json!({ "path": "u.txt", "content": "d".repeat(2000) })).0, None);
    fs::write(root.join("v.txt"), "e".repeat(900)).expect("a file");
    let over = json!({ "source": "v.txt", "destination": "u.txt", "overwrite": true });
    assert_eq!(call(&mut process, "copy", &over).0, None);
}

#[test]
fn copies_and_directories_count() {
    let (_dir, mut process) = limited(&["--allow", "manage", "--max-files-created", "2"]);
    assert_eq!(call(&mut process, "mkdir", &json!({ "path": "d" })).0, None);
    assert_eq!(call(&mut process, "copy", &json!({ "source": "a.txt", "destination": "d/a.txt" })).0, None);
    refused(&mut process, "mkdir", &json!({ "path": "e" }), "--max-files-created");
    refused(&mut process, "copy", &json!({ "source": "a.txt", "destination": "b.txt" }), "--max-files-created");
}

#[test]
fn a_move_into_another_root_counts_there() {
    let roots = vec![(Some("a"), "a", Access::ReadWrite), (Some("b"), "b", Access::ReadWrite)];
    let h = manage(Setup {
        roots,
        quota: QuotaLimits { root_bytes: Some(100), ..QuotaLimits::default() },
        ..Setup::default()
    });
    h.write("large.txt", "x".repeat(80));
    h.write("more.txt", "x".repeat(80));
    h.call("move", json!({ "source": "a/large.txt", "destination": "b/large.txt" })).ok();
    let text = h.call("move", json!({ "source": "a/more.txt", "destination": "b/more.txt" })).fails("quota");
    assert!(text.contains("--max-root-size") && h.exists("more.txt"), "{text}");
    // A move within a root costs nothing, nor does a move back if there is room.
    h.call("move", json!({ "source": "b/large.txt", "destination": "b/other.txt" })).ok();
    h.call("undo", json!({})).ok();
    assert_eq!(fs::read_dir(h.outside("b")).expect("it exists").count(), 1);
}

#[test]
fn bytes_written_by_undo_count() {
    let h = manage(Setup { quota: QuotaLimits { bytes: 300, ..QuotaLimits::default() }, ..Setup::default() });
    h.write("a.txt", "x".repeat(100));
    for _ in 0..3 {
        h.call("read", json!({ "path": "a.txt" })).ok();
        h.call("delete", json!({ "path": "a.txt" })).ok();
        h.call("undo", json!({})).ok();
    }
    h.call("read", json!({ "path": "a.txt" })).ok();
    h.call("delete", json!({ "path": "a.txt" })).ok();
    let text = h.call("undo", json!({})).fails("quota");
    assert!(text.contains("--max-bytes-written") && !h.exists("a.txt"), "{text}");
}

#[test]
fn undo_of_a_write_counts_the_bytes_written() {
    let h = manage(Setup { quota: QuotaLimits { bytes: 105, ..QuotaLimits::default() }, ..Setup::default() });
    h.write("a.txt", "x".repeat(100));
    h.call("read", json!({ "path": "a.txt" })).ok();
    h.call("write", json!({ "path": "a.txt", "content": "short" })).ok();
    h.call("undo", json!({})).ok();
    h.call("write", json!({ "path": "a.txt", "content": "y" })).fails("quota");
    assert_eq!(h.bytes("a.txt"), "x".repeat(100).into_bytes());
}

#[test]
fn freed_space_of_a_root_is_usable_at_once() {
    let quota = QuotaLimits { root_bytes: Some(1_000), ..QuotaLimits::default() };
    let h = manage(Setup { quota, ..Setup::default() });
    h.call("write", json!({ "path": "a.txt", "content": "x".repeat(900) })).ok();
    h.call("write", json!({ "path": "b.txt", "content": "y".repeat(101) })).fails("quota");
    for (tool, arguments) in [
        ("delete", json!({ "path": "a.txt" })),
        ("write", json!({ "path": "a.txt", "content": "short" })),
        ("edit", json!({ "path": "a.txt", "old_string": "x".repeat(900), "new_string": "z" })),
    ] {
        h.call(tool, arguments).ok();
        h.call("undo", json!({})).ok();
        assert_eq!(h.bytes("a.txt").len(), 900, "{tool}");
        h.call("read", json!({ "path": "a.txt" })).ok();
    }
    h.call("copy", json!({ "source": "a.txt", "destination": "c.txt" })).fails("quota");
    h.call("delete", json!({ "path": "a.txt" })).ok();
    h.call("write", json!({ "path": "b.txt", "content": "y".repeat(1_000) })).ok();
    h.call("write", json!({ "path": "c.txt", "content": "y" })).fails("quota");
}

mcp_test!(too_many_arguments_are_refused, |h| {
    let many: serde_json::Map<String, Value> = (0..1_000).map(|number| (format!("k{number}"), json!(1))).collect();
    let text = h.call("read", Value::Object(many)).fails("invalid_input");
    assert!(text.contains("1000 arguments") && text.len() < 200, "{text}");
});

mcp_test!(deeply_nested_arguments_are_refused, |h| {
    let deep = (0..20).fold(json!(1), |inner, _| json!([inner]));
    let text = h.call("edit", json!({ "path": "a", "edits": deep })).fails("invalid_input");
    assert!(text.contains("`edits`") && text.contains("deep"), "{text}");
});

#[test]
fn at_most_fifty_arguments_are_accepted() {
    let h = Setup::default().open();
    let of = |count: u32| -> Value { (0..count).map(|number| (format!("a{number}"), json!(1))).collect() };
    assert!(!h.call("ls", of(50)).fails("invalid_input").contains("at most"));
    assert!(h.call("ls", of(51)).fails("invalid_input").starts_with("51 arguments were sent; a call takes at most 50"));
}

#[test]
fn concurrent_changes_cannot_exceed_the_quota() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(dir.path().join("root")).expect("a folder");
    let mut process = Process::start(dir.path(), &["--max-files-created", "20", "root"]);
    process.initialize();
    for number in 0..60 {
        process.send(
            "tools/call",
            &json!({ "name": "write", "arguments": { "path": format!("f{number}"), "content": "x" } }),
        );
    }
    let refused = (0..60).filter(|_| process.next().expect("an answer")["result"]["isError"] == true).count();
    assert_eq!(refused, 40);
    assert_eq!(fs::read_dir(dir.path().join("root")).expect("it exists").count(), 20);
}

#[test]
fn default_limits_allow_ordinary_work() {
    let default = QuotaLimits::default();
    assert!(default.files >= 1_000 && default.bytes >= 100 << 20 && default.root_bytes.is_none());
    let dir = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(dir.path().join("root")).expect("a folder");
    let mut client = InProcessClient::open(Setup::default().server(dir.path())).expect("the server starts");
    for number in 0..200 {
        let arguments = json!({ "path": format!("f{number}"), "content": "x" });
        let outcome = client.call("write", arguments.as_object().expect("an object").clone()).expect("an answer");
        assert!(!outcome.is_error, "{}", outcome.text());
    }
}
