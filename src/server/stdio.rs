//! The transport: lines in, lines out, with an answer for every line that deserves one.
//!
//! Replaces rmcp's stdio transport, which is silent on malformed input and loses answers at the end
//! of the input. Reading and recognising lines is [`frame`]'s, meaning is [`incoming`]'s, writing is
//! the [`OutputQueue`]'s; here are the requests in flight in both directions, and how a session ends.

mod duplicate_keys;
#[cfg(all(any(test, fuzzing), unix))]
pub(crate) mod for_fuzzing;
mod frame;
mod id_scanner;
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

pub(super) use incoming::DuplicateKey;
pub(super) use output_queue::OutputQueue;

use self::{
    frame::{Frame, FrameReader},
    incoming::Incoming,
};

use super::parts::Options;

/// Calls in flight at most. One more is refused at once instead of left in the client's pipe, where it
/// would stand before the cancellation or the ping that comes after it.
const MAX_CALLS: usize = 1024;
/// Bytes of calls in flight at most.
const MAX_BYTES: usize = 64 << 20;
/// Requests in flight before reading pauses. Those that are no calls are answered as soon as they are
/// looked at, so that a pause for them is short.
const MAX_IN_FLIGHT: usize = MAX_CALLS + 256;

/// One client on a pair of streams.
#[derive(Debug)]
pub(super) struct SafeStdio<R> {
    frames: FrameReader<R>,
    output: OutputQueue,
    in_flight: InFlight,
    /// The server's own requests that the client has not answered.
    asked: HashSet<RequestId>,
    /// When the input ended, until when answers are waited for.
    closing: Option<time::Instant>,
    grace: Duration,
    stop: CancellationToken,
}

impl<R: AsyncRead + Unpin> SafeStdio<R> {
    /// Reads from `input` and answers to `output`; cancels `stop` when answers are overdue at the end.
    pub(super) fn new(input: R, output: OutputQueue, options: &Options, stop: CancellationToken) -> Self {
        Self {
            frames: FrameReader::new(input, options.max_line),
            output,
            in_flight: InFlight::default(),
            asked: HashSet::new(),
            closing: None,
            grace: options.grace,
            stop,
        }
    }

    /// What a frame means for the service: a message to deliver, or nothing as it was dealt with.
    fn accept(&mut self, incoming: Incoming, bytes: usize) -> Option<RxJsonRpcMessage<RoleServer>> {
        match incoming {
            Incoming::Deliver(message) => {
                match &*message {
                    JsonRpcMessage::Request(request) => {
                        let is_call = matches!(request.request, ClientRequest::CallToolRequest(_));
                        if let Err(error) = self.in_flight.insert(&request.id, is_call.then_some(bytes)) {
                            self.output.refuse(Some(&request.id), &error);
                            return None;
                        }
                    }
                    // rmcp drops the answer to a cancelled request, so it is in flight no longer.
                    JsonRpcMessage::Notification(notification) => {
                        if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                            let known = cancelled.params.request_id.as_ref();
                            if !known.is_some_and(|id| self.in_flight.remove(id)) {
                                return None;
                            }
                        }
                    }
                    // Only once, and only what was asked.
                    JsonRpcMessage::Response(response) => {
                        if !self.asked.remove(&response.id) {
                            return None;
                        }
                    }
                    JsonRpcMessage::Error(error) => {
                        if !error.id.as_ref().is_some_and(|id| self.asked.remove(id)) {
                            return None;
                        }
                    }
                }
                Some(*message)
            }
            Incoming::Refuse { id, error } => {
                tracing::debug!(code = error.code.0, reason = %error.message, "refused a message");
                self.output.refuse(id.as_ref(), &error);
                None
            }
            Incoming::Ignore => None,
        }
    }

    /// A question that nobody is left to answer, as a failure.
    fn unanswerable(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let id = self.asked.iter().next().cloned()?;
        self.asked.remove(&id);
        let error = ErrorData::internal_error("the input has ended", None);
        Some(ClientJsonRpcMessage::error(error, Some(id)))
    }

    /// Waits until the answers are out, or overdue.
    async fn drain(&mut self, until: time::Instant) {
        if !self.in_flight.is_empty() {
            // An answer that is sent meanwhile ends this future: the service polls `receive` anew.
            time::sleep_until(until).await;
            tracing::warn!(calls = self.in_flight.len(), "calls did not end in time after the input ended");
            self.stop.cancel();
        }
        let _ =
            time::timeout_at(until.max(time::Instant::now() + time::Duration::from_millis(100)), self.output.flush())
                .await;
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
                // A call that waits for a person must not be what keeps the person's answer from being
                // read. How many wait at once is bounded where they ask.
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

    /// Polled inside a `select!` and dropped at any await, so all state is in `self`.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(until) = self.closing {
                if let Some(failure) = self.unanswerable() {
                    return Some(failure);
                }
                self.drain(until).await;
                return None;
            }
            if self.in_flight.is_full() {
                // The answer that makes room polls this anew.
                future::pending::<()>().await;
            }
            self.output.drained().await;
            let (incoming, bytes) = match self.frames.next().await {
                Frame::Line(line) => (incoming::parse(line), line.len()),
                Frame::TooLong { id, limit } => (incoming::too_long(id, limit), 0),
                Frame::End => {
                    self.closing = Some(time::Instant::now() + self.grace);
                    continue;
                }
            };
            if let Some(message) = self.accept(incoming, bytes) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        let _ = time::timeout(Duration::from_millis(500), self.output.flush()).await;
        Ok(())
    }
}

/// The requests that are being answered.
#[derive(Debug, Default)]
struct InFlight {
    /// With the sizes of those that are calls.
    requests: HashMap<RequestId, Option<usize>>,
    calls: usize,
    bytes: usize,
}

impl InFlight {
    /// Notes a request, of so many bytes where it is a call.
    ///
    /// # Errors
    /// What it is refused with: its id is in use, or there are too many calls.
    fn insert(&mut self, id: &RequestId, call: Option<usize>) -> Result<(), ErrorData> {
        if self.requests.contains_key(id) {
            return Err(incoming::duplicate(id));
        }
        if let Some(bytes) = call {
            // A single call is served whatever its size: that is the frame's limit.
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

    /// Whether `id` was there.
    fn remove(&mut self, id: &RequestId) -> bool {
        let Some(call) = self.requests.remove(id) else { return false };
        self.calls -= usize::from(call.is_some());
        self.bytes -= call.unwrap_or(0);
        true
    }

    /// Counts the request no longer by its size.
    fn release_bytes(&mut self, id: &RequestId) {
        if let Some(Some(bytes)) = self.requests.get_mut(id) {
            self.bytes -= std::mem::take(bytes);
        }
    }

    fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    fn len(&self) -> usize {
        self.requests.len()
    }

    fn is_full(&self) -> bool {
        self.requests.len() >= MAX_IN_FLIGHT
    }
}
