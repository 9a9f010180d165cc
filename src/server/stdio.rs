//! The transport: JSON-RPC lines in and out, with an answer to every request, however broken.
//!
//! Replaces rmcp's stdio transport, which is silent on malformed input and loses answers at the end of the input.
//! [`frame`] cuts the input into lines, [`incoming`] parses them, [`OutputQueue`] writes; this file keeps track of the
//! requests in flight in both directions, and of how a session ends.

mod frame;
mod incoming;
mod output_queue;

use std::{
    collections::{HashMap, HashSet},
    convert::Infallible,
    future,
    time::Duration,
};

use rmcp::{
    RoleServer,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetExtensions as _, JsonRpcMessage,
        RequestId, ServerNotification,
    },
    service::{OriginatingRequestId, RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{io::AsyncRead, time};
use tokio_util::sync::CancellationToken;

use super::services::ServerOptions;

use self::{
    frame::{Frame, FrameReader},
    incoming::Incoming,
};

pub(super) use incoming::DuplicateKey;
pub(super) use output_queue::{OutputQueue, ResponseBudget, ResponsePermit};

#[derive(Debug)]
pub(super) struct SafeStdio<R> {
    frames: FrameReader<R>,
    output: OutputQueue,
    in_flight: InFlight,
    asked: HashSet<RequestId>,
    /// Once the input has ended: how long answers may take.
    closing: Option<time::Instant>,
    grace: Duration,
    stop: CancellationToken,
    input_ended: CancellationToken,
}

impl<R: AsyncRead + Unpin> SafeStdio<R> {
    /// Reads from `input` and answers to `output`; cancels `input_ended` at the end of the input, and `stop` when answers
    /// are overdue then.
    pub(super) fn new(
        input: R,
        output: OutputQueue,
        options: &ServerOptions,
        stop: CancellationToken,
        input_ended: CancellationToken,
    ) -> Self {
        Self {
            frames: FrameReader::new(input, options.max_line),
            output,
            in_flight: InFlight::default(),
            asked: HashSet::new(),
            closing: None,
            grace: options.grace,
            stop,
            input_ended,
        }
    }

    /// The message to deliver to the service; `None` if the line has been answered or is ignored.
    fn accept(&mut self, incoming: Incoming, bytes: usize) -> Option<RxJsonRpcMessage<RoleServer>> {
        match incoming {
            Incoming::Deliver(message) => {
                let is_expected = match &*message {
                    JsonRpcMessage::Request(request) => {
                        let is_call = matches!(request.request, ClientRequest::CallToolRequest(_));
                        let inserted = self.in_flight.insert(&request.id, is_call.then_some(bytes));
                        inserted.map_err(|error| self.output.refuse(Some(&request.id), &error)).is_ok()
                    }
                    // rmcp drops the answer to a cancelled request, so it is in flight no longer.
                    JsonRpcMessage::Notification(notification) => match &notification.notification {
                        ClientNotification::CancelledNotification(cancelled) => {
                            cancelled.params.request_id.as_ref().is_some_and(|id| self.in_flight.remove(id))
                        }
                        _ => true,
                    },
                    // Only to a request of the server, and only once.
                    JsonRpcMessage::Response(response) => self.asked.remove(&response.id),
                    JsonRpcMessage::Error(error) => error.id.as_ref().is_some_and(|id| self.asked.remove(id)),
                };
                is_expected.then_some(*message)
            }
            Incoming::Refuse { id, error } => {
                tracing::debug!(code = error.code.0, reason = %error.message, "refused a message");
                self.output.refuse(id.as_ref(), &error);
                None
            }
            Incoming::Ignore => None,
        }
    }

    /// The failure of a request of the server that the client can no longer answer.
    fn unanswerable(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let id = self.asked.iter().next().cloned()?;
        self.asked.remove(&id);
        let error = ErrorData::internal_error("the input has ended", None);
        Some(ClientJsonRpcMessage::error(error, Some(id)))
    }

    /// Waits until the answers are written, or overdue.
    async fn drain(&mut self, until: time::Instant) {
        if !self.in_flight.is_empty() {
            // An answer that is sent meanwhile ends this future: the service calls `receive` again.
            time::sleep_until(until).await;
            tracing::warn!(calls = self.in_flight.len(), "calls did not end in time after the input ended");
            self.stop.cancel();
        }
        // Also after the deadline: what is queued already gets a moment to be written.
        let flushed = until.max(time::Instant::now() + Duration::from_millis(100));
        let _ = time::timeout_at(flushed, self.output.flush()).await;
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for SafeStdio<R> {
    type Error = Infallible;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        // Enqueued here and not in the future: rmcp polls those in any order.
        match &message {
            JsonRpcMessage::Response(response) => {
                self.in_flight.remove(&response.id);
            }
            JsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    self.in_flight.remove(id);
                }
            }
            JsonRpcMessage::Request(request) => {
                // A call that waits for a person must not keep the person's answer from being read. `confirm` bounds
                // how many calls wait.
                if let Some(origin) = request.request.extensions().get::<OriginatingRequestId>() {
                    self.in_flight.release_bytes(&origin.0);
                }
                self.asked.insert(request.id.clone());
            }
            JsonRpcMessage::Notification(notification) => {
                if let ServerNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.asked.remove(id);
                }
            }
        }
        self.output.message(&message);
        future::ready(Ok(()))
    }

    /// rmcp polls this in a `select!` and drops it at any await, so all state is in `self`.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(until) = self.closing {
                // So that calls which wait for a person end now, and not at their own time limit.
                if let Some(failure) = self.unanswerable() {
                    return Some(failure);
                }
                self.drain(until).await;
                return None;
            }
            if self.in_flight.is_full() {
                // The answer that makes room ends this future, and the service calls `receive` again.
                future::pending::<()>().await;
            }
            self.output.drained().await;
            let (incoming, bytes) = match self.frames.next().await {
                Frame::Line(line) => (incoming::parse(line), line.len()),
                Frame::TooLong { id, limit } => (incoming::too_long(id, limit), 0),
                Frame::End => {
                    self.closing = Some(time::Instant::now() + self.grace);
                    self.input_ended.cancel();
                    continue;
                }
            };
            if let Some(message) = self.accept(incoming, bytes) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // A client that has stopped reading must not hold the process.
        let _ = time::timeout(Duration::from_millis(500), self.output.flush()).await;
        Ok(())
    }
}

// The requests that are being answered, and how many there may be.

/// Calls in flight at most. One more is refused at once: left in the client's pipe, it would delay the cancellation
/// or the ping behind it.
const MAX_CALLS: usize = 1024;
/// Bytes of calls in flight at most.
const MAX_BYTES: usize = 64 << 20;
/// Requests in flight before reading pauses. Requests that are no calls are answered at once, so the pause is short.
const MAX_IN_FLIGHT: usize = MAX_CALLS + 256;

#[derive(Debug, Default)]
pub(super) struct InFlight {
    requests: HashMap<RequestId, Option<usize>>,
    calls: usize,
    bytes: usize,
}

impl InFlight {
    /// Adds a request; `call` is its size if it is a call.
    ///
    /// # Errors
    /// The answer to it: its id is in use, or there are too many calls.
    pub(super) fn insert(&mut self, id: &RequestId, call: Option<usize>) -> Result<(), ErrorData> {
        if self.requests.contains_key(id) {
            return Err(incoming::duplicate(id));
        }
        if let Some(bytes) = call {
            // A single call is served whatever its size, which the limit for a line bounds.
            let too_large = self.bytes > 0 && self.bytes + bytes > MAX_BYTES;
            if self.calls >= MAX_CALLS || too_large {
                return Err(incoming::too_many(MAX_CALLS, MAX_BYTES));
            }
            self.calls += 1;
            self.bytes += bytes;
        }
        self.requests.insert(id.clone(), call);
        Ok(())
    }

    /// Removes a request; whether it was in flight.
    pub(super) fn remove(&mut self, id: &RequestId) -> bool {
        let Some(call) = self.requests.remove(id) else { return false };
        self.calls -= usize::from(call.is_some());
        self.bytes -= call.unwrap_or(0);
        true
    }

    /// Counts the bytes of the request no longer.
    pub(super) fn release_bytes(&mut self, id: &RequestId) {
        if let Some(Some(bytes)) = self.requests.get_mut(id) {
            self.bytes -= std::mem::take(bytes);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.requests.len() >= MAX_IN_FLIGHT
    }
}
