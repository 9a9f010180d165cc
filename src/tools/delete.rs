//! `delete`: remove a file, a link, or a directory with everything in it; all of it can be brought back.

use std::fmt::Write as _;

use confined_fs::{Approval, Base, Node, Purpose, Revision, Tree, TreeGuard, WorkspacePath, WritablePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::session::Cost;

use super::{
    Alias, Answer, CallContext, Change, ExistingKind, Group, Plan, Preview, Spec, Tool, ToolError,
    answer::{count, noted},
    commit::{self, Undoable},
    read_before_write,
    tool::PATH_ALIASES,
};

pub(crate) struct Delete;

/// Arguments of `delete`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The file, link or directory to delete.
    path: String,
    /// Delete a directory that is not empty, with everything in it. Default: false.
    recursive: Option<bool>,
}

/// The complete result as data.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// What was deleted, as paths are printed.
    path: String,
    /// Files that were deleted.
    files: usize,
    /// Bytes in them.
    bytes: u64,
    /// Whether it can be brought back after the server has ended, and not only by undo.
    kept_on_disk: bool,
    /// Notes on it.
    notes: Vec<String>,
}

impl Tool for Delete {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "delete",
        title: "Delete a file or directory",
        purpose: "removes",
        description: "Delete a file, a link (never what it points to), an empty directory, or any with recursive=true. What was \
            deleted is kept for a while: undo brings it back. A file that has changed since it was read is not deleted.",
        group: Group::Manage,
        aliases: &[PATH_ALIASES, &[Alias::names("recursive", &["force_recursive"])]],
        ..Spec::CHANGES
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let path = cx.existing(&args.path, ExistingKind::File)?;
        let target = cx.workspace.writable_entry(&path)?;
        let tree =
            cx.workspace.tree(&target, Purpose::Remove).map_err(|error| ToolError::access(&cx.workspace, error))?;
        let held = tree.entries().len() - 1;
        if held > 0 && !args.recursive.unwrap_or(false) {
            return Err(ToolError::invalid(format!("{path} is a directory and not empty ({})", count(held, "entry")))
                .hint("pass recursive=true to delete it with everything in it"));
        }
        let revision = match tree.node() {
            Node::File(_) => read_before_write::check_deletable(cx, &path, &target)?,
            _ => None,
        };
        Ok(Plan::Change(Box::new(PlannedDelete { path, target, tree, revision })))
    }
}

struct PlannedDelete {
    path: WorkspacePath,
    target: WritablePath,
    tree: Tree,
    /// The content that was checked.
    revision: Option<Revision>,
}

impl Change for PlannedDelete {
    fn fingerprint(&self) -> super::Fingerprint {
        super::Fingerprint {
            path: self.target.path().to_string(),
            base: Base::Revision(self.tree.mark()),
            content: None,
        }
    }

    fn preview(&self) -> Preview {
        let files = count(self.tree.files(), "file");
        let summary = match self.tree.node() {
            Node::Directory(_) if self.tree.entries().len() == 1 => format!("Delete the empty directory {}", self.path),
            Node::Directory(_) => {
                format!("Delete the directory {} with {files} ({} bytes)", self.path, self.tree.bytes())
            }
            Node::Link(_) => format!("Delete the link {}", self.path),
            _ => format!("Delete {} ({} bytes)", self.path, self.tree.bytes()),
        };
        let mut diff = String::new();
        if self.tree.is_directory() {
            for (path, _) in self.tree.paths().skip(1) {
                let _ = writeln!(diff, "- {path}");
            }
        }
        Preview { summary, diff, destructive: true }
    }

    fn cost(&self) -> Cost {
        Cost::of_bytes(self.target.path().root(), self.tree.bytes(), 0)
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        let Self { path, target, tree: planned, revision } = *self;
        // First the lock, then the listing: what is deleted is what was just compared.
        let guard = TreeGuard::acquire_within(&cx.workspace, &[&target], cx.wait_limit())?;
        let tree = cx.workspace.tree(&target, Purpose::Remove)?;
        if tree.mark() != planned.mark() {
            return Err(commit::changed(&path));
        }
        // The mark does not know the content, which was checked.
        if let Some(revision) = revision
            && cx.workspace.read(&path, cx.settings.max_file_size)?.revision != revision
        {
            return Err(commit::changed(&path));
        }
        let is_durable = commit::remove(cx, &guard, &target, &tree, ("delete", Undoable::Yes), approval)?;
        let what = match tree.node() {
            Node::Directory(_) if tree.entries().len() == 1 => format!("the empty directory {path}"),
            Node::Directory(_) => format!("{path} with {}", count(tree.files(), "file")),
            Node::Link(_) => format!("the link {path}"),
            _ => path.to_string(),
        };
        let back = if is_durable { "undo brings it back" } else { "until the server ends, undo brings it back" };
        let output = Output {
            path: path.to_string(),
            files: tree.files(),
            bytes: tree.bytes(),
            kept_on_disk: is_durable,
            notes: vec![back.to_owned()],
        };
        Ok(Answer::text(noted(format!("Deleted {what}"), &output.notes), &output).data(cx, &output))
    }
}
