//! Which changes lie between now and an earlier state.

use std::collections::BTreeSet;

use confined_fs::WorkspacePath;

use crate::session::history::{JournalRecord, UndoableChange};

use super::{
    super::{CallContext, Kind, ToolError, references::shown},
    disk_of_call::DiskOfCall,
    planner::{ChangedPart, DiskAndHistory as _},
    recorded::{self, KnownChange, unreadable},
};

/// Checkpoints that an error names.
const NAMED: usize = 5;

/// A point in the history: the state to return to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HistoryPoint<'a> {
    /// Before the first change of this session.
    Session,
    /// The checkpoint of this name.
    Checkpoint(&'a str),
    /// Before the first change of a recorded session; only the changes of that session count.
    RecordedSession(&'a str),
}

/// Changes to be taken back.
#[derive(Debug, Default)]
pub(in crate::tools) struct ChangesSince {
    pub(in crate::tools) changes: Vec<UndoableChange>,
    /// Paths that other sessions changed since, as far as these changes are not among them.
    pub(in crate::tools) others: BTreeSet<String>,
    /// What was changed before these, in ways that are no longer remembered.
    pub(in crate::tools) lost: Vec<WorkspacePath>,
}

/// The changes since a state. `all_sessions`: those of other sessions as well.
pub(in crate::tools) fn changes_since(
    cx: &CallContext,
    earlier: HistoryPoint<'_>,
    all_sessions: bool,
) -> Result<ChangesSince, ToolError> {
    let history = &cx.session.history;
    let own_since = |number| {
        let (changes, lost) = history.since(number);
        let changes = changes.into_iter().rev().map(|(_, change)| change).collect();
        ChangesSince { changes, others: BTreeSet::new(), lost }
    };
    let roots: Vec<&str> = cx.workspace.roots().iter().map(|root| root.key()).collect();
    let is_own = |record: &JournalRecord| record.session == history.session();
    // The list of this process knows more than the journal, as far as it goes back.
    let (records, first_own) = match earlier {
        // The journal has what the list of this process no longer has.
        HistoryPoint::Session if history.on_disk() && (all_sessions || !history.since(0).1.is_empty()) => {
            let mut records = history.records(&roots).map_err(unreadable)?;
            let first = records.iter().position(is_own);
            records.drain(..first.unwrap_or(records.len()));
            (records, Some(0))
        }
        HistoryPoint::Session => return Ok(own_since(0)),
        HistoryPoint::RecordedSession(id) => return recorded_session(cx, id),
        HistoryPoint::Checkpoint(name) => {
            let Some((checkpoint, records)) = history.since_checkpoint(name, &roots).map_err(unreadable)? else {
                return history.own_checkpoint(name).map(own_since).ok_or_else(|| no_checkpoint(cx, name));
            };
            let first = records.iter().filter(|record| is_own(record)).map(|record| record.change).min();
            (records, if is_own(&checkpoint) { history.own_checkpoint(name) } else { first })
        }
    };
    let (mut own, _) = first_own.map_or_else(Default::default, |number| history.since(number));
    let mut since = ChangesSince::default();
    // A name that this caller may not change may be one that it may not see.
    let may_change = |path: &&WorkspacePath| DiskOfCall(cx).refusal(path, ChangedPart::Entry).is_none();
    for KnownChange { session, number, mut change, .. } in recorded::changes(&cx.workspace, &records) {
        if session != history.session() {
            if !all_sessions {
                let names = change.effect.names().into_iter().filter(may_change).map(ToString::to_string);
                since.others.extend(names);
                continue;
            }
        } else if first_own.is_none_or(|first| number < first) {
            continue;
        } else if let Some(at) = own.iter().position(|(own, _)| *own == number) {
            change = own.remove(at).1;
        }
        since.changes.push(change);
    }
    // What the journal does not have comes last: it could not be written.
    since.changes.extend(own.into_iter().map(|(_, change)| change));
    if earlier == HistoryPoint::Session && !all_sessions {
        since.others.clear();
    }
    since.changes.reverse();
    Ok(since)
}

fn recorded_session(cx: &CallContext, id: &str) -> Result<ChangesSince, ToolError> {
    let roots: Vec<&str> = cx.workspace.roots().iter().map(|root| root.key()).collect();
    let mut records = cx.session.history.records(&roots).map_err(unreadable)?;
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
        recorded::changes(&cx.workspace, &records).into_iter().map(|recorded| recorded.change).collect();
    changes.reverse();
    Ok(ChangesSince { changes, ..ChangesSince::default() })
}

fn no_checkpoint(cx: &CallContext, name: &str) -> ToolError {
    let names: Vec<String> = cx.session.history.checkpoint_names().into_iter().take(NAMED).collect();
    let hint = if names.is_empty() {
        "pass checkpoint=NAME with a change to name the state before it, or to=session for the whole session".to_owned()
    } else {
        format!("the checkpoints of this session are {}; to=session goes back to its start", names.join(", "))
    };
    ToolError::new(Kind::NotFound, format!("there is no checkpoint called {}", shown(name))).hint(hint)
}
