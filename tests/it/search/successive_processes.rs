//! Processes one after another that search one tree by the stored index: each answer is that of `--index off`.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::process::Process;

/// Longer than the rule for files that were just changed, and than any build of a small tree takes.
const SETTLED: Duration = Duration::from_millis(2300);
const PATIENCE: Duration = Duration::from_secs(60);

/// A tree, and a state folder beside it.
struct Tree {
    temp: TempDir,
}

impl Tree {
    /// Files of many kinds, in several folders.
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let tree = Self { temp };
        for folder in 0..6 {
            for file in 0..8 {
                tree.write(&format!("dir{folder}/file{file}.txt"), &format!("some words\nnumber_{folder}_{file}\n"));
            }
        }
        tree.write("large.txt", &"a line of many\n".repeat(20_000));
        fs::write(tree.path("binary.bin"), b"\x7fELF\0\0\0 needle\n").unwrap();
        fs::write(
            tree.path("utf16.txt"),
            "\u{feff}needle in it\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>(),
        )
        .unwrap();
        fs::write(tree.path("latin1.txt"), b"caf\xe9 needle\n").unwrap();
        tree.write("dir1/.gitignore", "file7.txt\n");
        tree.write("key.pem", "a needle that nobody may see\n");
        tree
    }

    fn root(&self) -> PathBuf {
        self.temp.path().join("root")
    }

    fn path(&self, relative: &str) -> PathBuf {
        let path = self.root().join(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn write(&self, relative: &str, text: &str) {
        fs::write(self.path(relative), text).unwrap();
    }

    fn state(&self) -> PathBuf {
        self.temp.path().join("state")
    }

    fn start(&self, arguments: &[&str]) -> Process {
        let mut server = Process::start_remembering(&self.root(), &self.state(), arguments);
        server.initialize();
        server
    }

    /// The stored indexes: names and sizes.
    fn stored(&self) -> Vec<(String, u64, SystemTime)> {
        let Ok(entries) = fs::read_dir(self.state().join("index")) else { return Vec::new() };
        let all = entries.flatten().filter_map(|entry| {
            let data = entry.metadata().ok()?;
            Some((entry.file_name().into_string().ok()?, data.len(), data.modified().ok()?))
        });
        all.filter(|(name, ..)| Path::new(name).extension().is_some_and(|extension| extension == "index")).collect()
    }

    /// Has a process store the index, or says why there is none.
    fn store(&self) -> bool {
        thread::sleep(SETTLED);
        let before = self.stored();
        let mut server = self.start(&["--index", "eager"]);
        let begun = Instant::now();
        while self.stored() == before {
            grep(&mut server, &json!({ "pattern": "words" }));
            if begun.elapsed() > PATIENCE {
                let is_kept = is_promising(&self.root());
                assert!(!is_kept, "no index was stored");
                return false;
            }
            thread::sleep(Duration::from_millis(20));
        }
        true
    }

    /// Asks a new process that may use the stored index, and one that may not; how many files the former did not open.
    #[track_caller]
    fn compare(&self, arguments: &Value) -> (Value, usize) {
        let mut with = self.start(&["--index", "auto", "--log", "debug"]);
        let mut without = self.start(&["--index", "off"]);
        let (one, two) = (grep(&mut with, arguments), grep(&mut without, arguments));
        assert_eq!(one, two, "{arguments}");
        with.end_input();
        let (status, log) = with.exit();
        assert!(status.success(), "{log}");
        let known = log.lines().find(|line| line.contains("files that the stored index knew"));
        let number = |name: &str| {
            let (_, rest) = known?.split_once(&format!("{name}="))?;
            rest.split(|digit: char| !digit.is_ascii_digit()).next()?.parse().ok()
        };
        (one, number("answered").unwrap_or(0))
    }
}

/// Whether an index of files there may be stored.
fn is_promising(path: &Path) -> bool {
    let name = std::process::Command::new("stat").args(["-f", "-c", "%T"]).arg(path).output();
    let name = name.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    cfg!(target_os = "linux") && !matches!(name.as_str(), "tmpfs" | "ramfs" | "nfs" | "fuseblk" | "")
}

/// The answer without what is another one each time.
fn grep(server: &mut Process, arguments: &Value) -> Value {
    let mut answer = server.ask("tools/call", &json!({ "name": "grep", "arguments": arguments }))["result"].take();
    let meta = answer["_meta"]["rootbound/result"].as_object_mut();
    let meta = meta.unwrap_or_else(|| panic!("{arguments}: no answer"));
    meta.retain(|name, _| !matches!(name.as_str(), "elapsed_ms" | "duration_ms" | "elapsed" | "snapshot" | "source"));
    answer
}

#[test]
fn second_process_opens_no_file_that_cannot_match() {
    let tree = Tree::new();
    if !tree.store() {
        return;
    }
    let (answer, answered) = tree.compare(&json!({ "pattern": "unheard_of" }));
    assert!(answer["content"][0]["text"].as_str().unwrap().starts_with("No matches"), "{answer}");
    assert!(answered >= 40, "{answered}");
    for arguments in [
        json!({ "pattern": "number_3_5" }),
        json!({ "pattern": "needle" }),
        json!({ "pattern": "number_1_7", "no_ignore": true }),
        json!({ "pattern": "fn needle", "output_mode": "definitions" }),
        json!({ "pattern": "number_1_7", "output_mode": "files_with_matches" }),
        json!({ "pattern": "caf\u{e9}" }),
        json!({ "pattern": "words.number_2_2", "multiline": true }),
        json!({ "pattern": "number_4", "path": "dir4", "output_mode": "count" }),
        json!({ "pattern": "number_4", "glob": "*3.txt" }),
        json!({ "pattern": "words", "max_results": 3 }),
        json!({ "pattern": "words", "output_mode": "files_without_match" }),
    ] {
        tree.compare(&arguments);
    }
}

/// Sets the time of the last change to content as a program can.
fn set_modified(path: &Path, time: SystemTime) {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let time = rustix::fs::Timespec { tv_sec: since.as_secs().cast_signed(), tv_nsec: since.subsec_nanos().into() };
    let times = rustix::fs::Timestamps { last_access: time, last_modification: time };
    rustix::fs::utimensat(rustix::fs::CWD, path, &times, rustix::fs::AtFlags::empty()).unwrap();
}

#[test]
fn second_process_sees_every_kind_of_change() {
    let tree = Tree::new();
    tree.write("moved/inner/one.txt", "words\nmoved_words\n");
    tree.write("linked.txt", "words\nlinked_words\n");
    std::os::unix::fs::symlink("dir0", tree.path("link")).unwrap();
    if !tree.store() {
        return;
    }
    tree.compare(&json!({ "pattern": "needle_of_a_change" }));

    tree.write("dir0/file0.txt", "another needle_of_a_change\n");
    let appended = tree.path("dir0/file1.txt");
    fs::write(&appended, [fs::read(&appended).unwrap(), b"needle_of_a_change\n".to_vec()].concat()).unwrap();
    // The same size and time: the change time shows it.
    let restored = tree.path("large.txt");
    let before = fs::metadata(&restored).unwrap().modified().unwrap();
    let mut bytes = fs::read(&restored).unwrap();
    bytes[150_000..150_018].copy_from_slice(b"needle_of_a_change");
    fs::write(&restored, bytes).unwrap();
    set_modified(&restored, before);
    // Another file under the same name, as an atomic write leaves it.
    tree.write("new.tmp", "some words\nneedle_of_a_change\n");
    fs::rename(tree.path("new.tmp"), tree.path("dir0/file2.txt")).unwrap();
    let mut rights = fs::metadata(tree.path("dir0/file3.txt")).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut rights, 0o000);
    fs::set_permissions(tree.path("dir0/file3.txt"), rights).unwrap();
    tree.write("dir0/new.txt", "needle_of_a_change\n");
    fs::remove_file(tree.path("dir0/file4.txt")).unwrap();
    fs::rename(tree.path("moved"), tree.path("elsewhere")).unwrap();
    tree.write("dir1/.gitignore", "file6.txt\n");
    tree.write("dir2/.gitignore", "*\n");
    fs::remove_file(tree.path("link")).unwrap();
    std::os::unix::fs::symlink("dir1", tree.path("link")).unwrap();
    fs::hard_link(tree.path("linked.txt"), tree.path("second_name.txt")).unwrap();
    fs::write(tree.path("binary.bin"), "text with a needle_of_a_change\n").unwrap();
    // Two files that change places.
    fs::rename(tree.path("dir3/file0.txt"), tree.path("aside")).unwrap();
    fs::rename(tree.path("dir3/file1.txt"), tree.path("dir3/file0.txt")).unwrap();
    fs::rename(tree.path("aside"), tree.path("dir3/file1.txt")).unwrap();

    let queries = [
        json!({ "pattern": "needle_of_a_change" }),
        json!({ "pattern": "number_3_[01]" }),
        json!({ "pattern": "moved_words" }),
        json!({ "pattern": "linked_words" }),
        json!({ "pattern": "unheard_of" }),
        json!({ "pattern": "number_1_[67]" }),
        json!({ "pattern": "number_1_[67]", "no_ignore": true }),
        json!({ "pattern": "number", "path": "link", "output_mode": "count" }),
        json!({ "pattern": "words", "output_mode": "files_with_matches", "sort": "modified" }),
        json!({ "pattern": "needle", "max_results": 2, "offset": 1 }),
        json!({ "pattern": "some words.needle", "multiline": true }),
    ];
    for arguments in &queries {
        tree.compare(arguments);
    }
    // What the next process has stored of that.
    if tree.store() {
        for arguments in &queries {
            tree.compare(arguments);
        }
        let (_, answered) = tree.compare(&queries[4]);
        assert!(answered >= 30, "{answered}");
    }
}

#[test]
fn policy_of_the_next_process_decides_what_it_sees() {
    let tree = Tree::new();
    tree.write("plans.txt", "unheard_of plans\n");
    if !tree.store() {
        return;
    }
    let ask = |arguments: &[&str]| {
        let mut server = tree.start(arguments);
        let grep = json!({ "name": "grep", "arguments": { "pattern": "plans" } });
        server.ask("tools/call", &grep)["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    assert!(ask(&[]).contains("unheard_of plans"));
    let denied = ask(&["--deny", "plans.txt"]);
    assert!(!denied.contains("unheard_of plans"), "{denied}");
    assert_eq!(denied, ask(&["--deny", "plans.txt", "--index", "off"]));
}

#[test]
fn processes_for_single_calls_store_the_index_at_their_end() {
    let tree = Tree::new();
    for folder in 0..30 {
        for file in 0..70 {
            tree.write(&format!("many/folder{folder}/{file}.txt"), &format!("words\nnumber_{folder}_{file}\n"));
        }
    }
    thread::sleep(SETTLED);
    let mut answered = 0;
    for _ in 0..10 {
        answered = tree.compare(&json!({ "pattern": "unheard_of" })).1;
        if answered >= 2000 {
            break;
        }
    }
    assert!(answered >= 2000 || !is_promising(&tree.root()), "{answered}");
}

#[test]
fn signal_ends_a_process_that_has_an_index_to_store() {
    let tree = Tree::new();
    thread::sleep(SETTLED);
    let mut server = tree.start(&["--index", "eager"]);
    grep(&mut server, &json!({ "pattern": "words" }));
    server.end_input();
    server.signal(rustix::process::Signal::TERM);
    let (_, log) = server.exit();
    assert!(!log.contains("panicked"), "{log}");
}
