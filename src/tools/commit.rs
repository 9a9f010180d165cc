//! Changes that lose nothing: what a file held is kept and written down before it is touched.
//!
//! Where it cannot be kept, a replacement goes on and says so; a removal is refused, as nothing of the
//! file would be left.

use std::io::{self, Seek as _};

use confined_fs::{
    AccessError, Durable, EntryState, FileKind, FileState, NewDirectory, OpenFile, Purpose, Revision, WorkspacePath,
    WritablePath,
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
pub(super) use record::{EntriesAre, record_directories, record_entries, record_moved, record_unmade};
pub(super) use tree::remove;

// Keeping what a file holds before something else takes its place.

/// The state of an entry now, a link being a link; `None` where nothing is, and for a special file.
pub(super) fn state_now(cx: &CallContext, entry: &WritablePath) -> Result<Option<EntryState>, ToolError> {
    let path = entry.path();
    let Some(stat) = cx.workspace.entry_stat(entry)? else { return Ok(None) };
    Ok(match stat.kind {
        FileKind::File => {
            let revision = hash(cx.workspace.open_file(path)?).map_err(|error| read_failed(path, error))?;
            Some(EntryState::File(FileState::new(revision, stat.permissions())))
        }
        FileKind::Directory => Some(EntryState::Directory { mode: stat.permissions() }),
        FileKind::Symlink => cx.workspace.tree(entry, Purpose::Remove)?.node().state(None),
        FileKind::Other => None,
    })
}

/// Keeps a file as it is now. Its revision is exact even where its content could not be kept.
fn keep_file(
    cx: &CallContext,
    path: &WorkspacePath,
    known: Option<Revision>,
    durable: Durable,
) -> Result<(Revision, Kept), ToolError> {
    let mut open = cx.workspace.open_file(path)?;
    let size = open.stat().size;
    let (revision, kept) =
        cx.session.history.keep(&mut open, size, known, durable).map_err(|error| read_failed(path, error))?;
    let same = |open: &OpenFile| open.restat().is_ok_and(|now| now.same_file_state(open.stat()));
    if !same(&open) {
        return Err(changed(path));
    }
    match (revision, known) {
        (Some(revision), _) => Ok((revision, kept)),
        (None, Some(known)) => Ok((known, kept)),
        (None, None) => Ok((hash(open).map_err(|error| read_failed(path, error))?, kept)),
    }
}

fn hash(mut file: OpenFile) -> io::Result<Revision> {
    file.rewind()?;
    Revision::of_reader(&mut file)
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
pub(super) fn begin(
    cx: &CallContext,
    records: Vec<JournalRecord>,
    note: Option<String>,
) -> (PendingChange, Option<String>) {
    let history = &cx.session.history;
    match history.begin(records, cx.by.as_ref()) {
        Ok(pending) => (pending, note),
        Err(error) => {
            let why = format!("the history could not be written: {}", error.kind());
            (history.unrecorded(), note.or_else(|| Some(format!("this change is not in the history, because {why}"))))
        }
    }
}

/// Makes a change of a whole entry: `records` are in the journal before `act`, and void if that fails; what it `did` is
/// recorded and on the list when this returns. Under the locks that `act` needs.
pub(super) fn journaled<T>(
    cx: &CallContext,
    (tool, undoable): (&'static str, Undoable),
    (records, note): (Vec<JournalRecord>, Option<String>),
    act: impl FnOnce() -> Result<T, AccessError>,
    did: impl FnOnce(&T) -> Option<(Effect, Vec<NewDirectory>)>,
) -> Result<(T, Option<String>), AccessError> {
    let (pending, note) = begin(cx, records, note);
    let done = act().inspect_err(|_| cx.session.history.void(&pending))?;
    if let Some((effect, made)) = did(&done) {
        cx.session.history.made(&pending, UndoableChange { tool, effect, made }, undoable);
    }
    Ok((done, note))
}
