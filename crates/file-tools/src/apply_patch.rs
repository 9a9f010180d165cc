//! `apply_patch`: a patch of many files, in the form of GPT models or as a unified diff; all of it or nothing.
//!
//! The sections of a patch are applied in their order to [`PatchedFiles`], which are in memory. [`NetChanges`] then has one
//! change for each path, and all of them are committed in one transaction. Hunks are found by the steps of `edit`; files
//! are checked as `edit`, `write`, `move` and `delete` check them.

use std::fmt::Write as _;

use change_set::{Approval, Base};
use confined_fs::{Revision, WorkspacePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use text_edit::{
    DiffExtent, Strategy,
    patch::{Patch, PatchError},
};

use super::{
    Alias, Answer, CallContext, Change, Fingerprint, Group, Kind, Plan, Preview, Spec, Tool, ToolError,
    answer::{count, noted},
    commit::{Undoable, commit_files},
    introduced_problems::{ChangedText, IntroducedProblems, Problem},
    match_words::{kept, layout},
    shown_diff::{self, BRIEF_EXTENT, ShownDiff},
};
use crate::session::Cost;

use net_change::{NetChange, NetChanges, NetKind};
use patched_files::PatchedFiles;
use problems::Problems;

mod net_change;
mod patched_files;
mod problems;
mod section;

pub(crate) struct ApplyPatch;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// A unified diff (git's, too), or `*** Begin Patch`, sections `*** Add File: PATH`, `*** Update File: PATH`,
    /// `*** Delete File: PATH`, `*** End Patch`.
    patch: String,
}

const PATCH_NAMES: &[&str] =
    &["input", "diff", "patch_text", "patchText", "patch_content", "patchContent", "unified_diff", "content"];

impl Tool for ApplyPatch {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "apply_patch",
        title: "Apply a patch",
        purpose: "changes several files by a patch",
        description: "Apply a patch to one or many files: all of it, or nothing. Files that it changes must have been seen. Any of \
            these counts: a read, a grep hit, a write by this server. Hunks are found by their lines, not by line numbers.",
        group: Group::Patch,
        aliases: &[&[Alias::names("patch", PATCH_NAMES), Alias::ignored(&["explanation"])]],
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
        // Past the first error, so that one answer names every problem.
        let apply_all = || {
            for section in &patch.files {
                cx.check()?;
                section::apply(cx, &mut files, section, &mut problems)?;
            }
            problems.finish()
        };
        let applied = apply_all();
        // Before the problems of hunks: that somebody has changed the file is why they have no place.
        let checked = files.check_lines(cx, applied.is_ok());
        checked.map_err(|stale| stale.hint("nothing of the patch was applied"))?;
        applied?;
        let changes = NetChanges::of(cx, files)?;
        if changes.files.is_empty() {
            let sentence = "the patch changes nothing: every file already has the content that it asks for";
            return Err(ToolError::invalid(sentence).hint("look at the files before you send another patch"));
        }
        Ok(Plan::Change(Box::new(NetChanges { notes: patch.notes, ..changes })))
    }
}

fn unreadable(error: &PatchError) -> ToolError {
    let kind = if error.is_too_large { Kind::TooLarge } else { Kind::InvalidInput };
    ToolError::new(kind, error.to_string()).hint(format!("nothing was changed; {}", error.hint))
}

impl Change for NetChanges {
    fn preview(&self) -> Preview {
        let mut diff = String::new();
        for file in &self.files {
            let (path, from) = (shown_diff::diff_name(&file.path), file.from.as_ref().map(shown_diff::diff_name));
            match (file.kind, from) {
                (NetKind::Deleted, _) => {
                    let bytes = count(usize::try_from(file.sizes.0).unwrap_or(usize::MAX), "byte");
                    let _ = writeln!(diff, "delete {path} ({bytes})");
                }
                (NetKind::Renamed, Some(from)) => {
                    let _ = writeln!(diff, "rename from {from}\nrename to {path}");
                }
                (NetKind::Copied, Some(from)) => {
                    let _ = writeln!(diff, "copy from {from}\ncopy to {path}");
                }
                _ => {}
            }
            diff.push_str(&file.diff(DiffExtent::Full).text);
        }
        let named: Vec<String> = self.files.iter().take(5).map(NetChange::named).collect();
        let more = self.files.len() - named.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let summary = format!("Apply a patch to {}: {}{more}", count(self.files.len(), "file"), named.join(", "));
        let destructive = self.files.iter().any(|file| file.base != Base::Absent);
        Preview { summary, diff, destructive }
    }

    fn cost(&self) -> Cost {
        let each = self.files.iter().map(|file| {
            let (before, after) = file.sizes;
            let cost = Cost::of_bytes(file.real.root(), before, after);
            let is_moved = file.kind == NetKind::Renamed && file.after.is_none();
            if is_moved { Cost { bytes: 0, ..cost } } else { cost }
        });
        Cost { files: self.made, ..each.sum() }
    }

    fn fingerprint(&self) -> Fingerprint {
        let each: Vec<Fingerprint> = self
            .files
            .iter()
            .map(|file| Fingerprint {
                path: file
                    .from
                    .as_ref()
                    .map_or_else(|| file.real.to_string(), |from| format!("{from} -> {}", file.real)),
                base: file.base,
                content: file.after,
            })
            .collect();
        Fingerprint::of_several(&each)
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        let committed = commit_files(cx, "apply_patch", &self.steps, Undoable::Yes, approval)?;
        let notes = [self.notes.as_slice(), &committed.notes].concat();
        Ok(answer(cx, &self.files, &committed.files, notes))
    }
}

// What a patch did: one line for each file, and diffs only of those that were found otherwise than the patch has them.

/// Files whose new problems are looked for: each look can ask a language server.
const MAX_CHECKED_FILES: usize = 20;
const MAX_HUNK_NOTES: usize = 5;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The files, in the order of the patch.
    files: Vec<FileOutput>,
    /// Notes on it.
    notes: Vec<String>,
    /// Diffs of the files in which hunks were found otherwise than the patch has them.
    diff: String,
    /// Problems that the change has introduced, such as syntax errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Problem>,
}

/// What became of one file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FileOutput {
    /// `added`, `modified`, `deleted`, `renamed` or `copied`.
    change: String,
    /// The file, as paths are printed.
    path: String,
    /// Its path before.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// Its revision now.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<String>,
    /// Lines added.
    added: usize,
    /// Lines removed.
    removed: usize,
    /// How its hunks were found that are not exactly as given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

fn answer(
    cx: &CallContext,
    changes: &[NetChange],
    revisions: &[(WorkspacePath, Option<Revision>)],
    notes: Vec<String>,
) -> Answer {
    let revision =
        |change: &NetChange| revisions.iter().find(|(path, _)| *path == change.real).and_then(|(_, one)| *one);
    let (mut problems, mut problem_text) = (Vec::new(), String::new());
    for change in changes.iter().filter(|change| change.kind != NetKind::Deleted).take(MAX_CHECKED_FILES) {
        let Some(new) = &change.new else { continue };
        let old = change.old.as_ref().map(text_file::Document::text);
        let text_change = ChangedText { path: &change.path, real: &change.real, old, new: new.text() };
        let introduced = IntroducedProblems::by(cx, &text_change);
        problem_text.push_str(&introduced.text);
        problems.extend(introduced.problems);
    }
    let mut text = noted(format!("Applied to {}", count(changes.len(), "file")), &notes);
    let mut files = Vec::new();
    for change in changes {
        let revision = revision(change);
        let diff = change.diff(DiffExtent::Brief(0));
        let file = FileOutput {
            change: change.kind.name(),
            path: change.path.to_string(),
            from: change.from.as_ref().map(ToString::to_string),
            revision: revision.map(|revision| revision.to_string()),
            added: diff.added,
            removed: diff.removed,
            notes: hunk_notes(change),
        };
        let from = file.from.as_ref().map(|from| format!("{from} -> ")).unwrap_or_default();
        let rev = revision.map(|revision| format!(", rev {}", revision.short())).unwrap_or_default();
        let line = noted(format!("{} {from}{}{rev}", change.kind.letter(), file.path), &file.notes);
        let _ = write!(text, "\n{line}");
        files.push(file);
    }
    let room = CallContext { budget: cx.budget.less(&text).less(&problem_text), ..cx.clone() };
    let mut diffs = String::new();
    for change in changes.iter().filter(|change| !change.hunks.is_empty()) {
        let diff = change.diff(BRIEF_EXTENT);
        let room = CallContext { budget: room.budget.less(&diffs), ..room.clone() };
        let shown = ShownDiff::of(&room, &change.real, &diff.text, diff.cut_lines);
        if !shown.block.is_empty() {
            let _ = write!(text, "\n\n{}", shown.block);
            diffs.push_str(&shown.text);
        }
    }
    text.push_str(&problem_text);
    Answer::of(cx, text, &Output { files, notes, diff: diffs, problems }, &["notes", "diff"])
}

fn hunk_notes(change: &NetChange) -> Vec<String> {
    let mut notes: Vec<String> = change
        .hunks
        .iter()
        .take(MAX_HUNK_NOTES)
        .map(|hunk| {
            let mut parts = Vec::new();
            parts.extend(kept(hunk.strategy).map(|kept| format!("not exactly as given: {kept}")));
            if hunk.strategy.has(Strategy::LineEndings) {
                parts.push(layout(change.old.as_ref()));
            }
            parts.extend(hunk.elsewhere.map(|(at, number)| format!("at line {at}, not {number}")));
            parts.extend(hunk.note.clone());
            format!("hunk {} {}", hunk.number, parts.join(", "))
        })
        .collect();
    if change.hunks.len() > MAX_HUNK_NOTES {
        notes.push(format!("and {} more hunks found otherwise", change.hunks.len() - MAX_HUNK_NOTES));
    }
    notes
}
