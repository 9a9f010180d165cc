//! The `rootbound` program: argv → configuration → workspace → confinement → serve.
//!
//! It decides nothing but the order of these steps, and returns the only exit code.

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
    sync::Arc,
};

use rootbound::{
    config::{self, Action, Config, Refusal, Surroundings},
    server::{self, Parts, Server},
    session::Session,
    tools::Toolbox,
    workspace::{StateDir, Workspace},
};

fn main() -> ExitCode {
    match Config::read(std::env::args_os(), &Surroundings::of_process()).and_then(start) {
        Ok(code) => code,
        Err(refusal) => refusal.report(),
    }
}

fn start(config: Config) -> Result<ExitCode, Refusal> {
    let parts = assemble(&config)?;
    if config.action == Action::Serve && io::stdin().is_terminal() {
        let _ = writeln!(io::stderr(), "{WAITING}");
    }
    Ok(match config.action {
        Action::Serve => ExitCode::from(server::run_stdio(Server::new(parts))),
        Action::Call { tool, arguments } => config::call(Server::new(parts), &config.selection, &tool, &arguments),
        Action::Tools { json } => config::tools(Server::new(parts), json),
        Action::History { path } => config::history(&parts, path.as_deref()),
        Action::Restore { path, revision } => config::restore(&parts, &path, revision.as_deref()),
    })
}

const WAITING: &str = "rootbound waits for an MCP client on stdin; Ctrl-C ends it. \
                       To try it without one: rootbound call grep pattern=main (see rootbound --help)";

/// Opens what the configuration names, confines the process and puts the server's parts together.
fn assemble(config: &Config) -> Result<Parts, Refusal> {
    tracing_subscriber::fmt().with_max_level(config.log).with_writer(io::stderr).init();
    let opened = Workspace::open(&config.roots, config.workspace.clone()).map_err(Refusal::Problems)?;
    config.warnings.iter().chain(&opened.warnings).for_each(|warning| tracing::warn!("{warning}"));
    let state = config.state.as_deref().and_then(|path| {
        let failed = |error| tracing::warn!(path = %path.display(), %error, "remembering in memory only");
        StateDir::open(path).map_err(failed).ok()
    });
    let used = state.as_ref().and(config.state.as_deref());
    let confined = opened.workspace.confine(config.confine, used).map_err(|why| Refusal::Problems(vec![why]))?;
    tracing::info!(level = confined.level, enforced = confined.enforced, "confinement");
    Ok(Parts {
        workspace: Arc::new(opened.workspace),
        session: Arc::new(Session::with_history(state, &config.history)),
        toolbox: Toolbox::new(&config.selection),
        settings: Arc::new(config.settings.clone()),
        options: config.server.clone(),
    })
}
