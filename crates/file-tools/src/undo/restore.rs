//! Restoring what the history holds, for the person at the command line; no tool of a model's.
//!
//! The content goes through the same guard as a write, and what it replaces is recorded in its turn.

use std::fmt::Write as _;

use change_set::{Approval, Base, EntryState, Rights, Workspace};
use confined_fs::{AccessErrorKind, Snapshot, WorkspacePath};
use text_edit::TruncatedDiff;
use text_file::Document;

use super::{
    super::{
        CallContext, Kind, ToolError,
        answer::{count, noted},
        commit::{self, ChangeStep, CommittedFiles, Undoable},
        introduced_problems::{ChangedText, IntroducedProblems},
        shown_diff,
    },
    ChangesSince, DiffDirection, UndoPlan, changes_since,
    since::recorded_changes,
    skipped_headline,
};
use crate::session::{
    Session,
    history::{JournalRecord, RecordKind},
};

pub use super::HistoryPoint;

/// Fewer digits of a revision are not taken for one.
const FEWEST_DIGITS: usize = 4;

/// The recorded changes of the served roots, oldest first; with `path`, those of that file or below
/// that directory.
pub fn records(workspace: &Workspace, session: &Session, path: Option<&str>) -> Result<Vec<JournalRecord>, ToolError> {
    let roots: Vec<&str> = workspace.roots().iter().map(|root| root.key()).collect();
    let mut records = session.history.records(&roots, &[RecordKind::Void]).map_err(|error| {
        ToolError::new(Kind::Internal, format!("the history could not be read: {}", error.kind()))
            .hint("see what is wrong with it with `rootbound doctor`")
            .source(error)
    })?;
    let Some(text) = path else { return Ok(records) };
    let path = workspace.resolve(text)?;
    let real = real(workspace, &path);
    let below = format!("{real}/");
    records.retain(|record| {
        record.is_of(&real)
            || (record.root == real.root().key() && (real.is_root() || record.shown.starts_with(&below)))
            || record.to.as_deref() == Some(real.to_string().as_str())
    });
    Ok(records)
}

/// Puts back what `path` held: the content with this revision, or the newest recorded one that
/// differs from what is there. A deleted directory comes back with everything that was in it.
/// Returns what was done, with a diff.
pub fn restore(cx: &CallContext, path: &str, revision: Option<&str>) -> Result<String, ToolError> {
    let revision = revision.map(str::to_ascii_lowercase);
    if let Some(digits) = &revision
        && (digits.len() < FEWEST_DIGITS || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
    {
        return Err(ToolError::invalid(format!("{digits:?} is not a revision"))
            .hint(format!("give at least {FEWEST_DIGITS} of its digits, as `rootbound history` lists them")));
    }
    let path = cx.workspace.resolve(path)?;
    let real = real(&cx.workspace, &path);
    let all = records(&cx.workspace, &cx.session, None)?;
    // Whatever its size: the limit is one for the calls of a model.
    let now = match cx.workspace.read(&real, u64::MAX) {
        Ok(now) => Some(now),
        Err(error) if error.kind == AccessErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    let current = now.as_ref().map(|now| now.revision);
    for record in all.iter().rev().filter(|record| record.is_of(&real)) {
        match (record.kind, record.old_revision()) {
            (RecordKind::Directory, _) if record.to.is_none() && revision.is_none() && now.is_none() => {
                let entries: Vec<JournalRecord> =
                    all.iter().filter(|other| other.key() == record.key()).cloned().collect();
                return tree(cx, &real, &entries);
            }
            (RecordKind::File, Some(old)) => {
                let wanted = match &revision {
                    Some(digits) => old.to_string().starts_with(digits.as_str()),
                    None => current != Some(old),
                };
                if !wanted {
                    continue;
                }
                if current == Some(old) {
                    return Ok(format!("{real} already has that content"));
                }
                let Some(bytes) = cx.session.history.content(old) else {
                    if revision.is_some() {
                        return Err(real.not_stored().into());
                    }
                    continue;
                };
                let target = cx.workspace.writable(&real)?;
                let base = current.map_or(Base::Absent, Base::Revision);
                // Of a change of the content somebody may have narrowed the rights since.
                let kept = |now: &Snapshot| record.rights().in_place_of(&Rights::of(&real, &now.stat, None));
                let written = now.as_ref().filter(|_| record.new.is_some());
                let rights = written.map_or_else(|| record.rights(), kept);
                let approval = Approval::by_policy();
                let now = now.map(|now| now.bytes);
                let diff = shown_diff::diff(&real, now.clone(), Some(bytes.clone()));
                let diff = TruncatedDiff::of(&diff, 0, shown_diff::DIFF_LINES, shown_diff::room(cx, &real)).with_note();
                let step = ChangeStep::write(target, base, bytes.clone(), rights);
                let CommittedFiles { notes, .. } =
                    commit::commit_files(cx, "restore", &[step], Undoable::No, approval)?;
                let problems = problems(cx, &real, now, bytes);
                return Ok(format!("{}\n\n{diff}{problems}", noted(format!("Restored {real} to {old}"), &notes)));
            }
            _ => {}
        }
    }
    let which = revision.map_or_else(String::new, |digits| format!(" with the revision {digits}"));
    Err(ToolError::new(Kind::NotFound, format!("the history has no content of {path}{which} to restore"))
        .hint("list what can be restored with `rootbound history`: what is `purged` cannot"))
}

/// The lines on the problems that the file at `real` has with its bytes `new`, and had not with `old`.
fn problems(cx: &CallContext, real: &WorkspacePath, old: Option<Vec<u8>>, new: Vec<u8>) -> String {
    let text = |bytes| Document::decode(bytes, None).ok();
    let (old, Some(new)) = (old.and_then(text), text(new)) else { return String::new() };
    let old = old.as_ref().map(Document::text);
    IntroducedProblems::by(cx, &ChangedText { path: real, real, old, new: new.text() }).text
}

/// A deleted directory, as its records describe it.
fn tree(cx: &CallContext, top: &WorkspacePath, records: &[JournalRecord]) -> Result<String, ToolError> {
    let changes = recorded_changes(&cx.workspace, records).into_iter().map(|known| known.change).collect();
    let since = ChangesSince { changes, ..ChangesSince::default() };
    let plan = UndoPlan::of(cx, &since, true, &[], DiffDirection::Back)?;
    let done = commit::commit_files(cx, "restore", &plan.changes, Undoable::No, Approval::by_policy())?;
    let files = plan.changes.iter().filter(|step| matches!(step.change.to, Some(EntryState::File(_)))).count();
    let mut text = noted(format!("Restored {top} with {}", count(files, "file")), &done.notes);
    if !plan.skipped.is_empty() {
        let left_out: Vec<String> = plan.skipped.iter().map(|left| left.path.to_string()).collect();
        let _ = write!(text, "; {} no longer kept: {}", count(left_out.len(), "entry"), left_out.join(", "));
    }
    Ok(text)
}

/// The canonical path; for a deleted entry the path itself.
pub(super) fn real(workspace: &Workspace, path: &WorkspacePath) -> WorkspacePath {
    workspace.canonical(path).unwrap_or_else(|_| path.clone())
}

// Earlier states for the person at the command line: going back to one, and comparing it with now.
//
// All recorded changes count, whichever session made them: it is the person's tree.

/// Goes back to an earlier state, and says what was done.
pub fn restore_to(
    cx: &CallContext,
    earlier: HistoryPoint<'_>,
    paths: &[String],
    include_others: bool,
    dry_run: bool,
) -> Result<String, ToolError> {
    let plan = plan_return(cx, earlier, paths, include_others, DiffDirection::Back)?;
    let left = plan.skipped.len();
    let mut notes: Vec<String> = (left > 0).then(|| skipped_headline(left)).into_iter().collect();
    let entries = count(plan.changes.len(), "entry");
    let mut text = if dry_run {
        noted(format!("Would change {entries}"), &notes)
    } else {
        if !plan.changes.is_empty() {
            let approval = Approval::by_policy();
            let done = commit::commit_files(cx, "restore", &plan.changes, Undoable::No, approval)?;
            notes.extend(done.notes);
        }
        noted(format!("Changed {entries}"), &notes)
    };
    let lines: Vec<String> = if dry_run { plan.planned().collect() } else { plan.done().collect() };
    for line in lines {
        let _ = write!(text, "\n{line}");
    }
    for left in &plan.skipped {
        let _ = write!(text, "\nleft alone: {} ({})", left.path, left.reason);
    }
    if !plan.skipped.is_empty() {
        text.push_str("\n--include-others restores what others changed as well; their content is kept first");
    }
    if dry_run {
        let _ = write!(text, "\n\n{}", plan.diff);
    }
    Ok(text)
}

/// How an earlier state differs from now: what is no text in one line, then the unified diffs.
pub fn diff_from(cx: &CallContext, earlier: HistoryPoint<'_>, paths: &[String]) -> Result<String, ToolError> {
    let plan = plan_return(cx, earlier, paths, true, DiffDirection::Forward)?;
    if plan.changes.is_empty() {
        return Ok("no difference".to_owned());
    }
    let mut text = String::new();
    for line in &plan.lines {
        let _ = writeln!(text, "# {line}");
    }
    for left in &plan.skipped {
        let _ = writeln!(text, "# not compared: {} ({})", left.path, left.reason);
    }
    text.push_str(&plan.diff);
    Ok(text)
}

fn plan_return(
    cx: &CallContext,
    earlier: HistoryPoint<'_>,
    paths: &[String],
    include_others: bool,
    diff: DiffDirection,
) -> Result<UndoPlan, ToolError> {
    let real = |text: &String| Ok(real(&cx.workspace, &cx.workspace.resolve(text)?));
    let within = paths.iter().map(real).collect::<Result<Vec<_>, ToolError>>()?;
    UndoPlan::of(cx, &changes_since(cx, earlier, true)?, include_others, &within, diff)
}
