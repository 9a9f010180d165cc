//! One call of a tool as the dispatcher gets it, and what it comes to.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    audit::{Audit, CallRecord, ChangeLog},
    tools::{Answer, AnswerBudget, Kind, LongestWait, Operation, ToolError, context::ProgressSink},
};

use super::{
    backpressure::{ResponseBudget, ResponsePermit},
    confirm::{Person, Question},
};

/// One call of a tool, or a request that runs as one does.
pub(super) struct Call {
    pub(super) tool: String,
    /// What runs instead of the tool of that name.
    pub(super) operation: Option<Operation>,
    /// Name and version of the client, to which a confirmation code is bound; empty if calls take no codes.
    pub(super) client: String,
    /// Its arguments as sent.
    pub(super) arguments: Map<String, Value>,
    /// A key that occurs twice in one object of the request, so that it is not clear which was meant.
    pub(super) duplicate_key: Option<String>,
    /// The request's id, for the log.
    pub(super) id: String,
    /// Cancelled when the client no longer wants the answer, or the server ends.
    pub(super) cancelled: CancellationToken,
    pub(super) progress: ProgressSink,
    /// What the audit records of a change.
    pub(super) trace: Arc<Trace>,
    /// Who is asked, if the change must be approved.
    pub(super) person: Person,
    /// How many bytes of large answers the client can still take.
    pub(super) budget: ResponseBudget,
    /// How much the answer may hold.
    pub(super) answer_budget: AnswerBudget,
    /// How long its client lets it wait.
    pub(super) longest_wait: LongestWait,
}

/// What the client gets for a call.
#[derive(Debug)]
pub(super) enum Response {
    /// The tool's answer, with its share of the response budget if it is large.
    Answer(Answer, Option<ResponsePermit>),
    /// A question for the client to ask before it repeats the call.
    Question(Question),
}

/// What the audit records of the change of a call.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// The line to announce a change with, if there is an audit.
    pub(super) record: Option<(Arc<Audit>, CallRecord)>,
    confirmation: OnceLock<&'static str>,
    changed: AtomicBool,
    written: AtomicU64,
    /// What was changed into what.
    pub(super) changes: Arc<ChangeLog>,
    /// Who called, as far as that is known.
    pub(super) by: Option<Arc<str>>,
}

impl Trace {
    /// A trace of a call that the audit describes as `record`.
    pub(super) fn of(audit: Arc<Audit>, record: CallRecord) -> Self {
        Self { record: Some((audit, record)), ..Self::default() }
    }

    /// The trace of a call that `by` makes.
    pub(super) fn called_by(self, by: Option<Arc<str>>) -> Self {
        Self { by, ..self }
    }

    /// A change is about to be made.
    ///
    /// # Errors
    /// When calls depend on the audit and it cannot be written: the change must not be made then.
    pub(super) fn announce(&self) -> Result<(), ToolError> {
        match &self.record {
            Some((audit, record)) => audit.announce(record).map_err(unrecorded),
            None => Ok(()),
        }
    }

    /// A change was made, which wrote so many bytes of files.
    pub(super) fn changed(&self, bytes: u64) {
        self.changed.store(true, Ordering::Relaxed);
        self.written.store(bytes, Ordering::Relaxed);
    }

    /// A person was asked, or has agreed, in this way.
    pub(super) fn confirmation(&self, how: &'static str) {
        let _ = self.confirmation.set(how);
    }

    /// What [`Self::confirmation`] was given.
    pub(super) fn how_confirmed(&self) -> Option<&'static str> {
        self.confirmation.get().copied()
    }

    /// Whether a change was made.
    pub(super) fn has_changed(&self) -> bool {
        self.changed.load(Ordering::Relaxed)
    }

    /// Bytes of files that were written.
    pub(super) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }
}

/// The error of a call that must be recorded and cannot be.
pub(super) fn unrecorded(error: std::io::Error) -> ToolError {
    ToolError::new(Kind::Declined, "the call was refused because it cannot be recorded in the audit log")
        .hint("nothing was changed; inform the user that the audit log cannot be written")
        .source(error)
}
