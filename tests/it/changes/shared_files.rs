//! Files belong to others, too: an append goes to the file itself, rights bind, owner and group stay.
//!
//! What takes a second user needs root, which starts the server as another user; what takes a mount needs the right to.

#![cfg(unix)]
#![expect(clippy::print_stdout, reason = "says what was skipped")]
#![expect(clippy::disallowed_types, reason = "the test is the other program")]

use std::{
    fs::{self, File, OpenOptions},
    io::{Read as _, Write as _},
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _, chown},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use file_tools::{Group, Selection};
use rustix::process::geteuid;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    harness::process::Process,
    harness::{Harness, Setup, mcp_test},
};

/// `nobody`, and another user.
const SOMEBODY: u32 = 65534;
const OTHER: u32 = 4321;

fn with_state() -> Harness {
    let selection = Selection { groups: vec![Group::Manage], ..Selection::default() };
    Setup { selection, state: true, ..Setup::default() }.open()
}

fn append(h: &Harness, path: &str, content: &str) -> String {
    h.call("write", json!({ "path": path, "mode": "append", "content": content })).text()
}

fn undo(h: &Harness) -> String {
    h.call("undo", json!({})).text()
}

// What is appended goes to the file itself.

#[test]
fn a_program_that_has_the_file_open_loses_nothing_beside_a_thousand_appends() {
    let h = with_state();
    h.write("app.log", "start\n");
    let path = h.path("app.log");
    let inode = fs::metadata(&path).unwrap().ino();
    let mut theirs = OpenOptions::new().append(true).open(&path).unwrap();
    let writer = thread::spawn(move || {
        for number in 0..2_000 {
            // In one write, as a program writes a line: nothing comes between its parts.
            theirs.write_all(format!("theirs {number}\n").as_bytes()).unwrap();
        }
    });
    for number in 0..1_000 {
        let text = append(&h, "app.log", &format!("ours {number}\n"));
        assert!(text.starts_with("Appended ") && !text.contains("+theirs"), "{text}");
    }
    writer.join().unwrap();
    let now = fs::read_to_string(&path).unwrap();
    let of = |who: &str| now.lines().filter(|line| line.starts_with(who)).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(of("ours"), (0..1_000).map(|number| format!("ours {number}")).collect::<Vec<_>>());
    assert_eq!(of("theirs"), (0..2_000).map(|number| format!("theirs {number}")).collect::<Vec<_>>());
    assert_eq!((now.lines().count(), fs::metadata(&path).unwrap().ino()), (3_001, inode));
}

#[test]
fn an_append_and_its_undo_reach_who_follows_the_file() {
    let h = with_state();
    h.write("app.log", "one\n");
    let path = h.path("app.log");
    let mut tail = File::open(&path).unwrap();
    let mut theirs = OpenOptions::new().append(true).open(&path).unwrap();
    append(&h, "app.log", "two\n");
    theirs.write_all(b"three\n").unwrap();
    let mut seen = String::new();
    tail.read_to_string(&mut seen).unwrap();
    assert_eq!(seen, "one\ntwo\nthree\n");
    // Their line came later, and stays.
    let text = undo(&h);
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\nthree\n", "{text}");
    theirs.write_all(b"four\n").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\nthree\nfour\n");
}

#[test]
fn an_undo_of_everything_leaves_the_lines_of_others() {
    let h = with_state();
    h.write("app.log", "one\n");
    append(&h, "app.log", "ours 1\n");
    let path = h.path("app.log");
    let mut theirs = OpenOptions::new().append(true).open(&path).unwrap();
    theirs.write_all(b"theirs\n").unwrap();
    append(&h, "app.log", "ours 2\n");
    let text = h.call("undo", json!({ "to": "session" })).text();
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntheirs\n", "{text}");
}

mcp_test!(an_append_needs_no_read_and_counts_as_seen_for_nothing, |h| {
    h.write("notes.md", "one\ntwo\n");
    let text = append(&h, "notes.md", "three\n");
    assert!(text.starts_with("Appended 6 bytes, 1 line (now 14 bytes, 3 lines)"), "{text}");
    let edit = json!({ "path": "notes.md", "old_string": "one", "new_string": "1" });
    let text = h.call("edit", edit.clone()).text();
    assert!(text.starts_with("notes.md has not been read in this session"), "{text}");
    h.call("write", json!({ "path": "notes.md", "content": "" })).fails("not_read");
    // Who knows the whole file knows it still.
    h.call("read", json!({ "path": "notes.md" }));
    append(&h, "notes.md", "four\n");
    let text = h.call("edit", edit).text();
    assert!(text.starts_with("Edited"), "{text}");
});

mcp_test!(an_append_at_a_size_is_made_there_or_not_at_all, |h| {
    h.write("notes.md", "one\n");
    h.write("notes.md", "one\ntheirs\n");
    let at = |at: &str| h.call("write", json!({ "path": "notes.md", "mode": "append", "content": "x\n", "at": at }));
    assert!(at("4").text().contains("is not its end"));
    assert!(at("11").text().starts_with("Appended"));
    // Sent once more.
    assert!(at("11").text().starts_with("Appended already"));
    assert_eq!(h.bytes("notes.md"), b"one\ntheirs\nx\n");
});

/// Another program exchanges the name with a second name of a file outside, and with a link to it.
#[cfg(target_os = "linux")]
#[test]
fn what_is_outside_is_never_appended_to_while_names_change() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let h = with_state();
    h.write("f", "inside\n");
    h.write_outside("secret", "outside\n");
    fs::hard_link(h.outside("secret"), h.path("second")).unwrap();
    h.symlink(h.outside("secret"), "link");
    let (done, paths) = (AtomicBool::new(false), ["f", "second", "link"].map(|name| h.path(name)));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for other in &paths[1..] {
                    let _ = renameat_with(CWD, &paths[0], CWD, other, RenameFlags::EXCHANGE);
                }
            }
        });
        for number in 0..200 {
            h.call("write", json!({ "path": "f", "mode": "append", "content": format!("{number}\n") }));
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(fs::read_to_string(h.outside("secret")).unwrap(), "outside\n");
}

#[test]
fn a_file_with_another_name_is_replaced_and_the_answer_says_so() {
    const NOTE: &str = "1 other name of this file keeps the old content";
    let h = with_state();
    for name in ["write", "append", "edit", "over"] {
        h.write(name, "one\n");
        fs::hard_link(h.path(name), h.outside(&format!("outside-{name}"))).unwrap();
        h.call("read", json!({ "path": name }));
    }
    let text = [
        h.call("write", json!({ "path": "write", "content": "two\n" })).text(),
        append(&h, "append", "two\n"),
        h.call("edit", json!({ "path": "edit", "old_string": "one", "new_string": "two" })).text(),
    ];
    for text in text {
        assert!(text.contains(NOTE), "{text}");
    }
    h.write("new", "new\n");
    let text = h.call("move", json!({ "source": "new", "destination": "over", "overwrite": true })).text();
    assert!(text.contains("1 other name of these files keeps the old content"), "{text}");
    undo(&h);
    for name in ["write", "append", "edit"] {
        let outside = fs::read_to_string(h.outside(&format!("outside-{name}"))).unwrap();
        assert_eq!(outside, "one\n", "{name}");
        assert_eq!(h.bytes(name), if name == "append" { b"one\ntwo\n".as_slice() } else { b"two\n" }, "{name}");
    }
    undo(&h);
    undo(&h);
    assert_eq!((h.bytes("append"), h.bytes("edit")), (b"one\n".to_vec(), b"one\n".to_vec()));
}

// Rights bind, and a file stays whose it is.

struct Place {
    dir: TempDir,
    program: PathBuf,
}

impl Place {
    /// A root of `nobody`, for a server that root starts as that user.
    fn new() -> Option<Self> {
        if !geteuid().is_root() {
            println!("SKIPPED: only the superuser can make files of two users");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("program");
        // By another process: see `rights.rs`.
        assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_rootbound")).arg(&program).status().unwrap().success());
        let place = Self { dir, program };
        for folder in ["", "root", "state"] {
            fs::create_dir_all(place.path(folder)).unwrap();
            give(&place.path(folder), 0o755, SOMEBODY, SOMEBODY);
        }
        Some(place)
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    fn file(&self, name: &str, mode: u32, owner: u32, group: u32) -> PathBuf {
        let path = self.path("root").join(name);
        fs::write(&path, "one\ntwo\nthree\n").unwrap();
        give(&path, mode, owner, group);
        path
    }

    fn serve(&self, state: &str) -> Process {
        let mut command = Command::new(&self.program);
        command.current_dir(self.dir.path()).env_clear().uid(SOMEBODY).gid(SOMEBODY);
        command.args(["--allow", "manage", "--allow", "patch", "--root", "root", "--read-before-write", "off"]);
        command.arg("--state-dir").arg(if state == "off" { state.into() } else { self.path(state) });
        let mut process = Process::spawn(command);
        process.initialize();
        process
    }
}

fn give(path: &Path, mode: u32, owner: u32, group: u32) {
    chown(path, Some(owner), Some(group)).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn call(process: &mut Process, tool: &str, arguments: &Value) -> (Option<String>, String) {
    let answer = process.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
    let kind = answer["result"]["_meta"]["rootbound/error"].as_str().map(str::to_owned);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    assert_eq!(kind.is_some(), answer["result"]["isError"] == json!(true), "{answer}");
    (kind, text)
}

/// Every tool that gives a file another content.
fn changes(path: &str) -> Vec<(&'static str, Value)> {
    let text = format!("*** Begin Patch\n*** Update File: {path}\n@@\n-one\n+1\n*** End Patch\n");
    let edits = json!([
        { "path": path, "old_string": "one", "new_string": "1" },
        { "path": "own.txt", "old_string": "one", "new_string": "1" },
    ]);
    vec![
        ("edit", json!({ "path": path, "old_string": "one", "new_string": "1" })),
        ("edit", json!({ "edits": edits })),
        ("write", json!({ "path": path, "content": "1\ntwo\nthree\n" })),
        ("write", json!({ "path": path, "mode": "append", "content": "four\n" })),
        ("apply_patch", json!({ "patch": text })),
        ("copy", json!({ "source": "own.txt", "destination": path, "overwrite": true })),
        ("move", json!({ "source": "own.txt", "destination": path, "overwrite": true })),
    ]
}

/// A patch that changes a file and gives it another path.
fn renaming_patch(path: &str) -> Value {
    let text =
        format!("*** Begin Patch\n*** Update File: {path}\n*** Move to: moved-{path}\n@@\n-one\n+1\n*** End Patch\n");
    json!({ "patch": text })
}

#[test]
fn what_the_user_may_not_write_is_refused_with_mode_and_owner() {
    let Some(place) = Place::new() else { return };
    let files = [
        ("theirs.txt", 0o644, OTHER, OTHER, "mode 0644, owner uid 4321"),
        ("roots.txt", 0o444, 0, 0, "mode 0444, owner root"),
        ("mine.txt", 0o444, SOMEBODY, SOMEBODY, "mode 0444, owner uid 65534"),
    ];
    for (name, mode, owner, group, _) in files {
        place.file(name, mode, owner, group);
    }
    place.file("own.txt", 0o644, SOMEBODY, SOMEBODY);
    let mut process = place.serve("state");
    for (name, mode, owner, group, rights) in files {
        for (tool, arguments) in changes(name).into_iter().chain([("apply_patch", renaming_patch(name))]) {
            let (kind, text) = call(&mut process, tool, &arguments);
            assert_eq!(kind.as_deref(), Some("read_only"), "{tool} {arguments}: {text}");
            assert!(text.contains(rights), "{tool} {arguments}: {text}");
            let now = fs::metadata(place.path("root").join(name)).unwrap();
            assert_eq!((now.mode() & 0o7777, now.uid(), now.gid()), (mode, owner, group), "{tool}");
            for file in [name, "own.txt"] {
                assert_eq!(fs::read_to_string(place.path("root").join(file)).unwrap(), "one\ntwo\nthree\n", "{tool}");
            }
        }
    }
}

#[test]
fn a_file_that_could_not_stay_theirs_is_written_in_place() {
    let Some(place) = Place::new() else { return };
    let files = [
        ("group.txt", 0o664, OTHER, SOMEBODY),
        ("everybody.txt", 0o666, OTHER, OTHER),
        ("foreign-group.txt", 0o640, SOMEBODY, OTHER),
    ];
    place.file("own.txt", 0o644, SOMEBODY, SOMEBODY);
    let mut process = place.serve("state");
    for (name, mode, owner, group) in files {
        for (tool, arguments) in changes(name).into_iter().filter(|(tool, _)| *tool != "move") {
            place.file("own.txt", 0o644, SOMEBODY, SOMEBODY);
            let path = place.file(name, mode, owner, group);
            let before = fs::metadata(&path).unwrap();
            let (kind, text) = call(&mut process, tool, &arguments);
            assert_eq!(kind, None, "{tool} {arguments}: {text}");
            let now = fs::metadata(&path).unwrap();
            let of = |stat: &fs::Metadata| (stat.ino(), stat.mode(), stat.uid(), stat.gid());
            assert_eq!(of(&now), of(&before), "{tool} {arguments}");
            let content = fs::read_to_string(&path).unwrap();
            assert!(tool == "copy" || content != "one\ntwo\nthree\n", "{tool} {arguments}: {text}");
            if tool != "copy" {
                let (kind, text) = call(&mut process, "undo", &json!({}));
                assert_eq!(kind, None, "{tool} {arguments}: {text}");
                assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\nthree\n", "{tool} {arguments}");
                assert_eq!(of(&fs::metadata(&path).unwrap()), of(&before), "the undo of {tool} {arguments}");
            }
        }
    }
    for (name, mode, owner, group) in files {
        let path = place.file(name, mode, owner, group);
        let (kind, text) = call(&mut process, "apply_patch", &renaming_patch(name));
        assert_eq!(kind.as_deref(), Some("read_only"), "{text}");
        assert!(text.contains("rename it first"), "{text}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\nthree\n", "{text}");
        assert!(!place.path("root").join(format!("moved-{name}")).exists(), "{text}");
    }
    let left: Vec<_> = fs::read_dir(place.path("state/transactions")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_copy_with_a_change_gives_no_group_more_than_it_had() {
    let Some(place) = Place::new() else { return };
    place.file("foreign.txt", 0o664, SOMEBODY, OTHER);
    let mut process = place.serve("state");
    let patch = "diff --git a/foreign.txt b/copy.txt\ncopy from foreign.txt\ncopy to copy.txt\n--- a/foreign.txt\n\
                 +++ b/copy.txt\n@@ -1,3 +1,3 @@\n-one\n+1\n two\n three\n";
    let (kind, text) = call(&mut process, "apply_patch", &json!({ "patch": patch }));
    assert_eq!(kind, None, "{text}");
    let now = fs::metadata(place.path("root/copy.txt")).unwrap();
    assert_eq!((now.mode() & 0o7777, now.gid()), (0o644, SOMEBODY), "{text}");
}

#[test]
fn a_file_that_is_not_written_in_place_is_read_only_with_the_reason() {
    let Some(place) = Place::new() else { return };
    let path = place.file("group.txt", 0o664, OTHER, SOMEBODY);
    place.file("own.txt", 0o644, SOMEBODY, SOMEBODY);
    fs::hard_link(&path, place.path("elsewhere")).unwrap();
    let check = |process: &mut Process, why: &str, appends: bool| {
        for (tool, arguments) in changes("group.txt").into_iter().filter(|(tool, _)| *tool != "move") {
            if appends && arguments["mode"] == "append" {
                continue;
            }
            let (kind, text) = call(process, tool, &arguments);
            assert_eq!(kind.as_deref(), Some("read_only"), "{tool} {arguments}: {text}");
            assert!(text.contains("mode 0664, owner uid 4321") && text.contains(why), "{tool} {arguments}: {text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\nthree\n", "{tool} {arguments}");
            assert_eq!(fs::read_to_string(place.path("root/own.txt")).unwrap(), "one\ntwo\nthree\n", "{tool}");
        }
    };
    check(&mut place.serve("state"), "it has 2 names", false);
    fs::remove_file(place.path("elsewhere")).unwrap();
    check(&mut place.serve("off"), "there is no state folder", true);
}

#[test]
fn a_file_in_a_folder_where_none_can_be_made_is_written_in_place() {
    let Some(place) = Place::new() else { return };
    fs::create_dir(place.path("root/etc")).unwrap();
    let path = place.file("etc/app.conf", 0o664, OTHER, SOMEBODY);
    let own = place.file("etc/own.conf", 0o600, SOMEBODY, SOMEBODY);
    give(&place.path("root/etc"), 0o755, 0, 0);
    let mut process = place.serve("state");
    for (name, path) in [("etc/app.conf", path), ("etc/own.conf", own)] {
        let inode = fs::metadata(&path).unwrap().ino();
        let edit = json!({ "path": name, "old_string": "two\n", "new_string": "" });
        assert_eq!(call(&mut process, "edit", &edit).0, None);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\nthree\n");
        let edit = json!({ "path": name, "old_string": "one\n", "new_string": "one\ntwo and more\n" });
        assert_eq!(call(&mut process, "edit", &edit).0, None);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo and more\nthree\n");
        assert_eq!(fs::metadata(&path).unwrap().ino(), inode);
        let (kind, text) = call(&mut process, "write", &json!({ "path": format!("{name}.new"), "content": "x" }));
        assert!(kind.is_some(), "{text}");
    }
}

/// root may write everything, and what it writes stays whose it was.
#[test]
fn root_keeps_owner_group_and_mode() {
    let Some(place) = Place::new() else { return };
    let path = place.file("theirs.txt", 0o440, OTHER, OTHER);
    let state = place.path("state");
    let arguments = ["--read-before-write", "off", "--root", "root"];
    let mut process = Process::start_remembering(place.dir.path(), &state, &arguments);
    process.initialize();
    for (tool, arguments) in changes("theirs.txt").into_iter().filter(|(tool, _)| *tool == "write") {
        let (kind, text) = call(&mut process, tool, &arguments);
        assert_eq!(kind, None, "{text}");
        let now = fs::metadata(&path).unwrap();
        assert_eq!((now.mode() & 0o7777, now.uid(), now.gid()), (0o440, OTHER, OTHER));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_a_mount_of_its_own_is_written_in_place() {
    if !crate::harness::process::may_mount() {
        println!("SKIPPED: no right to mount");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("ws")).unwrap();
    fs::write(dir.path().join("ws/app.conf"), "hidden\n").unwrap();
    fs::write(dir.path().join("ws/own.txt"), "one\ntwo\nthree\n").unwrap();
    fs::write(dir.path().join("host.conf"), "one\ntwo\nthree\n").unwrap();
    let options = ["--read-before-write", "off", "--allow", "manage", "--allow", "patch", "--root", "ws"];
    let mut process = Process::start_mounted(dir.path(), "mount --bind host.conf ws/app.conf", &options);
    process.initialize();
    let content = || fs::read_to_string(dir.path().join("host.conf")).unwrap();
    for (tool, arguments) in changes("app.conf").into_iter().filter(|(tool, _)| !["move", "copy"].contains(tool)) {
        let (kind, text) = call(&mut process, tool, &arguments);
        assert_eq!(kind, None, "{tool} {arguments}: {text}");
        assert_ne!(content(), "one\ntwo\nthree\n", "{tool} {arguments}: {text}");
        let (kind, text) = call(&mut process, "undo", &json!({}));
        assert_eq!((kind, content().as_str()), (None, "one\ntwo\nthree\n"), "{tool} {arguments}: {text}");
    }
    for (tool, arguments) in [
        ("delete", json!({ "path": "app.conf" })),
        ("move", json!({ "source": "app.conf", "destination": "other.conf" })),
        ("move", json!({ "source": "own.txt", "destination": "app.conf", "overwrite": true })),
        ("apply_patch", renaming_patch("app.conf")),
    ] {
        let (kind, text) = call(&mut process, tool, &arguments);
        assert_eq!((kind.as_deref(), content().as_str()), (Some("read_only"), "one\ntwo\nthree\n"), "{tool}: {text}");
        assert!(text.starts_with("app.conf is a mount of its own"), "{tool} {arguments}: {text}");
    }
}
