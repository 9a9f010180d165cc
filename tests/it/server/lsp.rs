//! Language servers, over stdio: a scripted one that misbehaves on request.

#![cfg(target_os = "linux")]

mod broker;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    harness::process::Process,
    harness::program::{Outcome, program},
};

/// A root, a configuration with one language server for `.fake` files, and a server.
struct Desk {
    dir: TempDir,
}

/// The interpreter itself, and what it reads.
fn python() -> (String, String) {
    let script = "import os, sys; print(os.path.realpath(sys.executable)); print(os.path.realpath(sys.base_prefix))";
    let printed = Outcome::of(Command::new("python3").args(["-c", script])).succeeded();
    let mut lines = printed.lines().map(str::to_owned);
    (lines.next().expect("a path"), lines.next().expect("a folder"))
}

impl Desk {
    fn new(mode: &str, keys: &str) -> Self {
        let desk = Self { dir: tempfile::tempdir().expect("a folder") };
        for folder in ["app", "temp", "script"] {
            fs::create_dir(desk.path(folder)).expect("made");
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/server/lsp/server.py");
        fs::copy(script, desk.path("script/server.py")).expect("copied");
        fs::write(desk.path("outside.txt"), "outside").expect("written");
        fs::write(desk.path("app/.env"), "KEY=secret-value\n").expect("written");
        let (python, prefix) = python();
        let script = desk.path("script/server.py").display().to_string();
        let (read, outside) = (desk.path("script").display().to_string(), desk.path("outside.txt"));
        let config = format!(
            "[lsp.fake]\ncommand = {python:?}\nargs = [{script:?}, {mode:?}]\nextensions = [\"fake\"]\n\
             read = [{prefix:?}, {read:?}]\nenv = [\"PROBE_OUTSIDE={}\", \"PYTHONDONTWRITEBYTECODE=1\"]\n{keys}\n",
            outside.display()
        );
        fs::write(desk.path("r.toml"), config).expect("written");
        desk
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().canonicalize().expect("a folder").join(below)
    }

    fn server(&self) -> Process {
        self.server_with(&[])
    }

    fn server_with(&self, options: &[&str]) -> Process {
        let mut command = program(self.dir.path());
        command.env("TMPDIR", self.path("temp")).env("HOME", self.path("")).env("MY_SECRET", "x");
        command.args([
            "--state-dir",
            "off",
            "--allow",
            "manage",
            "--config",
            "r.toml",
            "--read-before-write",
            "off",
            "app",
        ]);
        command.args(options);
        let mut server = Process::spawn(command);
        server.initialize();
        server
    }

    /// The text of a call, which has no host path in it.
    fn call(&self, server: &mut Process, tool: &str, arguments: &Value) -> String {
        let answer = server.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        assert!(answer["result"]["isError"] != true, "{text}");
        for host in [self.path("").display().to_string().as_str(), "/opt/secret", "secret-value"] {
            assert!(!text.contains(host.trim_end_matches('/')), "{host}: {text}");
        }
        text
    }

    fn write(&self, server: &mut Process, content: &str) -> String {
        self.call(server, "write", &json!({ "path": "a.fake", "content": content }))
    }
}

/// Whether a process with `word` in its command line runs.
fn runs(word: &str) -> bool {
    let lines = fs::read_dir("/proc").expect("listed").flatten();
    let lines = lines.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.into_iter().any(|line| String::from_utf8_lossy(&line).contains(word))
}

fn ends(word: &str) {
    let start = Instant::now();
    while runs(word) {
        assert!(start.elapsed() < Duration::from_secs(60), "{word} still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn only_new_problems_are_reported_in_characters_and_without_host_paths() {
    for mode in ["fine", "pull", "no-version", "asks"] {
        let desk = Desk::new(mode, "timeout = 60");
        let mut server = desk.server();
        let text = desk.write(&mut server, "ok\né😀WARN old\n");
        assert!(text.contains("new problem: a.fake:2:3 warning: warn in ., see . and …/name.h (fake F1)"), "{text}");
        let edit = json!({ "path": "a.fake", "old_string": "ok", "new_string": "new\né😀 BROKEN" });
        let text = desk.call(&mut server, "edit", &edit);
        assert!(text.contains("new problem: a.fake:2:4 broken in"), "{mode}: {text}");
        assert!(!text.contains("3:3"), "{mode}: {text}");
        let edit = json!({ "path": "a.fake", "old_string": " BROKEN", "new_string": "" });
        let text = desk.call(&mut server, "edit", &edit);
        assert!(!text.contains("problem") && !text.contains("diagnostics"), "{mode}: {text}");
        let text = desk.call(&mut server, "undo", &json!({ "path": "a.fake" }));
        assert!(text.contains("new problem: a.fake:2:4 broken in"), "{mode}: {text}");
    }
}

#[test]
fn file_that_was_there_before_is_compared_with_its_old_text() {
    let desk = Desk::new("fine", "timeout = 60");
    fs::write(desk.path("app/a.fake"), "BROKEN old\nok\n").expect("written");
    let mut server = desk.server();
    let edit = json!({ "path": "a.fake", "old_string": "ok", "new_string": "BROKEN new" });
    let text = desk.call(&mut server, "edit", &edit);
    assert!(text.contains("new problem: a.fake:2:1 broken"), "{text}");
    let text = desk.call(&mut server, "write", &json!({ "path": "b.txt", "content": "BROKEN" }));
    assert!(!text.contains("problem"), "no server is for it: {text}");
}

#[test]
fn silent_server_is_waited_for_only_so_long_and_then_left_alone() {
    for mode in ["silent", "slow", "stuck-progress"] {
        let desk = Desk::new(mode, "timeout = 0.3");
        let mut server = desk.server();
        for _ in 0..2 {
            let text = desk.write(&mut server, "BROKEN\n");
            assert!(
                text.contains("\n\ndiagnostics: not ready: python3") && text.contains("has not answered within 0.3 s"),
                "{text}"
            );
        }
        for _ in 0..3 {
            let text = desk.write(&mut server, &format!("BROKEN {}\n", text_number()));
            assert!(text.contains("\n\ndiagnostics: not ready: python3"), "{mode}: {text}");
        }
    }
}

/// A number that no earlier call had.
fn text_number() -> u64 {
    static LAST: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    LAST.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

#[test]
fn first_breaking_edit_is_named_or_said_not_to_be_checked_and_named_with_the_next() {
    // The server publishes, or answers, when the test lets it: nothing here depends on how long that takes.
    for mode in ["gated", "gated-empty-first", "gated-status", "gated-progress"] {
        let desk = Desk::new(mode, "timeout = 1.5\n[lsp.fake.initialization_options]\ncheckOnSave = false");
        fs::write(desk.path("app/a.fake"), "BROKEN old\nok\n").expect("written");
        let mut server = desk.server();
        desk.call(&mut server, "read", &json!({ "path": "a.fake" }));
        let edit = json!({ "path": "a.fake", "old_string": "ok", "new_string": "BROKEN first" });
        let text = desk.call(&mut server, "edit", &edit);
        assert!(text.contains("\n\ndiagnostics: not ready: python3"), "{mode}: {text}");
        fs::write(desk.path("app/gate"), "").expect("written");
        // How soon it sees that it may is its own affair; until then each answer says that it is not ready.
        let mut named = false;
        for number in 0..200 {
            let old = if number == 0 { "BROKEN first".to_owned() } else { format!("BROKEN first {}", number - 1) };
            let edit = json!({ "path": "a.fake", "old_string": old, "new_string": format!("BROKEN first {number}") });
            let text = desk.call(&mut server, "edit", &edit);
            named = text.contains("new problem: a.fake:2:1 broken");
            assert!(!text.contains("a.fake:1:1"), "{mode}: only what is new: {text}");
            assert!(named || text.contains("\n\ndiagnostics: not ready: python3"), "{mode}: {text}");
            if named {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(named, "{mode}");
    }
}

#[test]
fn server_starts_with_the_first_read_of_a_file_that_it_is_for() {
    let desk = Desk::new("fine", "timeout = 60");
    fs::write(desk.path("app/a.fake"), "ok\n").expect("written");
    fs::write(desk.path("app/b.txt"), "ok\n").expect("written");
    let word = desk.path("script/server.py").display().to_string();
    let mut server = desk.server();
    desk.call(&mut server, "read", &json!({ "path": "b.txt" }));
    desk.call(&mut server, "grep", &json!({ "pattern": "ok" }));
    assert!(!runs(&word), "it was started for another file");
    desk.call(&mut server, "read", &json!({ "path": "a.fake" }));
    let start = Instant::now();
    while !runs(&word) {
        assert!(start.elapsed() < Duration::from_secs(60), "it is not started");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn answer_names_what_a_server_may_not_read() {
    let desk = Desk::new("denied", "timeout = 60");
    fs::create_dir_all(desk.path(".tools/lib")).expect("made");
    fs::write(desk.path(".tools/lib/settings"), "x").expect("written");
    let text = desk.write(&mut desk.server(), "one\n");
    assert!(
        text.contains("diagnostics: none, as python3")
            && text.contains("it may not read all that it needs: the user has to add folders to `read` of [lsp.fake]"),
        "{text}"
    );
    let ended =
        Outcome::of(program(desk.dir.path()).env("HOME", desk.path("")).env("TMPDIR", desk.path("temp")).args([
            "--state-dir",
            "off",
            "--config",
            "r.toml",
            "app",
            "doctor",
        ]));
    let hint = ended.stdout.split("it may not read ~/.tools: write `read = [").nth(1).unwrap_or_default();
    let (list, rest) = hint.split_once("]` in ").unwrap_or_default();
    let is_listed = list.contains("\"~/.tools\"") && list.contains("\"~/script\"") && rest.starts_with("[lsp.fake]");
    assert!(ended.stdout.contains("it ended (") && is_listed, "{}", ended.stdout);
    let desk = Desk::new("fine", "timeout = 7\n[lsp.gone]\ncommand = \"no-such-server\"\nextensions = [\"gone\"]");
    let text = desk.call(&mut desk.server(), "write", &json!({ "path": "a.gone", "content": "x\n" }));
    assert!(text.contains("\n\ndiagnostics: none, as no-such-server is not installed"), "{text}");
}

#[test]
fn remark_of_a_server_is_shown_once_and_a_table_that_is_refused_is_named() {
    let desk = Desk::new("warning", "timeout = 60");
    let mut server = desk.server();
    let remark = "diagnostics: incomplete, python3";
    let first = desk.write(&mut server, "one\n");
    assert!(first.contains(remark) && first.contains("says: some sources are missing"), "{first}");
    for content in ["two\n", "BROKEN\n", "three\n"] {
        let text = desk.write(&mut server, content);
        assert_eq!(
            (text.contains("diagnostics:"), text.contains("new problem")),
            (false, content == "BROKEN\n"),
            "{text}"
        );
    }
    let desk = Desk::new("fine", "");
    // Within what it may read, so that nothing starts.
    fs::create_dir_all(desk.dir.path().join(".local/state/rootbound")).expect("made");
    let config = fs::read_to_string(desk.path("r.toml")).expect("the file");
    let everything = config.replace("read = [", &format!("read = [{:?}, ", desk.path("")));
    fs::write(desk.path("r.toml"), everything).expect("written");
    let text = desk.write(&mut desk.server(), "one\n");
    assert!(text.contains("is refused as [lsp.fake] has it: ") && text.contains("the state folder"), "{text}");
    assert!(!text.contains(&desk.path("").display().to_string()), "{text}");
}

#[test]
fn what_a_server_starts_ends_with_the_broker() {
    for kill in [false, true] {
        let desk = Desk::new("daemon", "timeout = 60");
        let mut server = desk.server();
        desk.write(&mut server, "BROKEN\n");
        let word = format!("daemon-of-{}", desk.path("").display());
        let start = Instant::now();
        while !runs(&word) {
            assert!(start.elapsed() < Duration::from_secs(60), "it starts one");
            std::thread::sleep(Duration::from_millis(20));
        }
        if kill {
            server.signal(rustix::process::Signal::KILL);
        }
        drop(server);
        ends(&word);
    }
}

#[test]
fn crashing_and_lying_servers_are_ended_and_named() {
    for mode in ["crash-at-start", "crash-at-change", "garbage", "giant", "endless"] {
        let desk = Desk::new(mode, "timeout = 60");
        let mut server = desk.server();
        desk.write(&mut server, "one\n");
        let text = desk.write(&mut server, "BROKEN\n");
        let first = mode == "crash-at-change";
        assert!(!text.contains("new problem") && text.contains("\n\ndiagnostics: none, as python3"), "{mode}: {text}");
        assert!(!first || text.contains("ended unexpectedly"), "{mode}: {text}");
        ends(&desk.path("script/server.py").display().to_string());
        let text = desk.call(&mut server, "read", &json!({ "path": "a.fake" }));
        assert!(text.contains("BROKEN"), "the server goes on: {text}");
    }
    let desk = Desk::new("crash-at-start", "");
    let text = desk.write(&mut desk.server(), "one\n");
    assert!(text.contains("\n\ndiagnostics: none, as python3") && text.contains("ended unexpectedly"), "{text}");
}

#[test]
fn flood_is_cut_and_files_outside_are_not_named() {
    let desk = Desk::new("flood", "timeout = 60");
    let text = desk.write(&mut desk.server(), &"BROKEN\n".repeat(500));
    assert!(text.contains("500 new problems in a.fake:") && text.contains("\n480 more"), "{text}");

    let desk = Desk::new("outside", "timeout = 60");
    let mut server = desk.server();
    for content in ["one\n", "BROKEN two\n", "BROKEN three\n"] {
        let text = desk.write(&mut server, content);
        assert!(!text.contains("ELSEWHERE") && !text.contains("passwd") && !text.contains(".env"), "{text}");
    }
}

#[test]
fn secrets_whose_names_are_shown_are_not_put_to_a_server() {
    let desk = Desk::new("outside", "timeout = 60");
    let mut server = desk.server_with(&["--secrets", "names"]);
    fs::write(desk.path("app/.env.fake"), "BROKEN=secret-value\n").expect("written");
    let text = desk.call(&mut server, "read", &json!({ "path": ".env.fake" }));
    assert_eq!(text, "names in .env.fake (values hidden): BROKEN");
    assert!(!runs(&desk.path("script/server.py").display().to_string()), "it was started for a secret");
    for content in ["one\n", "BROKEN two\n", "BROKEN three\n"] {
        let text = desk.write(&mut server, content);
        assert!(!text.contains("ELSEWHERE") && !text.contains(".env"), "{text}");
    }
}

#[test]
fn server_reaches_nothing_but_its_root() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let desk = Desk::new("probe", "timeout = 60");
    let config = fs::read_to_string(desk.path("r.toml")).expect("there");
    fs::write(desk.path("r.toml"), config.replace("env = [", &format!("env = [\"PROBE_PORT={port}\", ")))
        .expect("written");
    let text = desk.write(&mut desk.server(), "BROKEN\n");
    assert!(text.contains("PROBE nothing"), "{text}");
    assert!(!desk.path("app/written-by-server").exists());

    // What it can do without walls, so that the probe is known to work.
    let config = fs::read_to_string(desk.path("r.toml")).expect("there");
    fs::write(desk.path("r.toml"), format!("{config}\nconfine = \"off\"\n")).expect("written");
    let other = json!({ "path": "b.fake", "content": "BROKEN\n" });
    let text = desk.call(&mut desk.server(), "write", &other);
    assert!(text.contains("reads outside.txt, writes, connects"), "{text}");
    assert!(!text.contains("MY_SECRET"), "{text}");
}

#[test]
fn language_server_ends_with_the_server_however_that_ends() {
    for kill in [false, true] {
        let desk = Desk::new("fine", "timeout = 60");
        let mut server = desk.server();
        desk.write(&mut server, "BROKEN\n");
        let word = desk.path("script/server.py").display().to_string();
        assert!(runs(&word));
        if kill {
            server.signal(rustix::process::Signal::KILL);
        }
        drop(server);
        ends(&word);
    }
}

#[test]
fn concurrent_edits_share_one_server() {
    let desk = Desk::new("fine", "timeout = 60");
    let mut server = desk.server();
    let ids: Vec<u64> = (0..8)
        .map(|number| {
            let arguments = json!({ "path": format!("f{number}.fake"), "content": format!("BROKEN {number}\n") });
            server.send("tools/call", &json!({ "name": "write", "arguments": arguments }))
        })
        .collect();
    let mut answered = Vec::new();
    while answered.len() < ids.len() {
        let message = server.next().expect("an answer");
        let Some(id) = message["id"].as_u64().filter(|id| ids.contains(id)) else { continue };
        let text = message["result"]["content"][0]["text"].as_str().expect("a text").to_owned();
        assert!(text.contains("new problem: f") && text.contains(".fake:1:1 broken"), "{text}");
        answered.push(id);
    }
}

#[test]
fn configuration_problems_are_reported_at_once() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir(dir.path().join("app")).expect("made");
    fs::write(dir.path().join("app/tool"), "#!/bin/sh\n").expect("written");
    let mut mode = fs::metadata(dir.path().join("app/tool")).expect("there").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    fs::set_permissions(dir.path().join("app/tool"), mode).expect("set");
    let inside = dir.path().join("app/tool").display().to_string();
    let config = format!(
        "[lsp.a]\ncomand = \"x\"\nextensions = [\"a.b\"]\ntimeout = 0\nread = [\"lib\", \"/\"]\nconfine = \"some\"\n\
         root_markers = [\"a/b\"]\nenv = [\"=x\"]\n[lsp.b]\ncommand = \"./tool\"\nextensions = [\"rs\"]\n\
         write = \"yes\"\n[lsp.c]\ncommand = {inside:?}\nextensions = [\".RS\"]\n[lsp.d]\ncommand = \"\"\n"
    );
    fs::write(dir.path().join("r.toml"), config).expect("written");
    let arguments = ["--state-dir", "off", "--config", "r.toml", "app", "tools"];
    let printed = Outcome::of(program(dir.path()).args(arguments)).failed(2);
    for part in [
        "r.toml:2: unknown key of a language server \"comand\": did you mean command?",
        "r.toml:1: lsp.a has no command",
        "r.toml:3: \"a.b\" is no extension",
        "r.toml:4: timeout = 0 is not between 0 and 60 seconds",
        "read \"lib\" is a relative path",
        "read \"/\" is the whole file system",
        "confine \"some\": write required, auto or off",
        "\"a/b\" is no name of a file",
        "env \"=x\" has no name",
        "command \"./tool\" is a relative path",
        "write is string, but must be true or false",
        "a model could replace it",
        "lsp.b and lsp.c are both for files .rs",
        "lsp.d has no command",
        "lsp.d has no extensions",
    ] {
        assert!(printed.contains(part), "{part}\n{printed}");
    }
}

#[test]
fn doctor_names_language_servers_and_what_is_missing() {
    let desk = Desk::new("fine", "timeout = 7\n[lsp.gone]\ncommand = \"no-such-server\"\nextensions = [\"gone\"]");
    let arguments = ["--state-dir", "off", "--config", "r.toml", "app", "doctor"];
    let ended = Outcome::of(program(desk.dir.path()).env("TMPDIR", desk.path("temp")).args(arguments));
    for part in [
        "lsp          ",
        "root read-only, no network",
        "gone  no-such-server: there is no such program",
        ": it answers after",
    ] {
        assert!(ended.stdout.contains(part), "{part}\n{}", ended.stdout);
    }
}

#[test]
fn each_configuration_of_the_page_is_accepted() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/language-servers.md")).expect("the page");
    let blocks: Vec<&str> =
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("```")).map(|(block, _)| block).collect();
    assert!(blocks.len() >= 2, "{blocks:?}");
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir(dir.path().join("app")).expect("made");
    fs::create_dir(dir.path().join("none")).expect("made");
    for block in blocks {
        fs::write(dir.path().join("r.toml"), block).expect("written");
        // Without programs: that they run is tried with the real ones, by the clients' tests.
        let mut doctor = program(dir.path());
        doctor.env("PATH", dir.path().join("none")).env("HOME", dir.path()).env("TMPDIR", dir.path());
        let ended = Outcome::of(doctor.args(["--state-dir", "off", "--config", "r.toml", "app", "doctor"]));
        let heads = block.lines().filter(|line| line.starts_with("[lsp."));
        let tables = heads.filter(|head| !head.contains(".initialization_options")).count();
        assert_eq!(ended.stdout.matches("there is no such program").count(), tables, "{block}\n{}", ended.stdout);
    }
}
