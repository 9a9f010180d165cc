//! The state of one workspace, the handle to it that everything above holds, and how it is opened: the roots, and the
//! rules that are found in them once, before any call is served.
//!
//! What is done with it is in `open`, `walk` and `watch`.

use std::{path::PathBuf, sync::Arc};

use crate::{
    AgentFile, IgnoreRules, OpenError, PolicyRules, RootSpec, Roots,
    disk_rules::DiskRules,
    walk::{Ignores, rules_above},
    watch::SystemEvents,
};

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

#[derive(Debug)]
pub struct Opened {
    pub workspace: Workspace,
    /// Roots that could not be used, one sentence each, with host paths: for the log only.
    pub warnings: Vec<String>,
    /// The rule files for agents that were found, as text for a person.
    pub agent_files: Vec<AgentFile>,
}

impl Workspace {
    /// Opens the roots. A missing root is a warning, see [`Workspace::unusable`]; mount names that contradict each other
    /// are an error.
    ///
    /// # Errors
    /// [`OpenError`], with every name that does.
    pub fn open(specs: &[RootSpec], options: WorkspaceOptions) -> Result<Opened, OpenError> {
        let WorkspaceOptions { policy, ignore, force_fallback, server_files, agent_rules } = options;
        let (roots, mut warnings) = Roots::open(specs, &policy, force_fallback)?;
        let (disk_rules, agent_files) = DiskRules::find(&roots, server_files, agent_rules);
        warnings.extend(agent_files.iter().filter_map(|file| {
            let problem = file.problem.as_ref()?;
            Some(format!("the rules for agents in {} are not all in force: {problem}", file.name))
        }));
        let shared = Shared {
            ignores: Ignores::new(&ignore, rules_above(&roots)),
            roots,
            disk_rules,
            system_events: SystemEvents::open(),
        };
        Ok(Opened { workspace: Self { shared: Arc::new(shared) }, warnings, agent_files })
    }

    /// One directory as an unnamed root without rules, for unit tests.
    ///
    /// # Panics
    /// If it does not open.
    #[cfg(any(test, feature = "testing"))]
    pub fn of_directory(path: impl Into<PathBuf>, access: crate::Access) -> Self {
        let spec = RootSpec { name: None, path: path.into(), access, policy: PolicyRules::default(), optional: false };
        Self::open(&[spec], WorkspaceOptions::default()).expect("the directory opens").workspace
    }
}
