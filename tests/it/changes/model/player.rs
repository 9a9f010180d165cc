//! Plays operations on a server and on the model, and compares after each.

use std::{collections::BTreeMap, fmt, ops::Range};

use serde_json::json;

use crate::{
    harness::process::Process,
    harness::program::{CHECK_OPENS, memory_folder},
};

use super::{
    operation::{CHECKPOINTS, Operation, Outcomes},
    tree::{Node, Tree},
};

/// How often what happened.
#[derive(Default)]
pub(super) struct Counts {
    made: u64,
    refused: u64,
    undone: u64,
}

impl Counts {
    pub(super) fn made(&self) -> u64 {
        self.made + self.undone
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.made += other.made;
        self.refused += other.refused;
        self.undone += other.undone;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { made, refused, undone } = self;
        write!(f, "{made} changes made, {undone} undone or made again, {refused} refused; equal after each")
    }
}

/// A change on the list of the session.
#[derive(Clone)]
struct Change {
    before: Tree,
    after: Tree,
}

impl Change {
    /// The tree once this is reverted; nothing where something else is there by now. Of the directories that the change
    /// has made, the outermost `kept` stay.
    fn reverted(&self, now: &Tree, kept: usize) -> Option<Tree> {
        let mut tree = now.clone();
        let mut made = Vec::new();
        for (path, left) in self.after.changes_from(&self.before) {
            let is_left = now.0.get(&path) == left.as_ref();
            match self.before.0.get(&path) {
                // Another change may have made it meanwhile.
                Some(Node::Directory) if is_left || now.is_directory(&path) => tree = tree.with(&path, Node::Directory),
                Some(former) if is_left => tree = tree.with(&path, former.clone()),
                None if left == Some(Node::Directory) => made.push(path),
                None if is_left => tree = tree.without(&path),
                // What is gone already of a directory that the change has made is what is wanted.
                None if !now.0.contains_key(&path) && made.iter().any(|top| path.starts_with(&format!("{top}/"))) => {}
                Some(Node::File { content: before, .. }) => {
                    let (Some(Node::File { content: left, .. }), Some((now, bits))) = (left, now.file(&path)) else {
                        return None;
                    };
                    let content = around(&left, now, before)?;
                    tree = tree.with(&path, Node::File { content, mode: bits });
                }
                _ => return None,
            }
        }
        for path in made.iter().skip(kept).rev() {
            // What was put into it since keeps it.
            if tree.is_empty_directory(path) {
                tree = tree.without(path);
            }
        }
        tree.is_whole().then_some(tree)
    }

    fn reversed(&self) -> Self {
        Self { before: self.after.clone(), after: self.before.clone() }
    }

    /// Whether a file took the place of another one and left its own.
    fn is_move_over(&self) -> bool {
        let changes = self.after.changes_from(&self.before);
        let is_replaced = |path: &String| self.before.file(path).is_some() && self.after.file(path).is_some();
        changes.keys().any(is_replaced) && changes.values().any(Option::is_none)
    }

    /// How many directories it has made.
    fn directories(&self) -> usize {
        self.after.changes_from(&self.before).values().filter(|node| **node == Some(Node::Directory)).count()
    }
}

/// `base` with the lines that `one` has changed and those that `other` has; nothing where these meet.
fn around(base: &str, one: &str, other: &str) -> Option<String> {
    let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<&str>>();
    let (base, one, other) = (lines(base), lines(one), lines(other));
    let (by_one, by_other) = (changes(&base, &one), changes(&base, &other));
    let meets = |a: &Hunk, b: &Hunk| a.0.start <= b.0.end && b.0.start <= a.0.end;
    if by_one.iter().any(|a| by_other.iter().any(|b| meets(a, b))) {
        return None;
    }
    let mut all: Vec<(Hunk, &[&str])> = by_one.into_iter().map(|hunk| (hunk, &one[..])).collect();
    all.extend(by_other.into_iter().map(|hunk| (hunk, &other[..])));
    all.sort_by_key(|((was, _), _)| was.start);
    let (mut text, mut at) = (String::new(), 0);
    for ((was, is), lines) in all {
        text.extend(base[at..was.start].iter().chain(&lines[is]).copied());
        at = was.end;
    }
    text.extend(base[at..].iter().copied());
    Some(text)
}

/// Lines of the one text, and the lines in their place.
type Hunk = (Range<usize>, Range<usize>);

/// What differs, by a longest common subsequence of all lines.
fn changes(old: &[&str], new: &[&str]) -> Vec<Hunk> {
    let mut longest = vec![vec![0; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i][j] =
                if old[i] == new[j] { longest[i + 1][j + 1] + 1 } else { longest[i + 1][j].max(longest[i][j + 1]) };
        }
    }
    let (mut hunks, mut i, mut j) = (Vec::<Hunk>::new(), 0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let (was, is) = (i, j);
        while i < old.len() || j < new.len() {
            if i < old.len() && j < new.len() && old[i] == new[j] {
                break;
            }
            if j == new.len() || (i < old.len() && longest[i + 1][j] >= longest[i][j + 1]) {
                i += 1;
            } else {
                j += 1;
            }
        }
        hunks.push((was..i, is..j));
    }
    hunks
}

/// The model of one session.
#[derive(Default)]
struct Session {
    tree: Tree,
    changes: Vec<Change>,
    undone: Vec<Change>,
    has_restored_directory: bool,
    checkpoints: BTreeMap<&'static str, Tree>,
}

impl Session {
    fn outcomes(&self, operation: &Operation) -> Outcomes {
        let (change, may_refuse) = match operation {
            // Of the content that was left no more may be known.
            Operation::Undo => (self.changes.last(), self.changes.last().is_some_and(|last| last.after != self.tree)),
            // Whether a later change is in the way depends on more than paths: a moved directory may hold more by now.
            Operation::Redo => {
                let last = self.undone.last();
                (last, last.is_some_and(|last| last.after != self.tree || last.reversed().is_move_over()))
            }
            Operation::UndoTo { to } => {
                let start = Tree::default();
                let then = if *to == "session" { Some(&start) } else { self.checkpoints.get(to) };
                // Where nothing has changed since, it says so.
                return if then == Some(&self.tree) { vec![then.cloned(), None] } else { vec![then.cloned()] };
            }
            other => return other.outcomes(&self.tree),
        };
        let mut outcomes = vec![change.and_then(|change| change.reverted(&self.tree, 0))];
        if let Some(change) = change.filter(|change| self.has_restored_directory && change.directories() > 0) {
            // It is another one than the change has made, and stays.
            outcomes.extend((1..=change.directories()).map(|kept| change.reverted(&self.tree, kept)));
            outcomes.push(None);
        }
        if may_refuse {
            outcomes.push(None);
        }
        outcomes
    }

    fn made(&mut self, operation: &Operation, after: Tree) {
        let before = std::mem::replace(&mut self.tree, after.clone());
        let change = Change { before, after };
        match operation {
            Operation::Undo => {
                self.changes.pop();
                self.has_restored_directory |= change.directories() > 0;
                self.undone.push(change);
            }
            Operation::Redo => {
                self.undone.pop();
                self.has_restored_directory |= change.directories() > 0;
                self.changes.push(change);
            }
            _ if change.before == change.after => {}
            _ => self.changes.push(change),
        }
    }
}

/// Plays them in a new folder. The error says what differs.
pub(super) fn play(operations: &[Operation]) -> Result<Counts, String> {
    let folder = memory_folder();
    let (root, state) = (folder.path().join("root"), folder.path().join("state"));
    std::fs::create_dir(&root).expect("a folder");
    let options = ["--allow", "manage", "--allow", "patch", "--read-before-write", "off", "."];
    let mut server = Process::start_with(&[CHECK_OPENS], &root, &state, &options);
    server.initialize();
    let mut session = Session::default();
    let mut counts = Counts::default();
    for (index, operation) in operations.iter().enumerate() {
        let outcomes = session.outcomes(operation);
        let (tool, mut arguments) = operation.call(&session.tree);
        let checkpoint = CHECKPOINTS.get(index % 8).filter(|_| tool != "undo");
        if let Some(checkpoint) = checkpoint {
            arguments["checkpoint"] = json!(checkpoint);
        }
        let answer = server.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        let succeeded = answer["result"]["isError"] == false;
        let now = Tree::of(&root);
        let as_expected = outcomes.iter().any(|outcome| match outcome {
            // A directory that was made again may stay, empty.
            Some(tree) if matches!(operation, Operation::UndoTo { .. }) => {
                succeeded && now.without_empty_directories_but_of(tree) == *tree
            }
            Some(tree) => succeeded && now == *tree,
            None => !succeeded && now == session.tree,
        });
        if !as_expected {
            let expected = match outcomes.iter().flatten().next() {
                Some(tree) => format!("a change; the disk differs from it in\n{}", now.differences(tree)),
                None => format!("a refusal; the disk has changed:\n{}", now.differences(&session.tree)),
            };
            return Err(format!(
                "operation {index}, {operation:?}: {tool} {arguments}\nanswer: {answer}\n{text}\nexpected: {expected}"
            ));
        }
        let is_undo = tool == "undo";
        *match (succeeded, is_undo) {
            (true, true) => &mut counts.undone,
            (true, false) => &mut counts.made,
            (false, _) => &mut counts.refused,
        } += 1;
        if succeeded {
            // A call that changes nothing makes none, and says so.
            if let Some(checkpoint) = checkpoint.filter(|_| !text.contains("no checkpoint ")) {
                session.checkpoints.insert(checkpoint, session.tree.clone());
            }
            session.made(operation, now);
        }
    }
    Ok(counts)
}
