//! The language servers of the configuration: what is started for which files, and behind which walls.

use lsp_check::LanguageServer;
use self_sandbox::{Confine, find_program, runs_as_root};

use crate::{config::Config, server::Services};

use super::report_text::ReportText;

/// Lists them, and starts each once.
pub(super) fn language_servers(
    out: &mut ReportText,
    config: &Config,
    services: &Services,
    complaints: &mut Vec<String>,
) {
    let mut started = services
        .language_servers
        .as_ref()
        .map_or_else(Vec::new, |servers| servers.probe(&services.workspace))
        .into_iter();
    for (number, server) in config.language_servers.iter().enumerate() {
        let head = if number == 0 { "lsp" } else { "" };
        let files = server.extensions.iter().map(|one| format!(".{one}")).collect::<Vec<_>>().join(" ");
        let shown = server.program.program.display();
        let started = started.next();
        if find_program(&server.program.program).is_none() {
            out.head(head, &format!("{}  {files}  {shown}: there is no such program", server.name));
            continue;
        }
        let timeout = server.timeout.as_secs_f64();
        out.head(head, &format!("{}  {files}  {shown}; a change waits {timeout} s for it", server.name));
        out.line(&format!("  {}", walls(server)));
        match started {
            Some(Ok(after)) => {
                out.line(&format!("  started behind these walls: it answers after {:.1} s", after.as_secs_f64()));
            }
            Some(Err(why)) => {
                out.line(&format!("  started behind these walls: it {why}"));
                complaints.push(format!("the language server {} {why}", server.name));
            }
            None => {}
        }
    }
}

fn walls(server: &LanguageServer) -> String {
    let program = &server.program;
    let walls = match program.confine {
        Confine::Off => return "not confined (confine = \"off\")".to_owned(),
        Confine::Auto => "auto",
        Confine::Required => "required",
    };
    let root = if program.may_write { "read-write" } else { "read-only" };
    let network = if program.network { "network" } else { "no network" };
    let mut text = format!("confined ({walls}), root {root}, {network}");
    if !program.readable.is_empty() {
        let paths: Vec<String> = program.readable.iter().map(|path| path.display().to_string()).collect();
        text.push_str(", may read ");
        text.push_str(&paths.join(", "));
    }
    if runs_as_root() {
        text.push_str(
            "; AS ROOT: no wall keeps it from changing mode and owner of any file of the system, keys included",
        );
    }
    text
}
