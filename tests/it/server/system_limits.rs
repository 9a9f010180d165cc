//! Limits of the system: each is reported in an answer, and the server continues.
//!
//! They are set with `prlimit`, as a user sets them with `ulimit`.

#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "says what was skipped")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    harness::process::{Process, may_mount},
    harness::program::program,
};

/// A user without any other process: the number of processes is counted for each user.
const LONELY: u32 = 54_321;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// The server under a limit, with a session.
fn limited(limit: &str, dir: &Path, arguments: &[&str]) -> Process {
    let mut command = Command::new("prlimit");
    command.arg(limit).arg(env!("CARGO_BIN_EXE_rootbound")).args(["--state-dir", "off", "--log", "off"]);
    command.args(arguments).current_dir(dir);
    opened(Process::spawn(command))
}

fn opened(mut server: Process) -> Process {
    server.initialize();
    server
}

/// The text of an answer and its `_meta`.
fn outcome(answer: &Value) -> (String, Value) {
    let result = &answer["result"];
    (result["content"][0]["text"].as_str().expect("a text").to_owned(), result["_meta"].clone())
}

#[expect(clippy::needless_pass_by_value, reason = "what is passed is made for the call")]
fn call(server: &mut Process, tool: &str, arguments: Value) -> (String, Value) {
    outcome(&server.ask("tools/call", &json!({ "name": tool, "arguments": arguments })))
}

fn error_of(meta: &Value) -> &str {
    meta["rootbound/error"].as_str().unwrap_or_default()
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_write_above_rlimit_fsize_is_an_error_without_temporaries() {
    let dir = folder();
    fs::write(dir.path().join("old.txt"), "old\n").unwrap();
    let mut server = limited("--fsize=4096", dir.path(), &["--allow", "manage", "."]);
    call(&mut server, "read", json!({ "path": "old.txt" }));
    let large = "x".repeat(10_000);
    for (tool, arguments) in [
        ("write", json!({ "path": "new.txt", "content": large })),
        ("write", json!({ "path": "old.txt", "content": large })),
        ("write", json!({ "path": "old.txt", "content": large, "mode": "append" })),
        ("edit", json!({ "path": "old.txt", "old_string": "old", "new_string": large })),
        ("write", json!({ "path": "made/new.txt", "content": large })),
    ] {
        let (text, meta) = call(&mut server, tool, arguments);
        assert_eq!(error_of(&meta), "too_large", "{text}");
        assert!(text.contains("files of more than 4096 bytes (ulimit -f)"), "{text}");
    }
    assert_eq!(fs::read_to_string(dir.path().join("old.txt")).unwrap(), "old\n");
    assert_eq!(names(dir.path()).iter().filter(|name| *name != "made").count(), 1, "{:?}", names(dir.path()));
    let (text, _) = call(&mut server, "write", json!({ "path": "small.txt", "content": "x" }));
    assert!(text.starts_with("Created: "), "{text}");
    server.end_input();
    assert_eq!(server.exit().0.code(), Some(0));

    let once = Command::new("prlimit")
        .args(["--fsize=4096", env!("CARGO_BIN_EXE_rootbound"), "--state-dir", "off", ".", "call", "write"])
        .args(["path=once.txt", &format!("content={large}")])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert_eq!(once.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&once.stderr).contains("(ulimit -f)"));
    assert!(!dir.path().join("once.txt").exists());
}

#[test]
fn a_full_file_system_is_an_error_without_temporaries() {
    if !may_mount() {
        println!("skipped: only the superuser mounts a small file system");
        return;
    }
    let dir = folder();
    fs::create_dir(dir.path().join("small")).unwrap();
    let script = "mount -t tmpfs -o size=64k none small";
    let mut server = opened(Process::start_mounted(dir.path(), script, &["--log", "off", "small"]));
    let small = server.seen(&dir.path().join("small"));
    call(&mut server, "write", json!({ "path": "a.txt", "content": "kept\n" }));
    let answers = [
        call(&mut server, "write", json!({ "path": "b.txt", "content": "x".repeat(200_000) })),
        call(&mut server, "edit", json!({ "path": "a.txt", "old_string": "kept", "new_string": "x".repeat(200_000) })),
    ];
    assert_eq!(
        (fs::read_to_string(small.join("a.txt")).unwrap().as_str(), names(&small)),
        ("kept\n", vec!["a.txt".to_owned()])
    );
    for (text, meta) in answers {
        assert_eq!(error_of(&meta), "quota", "{text}");
        assert!(text.contains("file system is full"), "{text}");
    }
    server.end_input();
    assert_eq!(server.exit().0.code(), Some(0));
}

#[test]
fn termination_signals_end_cleanly() {
    for signal in [Signal::HUP, Signal::TERM, Signal::INT, Signal::XCPU] {
        let dir = folder();
        let mut server = opened(Process::start(dir.path(), &["."]));
        let (text, _) = call(&mut server, "write", json!({ "path": "a.txt", "content": "x" }));
        assert!(text.starts_with("Created"), "{text}");
        server.signal(signal);
        let (status, log) = server.exit();
        assert_eq!((status.code(), log.as_str()), (Some(0), ""), "{signal:?}");
        assert_eq!(names(dir.path()), ["a.txt"]);
    }
}

/// A server whose log nobody reads, and its end of the pipe.
fn unread(dir: &Path) -> Child {
    program(dir)
        .args(["--state-dir", "off", "--log", "trace", "."])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn unread_stderr_does_not_block_and_dropped_lines_are_counted() {
    const CALLS: usize = 4000;
    let dir = folder();
    fs::write(dir.path().join("a.txt"), "a line\n").unwrap();
    let mut server = unread(dir.path());
    let mut input = server.stdin.take().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut ask = |message: Value| {
        writeln!(input, "{message}").unwrap();
        lines.next().expect("an answer").unwrap()
    };
    let client = json!({ "name": "test", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    ask(json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello }));
    for id in 0..CALLS {
        let call = json!({ "name": "read", "arguments": { "path": "a.txt" } });
        let answer = ask(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call }));
        assert!(answer.contains("a line"), "{answer}");
    }
    // Read from here on: the count is logged, and later lines follow.
    let (sender, counted) = std::sync::mpsc::channel();
    let errors = server.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut after = false;
        for line in BufReader::new(errors).lines().map_while(Result::ok) {
            if line.contains("lines of the log were dropped here, because stderr was not read") {
                after = true;
                let _ = sender.send(());
            }
        }
        after
    });
    counted.recv().expect("lines were dropped");
    drop(input);
    assert_eq!(server.wait().unwrap().code(), Some(0));
    assert!(reader.join().unwrap());
}

#[test]
fn shutdown_does_not_wait_for_stderr_and_accepts_a_closed_one() {
    let dir = folder();
    let mut server = unread(dir.path());
    let mut input = server.stdin.take().unwrap();
    for _ in 0..5000 {
        writeln!(input, "no message").unwrap();
    }
    let mut output = server.stdout.take().unwrap();
    let drained = std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
    drop(input);
    assert_eq!(server.wait().unwrap().code(), Some(0));
    drained.join().unwrap().unwrap();

    let mut closed = unread(dir.path());
    drop(closed.stderr.take());
    writeln!(closed.stdin.as_ref().unwrap(), r#"{{"jsonrpc":"2.0","id":1,"method":"ping"}}"#).unwrap();
    let mut answer = String::new();
    BufReader::new(closed.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains("\"id\":1"), "{answer}");
    drop(closed.stdin.take());
    assert_eq!(closed.wait().unwrap().code(), Some(0));
}

/// The server with room for `more` threads in addition to those before its first call.
fn with_threads(dir: &TempDir, more: u32) -> Process {
    use std::os::unix::{fs::PermissionsExt as _, process::CommandExt as _};
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let program = dir.path().join("program");
    assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_rootbound")).arg(&program).status().unwrap().success());
    fs::create_dir(dir.path().join("root")).unwrap();
    fs::set_permissions(dir.path().join("root"), fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = Command::new("prlimit");
    // root has no such limit. Any other user who runs the tests has more processes already, so that there is no room;
    // and inherited pipes take two threads.
    let limit = if geteuid().is_root() { 3 + more } else { 1 };
    command.arg(format!("--nproc={limit}")).arg(program).args(["--state-dir", "off", "--log", "off", "root"]);
    command.current_dir(dir.path()).env_clear().env("PATH", "/usr/bin:/bin");
    if geteuid().is_root() {
        // Tests run in parallel.
        command.uid(LONELY + more).gid(LONELY + more);
    }
    opened(Process::spawn(command))
}

#[test]
fn a_call_without_a_free_thread_is_an_error_and_the_server_continues() {
    let dir = folder();
    let mut server = with_threads(&dir, 0);
    fs::write(dir.path().join("root/a.txt"), "a line\n").unwrap();
    for (tool, arguments) in [
        ("glob", json!({ "pattern": "*" })),
        ("grep", json!({ "pattern": "line" })),
        ("ls", json!({})),
        ("write", json!({ "path": "b.txt", "content": "x" })),
    ] {
        let (text, meta) = call(&mut server, tool, arguments);
        assert_eq!(error_of(&meta), "internal", "{text}");
        assert!(text.contains("start more threads (ulimit -u") && text.contains("hint: "), "{text}");
    }
    assert_eq!(names(&dir.path().join("root")), ["a.txt"]);
    assert!(server.ask("ping", &json!({}))["result"].is_object());
    server.end_input();
    assert_eq!(server.exit().0.code(), Some(0));
}

#[test]
fn calls_share_the_available_threads() {
    if !geteuid().is_root() {
        println!("skipped: the threads of other processes of this user count, too");
        return;
    }
    for more in [1, 2] {
        let dir = folder();
        let mut server = with_threads(&dir, more);
        for n in 0..300 {
            fs::write(dir.path().join(format!("root/{n}.txt")), "a line\n").unwrap();
        }
        let grep =
            json!({ "name": "grep", "arguments": { "pattern": "line", "output_mode": "count", "max_results": 500 } });
        let write = json!({ "name": "write", "arguments": { "path": "new.txt", "content": "x", "mode": "create" } });
        let mut ids: Vec<_> = (0..12).map(|_| server.send("tools/call", &grep)).collect();
        let written = server.send("tools/call", &write);
        ids.push(written);
        while !ids.is_empty() {
            let answer = server.next().expect("all are answered");
            let id = answer["id"].as_u64().expect("an answer");
            ids.retain(|other| *other != id);
            let (text, meta) = outcome(&answer);
            let complete = meta["rootbound/result"]["created"] == true || meta["rootbound/result"]["matches"] == 300;
            assert!(complete || meta["rootbound/result"]["matches"] == 301, "{text:.200} {meta}");
        }
        server.end_input();
        assert_eq!(server.exit().0.code(), Some(0));
    }
}

#[test]
#[expect(clippy::disallowed_types, reason = "a device as stdout, outside any root")]
fn output_that_cannot_be_written_is_an_error_unless_nobody_reads_it() {
    let dir = folder();
    for arguments in [["man", "", ""], ["completions", "bash", ""], ["call", "ls", "path=."]] {
        let mut command = program(dir.path());
        command.args(arguments.iter().filter(|word| !word.is_empty())).stderr(Stdio::piped());
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let output = command.stdout(full).output().expect("the program starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && stderr.contains("could not be written"), "{arguments:?}: {stderr}");

        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        assert_eq!(command.stdout(writer).status().expect("the program starts").code(), Some(0), "{arguments:?}");
    }
}

/// How many open files a start needs depends on the kernel (Landlock, inotify, epoll), so each limit may be
/// too low or enough; the lowest is too low everywhere.
#[test]
fn start_without_enough_open_files_is_reported() {
    let dir = folder();
    for limit in 5..=20 {
        let mut command = Command::new("prlimit");
        command.arg(format!("--nofile={limit}:{limit}")).arg(env!("CARGO_BIN_EXE_rootbound"));
        command.args(["--state-dir", "off", "."]);
        let mut server = Process::spawn_in(command, dir.path());
        server.end_input();
        let (status, log) = server.exit();
        assert!(!log.contains("panicked"), "{limit}: {log}");
        match status.code() {
            Some(2) => assert!(limit < 20 && log.contains("Too many open files"), "{limit}: {log}"),
            code => assert!(code == Some(0) && limit > 5, "{limit}: {status} {log}"),
        }
    }
}

/// A hundred nested directories and forty siblings, each with a file and ignore rules; those of every
/// other one are a link, which takes more open files to read.
fn deep_and_wide(root: &Path) -> usize {
    let mut deep = root.to_path_buf();
    let deep: Vec<_> = (0..100)
        .map(|n| {
            deep.push(format!("d{n}"));
            deep.clone()
        })
        .collect();
    let wide = (0..40).map(|n| root.join(format!("w{n}/s")));
    let all: Vec<_> = deep.into_iter().chain(wide).collect();
    fs::write(root.join("rules"), "*.o\n").unwrap();
    for (n, dir) in all.iter().enumerate() {
        fs::create_dir_all(dir).unwrap();
        fs::write(dir.join("f.txt"), "a line\n").unwrap();
        let rules = dir.join(".gitignore");
        if n % 2 == 0 {
            fs::write(rules, "*.o\n").unwrap();
        } else {
            std::os::unix::fs::symlink(root.join("rules"), rules).unwrap();
        }
        fs::write(dir.join("x.o"), "a line\n").unwrap();
    }
    all.len()
}

#[test]
fn a_low_limit_of_open_files_works_or_is_reported() {
    let dir = folder();
    let files = deep_and_wide(dir.path());
    let found = |meta: &Value, key: &str| meta["rootbound/result"][key].as_u64();
    for limit in [8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 24, 64] {
        // A limit too low to start is tested elsewhere.
        let mut command = Command::new("prlimit");
        command.arg(format!("--nofile={limit}:{limit}")).arg(env!("CARGO_BIN_EXE_rootbound"));
        command.args(["--state-dir", "off", "--log", "off", "."]);
        let mut server = Process::spawn_in(command, dir.path());
        if limit < 15 {
            server.try_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":\"first\",\"method\":\"ping\"}\n");
            if server.next().is_none() {
                continue;
            }
        }
        server.initialize();
        let asked = [
            ("glob", json!({ "pattern": "*.{txt,o}", "max_results": 1000 }), "found"),
            ("grep", json!({ "pattern": "line", "output_mode": "files_with_matches", "max_results": 500 }), "files"),
        ];
        for (tool, arguments, counted) in asked {
            let (text, meta) = call(&mut server, tool, arguments);
            let complete = meta["rootbound/result"]["complete"] == true;
            let named = text.contains(&format!("only {limit} files at once (ulimit -n)"));
            assert!(complete != named, "{limit}: {text} {meta}");
            assert!(!complete || found(&meta, counted) == Some(files as u64), "{limit}: {meta}");
            assert!(complete || limit < 64, "{limit}: {text}");
            assert!(!text.contains("x.o"), "{limit}: ignored files are shown: {text}");
        }
        for (tool, arguments) in
            [("read", json!({ "path": "w1/s/f.txt" })), ("ls", json!({ "path": "w1" })), ("ls", json!({ "depth": 5 }))]
        {
            let (text, meta) = call(&mut server, tool, arguments);
            let whole = error_of(&meta).is_empty() && !text.contains("(unreadable)");
            assert!(whole || text.contains("(ulimit -n)"), "{limit}: {text} {meta}");
        }
        server.end_input();
        assert_eq!(server.exit().0.code(), Some(0));
    }
}

#[test]
fn every_tool_reports_a_removed_or_replaced_root() {
    for (happened, reply) in [
        ("deleted", "was deleted after the server started"),
        ("made again", "was replaced after the server started"),
        ("moved", "was moved away or renamed after the server started"),
        ("replaced", "was replaced after the server started"),
        ("parent moved", "was moved away or renamed after the server started"),
        ("link", "was replaced after the server started"),
    ] {
        let dir = folder();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("above/root/sub")).unwrap();
        fs::write(at("above/root/a.txt"), "a line\n").unwrap();
        std::os::unix::fs::symlink("above/root", at("link")).unwrap();
        let given = if happened == "link" { "link" } else { "above/root" };
        let mut server =
            opened(Process::start(dir.path(), &["--log", "off", "--allow", "manage", "--index", "eager", given]));
        let (text, _) = call(&mut server, "grep", json!({ "pattern": "line" }));
        assert!(text.contains("a.txt:1"), "{text}");
        call(&mut server, "read", json!({ "path": "a.txt" }));
        match happened {
            "deleted" => fs::remove_dir_all(at("above/root")).unwrap(),
            "made again" => {
                fs::remove_dir_all(at("above/root")).unwrap();
                fs::create_dir(at("above/root")).unwrap();
            }
            "moved" => fs::rename(at("above/root"), at("old")).unwrap(),
            "replaced" => {
                fs::rename(at("above/root"), at("old")).unwrap();
                fs::create_dir(at("above/root")).unwrap();
                fs::write(at("above/root/a.txt"), "another line\n").unwrap();
            }
            "parent moved" => fs::rename(at("above"), at("old")).unwrap(),
            _ => {
                fs::create_dir(at("other")).unwrap();
                fs::remove_file(at("link")).unwrap();
                std::os::unix::fs::symlink("other", at("link")).unwrap();
            }
        }
        for (tool, arguments) in [
            ("ls", json!({})),
            ("glob", json!({ "pattern": "**/*" })),
            ("grep", json!({ "pattern": "line" })),
            ("read", json!({ "path": "a.txt" })),
            ("read", json!({ "path": "missing.txt" })),
            ("write", json!({ "path": "new.txt", "content": "x" })),
            ("edit", json!({ "path": "a.txt", "old_string": "line", "new_string": "x" })),
            ("mkdir", json!({ "path": "made" })),
            ("copy", json!({ "path": "a.txt", "to": "b.txt" })),
            ("move", json!({ "path": "a.txt", "to": "b.txt" })),
            ("delete", json!({ "path": "a.txt" })),
        ] {
            let (text, meta) = call(&mut server, tool, arguments);
            assert_eq!(error_of(&meta), "not_found", "{happened}: {tool}: {text}");
            assert!(
                text.starts_with("the workspace root directory ") && text.contains(reply),
                "{happened}: {tool}: {text}"
            );
            assert!(text.contains("restart the server"), "{text}");
        }
        if happened == "moved" {
            fs::rename(at("old"), at("above/root")).unwrap();
            let (text, _) = call(&mut server, "read", json!({ "path": "a.txt" }));
            assert!(text.contains("a line"), "it is back: {text}");
        }
        server.end_input();
        assert_eq!(server.exit().0.code(), Some(0));
    }
}

#[test]
fn a_removed_root_does_not_affect_the_others() {
    let dir = folder();
    for name in ["one", "two"] {
        fs::create_dir(dir.path().join(name)).unwrap();
        fs::write(dir.path().join(name).join("a.txt"), "a line\n").unwrap();
    }
    let mut server = opened(Process::start(dir.path(), &["--log", "off", "one", "two"]));
    fs::remove_dir_all(dir.path().join("one")).unwrap();
    let (text, _) = call(&mut server, "grep", json!({ "pattern": "line" }));
    assert!(text.starts_with("the workspace root one was deleted"), "{text}");
    let (text, _) = call(&mut server, "grep", json!({ "pattern": "line", "path": "two" }));
    assert!(text.contains("two/a.txt:1"), "{text}");
}

/// A mounted file system that does not answer; unmounted when dropped.
struct Stuck {
    daemon: Child,
    at: std::path::PathBuf,
}

impl Stuck {
    /// `None`, with the reason printed, if there is no FUSE or the user may not mount.
    fn mount(at: &Path) -> Option<Self> {
        if !geteuid().is_root() || !Path::new("/dev/fuse").exists() {
            println!("skipped: it takes the superuser and /dev/fuse");
            return None;
        }
        fs::create_dir(at).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/server/system_limits/stuck_fuse.py");
        let daemon = Command::new("python3").arg(script).arg(at).stdout(Stdio::piped()).spawn();
        let mut stuck = Self { daemon: daemon.expect("python3 starts"), at: at.to_path_buf() };
        let mut reply = String::new();
        BufReader::new(stuck.daemon.stdout.take().unwrap()).read_line(&mut reply).unwrap();
        if reply.trim() != "mounted" {
            println!("skipped: this container may not mount FUSE: {reply}");
            return None;
        }
        // So that it knows the directory itself.
        fs::metadata(at).unwrap();
        kill_process(Pid::from_child(&stuck.daemon), Signal::STOP).unwrap();
        Some(stuck)
    }
}

impl Drop for Stuck {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
        let _ = Command::new("umount").arg("-l").arg(&self.at).stderr(Stdio::null()).status();
    }
}

#[test]
fn a_stuck_file_system_does_not_block_calls_elsewhere() {
    let dir = folder();
    fs::create_dir(dir.path().join("src")).unwrap();
    fs::write(dir.path().join("src/a.txt"), "a line\n").unwrap();
    let Some(stuck) = Stuck::mount(&dir.path().join("stuck")) else { return };
    // Calls elsewhere have more time than the test, so stuck calls cannot end before them.
    let mut server = opened(Process::start(dir.path(), &["--log", "off", "--time-limit", "600s", "."]));
    for n in 0..40 {
        let read = json!({ "name": "read", "arguments": { "path": format!("stuck/{n}.txt") } });
        server.send("tools/call", &read);
        for path in ["stuck", "."] {
            let grep = json!({ "name": "grep", "arguments": { "pattern": "line", "path": path } });
            server.send("tools/call", &grep);
        }
    }
    for (tool, arguments, reply) in [
        ("read", json!({ "path": "src/a.txt" }), "a line"),
        ("write", json!({ "path": "src/b.txt", "content": "x" }), "Created"),
        ("grep", json!({ "path": "src", "pattern": "line" }), "a.txt:1"),
        ("glob", json!({ "path": "src", "pattern": "*" }), "a.txt"),
    ] {
        let (text, _) = call(&mut server, tool, arguments);
        assert!(text.contains(reply), "{text}");
    }
    server.signal(Signal::TERM);
    assert_eq!(server.exit().0.code(), Some(0), "stuck threads are left behind");

    let mut server = opened(Process::start(dir.path(), &["--log", "off", "--time-limit", "1s", "."]));
    for (tool, arguments) in [
        ("read", json!({ "path": "stuck/a.txt" })),
        ("write", json!({ "path": "stuck/a.txt", "content": "x" })),
        ("grep", json!({ "path": "stuck", "pattern": "line" })),
        ("ls", json!({ "path": "stuck" })),
    ] {
        let (text, meta) = call(&mut server, tool, arguments);
        assert_eq!(error_of(&meta), "timed_out", "{tool}: {text}");
        assert!(text.contains("the file system did not answer within 1s"), "{tool}: {text}");
    }
    server.end_input();
    assert_eq!(server.exit().0.code(), Some(0));
    drop(stuck);
}
