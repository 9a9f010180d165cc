//! `undo`: revert the caller's last change, or all changes since a checkpoint, where what they left is unchanged.
//!
//! A second plain undo goes one change further back, and `to=redo` takes the last plain undo back. An undo to a
//! checkpoint is one change on the list like any other: a plain undo takes it back.

mod plan;
mod planner;
pub mod restore;
mod revert;
mod since;
mod virtual_tree;

use std::{collections::BTreeMap, fmt::Write as _};

use change_set::{Approval, Base};
use confined_fs::{Revision, WorkspacePath};
use schemars::JsonSchema;
use serde::Deserialize;
use text_file::Document;

use crate::session::{
    Cost,
    history::{CheckpointAsker, Effect},
};

use super::{
    Answer, CallContext, Change, Group, Kind, Plan, Preview, Spec, Tool, ToolError,
    answer::count,
    commit::Undoable,
    context::{PathReference, echo},
    fence::fenced,
    introduced_problems::{self, ChangedText, IntroducedProblems},
    shown_diff::ShownDiff,
    tool::PATH_ALIASES,
};
use plan::{Output, PlannedReturn};
use planner::SkippedPath;
use revert::RevertPlan;
use since::KnownChange;

pub(super) use plan::{DiffDirection, UndoPlan};
pub(super) use planner::skipped_headline;
pub use since::HistoryPoint;
pub(super) use since::{ChangesSince, changes_since};

/// Reverts changes.
pub(crate) struct Undo;

/// Arguments of `undo`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Revert the last change to this path or below it; with `to`, only what is at or below it. Default: all.
    path: Option<String>,
    /// `session`, a checkpoint's name, or `redo` to take the last undo back. Default: the last change.
    to: Option<String>,
    /// With a checkpoint or `session`: also take back what others changed since. Default: false.
    include_others: Option<bool>,
    /// Only show what would be done. Default: false.
    dry_run: Option<bool>,
}

impl Tool for Undo {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "undo",
        title: "Undo the last change",
        purpose: "reverts your last change",
        description: "Revert your last change, or the last change to a path, and show the diff. A patch or an edit of \
            several files is reverted as a whole. Only what is still as the change left it is reverted. A second undo goes one \
            change further back; to=redo reverts the last undo. With to=session or to=CHECKPOINT all later changes are \
            reverted in one step; the next undo reverts that step.",
        group: Group::Manage,
        aliases: &[PATH_ALIASES],
        ..Spec::CHANGES
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let to = args.to.as_deref().map(str::trim).filter(|to| !to.is_empty());
        let includes_others = args.include_others.unwrap_or(false);
        let earlier = match to {
            Some(REDO) => return redo(cx, &args),
            Some("session") => Some(HistoryPoint::Session),
            Some(name) => Some(HistoryPoint::Checkpoint(name, CheckpointAsker::Model(cx.by.as_deref()))),
            None => None,
        };
        if let Some(earlier) = earlier {
            let planned = plan_return(cx, earlier, args.path.as_deref(), includes_others)?;
            return Ok(planned.plan(cx, args.dry_run));
        }
        if includes_others {
            return Err(ToolError::invalid("include_others needs `to`")
                .hint("pass to=session or a checkpoint's name as well, or leave include_others out"));
        }
        loop {
            let found = match &args.path {
                None => KnownChange::last(cx, None),
                Some(text) => last_change(cx, text)?,
            };
            let Some(found) = found else {
                return Err(args
                    .path
                    .map_or_else(|| no_own_change(cx), |path| no_change(&format!(" to {}", echo(&path)))));
            };
            if let Some(plan) = plan_revert(cx, found, false, args.dry_run)? {
                return Ok(plan);
            }
        }
    }
}

/// Reverts the last plain undo.
fn redo(cx: &CallContext, args: &Args) -> Result<Plan, ToolError> {
    if args.path.is_some() || args.include_others.is_some() {
        return Err(ToolError::invalid("to=redo takes neither path nor include_others")
            .hint("it takes the last undo back, whatever that was; pass to=redo alone"));
    }
    loop {
        let last = cx.session.history.undo_list().last_undo(cx.by.as_ref()).ok_or_else(|| {
            ToolError::new(Kind::NotFound, "you have no undo in this session that could be taken back")
                .hint("redo brings back what a plain undo has reverted; undo takes an undo with `to` back")
        })?;
        if let Some(plan) = plan_revert(cx, KnownChange::own(cx, last), true, args.dry_run)? {
            return Ok(plan);
        }
    }
}

/// The error of an undo without a path, where at most others have changed something.
fn no_own_change(cx: &CallContext) -> ToolError {
    let last = cx.session.history.undo_list().last(None, |_| true);
    let Some(KnownChange { tool, by, change, .. }) = last.map(|made| KnownChange::own(cx, made)) else {
        return no_change("");
    };
    let path = PlannedUndo::path_of(&change.effect);
    let made = format!("the last change of this session was made{by} ({tool} of {path})");
    ToolError::new(Kind::NotFound, format!("{made}; undo without a path takes back your own changes only"))
        .hint(format!("leave it as it is, or pass path={path} to take it back"))
}

/// The note on changes of these paths, as far as more than one caller may know them and they cannot be told apart.
fn whose<'p>(cx: &CallContext, mut paths: impl Iterator<Item = &'p WorkspacePath>) -> Option<String> {
    let by = cx.by.as_ref().filter(|_| !cx.is_individual)?;
    let is_shared = paths.any(|path| cx.session.ledger.states(path).is_shared());
    is_shared.then(|| format!("(made through {by}, whose callers cannot be told apart)"))
}

fn no_change(of: &str) -> ToolError {
    ToolError::new(Kind::NotFound, format!("this session has made no change{of} that could be undone")).hint(
        "undo covers only changes made with this server's tools in this session; the user can bring back earlier ones",
    )
}

/// The plan of taking one change back, or an undo of it. None where all is already as it was before: such a change counts
/// as taken back from here on, so that the one before it comes next.
fn plan_revert(
    cx: &CallContext,
    last: KnownChange,
    is_redo: bool,
    dry_run: Option<bool>,
) -> Result<Option<Plan>, ToolError> {
    // Taking an undo back is a change like any other; an undo is on the list only to be taken back.
    let undoable = if is_redo { Undoable::Yes } else { Undoable::AsUndo };
    let change = &last.change;
    if let Effect::Several(effects) = &change.effect {
        let only = ChangesSince { changes: vec![change.clone()], ..ChangesSince::default() };
        let plan = UndoPlan::of(cx, &only, false, &[], DiffDirection::Back)?;
        if let Some(left) = plan.skipped.first() {
            return Err(not_whole(cx, &plan, left));
        }
        if plan.changes.is_empty() {
            cx.session.history.take_back(&last.session, last.number);
            return Ok(None);
        }
        let files = match effects.as_slice() {
            [one] => PlannedUndo::path_of(one).to_string(),
            several => count(several.len(), "file"),
        };
        let what = format!("the last {} of {files}{}", last.tool, last.by);
        let planned = PlannedReturn {
            order: format!("Revert {what}"),
            done: format!("Reverted {what}"),
            reverted: last.tool,
            others: BTreeMap::new(),
            whose: whose(cx, plan.paths.iter()).filter(|_| last.by.is_empty()),
            undoable,
            takes_back: Some((last.session, last.number)),
            plan,
        };
        return Ok(Some(planned.plan(cx, dry_run)));
    }
    let RevertPlan { diff, cost } = revert::check(cx, &change.effect)?;
    let planned = PlannedUndo { last, diff, cost, undoable };
    if !dry_run.unwrap_or(false) {
        return Ok(Some(Plan::Change(Box::new(planned))));
    }
    let text = format!("Would do: {} (dry run, nothing was changed)", planned.summaries().0);
    Ok(Some(Plan::Answer(planned.answer(cx, text, IntroducedProblems::default()))))
}

/// Why a change of several files is not taken back: all of it, or nothing.
fn not_whole(cx: &CallContext, plan: &UndoPlan, first: &SkippedPath) -> ToolError {
    let list: Vec<String> = plan.skipped.iter().map(|left| format!("{} ({})", left.path, left.reason)).collect();
    let paths: Vec<&WorkspacePath> = plan.skipped.iter().map(|left| &left.path).collect();
    let message = format!(
        "{} is no longer what the change left ({}), so none of its files is reverted",
        first.path, first.reason
    );
    ToolError::new(Kind::Stale, message)
        .hint("read it and edit it instead, or undo to a checkpoint or to=session, which leaves such files alone")
        .details(fenced(&cx.workspace, paths, list.join("\n")))
}

/// The plan of going back to an earlier state.
fn plan_return(
    cx: &CallContext,
    earlier: HistoryPoint<'_>,
    path: Option<&str>,
    includes_others: bool,
) -> Result<PlannedReturn, ToolError> {
    let within = path.map(|text| cx.resolve(text)).transpose()?;
    let within: Vec<WorkspacePath> =
        within.map(|path| cx.workspace.canonical(&path).unwrap_or(path)).into_iter().collect();
    let mut since = changes_since(cx, earlier, includes_others)?;
    if since.changes.is_empty() && since.others.is_empty() && earlier == HistoryPoint::Session {
        return Err(no_change(""));
    }
    let mut plan = UndoPlan::of(cx, &since, includes_others, &within, DiffDirection::Back)?;
    let where_to = match earlier {
        HistoryPoint::Checkpoint(name, _) => format!("the checkpoint {}", echo(name)),
        _ => "the start of this session".to_owned(),
    };
    if !within.is_empty() {
        // They are printed names, of which nobody can say whether they are below a path.
        since.others.clear();
    }
    // Whoever changed it after this caller did is worth more than that it was changed.
    plan.skipped.retain(|left| !since.others.contains_key(&left.path.to_string()));
    Ok(PlannedReturn {
        whose: whose(cx, plan.paths.iter()),
        plan,
        order: format!("Go back to {where_to}"),
        done: format!("Went back to {where_to} (undo takes this back)"),
        reverted: "undo".to_owned(),
        others: since.others,
        undoable: Undoable::Yes,
        takes_back: None,
    })
}

/// The value of `to` that takes the last plain undo back.
const REDO: &str = "redo";

/// The last change to what `text` names: of this session, or else the last one in the state folder.
fn last_change(cx: &CallContext, text: &str) -> Result<Option<KnownChange>, ToolError> {
    let history = &cx.session.history;
    let path = cx.workspace.resolve(text)?;
    // As it was named, or where it truly is: a deleted link is found by its own name.
    let real = cx.workspace.canonical(&path).ok();
    let entry = cx.workspace.writable_entry(&path).map(|entry| entry.path().clone()).ok();
    let names: Vec<WorkspacePath> = entry.into_iter().chain(real).collect();
    let found = names.iter().find_map(|name| KnownChange::last(cx, Some(name)));
    if found.is_none()
        && let Some(recorded) = since::last_recorded(cx, &names)?
    {
        return Ok(Some(recorded));
    }
    let Some(tail) = cx.workspace.tail_of(text).filter(|_| found.is_none() && cx.workspace.is_missing(&path)) else {
        return Ok(found);
    };
    // By its end: among what was changed, for a file that was deleted or moved is no longer there.
    let fitting = history.undo_list().paths(|path| tail.fits(path));
    if fitting.len() > 1 {
        let message = format!("this session has changed {} that {} fits", count(fitting.len(), "path"), echo(text));
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
        let change = KnownChange::last(cx, Some(&path));
        cx.references.add(PathReference { given: Some(text.to_owned()), path });
        change
    }))
}

struct PlannedUndo {
    last: KnownChange,
    diff: String,
    cost: Cost,
    undoable: Undoable,
}

impl PlannedUndo {
    /// `text` with the diff, and the problems that came back with a former content.
    fn answer(&self, cx: &CallContext, mut text: String, introduced: IntroducedProblems) -> Answer {
        let shown = ShownDiff::of(&introduced.leave_room(cx), self.path(), &self.diff, 0);
        let whose = whose(cx, [self.path()].into_iter()).filter(|_| self.last.by.is_empty());
        text.extend(whose.iter().map(|whose| format!("\n{whose}")));
        if !shown.block.is_empty() {
            let _ = write!(text, "\n\n{}", shown.block);
        }
        text.push_str(&introduced.text);
        let output = Output {
            path: self.path().to_string(),
            reverted: self.last.tool.clone(),
            diff: shown.text,
            diff_cut_lines: shown.cut_lines,
            notes: whose.into_iter().chain(shown.hidden).collect(),
            problems: introduced.problems,
            ..Output::default()
        };
        Answer::text(text, &output).data(cx, &output)
    }

    fn path(&self) -> &WorkspacePath {
        Self::path_of(&self.last.change.effect)
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

    /// The sentence for the undo, in the infinitive and in the past.
    fn summaries(&self) -> (String, String) {
        let path = self.path();
        let KnownChange { tool, by, change, .. } = &self.last;
        let texts = |now: &str, past: &str, done: &str| {
            let was = if by.is_empty() { String::new() } else { format!(", which was {done}{by}") };
            (format!("{now} {path}{was}"), format!("{past} {path}{was}"))
        };
        match &change.effect {
            // A change of several files is planned otherwise.
            Effect::Wrote { before: Some(_), .. } | Effect::Several(_) => {
                (format!("Revert the last {tool} of {path}{by}"), format!("Reverted the last {tool} of {path}{by}"))
            }
            Effect::Wrote { before: None, .. } => {
                (format!("Delete {path}, which was created{by}"), format!("Deleted {path}, which had been created{by}"))
            }
            Effect::Removed { .. } => texts("Bring back", "Brought back", "deleted"),
            Effect::Moved { to, .. } => texts(&format!("Move {to} back to"), &format!("Moved {to} back to"), "moved"),
            Effect::Copied { .. } => texts("Delete the copy", "Deleted the copy", "made"),
            Effect::Made { .. } => texts("Remove the directory", "Removed the directory", "made"),
        }
    }

    /// The text of a file whose former content comes back: what it holds now, and what it will.
    fn undone_text(&self, cx: &CallContext) -> Option<(Document, Document)> {
        let Effect::Wrote { path, before: Some(former), .. } = &self.last.change.effect else { return None };
        if !introduced_problems::may_have_problems(cx, path) {
            return None;
        }
        let text = |bytes| Document::decode(bytes, None).ok();
        let now = text(cx.read_to_change(path).ok()?.bytes)?;
        let former = cx.session.history.content(former.revision)?;
        Some((now, text(former)?))
    }
}

impl Change for PlannedUndo {
    fn fingerprint(&self) -> super::Fingerprint {
        // The number of the change covers all it did; the revert itself checks that nothing has
        // happened to the file since.
        let change = Revision::of(format!("{} {}", self.last.number, self.diff).as_bytes());
        super::Fingerprint { path: self.path().to_string(), base: Base::Revision(change), content: None }
    }

    fn preview(&self) -> Preview {
        // Neither replaces anything: an entry that is at the old place by now is an error.
        let destructive = !matches!(self.last.change.effect, Effect::Removed { .. } | Effect::Moved { .. });
        Preview { summary: self.summaries().0, diff: self.diff.clone(), destructive }
    }

    fn cost(&self) -> Cost {
        self.cost.clone()
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        // Read before the revert, after which the file holds the former text.
        let undone = self.undone_text(cx);
        let removed = revert::revert(cx, &self.last.change, self.undoable, approval)?;
        // After the revert: a change whose revert failed can still be undone.
        cx.session.history.take_back(&self.last.session, self.last.number);
        let mut text = self.summaries().1;
        let is_back =
            matches!(&self.last.change.effect, Effect::Wrote { before: Some(_), .. } | Effect::Removed { .. });
        // What came back counts as seen.
        if let Some(now) = cx.session.ledger.seen(self.path()).filter(|_| is_back) {
            let _ = write!(text, ", rev {}", now.revision.short());
        }
        if removed > 0 {
            let _ = write!(text, "; removed {} made for it", count(removed, "directory"));
        }
        let introduced = undone.map_or_else(IntroducedProblems::default, |(old, new)| {
            let (path, old) = (self.path(), Some(old.text()));
            IntroducedProblems::by(cx, &ChangedText { path, real: path, old, new: new.text() })
        });
        Ok(self.answer(cx, text, introduced))
    }
}
