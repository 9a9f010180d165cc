//! The changes that are being made on the disk: the process does not end in the middle of one.

use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::Duration,
};

/// How long a change that has begun may take when the process ends; after that its temporary file stays.
const FINISH: Duration = Duration::from_secs(2);

/// Counts the changes that are being made.
#[derive(Debug, Default)]
pub(super) struct RunningCommits {
    running: Mutex<usize>,
    ended: Condvar,
}

impl RunningCommits {
    /// One begins; it ends when the answer is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> CommitGuard {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        CommitGuard(Arc::clone(self))
    }

    /// Waits a moment for those that have begun; whether all have ended.
    pub(super) fn finish(&self) -> bool {
        self.wait(FINISH)
    }

    fn wait(&self, limit: Duration) -> bool {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.ended.wait_timeout_while(running, limit, |running| *running > 0);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

/// A change that is being made.
#[derive(Debug)]
pub(super) struct CommitGuard(Arc<RunningCommits>);

impl Drop for CommitGuard {
    fn drop(&mut self) {
        *self.0.running.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_waits_for_a_running_commit_but_not_forever() {
        let commits = Arc::new(RunningCommits::default());
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
