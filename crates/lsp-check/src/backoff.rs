//! When a server that failed is tried again.

use std::time::{Duration, Instant};

const FIRST: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_secs(300);

/// Failures in a row, and until when the server is left alone because of them.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
    until: Option<Instant>,
}

impl Backoff {
    /// Whether the server is left alone now.
    pub(super) fn is_waiting(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now < until)
    }

    /// It failed; the first `free` failures in a row cost nothing.
    pub(super) fn failed(&mut self, now: Instant, free: u32) {
        self.failures = self.failures.saturating_add(1);
        let Some(over) = self.failures.checked_sub(free + 1) else { return };
        let delay = FIRST.saturating_mul(1 << over.min(8)).min(LONGEST);
        self.until = Some(now + delay);
    }

    /// It worked.
    pub(super) fn worked(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_a_limit_and_end_with_success() {
        let (mut backoff, now) = (Backoff::default(), Instant::now());
        backoff.failed(now, 1);
        assert!(!backoff.is_waiting(now), "one is free");
        backoff.failed(now, 1);
        assert!(backoff.is_waiting(now + FIRST / 2) && !backoff.is_waiting(now + FIRST));
        for _ in 0..100 {
            backoff.failed(now, 1);
        }
        assert!(backoff.is_waiting(now + LONGEST / 2) && !backoff.is_waiting(now + LONGEST));
        backoff.worked();
        assert!(!backoff.is_waiting(now));
    }
}
