//! Two to four sessions on one root and one state folder: whoever made the changes, going back to a checkpoint makes the
//! tree exactly what it was when that was set, by a person or by a call of a model.
//!
//! Where the history has lost contents, each file is what it was then, or is left as it is and named.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

use serde_json::json;

use crate::{
    harness::process::Process,
    harness::program::{CHECK_OPENS, Outcome, memory_folder, program},
    harness::seeded_random::Random,
};

use super::{
    operation::{CHECKPOINTS, Operation},
    tree::{Node, Tree},
};

/// One step of a run. It does not depend on the tree, so that a list from which some are left out still is one.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A session makes a change, whose call may set a checkpoint.
    Change { session: usize, operation: Operation, checkpoint: Option<&'static str> },
    /// A person sets a checkpoint.
    Checkpoint(&'static str),
    /// Back to a checkpoint: by a session, or by a person.
    Back { session: Option<usize>, to: &'static str },
    /// The history loses one of so many contents, as when its size limit is reached.
    Forget { one_of: usize },
}

/// A list of steps, for so many sessions.
#[derive(Clone, Debug)]
pub(super) struct Run {
    sessions: usize,
    pub(super) steps: Vec<Step>,
}

impl Run {
    pub(super) fn new(seed: u64, count: usize, forgets: bool) -> Self {
        let mut random = Random(seed);
        let sessions = 2 + random.below(3);
        let operations = Operation::list(&mut random, count).into_iter();
        let steps = operations.map(|operation| {
            let name = *random.pick(CHECKPOINTS);
            match random.below(if forgets { 13 } else { 12 }) {
                12 => Step::Forget { one_of: 1 + random.below(3) },
                0 => Step::Checkpoint(name),
                1 => Step::Back { session: Some(random.below(sessions)).filter(|_| random.one_in(2)), to: name },
                chosen => Step::Change {
                    session: random.below(sessions),
                    operation,
                    checkpoint: (chosen < 4).then_some(name),
                },
            }
        });
        Self { sessions, steps: steps.collect() }
    }

    pub(super) fn with(&self, steps: Vec<Step>) -> Self {
        Self { steps, ..self.clone() }
    }
}

/// How often what happened.
#[derive(Default)]
pub(super) struct Counts {
    changes: u64,
    pub(super) exactly_back: u64,
    pub(super) left_alone: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: &Self) {
        self.changes += other.changes;
        self.exactly_back += other.exactly_back;
        self.left_alone += other.left_alone;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { changes, exactly_back, left_alone } = self;
        write!(f, "{changes} changes, {exactly_back} times exactly back, {left_alone} times with files left alone")
    }
}

/// Runs a command as a person does: whether it succeeded, and what it printed.
fn command(root: &Path, state: &Path, arguments: &[&str]) -> (bool, String) {
    let mut command = program(root);
    let ended = Outcome::of(command.envs([CHECK_OPENS]).env("ROOTBOUND_STATE_DIR", state).args(arguments));
    (ended.code == Some(0), ended.stdout + &ended.stderr)
}

/// The checkpoint that a session, or else the command, goes back to: its own first.
fn named<'t>([models, persons]: &'t [BTreeMap<&str, Tree>; 2], to: &str, is_command: bool) -> Option<&'t Tree> {
    let (models, persons) = (models.get(to), persons.get(to));
    if is_command { persons.or(models) } else { models.or(persons) }
}

/// Plays the steps in a new folder. The error says what differs.
pub(super) fn play(run: &Run) -> Result<Counts, String> {
    let folder = memory_folder();
    let (root, state) = (folder.path().join("root"), folder.path().join("state"));
    std::fs::create_dir(&root).expect("a folder");
    let options = ["--allow", "manage", "--allow", "patch", "--read-before-write", "off", "."];
    let mut servers: Vec<Process> = (0..run.sessions)
        .map(|_| {
            let mut server = Process::start_with(&[CHECK_OPENS], &root, &state, &options);
            server.initialize();
            server
        })
        .collect();
    // Those of the sessions, which have one name, and those of the command.
    let mut checkpoints: [BTreeMap<&str, Tree>; 2] = Default::default();
    let (mut counts, mut forgotten) = (Counts::default(), false);
    for (index, step) in run.steps.iter().enumerate() {
        let before = Tree::of(&root);
        match step {
            Step::Change { operation: Operation::UndoTo { .. }, .. } => {}
            Step::Change { session, operation, checkpoint } => {
                let (tool, mut arguments) = operation.call(&before);
                if let Some(name) = checkpoint {
                    arguments["checkpoint"] = json!(name);
                }
                let answer =
                    servers[*session].ask("tools/call", &json!({ "name": tool, "arguments": arguments }))["result"]
                        .take();
                let text = answer["content"][0]["text"].as_str().unwrap_or_default();
                let succeeded = answer["isError"] == false;
                if !succeeded && Tree::of(&root) != before {
                    return Err(format!("step {index}, {step:?}: refused, and the tree has changed: {answer}"));
                }
                counts.changes += u64::from(succeeded);
                if let Some(name) = checkpoint.filter(|_| succeeded && !text.contains("no checkpoint ")) {
                    checkpoints[0].insert(name, before);
                }
            }
            Step::Forget { one_of } => forgotten |= forget(&state, *one_of),
            Step::Checkpoint(name) => {
                let (succeeded, text) = command(&root, &state, &["history", "checkpoint", name]);
                assert!(succeeded, "{text}");
                checkpoints[1].insert(name, before);
            }
            Step::Back { session, to } => {
                let Some(then) = named(&checkpoints, to, session.is_none()) else { continue };
                let (succeeded, text) = match session {
                    Some(session) => {
                        let arguments = json!({ "to": to, "include_others": true });
                        let call = json!({ "name": "undo", "arguments": arguments });
                        let answer = servers[*session].ask("tools/call", &call)["result"].take();
                        let text = answer["content"][0]["text"].as_str().unwrap_or_default();
                        (answer["isError"] == false, text.to_owned())
                    }
                    None => command(&root, &state, &["history", "restore", "--to", to, "--include-others"]),
                };
                let now = Tree::of(&root);
                let failed = |why: &str| {
                    let (differs, was) = (now.differences(then), before.differences(then));
                    let whole = format!("it differs from the checkpoint in\n{differs}and did before in\n{was}");
                    Err(format!("step {index}, {step:?}: {why}; the answer:\n{text}\n{whole}"))
                };
                if forgotten {
                    match is_back_or_left_alone(then, &before, &now, succeeded, &text) {
                        Ok(true) => counts.left_alone += 1,
                        Ok(false) => counts.exactly_back += 1,
                        Err(why) => return failed(&why),
                    }
                    continue;
                }
                if !succeeded || now != *then {
                    return failed("it is not the tree of the checkpoint");
                }
                let (_, text) = command(&root, &state, &["history", "diff", to]);
                if named(&checkpoints, to, true) == Some(then) && text.trim() != "no difference" {
                    return failed(&format!("diff says {text}"));
                }
                counts.exactly_back += 1;
            }
        }
    }
    Ok(counts)
}

/// Removes one of so many of the contents that the history has; whether there was any.
fn forget(state: &Path, one_of: usize) -> bool {
    let Ok(files) = std::fs::read_dir(state.join("history")) else { return false };
    let mut objects: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    objects.retain(|path| path.file_name().expect("a name").len() == 32);
    objects.sort();
    for object in objects.iter().step_by(one_of) {
        std::fs::remove_file(object).expect("it is there");
    }
    !objects.is_empty()
}

/// Whether something was left alone; each file is what it was at the checkpoint, or what it was before and named.
fn is_back_or_left_alone(then: &Tree, before: &Tree, now: &Tree, succeeded: bool, text: &str) -> Result<bool, String> {
    if !succeeded {
        // The journal has no more of it: that is said, and nothing happens.
        let is_refusal = text.contains("no checkpoint called") && now == before;
        return if is_refusal { Ok(true) } else { Err("a refusal of another kind".to_owned()) };
    }
    let is_file = |tree: &Tree, path: &str| matches!(tree.0.get(path), Some(Node::File { .. }));
    let mut differing = 0;
    for path in now.changes_from(then).keys().filter(|path| is_file(now, path) || is_file(then, path)) {
        differing += 1;
        if now.0.get(path) != before.0.get(path) {
            return Err(format!("{path} is in a state in between"));
        }
        let is_named = text.lines().any(|line| {
            let named = line.strip_prefix("left alone: ").and_then(|line| line.split(" (").next());
            named.is_some_and(|named| path == named || path.starts_with(&format!("{named}/")))
        });
        if !is_named && !text.contains("more left alone") {
            return Err(format!("{path} is not named"));
        }
    }
    let headline = text.lines().next().unwrap_or_default();
    if differing > 0 && !headline.contains("left alone") {
        return Err("the headline says nothing of it".to_owned());
    }
    Ok(differing > 0)
}
