//! Several processes on one root: an acknowledged change is never lost, a refused one is never made, no file is torn.
//!
//! Each worker appends and inserts lines that nobody else writes, through its own server or a process per call, with
//! one state folder for all or one each, with and without `kill -9`. A line whose answer was never received may or may
//! not be there. Short as part of the suite; `PROCESSES_CHANGES=20000` goes on until that many changes were
//! acknowledged, in all combinations, and prints the counts.

#![expect(clippy::print_stdout, reason = "the counts of a long run are its result")]

mod many_files;
mod raced;
mod trees;

use std::{
    collections::{BTreeMap, HashMap},
    fmt, fs,
    hash::{BuildHasher as _, RandomState},
    path::PathBuf,
    process::Stdio,
    sync::{
        Barrier, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use change_set::{Approval, Base, StaleAfter, Workspace, WriteGuard};
use confined_fs::{Access, PolicyRules, Revision, RootSpec, WorkspaceOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{harness::process::Process, harness::program::program};

/// Files in a run on many.
const MANY: usize = 5;

/// Who makes the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Callers {
    /// So many servers, each with one client.
    Servers(usize),
    /// So many clients that start a process for each call.
    PerCall(usize),
}

impl Callers {
    fn count(self) -> usize {
        match self {
            Self::Servers(count) | Self::PerCall(count) => count,
        }
    }
}

/// One combination.
#[derive(Clone, Copy, Debug)]
struct Case {
    callers: Callers,
    one_state: bool,
    one_file: bool,
    kills: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let callers = match self.callers {
            Callers::Servers(count) => format!("{count} servers"),
            Callers::PerCall(count) => format!("a process per call, {count} at a time"),
        };
        let state = if self.one_state { "one state folder" } else { "a state folder each" };
        let files = if self.one_file { "one file" } else { "several files" };
        write!(f, "{callers}, {state}, {files}{}", if self.kills { ", kill -9" } else { "" })
    }
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Acknowledged,
    Refused,
    /// The answer was never received.
    Unknown,
}

/// A root, its state folders, and what became of each line.
struct World {
    case: Case,
    folder: TempDir,
    /// How many changes shall be acknowledged.
    wanted: usize,
    acknowledged: AtomicUsize,
    lines: Mutex<HashMap<String, (String, Ending)>>,
    /// How calls were refused.
    refusals: Mutex<BTreeMap<String, usize>>,
    /// Milliseconds of the slowest change.
    slowest: AtomicUsize,
    ended: AtomicBool,
}

impl World {
    fn new(case: Case, wanted: usize) -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        let world = Self {
            case,
            folder,
            wanted,
            acknowledged: AtomicUsize::new(0),
            lines: Mutex::default(),
            refusals: Mutex::default(),
            slowest: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
        };
        for name in world.files() {
            let ends: String = (0..case.callers.count()).map(end).collect();
            fs::write(world.root().join(name), ends).unwrap();
        }
        world
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn state(&self, worker: usize) -> PathBuf {
        self.folder.path().join(if self.case.one_state { "state".to_owned() } else { format!("state-{worker}") })
    }

    fn files(&self) -> Vec<String> {
        (0..if self.case.one_file { 1 } else { MANY }).map(|n| format!("file-{n}.txt")).collect()
    }

    fn is_done(&self) -> bool {
        self.acknowledged.load(Ordering::Relaxed) >= self.wanted || self.ended.load(Ordering::Relaxed)
    }

    fn note(&self, line: String, file: &str, ending: Ending) {
        if ending == Ending::Acknowledged {
            self.acknowledged.fetch_add(1, Ordering::Relaxed);
        }
        self.lines.lock().unwrap().insert(line, (file.to_owned(), ending));
    }

    fn refused(&self, kind: &str) {
        *self.refusals.lock().unwrap().entry(kind.to_owned()).or_default() += 1;
    }

    /// The calls of one worker.
    fn work(&self, worker: usize) {
        // Ends the others, too, when an assertion fails.
        let _end = Ends(&self.ended);
        let mut client = Client::new(self, worker);
        let files = self.files();
        for name in &files {
            client.read(name);
        }
        for number in 0.. {
            if self.is_done() {
                return;
            }
            let file = &files[random(files.len())];
            let line = format!("line {number} of {worker} {}\n", "x".repeat(random(60)));
            let (tool, arguments) = if random(2) == 0 {
                ("write", json!({ "path": file, "mode": "append", "content": line }))
            } else {
                let new = format!("{line}{}", end(worker));
                ("edit", json!({ "path": file, "old_string": end(worker), "new_string": new }))
            };
            let began = Instant::now();
            let ending = client.call(tool, &arguments);
            let millis = usize::try_from(began.elapsed().as_millis()).unwrap();
            self.slowest.fetch_max(millis, Ordering::Relaxed);
            self.note(line, file, ending);
            if ending != Ending::Acknowledged {
                client.read(file);
            }
        }
    }

    fn run(self) -> Counts {
        thread::scope(|scope| {
            for worker in 0..self.case.callers.count() {
                let world = &self;
                scope.spawn(move || world.work(worker));
            }
        });
        self.counts()
    }

    /// What is wrong with what the files hold.
    fn counts(&self) -> Counts {
        let lines = self.lines.lock().unwrap();
        let refusals = self.refusals.lock().unwrap().clone();
        let mut counts = Counts { refusals, slowest: self.slowest.load(Ordering::Relaxed), ..Counts::default() };
        let mut there: HashMap<(&str, String), usize> = HashMap::new();
        let files = self.files();
        for file in &files {
            let text = fs::read_to_string(self.root().join(file)).unwrap();
            let ends: Vec<String> = (0..self.case.callers.count()).map(end).collect();
            for end in ends.iter().filter(|end| text.matches(end.as_str()).count() != 1) {
                counts.torn.push(format!("{file}: {} times {end:?}", text.matches(end.as_str()).count()));
            }
            for line in text.split_inclusive('\n') {
                if lines.get(line).is_some_and(|(own, _)| own == file) {
                    *there.entry((file, line.to_owned())).or_default() += 1;
                } else if !ends.iter().any(|end| end == line) {
                    counts.torn.push(format!("{file}: {line:?}"));
                }
            }
        }
        for (line, (file, ending)) in &*lines {
            let found = there.get(&(file.as_str(), line.clone())).copied().unwrap_or(0);
            if found > 1 {
                counts.torn.push(format!("{file}: {found} times {line:?}"));
            }
            match ending {
                Ending::Acknowledged => {
                    counts.acknowledged += 1;
                    counts.lost += usize::from(found == 0);
                }
                Ending::Refused => {
                    counts.refused += 1;
                    counts.refused_there += usize::from(found > 0);
                }
                Ending::Unknown => counts.unknown += 1,
            }
        }
        drop(lines);
        self.check_state(&mut counts);
        self.check_litter(&mut counts);
        counts
    }

    /// Former contents are what their names say, and the journal has whole lines.
    fn check_state(&self, counts: &mut Counts) {
        for worker in 0..self.case.callers.count() {
            for file in fs::read_dir(self.state(worker).join("history")).into_iter().flatten().flatten() {
                let name = file.file_name().into_string().unwrap();
                let bytes = fs::read(file.path()).unwrap();
                if name.len() == 32 && Revision::of(&bytes).to_string() != name {
                    counts.torn.push(format!("{name} is another content"));
                }
                if name.starts_with("changes-") {
                    let text = String::from_utf8(bytes).unwrap();
                    let lines = text.lines().filter(|line| !line.is_empty());
                    // A record whose writer was killed may be cut off; no other one may suffer from that.
                    let is_torn = |line: &&str| match serde_json::from_str::<Value>(line) {
                        Ok(_) => false,
                        Err(error) => !(self.case.kills && error.is_eof()),
                    };
                    counts.torn.extend(lines.filter(is_torn).map(str::to_owned));
                }
            }
        }
    }

    /// Without kills no temporary file is left; with kills the next process sweeps them when they are old.
    fn check_litter(&self, counts: &mut Counts) {
        let left = || -> Vec<String> {
            let names =
                fs::read_dir(self.root()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
            names.filter(|name| !name.starts_with("file-")).collect()
        };
        counts.litter = left().len();
        if self.case.kills {
            let spec = RootSpec {
                name: None,
                path: self.root(),
                access: Access::ReadWrite,
                policy: PolicyRules::default(),
                optional: false,
            };
            let at_once = StaleAfter(Duration::ZERO);
            let opened = Workspace::open_sweeping(&[spec], WorkspaceOptions::default(), at_once);
            let workspace = opened.unwrap().workspace;
            let writable = workspace.writable(&workspace.resolve("next").unwrap()).unwrap();
            let guard = WriteGuard::acquire(&workspace, writable, Base::Absent).unwrap();
            guard.commit(b"", Approval::by_policy()).unwrap();
            fs::remove_file(self.root().join("next")).unwrap();
        }
        assert_eq!(left(), Vec::<String>::new(), "{}: litter that stays", self.case);
    }
}

/// The last line of a worker's own in each file.
fn end(worker: usize) -> String {
    format!("end of {worker}\n")
}

fn random(below: usize) -> usize {
    usize::try_from(RandomState::new().hash_one(0) % below as u64).unwrap()
}

/// A time within that of a change, be it a tenth of a millisecond or, on a slow machine, 30.
fn moment() -> Duration {
    Duration::from_micros(random(1 << (4 + random(12))) as u64)
}

struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[derive(Debug, Default)]
struct Counts {
    acknowledged: usize,
    refused: usize,
    unknown: usize,
    lost: usize,
    refused_there: usize,
    /// What is not whole, or there more than once.
    torn: Vec<String>,
    litter: usize,
    slowest: usize,
    refusals: BTreeMap<String, usize>,
}

/// One worker's way to the program.
struct Client<'w> {
    world: &'w World,
    worker: usize,
    server: Option<Process>,
    /// Calls of this server until it is killed.
    left: usize,
}

impl<'w> Client<'w> {
    fn new(world: &'w World, worker: usize) -> Self {
        Self { world, worker, server: None, left: 0 }
    }

    fn read(&mut self, file: &str) {
        while self.call("read", &json!({ "path": file })) != Ending::Acknowledged {}
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Ending {
        match self.world.case.callers {
            Callers::Servers(_) => self.by_server(tool, arguments),
            Callers::PerCall(_) => self.by_process(tool, arguments),
        }
    }

    fn by_server(&mut self, tool: &str, arguments: &Value) -> Ending {
        let (world, kills) = (self.world, self.world.case.kills);
        let server = self.server.get_or_insert_with(|| {
            self.left = random(12);
            let mut server =
                Process::start_remembering(&world.root(), &world.state(self.worker), &["--time-limit", "120", "."]);
            server.initialize();
            server
        });
        let id = server.send("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let killed = kills && self.left == 0;
        if killed {
            // Within the time that a change takes, or a little before or after.
            thread::sleep(moment());
            kill(server);
        }
        self.left = self.left.saturating_sub(1);
        loop {
            match server.next() {
                Some(message) if message["id"] == id => {
                    if killed {
                        self.server = None;
                    }
                    let answer = &message["result"];
                    if answer["isError"] != true {
                        return Ending::Acknowledged;
                    }
                    world.refused(answer["_meta"]["rootbound/error"].as_str().unwrap_or("unnamed"));
                    return Ending::Refused;
                }
                Some(_) => {}
                None => {
                    assert!(killed, "{}: the server ended by itself", world.case);
                    self.server = None;
                    return Ending::Unknown;
                }
            }
        }
    }

    fn by_process(&self, tool: &str, arguments: &Value) -> Ending {
        let world = self.world;
        let pairs = arguments.as_object().unwrap().iter();
        let mut command = program(&world.root());
        command
            .env("ROOTBOUND_STATE_DIR", world.state(self.worker))
            .args(["call", tool])
            .args(pairs.map(|(name, value)| format!("{name}={}", value.as_str().unwrap())))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        if world.case.kills && tool != "read" && random(4) == 0 {
            thread::sleep(moment());
            let _ = child.kill();
        }
        let output = child.wait_with_output().unwrap();
        match output.status.code() {
            Some(0) => Ending::Acknowledged,
            Some(_) => {
                let text =
                    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
                let known = ["has changed since", "has not been read"].into_iter().find(|known| text.contains(known));
                world.refused(known.unwrap_or(&text));
                Ending::Refused
            }
            None => Ending::Unknown,
        }
    }
}

#[cfg(unix)]
fn kill(server: &Process) {
    server.signal(rustix::process::Signal::KILL);
}

#[cfg(not(unix))]
fn kill(_: &Process) {}

/// Runs these cases with so many acknowledged changes each, or the share of what `PROCESSES_CHANGES` asks for.
fn run(cases: &[Case], usual: usize, share: usize) {
    let asked: Option<usize> = std::env::var("PROCESSES_CHANGES").ok().and_then(|text| text.parse().ok());
    let usual = if cfg!(windows) { usual.div_ceil(8) } else { usual };
    let wanted = asked.map_or(usual, |all| (all * share).div_ceil(100 * cases.len()));
    for case in cases {
        let counts = World::new(*case, wanted).run();
        let Counts { acknowledged, refused, unknown, lost, refused_there, torn, litter, slowest, refusals } = &counts;
        println!(
            "{case}: {acknowledged} acknowledged, {refused} refused {refusals:?}, {unknown} unanswered; \
             {lost} lost, {refused_there} refused but there, {} torn, {litter} temporary files swept, \
             the slowest {slowest} ms",
            torn.len()
        );
        assert_eq!((*lost, *refused_there, torn.len()), (0, 0, 0), "{case}: {counts:?}");
    }
}

fn is_long() -> bool {
    std::env::var_os("PROCESSES_CHANGES").is_some()
}

fn cases(callers: &[Callers], kills: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    for callers in callers {
        for one_state in [true, false] {
            for one_file in [true, false] {
                // The suite has the harder half.
                if one_file || is_long() {
                    cases.push(Case { callers: *callers, one_state, one_file, kills });
                }
            }
        }
    }
    cases
}

#[test]
fn servers_on_one_root_lose_no_acknowledged_change() {
    run(&cases(&[2, 4, 8].map(Callers::Servers), false), 40, 40);
}

#[test]
fn servers_with_concurrent_appends_lose_none() {
    const SERVERS: usize = 4;
    const CALLS: usize = 24;
    for one_state in [true, false] {
        let callers = Callers::Servers(SERVERS);
        let world = World::new(Case { callers, one_state, one_file: true, kills: false }, 0);
        let file = &world.files()[0];
        // A read of a file that is replaced meanwhile says that it has to be repeated.
        let all_have_read = Barrier::new(SERVERS);
        thread::scope(|scope| {
            for worker in 0..SERVERS {
                let (world, all_have_read) = (&world, &all_have_read);
                scope.spawn(move || {
                    let mut client = Client::new(world, worker);
                    client.read(file);
                    all_have_read.wait();
                    let mut server = client.server.take().unwrap();
                    let mut sent = HashMap::new();
                    for number in 0..CALLS {
                        let line = format!("line {number} of {worker}\n");
                        let arguments = json!({ "path": file, "mode": "append", "content": line });
                        sent.insert(
                            server.send("tools/call", &json!({ "name": "write", "arguments": arguments })),
                            line,
                        );
                    }
                    while !sent.is_empty() {
                        let answer = server.next().unwrap();
                        let Some(line) = answer["id"].as_u64().and_then(|id| sent.remove(&id)) else { continue };
                        assert_ne!(answer["result"]["isError"], true, "{answer}");
                        world.note(line, file, Ending::Acknowledged);
                    }
                });
            }
        });
        let counts = world.counts();
        let all = SERVERS * CALLS;
        assert_eq!((counts.acknowledged, counts.lost, counts.torn.len()), (all, 0, 0), "{counts:?}");
    }
}

#[test]
fn a_process_per_call_loses_no_acknowledged_change() {
    run(&cases(&[Callers::PerCall(8)], false), 40, 20);
}

#[test]
#[cfg(unix)]
fn servers_that_are_killed_lose_no_acknowledged_change() {
    run(&cases(&[2, 4, 8].map(Callers::Servers), true), 30, 30);
}

#[test]
#[cfg(unix)]
fn calls_that_are_killed_lose_no_acknowledged_change() {
    run(&cases(&[Callers::PerCall(8)], true), 30, 10);
}

/// As two entries of one client, one for agents that only read.
#[test]
fn what_a_read_only_server_has_read_a_writing_one_may_edit() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("root")).expect("a folder");
    for name in ["read.txt", "unread.txt"] {
        fs::write(at("root").join(name), format!("{name} one\n")).expect("a file");
    }
    let start = |more: &[&str]| {
        let mut process =
            Process::start_remembering(&at("root"), &at("state"), &[&["--root", "app=.:optional"], more].concat());
        process.initialize();
        process
    };
    let (mut reading, mut writing) = (start(&["--read-only"]), start(&["--tools", "edit,write"]));
    let ask = |process: &mut Process, tool: &str, name: &str| {
        let arguments = json!({ "path": name, "old_string": "one", "new_string": "two" });
        let arguments = if tool == "read" { json!({ "path": name }) } else { arguments };
        process.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))["result"].clone()
    };
    assert_eq!(ask(&mut writing, "edit", "read.txt")["isError"], true);
    assert_eq!(ask(&mut reading, "read", "read.txt")["isError"], false);
    assert_eq!(ask(&mut writing, "edit", "read.txt")["isError"], false);
    assert_eq!(ask(&mut writing, "edit", "unread.txt")["isError"], true, "only what was read");
    assert_eq!(fs::read_to_string(at("root/read.txt")).expect("a file"), "read.txt two\n");
}
