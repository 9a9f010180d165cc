//! The state of one workspace, and the handle to it that everything above holds.
//!
//! Only the nouns: what is done with them is in `open`, `walk`, `watch` and `write`.

use std::fmt;
use std::sync::Arc;

use super::Roots;
use super::walk::Ignores;
use super::watch::SystemEvents;
use super::write::{DirectoryLocks, PathLocks, StaleTemporaries};

/// The roots and everything that is known about them. All files are reached through it.
#[derive(Clone)]
pub struct Workspace {
    pub(super) shared: Arc<Shared>,
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Workspace").field(&self.shared.roots.list()).finish()
    }
}

/// What every handle of one workspace shares.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) roots: Roots,
    pub(super) ignores: Ignores,
    pub(super) path_locks: Arc<PathLocks>,
    pub(super) directory_locks: Arc<DirectoryLocks>,
    pub(super) stale_temporaries: StaleTemporaries,
    pub(super) system_events: SystemEvents,
}
