//! `undo`: revert the caller's last change, or all changes since a checkpoint, where what they left is unchanged.
//!
//! A second plain undo goes one change further back, and `to=redo` takes the last plain undo back. An undo to a
//! checkpoint is one change on the list like any other: a plain undo takes it back.

mod plan;
mod planner;
pub mod purge;
pub mod restore;
mod since;
mod virtual_tree;

use std::collections::BTreeMap;

use change_set::EntryState;
use confined_fs::{Revision, WorkspacePath};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::session::history::{CheckpointAsker, EntryChange};

use super::{
    CallContext, Group, Kind, Plan, Spec, Tool, ToolError,
    answer::count,
    commit::{self, ChangedPart, Undoable},
    context::{PathReference, echo},
    fence::fenced,
    read_before_write,
    tool::PATH_ALIASES,
};
use plan::{Output, PlannedReturn, SingleChange};
use planner::{Reason, SkippedPath};
use since::KnownChange;
use virtual_tree::DiskOfCall;

pub(super) use plan::{DiffDirection, UndoPlan};
pub(super) use planner::skipped_headline;
pub use since::HistoryPoint;
pub(super) use since::{ChangesSince, changes_since};

pub(crate) struct Undo;

/// Arguments of `undo`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Revert the last change to this path or below it (of a move, to either path), whole if it is of several files; with
    /// `to`, only what is at or below it. Default: all.
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
        description: "Revert your last change, or the last change to a path. A change of several files is reverted as a \
            whole. Only what is still as the change left it is reverted. A second undo goes one \
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
            ToolError::new(Kind::NotFound, "you have no undo since your last change that could be taken back")
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
    let path = change.tops().first().map(|top| path_of(top).to_string()).unwrap_or_default();
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
    let undoable = if is_redo { Undoable::AsRedo } else { Undoable::AsUndo };
    let change = &last.change;
    let only = ChangesSince { changes: vec![change.clone()], ..ChangesSince::default() };
    let plan = UndoPlan::of(cx, &only, false, &[], DiffDirection::Back)?;
    let tops = change.tops();
    let single = if let ([top], true) = (&*tops, last.is_own) { Some(*top) } else { None };
    if let Some(top) = single
        && top.moved_from.is_some()
        && top.mark.is_some_and(|mark| DiskOfCall(cx).content_mark(&top.path).is_some_and(|now| now != mark))
    {
        return Err(refused(cx, top, &SkippedPath { path: top.path.clone(), reason: Reason::Changed }));
    }
    if let Some(left) = plan.skipped.first() {
        return Err(match single {
            Some(top) => refused(cx, top, left),
            None => not_whole(cx, &plan, left),
        });
    }
    if plan.changes.is_empty() {
        cx.session.history.take_back(&last.session, last.number);
        return Ok(None);
    }
    let (order, done) = single.map_or_else(
        || {
            let files = match &*tops {
                [one] => path_of(one).to_string(),
                several => {
                    let is_directory = |is: &Option<EntryState>| matches!(is, Some(EntryState::Directory { .. }));
                    let has_directory = several.iter().any(|top| is_directory(&top.from) || is_directory(&top.to));
                    count(several.len(), if has_directory { "entry" } else { "file" })
                }
            };
            let what = format!("the last {} of {files}{}", last.tool, last.by);
            (format!("Revert {what}"), format!("Reverted {what}"))
        },
        |top| summaries(&last, top),
    );
    // Those above a directory that was asked for are no more than that.
    let is_counted = |entry: &&EntryChange| entry.is_parent && last.tool != "mkdir";
    let parents = || change.entries.iter().filter(is_counted).map(|entry| entry.path.clone()).collect();
    let single = single.map(|top| SingleChange {
        path: path_of(top).clone(),
        comes_back: top.from.is_some() && top.moved_from.is_none(),
        // Neither replaces anything: an entry that is at the old place by now is an error.
        is_destructive: top.moved_from.is_none() && top.to.is_some(),
        former: match (&top.from, &top.to) {
            (Some(EntryState::File(former)), Some(_)) if top.moved_from.is_none() => Some(former.revision),
            _ => None,
        },
        parents: parents(),
    });
    let planned = PlannedReturn {
        order,
        done,
        whose: whose(cx, plan.paths.iter()).filter(|_| last.by.is_empty()),
        reverted: last.tool,
        others: BTreeMap::new(),
        undoable,
        is_of_others: !last.by.is_empty(),
        takes_back: Some((last.session, last.number)),
        plan,
        single,
    };
    Ok(Some(planned.plan(cx, dry_run)))
}

/// The path that names a change: of a move, the one that is free since.
fn path_of(top: &EntryChange) -> &WorkspacePath {
    top.moved_from.as_ref().unwrap_or(&top.path)
}

/// The sentence for taking back a change of one entry, or tree, in the infinitive and in the past.
fn summaries(last: &KnownChange, top: &EntryChange) -> (String, String) {
    let KnownChange { tool, by, .. } = last;
    let path = path_of(top);
    let texts = |now: &str, past: &str, done: &str| {
        let was = if by.is_empty() { String::new() } else { format!(", which was {done}{by}") };
        (format!("{now} {path}{was}"), format!("{past} {path}{was}"))
    };
    let writes = matches!(tool.as_str(), "write" | "edit" | "apply_patch");
    match (&top.moved_from, &top.from, &top.to) {
        (Some(_), ..) => {
            let to = &top.path;
            texts(&format!("Move {to} back to"), &format!("Moved {to} back to"), "moved")
        }
        (None, Some(_), Some(_)) => {
            (format!("Revert the last {tool} of {path}{by}"), format!("Reverted the last {tool} of {path}{by}"))
        }
        (None, Some(_), None) => texts("Bring back", "Brought back", "deleted"),
        (None, None, _) if tool == "mkdir" => texts("Remove the directory", "Removed the directory", "made"),
        (None, None, _) if writes => {
            (format!("Delete {path}, which was created{by}"), format!("Deleted {path}, which had been created{by}"))
        }
        (None, None, _) => texts("Delete the copy", "Deleted the copy", "made"),
    }
}

/// Why a change of one entry, or tree, is not taken back.
fn refused(cx: &CallContext, top: &EntryChange, left: &SkippedPath) -> ToolError {
    let path = if top.moved_from.is_some() { &top.path } else { path_of(top) };
    match &left.reason {
        Reason::Occupied => {
            ToolError::new(Kind::Stale, format!("another entry is at {} now, and undo does not replace it", left.path))
                .hint("move it out of the way, then undo again")
        }
        Reason::NotKept => {
            let message =
                format!("the earlier content of {path} is no longer kept: it was purged, or there were too many");
            ToolError::new(Kind::NotFound, message).hint("write the content again")
        }
        Reason::Gone => {
            let message = format!("{path} is no longer what the change left there, so the change is not undone");
            ToolError::new(Kind::Stale, message).hint("look at what is there now with ls")
        }
        Reason::Refused(why) => match commit::writable(cx, &left.path, ChangedPart::Entry) {
            Err(error) => error.into(),
            Ok(_) => ToolError::new(Kind::Stale, format!("{} is not brought back: {why}", left.path))
                .hint("look at what is there now with ls"),
        },
        Reason::Changed | Reason::NotEmpty => {
            // The caller's own later change is not the one that would be lost.
            let by =
                |now: Revision| Some(read_before_write::by(cx, path, (None, now), ",")).filter(|by| by != ", by you");
            let now = cx.workspace.read(path, cx.settings.max_file_size).ok();
            let by = now.and_then(|now| by(now.revision)).unwrap_or_default();
            ToolError::new(Kind::Stale, format!("{path} has changed since{by}, and undo would lose that change"))
                .hint("read it and edit it instead")
        }
    }
}

/// Why a change of several files is not taken back: all of it, or nothing.
fn not_whole(cx: &CallContext, plan: &UndoPlan, first: &SkippedPath) -> ToolError {
    let list: Vec<String> = plan.skipped.iter().map(|left| format!("{} ({})", left.shown(), left.reason)).collect();
    let paths: Vec<&WorkspacePath> = plan.skipped.iter().map(|left| &left.path).collect();
    let message = format!(
        "{} is no longer what the change left ({}), so none of its files is reverted",
        first.shown(),
        first.reason
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
    let alone = within.first().map(|path| format!(", {path} alone")).unwrap_or_default();
    if !within.is_empty() {
        // They are printed names, of which nobody can say whether they are below a path.
        since.others.clear();
    }
    // Whoever changed it after this caller did is worth more than that it was changed.
    plan.skipped.retain(|left| !since.others.contains_key(&left.path.to_string()));
    Ok(PlannedReturn {
        whose: whose(cx, plan.paths.iter()),
        plan,
        order: format!("Go back to {where_to}{alone}"),
        done: format!("Went back to {where_to}{alone} (undo takes this back)"),
        reverted: "undo".to_owned(),
        others: since.others,
        undoable: Undoable::Yes,
        is_of_others: includes_others,
        takes_back: None,
        single: None,
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
