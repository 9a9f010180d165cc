//! `rootbound doctor`: its report and its exit codes.

use std::{
    fs,
    path::{Path, PathBuf},
};

use confined_fs::{Revision, Root};
use tempfile::TempDir;

use crate::harness::program::{Outcome, program};

fn folders() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for folder in ["app", "lib"] {
        fs::create_dir(dir.path().join(folder)).expect("a folder");
    }
    dir
}

fn doctor(dir: &TempDir, arguments: &[&str]) -> (Option<i32>, String, String) {
    doctor_at_home(dir, dir.path(), arguments)
}

fn doctor_at_home(dir: &TempDir, home: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let ended =
        Outcome::of(program(dir.path()).env("HOME", home).env("USERPROFILE", home).arg("doctor").args(arguments));
    (ended.code, ended.stdout, ended.stderr)
}

#[test]
fn agent_rules_are_listed_with_unused_ones() {
    let dir = folders();
    let put = |path: &str, text: &str| {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    put("app/.claude/settings.json", r#"{"permissions":{"deny":["Read(./a/**)","Edit(/b)","Read","Bash(rm *)"]}}"#);
    put("app/.cursorignore", "# none\n*.key2\n!open.key2\n[z-a]\n");
    put("lib/.aiexclude", "");
    let arguments = ["--root", "app=app", "--root", "lib=lib:ro", "--state-dir", "off", "--confine", "off"];
    let (code, text, log) = doctor(&dir, &arguments);
    for part in [
        "agent rules  app/.claude/settings.json is enforced",
        "content refused (1): Read(./a/**)\n",
        "not written (1): Edit(/b)\n",
        "not used (1): Read (about that tool, not about files)\n",
        "app/.cursorignore is enforced",
        "content refused (2): *.key2, !open.key2\n",
        "not used (1): [z-a] (no pattern",
        "lib/.aiexclude is enforced",
        "content refused (1): (empty: everything)\n",
    ] {
        assert!(text.contains(part), "{part:?} is missing: {text}");
    }
    assert_eq!((code, log.as_str()), (Some(0), ""), "{text}");

    put("app/.claude/settings.json", "{\"permissions\": {\"deny\": [");
    let (code, text, log) = doctor(&dir, &arguments);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("app/.claude/settings.json: it is not JSON") && log.contains("it is not JSON"),
        "{text} {log}"
    );

    let (code, text, _) = doctor(&dir, &[&arguments[..], &["--agent-rules", "off"]].concat());
    assert!(code == Some(0) && text.contains("agent rules  not read (--agent-rules off)"), "{text}");
}

#[test]
fn a_run_as_configured_exits_with_0() {
    let dir = folders();
    let (code, text, log) = doctor(
        &dir,
        &[
            "--state-dir",
            "state",
            "--audit",
            "audit/log.jsonl",
            "--root",
            "app=app",
            "--root",
            "lib=lib:ro",
            "--deny",
            "*.private",
            "--confine",
            "off",
            "--max-files-created",
            "7",
            "--max-output",
            "11000",
        ],
    );
    for part in [
        "app  read-write",
        "lib  read-only",
        "off, as configured (--confine off)",
        "system calls off, as configured",
        "*.private",
        "7 files created",
        "path index   kept for large trees",
        "audit/log.jsonl",
        "an answer of 11000 bytes (--max-output)",
        "verdict      everything is as configured",
    ] {
        assert!(text.replace('\\', "/").contains(part), "{part:?} is not in\n{text}\n{log}");
    }
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn a_plain_configuration_takes_one_screen() {
    let dir = folders();
    let (code, text, _) = doctor(&dir, &["--state-dir", "state", "--confine", "off", "app"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.lines().count() <= 24, "{text}");
    // Paths are as long as they are.
    let is_fixed = |line: &&str| !["directories", "state"].iter().any(|head| line.starts_with(head));
    for line in text.lines().filter(is_fixed) {
        assert!(line.len() <= 80, "{line}");
    }
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[test]
fn refused_system_calls_are_shown() {
    let dir = folders();
    let (_, text, log) = doctor(&dir, &["--state-dir", "off", "app"]);
    assert!(text.contains("system calls programs, sockets, changes by path and the like are refused"), "{text}{log}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_resolver_is_shown() {
    let dir = folders();
    let (_, text, _) = doctor(&dir, &["--state-dir", "off", "--resolver", "walk", "app"]);
    assert!(text.contains("name by name, without following links (--resolver walk)"), "{text}");
}

#[test]
fn a_list_that_exceptions_empty_is_not_said_to_refuse() {
    let dir = folders();
    let policy = |options: &[&str]| {
        let (_, text, _) = doctor(&dir, &[options, &["--state-dir", "off", "app"]].concat());
        text.lines().find(|line| line.starts_with("policy")).expect("a line").to_owned()
    };
    assert!(
        policy(&["--allow-secret", "*.pem"]).contains("secrets (content refused), files that run later (not written)")
    );
    let text = policy(&["--allow-secret", "**", "--allow-protected", "*"]);
    assert!(text.contains("secrets (all of them may be read: --allow-secret)"), "{text}");
    assert!(text.contains("files that run later (all of them may be written: --allow-protected)"), "{text}");
}

#[test]
fn an_untrusted_directory_is_named() {
    let dir = folders();
    let (code, text, _) = doctor(&dir, &["--state-dir", "off", "--confine", "off", "--root", "lib=lib:ro:untrusted"]);
    assert!(code == Some(0) && text.contains("lib  read-only, untrusted  "), "{text}");
    fs::write(dir.path().join("r.toml"), "[[root]]\nname = \"a\"\npath = \"app\"\nuntrusted = true\n").expect("a file");
    let (_, text, _) = doctor(&dir, &["--state-dir", "off", "--confine", "off", "--config", "r.toml"]);
    assert!(text.contains("a  read-write, untrusted  "), "{text}");
    let (_, text, _) = doctor(&dir, &["--state-dir", "off", "--confine", "off", "--untrusted", "app", "lib"]);
    assert_eq!(text.matches("read-write, untrusted").count(), 2, "{text}");
}

/// What `rootbound stage` of an earlier version left: a layer, and an apply that was killed while names changed.
#[test]
fn staged_changes_of_an_earlier_version_are_named_and_its_interrupted_apply_is_taken_back() {
    let dir = folders();
    let (app, state) = (dir.path().canonicalize().expect("a path").join("app"), dir.path().join("state"));
    let put = |path: PathBuf, text: &str| {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    let key = Root::key_of(&app);
    let layer = state.join("stage").join(&key);
    let revision = |text: &str| Revision::of(text.as_bytes());
    put(layer.join("upper/a.txt"), "ONE\n");
    put(layer.join("upper/new/x.txt"), "new\n");
    let (one, gone) = (revision("one\n"), revision("x\n"));
    put(
        layer.join("record"),
        &format!("base file {one} 640 a.txt\nbase absent new\nbase file {gone} 644 gone\nhide gone\n"),
    );
    let aside = |number: u32| app.join(format!(".rootbound-77126cea69641d02-{number}.txn"));
    put(aside(1), "x\n");
    put(app.join("a.txt"), "ONE\n");
    put(aside(2), "one\n");
    put(aside(4).join("x.txt"), "new\n");
    let steps = [
        format!(r#""path":"gone","remove":{{"file":"{gone}"}}"#),
        format!(r#""path":"a.txt","replace":{{"old":"{one}","new":"{}"}}"#, revision("ONE\n")),
        r#""path":"new","create":"directory""#.to_owned(),
        format!(r#""path":"new/x.txt","create":{{"file":"{}"}}"#, revision("new\n")),
    ];
    let lines = steps.map(|step| format!(r#"{{"root":{{"disk":"{key}"}},{step}}}"#)).join("\n");
    let intent = format!("{{\"rootbound\":1,\"id\":\"77126cea69641d02\",\"steps\":4}}\n{lines}\n");
    let intent = format!("{intent}{{\"sum\":\"{}\"}}\n", revision(&intent));
    put(state.join("transactions/77126cea69641d02.ready"), &intent);

    for _ in 0..2 {
        let (code, text, log) = doctor(&dir, &["--state-dir", "state", "--confine", "off", "app"]);
        let named = format!("may not have been applied: {}", layer.display());
        assert!(text.contains(&named) && text.matches(&key).count() == 1, "{text}{log}");
        assert_eq!(code, Some(0), "{text}{log}");
        // The intent is one of Linux, which Windows leaves where it is.
        if cfg!(windows) {
            continue;
        }
        let list = |folder: &Path| fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        let mut left: Vec<PathBuf> = list(&app).collect();
        left.sort();
        assert_eq!(left, [app.join("a.txt"), app.join("gone")]);
        assert_eq!(fs::read_to_string(app.join("a.txt")).expect("a file"), "one\n");
        assert_eq!(list(&state.join("transactions")).count(), 0);
    }
    assert_eq!(fs::read_to_string(layer.join("upper/a.txt")).expect("a file"), "ONE\n");
    fs::remove_dir_all(layer).expect("removed");
    let (_, text, _) = doctor(&dir, &["--state-dir", "state", "--confine", "off", "app"]);
    assert!(!text.contains("staged"), "{text}");
}

#[test]
fn a_run_not_as_configured_exits_with_1() {
    let dir = folders();
    fs::write(dir.path().join("state"), "a file in its place").expect("a file");
    let options = ["--confine", "off", "--state-dir", "state", "--root", "app=app", "--root", "gone=gone"];
    let (code, text, _) = doctor(&dir, &options);
    assert_eq!(code, Some(1), "{text}");
    for part in ["not everything is as configured", "gone cannot be used", "the state folder"] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn an_unusual_configuration_is_a_remark_and_exits_with_0() {
    let dir = folders();
    let home = dir.path().join("app");
    let options = ["--confine", "off", "--state-dir", "off", home.to_str().expect("a plain name")];
    let (code, text, log) = doctor_at_home(&dir, &home, &options);
    assert!(text.contains("remarks      - ") && text.contains("home directory"), "{text}{log}");
    assert!(text.contains("verdict      everything is as configured"), "{text}");
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn a_run_that_cannot_start_exits_with_2() {
    let dir = folders();
    fs::write(dir.path().join("file"), "").expect("a file");
    for (wrong, word) in
        [(["--audit", "file/log.jsonl"], "audit"), (["--deny", "a["], "not a glob"), (["--confine", "x"], "--confine")]
    {
        let (code, text, log) = doctor(&dir, &[&["--state-dir", "off"], wrong.as_slice(), &["app"]].concat());
        assert_eq!((code, text.as_str()), (Some(2), ""), "{log}");
        assert!(log.contains(word), "{log}");
    }
}

/// The limits of a user namespace are its own, so that no other program on the machine has fewer.
#[cfg(target_os = "linux")]
#[test]
fn limit_of_inotify_that_keeps_a_root_from_an_index_is_named() {
    let dir = folders();
    let limited = |limit: &str| {
        let script = format!("echo {limit} && exec \"$@\"");
        let mut command = std::process::Command::new("unshare");
        command.args([
            "--user",
            "--map-root-user",
            "sh",
            "-c",
            &script,
            "sh",
            env!("CARGO_BIN_EXE_rootbound"),
            "doctor",
        ]);
        command.current_dir(dir.path()).env("HOME", dir.path()).args(["--state-dir", "off", "app"]);
        command
    };
    if !limited("1 > /proc/sys/user/max_inotify_watches").arg("--help").output().is_ok_and(|done| done.status.success())
    {
        #[expect(clippy::print_stderr, reason = "a check says that it was skipped")]
        {
            eprintln!("SKIPPED: this machine gives no user namespace");
        }
        return;
    }
    fs::create_dir_all(dir.path().join("app/src/deep")).unwrap();
    let text = Outcome::of(&mut limited("1 > /proc/sys/user/max_inotify_watches")).stdout;
    assert!(text.contains("the limit of inotify watches is reached (sysctl fs.inotify.max_user_watches)"), "{text}");
    assert!(text.contains("raise it: sudo sysctl fs.inotify.max_user_watches="), "{text}");
    let text = Outcome::of(&mut limited("0 > /proc/sys/user/max_inotify_instances")).stdout;
    assert!(text.contains("sudo sysctl fs.inotify.max_user_instances="), "{text}");
}
