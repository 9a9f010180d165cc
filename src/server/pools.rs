//! Threads that give way, and the changes that are under way.
//!
//! Searches that run beside other searches run on threads of a lower priority, so that a read or an
//! edit, which needs a moment, does not wait for a processor behind them. A lone search is as urgent
//! as anything else. Which call runs where is the dispatcher's to say.

use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::Duration,
};

use crate::workspace::{Priority, lower_priority};

use super::threads::Threads;

/// See the module.
#[derive(Debug)]
pub(super) struct Pools {
    /// Where calls run.
    pub(super) usual: Threads,
    /// Where a search that gives way runs.
    pub(super) patient: Threads,
    commits: Arc<Commits>,
}

impl Default for Pools {
    fn default() -> Self {
        let patient = Threads::new(|| lower_priority(Priority::BelowCalls));
        Self { usual: Threads::new(|| {}), patient, commits: Arc::default() }
    }
}

impl Pools {
    pub(super) fn commits(&self) -> Arc<Commits> {
        Arc::clone(&self.commits)
    }
}

/// The changes that are being made on the disk.
#[derive(Debug, Default)]
pub(super) struct Commits {
    running: Mutex<usize>,
    ended: Condvar,
}

impl Commits {
    /// One begins; it ends when the answer is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Commit {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Commit(Arc::clone(self))
    }

    /// Waits at most `limit` until none is under way; whether that is so.
    pub(super) fn wait(&self, limit: Duration) -> bool {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.ended.wait_timeout_while(running, limit, |running| *running > 0);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

/// A change that is being made.
#[derive(Debug)]
pub(super) struct Commit(Arc<Commits>);

impl Drop for Commit {
    fn drop(&mut self) {
        *self.0.running.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_waits_for_a_change_under_way_and_not_for_ever() {
        let commits = Arc::new(Commits::default());
        assert!(commits.wait(Duration::ZERO));
        let commit = commits.begin();
        assert!(!commits.wait(Duration::from_millis(5)));
        let ending = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            drop(commit);
        });
        assert!(commits.wait(Duration::from_secs(60)));
        ending.join().unwrap();
    }
}
