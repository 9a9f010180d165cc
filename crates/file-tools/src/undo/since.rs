//! Which changes lie between now and an earlier state.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ffi::OsString,
    path::Path,
    sync::Arc,
};

use change_set::{EntryState, FileState, Rights, Workspace};
use confined_fs::WorkspacePath;

use super::{
    super::{CallContext, Kind, ToolError, commit::ChangedPart, context::echo, read_before_write::UNNAMED_CALLER},
    virtual_tree::DiskOfCall,
};
use crate::session::history::{
    CheckpointAsker, EntryChange, JournalRecord, MadeChange, PURGED, RecordKind, UndoableChange,
};

/// Checkpoints that an error names.
const NAMED: usize = 5;

/// A point in the history: the state to return to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryPoint<'a> {
    /// Before the first change of this session.
    Session,
    /// The checkpoint of this name that comes first for who asks.
    Checkpoint(&'a str, CheckpointAsker<'a>),
    /// Before the first change of a recorded session; only the changes of that session count.
    RecordedSession(&'a str),
}

#[derive(Debug, Default)]
pub(crate) struct ChangesSince {
    pub(crate) changes: Vec<UndoableChange>,
    /// Paths that others changed since, as far as these changes are not among them, each with what to say of it.
    pub(crate) others: BTreeMap<String, String>,
    /// Paths that were changed before these, in ways that are no longer remembered.
    pub(crate) lost: Vec<WorkspacePath>,
}

impl ChangesSince {
    /// Adds a change, to the paths of others where there is a `reason` to leave it alone.
    fn add(&mut self, cx: &CallContext, change: UndoableChange, reason: Option<String>) {
        let Some(reason) = reason else { return self.changes.push(change) };
        // A name that this caller may not change may be one that it may not see.
        let may_change = |path: &&WorkspacePath| DiskOfCall(cx).refusal(path, ChangedPart::Entry).is_none();
        let names = change.names().into_iter().filter(may_change);
        self.others.extend(names.map(|path| (path.to_string(), reason.clone())));
    }
}

/// The changes of this caller since a state. `all_sessions`: those of others as well.
pub(crate) fn changes_since(
    cx: &CallContext,
    earlier: HistoryPoint<'_>,
    all_sessions: bool,
) -> Result<ChangesSince, ToolError> {
    let history = &cx.session.history;
    let of_other = |by: Option<Arc<str>>| {
        let by = Some(by).filter(|by| !all_sessions && *by != cx.by)?;
        Some(format!("changed by {}", by.as_deref().unwrap_or(UNNAMED_CALLER)))
    };
    let own_since = |number| {
        let (changes, lost) = history.undo_list().since(number);
        let mut since = ChangesSince { lost, ..ChangesSince::default() };
        for (_, change, by) in changes.into_iter().rev() {
            since.add(cx, change, of_other(by));
        }
        since
    };
    let roots: Vec<&str> = cx.workspace.roots().iter().map(|root| root.key()).collect();
    let is_own = |record: &JournalRecord| *record.session == **history.session();
    // The list of this process knows more than the journal, as far as it goes back.
    let (records, first_own) = match earlier {
        // The journal has what the list of this process no longer has.
        HistoryPoint::Session if history.on_disk() && (all_sessions || !history.undo_list().since(0).1.is_empty()) => {
            let mut records = history.records(&roots, &[RecordKind::Void]).map_err(unreadable)?;
            let first = records.iter().position(is_own);
            // What came before the first change of this session is not a part of it.
            records.drain(..first.unwrap_or(records.len()));
            (records, Some(0))
        }
        HistoryPoint::Session => return Ok(own_since(0)),
        HistoryPoint::RecordedSession(id) => return recorded_session(cx, id),
        HistoryPoint::Checkpoint(name, asker) => {
            let Some((checkpoint, records)) = history.since_checkpoint(name, &roots, asker).map_err(unreadable)? else {
                let own = history.undo_list().checkpoints.get(name);
                return own.map(own_since).ok_or_else(|| no_checkpoint(cx, name));
            };
            let first = records.iter().filter(|record| is_own(record)).map(|record| record.change).min();
            (records, if is_own(&checkpoint) { Some(checkpoint.change) } else { first })
        }
    };
    let (mut own, _) = first_own.map_or_else(Default::default, |number| history.undo_list().since(number));
    let mut since = ChangesSince::default();
    for KnownChange { session, number, mut change, by, caller, .. } in recorded_changes(&cx.workspace, &records) {
        let mut reason = None;
        if *session != **history.session() {
            if !all_sessions {
                if earlier == HistoryPoint::Session {
                    continue;
                }
                let by = if caller.is_none() { " by another session" } else { &by };
                reason = Some(format!("changed{by}"));
            }
        } else if first_own.is_none_or(|first| number < first) {
            continue;
        } else {
            reason = of_other(caller);
            if let Some(at) = own.iter().position(|(own, ..)| *own == number) {
                change = own.remove(at).1;
            }
        }
        since.add(cx, change, reason);
    }
    // What the journal does not have comes last: it could not be written.
    for (_, change, by) in own {
        since.add(cx, change, of_other(by));
    }
    since.changes.reverse();
    Ok(since)
}

fn recorded_session(cx: &CallContext, id: &str) -> Result<ChangesSince, ToolError> {
    let roots: Vec<&str> = cx.workspace.roots().iter().map(|root| root.key()).collect();
    let mut records = cx.session.history.records(&roots, &[RecordKind::Void]).map_err(unreadable)?;
    records.retain(|record| record.session.starts_with(id) && record.is_of_entry());
    let sessions: BTreeSet<&str> = records.iter().map(|record| record.session.as_str()).collect();
    if sessions.len() != 1 {
        let message = if sessions.is_empty() {
            format!("the history has no changes of a session {id:?}")
        } else {
            format!("{} sessions begin with {id:?}", sessions.len())
        };
        return Err(ToolError::new(Kind::NotFound, message).hint("`rootbound history` lists them"));
    }
    let mut changes: Vec<UndoableChange> =
        recorded_changes(&cx.workspace, &records).into_iter().map(|recorded| recorded.change).collect();
    changes.reverse();
    Ok(ChangesSince { changes, ..ChangesSince::default() })
}

fn no_checkpoint(cx: &CallContext, name: &str) -> ToolError {
    let names: Vec<String> = cx.session.history.undo_list().checkpoints.names().into_iter().take(NAMED).collect();
    let hint = if names.is_empty() {
        "pass checkpoint=NAME with a change to name the state before it, or to=session for the whole session".to_owned()
    } else {
        format!("the checkpoints of this session are {}; to=session goes back to its start", names.join(", "))
    };
    ToolError::new(Kind::NotFound, format!("there is no checkpoint called {}", echo(name))).hint(hint)
}

// Changes as the journal has them: those of other sessions, and of processes that have ended.
//
// The journal is a file of the user: whatever it says, its paths are resolved and judged like those of a call.

/// A change, and what is known of it.
pub(super) struct KnownChange {
    pub(super) session: String,
    pub(super) number: u64,
    pub(super) tool: String,
    /// Whether this session made it, and so knows whether it was one entry.
    pub(super) is_own: bool,
    /// Who made it, where that is somebody else, as the end of a clause.
    pub(super) by: String,
    /// Who that is by name.
    caller: Option<Arc<str>>,
    pub(super) change: UndoableChange,
}

impl KnownChange {
    pub(super) fn own(cx: &CallContext, (number, change, caller): MadeChange) -> Self {
        let session = cx.session.history.session().to_string();
        let is_other = caller != cx.by;
        let by = if is_other { format!(" by {}", caller.as_deref().unwrap_or(UNNAMED_CALLER)) } else { String::new() };
        Self { session, number, tool: change.tool.to_owned(), is_own: true, by, caller, change }
    }

    /// The last change of this session to `path` or below it, whoever made it, or the last one of this caller.
    pub(super) fn last(cx: &CallContext, path: Option<&WorkspacePath>) -> Option<Self> {
        let is_caller = |by: Option<&Arc<str>>| path.is_some() || by == cx.by.as_ref();
        cx.session.history.undo_list().last(path, is_caller).map(|made| Self::own(cx, made))
    }
}

/// The last change to one of these paths, or below it, that the journal has and no plain undo has taken back.
pub(super) fn last_recorded(cx: &CallContext, names: &[WorkspacePath]) -> Result<Option<KnownChange>, ToolError> {
    let workspace = &cx.workspace;
    let roots: Vec<&str> = workspace.roots().iter().map(|root| root.key()).collect();
    let mut records =
        cx.session.history.records(&roots, &[RecordKind::Void, RecordKind::Undone]).map_err(unreadable)?;
    let is_meant = |path: WorkspacePath| names.iter().any(|name| path.is_in(name));
    let fits = |record: &JournalRecord| {
        record.is_of_entry()
            && (path_of(workspace, record).is_some_and(is_meant) || moved_to(workspace, record).is_some_and(is_meant))
    };
    let Some(last) = records.iter().rev().find(|record| fits(record)).cloned() else { return Ok(None) };
    records.retain(|record| record.key() == last.key());
    Ok(recorded_changes(workspace, &records).pop())
}

/// The changes that these records describe, in their order. What cannot be a path here is left out.
pub(super) fn recorded_changes(workspace: &Workspace, records: &[JournalRecord]) -> Vec<KnownChange> {
    let mut groups: Vec<Vec<&JournalRecord>> = Vec::new();
    let mut places: HashMap<(&str, u64), usize> = HashMap::new();
    for record in records.iter().filter(|record| record.is_of_entry()) {
        let at = *places.entry(record.key()).or_insert(groups.len());
        groups.extend((at == groups.len()).then(Vec::new));
        groups[at].push(record);
    }
    let change = |records: Vec<&JournalRecord>| {
        let entries = entries(workspace, &records).into();
        KnownChange {
            session: records[0].session.clone(),
            number: records[0].change,
            tool: records[0].tool.clone(),
            is_own: false,
            by: format!(" by {}", records[0].maker()),
            caller: records[0].by.as_deref().map(Arc::from),
            change: UndoableChange { tool: "undo", entries },
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

fn entries(workspace: &Workspace, records: &[&JournalRecord]) -> Vec<EntryChange> {
    // A file that was moved over has a record of its own, with nothing after it.
    let is_moved_to = |path: &WorkspacePath| {
        records.iter().any(|record| record.to.is_some() && moved_to(workspace, record).as_ref() == Some(path))
    };
    let has_moves = records.iter().any(|record| record.to.is_some());
    let directory = |record: &JournalRecord| Some(EntryState::Directory { rights: record.rights() });
    // A link whose target was purged is as a file whose content was.
    let link = |record: &JournalRecord| match &record.target {
        Some(target) => Some(EntryState::Link(OsString::from(target))),
        None => record.is_purged().then(|| PURGED.into()),
    };
    let entry = |record: &&JournalRecord| {
        let path = path_of(workspace, record)?;
        if record.to.is_some() {
            let to = moved_to(workspace, record)?;
            let over = records.iter().find(|other| other.to.is_none() && other.new.is_none() && other.is_of(&to));
            let replaced = over.and_then(|over| former(over)).map(EntryState::File);
            let is = match record.kind {
                RecordKind::Directory => Some(EntryState::Directory { rights: Rights::default() }),
                _ => record.new_revision().map(EntryState::from),
            };
            return Some(EntryChange { moved_from: Some(path), ..EntryChange::new(&to, replaced, is) });
        }
        let (from, to) = match (record.kind, record.new_revision()) {
            (RecordKind::File, Some(after)) => (former(record).map(EntryState::File), Some(after.into())),
            (RecordKind::File, None) if has_moves && is_moved_to(&path) => return None,
            (RecordKind::File, None) => (Some(EntryState::File(former(record)?)), None),
            (RecordKind::Directory, _) => (directory(record), None),
            (RecordKind::Made, _) => (None, directory(record)),
            (RecordKind::Link, Some(_)) => (None, Some(link(record)?)),
            (RecordKind::Link, None) => (Some(link(record)?), None),
            (RecordKind::Checkpoint | RecordKind::Void | RecordKind::Undone, _) => return None,
        };
        Some(EntryChange {
            appended: record.appended_part(),
            edited: record.edited_part(),
            is_parent: record.parent == Some(true),
            ..EntryChange::new(&path, from, to)
        })
    };
    records.iter().filter_map(entry).collect()
}

fn former(record: &JournalRecord) -> Option<FileState> {
    Some(FileState { revision: record.old_revision()?, rights: record.rights() })
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
pub(super) fn moved_to(workspace: &Workspace, record: &JournalRecord) -> Option<WorkspacePath> {
    let to = record.to.as_deref()?;
    let (index, _) = printed_as(workspace, record)?;
    meanings(workspace, record, to).into_iter().nth(index)?.filter(|path| !path.is_root())
}

/// The possible meanings of a printed path.
fn meanings(workspace: &Workspace, record: &JournalRecord, shown: &str) -> [Option<WorkspacePath>; 3] {
    let root = workspace.roots().iter().find(|root| root.key() == record.root);
    let top = root.map(|root| workspace.root_path(root));
    let printed = top.map(|top| top.to_string()).unwrap_or_default();
    // As it is, below the root's present name, and below that in the place of a former name.
    let bare = shown.strip_prefix("./").unwrap_or(shown);
    let below = bare.trim_start_matches('/').split_once('/').map_or("", |(_, rest)| rest);
    [shown.to_owned(), format!("{printed}/{bare}"), format!("{printed}/{below}")]
        .map(|text| workspace.resolve(&text).ok().or_else(|| by_names(workspace, &text)))
}

/// As [`Workspace::resolve`](confined_fs::Workspace::resolve), name by name: the path of an entry deep in a tree may be
/// longer than one that can be named in a call.
fn by_names(workspace: &Workspace, text: &str) -> Option<WorkspacePath> {
    let mut names = text.split('/');
    let top = workspace.resolve(names.next()?).ok()?;
    names.try_fold(top.clone(), |above, name| Some(above.child(Path::new(top.join(name).ok()?.file_name()?))))
}
