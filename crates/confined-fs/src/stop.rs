//! The signal that ends a call early: the client's cancellation, or its deadline.
//!
//! # Limits
//! Work has to ask: code that does not check the signal is not interrupted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Checks of a signal before its earlier deadline counts: some hundred files, so that the same work is done in a small
/// tree however slow the machine is just then.
const FREE_CHECKS: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    Cancelled,
    /// The call has used up its time: answer with what was found so far.
    Deadline,
}

/// Shared by everything that works on one call; cheap to clone and to ask.
///
/// ```
/// use std::time::Duration;
///
/// use confined_fs::stop::{StopReason, StopSignal};
///
/// let call = StopSignal::after(Duration::from_secs(60));
/// let worker = call.clone();
/// assert_eq!(worker.stopped(), None);
/// call.cancel();
/// assert_eq!(worker.stopped(), Some(StopReason::Cancelled));
/// ```
#[derive(Clone, Debug)]
pub struct StopSignal {
    cancelled: Arc<AtomicBool>,
    /// How often the work has checked it: work that no longer does is stuck.
    checks: Arc<AtomicUsize>,
    computing: Arc<AtomicBool>,
    started: Instant,
    limit: Duration,
    earlier: Option<EarlierDeadline>,
}

#[derive(Clone, Debug)]
struct EarlierDeadline {
    started: Instant,
    limit: Duration,
    checks: Arc<AtomicUsize>,
}

impl EarlierDeadline {
    fn is_over(&self) -> bool {
        self.checks.fetch_add(1, Ordering::Relaxed) >= FREE_CHECKS && self.started.elapsed() >= self.limit
    }
}

impl StopSignal {
    /// A signal whose deadline is `limit` from now.
    pub fn after(limit: Duration) -> Self {
        let (cancelled, checks, computing) = (Arc::default(), Arc::default(), Arc::default());
        Self { cancelled, checks, computing, started: Instant::now(), limit, earlier: None }
    }

    /// Asks the work to stop; safe to call more than once.
    pub fn cancel(&self) {
        // Relaxed: the flag carries nothing but itself, and work that misses it asks again soon.
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// The same signal with an earlier deadline, for optional work: after `limit` from now, but not before
    /// some hundred checks of the signal, so that what is done in a small tree does not depend on how busy
    /// the machine is.
    #[must_use]
    pub fn with_earlier_deadline(&self, limit: Duration) -> Self {
        let earlier = Some(EarlierDeadline { started: Instant::now(), limit, checks: Arc::default() });
        Self { earlier, ..self.clone() }
    }

    /// The signal for what is left to do before what was found can be shown: once the deadline has passed, one that ends
    /// `limit` from now or with the same cancellation; else this one.
    #[must_use]
    pub fn to_finish(&self, limit: Duration) -> Self {
        match self.stopped() {
            Some(StopReason::Deadline) => Self { started: Instant::now(), limit, earlier: None, ..self.clone() },
            Some(StopReason::Cancelled) | None => self.clone(),
        }
    }

    /// Why the work should stop, if it should. Some tens of nanoseconds.
    pub fn stopped(&self) -> Option<StopReason> {
        // Not an atomic addition: all threads of a search check, and a lost count does not matter.
        self.checks.store(self.checks.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        self.stopped_while_waiting()
    }

    /// Does work that asks nothing of the file system and cannot check the signal.
    pub fn while_computing<T>(&self, work: impl FnOnce() -> T) -> T {
        self.computing.store(true, Ordering::Relaxed);
        let done = work();
        self.computing.store(false, Ordering::Relaxed);
        done
    }

    pub fn is_computing(&self) -> bool {
        self.computing.load(Ordering::Relaxed)
    }

    /// How often the work has called [`Self::stopped`], a number that wraps round: the work goes on
    /// while it changes.
    pub fn checks(&self) -> usize {
        self.checks.load(Ordering::Relaxed)
    }

    /// As [`Self::stopped`], for a thread that only waits for others of the call.
    pub fn stopped_while_waiting(&self) -> Option<StopReason> {
        if self.cancelled.load(Ordering::Relaxed) {
            Some(StopReason::Cancelled)
        } else if self.started.elapsed() >= self.limit || self.earlier.as_ref().is_some_and(EarlierDeadline::is_over) {
            Some(StopReason::Deadline)
        } else {
            None
        }
    }

    pub fn limit(&self) -> Duration {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_deadline_counts_only_after_free_checks() {
        let call = StopSignal::after(Duration::from_secs(3600));
        let side = call.with_earlier_deadline(Duration::ZERO);
        assert!((0..FREE_CHECKS).all(|_| side.stopped().is_none()));
        assert_eq!(side.stopped(), Some(StopReason::Deadline));
        assert_eq!(call.stopped(), None);
        let side = call.with_earlier_deadline(Duration::from_secs(3600));
        assert!((0..2 * FREE_CHECKS).all(|_| side.stopped().is_none()));
        call.cancel();
        assert_eq!(side.stopped(), Some(StopReason::Cancelled));
        assert_eq!(
            StopSignal::after(Duration::ZERO).with_earlier_deadline(Duration::ZERO).stopped(),
            Some(StopReason::Deadline)
        );
    }

    #[test]
    fn finishing_has_time_after_the_deadline_but_not_after_cancellation() {
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
