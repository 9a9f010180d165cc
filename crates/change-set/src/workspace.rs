//! A workspace whose entries may be changed: that which is read, with the locks and the intents of its changes.

use std::{ops::Deref, sync::Arc};

use confined_fs::{AgentFile, OpenError, RootSpec, WorkspaceOptions};

use crate::set::Intents;
use crate::write::{DirectoryLocks, PathLocks, StaleAfter, StaleTemporaries};

/// The roots, what is known about them, and the changes that are being made in them. What is read is read by the
/// [`confined_fs::Workspace`] that it dereferences to.
#[derive(Clone, Debug)]
pub struct Workspace {
    pub(crate) shared: Arc<Shared>,
}

/// The state that every handle of one workspace shares.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) read: confined_fs::Workspace,
    pub(crate) path_locks: Arc<PathLocks>,
    pub(crate) directory_locks: Arc<DirectoryLocks>,
    pub(crate) stale_temporaries: StaleTemporaries,
    pub(crate) intents: Intents,
}

impl Deref for Shared {
    type Target = confined_fs::Workspace;

    fn deref(&self) -> &confined_fs::Workspace {
        &self.read
    }
}

impl Deref for Workspace {
    type Target = confined_fs::Workspace;

    fn deref(&self) -> &confined_fs::Workspace {
        &self.shared.read
    }
}

/// The workspace, and what start-up has to report.
#[derive(Debug)]
pub struct Opened {
    /// The roots, those that could not be used among them.
    pub workspace: Workspace,
    /// Roots that could not be used, one sentence each, with host paths: for the log only.
    pub warnings: Vec<String>,
    /// The rule files for agents that were found, as text for a person.
    pub agent_files: Vec<AgentFile>,
}

impl Workspace {
    /// Opens the roots as [`confined_fs::Workspace::open`] does.
    ///
    /// # Errors
    /// Those of that one.
    pub fn open(specs: &[RootSpec], options: WorkspaceOptions) -> Result<Opened, OpenError> {
        Self::open_sweeping(specs, options, StaleAfter::default())
    }

    /// As [`Self::open`]; temporary files that an earlier process left behind are removed after `stale_after`.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_sweeping(
        specs: &[RootSpec],
        options: WorkspaceOptions,
        stale_after: StaleAfter,
    ) -> Result<Opened, OpenError> {
        let confined_fs::Opened { workspace, warnings, agent_files } = confined_fs::Workspace::open(specs, options)?;
        let shared = Shared {
            read: workspace,
            path_locks: Arc::default(),
            directory_locks: Arc::default(),
            stale_temporaries: StaleTemporaries::new(stale_after),
            intents: Intents::default(),
        };
        Ok(Opened { workspace: Self { shared: Arc::new(shared) }, warnings, agent_files })
    }

    /// One directory as an unnamed root without rules, for unit tests.
    ///
    /// # Panics
    /// If it does not open.
    #[cfg(any(test, feature = "testing"))]
    pub fn of_directory(path: impl Into<std::path::PathBuf>, access: confined_fs::Access) -> Self {
        let policy = confined_fs::PolicyRules::default();
        let spec = RootSpec { name: None, path: path.into(), access, policy, optional: false };
        Self::open(&[spec], WorkspaceOptions::default()).expect("the directory opens").workspace
    }
}
