//! The operations: how they are chosen, what call each one is, and what it makes of the model.

use serde_json::{Value, json};

use crate::harness::seeded_random::Random;

use super::tree::Tree;

/// One change that is asked for. It does not depend on the tree, so that a list from which some are left out still is one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Operation {
    Write {
        path: String,
        mode: &'static str,
        line: u32,
    },
    /// The line of this number, counted round and round, becomes another.
    Edit {
        path: String,
        at: usize,
        line: u32,
    },
    /// A text that is not there.
    EditMissing {
        path: String,
    },
    Move {
        from: String,
        to: String,
        overwrite: bool,
    },
    Copy {
        from: String,
        to: String,
        overwrite: bool,
    },
    /// Of several entries into a directory.
    Several {
        tool: &'static str,
        from: Vec<String>,
        into: String,
        overwrite: bool,
    },
    Delete {
        path: String,
        recursive: bool,
    },
    MakeDirectory {
        path: String,
    },
    /// As [`Self::Edit`], of several files in one call.
    EditMany {
        edits: Vec<(String, usize, u32)>,
    },
    Patch {
        steps: Vec<PatchStep>,
    },
    Undo,
    Redo,
    /// Back to the start of the session, or to the checkpoint of this name.
    UndoTo {
        to: &'static str,
    },
}

/// A file of a patch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PatchStep {
    Add { path: String, line: u32 },
    Delete { path: String },
    Change { path: String, at: usize, line: u32, to: Option<String> },
}

/// Names of checkpoints, which are set again and again.
pub(super) const CHECKPOINTS: &[&str] = &["one", "two"];

/// What may come of an operation: refused, with nothing changed, or this tree.
pub(super) type Outcomes = Vec<Option<Tree>>;

/// Few names, so that operations meet.
fn path(random: &mut Random) -> String {
    let mut path = String::new();
    for _ in 0..random.below(3) {
        path.push_str(random.pick::<&str>(&["a", "b", "c"]));
        path.push('/');
    }
    path.push_str(random.pick::<&str>(&["x", "y", "z", "a", "b"]));
    path
}

const MISSING: &str = "a text that no file has;\n";

fn text(line: u32) -> String {
    format!("line {line:06};\n")
}

impl Operation {
    /// Operations, each with lines that no other one has.
    pub(super) fn list(random: &mut Random, count: usize) -> Vec<Self> {
        let lines = (0..u32::try_from(count).expect("a small number")).map(|number| number * 10);
        lines.map(|line| if line < 200 { Self::write(random, line) } else { Self::random(random, line) }).collect()
    }

    fn write(random: &mut Random, line: u32) -> Self {
        Self::Write { path: path(random), mode: "overwrite", line }
    }

    fn random(random: &mut Random, line: u32) -> Self {
        match random.below(29) {
            20..=22 => {
                let edits =
                    (0..2 + random.below(3)).map(|at| (path(random), at, line + u32::try_from(at).expect("few")));
                let mut edits: Vec<_> = edits.collect();
                edits.sort();
                edits.dedup_by(|one, other| one.0 == other.0);
                Self::EditMany { edits }
            }
            23..=26 => Self::patch(random, line),
            27 => Self::UndoTo { to: random.pick::<&str>(&["session", "one", "two", "one", "two"]) },
            0..=3 => {
                let mode = *random.pick(&["overwrite", "overwrite", "append", "create"]);
                Self::Write { path: path(random), mode, line }
            }
            4..=6 => Self::Edit { path: path(random), at: random.below(10), line },
            7 => Self::EditMissing { path: path(random) },
            8..=9 if line.is_multiple_of(20) => Self::several(random, "move"),
            8..=9 => Self::Move { from: path(random), to: path(random), overwrite: random.one_in(2) },
            10..=11 if line.is_multiple_of(20) => Self::several(random, "copy"),
            10..=11 => Self::Copy { from: path(random), to: path(random), overwrite: random.one_in(2) },
            12 => Self::Delete { path: path(random), recursive: random.one_in(2) },
            13 => Self::MakeDirectory { path: path(random) },
            14..=17 => Self::Undo,
            _ => Self::Redo,
        }
    }

    fn several(random: &mut Random, tool: &'static str) -> Self {
        // As many numbers as a move of one takes, so that the operations that follow are the same.
        let (first, into, overwrite) = (path(random), path(random), random.one_in(2));
        let mut own = Random(random.0);
        let more = (0..=own.below(3)).map(|_| path(&mut own)).collect::<Vec<_>>();
        Self::Several { tool, from: [vec![first], more].concat(), into, overwrite }
    }

    fn patch(random: &mut Random, line: u32) -> Self {
        let mut paths: Vec<String> = (0..6).map(|_| path(random)).collect();
        paths.sort();
        paths.dedup();
        let mut steps = Vec::new();
        for line in line..line + 2 + u32::try_from(random.below(2)).expect("few") {
            let Some(path) = paths.pop() else { break };
            steps.push(match random.below(4) {
                0 => PatchStep::Add { path, line },
                1 => PatchStep::Delete { path },
                2 => PatchStep::Change { path, at: random.below(10), line, to: None },
                _ => PatchStep::Change { path, at: random.below(10), line, to: paths.pop() },
            });
        }
        Self::Patch { steps }
    }

    /// The tool and its arguments.
    pub(super) fn call(&self, tree: &Tree) -> (&'static str, Value) {
        match self {
            Self::Write { path, mode, line } => {
                ("write", json!({ "path": path, "mode": mode, "content": content(mode, *line) }))
            }
            Self::Edit { path, at, line } => {
                let old = line_at(tree, path, *at).unwrap_or(MISSING);
                ("edit", json!({ "path": path, "old_string": old, "new_string": text(*line) }))
            }
            Self::EditMissing { path } => ("edit", json!({ "path": path, "old_string": MISSING, "new_string": "x" })),
            Self::Move { from, to, overwrite } => {
                ("move", json!({ "source": from, "destination": to, "overwrite": overwrite }))
            }
            Self::Copy { from, to, overwrite } => {
                ("copy", json!({ "source": from, "destination": to, "overwrite": overwrite }))
            }
            Self::Several { tool, from, into, overwrite } => {
                (tool, json!({ "sources": from, "destination": format!("{into}/"), "overwrite": overwrite }))
            }
            Self::Delete { path, recursive } => ("delete", json!({ "path": path, "recursive": recursive })),
            Self::MakeDirectory { path } => ("mkdir", json!({ "path": path })),
            Self::EditMany { edits } => {
                let edit = |(path, at, line): &(String, usize, u32)| {
                    let old = line_at(tree, path, *at).unwrap_or(MISSING);
                    json!({ "path": path, "old_string": old, "new_string": text(*line) })
                };
                ("edit", json!({ "edits": edits.iter().map(edit).collect::<Vec<_>>() }))
            }
            Self::Patch { steps } => {
                let steps: String = steps.iter().map(|step| step.text(tree)).collect();
                ("apply_patch", json!({ "patch": format!("*** Begin Patch\n{steps}*** End Patch\n") }))
            }
            Self::UndoTo { to } => ("undo", json!({ "to": to })),
            Self::Undo => ("undo", json!({})),
            Self::Redo => ("undo", json!({ "to": "redo" })),
        }
    }

    /// What may come of it, but for the kinds of undo.
    pub(super) fn outcomes(&self, tree: &Tree) -> Outcomes {
        match self {
            Self::Write { path, mode, line } => {
                let old = tree.file(path).map(|(content, _)| content);
                let may = tree.takes(path) && !tree.is_directory(path);
                let new = match (*mode, old) {
                    ("create", Some(_)) => None,
                    ("append", Some(old)) => Some(format!("{old}{}", content(mode, *line))),
                    _ => Some(content(mode, *line)),
                };
                vec![new.filter(|_| may).map(|new| tree.with_file(path, &new))]
            }
            Self::Edit { path, at, line } => vec![
                line_at(tree, path, *at)
                    .and_then(|old| Some(tree.with_file(path, &tree.file(path)?.0.replacen(old, &text(*line), 1)))),
            ],
            Self::EditMany { edits } => {
                let edited = |tree: Tree, (path, at, line): &(String, usize, u32)| {
                    let new = tree.file(path)?.0.replacen(line_at(&tree, path, *at)?, &text(*line), 1);
                    Some(tree.with_file(path, &new))
                };
                vec![edits.iter().try_fold(tree.clone(), edited)]
            }
            Self::Patch { steps } => {
                let made = steps.iter().try_fold(tree.clone(), |tree, step| step.applied(&tree));
                // A file in the place of a directory, or below a file, that goes in the same patch.
                let alone = steps.iter().try_fold(tree.clone(), |made, step| step.applied(tree).map(|_| made));
                if alone.is_some() == made.is_some() { vec![made] } else { vec![made, None] }
            }
            Self::EditMissing { .. } | Self::Undo | Self::Redo | Self::UndoTo { .. } => vec![None],
            Self::Move { from, to, overwrite } => {
                let moved = |from: String| copied(tree, &from, to, *overwrite).map(|tree| tree.without(&from));
                by_ends(tree, from).map(moved).collect()
            }
            Self::Copy { from, to, overwrite } => {
                by_ends(tree, from).map(|from| copied(tree, &from, to, *overwrite)).collect()
            }
            Self::Several { tool, from, into, overwrite } => {
                let mut each: Vec<Vec<String>> = vec![Vec::new()];
                for from in from {
                    let ways: Vec<String> = by_ends(tree, from).collect();
                    each = each
                        .iter()
                        .flat_map(|all| ways.iter().map(|one| [&all[..], std::slice::from_ref(one)].concat()))
                        .collect();
                }
                each.iter().map(|from| several(tree, *tool == "move", from, into, *overwrite)).collect()
            }
            Self::Delete { path, recursive } => {
                let is_refused = |path: &str| {
                    !tree.0.contains_key(path)
                        || tree.is_directory(path) && !recursive && !tree.is_empty_directory(path)
                };
                by_ends(tree, path).map(|path| Some(tree.without(&path)).filter(|_| !is_refused(&path))).collect()
            }
            Self::MakeDirectory { path } => {
                vec![Some(tree.with_directory(path)).filter(|_| tree.takes(path) && tree.file(path).is_none())]
            }
        }
    }
}

impl PatchStep {
    fn text(&self, tree: &Tree) -> String {
        match self {
            Self::Add { path, line } => format!("*** Add File: {path}\n+{}", text(*line)),
            // By its end the server would find another one.
            Self::Delete { path } if !tree.0.contains_key(path) => format!("*** Delete File: no/such/{path}\n"),
            Self::Delete { path } => format!("*** Delete File: {path}\n"),
            Self::Change { path, at, line, to } => {
                let to = to.as_ref().map_or_else(String::new, |to| format!("*** Move to: {to}\n"));
                let old = line_at(tree, path, *at).unwrap_or(MISSING);
                format!("*** Update File: {path}\n{to}@@\n-{old}+{}", text(*line))
            }
        }
    }

    fn applied(&self, tree: &Tree) -> Option<Tree> {
        match self {
            Self::Add { path, line } => {
                let is_free = !tree.0.contains_key(path) && tree.takes(path);
                is_free.then(|| tree.with_file(path, &text(*line)))
            }
            Self::Delete { path } => tree.file(path).is_some().then(|| tree.without(path)),
            Self::Change { path, at, line, to } => {
                let new = tree.file(path)?.0.replacen(line_at(tree, path, *at)?, &text(*line), 1);
                let changed = tree.with_file(path, &new);
                match to {
                    Some(to) => copied(&changed, path, to, false).map(|tree| tree.without(path)),
                    None => Some(changed),
                }
            }
        }
    }
}

/// Three lines, or one that is appended.
fn content(mode: &str, line: u32) -> String {
    (line..line + if mode == "append" { 1 } else { 3 }).map(text).collect()
}

fn line_at<'t>(tree: &'t Tree, path: &str, at: usize) -> Option<&'t str> {
    let lines: Vec<&str> = tree.file(path)?.0.split_inclusive('\n').collect();
    Some(lines[at % lines.len()])
}

/// The path itself; where nothing is there, also the longer ones that end in it, as the server may take one of them.
fn by_ends<'t>(tree: &'t Tree, path: &str) -> impl Iterator<Item = String> + use<'t> {
    let end = format!("/{path}");
    let is_there = tree.0.contains_key(path);
    let longer = tree.0.keys().filter(move |other| !is_there && other.ends_with(&end)).cloned();
    std::iter::once(path.to_owned()).chain(longer)
}

/// With all of these in a directory, or nothing where that is refused.
fn several(tree: &Tree, moves: bool, from: &[String], into: &str, overwrite: bool) -> Option<Tree> {
    let mut from = from.to_vec();
    from.sort();
    from.dedup();
    let is_inside = |one: &String| from.iter().any(|other| one.starts_with(&format!("{other}/")));
    let name = |one: &str| one.rsplit('/').next().expect("a name").to_owned();
    let names: std::collections::BTreeSet<String> = from.iter().map(|one| name(one)).collect();
    if from.iter().any(is_inside) || names.len() < from.len() || tree.file(into).is_some() {
        return None;
    }
    let mut after = tree.clone();
    for one in &from {
        let to = format!("{into}/{}", name(one));
        copied(tree, one, &to, overwrite)?;
        after = after.with_copy(one, &to);
    }
    Some(if moves { from.iter().fold(after, |after, one| after.without(one)) } else { after })
}

/// With what is at `from` at `to`, or nothing where that is refused.
fn copied(tree: &Tree, from: &str, to: &str, overwrite: bool) -> Option<Tree> {
    let is_there = tree.0.contains_key(from);
    let is_free =
        !tree.0.contains_key(to) || overwrite && from != to && tree.file(to).is_some() && tree.file(from).is_some();
    let is_inside = to.starts_with(&format!("{from}/")) || from == to;
    (is_there && is_free && !is_inside && tree.takes(to)).then(|| tree.with_copy(from, to))
}
