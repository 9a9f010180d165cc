//! The state of one workspace, and the handle to it that everything above holds.
//!
//! It is made in `workspace`; what is done with it is there and in `open`, `walk` and `watch`.

use std::{path::PathBuf, sync::Arc};

use crate::walk::ignores::{IgnoreRules, Ignores};
use crate::{disk_rules::DiskRules, policy::PolicyRules, roots::Roots, watch::SystemEvents};

/// The roots and everything that is known about them. All files are reached through it.
#[derive(Clone, Debug)]
pub struct Workspace {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) roots: Roots,
    pub(crate) disk_rules: DiskRules,
    pub(crate) ignores: Ignores,
    pub(crate) system_events: SystemEvents,
}

#[derive(Clone, Debug, Default)]
pub struct WorkspaceOptions {
    /// Secrets, protected and hidden names, in all roots.
    pub policy: PolicyRules,
    pub ignore: IgnoreRules,
    /// Never use `openat2`; open one component at a time instead.
    pub force_fallback: bool,
    /// Files of the host, by absolute paths, that the next start reads or runs: neither they nor a link that leads to
    /// them is written, whatever the rules allow.
    pub server_files: Vec<PathBuf>,
    pub agent_rules: bool,
}
