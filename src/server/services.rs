//! What a server is made of, and how it runs its calls.

use std::{sync::Arc, time::Duration};

use confined_fs::Workspace;
use lsp_check::LanguageServers;
use tree_search::PathIndex;

use crate::{
    audit::Audit,
    session::Session,
    tools::{CallContext, Kind, Settings, ToolError, Toolbox},
};

use super::confirm::{Confirm, ConfirmThrough};

/// How the server runs its calls.
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
    /// Who asks them where the client cannot.
    pub confirm_through: ConfirmThrough,
    /// How long a person may take to answer; `deadline` does not run meanwhile.
    pub confirm_limit: Duration,
    /// How long a call may wait for a file, whatever its client allows.
    pub wait_limit: Duration,
    /// Whether waiting calls look from time to time, without the kernel's events.
    pub wait_polling: bool,
    /// Where calls are recorded, if anywhere.
    pub audit: Option<Arc<Audit>>,
    /// Why there is no directory to offer: every call is answered with it.
    pub unconfigured: Option<String>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            max_concurrent: None,
            deadline: Duration::from_secs(30),
            max_line: 16 << 20,
            grace: Duration::from_secs(5),
            confirm: Confirm::Never,
            confirm_through: ConfirmThrough::Client,
            confirm_limit: Duration::from_secs(300),
            wait_limit: Duration::from_secs(300),
            wait_polling: false,
            audit: None,
            unconfigured: None,
        }
    }
}

impl ServerOptions {
    /// Whether calls may carry the code of a refusal that the model has shown to a person.
    pub fn takes_codes(&self) -> bool {
        self.confirm != Confirm::Never && self.confirm_through == ConfirmThrough::Model
    }

    /// Refuses a call where there is no directory to offer.
    pub(super) fn check_configured(&self) -> Result<(), ToolError> {
        let Some(why) = &self.unconfigured else { return Ok(()) };
        Err(ToolError::new(Kind::Denied, why.clone()).hint(
            "ask the user to name the project's absolute path in the `args` of this server's entry in the client's \
             configuration, and to start the server again",
        ))
    }

    /// Heavy calls that run at once.
    pub fn heavy_calls(&self) -> usize {
        heavy_calls(self.max_concurrent)
    }
}

/// The bound on heavy calls: `limit`, or twice the processors and at least four.
pub(super) fn heavy_calls(limit: Option<usize>) -> usize {
    let twice = || (2 * std::thread::available_parallelism().map_or(2, usize::from)).max(4);
    limit.unwrap_or_else(twice).max(1)
}

/// What a server is made of.
#[derive(Debug)]
pub struct Services {
    /// The sandbox.
    pub workspace: Arc<Workspace>,
    /// What the session has seen.
    pub session: Arc<Session>,
    /// What searches keep between calls.
    pub path_index: Arc<PathIndex>,
    /// The tools that are offered.
    pub toolbox: Toolbox,
    /// The tools' configuration.
    pub settings: Arc<Settings>,
    /// What changes are checked with, if anything is configured.
    pub language_servers: Option<Arc<LanguageServers>>,
    /// How calls are run.
    pub options: ServerOptions,
}

impl Services {
    /// What a call that starts now and may take `limit` may use.
    pub fn context(&self, limit: Duration) -> CallContext {
        let Self { workspace, session, path_index, settings, language_servers, .. } = self;
        CallContext {
            language_servers: language_servers.clone(),
            offers_undo: self.toolbox.get("undo").is_some(),
            ..CallContext::new(workspace.clone(), session.clone(), path_index.clone(), settings.clone(), limit)
        }
    }

    /// As [`Self::context`], of a call that `by` makes.
    pub(super) fn context_of(&self, limit: Duration, by: Option<&Arc<str>>) -> CallContext {
        CallContext { by: by.cloned(), ..self.context(limit) }
    }
}
