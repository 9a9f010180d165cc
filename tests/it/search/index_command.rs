//! `rootbound index`, its options, and what other programs may put in the place of what is stored.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::PathBuf,
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    harness::process::Process,
    harness::program::{Outcome, program},
};

/// Longer than the rule for files that were just changed.
const SETTLED: Duration = Duration::from_millis(2300);

struct Project {
    temp: TempDir,
}

impl Project {
    /// Three files and a secret; `None` where the file system of the temporary folder is one of which nothing is stored.
    fn new() -> Option<Self> {
        let project = Self { temp: tempfile::tempdir().unwrap() };
        let root = project.temp.path().join("root");
        fs::create_dir(&root).unwrap();
        for name in ["a.txt", "b.txt", "c.txt"] {
            fs::write(root.join(name), format!("content of {name}\n")).unwrap();
        }
        fs::write(root.join("key.pem"), "nobody may see this\n").unwrap();
        // Without it the status says that it is missing, and nothing about the file system.
        fs::create_dir(project.state()).unwrap();
        let text = project.ok(&["index", "status"]);
        (!text.contains("file system")).then_some(project)
    }

    fn state(&self) -> PathBuf {
        self.temp.path().join("state")
    }

    /// The files that are stored.
    fn stored(&self) -> Vec<PathBuf> {
        let listed = fs::read_dir(self.state().join("index")).into_iter().flatten();
        listed.map(|entry| entry.unwrap().path()).collect()
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        let root = self.temp.path().join("root");
        Outcome::of(program(&root).env("ROOTBOUND_STATE_DIR", self.state()).args(arguments))
    }

    #[track_caller]
    fn ok(&self, arguments: &[&str]) -> String {
        self.run(arguments).succeeded()
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok(&[arguments, &["--json"]].concat())).unwrap()
    }

    fn status(&self) -> Value {
        self.json(&["index", "status"])["roots"][0].clone()
    }
}

#[test]
fn index_is_built_shown_and_cleared() {
    let Some(project) = Project::new() else { return };
    assert!(project.ok(&["index", "status"]).ends_with("root  nothing is stored\n"));
    assert_eq!(project.ok(&["index", "clear"]), "nothing was stored\n");
    thread::sleep(SETTLED);
    let built = project.ok(&["index", "build"]);
    assert!(built.contains("stored ") && built.contains("3 files"), "{built}");
    let mode = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let stored = project.stored();
    assert_eq!(stored.len(), 1);
    assert_eq!((mode(&project.state().join("index")), mode(&stored[0])), (0o700, 0o600));
    let bytes = fs::read(&stored[0]).unwrap();
    assert!(bytes.len() < 4 << 10, "three short files: {} bytes", bytes.len());
    let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds("a.txt") && !holds("key.pem") && !holds("content of"), "denied files and text are not in it");
    let status = project.status();
    assert_eq!((&status["used"], &status["files"]), (&true.into(), &3.into()), "{status}");
    assert_eq!(status["bytes"], bytes.len());
    let report = project.run(&["doctor"]).stdout;
    assert!(report.contains("stored index") && !report.contains("none: "), "{report}");
    // Under other rules it is not used, and removed by the next one.
    let other = project.ok(&["index", "status", "--deny", "b.txt"]);
    assert!(other.contains("not used: the rules about secret content have changed"), "{other}");
    project.ok(&["index", "build", "--deny", "b.txt"]);
    let bytes = fs::read(&project.stored()[0]).unwrap();
    assert!(!bytes.windows(5).any(|window| window == b"b.txt"));
    assert!(project.ok(&["index", "clear", "."]).contains("removed ("));
    assert!(project.stored().is_empty());
}

#[test]
fn files_that_were_just_written_are_waited_for() {
    let Some(project) = Project::new() else { return };
    let built = project.run(&["index", "build"]);
    assert!(built.stdout.contains("stored ") && built.stdout.contains("3 files"), "{}{}", built.stdout, built.stderr);
    let said = "were changed less than 2 s ago; waits until they can be kept";
    assert!(built.stderr.is_empty() || built.stderr.contains(said), "{}", built.stderr);
}

#[test]
fn status_and_clear_make_no_state_folder() {
    let project = Project { temp: tempfile::tempdir().unwrap() };
    fs::create_dir(project.temp.path().join("root")).unwrap();
    let state = project.state();
    let missing = format!("nothing is stored: the state folder {} does not exist\n", state.display());
    for arguments in [&["index", "status"][..], &["index", "clear"], &["index", "clear", "."]] {
        assert_eq!(project.ok(arguments), missing, "{arguments:?}");
        let value = project.json(arguments);
        assert!(value["off"].as_str().unwrap().contains("does not exist"), "{value}");
        assert_eq!(value["bytes"], 0);
        assert!(!state.exists(), "{arguments:?}");
    }
}

#[test]
fn index_of_a_directory_that_is_gone_is_cleared_by_its_path() {
    let Some(project) = Project::new() else { return };
    thread::sleep(SETTLED);
    let built = project.json(&["index", "build"]);
    assert_eq!((&built["roots"][0]["used"], &built["roots"][0]["not_stored"]), (&true.into(), &Value::Null), "{built}");
    assert_eq!(built["bytes"], built["roots"][0]["bytes"]);
    let root = project.temp.path().join("root");
    fs::rename(&root, project.temp.path().join("elsewhere")).unwrap();
    fs::create_dir(&root).unwrap();
    let elsewhere = project.json(&["index", "clear", "../elsewhere"]);
    assert_eq!((&elsewhere["removed"], &elsewhere["roots"][0]["removed_bytes"]), (&0.into(), &Value::Null));
    // Named from another directory, as nothing can be started in one that is gone.
    let gone = project.temp.path().join("root").canonicalize().unwrap();
    fs::remove_dir(&root).unwrap();
    let elsewhere = project.temp.path().join("elsewhere");
    let arguments = ["index", "clear", gone.to_str().unwrap(), "--json"];
    let cleared = Outcome::of(program(&elsewhere).env("ROOTBOUND_STATE_DIR", project.state()).args(arguments));
    let cleared: Value = serde_json::from_str(&cleared.succeeded()).unwrap();
    assert_eq!((&cleared["removed"], &cleared["bytes"]), (&1.into(), &0.into()), "{cleared}");
    assert_eq!(cleared["removed_bytes"], built["bytes"]);
    assert!(project.stored().is_empty());
}

#[test]
fn secret_files_are_not_stored() {
    let Some(project) = Project::new() else { return };
    fs::write(project.temp.path().join("root/.env"), "TOKEN=hunter2\n").unwrap();
    // Always searched, because of its mark; but it is open.
    fs::write(project.temp.path().join("root/marked.txt"), "\u{FEFF}text\n").unwrap();
    thread::sleep(SETTLED);
    for secrets in ["deny", "names"] {
        let built = project.ok(&["index", "build", "--secrets", secrets]);
        assert!(built.contains("4 files"), "{secrets}: {built}");
        let bytes = fs::read(&project.stored()[0]).unwrap();
        let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(holds("marked.txt") && !holds(".env") && !holds("key.pem"), "{secrets}");
    }
}

#[test]
fn index_options_are_read_from_everywhere_and_name_a_wrong_value() {
    let Some(project) = Project::new() else { return };
    let nothing = |arguments: &[&str]| project.ok(&[&["index", "status"], arguments].concat());
    assert_eq!(nothing(&["--index", "off"]), "nothing is stored: --index is off\n");
    assert_eq!(nothing(&["--index-size", "0"]), "nothing is stored: --index-size is 0\n");
    assert_eq!(nothing(&["--state-dir", "off"]), "nothing is stored: no state folder is used (--state-dir)\n");
    let file = project.temp.path().join("options.toml");
    fs::write(&file, "index = \"off\"\n").unwrap();
    assert_eq!(nothing(&["--config", file.to_str().unwrap()]), "nothing is stored: --index is off\n");
    fs::write(&file, "index_size = \"lots\"\nindex = \"sometimes\"\n").unwrap();
    let wrong = project.run(&["index", "status", "--config", file.to_str().unwrap()]);
    assert!(
        wrong.stderr.contains("\"lots\" is not a size") && wrong.stderr.contains("\"sometimes\""),
        "{}",
        wrong.stderr
    );
    assert_eq!(wrong.code, Some(2));
    let refused = project.run(&["index", "build", "--index", "off"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{}", refused.stderr);
    let small = project.run(&["index", "build", "--index-size", "100"]);
    assert_eq!(small.code, Some(1), "{}", small.stdout);
    assert!(small.stderr.contains("--index-size"), "{}", small.stderr);
}

#[test]
fn index_folder_that_is_a_link_or_shared_is_not_used() {
    let Some(project) = Project::new() else { return };
    project.ok(&["index", "build"]);
    let folder = project.state().join("index");
    let elsewhere = project.temp.path().join("elsewhere");
    fs::rename(&folder, &elsewhere).unwrap();
    let kept = fs::read_dir(&elsewhere).unwrap().count();
    symlink(&elsewhere, &folder).unwrap();
    let linked = project.ok(&["index", "status"]);
    assert!(linked.contains("it cannot be used: it is a link"), "{linked}");
    for command in ["build", "clear"] {
        let refused = project.run(&["index", command, "."]);
        assert_eq!(refused.code, Some(1), "{command}: {}", refused.stdout);
        assert!(refused.stderr.contains("hint: "), "{}", refused.stderr);
    }
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), kept);
    let report = project.run(&["doctor"]).stdout;
    assert!(report.contains("nothing new can be stored"), "{report}");
    fs::remove_file(&folder).unwrap();
    fs::rename(&elsewhere, &folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(project.ok(&["index", "status"]).contains("others may write to it"));
}

/// The lock that each writer of the folder of the indexes takes, until it is dropped.
fn locked(project: &Project) -> rustix::fd::OwnedFd {
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC;
    let folder = rustix::fs::open(project.state().join("index"), flags, rustix::fs::Mode::empty()).unwrap();
    rustix::fs::flock(&folder, rustix::fs::FlockOperation::LockExclusive).unwrap();
    folder
}

#[test]
fn build_that_stores_nothing_new_says_so_although_an_older_index_is_used() {
    let Some(project) = Project::new() else { return };
    thread::sleep(SETTLED);
    project.ok(&["index", "build"]);
    fs::write(project.temp.path().join("root/b.txt"), "other content\n").unwrap();
    thread::sleep(SETTLED);
    let lock = locked(&project);
    let busy = project.run(&["index", "build"]);
    assert_eq!(busy.code, Some(1), "{}", busy.stdout);
    assert!(busy.stderr.contains("another process is writing"), "{}", busy.stderr);
    assert_eq!(project.status()["used"], true);
    drop(lock);
    // A folder with the name of a temporary file is in nobody's way.
    fs::create_dir_all(project.state().join("index/.rootbound-0123456789abcdef.tmp/folder")).unwrap();
    project.ok(&["index", "build"]);
}

#[test]
fn index_that_another_writer_kept_from_being_stored_is_stored_at_the_end() {
    let Some(project) = Project::new() else { return };
    project.ok(&["index", "build"]);
    project.ok(&["index", "clear"]);
    thread::sleep(SETTLED);
    let lock = locked(&project);
    let root = project.temp.path().join("root");
    let mut server = Process::start_remembering(&root, &project.state(), &["--index", "eager"]);
    server.initialize();
    server.ask("tools/call", &json!({ "name": "grep", "arguments": { "pattern": "content" } }));
    // The first attempt is over by then; if not, this passes all the same.
    thread::sleep(SETTLED);
    assert!(project.stored().is_empty());
    drop(lock);
    server.end_input();
    assert!(server.exit().0.success());
    assert_eq!(project.status()["used"], true);
}

#[test]
fn builds_and_clears_at_the_same_time_leave_a_whole_index_or_none() {
    let Some(project) = Project::new() else { return };
    thread::scope(|scope| {
        for number in 0..4 {
            let project = &project;
            scope.spawn(move || {
                for _ in 0..3 {
                    let command = if number == 3 { "clear" } else { "build" };
                    let ended = project.run(&["index", command, "."]);
                    assert!(matches!(ended.code, Some(0 | 1)), "{}{}", ended.stdout, ended.stderr);
                    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
                }
            });
        }
    });
    let status = project.status();
    assert!(status["used"] == true || status["reason"] == "nothing is stored", "{status}");
    project.ok(&["index", "build"]);
    assert_eq!(project.status()["used"], true);
    assert_eq!(project.stored().len(), 1, "no temporary file is left");
}
