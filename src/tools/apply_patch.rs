//! `apply_patch`: a patch of many files, in the form of GPT models or as a unified diff; all of it or nothing.
//!
//! The sections of a patch are applied in their order to [`PatchedFiles`], which are in memory. [`NetChanges`] then has one
//! change for each path, and all of them are committed in one transaction. Hunks are found by the steps of `edit`; files
//! are checked as `edit`, `write`, `move` and `delete` check them.

mod hunk_error;
mod net_change;
mod patched_files;
mod problems;
mod report;
mod section;
mod section_path;

use confined_fs::Approval;
use schemars::JsonSchema;
use serde::Deserialize;
use text_edit::patch::{Patch, PatchError};

use crate::session::Cost;

use super::{
    Alias, Answer, CallContext, Change, Fingerprint, Group, Kind, Plan, Preview, Spec, Tool, ToolError,
    with_history::{Undoable, commit_files},
};
use net_change::NetChanges;
use patched_files::PatchedFiles;
use problems::Problems;
use report::Output;

/// Applies a patch to one or many files.
pub(crate) struct ApplyPatch;

/// Arguments of `apply_patch`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// A unified diff (git's, too), or `*** Begin Patch`, sections `*** Add File: PATH`, `*** Update File: PATH`,
    /// `*** Delete File: PATH`, `*** End Patch`.
    patch: String,
}

/// Spellings of `patch`.
const PATCH_NAMES: &[&str] =
    &["input", "diff", "patch_text", "patchText", "patch_content", "patchContent", "unified_diff", "content"];

impl Tool for ApplyPatch {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "apply_patch",
        title: "Apply a patch",
        purpose: "changes several files by a patch",
        description: "Apply a patch to one or many files: all of it, or nothing. Files that it changes must have been seen: a \
            read, a grep hit, or a write of the server's own counts. Hunks are found by their lines, not by line numbers.",
        group: Group::Patch,
        aliases: &[&[Alias::names("patch", PATCH_NAMES), Alias::Ignored { given: "explanation" }]],
        ..Spec::CHANGES
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let limit = cx.settings.max_file_size;
        if args.patch.len() as u64 > limit {
            let message = format!("`patch` has {} bytes, more than the limit of {limit}", args.patch.len());
            return Err(ToolError::new(Kind::TooLarge, message).hint("nothing was changed; send it in several calls"));
        }
        let patch = Patch::parse(&args.patch).map_err(|error| unreadable(&error))?;
        let (mut files, mut problems) = (PatchedFiles::default(), Problems::default());
        let apply_all = || {
            for section in &patch.files {
                cx.check()?;
                section::apply(cx, &mut files, section, &mut problems)?;
            }
            problems.finish()
        };
        let applied = apply_all();
        if let Some(stale) = files.stale(cx, applied.is_ok()) {
            return Err(stale.hint("nothing of the patch was applied"));
        }
        applied?;
        let changes = NetChanges::of(cx, files)?;
        if changes.is_empty() {
            return Err(ToolError::invalid(
                "the patch changes nothing: every file already has the content that it asks for",
            )
            .hint("look at the files before you send another patch"));
        }
        Ok(Plan::Change(Box::new(PlannedPatch { changes, notes: patch.notes })))
    }
}

fn unreadable(error: &PatchError) -> ToolError {
    let kind = if error.is_too_large { Kind::TooLarge } else { Kind::InvalidInput };
    ToolError::new(kind, error.to_string()).hint(format!("nothing was changed; {}", error.hint))
}

struct PlannedPatch {
    changes: NetChanges,
    /// What was not used of the patch.
    notes: Vec<String>,
}

impl Change for PlannedPatch {
    fn preview(&self) -> Preview {
        self.changes.preview()
    }

    fn cost(&self) -> Cost {
        self.changes.cost()
    }

    fn fingerprint(&self) -> Fingerprint {
        self.changes.fingerprint()
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        let Self { changes, mut notes } = *self;
        let committed = commit_files(cx, "apply_patch", &changes.steps, Undoable::Yes, approval)?;
        notes.extend(committed.notes);
        Ok(report::answer(cx, &changes, &committed.files, notes))
    }
}
