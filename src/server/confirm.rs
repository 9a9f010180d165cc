//! Asking a person before a change is made, in both protocol versions.
//!
//! Decides whether to ask, shows what would change ([`question`]) and turns the answer into an
//! [`Approval`] or a refusal. A client with a handshake is asked while its call waits ([`live`]); one of
//! 2026-07-28 repeats the call with the answer ([`signer`]). Touches no file, and holds neither a lock
//! nor a place among the running calls while a person thinks.

mod live;
mod question;
mod signer;

use std::{sync::OnceLock, time::Duration};

use rmcp::{
    Peer, RoleServer,
    model::{CallToolRequestParams, ElicitResult, ElicitationAction, InputRequest, InputRequests, InputRequiredResult},
    service::RequestContext,
};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::{
    tools::{Change, Fingerprint, Kind, ToolError, context::ProgressSink},
    workspace::Approval,
};

use self::signer::{InvalidToken, Signer};

/// Calls that wait for a person at the same time; each holds what it would write in memory.
const MAX_WAITING: usize = 16;
const ASK_AGAIN: &str = "repeat the call as it was, and the person is asked again";
/// The question's only field, and its name among the questions of one result.
const FIELD: &str = "confirm";

/// Which changes a person is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confirm {
    /// None: the configuration is the approval.
    #[default]
    Never,
    /// Those that replace or remove something that was there.
    Destructive,
    /// All.
    Writes,
}

/// The server's side of asking, shared by its calls.
#[derive(Debug)]
pub(super) struct Confirmation {
    mode: Confirm,
    limit: Duration,
    waiting: Semaphore,
    signer: OnceLock<Option<Signer>>,
}

/// One call's request, as far as an answer is bound to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draft {
    mode: Confirm,
    /// SHA-256 of the tool's name and the arguments.
    request: [u8; 32],
}

/// A change that a person must see first.
#[derive(Debug)]
pub(super) struct Proposal {
    /// What the person reads.
    message: String,
    fingerprint: Fingerprint,
    request: [u8; 32],
    /// Values of `--confirm` that would not ask about it.
    unasked_by: &'static str,
}

/// The way to the person behind one call.
#[derive(Debug)]
pub(super) enum Person {
    /// The client answers questions while a call waits.
    Live(Peer<RoleServer>),
    /// The client repeats the call, with what it was told and was answered.
    Retry {
        /// The state as the client returned it: not to be trusted.
        state: Option<String>,
        /// The person's answer.
        answer: Option<Value>,
    },
    /// The client cannot ask anybody.
    OutOfReach,
}

/// What asking came to.
#[derive(Debug)]
pub(super) enum Reply {
    /// Yes.
    Approved(Approval),
    /// The client is to ask and then repeat the call.
    Ask(Question),
}

/// The question as a call's result.
#[derive(Debug)]
pub(super) struct Question(InputRequiredResult);

impl Question {
    /// The result on the wire.
    pub(super) fn into_result(self) -> InputRequiredResult {
        self.0
    }
}

impl Person {
    /// The way to the person that the client of `request` declared.
    pub(super) fn of(context: &RequestContext<RoleServer>, modern: bool, request: &mut CallToolRequestParams) -> Self {
        let elicitation = context.client_capabilities().and_then(|declared| declared.elicitation);
        // Before there were modes, an empty declaration meant forms.
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

impl Draft {
    /// What must be asked about `change`; `None` where nobody need be. Works out a diff, so it belongs
    /// to the pool.
    pub(super) fn proposal(self, change: &dyn Change) -> Option<Proposal> {
        let preview = change.preview();
        if self.mode == Confirm::Destructive && !preview.destructive {
            return None;
        }
        let unasked_by = if preview.destructive { "never" } else { "destructive or never" };
        Some(Proposal {
            message: question::text(&preview),
            fingerprint: change.fingerprint(),
            request: self.request,
            unasked_by,
        })
    }
}

impl Confirmation {
    /// Asks about what `mode` says, and takes an answer for at most `limit`.
    pub(super) fn new(mode: Confirm, limit: Duration) -> Self {
        Self { mode, limit, waiting: Semaphore::new(MAX_WAITING), signer: OnceLock::new() }
    }

    /// The call that may need an answer; `None` where nobody is ever asked.
    pub(super) fn draft(&self, tool: &str, arguments: &Map<String, Value>) -> Option<Draft> {
        if self.mode == Confirm::Never {
            return None;
        }
        let mut call = serde_json::json!([tool, arguments]);
        // A client may send the members of an object in another order the second time.
        call.sort_all_objects();
        Some(Draft { mode: self.mode, request: Sha256::digest(call.to_string()).into() })
    }

    /// Asks the person, or finds the answer in a call that was repeated.
    ///
    /// # Errors
    /// `declined` for everything but a yes, with the reason; `stale` where the yes was to another
    /// change; `quota` where too many questions are open; `cancelled`.
    pub(super) async fn ask(
        &self,
        person: Person,
        proposal: &Proposal,
        cancelled: &CancellationToken,
        progress: ProgressSink,
    ) -> Result<Reply, ToolError> {
        match person {
            Person::Live(peer) => {
                let _place = self.waiting.try_acquire().map_err(|_| {
                    ToolError::new(
                        Kind::Quota,
                        format!("{MAX_WAITING} changes already wait for a person's answer; this one was not made"),
                    )
                    .hint("wait for their answers, then repeat this call")
                })?;
                let answer = live::ask(&peer, &proposal.message, self.limit, cancelled, progress).await?;
                consent(&answer)?;
                Ok(Reply::Approved(Approval::by_person()))
            }
            Person::Retry { answer: None, .. } => self.question(proposal),
            Person::Retry { state, answer: Some(answer) } => {
                let answer: ElicitResult = serde_json::from_value(answer)
                    .map_err(|error| declined("the person's answer cannot be read").source(error).hint(ASK_AGAIN))?;
                consent(&answer)?;
                match self.signer()?.verify(state.as_deref().unwrap_or_default(), proposal, self.limit) {
                    Ok(()) => Ok(Reply::Approved(Approval::by_person())),
                    Err(InvalidToken::OtherChange) => Err(ToolError::changed_while_asked(&proposal.fingerprint.path)),
                    Err(InvalidToken::Unverified) => Err(declined(format!(
                        "the person's answer is not one to this call, was used before, or came after more than {:.0?}",
                        self.limit
                    ))
                    .hint(ASK_AGAIN)),
                }
            }
            Person::OutOfReach => Err(declined(
                "a person must confirm this change, and the client declares no \
                elicitation to ask with",
            )
            .hint(format!(
                "tell the user that it takes a client with elicitation, or rootbound started with --confirm {}",
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

    /// Made when first needed: most servers never ask.
    fn signer(&self) -> Result<&Signer, ToolError> {
        self.signer.get_or_init(Signer::new).as_ref().ok_or_else(signer::no_randomness)
    }
}

/// A yes is an accepted form with its field ticked, and nothing else is.
fn consent(answer: &ElicitResult) -> Result<(), ToolError> {
    const NEXT: &str = "do not repeat the call unchanged; ask the user what to do instead";
    let ticked = answer.content.as_ref().is_some_and(|content| content.get(FIELD) == Some(&Value::Bool(true)));
    let reason = match answer.action {
        ElicitationAction::Accept if ticked => return Ok(()),
        ElicitationAction::Accept => "the person sent the form without confirming the change",
        ElicitationAction::Decline => "the person declined this change",
        // The client's own way out counts as no.
        _ => "the person dismissed the question about this change",
    };
    Err(declined(reason).hint(NEXT))
}

fn declined(reason: impl std::fmt::Display) -> ToolError {
    ToolError::new(Kind::Declined, format!("{reason}; nothing was changed"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(value: Value) -> ElicitResult {
        serde_json::from_value(value).expect("a result")
    }

    #[test]
    fn only_an_accepted_and_ticked_form_is_a_yes() {
        assert!(consent(&answer(json!({ "action": "accept", "content": { "confirm": true } }))).is_ok());
        for no in [
            json!({ "action": "accept", "content": { "confirm": false } }),
            json!({ "action": "accept", "content": { "confirm": "true" } }),
            json!({ "action": "accept", "content": {} }),
            json!({ "action": "accept" }),
            json!({ "action": "decline", "content": { "confirm": true } }),
            json!({ "action": "cancel", "content": { "confirm": true } }),
        ] {
            assert_eq!(consent(&answer(no.clone())).expect_err("no").kind(), Kind::Declined, "{no}");
        }
    }

    #[test]
    fn a_request_is_the_same_in_any_order_of_its_members_and_another_with_another_value() {
        let confirmation = Confirmation::new(Confirm::Writes, Duration::from_secs(1));
        let request = |tool: &str, arguments: Value| {
            confirmation.draft(tool, arguments.as_object().expect("an object")).expect("asks").request
        };
        let one = request("write", json!({ "path": "a", "edits": [{ "x": 1, "y": 2 }] }));
        assert_eq!(one, request("write", json!({ "edits": [{ "y": 2, "x": 1 }], "path": "a" })));
        assert_ne!(one, request("write", json!({ "path": "b", "edits": [{ "x": 1, "y": 2 }] })));
        assert_ne!(one, request("edit", json!({ "path": "a", "edits": [{ "x": 1, "y": 2 }] })));
    }
}
