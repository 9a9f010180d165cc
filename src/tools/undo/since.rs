//! Which changes lie between now and an earlier state.

use std::collections::BTreeSet;

use crate::{
    session::history::{JournalRecord, RecordKind, UndoableChange},
    workspace::WorkspacePath,
};

use super::{
    super::{CallContext, Kind, ToolError, references::shown},
    disk_of_call::DiskOfCall,
    recorded::{self, RecordedChange},
    walk_back::{ChangedPart, DiskAndHistory as _},
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
    /// The newest first.
    pub(in crate::tools) changes: Vec<UndoableChange>,
    /// Paths that other sessions changed since, as far as these changes are not among them.
    pub(in crate::tools) others: BTreeSet<String>,
    /// Whether older changes are no longer remembered.
    pub(in crate::tools) is_cut: bool,
}

/// The changes since a state. `all_sessions`: those of other sessions as well.
pub(in crate::tools) fn changes_since(
    cx: &CallContext,
    earlier: HistoryPoint<'_>,
    all_sessions: bool,
) -> Result<ChangesSince, ToolError> {
    let history = &cx.session.history;
    let own_since = |number| {
        let (changes, is_whole) = history.since(number);
        let changes = changes.into_iter().rev().map(|(_, change)| change).collect();
        ChangesSince { changes, others: BTreeSet::new(), is_cut: !is_whole }
    };
    let name = match earlier {
        HistoryPoint::Session => return Ok(own_since(0)),
        HistoryPoint::RecordedSession(id) => return recorded_session(cx, id),
        HistoryPoint::Checkpoint(name) => name,
    };
    let roots: Vec<&str> = cx.workspace.roots().iter().map(|root| root.key()).collect();
    let recorded = history.since_checkpoint(name, &roots).map_err(unreadable)?;
    let Some(records) = recorded else {
        return history.own_checkpoint(name).map(own_since).ok_or_else(|| no_checkpoint(cx, name));
    };
    let (records, is_own) = since(cx, records, history.session());
    // The list of this process knows more than the journal, as far as it goes back.
    let first_own = if is_own {
        history.own_checkpoint(name)
    } else {
        records.iter().filter(|record| record.session == history.session()).map(|record| record.change).min()
    };
    let (mut own, is_whole) = first_own.map_or((Vec::new(), true), |number| history.since(number));
    let recorded = recorded::changes(&cx.workspace, &records);
    let others = || recorded.iter().filter(|change| change.session != history.session());
    let mut since = ChangesSince { is_cut: !is_whole, ..ChangesSince::default() };
    if all_sessions {
        for change in recorded {
            let RecordedChange { session, number, mut change } = change;
            if session == history.session()
                && let Some(at) = own.iter().position(|(own, _)| *own == number)
            {
                change = own.remove(at).1;
            }
            since.changes.push(change);
        }
        // What the journal does not have comes last: it could not be written.
        since.changes.extend(own.into_iter().map(|(_, change)| change));
        since.is_cut = false;
    } else {
        let names = others().flat_map(|change| change.change.effect.names());
        // A name that this caller may not change may be one that it may not see.
        let may_change = |path: &&WorkspacePath| DiskOfCall(cx).refusal(path, ChangedPart::Entry).is_none();
        since.others = names.filter(may_change).map(ToString::to_string).collect();
        since.changes = own.into_iter().map(|(_, change)| change).collect();
    }
    since.changes.reverse();
    Ok(since)
}

/// The records after the checkpoint that is the first of these, and whether this process has made it. Its own change is
/// among them.
fn since(cx: &CallContext, records: Vec<JournalRecord>, own: &str) -> (Vec<JournalRecord>, bool) {
    let Some(checkpoint) = records.first().cloned() else { return (records, false) };
    let is_own = checkpoint.session == own;
    let first = (checkpoint.change > 0).then(|| (checkpoint.session.clone(), checkpoint.change));
    // Written before the line of the checkpoint, as the call was to succeed first.
    let call: Vec<JournalRecord> = first
        .map(|(session, change)| {
            let roots: Vec<&str> = cx.workspace.roots().iter().map(|root| root.key()).collect();
            let is_meant = |record: &JournalRecord| record.session == session && record.change >= change;
            cx.session.history.records_where(&roots, is_meant).unwrap_or_default()
        })
        .unwrap_or_default();
    let after = records.into_iter().filter(|record| record.kind != RecordKind::Checkpoint);
    let mut all = call;
    let later: Vec<JournalRecord> = after.filter(|record| !all.contains(record)).collect();
    all.extend(later);
    (all, is_own)
}

fn recorded_session(cx: &CallContext, id: &str) -> Result<ChangesSince, ToolError> {
    let roots: Vec<&str> = cx.workspace.roots().iter().map(|root| root.key()).collect();
    let is_meant = |record: &JournalRecord| record.session.starts_with(id) && record.kind != RecordKind::Checkpoint;
    let records = cx.session.history.records_where(&roots, is_meant).map_err(unreadable)?;
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

fn unreadable(error: std::io::Error) -> ToolError {
    ToolError::new(Kind::Internal, format!("the history could not be read: {}", error.kind()))
        .hint("see what is wrong with it with `rootbound doctor`")
        .source(error)
}
