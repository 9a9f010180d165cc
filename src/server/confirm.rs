//! Asking a person before a change is made, in both protocol versions.
//!
//! Decides whether to ask, shows what would change ([`question`]) and turns the answer into an [`Approval`] or a
//! refusal ([`mod@consent`]). A client with a handshake is asked while its call waits ([`elicitation`]); one of 2026-07-28
//! repeats the call with the answer ([`signer`]). Touches no file, and holds neither a lock nor a permit while a
//! person thinks.

mod code;
mod consent;
mod elicitation;
mod proposal;
mod question;
mod signer;

use std::{sync::OnceLock, time::Duration};

use confined_fs::Approval;
use rmcp::{
    Peer, RoleServer,
    model::{CallToolRequestParams, ElicitResult, InputRequest, InputRequests, InputRequiredResult},
    service::RequestContext,
};
use serde::Deserialize as _;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::tools::{Kind, ToolError, context::ProgressSink};

pub use self::proposal::{Confirm, ConfirmThrough};
pub(super) use self::{
    code::{CONFIRMATION, approve as approve_by_code, take as take_code},
    proposal::{Draft, Proposal},
};
use self::{
    consent::{consent, declined},
    question::FIELD,
    signer::{InvalidToken, Signer},
};

/// Calls that wait for a person at the same time; each holds its new content in memory.
const MAX_WAITING: usize = 16;
const ASK_AGAIN: &str = "repeat the call unchanged; the user is asked again";

/// The server's side of asking, shared by its calls.
pub(super) struct Confirmation {
    limit: Duration,
    waiting: Semaphore,
    signer: OnceLock<Option<Signer>>,
}

/// How to reach the person behind a call.
#[derive(Debug)]
pub(super) enum Person {
    /// The client answers questions while a call waits.
    Live(Peer<RoleServer>),
    /// The client repeats the call, with the state of the question and the answer.
    Retry {
        /// The state as the client returned it: not to be trusted.
        state: Option<String>,
        answer: Option<Value>,
    },
    /// The client cannot ask anybody.
    OutOfReach,
}

/// The result of asking.
#[derive(Debug)]
pub(super) enum Reply {
    Approved(Approval),
    /// The client must ask and then repeat the call.
    Ask(Question),
}

/// The question as a call's result.
#[derive(Debug)]
pub(super) struct Question(pub(super) InputRequiredResult);

impl Person {
    /// How the client of `request` says that it can ask.
    pub(super) fn of(context: &RequestContext<RoleServer>, modern: bool, request: &mut CallToolRequestParams) -> Self {
        let elicitation = context.client_capabilities().and_then(|declared| declared.elicitation);
        // An empty declaration means forms, as before there were modes
        // (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#capabilities).
        if !elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none()) {
            return Self::OutOfReach;
        }
        if modern {
            let answer = request.input_responses.as_mut().and_then(|answers| answers.remove(FIELD));
            Self::Retry { state: request.request_state.take(), answer }
        } else {
            Self::Live(context.peer.clone())
        }
    }
}

impl Confirmation {
    /// Waits for an answer for at most `limit`.
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, waiting: Semaphore::new(MAX_WAITING), signer: OnceLock::new() }
    }

    /// Asks the person, or finds the answer in a call that was repeated.
    ///
    /// # Errors
    /// `declined` for everything but a yes, with the reason; `stale` where the yes was to another
    /// change; `quota` where too many questions are open; `cancelled`.
    pub(super) async fn ask(
        &self,
        person: &Person,
        proposal: &Proposal,
        cancelled: &CancellationToken,
        progress: ProgressSink,
    ) -> Result<Reply, ToolError> {
        match person {
            Person::Live(peer) => {
                let _permit = self.waiting.try_acquire().map_err(|_| {
                    ToolError::new(
                        Kind::Quota,
                        format!("{MAX_WAITING} changes already wait for a person's answer; this one was not made"),
                    )
                    .hint("wait for their answers, then repeat this call")
                })?;
                let answer = elicitation::ask(peer, &proposal.message, self.limit, cancelled, progress).await?;
                consent(&answer)?;
                Ok(Reply::Approved(Approval::by_person()))
            }
            Person::Retry { answer: None, .. } => self.question(proposal),
            Person::Retry { state, answer: Some(answer) } => {
                let answer = ElicitResult::deserialize(answer)
                    .map_err(|error| declined("the user's answer cannot be read").source(error).hint(ASK_AGAIN))?;
                consent(&answer)?;
                match self.signer()?.verify(state.as_deref().unwrap_or_default(), proposal, self.limit) {
                    Ok(()) => Ok(Reply::Approved(Approval::by_person())),
                    Err(InvalidToken::OtherChange) => Err(ToolError::changed_while_asked(&proposal.fingerprint.path)),
                    Err(InvalidToken::Unverified) => Err(declined(format!(
                        "the user's answer belongs to another call, was used before, or came after more than {:.0?}",
                        self.limit
                    ))
                    .hint(ASK_AGAIN)),
                }
            }
            // With `--confirm-through model`, the plan has been decided by its code already.
            Person::OutOfReach => Err(declined(
                "a person must confirm this change, but the client does not support elicitation",
            )
            .hint(format!(
                "ask the user to use a client with elicitation, or to start rootbound with --confirm {} or with \
                 --confirm-through model",
                proposal.unasked_by
            ))),
        }
    }

    fn question(&self, proposal: &Proposal) -> Result<Reply, ToolError> {
        let state = self.signer()?.sign(proposal, self.limit)?;
        let asked = InputRequest::Elicitation(question::request(&proposal.message));
        let questions = InputRequests::from([(FIELD.to_owned(), asked)]);
        Ok(Reply::Ask(Question(InputRequiredResult::new(Some(questions), Some(state)))))
    }

    /// Made at the first use: most servers never ask.
    fn signer(&self) -> Result<&Signer, ToolError> {
        self.signer.get_or_init(Signer::new).as_ref().ok_or_else(signer::no_randomness)
    }
}
