//! What a committed change notes for the audit and reports to those who follow the changes.

use std::sync::Arc;

use confined_fs::{EntryState, NewDirectory, Node, Revision, Tree, TreePosition, WorkspacePath};

use crate::{
    audit::RecordedContent,
    session::{ChangeKind, CommittedChange, EntryKind, history::FormerEntry},
};

use super::super::CallContext;

/// Bytes of moved files that are read for their revisions; a move itself reads nothing.
const READ: u64 = 64 << 20;

/// A file held `before` and holds `after`, in the directories `made` for it.
pub(in crate::tools) fn record_written(
    cx: &CallContext,
    tool: &'static str,
    path: &WorkspacePath,
    before: Option<Revision>,
    after: Revision,
    made: &[NewDirectory],
) {
    if let Some(log) = &cx.changes {
        log.file(path, before, Some(after));
    }
    let kind = if before.is_some() { ChangeKind::Written } else { ChangeKind::Created };
    report(cx, tool, made_directories(made).chain([change(kind, EntryKind::File, path, Some(after))]));
}

pub(in crate::tools) fn record_directories(cx: &CallContext, tool: &'static str, made: &[NewDirectory]) {
    if let Some(log) = &cx.changes {
        for directory in made {
            log.other(directory.path(), "directory");
        }
    }
    report(cx, tool, made_directories(made));
}

/// The innermost `removed` of the directories that a change had made were removed again.
pub(in crate::tools) fn record_unmade(cx: &CallContext, tool: &'static str, made: &[NewDirectory], removed: usize) {
    let gone = made.iter().rev().take(removed);
    report(cx, tool, gone.map(|one| change(ChangeKind::Deleted, EntryKind::Directory, one.path(), None)));
}

/// A tree was moved to `to`, where a file with the content `over` was, below the directories `made` for it.
pub(in crate::tools) fn record_moved(
    cx: &CallContext,
    tool: &'static str,
    tree: &Tree,
    to: &WorkspacePath,
    over: Option<Revision>,
    made: &[NewDirectory],
) {
    // A move reads nothing; its contents are read only for who asks for their revisions.
    if !cx.session.changes.is_followed() && cx.changes.is_none() {
        return;
    }
    let mut left = READ;
    let mut read = |path: &WorkspacePath, size: u64| {
        left = left.checked_sub(size)?;
        cx.workspace.open_file(path).ok().and_then(|mut file| Revision::of_reader(&mut file).ok())
    };
    let content = match tree.node() {
        Node::File(stat) => read(to, stat.size),
        _ => None,
    };
    let moved = change(ChangeKind::Moved, entry_kind(tree.node()), to, content);
    report(cx, tool, made_directories(made).chain([CommittedChange { from: Some(tree.top().clone()), ..moved }]));
    let Some(log) = &cx.changes else { return };
    for ((old, entry), (new, _)) in tree.paths().zip(tree.paths_at(to)) {
        match &entry.node {
            Node::File(stat) => {
                let content = match content {
                    Some(content) => Some(content),
                    None if log.is_full() => None,
                    None => read(&new, stat.size),
                };
                let content = content.map_or(RecordedContent::Unknown, RecordedContent::Content);
                log.file(&old, content, None);
                log.file(&new, over, content);
            }
            node => {
                let what = if matches!(node, Node::Directory(_)) { "directory" } else { "link" };
                log.other(&old, what);
                log.other(&new, what);
            }
        }
    }
}

/// Whether the entries of a change are gone or there after it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::tools) enum EntriesAre {
    Gone,
    There,
}

/// Entries at `top` were removed, or made below the directories `made` for them.
pub(in crate::tools) fn record_entries(
    cx: &CallContext,
    tool: &'static str,
    are: EntriesAre,
    top: &WorkspacePath,
    entries: &[FormerEntry],
    made: &[NewDirectory],
) {
    if let Some(first) = entries.first() {
        let (entry, revision) = match &first.node {
            EntryState::File(file) => (EntryKind::File, Some(file.revision)),
            EntryState::Directory { .. } => (EntryKind::Directory, None),
            EntryState::Link(_) => (EntryKind::Link, None),
        };
        let change = match are {
            EntriesAre::Gone => change(ChangeKind::Deleted, entry, top, None),
            EntriesAre::There => change(ChangeKind::Created, entry, top, revision),
        };
        report(cx, tool, made_directories(made).chain([change]));
    }
    let Some(log) = &cx.changes else { return };
    for (path, entry) in TreePosition::paths_at(top, entries.iter().map(|entry| &entry.position)).zip(entries) {
        match &entry.node {
            EntryState::File(file) if are == EntriesAre::Gone => log.file(&path, Some(file.revision), None),
            EntryState::File(file) => log.file(&path, None, Some(file.revision)),
            EntryState::Directory { .. } => log.other(&path, "directory"),
            EntryState::Link(_) => log.other(&path, "link"),
        }
    }
}

fn entry_kind(node: &Node) -> EntryKind {
    match node {
        Node::Directory(_) => EntryKind::Directory,
        Node::Link(_) => EntryKind::Link,
        _ => EntryKind::File,
    }
}

fn made_directories(made: &[NewDirectory]) -> impl Iterator<Item = CommittedChange> {
    made.iter().map(|one| change(ChangeKind::Created, EntryKind::Directory, one.path(), None))
}

fn change(kind: ChangeKind, entry: EntryKind, path: &WorkspacePath, revision: Option<Revision>) -> CommittedChange {
    // Whose it is, `report` knows.
    let (tool, by, session) = ("", None, Arc::default());
    CommittedChange { tool, kind, entry, path: path.clone(), from: None, revision, by, session }
}

/// Reports the changes of one step, in their order.
fn report(cx: &CallContext, tool: &'static str, changes: impl Iterator<Item = CommittedChange>) {
    let session = cx.session.history.session();
    let whose = |change| CommittedChange { tool, by: cx.by.clone(), session: Arc::clone(session), ..change };
    cx.session.changes.report(&changes.map(whose).collect::<Vec<_>>());
}
