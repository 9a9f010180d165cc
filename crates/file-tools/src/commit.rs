//! Changes that lose nothing: what a file held is kept and written down before it is touched.
//!
//! Where it cannot be kept, a replacement goes on and says so; a removal is refused, as nothing of the
//! file would be left. A committed change is noted for the audit, and reported to those who follow the changes.

use std::{io, sync::Arc};

use change_set::{Durable, EntryState, FileState, NewDirectory, Node, Purpose, Rights, Tree, WritablePath};
use confined_fs::{AccessError, AccessErrorKind, FileKind, Revision, WorkspacePath};

use crate::{
    audit::RecordedContent,
    session::{
        ChangeKind, CommittedChange, EntryKind,
        history::{EntryChange, JournalRecord, Kept, PendingChange},
    },
};

use super::{CallContext, Kind, ToolError};

pub(super) use crate::session::history::Undoable;

mod file;
mod files;
mod step;
mod tree;

pub(super) use file::{Rewrite, rewrite};
pub(super) use files::{commit_files, none_changed};
pub(super) use step::{ChangeStep, CommittedFiles};
pub(super) use tree::is_one_tree;

// What is there before something else takes its place.

/// The part of an entry that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangedPart {
    /// The content of a file.
    Content,
    /// The entry itself, of which a link is one.
    Entry,
}

/// The right to change a path, also where it is in a directory that comes in the place of a file.
pub(super) fn writable(cx: &CallContext, path: &WorkspacePath, part: ChangedPart) -> Result<WritablePath, AccessError> {
    let target = match part {
        ChangedPart::Content => cx.workspace.writable(path),
        ChangedPart::Entry => cx.workspace.writable_entry(path),
    };
    match target {
        Err(error) if error.kind == AccessErrorKind::NotADirectory => cx.workspace.writable_in_place_of_file(path),
        target => target,
    }
}

/// The state of an entry now, a link being a link; `None` where nothing is, and for a special file.
pub(super) fn state_now(cx: &CallContext, entry: &WritablePath) -> Result<Option<EntryState>, ToolError> {
    let path = entry.path();
    let Some(stat) = cx.workspace.entry_stat(entry)? else { return Ok(None) };
    Ok(match stat.kind {
        FileKind::File => {
            let mut file = cx.workspace.open_file(path)?;
            let revision = Revision::of_reader(&mut file).map_err(|error| read_failed(path, error))?;
            Some(EntryState::File(FileState { revision, rights: Rights::of(path, &stat, None) }))
        }
        FileKind::Directory => Some(EntryState::Directory { rights: Rights::of(path, &stat, None) }),
        // Only a listing reads the target of a link.
        FileKind::Symlink => cx.workspace.tree(entry, Purpose::Remove)?.node().state(path, path, None),
        FileKind::Other => None,
    })
}

/// Most contents that are synced one by one; more are synced together (syncfs), with all that the file system has to
/// write.
const SYNCED_ONE_BY_ONE: usize = 16;

/// When each of so many kept contents has to be on the disk.
fn durable(contents: usize) -> Durable {
    if contents > SYNCED_ONE_BY_ONE { Durable::Soon } else { Durable::Now }
}

/// The sentence for what is something else now.
pub(super) fn changed(path: &WorkspacePath) -> ToolError {
    ToolError::new(Kind::Stale, format!("{path} has changed during the call, and nothing was done"))
        .hint("look at what is there now, then repeat the call")
}

fn read_failed(path: &WorkspacePath, error: io::Error) -> ToolError {
    AccessError::from_io(error, path).into()
}

// What the answer of a change says about the history, where all is not well.

/// The note on a former content; `None` when it is kept as it should be.
fn note_of(kept: &Kept) -> Option<String> {
    match kept {
        Kept::OnDisk | Kept::InMemory(None) => None,
        Kept::InMemory(Some(why)) => {
            Some(format!("the earlier content is kept only until the server ends, because {why}"))
        }
        Kept::Nowhere(why) => Some(format!("the earlier content could not be kept, because {why}")),
    }
}

/// The note on the other names of what was replaced, which are those of the former file.
pub(super) fn other_names(of: &str, count: u64) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 other name of {of} keeps the old content")),
        count => Some(format!("{count} other names of {of} keep the old content")),
    }
}

/// Writes records down. A journal that cannot be written is worth a note, not a failure.
pub(super) fn begin(cx: &CallContext, records: Vec<JournalRecord>) -> (PendingChange, Option<String>) {
    let history = &cx.session.history;
    match history.begin(records, cx.by.as_ref()) {
        Ok(pending) => (pending, None),
        Err(error) => {
            let why = format!("the history could not be written: {}", error.kind());
            (history.unrecorded(cx.by.as_ref()), Some(format!("this change is not in the history, because {why}")))
        }
    }
}

/// The directories that were made above an entry.
fn made_above(made: &[NewDirectory]) -> impl Iterator<Item = EntryChange> {
    made.iter().map(EntryChange::parent)
}

/// The note on directories that were made for something.
pub(super) fn made_note(made: &[NewDirectory]) -> Option<String> {
    const NAMED: usize = 5;
    let named: Vec<String> = made.iter().take(NAMED).map(|one| format!("{}/", one.path())).collect();
    match made.len() {
        0 => None,
        1 => Some(format!("created folder {}", named[0])),
        all if all > NAMED => Some(format!("created folders {} and {} more", named.join(", "), all - NAMED)),
        _ => Some(format!("created folders {}", named.join(", "))),
    }
}

/// The first of them as data: as many as the answer of any client has room for.
pub(super) fn made_names(made: &[NewDirectory]) -> Vec<String> {
    const LISTED_BYTES: usize = 2000;
    let mut bytes = 0;
    let names = made.iter().map(|one| one.path().to_string());
    names
        .take_while(|name| {
            bytes += name.len();
            bytes <= LISTED_BYTES
        })
        .collect()
}

/// Bytes of moved files that are read for their revisions; a move itself reads nothing.
const READ: u64 = 64 << 20;

fn record_directories(cx: &CallContext, tool: &'static str, made: &[NewDirectory]) {
    if let Some(log) = &cx.changes {
        for directory in made {
            log.other(directory.path(), "directory");
        }
    }
    report(cx, tool, made_directories(made));
}

/// A tree was moved to `to`, where a file with the content `over` was, below the directories `made` for it.
fn record_moved(
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

/// Entries were written, removed, or made below the directories `made` for them; all are in the first of them.
fn record_entries(cx: &CallContext, tool: &'static str, entries: &[EntryChange], made: &[NewDirectory]) {
    let is = |entry: &EntryChange| entry.to.clone().or_else(|| entry.from.clone());
    if let Some(first) = entries.first() {
        let (entry, revision) = match is(first) {
            Some(EntryState::Directory { .. }) => (EntryKind::Directory, None),
            Some(EntryState::Link(_)) => (EntryKind::Link, None),
            Some(EntryState::File(file)) => (EntryKind::File, Some(file.revision)),
            None => (EntryKind::File, None),
        };
        let change = match (&first.from, &first.to) {
            (_, None) => change(ChangeKind::Deleted, entry, &first.path, None),
            (None, Some(_)) => change(ChangeKind::Created, entry, &first.path, revision),
            (Some(_), Some(_)) => change(ChangeKind::Written, entry, &first.path, revision),
        };
        report(cx, tool, made_directories(made).chain([change]));
    }
    let Some(log) = &cx.changes else { return };
    // Of a directory that was asked for, those above it as well.
    if entries.first().is_some_and(|first| matches!(first.to, Some(EntryState::Directory { .. }))) {
        for made in made {
            log.other(made.path(), "directory");
        }
    }
    for entry in entries {
        match (&entry.from, &entry.to) {
            (Some(EntryState::File(file)), None) => log.file(&entry.path, Some(file.revision), None),
            (was, Some(EntryState::File(file))) => {
                let was = if let Some(EntryState::File(was)) = was { Some(was.revision) } else { None };
                log.file(&entry.path, was, Some(file.revision));
            }
            _ if matches!(is(entry), Some(EntryState::Link(_))) => log.other(&entry.path, "link"),
            _ => log.other(&entry.path, "directory"),
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
