//! The operations: how they are chosen, what call each one is, and what it makes of the model.

use serde_json::{Value, json};

use crate::random::Random;

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
    Delete {
        path: String,
        recursive: bool,
    },
    MakeDirectory {
        path: String,
    },
    Undo,
    Redo,
}

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

fn text(line: u32) -> String {
    format!("line {line:06};\n")
}

impl Operation {
    /// Operations, each with lines that no other one has.
    pub(super) fn list(random: &mut Random, count: usize) -> Vec<Self> {
        let lines = (0..u32::try_from(count).expect("a small number")).map(|number| number * 10);
        lines.map(|line| if line < 100 { Self::write(random, line) } else { Self::random(random, line) }).collect()
    }

    fn write(random: &mut Random, line: u32) -> Self {
        Self::Write { path: path(random), mode: "overwrite", line }
    }

    fn random(random: &mut Random, line: u32) -> Self {
        match random.below(20) {
            0..=3 => {
                let mode = *random.pick(&["overwrite", "overwrite", "append", "create"]);
                Self::Write { path: path(random), mode, line }
            }
            4..=6 => Self::Edit { path: path(random), at: random.below(10), line },
            7 => Self::EditMissing { path: path(random) },
            8..=9 => Self::Move { from: path(random), to: path(random), overwrite: random.one_in(2) },
            10..=11 => Self::Copy { from: path(random), to: path(random), overwrite: random.one_in(2) },
            12 => Self::Delete { path: path(random), recursive: random.one_in(2) },
            13 => Self::MakeDirectory { path: path(random) },
            14..=17 => Self::Undo,
            _ => Self::Redo,
        }
    }

    /// The tool and its arguments.
    pub(super) fn call(&self, tree: &Tree) -> (&'static str, Value) {
        match self {
            Self::Write { path, mode, line } => {
                ("write", json!({ "path": path, "mode": mode, "content": content(mode, *line) }))
            }
            Self::Edit { path, at, line } => {
                let old = line_at(tree, path, *at).unwrap_or("a text that no file has;\n");
                ("edit", json!({ "path": path, "old_string": old, "new_string": text(*line) }))
            }
            Self::EditMissing { path } => {
                ("edit", json!({ "path": path, "old_string": "a text that no file has;\n", "new_string": "x" }))
            }
            Self::Move { from, to, overwrite } => {
                ("move", json!({ "source": from, "destination": to, "overwrite": overwrite }))
            }
            Self::Copy { from, to, overwrite } => {
                ("copy", json!({ "source": from, "destination": to, "overwrite": overwrite }))
            }
            Self::Delete { path, recursive } => ("delete", json!({ "path": path, "recursive": recursive })),
            Self::MakeDirectory { path } => ("mkdir", json!({ "path": path })),
            Self::Undo => ("undo", json!({})),
            Self::Redo => ("undo", json!({ "to": "redo" })),
        }
    }

    /// What may come of it, but for [`Self::Undo`] and [`Self::Redo`].
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
            Self::EditMissing { .. } | Self::Undo | Self::Redo => vec![None],
            Self::Move { from, to, overwrite } => {
                let moved = |from: String| copied(tree, &from, to, *overwrite).map(|tree| tree.without(&from));
                by_ends(tree, from).map(moved).collect()
            }
            Self::Copy { from, to, overwrite } => {
                by_ends(tree, from).map(|from| copied(tree, &from, to, *overwrite)).collect()
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

/// With what is at `from` at `to`, or nothing where that is refused.
fn copied(tree: &Tree, from: &str, to: &str, overwrite: bool) -> Option<Tree> {
    let is_there = tree.0.contains_key(from);
    let is_free =
        !tree.0.contains_key(to) || overwrite && from != to && tree.file(to).is_some() && tree.file(from).is_some();
    let is_inside = to.starts_with(&format!("{from}/")) || from == to;
    (is_there && is_free && !is_inside && tree.takes(to)).then(|| tree.with_copy(from, to))
}
