//! What outlives a change: the commands `history` and `restore`, and a server that is killed in the middle.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use tempfile::TempDir;

/// A project, its history and nothing else.
struct Place {
    folder: TempDir,
}

impl Place {
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
        let mut command = Command::new(env!("CARGO_BIN_EXE_rootbound"));
        let output = command
            .current_dir(self.root())
            .env("ROOTBOUND_STATE_DIR", self.state())
            .env("ROOTBOUND_ALLOW", "manage")
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .expect("the binary runs");
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().expect("not killed"), String::from_utf8(text).expect("UTF-8"))
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

    /// Contents that are kept.
    fn objects(&self) -> usize {
        let Ok(files) = fs::read_dir(self.state().join("history")) else { return 0 };
        files.filter(|file| file.as_ref().unwrap().file_name().len() == 32).count()
    }
}

#[test]
fn every_former_content_can_be_restored_by_its_revision() {
    let place = Place::new();
    for content in ["one", "two", "three"] {
        place.ok(&["call", "write", "path=a.txt", &format!("content={content}\n")]);
    }
    let listing = place.ok(&["history", "a.txt"]);
    let lines: Vec<&str> = listing.lines().collect();
    assert_eq!(lines.len(), 3, "{listing}");
    assert!(lines.iter().all(|line| line.contains("write") && line.ends_with("a.txt")), "{listing}");
    let revision = |line: &str| line.split_whitespace().nth(3).unwrap().to_owned();
    let (two, one) = (revision(lines[0]), revision(lines[1]));
    assert!(place.ok(&["restore", "a.txt"]).contains("-three\n+two"));
    assert_eq!(place.content("a.txt"), "two\n");
    // What was replaced is in the history by now, so it comes back the same way.
    place.ok(&["restore", "a.txt"]);
    assert_eq!(place.content("a.txt"), "three\n");
    place.ok(&["restore", "a.txt", &one]);
    assert_eq!(place.content("a.txt"), "one\n");
    place.ok(&["restore", "a.txt", &two[..4]]);
    assert_eq!(place.content("a.txt"), "two\n");
    assert!(place.ok(&["restore", "a.txt", &two]).contains("already"));
    assert!(place.fails(&["restore", "a.txt", "ffffffff"]).contains("ffffffff"));
    assert!(place.fails(&["restore", "a.txt", "zz"]).contains("no revision"));
    assert!(place.fails(&["restore", "b.txt"]).contains("b.txt"));
    assert_eq!(place.objects(), 3);
}

#[test]
fn a_deletion_is_restored_by_another_process() {
    let place = Place::new();
    place.write("d/a.txt", "a\n");
    place.write("d/sub/b.txt", "b\n");
    fs::create_dir(place.root().join("d/empty")).unwrap();
    place.ok(&["call", "delete", "path=d", "recursive=true"]);
    assert!(!place.root().join("d").exists());
    assert!(place.ok(&["history", "d"]).lines().count() == 5);
    place.ok(&["restore", "d/sub/b.txt"]);
    assert_eq!(place.content("d/sub/b.txt"), "b\n");
    fs::remove_dir_all(place.root().join("d")).unwrap();
    assert!(place.ok(&["restore", "d"]).contains("2 files"));
    assert_eq!((place.content("d/a.txt"), place.content("d/sub/b.txt")), ("a\n".into(), "b\n".into()));
    assert!(place.root().join("d/empty").is_dir());
    // Nothing that is there is replaced by a directory.
    place.fails(&["restore", "d"]);
}

#[test]
fn restore_obeys_root_access_and_policy() {
    let place = Place::new();
    place.ok(&["call", "write", "path=a.txt", "content=one"]);
    place.ok(&["call", "write", "path=a.txt", "content=two"]);
    assert!(place.fails(&["--read-only", "restore", "a.txt"]).contains("read-only"));
    assert!(place.fails(&["--protect", "*.txt", "restore", "a.txt"]).contains("access denied"));
    assert!(place.fails(&["restore", "../state/history/swept"]).contains("access denied"));
    assert_eq!(place.content("a.txt"), "two");
}

#[test]
fn changes_of_other_folders_are_not_listed() {
    let place = Place::new();
    place.write("mine/a", "x");
    place.write("theirs/b", "x");
    for file in ["mine/a", "theirs/b"] {
        place.ok(&["call", "read", &format!("path={file}")]);
        place.ok(&["call", "write", &format!("path={file}"), "content=y"]);
    }
    assert_eq!(place.ok(&["history", "mine"]).lines().count(), 1);
    assert_eq!(place.ok(&["history"]).lines().count(), 2);
    for path in ["mine", "mine/a"] {
        assert!(place.ok(&["history", path]).trim_end().ends_with("  mine/a"));
    }
    assert!(place.ok(&["mine", "history"]).contains("no recorded changes"));
}

#[test]
fn the_history_can_be_switched_off() {
    let place = Place::new();
    place.ok(&["call", "write", "path=a.txt", "content=one"]);
    place.ok(&["--history", "off", "call", "write", "path=a.txt", "content=two"]);
    assert_eq!(place.objects(), 0);
    assert!(place.ok(&["--history", "off", "history"]).contains("no history is kept"));
    assert_eq!(place.run(&["--history", "sometimes", "history"]).0, 2);
    assert_eq!(place.run(&["--history-size", "1", "history"]).0, 2);
}

#[test]
fn content_too_large_for_the_history_may_be_replaced_but_not_deleted() {
    let place = Place::new();
    place.write("large", &"x\n".repeat(3 << 19));
    let small = ["--history-size", "1MiB"];
    place.ok(&["call", "read", "path=large", "limit=1"]);
    place.ok(&["call", "grep", "pattern=y", "path=large"]);
    let text = place.fails(&[small.as_slice(), &["call", "delete", "path=large"]].concat());
    assert!(text.contains("could not be brought back"), "{text}");
    let text = place.ok(&[small.as_slice(), &["call", "write", "path=large", "content=y"]].concat());
    assert!(text.contains("what it held before"), "{text}");
    assert_eq!(place.content("large"), "y");
}

#[test]
fn a_journal_with_torn_lines_is_read() {
    let place = Place::new();
    place.ok(&["call", "write", "path=a.txt", "content=one"]);
    place.ok(&["call", "write", "path=a.txt", "content=two"]);
    let history = place.state().join("history");
    let journal = fs::read_dir(&history)
        .unwrap()
        .map(|file| file.unwrap().path())
        .find(|path| path.file_name().unwrap().to_str().unwrap().starts_with("changes-"))
        .unwrap();
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, format!("\u{0}garbage\n{text}{{\"time\":1,\"sess")).unwrap();
    assert_eq!(place.ok(&["history"]).lines().count(), 2);
    place.ok(&["restore", "a.txt"]);
    assert_eq!(place.content("a.txt"), "one");
}

#[cfg(unix)]
mod killed {
    use std::{
        hash::{BuildHasher as _, RandomState},
        thread,
        time::Duration,
    };

    use rootbound::workspace::{Approval, Base, StaleAfter, WriteGuard};
    use rustix::process::{Signal, kill_process};
    use serde_json::{Value, json};

    use super::*;
    use crate::{harness::Setup, process::Process};

    /// Rounds in a usual run; `CRASH_ROUNDS` asks for more.
    const ROUNDS: u64 = 6;
    const FILES: u64 = 6;

    fn rounds() -> u64 {
        std::env::var("CRASH_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS)
    }

    fn random(below: u64) -> u64 {
        RandomState::new().hash_one(0) % below
    }

    /// A content that shows whether it is whole.
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

    /// Calls without end: replacements, appended and edited files, a file that moves to and fro.
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
    fn run_and_kill(place: &Place, first: u64) -> usize {
        let arguments = ["--allow", "manage", "--read-before-write", "off", "."];
        let mut process = Process::start_remembering(&place.root(), &place.state(), &arguments);
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

    /// What the next server does at its first write in a directory, as if it were some time later.
    fn next_server_writes(place: &Place) {
        let mut setup = Setup::default();
        setup.workspace.stale_after = StaleAfter(Duration::ZERO);
        let workspace = setup.workspace(place.folder.path());
        for path in ["w0/next", "w1/next", "m/next", "next"] {
            let path = workspace.resolve(path).unwrap();
            let _ = fs::remove_file(place.root().join(path.to_string()));
            let writable = workspace.writable(&path).unwrap();
            let guard = WriteGuard::acquire(&workspace, writable, Base::Absent).unwrap();
            guard.commit(b"", Approval::by_policy()).unwrap();
        }
    }

    #[test]
    fn a_killed_server_leaves_whole_files_and_the_next_removes_temporaries() {
        let place = Place::new();
        for n in 0..FILES {
            place.write(&format!("w{}/f{n}", n % 2), &version(n));
            place.write(&format!("w{}/f{n}", (n + 1) % 2), &version(n));
        }
        let (mut answered, mut litter) = (0, 0);
        for round in 0..rounds() {
            for name in ["a", "b"] {
                let _ = fs::remove_file(place.root().join("m").join(name));
            }
            place.write("m/a", &version(round));
            let _ = fs::remove_dir_all(place.root().join("tree"));
            for n in 0..40 {
                place.write(&format!("tree/{}/{n}", n % 4), &version(n));
            }
            answered += run_and_kill(&place, round * 10_000);

            for n in 0..FILES {
                for folder in 0..2 {
                    is_whole(&place.content(&format!("w{folder}/f{n}")));
                }
            }
            let moving = ["m/a", "m/b"].map(|path| fs::read_to_string(place.root().join(path)));
            let there: Vec<&String> = moving.iter().flatten().collect();
            assert_eq!(there.len(), 1, "a moved file is at one of its two places");
            is_whole(there[0]);
            // A deleted tree is there whole, or is restored whole.
            if !place.root().join("tree").exists() {
                place.ok(&["restore", "tree"]);
            }
            for n in 0..40 {
                is_whole(&place.content(&format!("tree/{}/{n}", n % 4)));
            }
            for file in fs::read_dir(place.state().join("history")).into_iter().flatten() {
                let path = file.unwrap().path();
                if path.file_name().unwrap().len() == 32 {
                    is_whole(&fs::read_to_string(&path).unwrap());
                }
            }
            let mut left = Vec::new();
            leftovers(&place.root(), &mut left);
            litter += left.len();
            next_server_writes(&place);
            left.clear();
            leftovers(&place.root(), &mut left);
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
    let place = Place::new();
    let half = ["d".repeat(200).as_str(); 15].join("/");
    for top in ["a", "b"] {
        fs::create_dir_all(place.root().join(top).join(&half)).unwrap();
    }
    fs::write(place.root().join("b").join(&half).join("last\n.txt"), "deep\n").unwrap();
    let joint = place.root().join("a").join(&half).join("b");
    fs::rename(place.root().join("b"), &joint).unwrap();
    place.ok(&["call", "delete", "path=a", "recursive=true"]);
    assert!(!place.root().join("a").exists());
    assert!(place.ok(&["restore", "a"]).contains("with 1 file"));
    fs::rename(&joint, place.root().join("b")).unwrap();
    assert_eq!(place.content(&format!("b/{half}/last\n.txt")), "deep\n");
}
