//! What the answer of a change says about the history, where all is not well.

use crate::session::history::{JournalRecord, Kept, PendingChange};

use super::super::CallContext;

/// What the report of a change has to say about the former content.
#[derive(Clone, Debug, Default)]
pub(in crate::tools) struct HistoryNote(Option<String>);

impl HistoryNote {
    /// Nothing to say.
    pub(in crate::tools) fn none() -> Self {
        Self(None)
    }

    pub(super) fn of(kept: &Kept) -> Self {
        Self(match kept {
            Kept::OnDisk | Kept::InMemory(None) => None,
            Kept::InMemory(Some(why)) => {
                Some(format!("the earlier content is kept only until the server ends, because {why}"))
            }
            Kept::Nowhere(why) => Some(format!("the earlier content could not be kept, because {why}")),
        })
    }

    /// The note, nothing when all is well.
    pub(in crate::tools) fn text(&self) -> Option<String> {
        self.0.clone()
    }
}

/// Writes records down. A journal that cannot be written is worth a note, not a failure.
pub(in crate::tools) fn begin(
    cx: &CallContext,
    records: Vec<JournalRecord>,
    note: HistoryNote,
) -> (PendingChange, HistoryNote) {
    let history = &cx.session.history;
    match history.begin(records) {
        Ok(pending) => (pending, note),
        Err(error) => {
            let why = format!("the history could not be written: {}", error.kind());
            (
                history.unrecorded(),
                HistoryNote(note.0.or(Some(format!("this change is not in the history, because {why}")))),
            )
        }
    }
}
