//! What a server is made of, and how it runs its calls.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use change_set::Workspace;
use lsp_check::{DiskChange, LanguageServers};
use tree_search::PathIndex;

use file_tools::{
    CallContext, Kind, Settings, ToolError, Toolbox, UNUSABLE_ROOT,
    audit::Audit,
    session::{ChangeKind, ChangeListener, CommittedChange, Session},
};

use super::confirm::{Confirm, ConfirmThrough};

#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Heavy calls (searches) that run at once; `None` for twice the processors, at least four. Light
    /// calls have a bound of their own, so that a read never waits behind searches.
    pub max_concurrent: Option<usize>,
    /// How long one call may plan; a commit that has begun is never cut short.
    pub deadline: Duration,
    /// Bytes of the longest message that is read.
    pub max_line: usize,
    /// How long calls that are running when the input ends may take to answer.
    pub grace: Duration,
    /// Which changes a person is asked about before they are made.
    pub confirm: Confirm,
    pub confirm_through: ConfirmThrough,
    /// How long a person may take to answer; `deadline` does not run meanwhile.
    pub confirm_limit: Duration,
    /// How long a call may wait for a file, whatever its client allows.
    pub longest_wait: Duration,
    pub audit: Option<Arc<Audit>>,
    pub label: Option<String>,
    /// Why there is no directory to offer: every call is answered with it.
    pub unconfigured: Option<String>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            max_concurrent: None,
            // Well below the 60 s after which most clients end a call, so that an error still arrives.
            deadline: Duration::from_secs(30),
            max_line: 16 << 20,
            grace: Duration::from_secs(5),
            confirm: Confirm::Never,
            confirm_through: ConfirmThrough::Client,
            confirm_limit: Duration::from_secs(300),
            longest_wait: Duration::from_secs(300),
            audit: None,
            label: None,
            unconfigured: None,
        }
    }
}

impl ServerOptions {
    /// Whether calls may carry the code of a refusal that the model has shown to a person.
    pub fn takes_codes(&self) -> bool {
        self.confirm != Confirm::Never && self.confirm_through == ConfirmThrough::Model
    }
}

#[derive(Debug)]
pub struct Services {
    pub workspace: Arc<Workspace>,
    pub session: Arc<Session>,
    pub path_index: Arc<PathIndex>,
    pub toolbox: Toolbox,
    pub settings: Arc<Settings>,
    pub language_servers: Option<Arc<LanguageServers>>,
    pub options: ServerOptions,
}

impl Services {
    /// Before a call: forgets what a person has purged since the last one, and says how far that goes.
    pub(super) fn forget_purged(&self) -> u64 {
        self.session.purges.catch_up(|| {
            self.session.forget();
            self.path_index.forget();
        })
    }

    /// Why there is no directory to offer, if so: every call is answered with it.
    pub(super) fn unconfigured(&self) -> Option<String> {
        self.options.unconfigured.clone().or_else(|| self.workspace.unusable())
    }

    /// Refuses a call where there is no directory to offer.
    pub(super) fn check_configured(&self) -> Result<(), ToolError> {
        let Some(why) = self.unconfigured() else { return Ok(()) };
        Err(match self.options.unconfigured {
            None => ToolError::new(Kind::NotFound, why).hint(UNUSABLE_ROOT),
            Some(_) => ToolError::new(Kind::Denied, why).hint(
                "ask the user to name the project's absolute path in the `args` of this server's entry in the client's \
                 configuration, and to start the server again",
            ),
        })
    }

    /// The context of a call that starts now and may take `limit`.
    pub fn context(&self, limit: Duration) -> CallContext {
        let Self { workspace, session, path_index, settings, language_servers, .. } = self;
        CallContext {
            language_servers: language_servers.clone(),
            offers_undo: self.toolbox.get("undo").is_some(),
            ..CallContext::new(workspace.clone(), session.clone(), path_index.clone(), settings.clone(), limit)
        }
    }
}

// What the server changes on the disk, passed on to the language servers: they see files that are not open only so.

#[derive(Debug)]
pub(super) struct DiskChanges {
    servers: Arc<LanguageServers>,
    workspace: Weak<Workspace>,
}

impl DiskChanges {
    /// Follows the changes of the session of `services` as long as it is held; none without language servers.
    pub(super) fn follow(services: &Services) -> Option<Arc<Self>> {
        let servers = Arc::clone(services.language_servers.as_ref()?);
        let own = Arc::new(Self { servers, workspace: Arc::downgrade(&services.workspace) });
        let listener: Weak<dyn ChangeListener> = Arc::downgrade(&own) as Weak<dyn ChangeListener>;
        services.session.changes.follow(listener);
        Some(own)
    }
}

impl ChangeListener for DiskChanges {
    fn changed(&self, changes: &[CommittedChange]) {
        let Some(workspace) = self.workspace.upgrade() else { return };
        for change in changes {
            if let Some(from) = &change.from {
                self.servers.changed_on_disk(&workspace.host_path(from), DiskChange::Deleted);
            }
            let kind = match change.kind {
                ChangeKind::Created | ChangeKind::Moved => DiskChange::Created,
                // The text of a file that a server is for is put to it with the check of the change.
                ChangeKind::Written if self.servers.are_for(&change.path) => continue,
                ChangeKind::Written => DiskChange::Changed,
                ChangeKind::Deleted => DiskChange::Deleted,
            };
            self.servers.changed_on_disk(&workspace.host_path(&change.path), kind);
        }
    }
}
