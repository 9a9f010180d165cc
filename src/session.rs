//! What one session has seen and changed, and how a call is told to stop.

pub mod history;
mod ledger;
mod quota;
mod stop;

pub use history::{History, HistoryLimits};
pub use ledger::{Ledger, Owed, Seen};
pub use quota::{Cost, Quota, QuotaError, QuotaLimits};
pub use stop::{StopReason, StopSignal};

use std::sync::Arc;

use crate::{
    search::{IndexMode, Live},
    workspace::StateDir,
};

/// State shared by the calls of one session.
#[derive(Debug)]
pub struct Session {
    /// Which files were seen, and at which revision.
    pub ledger: Ledger,
    /// What searches keep between calls.
    pub live: Arc<Live>,
    /// Former contents, and the changes that can be undone.
    pub history: History,
    /// What may still be spent.
    pub quota: Quota,
}

impl Session {
    /// A session that remembers in `state` what was seen and replaced, or in memory alone without it.
    pub fn new(state: Option<StateDir>) -> Self {
        Self::with_history(state, &HistoryLimits::default())
    }

    /// As [`Session::new`], with these bounds of the history.
    pub fn with_history(state: Option<StateDir>, limits: &HistoryLimits) -> Self {
        let history = History::new(state.as_ref(), limits);
        Self { ledger: Ledger::new(state), live: Arc::default(), history, quota: Quota::default() }
    }

    /// The same with another choice of what searches keep.
    #[must_use]
    pub fn index(self, mode: IndexMode) -> Self {
        Self { live: Arc::new(Live::new(mode)), ..self }
    }

    /// The session with other bounds on what it may spend.
    #[must_use]
    pub fn within(mut self, limits: QuotaLimits) -> Self {
        self.quota = Quota::new(limits);
        self
    }
}
