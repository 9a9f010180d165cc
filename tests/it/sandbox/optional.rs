//! Directories that may be missing at the start: `:optional`; and those that are although they should be there. What other
//! programs may put in their place is tested in `attacks::optional_roots`.

use std::{
    fs,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    harness::process::Process,
    harness::program::{Outcome, program},
};

fn folder() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(dir.path().join("app")).expect("a folder");
    fs::write(dir.path().join("app/a.txt"), "here\n").expect("a file");
    dir
}

fn start(dir: &TempDir, arguments: &[&str]) -> (Process, Value) {
    let mut process = Process::start(dir.path(), arguments);
    let initialized = process.initialize();
    (process, initialized)
}

fn text(process: &mut Process, tool: &str, arguments: &Value) -> String {
    let answer = process.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn missing_directory_is_listed_with_its_right_and_left_out_of_searches() {
    let dir = folder();
    let (mut process, initialized) = start(&dir, &["--root", "app=app", "--root", "late=late:optional:ro"]);
    let instructions = initialized["instructions"].as_str().expect("text");
    assert!(instructions.contains("- late (read-only, not there yet)"), "{instructions}");
    let roots = text(&mut process, "ls", &json!({}));
    assert_eq!(roots, "2 roots:\n  app/ (read-write)\n  late/ (read-only, not there yet)");
    for (tool, pattern) in [("grep", "here"), ("glob", "**")] {
        let found = text(&mut process, tool, &json!({ "pattern": pattern }));
        assert!(found.contains("app/a.txt"), "{found}");
        assert_eq!(found.matches("(not searched, as it does not exist yet: late)").count(), 1, "{found}");
    }
    fs::create_dir(dir.path().join("late")).expect("a folder");
    fs::write(dir.path().join("late/b.txt"), "here too\n").expect("a file");
    let found = text(&mut process, "grep", &json!({ "pattern": "here" }));
    assert!(found.contains("late/b.txt:1: here too") && !found.contains("not searched"), "{found}");
    assert_eq!(text(&mut process, "ls", &json!({})), "2 roots:\n  app/ (read-write)\n  late/ (read-only)");
}

#[test]
fn paths_are_completed_as_soon_as_the_directory_is_there() {
    let dir = folder();
    let (mut process, _) = start(&dir, &["--root", "app=app", "--root", "late=late:optional"]);
    let typed = json!({
        "ref": { "type": "ref/resource", "uri": "file:///late/{+path}" },
        "argument": { "name": "path", "value": "b" },
    });
    let missing = process.ask("completion/complete", &typed);
    assert_eq!(missing["result"]["completion"], json!({ "values": [], "total": 0, "hasMore": false }));
    fs::create_dir(dir.path().join("late")).expect("a folder");
    fs::write(dir.path().join("late/b.txt"), "b\n").expect("a file");
    // A loaded machine may need more than one keystroke to list the tree.
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let completion = process.ask("completion/complete", &typed)["result"]["completion"].clone();
        if completion["values"] == json!(["b.txt"]) {
            break;
        }
        assert!(completion["hasMore"] == true && Instant::now() < deadline, "{completion}");
    }
}

#[test]
fn table_of_the_configuration_file_may_say_optional() {
    let dir = folder();
    let file = "[[root]]\npath = \"app\"\n\n[[root]]\nname = \"late\"\npath = \"up/late\"\noptional = true\n";
    fs::write(dir.path().join("rb.toml"), file).expect("a file");
    let (mut process, _) = start(&dir, &["--config", "rb.toml"]);
    assert!(text(&mut process, "read", &json!({ "path": "late/x" })).contains("late does not exist yet"));
    fs::create_dir_all(dir.path().join("up/late")).expect("folders");
    assert!(text(&mut process, "write", &json!({ "path": "late/x", "content": "x" })).starts_with("Created"));

    fs::write(dir.path().join("rb.toml"), "[[root]]\npath = \"app\"\noptional = \"yes\"\n").expect("a file");
    let ended = Outcome::of(program(dir.path()).args(["--config", "rb.toml", "doctor"]));
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("rb.toml:3: [[root]]: invalid type: string \"yes\", expected a boolean"),
        "{}",
        ended.stderr
    );
}

#[cfg(unix)]
#[test]
fn optional_directory_never_fails_the_start() {
    let dir = folder();
    fs::write(dir.path().join("file"), "").expect("a file");
    let odd =
        ["a=file:optional", "b=file/below:optional", "c=no/../such/./x:ro:optional", "d=/no-such-folder/x:optional"];
    let roots: Vec<&str> = odd.iter().flat_map(|root| ["--root", root]).collect();
    for more in [&["--root", "e=/:optional"][..], &["--root", "f=../../../../../../../x:optional"], &[]] {
        let (mut process, _) = start(&dir, &[&roots[..], more].concat());
        let listed = process.ask("tools/list", &json!({}));
        assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(6), "{listed}");
        for path in ["a", "b/x", "c/x", "d/x"] {
            let refused = text(&mut process, "read", &json!({ "path": path }));
            assert!(refused.contains("does not exist yet"), "{refused}");
        }
    }
}

#[test]
fn agent_rules_in_a_late_directory_are_enforced() {
    let dir = folder();
    let (mut process, _) = start(&dir, &["--root", "app=app", "--root", "late=late:optional"]);
    assert!(text(&mut process, "read", &json!({ "path": "late/x.key2" })).contains("does not exist yet"));
    fs::create_dir(dir.path().join("made")).expect("a folder");
    for (file, content) in [(".cursorignore", "*.key2\n"), ("x.key2", "hidden\n"), ("plain", "shown\n")] {
        fs::write(dir.path().join("made").join(file), content).expect("a file");
    }
    fs::rename(dir.path().join("made"), dir.path().join("late")).expect("moved");
    let refused = text(&mut process, "read", &json!({ "path": "late/x.key2" }));
    assert!(refused.contains("access denied") && refused.contains("late/.cursorignore"), "{refused}");
    let refused = text(&mut process, "write", &json!({ "path": "late/.cursorignore", "content": "" }));
    assert!(refused.contains("access denied"), "{refused}");
    assert!(text(&mut process, "read", &json!({ "path": "late/plain" })).contains("shown"));
}

#[cfg(target_os = "linux")]
#[test]
fn late_directory_comes_under_the_index_again_and_again() {
    let dir = folder();
    let (mut process, _) = start(&dir, &["--index", "eager", "--root", "app=app", "--root", "late=late:optional"]);
    for round in 0..3 {
        let (name, again) = (format!("first{round}.txt"), format!("second{round}.txt"));
        fs::create_dir(dir.path().join("late")).expect("a folder");
        fs::write(dir.path().join("late").join(&name), "needle\n").expect("a file");
        for _ in 0..3 {
            let found = text(&mut process, "grep", &json!({ "pattern": "needle" }));
            assert!(found.contains(&format!("late/{name}:1: needle")) && found.contains("1 match"), "{found}");
        }
        fs::write(dir.path().join("late").join(&again), "needle\n").expect("a file");
        let found = text(&mut process, "glob", &json!({ "pattern": "late/*.txt" }));
        assert!(found.contains(&name) && found.contains(&again), "{found}");
        // Moved away, and another one in its place: nothing of the old one is answered.
        fs::rename(dir.path().join("late"), dir.path().join(format!("old{round}"))).expect("moved");
        let found = text(&mut process, "grep", &json!({ "pattern": "needle" }));
        assert!(found.contains("No matches") && found.contains("does not exist yet: late"), "{found}");
        fs::create_dir(dir.path().join("late")).expect("a folder");
        let found = text(&mut process, "grep", &json!({ "pattern": "needle" }));
        assert!(found.contains("No matches") && !found.contains("does not exist yet"), "{found}");
        fs::remove_dir(dir.path().join("late")).expect("removed");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn doctor_names_the_directory_that_the_kernel_allows_more_of() {
    let dir = folder();
    let home = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(home.path().join("there")).expect("a folder");
    let at_home = |name: &str| format!("{name}={}/{name}:ro:optional", home.path().display());
    let roots = ["app=app".to_owned(), "late=late:ro:optional".to_owned(), at_home("there"), at_home("missing")];
    let arguments: Vec<&str> = roots.iter().flat_map(|root| ["--root", root.as_str()]).collect();
    let doctor = Outcome::of(program(dir.path()).env("HOME", home.path()).arg("doctor").args(&arguments));
    let real = |dir: &TempDir| dir.path().canonicalize().expect("it exists").display().to_string();
    for part in [
        &format!("late  read-only, optional, not there yet  {}/late", real(&dir)),
        &format!("late is optional, so the kernel's rule for it (read-only) is on all of {}\n", real(&dir)),
        "missing is optional, and the directory above it is too wide for a rule of the kernel",
    ] {
        assert!(doctor.stdout.contains(part), "{part:?} is missing: {}", doctor.stdout);
    }

    // Without a rule, what was there is served, and what is made later after a restart.
    let mut command = program(dir.path());
    command.env("HOME", home.path()).args(["--state-dir", "off"]).args(&arguments);
    let mut process = Process::spawn(command);
    process.initialize();
    fs::write(home.path().join("there/x"), "served\n").expect("a file");
    fs::create_dir(home.path().join("missing")).expect("a folder");
    fs::write(home.path().join("missing/x"), "later\n").expect("a file");
    assert!(text(&mut process, "read", &json!({ "path": "there/x" })).contains("served"));
    let refused = text(&mut process, "read", &json!({ "path": "missing/x" }));
    if doctor.stdout.contains("fully enforced") || doctor.stdout.contains("partially enforced") {
        assert!(refused.contains("whose sandbox does not reach it") && refused.contains("restart"), "{refused}");
    }
}

/// The first words of the answer to each call where no directory could be used.
const UNUSABLE: &str = "no directory of this server's configuration can be used: ";

/// A server without any directory: it says so to its client, for every way of naming them. `why` follows the name `x`.
#[track_caller]
fn says_why(dir: &TempDir, mut process: Process, why: &str) {
    let said = format!("{UNUSABLE}x {why}");
    let instructions = process.initialize()["instructions"].clone();
    assert!(instructions.as_str().is_some_and(|text| text.starts_with(&said)), "{instructions}");
    let listed = process.ask("tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(6), "{listed}");
    for (tool, arguments) in [
        ("ls", json!({})),
        ("glob", json!({ "pattern": "*" })),
        ("grep", json!({ "pattern": "x" })),
        ("read", json!({ "path": "x/a.txt" })),
        ("read", json!({})),
        ("write", json!({ "path": "b", "content": "x" })),
        ("edit", json!({ "path": "b", "old_string": "", "new_string": "x" })),
    ] {
        let answer = process.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.starts_with(&said) && text.contains("\n\nhint: ask the user to put the directory back"), "{text}");
        assert!(!text.contains(&dir.path().display().to_string()) && text.len() < 480, "{text}");
        assert_eq!(answer["result"]["_meta"]["rootbound/error"], "not_found", "{answer}");
    }
    process.end_input();
    let (status, log) = process.exit();
    assert!(status.success() && log.matches(" cannot be used: ").count() == 1, "{log}");
}

#[test]
fn server_without_any_directory_says_why_to_its_client() {
    let dir = folder();
    fs::write(dir.path().join("file"), "").expect("a file");
    fs::write(dir.path().join("rb.toml"), "[[root]]\nname = \"x\"\npath = \"gone\"\n").expect("a file");
    let gone = dir.path().join("up/x");
    let gone = gone.to_str().expect("a plain name");
    let missing = "did not exist when the server started";
    for arguments in [&["x"][..], &[gone], &["--root", "x=gone"], &["--root", "up/x:ro"], &["--config", "rb.toml"]] {
        says_why(&dir, Process::start(dir.path(), arguments), missing);
        for command in [&["call", "ls"][..], &["doctor"], &["index", "status"], &["history", "list"], &["tools"]] {
            let ended = Outcome::of(program(dir.path()).args(["--state-dir", "off"]).args(arguments).args(command));
            assert!(ended.failed(2).contains(" cannot be used: "), "{arguments:?} {command:?}");
        }
    }
    let off = std::path::Path::new("off");
    says_why(&dir, Process::start_with(&[("ROOTBOUND_ROOT", "x=gone")], dir.path(), off, &[]), missing);
    let no_directory = "was no directory when the server started";
    says_why(&dir, Process::start(dir.path(), &["--root", "x=file"]), no_directory);
    if cfg!(unix) {
        says_why(&dir, Process::start(dir.path(), &["--root", "x=file/below"]), no_directory);
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", dir.path().join("x")).expect("a link");
        says_why(&dir, Process::start(dir.path(), &["x"]), missing);
    }
    // Other errors still end the start, all of them.
    let ended = Outcome::of(program(dir.path()).args(["x", "--log=loud", "--max-output=1"])).failed(2);
    assert!(ended.contains("--log") && ended.contains("--max-output"), "{ended}");
}

#[test]
fn directory_that_comes_back_is_served_after_a_restart() {
    let dir = folder();
    let (mut process, _) = start(&dir, &["x"]);
    fs::rename(dir.path().join("app"), dir.path().join("x")).expect("moved");
    assert!(text(&mut process, "read", &json!({ "path": "a.txt" })).starts_with(UNUSABLE));
    let (mut process, _) = start(&dir, &["x"]);
    assert!(text(&mut process, "read", &json!({ "path": "a.txt" })).contains("here"));
}

#[test]
fn one_that_is_missing_is_named_and_the_others_work() {
    let dir = folder();
    for second in ["app", "app/inner"] {
        let missing = format!("m=app/../{second}/gone:ro");
        let (mut process, initialized) = start(&dir, &["--root", "app=app", "--root", &missing]);
        let note = "did not exist when the server started";
        let instructions = initialized["instructions"].as_str().expect("text");
        assert!(instructions.contains(&format!("- m (read-only, {note})")), "{instructions}");
        let listed = text(&mut process, "ls", &json!({}));
        assert_eq!(listed, format!("2 roots:\n  app/ (read-write)\n  m/ (read-only, {note})"));
        for (tool, arguments) in [("grep", json!({ "pattern": "here" })), ("glob", json!({ "pattern": "*.txt" }))] {
            let found = text(&mut process, tool, &arguments);
            let noted = found.matches(&format!("(not searched: m, {note})")).count();
            assert!(found.contains("app/a.txt") && noted == 1, "{found}");
        }
        assert!(text(&mut process, "read", &json!({ "path": "app/a.txt" })).contains("here"));
        for (tool, arguments) in [
            ("read", json!({ "path": "m/x" })),
            ("ls", json!({ "path": "m" })),
            ("write", json!({ "path": "m/x", "content": "x" })),
            // Its place in the other root has its rights, not those of that one.
            ("write", json!({ "path": format!("{second}/gone/x"), "content": "x" })),
        ] {
            let refused = text(&mut process, tool, &arguments);
            assert!(refused.starts_with(&format!("the workspace root m {note}")), "{tool} {arguments}: {refused}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn file_system_that_no_longer_answers_is_one_line() {
    if !crate::harness::process::may_mount() || !std::path::Path::new("/dev/fuse").exists() {
        return;
    }
    let dir = folder();
    fs::create_dir(dir.path().join("x")).expect("a folder");
    // The program behind it has ended: ENOTCONN.
    let dead = "exec 3<>/dev/fuse; mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 x x; exec 3>&-";
    let process = Process::start_mounted(dir.path(), dead, &["x"]);
    says_why(&dir, process, "could not be read when the server started (transport endpoint is not connected)");
}
