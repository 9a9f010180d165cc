//! Asking a client with a handshake: `elicitation/create` while the call waits.

use std::time::Duration;

use rmcp::{
    Peer, RoleServer, ServiceError,
    model::{ClientResult, ElicitResult, ServerRequest},
    service::PeerRequestOptions,
};
use tokio::time::{self, Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::tools::{
    ToolError,
    context::{ProgressSink, ProgressUpdate},
};

use super::{consent::declined, question};

/// How often a progress notification says that the call still waits: several clients end a silent call after a
/// minute.
const STILL_WAITING: Duration = Duration::from_secs(10);
/// How long the cancellation of a question may take to be queued; at shutdown nothing takes it.
const CANCEL: Duration = Duration::from_millis(200);
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
    let request = ServerRequest::ElicitRequest(question::request(message));
    let sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
    let mut question = sent.map_err(failed)?;
    let begun = Instant::now();
    let overdue = time::sleep_until(begun + limit);
    let mut tick = time::interval(STILL_WAITING);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::pin!(overdue);
    let (void, error) = loop {
        tokio::select! {
            biased;
            () = cancelled.cancelled() => {
                break ("the call was cancelled", ToolError::cancelled());
            }
            answer = &mut question.rx => return match answer {
                Ok(Ok(ClientResult::ElicitResult(answer))) => Ok(answer),
                Ok(Err(error)) => Err(failed(error)),
                Ok(Ok(_)) => Err(failed(ServiceError::UnexpectedResponse)),
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
    let _ = time::timeout(CANCEL, question.cancel(Some(void.to_owned()))).await;
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
