//! What one session has seen, and how a call is told to stop.

mod ledger;
mod stop;

pub use ledger::{Ledger, Seen};
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
}

impl Session {
    /// A session that remembers in `state` what was seen, or in memory alone without it.
    pub fn new(state: Option<StateDir>) -> Self {
        Self { ledger: Ledger::new(state), live: Arc::default() }
    }

    /// The same with another choice of what searches keep.
    #[must_use]
    pub fn index(self, mode: IndexMode) -> Self {
        Self { live: Arc::new(Live::new(mode)), ..self }
    }
}
