//! Two processes change overlapping sets of files in one call each, all or none, in rounds.
//!
//! A change puts its line under the first line of each of its files, so that the order of the lines in a file is the
//! order of the changes. After each round every change must be whole, and one order of all changes must fit all files.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use serde_json::json;
use tempfile::TempDir;

use super::{Ending, kill, moment};
use crate::{harness::process::Process, harness::seeded_random::Random, harness::share};

const FILES: usize = 6;
const WORKERS: usize = 2;
const TOP: &str = "top\n";

/// What disturbs the rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(windows, expect(dead_code, reason = "the tests of processes that are disturbed are those of Unix"))]
enum With {
    Nothing,
    /// In a third of the rounds a process is killed during its change, and the next round begins with a new one.
    Kills,
    /// A program without locks replaces a file in each round.
    ForeignWriter,
    KillsAndForeignWriter,
}

impl With {
    fn kills(self) -> bool {
        matches!(self, Self::Kills | Self::KillsAndForeignWriter)
    }

    fn foreign_writer(self) -> bool {
        matches!(self, Self::ForeignWriter | Self::KillsAndForeignWriter)
    }
}

/// A change that was asked for.
struct Asked {
    round: usize,
    files: BTreeSet<usize>,
    ending: Ending,
}

struct World {
    folder: TempDir,
    with: With,
    /// Each change by its line.
    asked: Mutex<HashMap<String, Asked>>,
    /// For each file, in which round the foreign program replaced it last.
    replaced: Mutex<BTreeMap<usize, usize>>,
    killed: AtomicUsize,
}

impl World {
    fn new(with: With) -> Self {
        let world = Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            with,
            asked: Mutex::default(),
            replaced: Mutex::default(),
            killed: AtomicUsize::new(0),
        };
        fs::create_dir(world.root()).expect("a folder");
        for file in 0..FILES {
            fs::write(world.file(file), TOP).expect("a file");
        }
        world
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn file(&self, number: usize) -> PathBuf {
        self.root().join(format!("f{number}"))
    }

    fn start(&self) -> Process {
        let options = ["--read-before-write", "off", "--time-limit", "120", "."];
        let mut server = Process::start_remembering(&self.root(), &self.folder.path().join("state"), &options);
        server.initialize();
        server
    }

    /// One change of some files.
    fn change(&self, worker: usize, round: usize, random: &mut Random, server: &mut Option<Process>) {
        // A change of one file has no intent: what a killed process leaves of it stays until it is old.
        let first = random.below(FILES);
        let mut files = BTreeSet::from([first, (first + 1 + random.below(FILES - 1)) % FILES]);
        files.extend((0..random.below(FILES - 2)).map(|_| random.below(FILES)));
        let line = format!("round {round} of {worker}\n");
        let edits: Vec<_> = files
            .iter()
            .map(|file| json!({ "path": format!("f{file}"), "old_string": TOP, "new_string": format!("{TOP}{line}") }))
            .collect();
        let running = server.get_or_insert_with(|| self.start());
        let id = running.send("tools/call", &json!({ "name": "edit", "arguments": { "edits": edits } }));
        let is_killed = self.with.kills() && random.one_in(3);
        if is_killed {
            thread::sleep(moment());
            kill(running);
            self.killed.fetch_add(1, Ordering::Relaxed);
        }
        let ending = loop {
            match running.next() {
                Some(message) if message["id"] == id => {
                    break if message["result"]["isError"] == false { Ending::Acknowledged } else { Ending::Refused };
                }
                Some(_) => {}
                None => break Ending::Unknown,
            }
        };
        assert!(is_killed || ending != Ending::Unknown, "the server ended by itself");
        if is_killed {
            *server = None;
        }
        self.asked.lock().expect("no panic").insert(line, Asked { round, files, ending });
    }

    /// Another program replaces a file by its name, as an editor does.
    fn replace(&self, round: usize, random: &mut Random) {
        let file = random.below(FILES);
        thread::sleep(moment());
        let aside = self.folder.path().join("foreign");
        fs::write(&aside, format!("{TOP}foreign {round}\n")).expect("a file");
        fs::rename(aside, self.file(file)).expect("a name");
        self.replaced.lock().expect("no panic").insert(file, round);
    }

    /// Each change is whole, and all of them can have been made one after another.
    fn check(&self, round: usize) {
        let lines: Vec<Vec<String>> = (0..FILES)
            .map(|file| fs::read_to_string(self.file(file)).expect("a file"))
            .map(|text| text.split_inclusive('\n').map(str::to_owned).collect())
            .collect();
        let context = || format!("{:?}, round {round}: {lines:#?}", self.with);
        let (asked, replaced) = (self.asked.lock().expect("no panic"), self.replaced.lock().expect("no panic"));
        for (file, lines) in lines.iter().enumerate() {
            assert_eq!(lines.first().map(String::as_str), Some(TOP), "f{file}: {}", context());
            let is_known = |line: &String| asked.get(line).is_some_and(|asked| asked.files.contains(&file));
            let foreign = replaced.get(&file).map(|round| format!("foreign {round}\n"));
            let rest = match &foreign {
                // The last, as a change puts its line above.
                Some(foreign) => {
                    assert_eq!(lines.last(), Some(foreign), "f{file} has lost it: {}", context());
                    &lines[1..lines.len() - 1]
                }
                None => &lines[1..],
            };
            assert!(rest.iter().all(is_known), "f{file} has a line of somebody else: {}", context());
            assert_eq!(rest.iter().collect::<BTreeSet<_>>().len(), rest.len(), "f{file}: twice: {}", context());
        }
        for (line, Asked { round, files, ending }) in &*asked {
            // In a file that another program has replaced since, or at that moment, it may be or not.
            let own = files.iter().filter(|file| replaced.get(file).is_none_or(|replaced| replaced < round));
            let is_there: BTreeSet<bool> = own.map(|file| lines[*file].contains(line)).collect();
            let may_be = match ending {
                Ending::Acknowledged => is_there.iter().all(|is_there| *is_there),
                Ending::Refused => is_there.iter().all(|is_there| !is_there),
                Ending::Unknown => is_there.len() < 2,
            };
            assert!(may_be, "{line:?} {ending:?} for {files:?}: {}", context());
        }
        assert!(is_serial(&lines), "no order of the changes fits all files: {}", context());
        let names = fs::read_dir(self.root()).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let left: Vec<_> = names.filter(|name| !name.to_str().expect("UTF-8").starts_with('f')).collect();
        assert!(left.is_empty(), "{left:?} is left: {}", context());
    }

    fn run(&self, rounds: usize) {
        let mut workers: Vec<(Random, Option<Process>)> =
            (0..WORKERS).map(|worker| (Random(worker as u64), None)).collect();
        let (mut foreign, mut reader) = (Random(99), self.start());
        for round in 0..rounds {
            thread::scope(|scope| {
                for (worker, (random, server)) in workers.iter_mut().enumerate() {
                    scope.spawn(move || self.change(worker, round, random, server));
                }
                if self.with.foreign_writer() {
                    self.replace(round, &mut foreign);
                }
            });
            // What a killed process has begun is finished or undone before the next call of another.
            reader.ask("tools/call", &json!({ "name": "read", "arguments": { "path": "f0" } }));
            self.check(round);
        }
        let asked = self.asked.lock().expect("no panic");
        let count = |wanted: Ending| asked.values().filter(|asked| asked.ending == wanted).count();
        println!(
            "two processes, {rounds} rounds, {:?}: {} acknowledged, {} refused, {} unanswered of {} killed, no mixture",
            self.with,
            count(Ending::Acknowledged),
            count(Ending::Refused),
            count(Ending::Unknown),
            self.killed.load(Ordering::Relaxed),
        );
    }
}

/// Whether the files agree on an order: no line is, through a chain of files, above and below another one.
fn is_serial(files: &[Vec<String>]) -> bool {
    // The lowest line of each file that is left; one that is the lowest wherever it is comes first.
    let mut left: Vec<&[String]> = files.iter().map(|lines| &lines[1..]).collect();
    while left.iter().any(|lines| !lines.is_empty()) {
        let is_first = |line: &String| left.iter().all(|lines| !lines.contains(line) || lines.last() == Some(line));
        let Some(first) = left.iter().filter_map(|lines| lines.last()).find(|line| is_first(line)).cloned() else {
            return false;
        };
        for lines in &mut left {
            if lines.last() == Some(&first) {
                *lines = &lines[..lines.len() - 1];
            }
        }
    }
    true
}

/// `MANY_FILES_ROUNDS` in all, or these.
fn run(with: With, usual: usize) {
    let rounds = std::env::var("MANY_FILES_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    World::new(with).run(rounds);
}

#[test]
fn overlapping_changes_of_many_files_do_not_mix() {
    run(With::Nothing, share(40) as usize);
}

#[test]
#[cfg(unix)]
fn changes_of_many_files_by_processes_that_are_killed_are_whole_or_absent() {
    run(With::Kills, 40);
}

#[test]
#[cfg(unix)]
fn what_another_program_writes_during_changes_of_many_files_stays() {
    run(With::ForeignWriter, 40);
    run(With::KillsAndForeignWriter, 40);
}
