//! `move`: give a file or directory another path; never over something unless asked to.

use std::fmt::Write as _;

use change_set::{Approval, EntryState, Node, Purpose, Tree, WritablePath};
use confined_fs::WorkspacePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::session::{Cost, RootBytes};

use super::{
    Answer, CallContext, Change, ExistingKind, Fingerprint, Group, Plan, Preview, Spec, Tool, ToolError,
    answer::{count, noted},
    commit::{self, ChangeStep, CommittedFiles, Undoable},
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
        let (from, to) = (self.from.clone(), self.to.target.clone());
        let mut steps = vec![ChangeStep::move_tree(from, to.clone(), self.tree.clone())];
        if let Occupant::File(expected) = self.to.occupant {
            if matches!(self.tree.node(), Node::Other(_)) {
                let sentence = format!("{} is a special file, which does not replace a file", self.source);
                return Err(ToolError::invalid(sentence).hint("choose another destination, or delete the file first"));
            }
            let replaced = match commit::state_now(cx, &to)? {
                Some(EntryState::File(now)) if expected.is_none_or(|expected| expected == now.revision) => now,
                _ => return Err(commit::changed(&self.to.path)),
            };
            steps.push(ChangeStep::remove(to, EntryState::File(replaced), false));
        }
        let done = commit::commit_files(cx, "move", &steps, Undoable::Yes, approval)?;
        Ok(self.answer(cx, done))
    }
}

impl PlannedMove {
    fn answer(&self, cx: &CallContext, CommittedFiles { copied, notes, .. }: CommittedFiles) -> Answer {
        let Self { source, to, tree, .. } = self;
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
