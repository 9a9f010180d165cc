//! The threads that calls run on, of two priorities.
//!
//! Searches that run at the same time as others have a lower priority, so that a read or an edit, which takes a moment,
//! does not wait for a processor behind them. A lone search is as urgent as anything else.

use self_sandbox::{Priority, lower_priority};

use super::thread_pool::ThreadPool;

pub(super) struct Pools {
    pub(super) normal: ThreadPool,
    /// Where one of several searches runs.
    pub(super) low_priority: ThreadPool,
    /// Where calls that wait look whether it has happened.
    pub(super) waits: ThreadPool,
}

impl Default for Pools {
    fn default() -> Self {
        let low_priority = ThreadPool::new(|| lower_priority(Priority::BelowCalls));
        Self { normal: ThreadPool::new(|| {}), low_priority, waits: ThreadPool::new(|| {}) }
    }
}
