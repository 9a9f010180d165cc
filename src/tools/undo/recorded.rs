//! Changes as the journal has them: those of other sessions, and of processes that have ended.
//!
//! The journal is a file of the user: whatever it says, its paths are resolved and judged like those of a call.

use std::{collections::HashMap, ffi::OsString, sync::Arc};

use confined_fs::{Revision, TreePosition, Workspace, WorkspacePath};

use crate::session::history::{Effect, Former, FormerEntry, FormerNode, JournalRecord, RecordKind, UndoableChange};

use super::super::{CallContext, Kind, ToolError};

/// A change, and what is known of it.
pub(super) struct KnownChange {
    /// The process that made it.
    pub(super) session: String,
    /// Which of its changes.
    pub(super) number: u64,
    /// The tool that made it.
    pub(super) tool: String,
    /// Who made it, where that is somebody else, as the end of a clause.
    pub(super) by: String,
    pub(super) change: UndoableChange,
}

impl KnownChange {
    /// A change of this session.
    pub(super) fn own(cx: &CallContext, number: u64, change: UndoableChange) -> Self {
        let session = cx.session.history.session().to_owned();
        Self { session, number, tool: change.tool.to_owned(), by: String::new(), change }
    }

    /// The last change of this session, to `path` or below it where one is given.
    pub(super) fn last(cx: &CallContext, path: Option<&WorkspacePath>) -> Option<Self> {
        let (number, change, by) = cx.session.history.last(path)?;
        let by = by.filter(|by| cx.by.as_ref() != Some(by)).map_or_else(String::new, |by| format!(" by {by}"));
        Some(Self { by, ..Self::own(cx, number, change) })
    }
}

/// The last change to one of these paths, or below it, that the journal has and no plain undo has taken back.
pub(super) fn last_change(cx: &CallContext, names: &[WorkspacePath]) -> Result<Option<KnownChange>, ToolError> {
    let workspace = &cx.workspace;
    let roots: Vec<&str> = workspace.roots().iter().map(|root| root.key()).collect();
    let mut records = cx.session.history.undoable_records(&roots).map_err(unreadable)?;
    let is_meant = |path: WorkspacePath| names.iter().any(|name| path.is_in(name));
    let fits = |record: &JournalRecord| {
        record.is_of_entry()
            && (path_of(workspace, record).is_some_and(is_meant) || moved_to(workspace, record).is_some_and(is_meant))
    };
    let Some(last) = records.iter().rev().find(|record| fits(record)).cloned() else { return Ok(None) };
    records.retain(|record| record.key() == last.key());
    Ok(changes(workspace, &records).pop())
}

/// The changes that these records describe, in their order. What cannot be a path here is left out.
pub(super) fn changes(workspace: &Workspace, records: &[JournalRecord]) -> Vec<KnownChange> {
    let mut groups: Vec<((&str, u64), Vec<&JournalRecord>)> = Vec::new();
    let mut places: HashMap<(&str, u64), usize> = HashMap::new();
    for record in records.iter().filter(|record| record.is_of_entry()) {
        let key = record.key();
        let at = *places.entry(key).or_insert_with(|| {
            groups.push((key, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(record);
    }
    let change = |((session, number), records): ((&str, u64), Vec<&JournalRecord>)| {
        let effect = Effect::Several(effects(workspace, &records));
        KnownChange {
            session: session.to_owned(),
            number,
            tool: records[0].tool.clone(),
            by: format!(" by {}", records[0].maker()),
            change: UndoableChange { tool: "undo", effect, made: Vec::new() },
        }
    };
    groups.into_iter().map(change).collect()
}

/// That the journal could not be read.
pub(super) fn unreadable(error: std::io::Error) -> ToolError {
    ToolError::new(Kind::Internal, format!("the history could not be read: {}", error.kind()))
        .hint("ask the user to look at the state folder of this server")
        .source(error)
}

fn effects(workspace: &Workspace, records: &[&JournalRecord]) -> Vec<Effect> {
    // A file that was moved over has a record of its own, with nothing after it.
    let is_moved_to = |path: &WorkspacePath| {
        records.iter().any(|record| record.to.is_some() && moved_to(workspace, record).as_ref() == Some(path))
    };
    let has_moves = records.iter().any(|record| record.to.is_some());
    let effect = |record: &&JournalRecord| {
        let path = path_of(workspace, record)?;
        if record.to.is_some() {
            let to = moved_to(workspace, record)?;
            let over = records.iter().find(|other| other.to.is_none() && other.new.is_none() && other.is_of(&to));
            let replaced = over.and_then(|over| former(over));
            return Some(Effect::Moved { from: path, to, mark: record.new_revision(), replaced });
        }
        let single = |node| Arc::new(vec![FormerEntry { position: TreePosition::top(), node }]);
        // Nobody knows a mark of what was made; what it held says more.
        let made = |node| Effect::Copied { to: path.clone(), mark: Revision::of(b""), entries: single(node) };
        let gone = |node| Effect::Removed { path: path.clone(), entries: single(node) };
        let directory = FormerNode::Directory { mode: record.mode.unwrap_or(0) };
        match (record.kind, record.new_revision(), &record.target) {
            (RecordKind::File, Some(after), _) => {
                Some(Effect::Wrote { path: path.clone(), before: former(record), after })
            }
            (RecordKind::File, None, _) if has_moves && is_moved_to(&path) => None,
            (RecordKind::File, None, _) => former(record).map(|former| gone(FormerNode::File(former))),
            (RecordKind::Directory, ..) => Some(gone(directory)),
            (RecordKind::Made, ..) => Some(made(directory)),
            (RecordKind::Link, Some(_), Some(target)) => Some(made(FormerNode::Link(OsString::from(target)))),
            (RecordKind::Link, None, Some(target)) => Some(gone(FormerNode::Link(OsString::from(target)))),
            (RecordKind::Link | RecordKind::Checkpoint | RecordKind::Void | RecordKind::Undone, ..) => None,
        }
    };
    records.iter().filter_map(effect).collect()
}

fn former(record: &JournalRecord) -> Option<Former> {
    let former = Former::new(record.old_revision()?, record.mode.unwrap_or(0) & 0o777);
    let state = record.state.as_ref().and_then(|state| state.parse().ok());
    Some(Former { state: state.unwrap_or(former.state), ..former })
}

/// The path of a record, which may have been printed under another name of its root.
pub(super) fn path_of(workspace: &Workspace, record: &JournalRecord) -> Option<WorkspacePath> {
    printed_as(workspace, record).map(|(_, path)| path)
}

/// The path of a record, and which of the [`meanings`] of its printed path that is.
fn printed_as(workspace: &Workspace, record: &JournalRecord) -> Option<(usize, WorkspacePath)> {
    let found = meanings(workspace, record, &record.shown).into_iter().enumerate();
    found.filter_map(|(index, path)| Some((index, path?))).find(|(_, path)| record.is_of(path))
}

/// Where to a record says that its entry moved: printed under the name of the root that its own path was printed under.
fn moved_to(workspace: &Workspace, record: &JournalRecord) -> Option<WorkspacePath> {
    let to = record.to.as_deref()?;
    let (index, _) = printed_as(workspace, record)?;
    meanings(workspace, record, to).into_iter().nth(index)?.filter(|path| !path.is_root())
}

/// What a printed path may mean.
fn meanings(workspace: &Workspace, record: &JournalRecord, shown: &str) -> [Option<WorkspacePath>; 3] {
    let root = workspace.roots().iter().find(|root| root.key() == record.root);
    let top = root.map(|root| workspace.root_path(root));
    let printed = top.map(|top| top.to_string()).unwrap_or_default();
    let bare = shown.strip_prefix("./").unwrap_or(shown);
    let below = bare.trim_start_matches('/').split_once('/').map_or("", |(_, rest)| rest);
    [shown.to_owned(), format!("{printed}/{bare}"), format!("{printed}/{below}")]
        .map(|text| workspace.resolve(&text).ok())
}
