//! `history purge`: afterwards no byte of the state folder has the value, and no server brings it back.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use office_text::testing::docx;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{
    process::Process,
    program::{Outcome, program},
};

const VALUE: &str = "hunter2-4f1c";

/// A directory that a server serves, and its state folder.
struct World {
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        Self { folder }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn server(&self) -> Process {
        let mut server =
            Process::start_remembering(&self.root(), &self.state(), &["--allow", "manage", "--allow", "patch"]);
        server.initialize();
        server
    }

    fn content(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    /// The exit code and all that the command prints.
    fn run(&self, variables: &[(&str, &str)], arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = program(&self.root());
        command.envs(variables.iter().copied()).arg("--state-dir").arg(self.state()).args(arguments);
        let ended = Outcome::of(&mut command);
        (ended.code, ended.stdout + &ended.stderr)
    }

    #[track_caller]
    fn ok(&self, arguments: &[&str]) -> String {
        let (code, text) = self.run(&[], arguments);
        assert_eq!(code, Some(0), "{text}");
        text
    }

    #[track_caller]
    fn purge(&self, path: &str) -> String {
        self.ok(&["history", "purge", path, "--yes"])
    }

    /// The files of the state folder that hold the value.
    fn holding(&self) -> Vec<PathBuf> {
        fn add(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() {
                    add(&entry, found);
                } else if fs::read(&entry).unwrap().windows(VALUE.len()).any(|bytes| bytes == VALUE.as_bytes()) {
                    found.push(entry);
                }
            }
        }
        let mut found = Vec::new();
        add(&self.state(), &mut found);
        found
    }

    #[track_caller]
    fn holds_nothing(&self) {
        assert_eq!(self.holding(), Vec::<PathBuf>::new());
    }
}

/// The text of an answer, and whether it is an error.
#[expect(clippy::needless_pass_by_value, reason = "each call makes its own")]
fn call(server: &mut Process, tool: &str, arguments: Value) -> (bool, String) {
    let answer = server.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    (answer["result"]["isError"] == true, text.to_owned())
}

#[track_caller]
fn ok(server: &mut Process, tool: &str, arguments: Value) -> String {
    let (is_error, text) = call(server, tool, arguments);
    assert!(!is_error, "{tool}: {text}");
    text
}

#[track_caller]
fn write(server: &mut Process, path: &str, content: &str) {
    ok(server, "write", json!({ "path": path, "content": content }));
}

#[track_caller]
fn edit(server: &mut Process, path: &str, old: &str, new: &str) {
    ok(server, "read", json!({ "path": path }));
    ok(server, "edit", json!({ "path": path, "old_string": old, "new_string": new }));
}

#[track_caller]
fn move_to(server: &mut Process, from: &str, to: &str) {
    ok(server, "move", json!({ "source": from, "destination": to }));
}

/// Every way in which a content is kept, under four names. The file that is there at the end does not have the value.
fn keep_everywhere(world: &World, server: &mut Process) {
    write(server, "conf.txt", &format!("key = {VALUE}\nother = 1\n"));
    edit(server, "conf.txt", "other = 1", &format!("other = \"{VALUE}\"\nä"));
    let patch = format!(
        "--- a/conf.txt\n+++ b/conf.txt\n@@ -1,2 +1,3 @@\n key = {VALUE}\n+more = {VALUE}\n other = \"{VALUE}\"\n"
    );
    ok(server, "apply_patch", json!({ "patch": patch }));
    ok(server, "write", json!({ "path": "conf.txt", "content": format!("tail {VALUE}\n"), "mode": "append" }));
    ok(server, "undo", json!({ "path": "conf.txt" }));
    ok(server, "undo", json!({ "to": "redo" }));
    ok(server, "mkdir", json!({ "path": "d" }));
    move_to(server, "conf.txt", "d/conf.txt");
    move_to(server, "d", "e");
    edit(server, "e/conf.txt", "more", "again");
    move_to(server, "e/conf.txt", "settings.txt");
    ok(server, "copy", json!({ "source": "settings.txt", "destination": "copy.txt" }));
    ok(server, "delete", json!({ "path": "settings.txt" }));
    write(server, "settings.txt", &format!("{VALUE}\n"));
    ok(server, "read", json!({ "path": "settings.txt" }));
    ok(server, "write", json!({ "path": "settings.txt", "content": "clean\n" }));
    ok(server, "read", json!({ "path": "copy.txt" }));
    ok(server, "write", json!({ "path": "copy.txt", "content": "clean, too\n" }));
    let body = format!("<w:p><w:r><w:t>{VALUE}</w:t></w:r></w:p>");
    fs::write(world.root().join("note.docx"), docx(&body, &[])).unwrap();
    // Longer than a document has to be left alone before its text is kept.
    thread::sleep(Duration::from_millis(2300));
    assert!(ok(server, "grep", json!({ "pattern": VALUE })).contains("note.docx"));
    write(server, "plain.txt", "one\n");
    ok(server, "read", json!({ "path": "plain.txt" }));
    ok(server, "write", json!({ "path": "plain.txt", "content": "two\n" }));
}

#[test]
fn purged_value_is_in_no_byte_of_the_state_folder_and_no_server_brings_it_back() {
    let world = World::new();
    let (mut first, mut second) = (world.server(), world.server());
    keep_everywhere(&world, &mut first);
    edit(&mut second, "settings.txt", "clean", "clean now");
    let holding = world.holding();
    // Texts of documents are kept where the file system promises its times.
    let parts: &[&str] =
        if cfg!(target_os = "linux") { &["history/changes-", "documents/"] } else { &["history/changes-"] };
    for part in parts {
        let is_there = |path: &PathBuf| path.to_str().unwrap().replace('\\', "/").contains(part);
        assert!(holding.iter().any(is_there), "{part}: {holding:?}");
    }

    let (code, text) = world.run(&[], &["history", "purge", "settings.txt"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("add --yes") && text.contains("copy.txt") && text.contains("d/conf.txt"), "{text}");
    assert_eq!(world.holding(), holding, "nothing was removed");

    let text = world.purge("settings.txt");
    assert!(
        text.contains("2 running servers with this state folder") && text.contains("The audit is not touched."),
        "{text}"
    );
    world.holds_nothing();
    let listed = world.ok(&["history", "settings.txt"]);
    assert!(listed.contains("  purged  ") && !listed.contains("  -  "), "{listed}");
    let (code, text) = world.run(&[], &["history", "restore", "settings.txt"]);
    assert!(code == Some(1) && text.contains("what is `purged` cannot"), "{text}");

    for server in [&mut first, &mut second] {
        let (is_error, text) = call(server, "undo", json!({ "path": "settings.txt" }));
        assert!(is_error && text.contains("no longer kept"), "{text}");
    }
    let (is_error, text) = call(
        &mut first,
        "edit",
        json!({
            "path": "settings.txt", "old_string": "clean now", "new_string": "x"
        }),
    );
    assert!(is_error && text.contains("read"), "nothing is known of it: {text}");
    let text = ok(&mut first, "undo", json!({ "to": "session" }));
    assert!(!text.contains(VALUE) && text.contains("settings.txt (its earlier content is no longer kept)"), "{text}");
    assert_eq!(world.content("settings.txt"), "clean now\n");
    assert!(!fs::exists(world.root().join("plain.txt")).unwrap(), "other paths go back: {text}");
    assert_eq!(world.content("copy.txt"), "clean, too\n", "its content was shared");
    edit(&mut second, "settings.txt", "clean now", "new");
    assert!(ok(&mut second, "undo", json!({})).contains("settings.txt"), "what comes later is kept");
    assert_eq!(world.content("settings.txt"), "clean now\n");
    world.holds_nothing();
    assert!(world.purge("settings.txt").starts_with("Purged "), "once more");
}

#[test]
fn everything_goes_with_all_and_servers_know() {
    let world = World::new();
    let mut server = world.server();
    keep_everywhere(&world, &mut server);
    let role = world.state().join("role-0123456789abcdef0123456789abcdef");
    fs::create_dir(&role).unwrap();
    #[cfg(unix)]
    fs::set_permissions(&role, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    for left in ["history/.rootbound-0123456789abcdef.tmp", ".rootbound-0123456789abcdef.tmp"] {
        fs::write(world.state().join(left), VALUE).unwrap();
    }
    fs::create_dir_all(world.state().join("transactions")).unwrap();
    for left in ["0123456789abcdef.ready.damaged", ".rootbound-0123456789abcdef-1.txn"] {
        fs::write(world.state().join("transactions").join(left), VALUE).unwrap();
    }
    fs::write(world.state().join("history").join("0".repeat(31) + "1"), VALUE).unwrap();
    world.ok(&["history", "purge", "--all", "-y"]);
    world.holds_nothing();
    let objects = fs::read_dir(world.state().join("history")).unwrap();
    assert!(objects.map(|file| file.unwrap().file_name()).all(|name| name.len() != 32));
    let (is_error, text) = call(&mut server, "undo", json!({}));
    assert!(is_error && text.contains("no longer kept"), "{text}");
    ok(&mut server, "undo", json!({ "to": "session" }));
    assert_eq!((&*world.content("plain.txt"), &*world.content("settings.txt")), ("two\n", "clean\n"));
    world.holds_nothing();
}

#[test]
fn names_are_followed_as_long_as_the_file_had_them() {
    let world = World::new();
    let mut server = world.server();
    for (path, content) in [("one.txt", VALUE), ("two.txt", "stays")] {
        // Both were once called `tmp`.
        write(&mut server, "tmp", content);
        edit(&mut server, "tmp", content, &format!("{content}, edited"));
        move_to(&mut server, "tmp", path);
    }
    ok(&mut server, "mkdir", json!({ "path": "dir" }));
    move_to(&mut server, "one.txt", "dir/one.txt");
    edit(&mut server, "dir/one.txt", "edited", "again");
    move_to(&mut server, "dir/one.txt", "one.txt");
    fs::remove_file(world.root().join("one.txt")).unwrap();
    let text = world.purge("dir");
    assert!(text.contains("Purged 2 contents, "), "a file that was in it: {text}");
    world.holds_nothing();
    // By another server: from the journal.
    let mut other = world.server();
    ok(&mut other, "undo", json!({ "path": "two.txt" }));
    ok(&mut other, "undo", json!({ "path": "tmp" }));
    assert_eq!(world.content("tmp"), "stays");
    let (is_error, text) = call(&mut other, "undo", json!({ "path": "dir/one.txt" }));
    assert!(is_error && text.contains("no longer there"), "{text}");
    let text = world.purge("never.txt");
    assert!(text.contains("0 contents, 0 lines of the journal (no change is recorded)"), "{text}");
}

#[cfg(unix)]
#[test]
fn links_changed_places_and_other_roots_are_followed() {
    let world = World::new();
    let mut server = world.server();
    let link = |name: &str| std::os::unix::fs::symlink("elsewhere.txt", world.root().join(name)).unwrap();
    // A file whose place a link has now.
    write(&mut server, "was.txt", VALUE);
    edit(&mut server, "was.txt", VALUE, "elsewhere");
    ok(&mut server, "delete", json!({ "path": "was.txt" }));
    fs::write(world.root().join("elsewhere.txt"), "x").unwrap();
    link("was.txt");
    world.purge("was.txt");
    world.holds_nothing();
    // A link that was deleted, whose target has the value.
    std::os::unix::fs::symlink(VALUE, world.root().join("link")).unwrap();
    ok(&mut server, "delete", json!({ "path": "link" }));
    assert_eq!(world.holding().len(), 1);
    world.purge("link");
    world.holds_nothing();
    let mut other = world.server();
    let (is_error, text) = call(&mut other, "undo", json!({ "path": "link" }));
    assert!(is_error && text.contains("no longer kept"), "{text}");
    // Two files that change places in one change: the undo of three moves and of an edit.
    write(&mut server, "a.txt", VALUE);
    write(&mut server, "b.txt", "stays");
    ok(&mut server, "move", json!({ "source": "a.txt", "destination": "t.txt", "checkpoint": "before" }));
    move_to(&mut server, "b.txt", "a.txt");
    move_to(&mut server, "t.txt", "b.txt");
    edit(&mut server, "b.txt", VALUE, &format!("{VALUE}, too"));
    ok(&mut server, "undo", json!({ "to": "before" }));
    assert_eq!((&*world.content("a.txt"), &*world.content("b.txt")), (VALUE, "stays"));
    edit(&mut server, "a.txt", VALUE, "clean");
    world.purge("a.txt");
    world.holds_nothing();
    // What servers of a directory below and of one above have kept.
    fs::create_dir(world.root().join("sub")).unwrap();
    for (root, path) in [(".", "sub/c.txt"), ("sub", "c.txt")] {
        let path = format!("path={path}");
        if root == "sub" {
            world.ok(&[root, "call", "read", &path]);
        }
        for content in [VALUE, "clean"] {
            world.ok(&[root, "call", "write", &path, &format!("content={content} {root}")]);
        }
    }
    world.ok(&["sub", "call", "move", "source=c.txt", "destination=d.txt", "--allow", "manage"]);
    assert!(world.ok(&[".", "history", "purge", "sub/d.txt", "-y"]).contains("3 contents"));
    world.holds_nothing();
    let write = |content: &str| world.ok(&[".", "call", "write", "path=sub/e.txt", &format!("content={content}")]);
    write(VALUE);
    write("clean");
    world.ok(&["sub", "history", "purge", "e.txt", "-y"]);
    world.holds_nothing();
}

#[test]
fn file_that_became_secret_is_named_by_doctor_and_purged() {
    let world = World::new();
    world.ok(&["call", "write", "path=a.conf", &format!("content={VALUE}")]);
    world.ok(&["call", "write", "path=a.conf", "content=x"]);
    let denied = ["--deny", "*.conf"];
    let doctor = || world.run(&[], &[&denied[..], &["doctor"]].concat()).1;
    let line = "the history keeps contents of 2 changes of a.conf, which is denied now: rootbound history purge a.conf";
    assert!(doctor().contains(line) && !world.ok(&["doctor"]).contains("denied now"), "{}", doctor());
    fs::remove_file(world.root().join("a.conf")).unwrap();
    assert!(doctor().contains(line), "also of one that is gone");
    world.ok(&[&denied[..], &["history", "purge", "a.conf", "-y"]].concat());
    world.holds_nothing();
    assert!(!doctor().contains("denied now"));
}

#[test]
fn nothing_is_kept_without_a_state_folder_and_none_is_made() {
    let world = World::new();
    assert!(world.purge("a.txt").contains("nothing is kept"));
    assert!(!world.state().exists());
}

/// A call that a person is asked about while another one purges: what it keeps after that goes as well.
#[test]
fn call_that_was_under_way_does_not_keep_the_value_again() {
    let world = World::new();
    fs::write(world.root().join("a.txt"), format!("{VALUE} of a file that no call has changed\n")).unwrap();
    let mut server = Process::start_remembering(&world.root(), &world.state(), &["--confirm", "writes"]);
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "test", "version": "1" },
    });
    server.ask("initialize", &hello);
    server.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    ok(&mut server, "read", json!({ "path": "a.txt" }));
    let edit = json!({ "path": "a.txt", "old_string": " of a file", "new_string": &format!(" {VALUE}") });
    let id = server.send("tools/call", &json!({ "name": "edit", "arguments": edit }));
    let question = server.next().unwrap();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    world.purge("a.txt");
    let schema = question["params"]["requestedSchema"]["properties"].as_object().unwrap();
    let content: serde_json::Map<String, Value> = schema.keys().map(|name| (name.clone(), json!(true))).collect();
    let answer =
        json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept", "content": content } });
    server.line(&answer.to_string());
    let done = std::iter::repeat_with(|| server.next().unwrap()).find(|message| message["id"] == id).unwrap();
    assert_eq!(done["result"]["isError"], false, "{done}");
    assert!(world.content("a.txt").contains(" that no call"));
    world.holds_nothing();
}

#[cfg(all(unix, debug_assertions))]
#[test]
fn purge_that_is_killed_anywhere_is_done_by_the_next_one_and_loses_nothing_else() {
    for number in 1.. {
        let world = World::new();
        world.ok(&["call", "write", "path=a.txt", &format!("content={VALUE}")]);
        world.ok(&["call", "edit", "path=a.txt", &format!("old_string={VALUE}"), &format!("new_string=x{VALUE}")]);
        world.ok(&["call", "write", "path=b.txt", "content=one"]);
        world.ok(&["call", "write", "path=b.txt", "content=two"]);
        let fault = format!("kill-before:{number}");
        let (code, text) = world.run(&[("_ROOTBOUND_FAULT", &fault)], &["history", "purge", "a.txt", "-y"]);
        if code == Some(0) {
            assert!(number > 4, "it has some calls: {number}");
            break;
        }
        assert_eq!(code, None, "{fault}: {text}");
        world.purge("a.txt");
        world.holds_nothing();
        world.ok(&["history", "restore", "b.txt"]);
        assert_eq!(world.content("b.txt"), "one", "{fault}");
    }
}
