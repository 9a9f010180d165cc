//! What one session has seen, changed and spent, and the record of its calls.

pub mod audit;
mod change_feed;
mod confirm_codes;
pub mod history;
mod ledger;
mod purge_log;
mod quota;

pub use change_feed::{ChangeFeed, ChangeKind, ChangeListener, CommittedChange, EntryKind};
pub use confirm_codes::{ConfirmCodes, KEY_BYTES};
pub use history::{History, HistoryLimits};
pub use ledger::{KnownStates, Ledger, Seen, Shown, UnsavedRead, View, Writer};
pub use purge_log::PurgeLog;
pub use quota::{Cost, Quota, QuotaError, QuotaLimits, RootBytes};

pub(crate) use ledger::{living, purge_seen};

use std::io;

use change_set::StateDir;
use confined_fs::Revision;

#[derive(Debug)]
pub struct Session {
    pub ledger: Ledger,
    pub history: History,
    pub quota: Quota,
    pub changes: ChangeFeed,
    pub purges: PurgeLog,
}

impl Session {
    /// A session that remembers in `state` what was seen and replaced, or in memory alone without it.
    pub fn new(state: Option<StateDir>) -> Self {
        Self::of(state, &HistoryLimits::default(), None, QuotaLimits::default())
    }

    /// Likewise; what was seen counts for the calls of `role` alone, if there is one.
    pub fn of(state: Option<StateDir>, limits: &HistoryLimits, role: Option<&str>, quota: QuotaLimits) -> Self {
        let history = History::new(state.as_ref(), limits);
        let own = |role: &str| format!("role-{}", Revision::of(role.as_bytes()));
        let purges = PurgeLog::new(state.as_ref().and_then(|state| state.try_clone().ok()));
        let seen = match role {
            Some(role) => state.and_then(|state| state.folder(&own(role)).ok()),
            None => state,
        };
        Self { ledger: Ledger::new(seen), history, quota: Quota::new(quota), changes: ChangeFeed::default(), purges }
    }

    /// Forgets everything that is in memory of contents.
    pub fn forget(&self) {
        self.history.forget();
        self.ledger.forget();
    }

    /// The codes by which changes are confirmed; `None` without a state folder.
    pub fn confirm_codes(&self) -> Option<io::Result<ConfirmCodes>> {
        self.ledger.state().map(ConfirmCodes::of)
    }
}
