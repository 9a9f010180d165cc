//! Progress notifications: throttled, growing, never after the result; the work never waits for them.
//!
//! The sink runs on the thread that does the work and puts the notification straight into the output queue, before the
//! result of the same call. rmcp's own `notify_progress` is not used: it waits for the service loop, which is gone
//! once the input has ended.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rmcp::model::{
    ProgressNotification, ProgressNotificationParam, ProgressToken, ServerJsonRpcMessage, ServerNotification,
};

use crate::tools::context::{ProgressSink, ProgressUpdate};

use super::stdio::OutputQueue;

/// At most ten updates a second.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// The progress of one call.
#[derive(Default)]
pub(super) struct Progress {
    state: Option<Arc<Mutex<Throttle>>>,
    /// Where the work reports to.
    pub(super) sink: ProgressSink,
}

impl Progress {
    /// Progress to the client that sent `token`; none without one.
    pub(super) fn new(token: Option<ProgressToken>, output: OutputQueue) -> Self {
        let Some(token) = token else { return Self::default() };
        let state = Arc::new(Mutex::new(Throttle::default()));
        let shared = Arc::clone(&state);
        let sink: ProgressSink = Some(Arc::new(move |update: ProgressUpdate| {
            // The lock is held while the line is enqueued, so that none can follow `end`.
            let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
            // One that finds no room is lost, which the next one makes up for: each has the whole count.
            if state.admits(update.done, Instant::now()) && output.has_room() {
                output.message(&notification(token.clone(), update));
            }
        }));
        Self { state: Some(state), sink }
    }

    /// Sends nothing from here on, as the result follows: work that was abandoned may still report.
    pub(super) fn end(&self) {
        if let Some(state) = &self.state {
            state.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        }
    }
}

#[derive(Debug, Default)]
struct Throttle {
    last: Option<(Instant, u64)>,
    ended: bool,
}

impl Throttle {
    /// Whether an update may go out now: not too soon, and with more done than the last one, as the protocol demands
    /// (<https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress>).
    fn admits(&mut self, done: u64, now: Instant) -> bool {
        let due = self.last.is_none_or(|(at, before)| done > before && now.duration_since(at) >= MIN_INTERVAL);
        if self.ended || !due {
            return false;
        }
        self.last = Some((now, done));
        true
    }
}

fn notification(token: ProgressToken, update: ProgressUpdate) -> ServerJsonRpcMessage {
    let mut params = ProgressNotificationParam::new(token, precise(update.done)).with_message(update.message);
    if let Some(total) = update.total {
        params = params.with_total(precise(total));
    }
    ServerJsonRpcMessage::notification(ServerNotification::ProgressNotification(ProgressNotification::new(params)))
}

#[expect(clippy::cast_precision_loss, reason = "the wire has only floats, exact up to 2^53")]
fn precise(n: u64) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_are_throttled_and_must_grow() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut state = Throttle::default();
        assert!(state.admits(0, at(0)), "the first goes out at once");
        assert!(!state.admits(5, at(50)), "too soon");
        assert!(!state.admits(0, at(200)), "no further than before");
        assert!(state.admits(1, at(200)));
    }

    #[test]
    fn no_update_after_the_end() {
        let mut state = Throttle { ended: true, ..Throttle::default() };
        assert!(!state.admits(1, Instant::now()));
    }
}
