//! Runs of a scenario with a fault, and what they must leave.

use std::{
    fmt::Display,
    os::unix::process::CommandExt as _,
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use rustix::process::geteuid;
use serde_json::{Value, json};

use crate::{harness::process::Process, harness::program::program};

use super::{
    scenario::{SOMEBODY, Scenario, World},
    snapshot::Snapshot,
};

/// Servers at a time.
const THREADS: usize = 4;

/// A server that may end at any moment.
pub(super) struct Victim {
    process: Process,
}

impl Victim {
    pub(super) fn start(scenario: &Scenario, world: &World, fault: Option<&str>) -> Self {
        let mut command = program(&world.root());
        if let Some(folder) = &scenario.as_user {
            command = Command::new(folder.path().join("program"));
            command.current_dir(world.root()).env_clear();
            if geteuid().is_root() {
                command.uid(SOMEBODY).gid(SOMEBODY);
            }
        }
        command.arg("--state-dir").arg(world.state()).args(scenario.options).arg(".");
        if let Some(fault) = fault {
            command.env("_ROOTBOUND_FAULT", fault);
        }
        let mut victim = Self { process: Process::spawn(command) };
        let client = json!({ "name": "test", "version": "1" });
        victim.process.try_ask(
            "initialize",
            &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }),
        );
        victim
    }

    /// Whether a call succeeded, and the text of its answer.
    pub(super) fn call(&mut self, (tool, arguments): &(&str, Value)) -> Option<(bool, String)> {
        let answer = self.process.try_ask("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        Some((answer["result"]["isError"] == false, text))
    }

    /// The log until the server ends, which it does now.
    pub(super) fn end(mut self) -> String {
        self.process.end_input();
        self.process.exit().1
    }
}

/// What the tree holds before the first call of a scenario and after each.
pub(super) struct States {
    trees: Vec<Snapshot>,
    /// The system calls that change the disk.
    pub(super) points: Vec<String>,
}

impl States {
    pub(super) fn of(scenario: &Scenario) -> Self {
        let world = World::of(scenario);
        let mut trees = vec![Snapshot::of(&world.root())];
        let mut server = Victim::start(scenario, &world, Some("trace"));
        for call in &scenario.calls {
            let (succeeded, text) = server.call(call).expect("the server has not ended");
            assert!(succeeded, "{}: {call:?}: {text}", scenario.name);
            trees.push(Snapshot::of(&world.root()));
        }
        let log = server.end();
        let points = log.lines().filter_map(|line| line.strip_prefix("fault ")?.split_once(' '));
        Self { trees, points: points.map(|(_, name)| name.to_owned()).collect() }
    }

    /// Whether the call of this number is a write, of which half can be done.
    pub(super) fn is_write(&self, number: u64) -> bool {
        self.points.get(usize::try_from(number).expect("a number") - 1).is_none_or(|name| name == "write")
    }

    /// The tree after so many calls must be there, or that after the next one.
    fn check(
        &self,
        scenario: &Scenario,
        world: &World,
        answered: usize,
        next_too: bool,
        why: &dyn Display,
    ) -> Result<(), String> {
        let now = Snapshot::of(&world.root());
        let allowed = &self.trees[answered..(answered + 1 + usize::from(next_too)).min(self.trees.len())];
        let is = |tree: &Snapshot| now == *tree || scenario.may_leave && now.clone().without_leftovers(tree) == *tree;
        if allowed.iter().any(is) {
            return Ok(());
        }
        let differences: Vec<String> = allowed.iter().map(|tree| now.differences(tree)).collect();
        Err(format!(
            "{}, {answered} calls answered, {why}: the tree before the next call differs in\n{}",
            scenario.name,
            differences.join("that after it in\n"),
        ))
    }
}

/// Runs with the fault at each number, until one meets none. Returns how many met it.
#[track_caller]
pub(super) fn each(run: impl Fn(u64) -> Result<bool, String> + Sync) -> u64 {
    let (next, end) = (AtomicU64::new(1), AtomicU64::new(u64::MAX));
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if number >= end.load(Ordering::SeqCst) {
                        break;
                    }
                    match run(number) {
                        Ok(true) => {}
                        Ok(false) => {
                            end.fetch_min(number, Ordering::SeqCst);
                        }
                        Err(failure) => failures.lock().expect("no panic").push(failure),
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures[..failures.len().min(6)].join("\n"));
    end.load(Ordering::SeqCst) - 1
}

/// The fault that a log names.
pub(super) fn met(log: &str) -> Option<&str> {
    log.lines().find(|line| line.starts_with("fault "))
}

/// The server ends at a call, and another one is started. Whether the fault was met.
pub(super) fn ends_at(scenario: &Scenario, states: &States, fault: &str) -> Result<bool, String> {
    let world = World::of(scenario);
    let mut server = Victim::start(scenario, &world, Some(fault));
    let answered = scenario.calls.iter().take_while(|call| server.call(call).is_some()).count();
    let log = server.end();
    let Some(point) = met(&log) else { return Ok(false) };
    starts_again(scenario, &world);
    states.check(scenario, &world, answered, true, &format_args!("{fault} at {point}"))?;
    Ok(true)
}

/// As [`ends_at`], and the next server ends at call `second` of its own. Whether that one met its fault.
pub(super) fn ends_twice(scenario: &Scenario, states: &States, fault: &str, second: u64) -> Result<bool, String> {
    let world = World::of(scenario);
    let mut server = Victim::start(scenario, &world, Some(fault));
    let answered = scenario.calls.iter().take_while(|call| server.call(call).is_some()).count();
    server.end();
    let again = format!("kill-before:{second}");
    let mut server = Victim::start(scenario, &world, Some(&again));
    let _ = server.call(&look());
    let log = server.end();
    starts_again(scenario, &world);
    states.check(scenario, &world, answered, true, &format_args!("{fault}, then {again}, {:?}", met(&log)))?;
    Ok(met(&log).is_some())
}

pub(super) fn look() -> (&'static str, Value) {
    ("read", json!({ "path": "dir/c.txt" }))
}

pub(super) fn starts_again(scenario: &Scenario, world: &World) {
    let mut server = Victim::start(scenario, world, None);
    let (succeeded, text) = server.call(&look()).expect("the server has not ended");
    assert!(succeeded, "{}: the first call of the next server: {text}", scenario.name);
    server.end();
}

/// A call of the system fails, as often as `fault` says: each answer is an error and the tree is as it was, or the
/// change is made. What failed is sent again. Whether the fault was met.
pub(super) fn fails_at(scenario: &Scenario, states: &States, fault: &str) -> Result<bool, String> {
    const TRIES: usize = 4;
    let world = World::of(scenario);
    let mut server = Victim::start(scenario, &world, Some(fault));
    let mut done = 0;
    let mut last = String::new();
    'calls: for call in &scenario.calls {
        for _ in 0..TRIES {
            let Some((succeeded, text)) = server.call(call) else { break 'calls };
            done += usize::from(succeeded);
            let why = format!("{fault}, {} answered {text:.300}", call.0);
            // What was left behind goes with a later call, which may meet the same error.
            let mut checked = Ok(());
            for _ in 0..5 * TRIES {
                let (reads, text) = server.call(&look()).expect("the server has not ended");
                checked = states.check(scenario, &world, done, false, &why);
                if checked.is_ok() && reads {
                    break;
                }
                last = text;
            }
            checked?;
            if succeeded {
                continue 'calls;
            }
            last = text;
        }
        break;
    }
    let log = server.end();
    let Some(point) = met(&log) else { return Ok(false) };
    starts_again(scenario, &world);
    states.check(scenario, &world, done, false, &format_args!("{fault} at {point}; {last}"))?;
    Ok(true)
}

/// The server ends at a call, or its calls fail, while it appends: what is there is what was, and then a beginning of what
/// is appended, which the answer counts. Whether the fault was met.
pub(super) fn appends_at(scenario: &Scenario, fault: &str) -> Result<bool, String> {
    const BEFORE: &str = "one\ntwo of b.txt\nthree\n";
    const TAIL: &str = "more lines\n";
    let world = World::of(scenario);
    let mut server = Victim::start(scenario, &world, Some(fault));
    let answer = server.call(&("write", json!({ "path": "b.txt", "mode": "append", "content": TAIL })));
    let log = server.end();
    let now = std::fs::read_to_string(world.root().join("b.txt")).expect("a file");
    let there = now.strip_prefix(BEFORE).filter(|there| TAIL.starts_with(there));
    let there = there.ok_or_else(|| format!("{fault}: {now:?}, {answer:?}"))?;
    let is_right = match &answer {
        None => true,
        Some((true, _)) => there == TAIL,
        Some((false, text)) if there.is_empty() => !text.contains("are at its end"),
        Some((false, text)) => text.contains(&format!("the first {} bytes of what was to be appended", there.len())),
    };
    if is_right { Ok(met(&log).is_some()) } else { Err(format!("{fault}: {there:?} was added: {answer:?}")) }
}
