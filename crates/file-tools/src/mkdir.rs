//! `mkdir`: make a directory, with all that are missing above it.

use std::fmt::Write as _;

use change_set::{Approval, Base, EntryState, Rights, WritablePath};
use confined_fs::{FileKind, WorkspacePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::session::Cost;

use super::{
    Answer, CallContext, Change, Group, Plan, Preview, Spec, Tool, ToolError,
    answer::count,
    commit::{self, ChangeStep, Undoable},
    tool::PATH_ALIASES,
};

pub(crate) struct Mkdir;

/// Arguments of `mkdir`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The directory to make; missing parents are made as well.
    path: String,
}

/// The complete result as data.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The directory, as paths are printed.
    path: String,
    /// Directories that were made, parents included; 0 when it was there.
    created: usize,
}

impl Tool for Mkdir {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "mkdir",
        title: "Make a directory",
        purpose: "makes a directory",
        description: "Make a directory and its missing parents. One that exists already is fine. write makes the \
            directories of its file by itself.",
        group: Group::Manage,
        aliases: &[PATH_ALIASES],
        destructive: false,
        idempotent: true,
        ..Spec::CHANGES
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let path = cx.resolve_new(&args.path, |_| false)?;
        match cx.workspace.stat(&path) {
            Ok(stat) if stat.kind == FileKind::Directory => {
                let output = Output { path: path.to_string(), created: 0 };
                let answer = Answer::text(format!("{path} already exists"), &output).data(cx, &output);
                return Ok(Plan::Answer(answer));
            }
            Ok(_) => {
                return Err(ToolError::invalid(format!("{path} exists and is not a directory"))
                    .hint("choose another name, or move it away first"));
            }
            // Missing or refused: `writable_entry` says which.
            Err(_) => {}
        }
        let target = cx.workspace.writable_entry(&path)?;
        Ok(Plan::Change(Box::new(PlannedMkdir { path, target })))
    }
}

struct PlannedMkdir {
    path: WorkspacePath,
    target: WritablePath,
}

impl PlannedMkdir {
    fn is_there(&self, cx: &CallContext) -> bool {
        cx.workspace.stat(&self.path).is_ok_and(|stat| stat.kind == FileKind::Directory)
    }
}

impl Change for PlannedMkdir {
    fn fingerprint(&self) -> super::Fingerprint {
        super::Fingerprint { path: self.target.path().to_string(), base: Base::Absent, content: None }
    }

    fn preview(&self) -> Preview {
        Preview { summary: format!("Make the directory {}", self.path), diff: String::new(), destructive: false }
    }

    fn cost(&self) -> Cost {
        // A directory counts as a file.
        let files = 1 + self.target.missing_above();
        Cost { files, ..Cost::default() }
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        let directory = EntryState::Directory { rights: Rights::default() };
        let step = ChangeStep::create(self.target.clone(), directory);
        let created = match commit::commit_files(cx, "mkdir", &[step], Undoable::Yes, approval) {
            Ok(done) => done.created.made.len() + 1,
            // Somebody has made it meanwhile.
            Err(_) if self.is_there(cx) => 0,
            Err(error) => return Err(error),
        };
        let mut text = match created {
            0 => format!("{} already exists", self.path),
            _ => format!("Created {}", self.path),
        };
        if created > 1 {
            let _ = write!(text, " and {} above it", count(created - 1, "directory"));
        }
        let output = Output { path: self.path.to_string(), created };
        Ok(Answer::text(text, &output).data(cx, &output))
    }
}
