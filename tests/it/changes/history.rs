//! Former content: the commands `history` and `restore`, and a server that is killed during changes.

use std::{fs, path::PathBuf};

use tempfile::TempDir;

use crate::harness::program::{Outcome, program};

/// A project, its history and nothing else.
struct Project {
    folder: TempDir,
}

impl Project {
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

    /// Runs the program in the project; its exit code and what it printed.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let mut command = program(&self.root());
        command.env("ROOTBOUND_STATE_DIR", self.state()).env("ROOTBOUND_ALLOW", "manage");
        let ended = Outcome::of(command.args(arguments));
        (ended.code.expect("not killed"), ended.stdout + &ended.stderr)
    }

    #[track_caller]
    fn ok(&self, arguments: &[&str]) -> String {
        let (code, text) = self.run(arguments);
        assert_eq!(code, 0, "{arguments:?}: {text}");
        text
    }

    #[track_caller]
    fn fails(&self, arguments: &[&str]) -> String {
        let (code, text) = self.run(arguments);
        assert_eq!(code, 1, "{arguments:?}: {text}");
        text
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn content(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Number of kept contents.
    fn objects(&self) -> usize {
        let Ok(files) = fs::read_dir(self.state().join("history")) else { return 0 };
        files.filter(|file| file.as_ref().unwrap().file_name().len() == 32).count()
    }
}

#[test]
fn every_former_content_can_be_restored_by_its_revision() {
    let project = Project::new();
    for content in ["one", "two", "three"] {
        project.ok(&["call", "write", "path=a.txt", &format!("content={content}\n")]);
    }
    let listing = project.ok(&["history", "a.txt"]);
    let (head, lines) = listing.split_once('\n').unwrap();
    assert_eq!(head, "TIME (UTC)            AGO  TOOL     BEFORE        CHANGE       PATH");
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.len(), 3, "{listing}");
    assert!(lines.iter().all(|line| line.contains("write") && line.ends_with("a.txt")), "{listing}");
    let revision = |line: &str| line.split_whitespace().nth(5).unwrap().to_owned();
    let (two, one) = (revision(lines[0]), revision(lines[1]));
    assert!(project.ok(&["history", "restore", "a.txt"]).contains("-three\n+two"));
    assert_eq!(project.content("a.txt"), "two\n");
    // The replaced content is in the history, so it can be restored, too.
    project.ok(&["history", "restore", "a.txt"]);
    assert_eq!(project.content("a.txt"), "three\n");
    project.ok(&["history", "restore", "a.txt", &one]);
    assert_eq!(project.content("a.txt"), "one\n");
    project.ok(&["history", "restore", "a.txt", &two[..4]]);
    assert_eq!(project.content("a.txt"), "two\n");
    assert!(project.ok(&["history", "restore", "a.txt", &two]).contains("already"));
    assert!(project.fails(&["history", "restore", "a.txt", "ffffffff"]).contains("ffffffff"));
    assert!(project.fails(&["history", "restore", "a.txt", "zz"]).contains("is not a revision"));
    assert!(project.fails(&["history", "restore", "b.txt"]).contains("b.txt"));
    assert_eq!(project.objects(), 3);
}

#[test]
fn a_deletion_is_restored_by_another_process() {
    let project = Project::new();
    project.write("d/a.txt", "a\n");
    project.write("d/sub/b.txt", "b\n");
    fs::create_dir(project.root().join("d/empty")).unwrap();
    project.ok(&["call", "delete", "path=d", "recursive=true"]);
    assert!(!project.root().join("d").exists());
    assert!(project.ok(&["history", "list", "d"]).lines().count() == 6);
    project.ok(&["history", "restore", "d/sub/b.txt"]);
    assert_eq!(project.content("d/sub/b.txt"), "b\n");
    fs::remove_dir_all(project.root().join("d")).unwrap();
    assert!(project.ok(&["history", "restore", "d"]).contains("2 files"));
    assert_eq!((project.content("d/a.txt"), project.content("d/sub/b.txt")), ("a\n".into(), "b\n".into()));
    assert!(project.root().join("d/empty").is_dir());
    // A directory replaces nothing.
    project.fails(&["history", "restore", "d"]);
}

#[test]
fn restore_obeys_root_access_and_policy() {
    let project = Project::new();
    project.ok(&["call", "write", "path=a.txt", "content=one"]);
    project.ok(&["call", "write", "path=a.txt", "content=two"]);
    assert!(project.fails(&["--read-only", "history", "restore", "a.txt"]).contains("read-only"));
    assert!(project.fails(&["--protect", "*.txt", "history", "restore", "a.txt"]).contains("access denied"));
    assert!(project.fails(&["history", "restore", "../state/history/swept"]).contains("access denied"));
    assert_eq!(project.content("a.txt"), "two");
}

#[test]
fn changes_of_other_folders_are_not_listed() {
    let project = Project::new();
    project.write("mine/a", "x");
    project.write("theirs/b", "x");
    for file in ["mine/a", "theirs/b"] {
        project.ok(&["call", "read", &format!("path={file}")]);
        project.ok(&["call", "write", &format!("path={file}"), "content=y"]);
    }
    assert_eq!(project.ok(&["history", "mine"]).lines().count(), 2);
    assert_eq!(project.ok(&["history"]).lines().count(), 3);
    for path in ["mine", "mine/a"] {
        assert!(project.ok(&["history", path]).trim_end().ends_with("  mine/a"));
    }
    assert!(project.ok(&["mine", "history"]).contains("no recorded changes"));
}

#[test]
fn the_history_can_be_switched_off() {
    let project = Project::new();
    project.ok(&["call", "write", "path=a.txt", "content=one"]);
    project.ok(&["--history", "off", "call", "write", "path=a.txt", "content=two"]);
    assert_eq!(project.objects(), 0);
    assert!(project.ok(&["--history", "off", "history"]).contains("no history is kept"));
    assert_eq!(project.run(&["--history", "sometimes", "history"]).0, 2);
    assert_eq!(project.run(&["--history-size", "1", "history"]).0, 2);
}

#[test]
fn content_too_large_for_the_history_may_be_replaced_but_not_deleted() {
    let project = Project::new();
    project.write("large", &"x\n".repeat(3 << 19));
    let small = ["--history-size", "1MiB"];
    project.ok(&["call", "read", "path=large", "limit=1"]);
    project.ok(&["call", "grep", "pattern=y", "path=large"]);
    let text = project.fails(&[small.as_slice(), &["call", "delete", "path=large"]].concat());
    assert!(text.contains("could not be brought back"), "{text}");
    let text = project.ok(&[small.as_slice(), &["call", "write", "path=large", "content=y"]].concat());
    assert!(text.contains("the earlier content"), "{text}");
    assert_eq!(project.content("large"), "y");
}

#[test]
fn a_journal_with_torn_lines_is_read() {
    let project = Project::new();
    project.ok(&["call", "write", "path=a.txt", "content=one"]);
    project.ok(&["call", "write", "path=a.txt", "content=two"]);
    let history = project.state().join("history");
    let journal = fs::read_dir(&history)
        .unwrap()
        .map(|file| file.unwrap().path())
        .find(|path| path.file_name().unwrap().to_str().unwrap().starts_with("changes-"))
        .unwrap();
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, format!("\u{0}garbage\n{text}{{\"time\":1,\"sess")).unwrap();
    assert_eq!(project.ok(&["history"]).lines().count(), 3);
    project.ok(&["history", "restore", "a.txt"]);
    assert_eq!(project.content("a.txt"), "one");
}

#[cfg(unix)]
mod killed {
    use std::{
        hash::{BuildHasher as _, RandomState},
        thread,
        time::Duration,
    };

    use change_set::{Approval, Base, StaleAfter, WriteGuard};
    use rustix::process::{Signal, kill_process};
    use serde_json::{Value, json};

    use super::*;
    use crate::{harness::Setup, harness::process::Process};

    /// Rounds by default; `CRASH_ROUNDS` sets another number.
    const ROUNDS: u64 = 6;
    const FILES: u64 = 6;

    fn rounds() -> u64 {
        std::env::var("CRASH_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS)
    }

    fn random(below: u64) -> u64 {
        RandomState::new().hash_one(0) % below
    }

    /// Content that shows whether it is complete.
    fn version(number: u64) -> String {
        let lines = 1 + number * 37 % 1_500;
        format!(
            "begin {number}\n{}end {number}\n",
            format!("version {number}\n").repeat(usize::try_from(lines).unwrap())
        )
    }

    #[track_caller]
    fn is_whole(text: &str) {
        let number = text.lines().next().and_then(|line| line.strip_prefix("begin ")).and_then(|n| n.parse().ok());
        let number: u64 = number.unwrap_or_else(|| panic!("torn at its beginning: {text:.60}"));
        assert_eq!(text.len(), version(number).len(), "version {number} is torn");
        assert!(text == version(number), "version {number} is mixed with another");
    }

    /// Endless calls: replaced, appended and edited files, a file that is moved back and forth.
    fn call(number: u64) -> Value {
        let file = format!("w{}/f{}", number % 2, number % FILES);
        match number % 5 {
            0 => json!({ "name": "move", "arguments": { "source": "m/a", "destination": "m/b" } }),
            1 => json!({ "name": "move", "arguments": { "source": "m/b", "destination": "m/a" } }),
            2 => json!({ "name": "delete", "arguments": { "path": "tree", "recursive": true } }),
            _ => json!({ "name": "write", "arguments": { "path": file, "content": version(number) } }),
        }
    }

    /// Runs calls until the server is killed; returns how many were answered.
    fn run_and_kill(project: &Project, first: u64) -> usize {
        let arguments = ["--allow", "manage", "--read-before-write", "off", "."];
        let mut process = Process::start_remembering(&project.root(), &project.state(), &arguments);
        process.initialize();
        let pid = process.pid();
        let killer = thread::spawn(move || {
            thread::sleep(Duration::from_micros(20_000 + random(680_000)));
            kill_process(pid, Signal::KILL).expect("it is our own child, not yet waited for");
        });
        for number in first..first + 3_000 {
            let line =
                json!({ "jsonrpc": "2.0", "id": 1_000 + number, "method": "tools/call", "params": call(number) });
            if !process.try_bytes(format!("{line}\n").as_bytes()) {
                break;
            }
        }
        killer.join().expect("killed");
        let mut answered = 0;
        while process.next().is_some() {
            answered += 1;
        }
        answered
    }

    fn leftovers(dir: &std::path::Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.file_name().unwrap().to_str().unwrap().starts_with(".rootbound-") {
                out.push(entry);
            } else if entry.is_dir() {
                leftovers(&entry, out);
            }
        }
    }

    /// The first write of the next server in a directory, as if some time had passed.
    fn next_server_writes(project: &Project) {
        let setup = Setup { stale_after: StaleAfter(Duration::ZERO), ..Setup::default() };
        let workspace = setup.workspace(project.folder.path());
        for path in ["w0/next", "w1/next", "m/next", "next"] {
            let path = workspace.resolve(path).unwrap();
            let _ = fs::remove_file(project.root().join(path.to_string()));
            let writable = workspace.writable(&path).unwrap();
            let guard = WriteGuard::acquire(&workspace, writable, Base::Absent).unwrap();
            guard.commit(b"", Approval::by_policy()).unwrap();
        }
    }

    #[test]
    fn a_killed_server_leaves_whole_files_and_the_next_removes_temporaries() {
        let project = Project::new();
        for n in 0..FILES {
            project.write(&format!("w{}/f{n}", n % 2), &version(n));
            project.write(&format!("w{}/f{n}", (n + 1) % 2), &version(n));
        }
        let (mut answered, mut litter) = (0, 0);
        for round in 0..rounds() {
            for name in ["a", "b"] {
                let _ = fs::remove_file(project.root().join("m").join(name));
            }
            project.write("m/a", &version(round));
            let _ = fs::remove_dir_all(project.root().join("tree"));
            for n in 0..40 {
                project.write(&format!("tree/{}/{n}", n % 4), &version(n));
            }
            answered += run_and_kill(&project, round * 10_000);

            for n in 0..FILES {
                for folder in 0..2 {
                    is_whole(&project.content(&format!("w{folder}/f{n}")));
                }
            }
            let moving = ["m/a", "m/b"].map(|path| fs::read_to_string(project.root().join(path)));
            let there: Vec<&String> = moving.iter().flatten().collect();
            assert_eq!(there.len(), 1, "a moved file is at one of its two places");
            is_whole(there[0]);
            // A deleted tree is complete, or is restored completely.
            if !project.root().join("tree").exists() {
                project.ok(&["history", "restore", "tree"]);
            }
            for n in 0..40 {
                is_whole(&project.content(&format!("tree/{}/{n}", n % 4)));
            }
            for file in fs::read_dir(project.state().join("history")).into_iter().flatten() {
                let path = file.unwrap().path();
                if path.file_name().unwrap().len() == 32 {
                    is_whole(&fs::read_to_string(&path).unwrap());
                }
            }
            let mut left = Vec::new();
            leftovers(&project.root(), &mut left);
            litter += left.len();
            next_server_writes(&project);
            left.clear();
            leftovers(&project.root(), &mut left);
            assert!(left.is_empty(), "{left:?}");
        }
        #[expect(clippy::print_stderr, reason = "the counts of a long run are its result")]
        {
            eprintln!("{} rounds, {answered} answers before a kill, {litter} temporary files swept", rounds());
        }
        assert!(answered > 0);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_deleted_tree_deeper_than_path_max_is_restored() {
    let project = Project::new();
    let half = ["d".repeat(200).as_str(); 15].join("/");
    for top in ["a", "b"] {
        fs::create_dir_all(project.root().join(top).join(&half)).unwrap();
    }
    fs::write(project.root().join("b").join(&half).join("last\n.txt"), "deep\n").unwrap();
    let joint = project.root().join("a").join(&half).join("b");
    fs::rename(project.root().join("b"), &joint).unwrap();
    project.ok(&["call", "delete", "path=a", "recursive=true"]);
    assert!(!project.root().join("a").exists());
    assert!(project.ok(&["history", "restore", "a"]).contains("with 1 file"));
    fs::rename(&joint, project.root().join("b")).unwrap();
    assert_eq!(project.content(&format!("b/{half}/last\n.txt")), "deep\n");
}

#[test]
fn checkpoint_of_a_person_is_moved_by_no_call_of_a_model() {
    let project = Project::new();
    let write = |content: &str, checkpoint: Option<&str>| {
        let content = format!("content={content}");
        let mut call = vec!["--read-before-write", "off", "call", "write", "path=a.txt", &content];
        call.extend(checkpoint);
        project.ok(&call)
    };
    let listed = |name: &str, maker: &str| {
        let line = format!("  checkpoint {name}  (by {maker}");
        project.ok(&["history"]).lines().filter(|listed| listed.contains(&line)).count()
    };
    write("one", None);
    project.ok(&["history", "checkpoint", "last-prompt"]);
    let text = write("two", Some("checkpoint=last-prompt"));
    assert!(text.contains("(checkpoint last-prompt: the state before this call)"), "{text}");
    write("three", Some("checkpoint=own"));
    let text = write("four", Some("checkpoint=last-prompt"));
    assert!(text.contains("(checkpoint last-prompt was moved: it is now the state before this call)"), "{text}");
    assert_eq!([listed("last-prompt", "the command)"), listed("last-prompt", "session ")], [1, 2]);

    // The person's own first, and where there is none, the model's; for a model the other way round.
    let diff = |name: &str| project.ok(&["history", "diff", name]);
    assert!(diff("last-prompt").contains("-one\n") && diff("own").contains("-two\n"), "{}", diff("last-prompt"));
    assert_eq!(project.ok(&["history", "--since", "last-prompt"]).matches("a.txt").count(), 3);
    project.ok(&["history", "restore", "--to", "last-prompt"]);
    assert_eq!(project.content("a.txt"), "one");
    let undo = |name: &str| project.ok(&["call", "undo", &format!("to={name}"), "include_others=true"]);
    write("five", None);
    undo("last-prompt");
    assert_eq!(project.content("a.txt"), "three");
    project.ok(&["history", "checkpoint", "persons"]);
    write("six", None);
    undo("persons");
    assert_eq!(project.content("a.txt"), "three");
    // What the person makes later does not move the model's either.
    assert!(project.ok(&["history", "checkpoint", "own"]).ends_with("Checkpoint own made\n"));
    assert!(project.ok(&["history", "checkpoint", "own"]).contains("moved"));
    undo("own");
    assert_eq!(project.content("a.txt"), "two");
}

#[test]
fn checkpoint_of_the_command_line_is_what_restore_diff_and_undo_go_back_to() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    project.write("b.txt", "b\n");
    project.write("other.txt", "other\n");
    let call = |arguments: &[&str]| {
        let mut all = vec!["--read-before-write", "off", "call"];
        all.extend(arguments);
        project.ok(&all)
    };
    call(&["edit", "path=a.txt", "old_string=one", "new_string=two"]);
    assert!(project.ok(&["history", "checkpoint", "before"]).contains("made"));
    assert!(project.ok(&["history", "checkpoint", "before"]).contains("moved"));
    for name in ["", "session", "a\nb"] {
        project.fails(&["history", "checkpoint", name]);
    }
    call(&["edit", "path=a.txt", "old_string=two", "new_string=three"]);
    call(&["move", "source=b.txt", "destination=d/c.txt"]);
    call(&["write", "path=new/n.txt", "content=n", "checkpoint=later"]);
    project.write("d/c.txt", "changed by a person\n");

    let listed = project.ok(&["history"]);
    assert!(listed.contains("checkpoint before") && listed.contains("checkpoint later"), "{listed}");
    let since = project.ok(&["history", "--since", "later"]);
    assert!(since.contains("new/n.txt") && !since.contains("a.txt"), "{since}");
    let diff = project.ok(&["history", "diff", "before", "a.txt"]);
    assert!(diff.contains("-two\n+three") && !diff.contains("n.txt"), "{diff}");
    assert!(project.ok(&["history", "diff", "before"]).contains("created new/n.txt"));
    for command in [
        &["history", "diff", "nothing"][..],
        &["history", "restore", "--to", "nothing"],
        &["history", "--since", "nothing"],
    ] {
        let text = project.fails(command);
        assert!(
            text.starts_with("there is no checkpoint called \"nothing\"\n\nhint: `rootbound history` lists"),
            "{text}"
        );
    }
    let preview = project.ok(&["history", "restore", "--to", "before", "--dry-run"]);
    assert!(preview.contains("left alone: d/c.txt (changed since)"), "{preview}");
    assert_eq!(project.content("a.txt"), "three\n");
    project.ok(&["history", "restore", "--to", "before"]);
    assert_eq!(
        (project.content("a.txt"), project.content("d/c.txt")),
        ("two\n".into(), "changed by a person\n".into())
    );
    assert!(!project.root().join("new").exists());
    project.ok(&["history", "restore", "--to", "before", "--include-others"]);
    assert!(project.root().join("b.txt").exists());

    // Each call was a session of its own.
    let undone = call(&["undo", "to=before"]);
    assert!(undone.contains("changed by another session") && undone.contains("include_others=true"), "{undone}");
    let listed = project.ok(&["history", "a.txt"]);
    let line = listed.lines().find(|line| line.contains("edit")).unwrap();
    let session = line.split_whitespace().nth(6).unwrap().split('.').next().unwrap();
    assert!(project.ok(&["history", "diff", "--session", session]).contains("no difference"), "{listed}");
    project.fails(&["history", "restore", "--session", "zzzz"]);
}
