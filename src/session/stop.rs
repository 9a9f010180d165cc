//! The signal that ends a call early: the client's cancellation, or its deadline.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// Why a call should stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The client no longer wants the answer.
    Cancelled,
    /// The call has used up its time: answer with what was found so far.
    Deadline,
}

/// Shared by everything that works on one call; cheap to clone and to ask.
#[derive(Clone, Debug)]
pub struct StopSignal {
    cancelled: Arc<AtomicBool>,
    started: Instant,
    limit: Duration,
}

impl StopSignal {
    /// A signal whose deadline is `limit` from now.
    pub fn after(limit: Duration) -> Self {
        Self { cancelled: Arc::default(), started: Instant::now(), limit }
    }

    /// Tells the work to stop; safe to call more than once.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// The same cancellation with an earlier deadline: at most `limit` from now.
    #[must_use]
    pub fn within(&self, limit: Duration) -> Self {
        let left = self.limit.saturating_sub(self.started.elapsed());
        Self { cancelled: Arc::clone(&self.cancelled), started: Instant::now(), limit: left.min(limit) }
    }

    /// Why the work should stop, if it should. Some tens of nanoseconds.
    pub fn stopped(&self) -> Option<StopReason> {
        if self.cancelled.load(Ordering::Relaxed) {
            Some(StopReason::Cancelled)
        } else if self.started.elapsed() >= self.limit {
            Some(StopReason::Deadline)
        } else {
            None
        }
    }

    /// How long the call may take.
    pub fn limit(&self) -> Duration {
        self.limit
    }
}
