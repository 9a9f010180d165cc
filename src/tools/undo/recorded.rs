//! Changes as the journal has them: those of other sessions, and of processes that have ended.
//!
//! The journal is a file of the user: whatever it says, its paths are resolved and judged like those of a call.

use std::{collections::HashMap, ffi::OsString, sync::Arc};

use crate::{
    session::history::{Effect, Former, FormerEntry, FormerNode, JournalRecord, RecordKind, UndoableChange},
    workspace::{Revision, TreePosition, Workspace, WorkspacePath},
};

/// A change of the journal.
pub(super) struct RecordedChange {
    /// The process that made it.
    pub(super) session: String,
    /// Which of its changes.
    pub(super) number: u64,
    pub(super) change: UndoableChange,
}

/// The changes that these records describe, in their order. What cannot be a path here is left out.
pub(super) fn changes(workspace: &Workspace, records: &[JournalRecord]) -> Vec<RecordedChange> {
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
        RecordedChange {
            session: session.to_owned(),
            number,
            change: UndoableChange { tool: "undo", effect, made: Vec::new() },
        }
    };
    groups.into_iter().map(change).collect()
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
            (RecordKind::Link | RecordKind::Checkpoint | RecordKind::Void, ..) => None,
        }
    };
    records.iter().filter_map(effect).collect()
}

fn former(record: &JournalRecord) -> Option<Former> {
    Some(Former { revision: record.old_revision()?, mode: record.mode.unwrap_or(0) & 0o777 })
}

/// The path of a record, which may have been printed under another name of its root.
pub(super) fn path_of(workspace: &Workspace, record: &JournalRecord) -> Option<WorkspacePath> {
    candidates(workspace, record, &record.shown).into_iter().find(|path| record.is_of(path))
}

fn moved_to(workspace: &Workspace, record: &JournalRecord) -> Option<WorkspacePath> {
    let to = record.to.as_deref()?;
    let found = candidates(workspace, record, to).into_iter().find_map(|path| {
        let entry = workspace.writable_entry(&path).ok()?;
        Some(entry.path().clone())
    });
    found.filter(|path| !path.is_root())
}

/// What a printed path may mean.
fn candidates(workspace: &Workspace, record: &JournalRecord, shown: &str) -> Vec<WorkspacePath> {
    let root = workspace.roots().iter().find(|root| root.key() == record.root);
    let top = root.map(|root| workspace.root_path(root));
    let printed = top.map(|top| top.to_string()).unwrap_or_default();
    let bare = shown.strip_prefix("./").unwrap_or(shown);
    let below = bare.trim_start_matches('/').split_once('/').map_or("", |(_, rest)| rest);
    let texts = [shown.to_owned(), format!("{printed}/{bare}"), format!("{printed}/{below}")];
    texts.iter().filter_map(|text| workspace.resolve(text).ok()).collect()
}
