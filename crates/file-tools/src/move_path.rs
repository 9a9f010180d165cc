//! `move`: give a file or directory another path; never over something unless asked to.

use std::fmt::Write as _;

use change_set::{Approval, EntryState, MovedTree, Purpose, Tree, TreeGuard, WritablePath};
use confined_fs::{Revision, WorkspacePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::session::{Cost, RootBytes};

use super::{
    Answer, CallContext, Change, ExistingKind, Fingerprint, Group, Plan, Preview, Spec, Tool, ToolError,
    answer::{count, noted},
    commit::{self, ChangeStep, CommittedFiles, NewState, Undoable},
    destination::{self, Destination, Occupant},
};

pub(crate) struct Move;

/// Arguments of `move`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The file, link or directory to move.
    source: String,
    /// Its new path, name included; missing parent directories are made.
    destination: String,
    /// Replace a file at the destination, which must have been read. Default: false.
    overwrite: Option<bool>,
}

/// The complete result as data.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Where it was.
    source: String,
    /// Where it is.
    destination: String,
    /// Files that were moved.
    files: usize,
    /// Whether a file was replaced.
    replaced: bool,
    /// Notes on it.
    notes: Vec<String>,
}

impl Tool for Move {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "move",
        title: "Move or rename",
        purpose: "renames",
        description: "Move or rename a file, link or directory. Nothing is replaced unless overwrite=true, and then \
            only a file. References to the old path elsewhere are not changed.",
        group: Group::Manage,
        aliases: &[destination::MOVE_ALIASES],
        ..Spec::CHANGES
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let source = cx.existing(&args.source, ExistingKind::File)?;
        let from = cx.workspace.writable_entry(&source)?;
        if cx.workspace.entry_stat(&from)?.is_none() {
            return Err(ToolError::not_found(&cx.workspace, &source));
        }
        let overwrite = args.overwrite.unwrap_or(false);
        let to = match destination::respelled(cx, &from, &args.destination)? {
            Some(to) => to,
            None => destination::resolve(cx, &source, &args.destination, overwrite)?,
        };
        destination::check_apart(from.path(), to.target.path())?;
        let tree = cx.workspace.tree(&from, Purpose::Move(&to.target))?;
        to.check_replaces(&tree)?;
        Ok(Plan::Change(Box::new(PlannedMove { source, from, tree, to })))
    }
}

struct PlannedMove {
    source: WorkspacePath,
    from: WritablePath,
    tree: Tree,
    to: Destination,
}

impl Change for PlannedMove {
    fn fingerprint(&self) -> Fingerprint {
        self.to.fingerprint(self.from.path(), &self.tree)
    }

    fn preview(&self) -> Preview {
        let what = if self.tree.is_directory() {
            format!(" with {}", count(self.tree.files(), "file"))
        } else {
            String::new()
        };
        let summary = format!("Move {}{what} to {}{}", self.source, self.to.path, self.to.replacing());
        Preview { summary, diff: String::new(), destructive: self.to.occupant != Occupant::Nothing }
    }

    fn cost(&self) -> Cost {
        let to = &self.to.target;
        let bytes = self.tree.bytes();
        let (left, came) = (self.from.path().root(), to.path().root());
        // Within one root a move makes nothing larger: the two cancel out.
        let change = RootBytes::of(left, bytes, 0).and(RootBytes::of(came, self.to.bytes, bytes));
        Cost { files: to.missing_above(), bytes: 0, change }
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        let moved = match self.to.occupant {
            Occupant::Nothing => self.move_tree(cx, approval)?,
            Occupant::File(expected) => self.move_over(cx, expected, approval)?,
        };
        Ok(self.answer(cx, moved))
    }
}

struct Moved {
    tree: Tree,
    /// Whether it was copied and its old place emptied.
    copied: bool,
    notes: Vec<String>,
}

impl PlannedMove {
    /// Over a file, as one change of both paths, whole also after a kill.
    fn move_over(&self, cx: &CallContext, expected: Option<Revision>, approval: Approval) -> Result<Moved, ToolError> {
        // Without a lock: the transaction compares both entries once more under its own.
        let tree = self.unchanged(cx)?;
        let base = commit::state_now(cx, &self.from)?.ok_or_else(|| {
            ToolError::invalid(format!("{} is a special file, which does not replace a file", self.source))
                .hint("choose another destination, or delete the file first")
        })?;
        let replaced = match commit::state_now(cx, &self.to.target)? {
            Some(EntryState::File(replaced)) if expected.is_none_or(|expected| expected == replaced.revision) => {
                EntryState::File(replaced)
            }
            _ => return Err(commit::changed(&self.to.path)),
        };
        let moved = NewState::Moved { to: self.to.target.clone(), base };
        let changes = [
            ChangeStep { target: self.from.clone(), change: moved },
            ChangeStep {
                target: self.to.target.clone(),
                change: NewState::Removed { base: replaced, is_parent: false },
            },
        ];
        let CommittedFiles { notes, copied, .. } = commit::commit_files(cx, "move", &changes, Undoable::Yes, approval)?;
        Ok(Moved { tree, copied, notes })
    }

    /// The source, if it is what was planned.
    fn unchanged(&self, cx: &CallContext) -> Result<Tree, ToolError> {
        // The listing of the plan may be old: a person may have been asked since.
        let tree = cx.workspace.tree(&self.from, Purpose::Move(&self.to.target))?;
        if tree.mark() == self.tree.mark() { Ok(tree) } else { Err(commit::changed(&self.source)) }
    }

    /// To where nothing is: by one rename, where the system can, whatever is in it.
    fn move_tree(&self, cx: &CallContext, approval: Approval) -> Result<Moved, ToolError> {
        let Self { from, to, .. } = self;
        let guard = TreeGuard::acquire_within(&cx.workspace, &[from, &to.target], cx.wait_limit())?;
        let tree = self.unchanged(cx)?;
        let moved = (from, &tree, &to.target);
        let mark = tree.content_mark();
        let (MovedTree { copied, .. }, note) =
            commit::move_tree(cx, ("move", Undoable::Yes), &guard, moved, mark, approval)?;
        Ok(Moved { tree, copied, notes: note.into_iter().collect() })
    }

    fn answer(&self, cx: &CallContext, Moved { tree, copied, notes }: Moved) -> Answer {
        let Self { source, to, .. } = self;
        let output = Output {
            source: source.to_string(),
            destination: to.path.to_string(),
            files: tree.files(),
            replaced: to.occupant != Occupant::Nothing,
            notes: copied
                .then(|| "it was copied and its old place emptied, as the system does not rename it".to_owned())
                .into_iter()
                .chain(notes)
                .collect(),
        };
        let mut text = format!("Moved {source} to {}", to.path);
        if tree.is_directory() {
            let _ = write!(text, " with {}", count(output.files, "file"));
        }
        text.push_str(to.replacing());
        Answer::text(noted(text, &output.notes), &output).data(cx, &output)
    }
}
