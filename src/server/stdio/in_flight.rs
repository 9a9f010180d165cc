//! The requests that are being answered, and how many there may be.

use std::collections::HashMap;

use rmcp::{ErrorData, model::RequestId};

use super::incoming;

/// Calls in flight at most. One more is refused at once: left in the client's pipe, it would delay the cancellation
/// or the ping behind it.
const MAX_CALLS: usize = 1024;
/// Bytes of calls in flight at most.
const MAX_BYTES: usize = 64 << 20;
/// Requests in flight before reading pauses. Requests that are no calls are answered at once, so the pause is short.
const MAX_IN_FLIGHT: usize = MAX_CALLS + 256;

/// The requests that are being answered.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    /// With the size of each call.
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
