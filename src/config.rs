//! Start-up: the command line, the environment and a file → one [`Config`].
//!
//! `Config` holds one struct of each layer; no lower layer knows it. Every problem is reported at once.
//! Nothing but the configuration file and the policy of the machine is opened.

mod commands;
mod environment;
mod exec;
mod file;
mod findings;
mod lsp;
mod machine_policy;
mod options;
mod raw;
mod read;
mod requests;
mod roles;
mod roots;
pub(crate) mod suggestion;
mod validate;

use std::path::PathBuf;

use confined_fs::RootSpec;
use lsp_check::LanguageServer;
use self_sandbox::Confine;
use text_file::wildcard::matches;
use tracing::level_filters::LevelFilter;
use tree_search::IndexMode;

use crate::server;
use file_tools::{
    Selection, Settings,
    session::{HistoryLimits, QuotaLimits},
};

pub use commands::Invocation;
pub(crate) use commands::{command, command_without_directories};
pub use environment::Environment;
pub use exec::ExecRequest;
pub(in crate::config) use options::{
    OPTION_SECTIONS, OptionRow, PER_ROLE, PER_ROOT, UNBOUNDED, VARIABLE_PREFIX, ValueKind,
};
pub(in crate::config) use raw::{LspTable, RawArgs, RawTable, RawValue, Source};
pub use read::{BAD_CONFIGURATION, StartError};
pub(in crate::config) use requests::GUIDE_CLIENTS;
#[cfg(test)]
pub(crate) use requests::SETUP_CLIENTS;
pub use requests::{
    Action, CallRequest, DiffRequest, Document, GuideClient, GuidePart, GuideRequest, HistoryCommand, IndexRequest,
    IndexTask, ListRequest, RestoreRequest, SetupRequest,
};

#[derive(Debug)]
pub struct Config {
    pub action: Action,
    pub log: LevelFilter,
    /// The directories to offer; at least one, none of them the whole file system.
    pub roots: Vec<RootSpec>,
    pub workspace: confined_fs::WorkspaceOptions,
    pub confine: Confine,
    /// The folder for what outlives the process; `None` keeps that in memory.
    pub state: Option<PathBuf>,
    pub history: HistoryLimits,
    pub index: IndexMode,
    /// Bytes of all stored indexes.
    pub index_size: u64,
    pub quota: QuotaLimits,
    pub audit: AuditOptions,
    pub events: EventsOptions,
    pub selection: Selection,
    pub settings: Settings,
    pub server: server::ServerOptions,
    /// Roles that take rights from some callers, in the order in which they are tried.
    pub roles: Vec<Role>,
    /// Those of them that are chosen by the name of the client, before `role`.
    pub client_roles: Vec<Role>,
    /// The role of every other client. If no client has another one, the directories, tools and limits above are those of
    /// this role.
    pub role: Option<Role>,
    pub language_servers: Vec<LanguageServer>,
    /// What the administrator of the machine takes away, for a person: the file first. Empty without one.
    pub machine_policy: Vec<String>,
    /// Unusual but not wrong, for the log.
    pub warnings: Vec<String>,
}

impl Default for Config {
    /// The default of every option; without a root.
    fn default() -> Self {
        Self {
            action: Action::Serve,
            log: LevelFilter::WARN,
            roots: Vec::new(),
            workspace: confined_fs::WorkspaceOptions { agent_rules: true, ..confined_fs::WorkspaceOptions::default() },
            confine: Confine::Auto,
            state: None,
            history: HistoryLimits::default(),
            index: IndexMode::default(),
            index_size: 256 << 20,
            quota: QuotaLimits::default(),
            audit: AuditOptions::default(),
            events: EventsOptions::default(),
            selection: Selection::default(),
            settings: Settings::default(),
            server: server::ServerOptions::default(),
            roles: Vec::new(),
            client_roles: Vec::new(),
            role: None,
            language_servers: Vec::new(),
            machine_policy: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// A role: rights that some callers lack although the command line allows them.
#[derive(Clone, Debug)]
pub struct Role {
    pub name: String,
    /// The label of the processes that it is for, with `*` for any text; `None` for any label.
    pub label: Option<String>,
    pub client: Option<String>,
    pub roots: Vec<RootSpec>,
    pub selection: Selection,
    pub quota: QuotaLimits,
}

impl Role {
    /// Those of `roles` that a process with `label` may need, in order, up to the first that needs no client's name to
    /// be chosen.
    pub fn candidates<'r>(roles: &'r [Self], label: Option<&str>) -> Vec<&'r Self> {
        let fits = |role: &&Self| {
            role.label.as_deref().is_none_or(|pattern| label.is_some_and(|label| matches(pattern, label)))
        };
        let mut found = Vec::new();
        for role in roles.iter().filter(fits) {
            found.push(role);
            if role.client.is_none() {
                break;
            }
        }
        found
    }

    pub fn who(&self) -> String {
        match (&self.label, &self.client) {
            (None, None) => "everybody else".to_owned(),
            (Some(label), None) => format!("label {label:?}"),
            (None, Some(client)) => format!("client {client:?}"),
            (Some(label), Some(client)) => format!("label {label:?} and client {client:?}"),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventsOptions {
    /// The file, FIFO or socket; `None` when they are not reported.
    pub path: Option<PathBuf>,
    pub is_socket: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditOptions {
    /// The file; `None` when calls are not recorded.
    pub file: Option<PathBuf>,
    pub label: Option<String>,
    /// Whether a call that cannot be recorded is refused.
    pub required: bool,
}
