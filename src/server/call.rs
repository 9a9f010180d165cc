//! One call of a tool as the dispatcher gets it, and what it comes to.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use file_tools::{
    Answer, AnswerBudget, Kind, LongestWait, Operation, ProgressSink, ToolError,
    audit::{Audit, CallRecord, Caller, ChangeLog},
};

use super::{
    confirm::{Person, Question},
    stdio::{ResponseBudget, ResponsePermit},
};

pub(super) struct Call {
    pub(super) tool: String,
    /// Runs instead of the tool of that name.
    pub(super) operation: Option<Operation>,
    pub(super) caller: Caller,
    pub(super) arguments: Map<String, Value>,
    /// A key that occurs twice in one object of the request, so that it is not clear which was meant.
    pub(super) duplicate_key: Option<String>,
    pub(super) cancelled: CancellationToken,
    pub(super) progress: ProgressSink,
    pub(super) trace: Arc<Trace>,
    /// Who is asked, if the change must be approved.
    pub(super) person: Person,
    /// How many bytes of large answers the client can still take.
    pub(super) response_budget: ResponseBudget,
    pub(super) answer_budget: AnswerBudget,
    /// How long its client lets it wait.
    pub(super) longest_wait: LongestWait,
}

#[derive(Debug)]
pub(super) enum Response {
    /// The tool's answer, with its share of the response budget if it is large.
    Answer(Answer, Option<ResponsePermit>),
    Question(Question),
    UnknownTool,
}

#[derive(Debug, Default)]
pub(super) struct Trace {
    pub(super) record: Option<(Arc<Audit>, CallRecord)>,
    /// How a person was asked, or has agreed.
    pub(super) confirmation: OnceLock<&'static str>,
    /// Bytes of files that the change wrote; unset where none was made.
    pub(super) written: OnceLock<u64>,
    pub(super) changes: Arc<ChangeLog>,
    pub(super) by: Option<Arc<str>>,
}

impl Trace {
    /// A change is about to be made.
    ///
    /// # Errors
    /// When calls depend on the audit and it cannot be written: the change must not be made then.
    pub(super) fn announce(&self) -> Result<(), ToolError> {
        self.record.as_ref().map_or(Ok(()), |(audit, record)| audit.announce(record).map_err(unrecorded))
    }
}

/// The error of a call that must be recorded and cannot be.
pub(super) fn unrecorded(error: std::io::Error) -> ToolError {
    ToolError::new(Kind::Declined, "the call was refused because it cannot be recorded in the audit log")
        .hint("nothing was changed; inform the user that the audit log cannot be written")
        .source(error)
}
