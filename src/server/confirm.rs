//! Asking a person before a change is made, in both protocol versions.
//!
//! Decides whether to ask, shows what would change ([`mod@proposal`]) and turns the answer into an [`Approval`] or a
//! refusal. A client with a handshake is asked while its call waits; one of 2026-07-28 repeats the call with the answer,
//! which [`proof`] binds to it. Touches no file, and holds neither a lock nor a permit while a person thinks.

mod proof;
mod proposal;

use std::{sync::OnceLock, time::Duration};

use change_set::Approval;
use rmcp::{
    Peer, RoleServer, ServiceError,
    model::{
        CallToolRequestParams, ClientResult, ElicitResult, InputRequest, InputRequests, InputRequiredResult,
        ServerRequest,
    },
    service::{PeerRequestOptions, RequestContext},
};
use serde::Deserialize as _;
use serde_json::Value;
use tokio::{
    sync::Semaphore,
    time::{self, Instant, MissedTickBehavior},
};
use tokio_util::sync::CancellationToken;

use file_tools::{Kind, ProgressSink, ProgressUpdate, ToolError};

use self::{
    proof::{InvalidProof, Signer, no_randomness},
    proposal::{CONFIRM_FIELD, consent, declined, elicitation},
};

pub use self::proposal::{Confirm, ConfirmThrough};

pub(super) use self::{
    proof::{CONFIRMATION_ARGUMENT, approve as approve_by_code, take as take_code},
    proposal::{Draft, Proposal},
};

/// Calls that wait for a person at the same time; each holds its new content in memory.
const MAX_WAITING: usize = 16;
const ASK_AGAIN: &str = "repeat the call unchanged; the user is asked again";

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
    OutOfReach,
}

#[derive(Debug)]
pub(super) enum Reply {
    Approved(Approval),
    Ask(Question),
}

pub(super) type Question = InputRequiredResult;

impl Person {
    pub(super) fn of(context: &RequestContext<RoleServer>, modern: bool, request: &mut CallToolRequestParams) -> Self {
        let elicitation = context.client_capabilities().and_then(|declared| declared.elicitation);
        // An empty declaration means forms, as before there were modes
        // (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#capabilities).
        if !elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none()) {
            return Self::OutOfReach;
        }
        if modern {
            let answer = request.input_responses.as_mut().and_then(|answers| answers.remove(CONFIRM_FIELD));
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
                // Not queued: a call that waited here would hold its content, which this number is to bound.
                let _permit = self.waiting.try_acquire().map_err(|_| {
                    let sentence =
                        format!("{MAX_WAITING} changes already wait for a person's answer; this one was not made");
                    ToolError::new(Kind::Quota, sentence).hint("wait for their answers, then repeat this call")
                })?;
                let answer = ask(peer, &proposal.message, self.limit, cancelled, progress).await?;
                consent(&answer)?;
                Ok(Reply::Approved(Approval::by_person()))
            }
            Person::Retry { answer: None, .. } => self.question(proposal),
            Person::Retry { state, answer: Some(answer) } => {
                let answer = ElicitResult::deserialize(answer)
                    .map_err(|error| declined("the user's answer cannot be read").source(error).hint(ASK_AGAIN))?;
                // A no needs no proof: it changes nothing, from anyone.
                consent(&answer)?;
                match self.signer()?.verify(state.as_deref().unwrap_or_default(), proposal, self.limit) {
                    Ok(()) => Ok(Reply::Approved(Approval::by_person())),
                    Err(InvalidProof::OtherChange) => Err(ToolError::changed_while_asked(&proposal.fingerprint.path)),
                    // One text for all reasons: a forger must not learn which check failed.
                    Err(_) => Err(declined(format!(
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
                proposal.not_asked_with
            ))),
        }
    }

    fn question(&self, proposal: &Proposal) -> Result<Reply, ToolError> {
        let state = self.signer()?.sign(proposal, self.limit)?;
        let asked = InputRequest::Elicitation(elicitation(&proposal.message));
        let questions = InputRequests::from([(CONFIRM_FIELD.to_owned(), asked)]);
        Ok(Reply::Ask(InputRequiredResult::new(Some(questions), Some(state))))
    }

    /// Made at the first use: most servers never ask.
    fn signer(&self) -> Result<&Signer, ToolError> {
        self.signer.get_or_init(Signer::new).as_ref().ok_or_else(no_randomness)
    }
}

// Asking a client with a handshake: `elicitation/create` while the call waits.

/// How often a progress notification says that the call still waits: several clients end a silent call after a
/// minute.
const WAITING_INTERVAL: Duration = Duration::from_secs(10);
/// How long the cancellation of a question may take to be queued; at shutdown nothing takes it.
const CANCEL_LIMIT: Duration = Duration::from_millis(200);
/// Characters of a client's error that are repeated.
const MAX_REASON: usize = 200;

/// Asks, and waits for at most `limit`. A question without an answer is cancelled.
pub(super) async fn ask(
    peer: &Peer<RoleServer>,
    message: &str,
    limit: Duration,
    cancelled: &CancellationToken,
    progress: ProgressSink,
) -> Result<ElicitResult, ToolError> {
    let request = ServerRequest::ElicitRequest(elicitation(message));
    let sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
    let mut question = sent.map_err(failed)?;
    let begun = Instant::now();
    let overdue = time::sleep_until(begun + limit);
    let mut tick = time::interval(WAITING_INTERVAL);
    // The first tick comes at once.
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::pin!(overdue);
    let (void, error) = loop {
        tokio::select! {
            biased;
            // First: a yes that arrives together with the cancellation makes no change.
            () = cancelled.cancelled() => {
                break ("the call was cancelled", ToolError::cancelled());
            }
            answer = &mut question.rx => return match answer {
                Ok(Ok(ClientResult::ElicitResult(answer))) => Ok(answer),
                Ok(Err(error)) => Err(failed(error)),
                Ok(Ok(_)) => Err(failed(ServiceError::UnexpectedResponse)),
                // The sender is dropped where the service has ended.
                Err(_) => Err(failed(ServiceError::TransportClosed)),
            },
            () = &mut overdue => {
                let error = declined(format!("the user did not answer within {limit:.0?}"))
                    .hint("ask the user whether to go on, then repeat the call");
                break ("there was no answer in time", error);
            }
            _ = tick.tick() => {
                if let Some(report) = &progress {
                    let done = begun.elapsed().as_secs();
                    let message = "waiting for a person to confirm the change".to_owned();
                    report(ProgressUpdate { done, total: None, message });
                }
            }
        }
    };
    // Without it a person may answer a form that counts no more. The call has its error either way.
    let _ = time::timeout(CANCEL_LIMIT, question.cancel(Some(void.to_owned()))).await;
    Err(error)
}

/// The client could not ask; the start of its error is shown.
fn failed(error: ServiceError) -> ToolError {
    let reason = match &error {
        ServiceError::McpError(error) => error.message.chars().filter(|c| !c.is_control()).take(MAX_REASON).collect(),
        ServiceError::TransportClosed => "the session is ending".to_owned(),
        other => other.to_string(),
    };
    declined(format!("a person must confirm this change, and the client could not ask: {reason}"))
        .hint("inform the user that the question did not reach them")
        .source(error)
}
