//! `delete`: remove a file, a link, or a directory with everything in it; all of it can be brought back.

use std::fmt::Write as _;

use change_set::{Approval, Base, Node, Purpose, Tree, WritablePath};
use confined_fs::{Revision, WorkspacePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::session::Cost;

use super::{
    Alias, Answer, CallContext, Change, ExistingKind, Fingerprint, Group, Plan, Preview, Spec, Tool, ToolError,
    answer::{count, noted},
    commit::{self, ChangeStep, CommittedFiles, Undoable},
    read_before_write,
    tool::PATH_ALIASES,
};

pub(crate) struct Delete;

/// Paths of one call.
const MAX_PATHS: usize = 50;

/// Arguments of `delete`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The file, link or directory to delete.
    path: Option<String>,
    /// Up to 50 of them instead, in one change: all are deleted or none, and one undo brings all back.
    paths: Option<Vec<String>>,
    /// Delete a directory that is not empty, with everything in it. Default: false.
    recursive: Option<bool>,
}

impl Args {
    fn paths(&self) -> Result<&[String], ToolError> {
        match (&self.path, self.paths.as_deref().unwrap_or_default()) {
            (Some(path), []) => Ok(std::slice::from_ref(path)),
            (None, paths @ [_, ..]) if paths.len() <= MAX_PATHS => Ok(paths),
            (None, []) => {
                Err(ToolError::invalid("the argument `path` is missing")
                    .hint("call delete again with path, or with paths"))
            }
            (Some(_), _) => {
                Err(ToolError::invalid("`paths` and `path` were both given").hint("send all of them in paths"))
            }
            (None, paths) => Err(ToolError::invalid(format!(
                "`paths` names {}; at most {MAX_PATHS} are deleted at once",
                paths.len()
            ))
            .hint("delete them in several calls, or the directory that holds them")),
        }
    }
}

/// The complete result as data.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// What was deleted, as paths are printed; the first of several.
    path: String,
    /// All of them, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    paths: Vec<String>,
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
        description: "Delete a file, a link (never what it points to), an empty directory, or any with recursive=true. With paths, all of \
            them are deleted or none. What was deleted is kept for a while: undo brings it back. A file that has changed since \
            it was read is not deleted.",
        group: Group::Manage,
        aliases: &[
            PATH_ALIASES,
            &[
                Alias::names("paths", &["files", "file_paths", "filePaths"]),
                Alias::names("recursive", &["force_recursive"]),
            ],
        ],
        ..Spec::CHANGES
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let paths = args.paths()?;
        let planned = |path: &String| PlannedEntry::of(cx, path, args.recursive.unwrap_or(false));
        let mut entries: Vec<PlannedEntry> = (paths.iter().map(planned).collect::<Result<_, _>>())
            .map_err(|error| commit::none_changed(paths.len(), error))?;
        let all: Vec<WorkspacePath> = entries.iter().map(|one| one.target.path().clone()).collect();
        let mut at = 0..;
        // What is in another of them goes with it.
        entries.retain(|one| {
            let (at, path) = (at.next().unwrap_or(0), one.target.path());
            !all.iter().enumerate().any(|(other, top)| path.is_in(top) && (path != top || other < at))
        });
        Ok(Plan::Change(Box::new(PlannedDelete(entries))))
    }
}

struct PlannedEntry {
    path: WorkspacePath,
    target: WritablePath,
    tree: Tree,
    /// The content that was checked.
    revision: Option<Revision>,
}

impl PlannedEntry {
    fn of(cx: &CallContext, path: &str, recursive: bool) -> Result<Self, ToolError> {
        let path = cx.existing(path, ExistingKind::File)?;
        let target = cx.workspace.writable_entry(&path)?;
        let tree =
            cx.workspace.tree(&target, Purpose::Remove).map_err(|error| ToolError::access(&cx.workspace, error))?;
        let held = tree.entries().len() - 1;
        if held > 0 && !recursive {
            return Err(ToolError::invalid(format!("{path} is a directory and not empty ({})", count(held, "entry")))
                .hint("pass recursive=true to delete it with everything in it"));
        }
        let revision = match tree.node() {
            Node::File(_) => read_before_write::check_deletable(cx, &path, &target)?,
            _ => None,
        };
        Ok(Self { path, target, tree, revision })
    }

    fn what(&self) -> String {
        let Self { path, tree, .. } = self;
        match tree.node() {
            Node::Directory(_) if tree.entries().len() == 1 => format!("the empty directory {path}"),
            Node::Directory(_) => format!("{path} with {}", count(tree.files(), "file")),
            Node::Link(_) => format!("the link {path}"),
            _ => path.to_string(),
        }
    }
}

struct PlannedDelete(Vec<PlannedEntry>);

impl PlannedDelete {
    fn files(&self) -> usize {
        self.0.iter().map(|one| one.tree.files()).sum()
    }

    fn bytes(&self) -> u64 {
        self.0.iter().map(|one| one.tree.bytes()).sum()
    }
}

impl Change for PlannedDelete {
    fn fingerprint(&self) -> Fingerprint {
        let fingerprint = |one: &PlannedEntry| Fingerprint {
            path: one.target.path().to_string(),
            base: Base::Revision(one.tree.mark()),
            content: None,
        };
        match &self.0[..] {
            [one] => fingerprint(one),
            several => Fingerprint::of_several(&several.iter().map(fingerprint).collect::<Vec<_>>()),
        }
    }

    fn preview(&self) -> Preview {
        let (files, bytes) = (count(self.files(), "file"), self.bytes());
        let summary = match &self.0[..] {
            [PlannedEntry { path, tree, .. }] => match tree.node() {
                Node::Directory(_) if tree.entries().len() == 1 => format!("Delete the empty directory {path}"),
                Node::Directory(_) => format!("Delete the directory {path} with {files} ({bytes} bytes)"),
                Node::Link(_) => format!("Delete the link {path}"),
                _ => format!("Delete {path} ({bytes} bytes)"),
            },
            several => format!("Delete {} with {files} ({bytes} bytes)", count(several.len(), "entry")),
        };
        let mut diff = String::new();
        // One alone is in the summary.
        for (path, _) in self.0.iter().flat_map(|one| one.tree.paths().skip(usize::from(self.0.len() == 1))) {
            let _ = writeln!(diff, "- {path}");
        }
        Preview { summary, diff, destructive: true }
    }

    fn cost(&self) -> Cost {
        self.0.iter().map(|one| Cost::of_bytes(one.target.path().root(), one.tree.bytes(), 0)).sum()
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        // Entry by entry where there are several, whole also after a kill.
        let step = |one: &PlannedEntry| ChangeStep::remove_tree(one.target.clone(), one.tree.clone(), one.revision);
        let steps: Vec<ChangeStep> = self.0.iter().map(step).collect();
        let CommittedFiles { is_durable, mut notes, .. } =
            commit::commit_files(cx, "delete", &steps, Undoable::Yes, approval)?;
        let (what, them) = match &self.0[..] {
            [one] => (one.what(), "it"),
            several => (count(several.len(), "entry"), "them"),
        };
        let when = if is_durable { "" } else { "until the server ends, " };
        notes.insert(0, format!("{when}undo brings {them} back"));
        let is_several = self.0.len() > 1;
        let mut text = noted(format!("Deleted {what}"), &notes);
        for one in self.0.iter().filter(|_| is_several) {
            let _ = write!(text, "\n{}", one.what());
        }
        let output = Output {
            path: self.0[0].path.to_string(),
            paths: self.0.iter().filter(|_| is_several).map(|one| one.path.to_string()).collect(),
            files: self.files(),
            bytes: self.bytes(),
            kept_on_disk: is_durable,
            notes,
        };
        Ok(Answer::text(text, &output).data(cx, &output))
    }
}
