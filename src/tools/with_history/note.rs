//! What the answer of a change says about the history, where all is not well.

use crate::session::history::{JournalRecord, Kept, PendingChange};

use super::super::CallContext;

/// What the report of a change has to say about the former content; nothing when all is well.
pub(super) fn note_of(kept: &Kept) -> Option<String> {
    match kept {
        Kept::OnDisk | Kept::InMemory(None) => None,
        Kept::InMemory(Some(why)) => {
            Some(format!("the earlier content is kept only until the server ends, because {why}"))
        }
        Kept::Nowhere(why) => Some(format!("the earlier content could not be kept, because {why}")),
    }
}

/// Writes records down. A journal that cannot be written is worth a note, not a failure.
pub(in crate::tools) fn begin(
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
