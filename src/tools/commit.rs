//! Changes that lose nothing: what a file held is kept and written down before it is touched.
//!
//! Where it cannot be kept, a replacement goes on and says so; a removal is refused, as nothing of the
//! file would be left.

use std::io;

use confined_fs::{
    AccessError, AccessErrorKind, Durable, EntryState, FileKind, FileState, NewDirectory, Purpose, Revision,
    WorkspacePath, WritablePath,
};

use super::{CallContext, Kind, ToolError};
use crate::session::history::{Effect, JournalRecord, Kept, PendingChange, UndoableChange};

pub(super) use crate::session::history::Undoable;

mod file;
mod files;
mod record;
mod tree;

pub(super) use file::{Rewrite, commit_file, rewrite};
pub(super) use files::{ChangeStep, CommittedFiles, NewState, commit_files};
pub(super) use record::{EntriesAre, record_directories, record_entries, record_unmade};
pub(super) use tree::{create_tree, move_tree, remove};

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
        Err(error) if error.kind == AccessErrorKind::NotADirectory => {
            cx.workspace.writable_in_place_of_file(path, part == ChangedPart::Content)
        }
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
            Some(EntryState::File(FileState::new(revision, stat.permissions())))
        }
        FileKind::Directory => Some(EntryState::Directory { mode: stat.permissions() }),
        // Only a listing reads the target of a link.
        FileKind::Symlink => cx.workspace.tree(entry, Purpose::Remove)?.node().state(None),
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

/// Makes a change of a whole entry: `records` are in the journal before `act`, and void if that fails; what it `did` is
/// recorded and on the list when this returns. Under the locks that `act` needs.
pub(super) fn journaled<T>(
    cx: &CallContext,
    (tool, undoable): (&'static str, Undoable),
    records: Vec<JournalRecord>,
    act: impl FnOnce() -> Result<T, AccessError>,
    did: impl FnOnce(&T) -> Option<(Effect, Vec<NewDirectory>)>,
) -> Result<(T, Option<String>), AccessError> {
    let (pending, note) = begin(cx, records);
    // The journal is only appended to: a change that failed is marked, not taken out.
    let done = act().inspect_err(|_| cx.session.history.void(&pending))?;
    if let Some((effect, made)) = did(&done) {
        cx.session.history.made(&pending, UndoableChange { tool, effect, made }, undoable);
    }
    Ok((done, note))
}
