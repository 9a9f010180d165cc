//! The state of one workspace, and the handle to it that everything above holds.
//!
//! Only the nouns: what is done with them is in `open`, `walk`, `watch` and `write`.

use std::sync::Arc;

use super::Roots;
use super::disk_rules::DiskRules;
use super::transaction::Intents;
use super::walk::Ignores;
use super::watch::SystemEvents;
use super::write::{DirectoryLocks, PathLocks, StaleTemporaries};

/// The roots and everything that is known about them. All files are reached through it.
#[derive(Clone, Debug)]
pub struct Workspace {
    pub(super) shared: Arc<Shared>,
}

/// What every handle of one workspace shares.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) roots: Roots,
    pub(super) disk_rules: DiskRules,
    pub(super) ignores: Ignores,
    pub(super) path_locks: Arc<PathLocks>,
    pub(super) directory_locks: Arc<DirectoryLocks>,
    pub(super) stale_temporaries: StaleTemporaries,
    pub(super) system_events: SystemEvents,
    pub(super) intents: Intents,
}
