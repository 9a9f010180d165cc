//! `undo`: revert this session's last change, or all changes since a checkpoint, where what they left is unchanged.
//!
//! A second plain undo goes one change further back, and `to=redo` takes the last plain undo back. An undo to a
//! checkpoint is one change on the list like any other: a plain undo takes it back.

mod revert;

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    session::{
        Cost,
        history::{Effect, UndoableChange},
    },
    text::{Document, problems::Problem},
    workspace::{Approval, Base, Revision, WorkspacePath},
};

use super::{
    Answer, CallContext, Change, Group, Kind, Plan, Preview, Spec, Tool, ToolError,
    alias::PATH_ALIASES,
    answer::count,
    fence::fenced,
    introduced_problems::{self, ChangedText, IntroducedProblems},
    references::{PathReference, shown},
    shown_diff::ShownDiff,
    with_history::Undoable,
};
use revert::RevertPlan;

/// The tool.
pub(crate) struct Undo;

/// Arguments of `undo`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Revert the last change to this path. Default: the last change of this session.
    path: Option<String>,
    /// `session`, a checkpoint's name, or `redo` to take the last undo back. Default: the last change.
    to: Option<String>,
    /// Only show what would be done. Default: false.
    dry_run: Option<bool>,
}

/// The complete result as data.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// What was reverted, as paths are printed.
    path: String,
    /// The tool whose change was reverted.
    reverted: String,
    /// Unified diff of what the undo did, cut to 60 lines.
    diff: String,
    /// Lines of the diff that are not shown.
    diff_cut_lines: usize,
    /// What else there is to know of it.
    notes: Vec<String>,
    /// Problems that the file has again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Problem>,
}

impl Tool for Undo {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "undo",
        title: "Undo the last change",
        purpose: "reverts your last change",
        description: "Revert this session's last change (write, edit, mkdir, move, copy or delete), or its last change \
            to a path, and show the diff. Only what is still as the change left it is reverted. A second undo goes one \
            change further back; to=redo takes the last undo back.",
        group: Group::Manage,
        aliases: &[PATH_ALIASES],
        read_only: false,
        destructive: true,
        idempotent: false,
        heavy: false,
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let redo = args.to.as_deref().is_some_and(|to| to.trim() == REDO);
        let found = match &args.path {
            _ if redo => cx.session.history.last_undo(),
            None => cx.session.history.last(None),
            Some(text) => last_change(cx, text)?,
        };
        let Some((number, change)) = found else {
            if redo {
                return Err(ToolError::new(Kind::NotFound, "this session has no undo that could be taken back")
                    .hint("redo brings back what a plain undo has reverted"));
            }
            let of = args.path.map_or_else(String::new, |path| format!(" to {}", shown(&path)));
            return Err(ToolError::new(
                Kind::NotFound,
                format!("this session has made no change{of} that could be undone"),
            )
            .hint(
                "undo covers only changes made with this server's tools in this session; `rootbound history` lists \
                   earlier ones",
            ));
        };
        let RevertPlan { diff, cost } = revert::check(cx, &change.effect)?;
        let planned = PlannedUndo { number, change, diff, cost, redo };
        if args.dry_run.unwrap_or(false) {
            return Ok(Plan::Answer(planned.dry_run(cx)));
        }
        Ok(Plan::Change(Box::new(planned)))
    }
}

/// The value of `to` that takes the last plain undo back.
const REDO: &str = "redo";

/// The last change to what `text` names.
fn last_change(cx: &CallContext, text: &str) -> Result<Option<(u64, UndoableChange)>, ToolError> {
    let history = &cx.session.history;
    let path = cx.workspace.resolve(text)?;
    // As it was named, or where it truly is: a deleted link is found by its own name.
    let real = cx.workspace.canonical(&path).ok();
    let own = cx.workspace.writable_entry(&path).map(|entry| entry.path().clone()).ok();
    let named = own.and_then(|own| history.last(Some(&own)));
    let named = named.or_else(|| real.and_then(|real| history.last(Some(&real))));
    let Some(tail) = cx.workspace.tail_of(text).filter(|_| named.is_none() && cx.workspace.is_missing(&path)) else {
        return Ok(named);
    };
    // By its end: among what was changed, for a file that was deleted or moved is no longer there.
    let fitting = history.changed_paths(|path| tail.fits(path));
    if fitting.len() > 1 {
        let message = format!("this session has changed {} that {} fits", count(fitting.len(), "path"), shown(text));
        let fitting: Vec<WorkspacePath> = fitting.into_iter().collect();
        let list: Vec<String> = fitting.iter().map(ToString::to_string).collect();
        let hint = "pass the whole path of the one that is meant";
        return Err(ToolError::new(Kind::Ambiguous, message).hint(hint).details(fenced(
            &cx.workspace,
            &fitting,
            list.join("\n"),
        )));
    }
    Ok(fitting.into_iter().next().and_then(|path| {
        let change = history.last(Some(&path));
        cx.references.add(PathReference::Resolved { given: text.to_owned(), path });
        change
    }))
}

struct PlannedUndo {
    number: u64,
    change: UndoableChange,
    diff: String,
    cost: Cost,
    /// Whether the change is an undo that is taken back.
    redo: bool,
}

impl PlannedUndo {
    /// What it would do.
    fn dry_run(&self, cx: &CallContext) -> Answer {
        let mut text = format!("Would do: {} (dry run, nothing was changed)", self.words().0);
        let shown = ShownDiff::of(cx, self.path(), &self.diff, 0);
        if !shown.block.is_empty() {
            let _ = write!(text, "\n\n{}", shown.block);
        }
        let output = Output {
            path: self.path().to_string(),
            reverted: self.change.tool.to_owned(),
            diff: shown.text,
            diff_cut_lines: shown.cut_lines,
            notes: shown.hidden.into_iter().collect(),
            problems: Vec::new(),
        };
        Answer::text(text, &output).data(cx, &output)
    }

    fn path(&self) -> &WorkspacePath {
        Self::path_of(&self.change.effect)
    }

    fn path_of(effect: &Effect) -> &WorkspacePath {
        match effect {
            // A change of no file is not remembered.
            Effect::Several(effects) => Self::path_of(&effects[0]),
            Effect::Wrote { path, .. } | Effect::Removed { path, .. } => path,
            Effect::Moved { from, .. } => from,
            Effect::Copied { to, .. } => to,
            // A change that made no directory is not remembered.
            Effect::Made { directories } => directories[directories.len() - 1].path(),
        }
    }

    /// What the undo does, in the infinitive and in the past.
    fn words(&self) -> (String, String) {
        let path = self.path();
        match &self.change.effect {
            Effect::Wrote { before: Some(_), .. } => {
                let tool = self.change.tool;
                (format!("Revert the last {tool} of {path}"), format!("Reverted the last {tool} of {path}"))
            }
            Effect::Wrote { before: None, .. } => {
                (format!("Delete {path}, which was created"), format!("Deleted {path}, which had been created"))
            }
            Effect::Removed { .. } => (format!("Bring back {path}"), format!("Brought back {path}")),
            Effect::Moved { to, .. } => (format!("Move {to} back to {path}"), format!("Moved {to} back to {path}")),
            Effect::Copied { .. } => (format!("Delete the copy {path}"), format!("Deleted the copy {path}")),
            Effect::Several(effects) => {
                let (tool, files) = (self.change.tool, count(effects.len(), "file"));
                (format!("Revert the last {tool} of {files}"), format!("Reverted the last {tool} of {files}"))
            }
            Effect::Made { .. } => (format!("Remove the directory {path}"), format!("Removed the directory {path}")),
        }
    }
}

impl PlannedUndo {
    /// The text of a file whose former content comes back: what it holds now, and what it will.
    fn undone_text(&self, cx: &CallContext) -> Option<(Document, Document)> {
        let Effect::Wrote { path, before: Some(former), .. } = &self.change.effect else { return None };
        if !introduced_problems::may_have_problems(cx, path) {
            return None;
        }
        let text = |bytes| Document::decode(bytes, None).ok();
        let now = text(cx.read_to_change(path).ok()?.bytes)?;
        let former = cx.session.history.content(former.revision)?;
        Some((now, text(cx.workspace.shown(path, former)?)?))
    }
}

impl Change for PlannedUndo {
    fn fingerprint(&self) -> super::Fingerprint {
        // The number of the change covers all it did; the revert itself checks that nothing has
        // happened to the file since.
        let change = Revision::of(format!("{} {}", self.number, self.diff).as_bytes());
        super::Fingerprint { path: self.path().to_string(), base: Base::Revision(change), content: None }
    }

    fn preview(&self) -> Preview {
        let destructive = !matches!(self.change.effect, Effect::Removed { .. } | Effect::Moved { .. });
        Preview { summary: self.words().0, diff: self.diff.clone(), destructive }
    }

    fn cost(&self) -> Cost {
        self.cost.clone()
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        let undone = self.undone_text(cx);
        // Taking an undo back is a change like any other; an undo is on the list only to be taken back.
        let undoable = if self.redo { Undoable::Yes } else { Undoable::AsUndoOf(self.number) };
        let removed = revert::revert(cx, &self.change, undoable, approval)?;
        cx.session.history.take_back(self.number);
        let mut text = self.words().1;
        if removed > 0 {
            let _ = write!(text, "; removed {} made for it", count(removed, "directory"));
        }
        let introduced = undone.map_or_else(IntroducedProblems::default, |(old, new)| {
            let (path, old) = (self.path(), Some(old.text()));
            IntroducedProblems::by(cx, &ChangedText { path, real: path, old, new: new.text() })
        });
        let cx = &introduced.leave_room(cx);
        let shown = ShownDiff::of(cx, self.path(), &self.diff, 0);
        if !shown.block.is_empty() {
            text.push_str("\n\n");
            text.push_str(&shown.block);
        }
        text.push_str(&introduced.text);
        let output = Output {
            path: self.path().to_string(),
            reverted: self.change.tool.to_owned(),
            diff: shown.text,
            diff_cut_lines: shown.cut_lines,
            notes: shown.hidden.into_iter().collect(),
            problems: introduced.problems,
        };
        Ok(Answer::text(text, &output).data(cx, &output))
    }
}
