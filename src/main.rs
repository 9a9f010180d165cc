//! The `rootbound` program: argv → configuration → open the roots → confine the process →
//! assemble the server → serve.
//!
//! Only the order of these steps is decided here, and the exit code is returned here alone.

use std::{
    io::{self, IsTerminal as _, Write as _},
    panic,
    path::Path,
    process::ExitCode,
    sync::{Arc, OnceLock},
    time::Duration,
};

use change_set::state::{AppendLog, EventSink};
use change_set::{Opened, StateDir, WaitLimit, Workspace};
use confined_fs::{OpenError, RootSpec, prepare_process, watch::watch_limit};
use file_tools::{
    Toolbox,
    audit::Audit,
    session::{ChangeListener, Session},
};
use lsp_check::LanguageServers;
use rootbound::{
    cli::{self, StartReport},
    config::{Action, Config, Environment, IndexRequest, IndexTask, Invocation, Role, StartError},
    log,
    server::{self, EventLog, RoleParts, Server, Services},
};
use self_sandbox::{BROKER_COMMAND, Broker, BrokeredProgram, ConfineReport, serve_broker};
use tree_search::{IndexMode, PathIndex, StoredIndexes};

/// One heap for all threads. glibc keeps up to eight arenas per processor ([`glibc.malloc.arena_max`]), and what a call
/// needed for a moment (a compiled regex takes a megabyte) stays in the arena of its thread: 32 concurrent calls on
/// 11,000 changing files grew from 8 to 137 MiB in 150 s, with one heap they stay below 45 MiB. Allocations rarely
/// contend for it.
///
/// [`glibc.malloc.arena_max`]: https://www.gnu.org/software/libc/manual/html_node/Memory-Allocation-Tunables.html
#[cfg(target_os = "linux")]
#[global_allocator]
static HEAP: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    // tokio panics if it cannot open the pipe for its signals.
    let code = panic::catch_unwind(run).unwrap_or(ExitCode::FAILURE);
    // Also after a panic: the changes were made.
    if let Some(events) = EVENTS.get() {
        events.flush(FLUSH_LIMIT);
    }
    log::flush(FLUSH_LIMIT);
    code
}

fn run() -> ExitCode {
    // First: a broker has no configuration, and must not become a server.
    if std::env::args_os().nth(1).is_some_and(|command| command == BROKER_COMMAND) {
        return serve_broker();
    }
    #[cfg(all(target_os = "linux", feature = "exec"))]
    if std::env::args_os().nth(1).is_some_and(|command| command == self_sandbox::CLEANUP_COMMAND) {
        return self_sandbox::serve_cleanup();
    }
    let environment = Environment::of_process();
    let invocation = Invocation::read(std::env::args_os(), &environment);
    // A command gets the limits that this process was started with.
    if !matches!(invocation, Ok(Invocation::Execute(_))) {
        prepare_process();
    }
    match invocation {
        Ok(Invocation::Print(document)) => cli::document(document),
        Ok(Invocation::SetUp(request)) => cli::setup(&request, &environment),
        Ok(Invocation::Execute(request)) => cli::exec(request),
        Ok(Invocation::Start(config)) => start(&config).unwrap_or_else(StartError::report),
        Err(error) => error.report(),
    }
}

/// The log of `--events`, which the sessions of all roles report to.
static EVENTS: OnceLock<Arc<EventLog>> = OnceLock::new();

/// Limit for writing the last lines of the log before the process ends.
const FLUSH_LIMIT: Duration = Duration::from_secs(1);

fn start(config: &Config) -> Result<ExitCode, StartError> {
    Ok(match &config.action {
        Action::Serve => {
            let (services, roles, _) = assemble(config)?;
            print_waiting_note(config);
            for services in roles.iter().map(|role| &role.services).chain([&services]) {
                services.path_index.start(&services.workspace);
            }
            ExitCode::from(server::run_stdio(Server::new(services).with_roles(roles)))
        }
        Action::Call(request) => cli::call(server(config)?, &config.selection, request),
        Action::Tools { json } => cli::tools(server(config)?, *json),
        Action::History(command) => cli::history(&assemble(config)?.0, command),
        Action::Index(request) => match request.task {
            IndexTask::Clear => cli::clear_indexes(config, request),
            IndexTask::Build => cli::build_indexes(config, &assemble(config)?.0, request.json),
            IndexTask::Status => cli::index_status(config, &assemble(config)?.0, request.json),
        },
        Action::Doctor => {
            let (services, _, report) = assemble(config)?;
            cli::doctor(config, &services, &report)
        }
        Action::Guide(request) => cli::guide(config, request),
    })
}

fn server(config: &Config) -> Result<Server, StartError> {
    assemble(config).map(|(services, roles, _)| Server::new(services).with_roles(roles))
}

fn print_waiting_note(config: &Config) {
    if config.action == Action::Serve && io::stdin().is_terminal() {
        let _ = writeln!(io::stderr(), "{WAITING_NOTE}");
    }
}

const WAITING_NOTE: &str = "rootbound waits for an MCP client on stdin; Ctrl-C ends it. \
                       To try it without a client: rootbound call grep pattern=main (see rootbound --help)";

/// Says what is unusual about this start: in the log of a server, as a sentence to the person who typed a command.
fn warn(config: &Config, text: &str) {
    match config.action {
        Action::Serve => tracing::warn!("{text}"),
        _ => log::Lines.write_all(format!("rootbound: {text}\n").as_bytes()).unwrap_or_default(),
    }
}

/// The services of a server, those of the roles for clients by their names, and a report of the start.
type Assembled = (Services, Vec<RoleParts>, StartReport);

/// Opens the roots, confines the process and assembles the services of the server.
fn assemble(config: &Config) -> Result<Assembled, StartError> {
    // Its messages only wait for now: the thread that writes them has to start once the process is confined.
    log::init(config.log);
    let opened = open(config)?;
    let confined = confine(config, &opened)?;
    log::start();
    tracing::info!(level = confined.level, enforced = confined.enforced, calls = confined.calls, "confinement");
    let (base, roles, report) = services(config, opened, confined);
    if config.action != Action::Serve {
        // The server does so before each call.
        base.workspace.recover(&WaitLimit::default());
    }
    Ok((base, roles, report))
}

/// All that is opened or started by its path, which a confined process cannot do.
struct OpenedPaths {
    state: Option<StateDir>,
    base: Opened,
    client_workspaces: Vec<Workspace>,
    /// Of the role that all other clients have, where it is not the only one.
    own_workspace: Option<Workspace>,
    audit: Option<AppendLog>,
    events: Option<EventSink>,
    language_servers: Option<Arc<LanguageServers>>,
    complaints: Vec<String>,
    watch_limit: Option<u64>,
}

fn open(config: &Config) -> Result<OpenedPaths, StartError> {
    let problem = |why| StartError::Problems(vec![why]);
    let mut complaints = Vec::new();
    let state = open_state(config, &mut complaints);
    let base = open_workspace(config, &config.roots).map_err(|error| StartError::Problems(error.problems))?;
    for warning in config.warnings.iter().chain(&base.warnings) {
        warn(config, warning);
    }
    complaints.extend(base.warnings.iter().cloned());
    let client_workspaces =
        config.client_roles.iter().map(|role| role_workspace(config, role)).collect::<Result<Vec<_>, _>>()?;
    let own_role = config.role.as_ref().filter(|_| !client_workspaces.is_empty());
    Ok(OpenedPaths {
        own_workspace: own_role.map(|role| role_workspace(config, role)).transpose()?,
        client_workspaces,
        audit: open_audit(config, &base.workspace).map_err(problem)?,
        language_servers: language_servers(config, &base.workspace, &mut complaints),
        events: open_events(config, &base.workspace).map_err(problem)?,
        // A confined process does not see /proc/sys.
        watch_limit: if config.action == Action::Doctor { watch_limit() } else { None },
        state,
        base,
        complaints,
    })
}

/// Confines the process to the roots and the folders that it writes to by itself.
fn confine(config: &Config, opened: &OpenedPaths) -> Result<ConfineReport, StartError> {
    let state = opened.state.as_ref().and(config.state.as_deref());
    let audit = opened.audit.as_ref().map(AppendLog::folder);
    let events = opened.events.as_ref().filter(|sink| sink.needs_folder()).map(EventSink::folder);
    let folders: Vec<&Path> = state.into_iter().chain(audit).chain(events).collect();
    opened
        .base
        .workspace
        .confine(config.confine, &folders)
        .map_err(|error| StartError::Problems(vec![error.to_string()]))
}

fn services(config: &Config, opened: OpenedPaths, confinement: ConfineReport) -> Assembled {
    let OpenedPaths { state, base, complaints, watch_limit, language_servers, .. } = opened;
    let report = StartReport {
        confinement,
        complaints,
        state: state.is_some(),
        unapplied_layers: match (&state, &config.action) {
            (Some(state), Action::Doctor) => state.unapplied_layers(),
            _ => Vec::new(),
        },
        agent_files: base.agent_files,
        watch_limit,
    };
    let label = &config.audit.label;
    let audit = opened.audit.map(|log| Arc::new(Audit::new(log, label.clone(), config.audit.required)));
    let events = opened.events.map(|sink| EVENTS.get_or_init(|| Arc::new(EventLog::new(sink, label.clone()))));
    let services = |workspace: Workspace, role: Option<&Role>| {
        // A handle more fails where too few files may be open; the session then remembers in memory.
        let own_state = state.as_ref().and_then(|state| state.try_clone().ok());
        let (name, quota) = role.map_or((None, config.quota), |role| (Some(role.name.as_str()), role.quota));
        let session = Session::of(own_state, &config.history, name, quota);
        if let Some(state) = &state {
            workspace.keep_intents(state);
        }
        if let Some(events) = events {
            let listener: Arc<dyn ChangeListener> = Arc::clone(events) as _;
            session.changes.follow(Arc::downgrade(&listener));
        }
        let mut options = config.server.clone();
        options.label.clone_from(label);
        options.audit = match (&audit, role) {
            (Some(audit), Some(role)) => Some(Arc::new(audit.of_role(&role.name))),
            (audit, _) => audit.clone(),
        };
        Services {
            workspace: Arc::new(workspace),
            session: Arc::new(session),
            path_index: Arc::new(path_index(config, state.as_ref())),
            toolbox: Toolbox::new(role.map_or(&config.selection, |role| &role.selection)),
            settings: Arc::new(config.settings.clone()),
            language_servers: language_servers.clone(),
            options,
        }
    };
    let roles = config.client_roles.iter().zip(opened.client_workspaces).map(|(role, workspace)| RoleParts {
        client: role.client.clone().unwrap_or_default(),
        services: services(workspace, Some(role)),
    });
    let roles = roles.collect();
    (services(opened.own_workspace.unwrap_or(base.workspace), config.role.as_ref()), roles, report)
}

/// The index of searches, stored beyond the life of the process if there is a state folder.
fn path_index(config: &Config, state: Option<&StateDir>) -> PathIndex {
    let mode = match config.action {
        // A person who asks for an index gets it of a small tree, too.
        Action::Index(IndexRequest { task: IndexTask::Build, .. }) if config.index == IndexMode::Auto => {
            IndexMode::Eager
        }
        _ => config.index,
    };
    let state = state.filter(|_| mode.stores()).and_then(|state| state.try_clone().ok());
    let stored = state.map_or_else(StoredIndexes::default, |state| StoredIndexes::new(state, config.index_size));
    PathIndex::stored_in(mode, stored)
}

/// The state folder; without a usable one the server works, and keeps its history in memory.
fn open_state(config: &Config, complaints: &mut Vec<String>) -> Option<StateDir> {
    let path = config.state.as_deref()?;
    let opened = if config.action.makes_state_folder() { StateDir::open(path) } else { StateDir::existing(path) };
    match opened {
        Ok(state) => Some(state),
        // Nothing was kept yet, which is no complaint: a command that only looks makes no folder.
        Err(error) if error.kind() == io::ErrorKind::NotFound && !config.action.makes_state_folder() => None,
        Err(error) => {
            let why = format!("the state folder {} cannot be used: {error}", path.display());
            warn(config, &format!("state is kept in memory only: {why}"));
            complaints.push(why);
            None
        }
    }
}

/// Starts the process that starts language servers, if any are configured and a tool may change something.
fn language_servers(
    config: &Config,
    workspace: &Workspace,
    complaints: &mut Vec<String>,
) -> Option<Arc<LanguageServers>> {
    // Only changes are checked: without one the broker would be a process that does nothing.
    let changes =
        matches!(config.action, Action::Serve | Action::Call(_) | Action::Doctor) && !config.selection.read_only;
    if config.language_servers.is_empty() || !changes || workspace.unusable().is_some() {
        return None;
    }
    // Before the process is confined: afterwards it may start no program.
    let programs: Vec<BrokeredProgram> = config.language_servers.iter().map(|server| server.program.clone()).collect();
    let usable = workspace.roots().iter().filter(|root| !root.is_unusable());
    let roots = usable.map(|root| root.host().to_owned()).collect();
    let broker = Broker::start_process(&programs, roots).inspect_err(|error| {
        let why = format!("language servers cannot be used: {error}");
        warn(config, &why);
        complaints.push(why);
    });
    Some(Arc::new(LanguageServers::new(config.language_servers.clone(), broker.ok())))
}

/// Opens the directories. Only a server starts where none can be used, to say so to its client.
fn open_workspace(config: &Config, roots: &[RootSpec]) -> Result<Opened, OpenError> {
    let opened = Workspace::open(roots, config.workspace.clone())?;
    let is_useless = config.action != Action::Serve && opened.workspace.unusable().is_some();
    if is_useless { Err(OpenError { problems: opened.warnings }) } else { Ok(opened) }
}

fn role_workspace(config: &Config, role: &Role) -> Result<Workspace, StartError> {
    open_workspace(config, &role.roots).map(|opened| opened.workspace).map_err(|error| {
        StartError::Problems(error.problems.into_iter().map(|why| format!("the role {:?}: {why}", role.name)).collect())
    })
}

/// Bytes at which the files of `--audit` and `--events` are renamed to `FILE.1`: about 20,000 calls, or 40,000 changes.
const MAX_LOG_SIZE: u64 = 10 << 20;

/// Opens the audit file, which no call may reach: the configuration has compared its path, this compares the opened
/// folder.
fn open_audit(config: &Config, workspace: &Workspace) -> Result<Option<AppendLog>, String> {
    let Some(file) = &config.audit.file else { return Ok(None) };
    let shown = file.display();
    let log = AppendLog::open(file, MAX_LOG_SIZE);
    let log = log.map_err(|error| format!("the audit file {shown} cannot be written: {error}"))?;
    separate(workspace, log.folder(), &format!("the audit file {shown}")).map(|()| Some(log))
}

/// Opens the place of `--events`, which no call may reach.
fn open_events(config: &Config, workspace: &Workspace) -> Result<Option<EventSink>, String> {
    let Some(path) = &config.events.path else { return Ok(None) };
    let shown = path.display();
    let sink = EventSink::open(path, config.events.is_socket, MAX_LOG_SIZE)
        .map_err(|error| format!("the events cannot be written to {shown}: {error}"))?;
    separate(workspace, sink.folder(), &format!("--events {shown}")).map(|()| Some(sink))
}

/// Refuses a folder of the program's own that a call could reach.
fn separate(workspace: &Workspace, folder: &Path, what: &str) -> Result<(), String> {
    let why =
        "contains, or is inside of, a directory that is offered: choose a separate folder outside of all directories";
    if workspace.overlaps(folder) { Err(format!("the folder of {what} {why}")) } else { Ok(()) }
}
