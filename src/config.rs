//! Start-up: the command line, the environment and a file → one [`Config`].
//!
//! `Config` holds one struct of each layer; no lower layer knows it. Every problem is reported at once.
//! Nothing but the configuration file is opened.

mod action;
mod arguments;

mod command_line;
mod environment;
mod exec_arguments;
mod exec_request;
mod file;
mod guide_request;
mod host_path;
mod lsp;
mod lsp_table;
mod misspelled_command;
mod option;
mod options;
mod parse_value;
mod plain_arguments;
mod policy;
mod program;
mod raw;
mod read;
mod role;
mod roles;
mod roots;
mod setup_request;
mod start_error;
mod stats_request;
mod subcommands;
pub(crate) mod suggested_call;
mod validate;
mod variables;

use std::path::PathBuf;

use confined_fs::RootSpec;
use lsp_check::LanguageServer;
use self_sandbox::Confine;
use tracing::level_filters::LevelFilter;
use tree_search::IndexMode;

use crate::{
    server,
    session::{HistoryLimits, QuotaLimits},
    tools::{Selection, Settings},
};

pub use action::{Action, Document, EarlierState, EarlierTime, HistoryRequest, IndexRequest};
pub(in crate::config) use command_line::CommandLine;
pub(crate) use command_line::{command, command_without_directories};
pub use environment::Environment;
pub use exec_request::ExecRequest;
pub(in crate::config) use guide_request::GUIDE_CLIENTS;
pub use guide_request::{GuideClient, GuidePart, GuideRequest, OTHER};
pub(in crate::config) use option::{NamedChoice, NumberField, OptionRow, PREFIX, UNBOUNDED, ValueKind};
pub(in crate::config) use options::{PER_ROLE, PER_ROOT, SECTIONS};
pub(in crate::config) use raw::{RawArgs, RawValue, RoleTable, RootTable, Source};
pub use read::Invocation;
pub use role::Role;
pub(crate) use setup_request::SETUP_CLIENTS;
pub use setup_request::SetupRequest;
pub use start_error::{BAD_CONFIGURATION, StartError};
pub use stats_request::StatsRequest;

/// What the program is to do, and with what.
#[derive(Debug)]
pub struct Config {
    /// Serve, or one of the subcommands.
    pub action: Action,
    /// What is logged to stderr.
    pub log: LevelFilter,
    /// The directories to offer; at least one, none of them the whole file system.
    pub roots: Vec<RootSpec>,
    /// Policy and ignore rules, both validated.
    pub workspace: confined_fs::WorkspaceOptions,
    /// Whether the kernel is to confine the process.
    pub confine: Confine,
    /// The folder for what outlives the process; `None` keeps that in memory.
    pub state: Option<PathBuf>,
    /// Whether changes go to a layer in the state folder.
    pub stage: bool,
    /// How much of the former content of files is kept.
    pub history: HistoryLimits,
    /// What searches keep between calls.
    pub index: IndexMode,
    /// Bytes of all stored indexes.
    pub index_size: u64,
    /// What one session may spend.
    pub quota: QuotaLimits,
    /// Where and how calls are recorded.
    pub audit: AuditOptions,
    /// Where changes are reported.
    pub events: EventsOptions,
    /// Which tools are offered.
    pub selection: Selection,
    /// Limits and switches of the tools.
    pub settings: Settings,
    /// Limits of the server.
    pub server: server::ServerOptions,
    /// What some callers may do less, in the order in which they are tried.
    pub roles: Vec<Role>,
    /// Those of them that are chosen by the name of the client, before `role`.
    pub client_roles: Vec<Role>,
    /// The role of every other client. If no client has another one, the directories, tools and limits above are those of
    /// this role.
    pub role: Option<Role>,
    /// The language servers that changes are checked with.
    pub language_servers: Vec<LanguageServer>,
    /// What is unusual but not wrong, for the log.
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
            stage: false,
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
            warnings: Vec::new(),
        }
    }
}

/// Where changes are reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventsOptions {
    /// The file, FIFO or socket; `None` when they are not reported.
    pub path: Option<PathBuf>,
    /// It is a socket that somebody listens on.
    pub is_socket: bool,
    /// Size in bytes at which a file is rotated.
    pub size: u64,
}

impl Default for EventsOptions {
    /// 10 MiB hold about 40,000 changes.
    fn default() -> Self {
        Self { path: None, is_socket: false, size: 10 << 20 }
    }
}

/// How calls are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditOptions {
    /// The file; `None` when calls are not recorded.
    pub file: Option<PathBuf>,
    /// A text in each line that says which server wrote it.
    pub label: Option<String>,
    /// Size in bytes at which the file is rotated.
    pub size: u64,
    /// Whether a call that cannot be recorded is refused.
    pub required: bool,
}

impl Default for AuditOptions {
    /// 10 MiB hold about 20,000 calls.
    fn default() -> Self {
        Self { file: None, label: None, size: 10 << 20, required: false }
    }
}
