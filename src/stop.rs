//! The signal that ends a call early: the client's cancellation, or its deadline.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// Looks at a signal with a side limit that the limit does not count for: some hundred files, some milliseconds.
const FREE_LOOKS: usize = 256;

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
    /// How often the work has looked at it: work that no longer does is stuck.
    looks: Arc<AtomicUsize>,
    started: Instant,
    limit: Duration,
    side: Option<Side>,
}

/// An earlier end for work on the side, which the call can do without.
#[derive(Clone, Debug)]
struct Side {
    started: Instant,
    limit: Duration,
    looks: Arc<AtomicUsize>,
}

impl Side {
    fn is_over(&self) -> bool {
        self.looks.fetch_add(1, Ordering::Relaxed) >= FREE_LOOKS && self.started.elapsed() >= self.limit
    }
}

impl StopSignal {
    /// A signal whose deadline is `limit` from now.
    pub fn after(limit: Duration) -> Self {
        Self { cancelled: Arc::default(), looks: Arc::default(), started: Instant::now(), limit, side: None }
    }

    /// Tells the work to stop; safe to call more than once.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// The same signal with an earlier end, for work on the side: after `limit` from now, but not before
    /// some hundred looks at the signal, so that what is done in a small tree does not depend on how busy
    /// the machine is.
    #[must_use]
    pub fn aside(&self, limit: Duration) -> Self {
        Self { side: Some(Side { started: Instant::now(), limit, looks: Arc::default() }), ..self.clone() }
    }

    /// The same; after its deadline, the same cancellation with `limit` from now, for what is left to do
    /// before what was found can be shown.
    #[must_use]
    pub fn to_finish(&self, limit: Duration) -> Self {
        match self.stopped() {
            Some(StopReason::Deadline) => Self { started: Instant::now(), limit, side: None, ..self.clone() },
            Some(StopReason::Cancelled) | None => self.clone(),
        }
    }

    /// Why the work should stop, if it should. Some tens of nanoseconds.
    pub fn stopped(&self) -> Option<StopReason> {
        // Not an addition: all threads of a search look, and a lost count does not matter.
        self.looks.store(self.looks.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        self.stopped_while_waiting()
    }

    /// How often the work has asked [`Self::stopped`], from any number, round the end of the numbers: it goes on
    /// while that changes.
    pub fn looks(&self) -> usize {
        self.looks.load(Ordering::Relaxed)
    }

    /// As [`Self::stopped`], for who only waits for other threads of the call, and does nothing itself.
    pub fn stopped_while_waiting(&self) -> Option<StopReason> {
        if self.cancelled.load(Ordering::Relaxed) {
            Some(StopReason::Cancelled)
        } else if self.started.elapsed() >= self.limit || self.side.as_ref().is_some_and(Side::is_over) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_on_the_side_ends_early_but_not_before_it_has_looked_into_a_small_tree() {
        let call = StopSignal::after(Duration::from_secs(3600));
        let side = call.aside(Duration::ZERO);
        assert!((0..FREE_LOOKS).all(|_| side.stopped().is_none()));
        assert_eq!(side.stopped(), Some(StopReason::Deadline));
        assert_eq!(call.stopped(), None);
        let side = call.aside(Duration::from_secs(3600));
        assert!((0..2 * FREE_LOOKS).all(|_| side.stopped().is_none()));
        call.cancel();
        assert_eq!(side.stopped(), Some(StopReason::Cancelled));
        assert_eq!(StopSignal::after(Duration::ZERO).aside(Duration::ZERO).stopped(), Some(StopReason::Deadline));
    }

    #[test]
    fn what_is_left_to_do_has_time_after_the_deadline_but_not_after_a_cancellation() {
        let long = Duration::from_secs(3600);
        let stop = StopSignal::after(Duration::ZERO);
        assert_eq!(stop.stopped(), Some(StopReason::Deadline));
        let finish = stop.to_finish(long);
        assert_eq!(finish.stopped(), None);
        stop.cancel();
        assert_eq!(finish.stopped(), Some(StopReason::Cancelled));
        assert_eq!(stop.to_finish(long).stopped(), Some(StopReason::Cancelled));
        assert_eq!(StopSignal::after(long).to_finish(Duration::ZERO).stopped(), None);
    }
}
