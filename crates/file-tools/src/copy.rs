//! `copy`: make a copy of a file or directory at another path.

use std::fmt::Write as _;

use change_set::{Approval, Base, Node, Rights, Tree};
use confined_fs::{Stat, WorkspacePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::session::Cost;

use super::{
    Answer, CallContext, Change, ExistingKind, Fingerprint, Group, Kind, Plan, Preview, Spec, Tool, ToolError,
    answer::{count, noted},
    commit::{self, ChangeStep, CommittedFiles, Undoable},
    destination::{self, Destination, Occupant},
};

/// Bytes of the largest tree that is copied in one call.
const MOST_BYTES: u64 = 1 << 30;

pub(crate) struct Copy;

/// Arguments of `copy`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The file or directory to copy.
    source: String,
    /// The path of the copy, name included; missing parent directories are made.
    destination: String,
    /// Replace a file at the destination, which must have been read. Default: false.
    overwrite: Option<bool>,
}

/// The complete result as data.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// What was copied.
    source: String,
    /// The copy.
    destination: String,
    /// Files that were copied.
    files: usize,
    /// Bytes in them.
    bytes: u64,
    /// Whether a file was replaced.
    replaced: bool,
    /// Links that were left out because they lead outside of the workspace.
    links_left_out: usize,
    /// Notes on it.
    notes: Vec<String>,
}

impl Tool for Copy {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "copy",
        title: "Copy a file or directory",
        purpose: "copies",
        description: "Copy a file, or a directory with everything in it. Nothing is replaced unless overwrite=true, \
            and then only a file.",
        group: Group::Manage,
        aliases: &[destination::MOVE_ALIASES],
        heavy: true,
        ..Spec::CHANGES
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let source = cx.existing(&args.source, ExistingKind::File)?;
        if let Err(error) = cx.workspace.stat(&source) {
            return Err(ToolError::access(&cx.workspace, error));
        }
        let to = destination::resolve(cx, &source, &args.destination, args.overwrite.unwrap_or(false))?;
        let tree = cx.workspace.tree_to_copy(&source, &to.target)?;
        destination::check_apart(tree.top(), to.target.path())?;
        to.check_replaces(&tree)?;
        if tree.bytes() > MOST_BYTES {
            return Err(ToolError::new(
                Kind::TooLarge,
                format!("{source} has {} bytes; at most {MOST_BYTES} are copied in one call", tree.bytes()),
            )
            .hint("copy what is below it piece by piece"));
        }
        Ok(Plan::Change(Box::new(PlannedCopy { source, tree, to })))
    }
}

struct PlannedCopy {
    source: WorkspacePath,
    tree: Tree,
    to: Destination,
}

impl PlannedCopy {
    /// Occupant a file: as a write of the other's content, which keeps the mode and owner it has.
    fn replace(&self, cx: &CallContext, seen: &Stat, base: Base, approval: Approval) -> Result<Output, ToolError> {
        let snapshot = cx.workspace.read(&self.source, cx.settings.max_file_size)?;
        // A person agreed to what was there then.
        if !snapshot.stat.same_content_state(seen) {
            return Err(commit::changed(&self.source));
        }
        let bytes = snapshot.bytes.len() as u64;
        let step = ChangeStep::write(self.to.target.clone(), base, snapshot.bytes, Rights::default());
        let CommittedFiles { notes, .. } = commit::commit_files(cx, "copy", &[step], Undoable::Yes, approval)?;
        Ok(Output { files: 1, bytes, replaced: true, notes, ..self.output() })
    }

    fn output(&self) -> Output {
        Output { source: self.source.to_string(), destination: self.to.path.to_string(), ..Output::default() }
    }

    fn make(&self, cx: &CallContext, approval: Approval) -> Result<Output, ToolError> {
        let step = ChangeStep::copy_tree(self.tree.clone(), self.to.target.clone());
        let done = commit::commit_files(cx, "copy", &[step], Undoable::Yes, approval);
        let CommittedFiles { created, mut notes, .. } = done.map_err(|error| match error.kind() {
            // The words of `Stale` are those of a file that was read before.
            Kind::Stale => commit::changed(&self.source),
            _ => error,
        })?;
        let files = created.revisions.iter().flatten().count();
        let left_out = created.links_left_out.len();
        if left_out > 0 {
            let first: Vec<String> = created.links_left_out.iter().take(3).map(ToString::to_string).collect();
            notes.push(format!(
                "{} left out because they lead outside of the workspace: {}",
                count(left_out, "link"),
                first.join(", ")
            ));
        }
        Ok(Output { files, bytes: created.bytes, links_left_out: left_out, notes, ..self.output() })
    }
}

impl Change for PlannedCopy {
    fn fingerprint(&self) -> Fingerprint {
        self.to.fingerprint(self.tree.top(), &self.tree)
    }

    fn preview(&self) -> Preview {
        let summary = format!(
            "Copy {} ({}, {} bytes) to {}{}",
            self.source,
            count(self.tree.files(), "file"),
            self.tree.bytes(),
            self.to.path,
            self.to.replacing()
        );
        Preview { summary, diff: String::new(), destructive: self.to.occupant != Occupant::Nothing }
    }

    fn cost(&self) -> Cost {
        let files = match self.to.occupant {
            Occupant::Nothing => self.tree.entries().len() as u64 + self.to.target.missing_above(),
            Occupant::File(_) => 0,
        };
        Cost { files, ..Cost::of_bytes(self.to.target.path().root(), self.to.bytes, self.tree.bytes()) }
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        let output = match (self.to.occupant, self.tree.node()) {
            (Occupant::File(Some(old)), Node::File(seen)) => self.replace(cx, seen, Base::Revision(old), approval)?,
            (Occupant::File(_), _) => {
                return Err(ToolError::new(Kind::TooLarge, format!("{} is too large to be replaced", self.to.path))
                    .hint("choose another destination, or delete it first"));
            }
            (Occupant::Nothing, _) => self.make(cx, approval)?,
        };
        let mut text = format!("Copied {} to {}: ", self.source, self.to.path);
        if self.tree.is_directory() {
            let _ = write!(text, "{}, ", count(output.files, "file"));
        }
        let _ = write!(text, "{} bytes{}", output.bytes, self.to.replacing());
        Ok(Answer::text(noted(text, &output.notes), &output).data(cx, &output))
    }
}
