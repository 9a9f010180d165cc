//! `rootbound doctor`: what protects a run with these options, human-readable.
//!
//! Goes through the same start-up as serving and reports its results; it decides nothing.

use std::{fmt::Write as _, process::ExitCode, time::SystemTime};

use confined_fs::{Access, AgentFile, PolicyRules, Root, RootSpec, Secrets, Unwatchable, escape_controls};
use lsp_check::LanguageServer;
use self_sandbox::{Confine, ConfineReport, find_program, runs_as_root};
use text_file::{exact_size, file_size};
use tree_search::{IndexMode, PathIndex};

use crate::{
    config::Config,
    server::{Confirm, ConfirmThrough, Services},
    tools::{AnswerBudget, ReadBeforeWrite, Toolbox, answer::count},
};

use super::{index, print};

/// The results of start-up.
#[derive(Debug)]
pub struct StartReport {
    /// How the kernel confines the process.
    pub confinement: ConfineReport,
    /// Deviations from the configuration, one sentence each.
    pub complaints: Vec<String>,
    /// Whether the state folder can be used.
    pub state: bool,
    /// The rule files for agents, with their rules as written.
    pub agent_files: Vec<AgentFile>,
    /// How many directories the user may watch in total, if the system limits it.
    pub watch_limit: Option<u64>,
}

/// Prints the report. The exit code is 0 if everything is as configured, else 1.
pub fn doctor(config: &Config, services: &Services, start: &StartReport) -> ExitCode {
    let (text, healthy) = report(config, services, start);
    let printed = print(&text);
    if healthy { printed } else { ExitCode::FAILURE }
}

fn report(config: &Config, services: &Services, start: &StartReport) -> (String, bool) {
    let mut complaints = start.complaints.clone();
    let mut out = ReportText::default();
    out.head(
        "rootbound",
        &format!("{} on {}-{}", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH),
    );
    roots(&mut out, config, services);
    roles(&mut out, config);
    walls(&mut out, config, services, &start.confinement, &mut complaints);
    policy(&mut out, config, services);
    agent_rules(&mut out, config, start);
    limits(&mut out, config);
    path_index(&mut out, config, services, start);
    language_servers(&mut out, config, services, &mut complaints);
    records(&mut out, config, start);
    staged(&mut out, config, services);
    clients(&mut out, config);
    for (number, remark) in config.warnings.iter().enumerate() {
        out.head(if number == 0 { "remarks" } else { "" }, &format!("- {remark}"));
    }
    if complaints.is_empty() {
        out.head("verdict", "everything is as configured");
    } else {
        out.head("verdict", "not everything is as configured:");
        for complaint in &complaints {
            out.line(&format!("- {complaint}"));
        }
    }
    (out.0, complaints.is_empty())
}

/// In place of a mount name.
const UNNAMED: &str = "(unnamed)";

/// The report so far: lines of a heading of one or two words and a text.
#[derive(Default)]
struct ReportText(String);

impl ReportText {
    fn head(&mut self, name: &str, text: &str) {
        let _ = writeln!(self.0, "{name:<13}{text}");
    }

    fn line(&mut self, text: &str) {
        self.head("", text);
    }
}

/// A path without the `\\?\` that Windows puts before a resolved one.
fn for_people(path: &std::path::Path) -> String {
    let shown = path.display().to_string();
    let shown = shown.strip_prefix(r"\\?\").filter(|path| path.as_bytes().get(1) == Some(&b':')).unwrap_or(&shown);
    if cfg!(windows) && shown.len() > 3 { shown.trim_end_matches('\\').to_owned() } else { shown.to_owned() }
}

fn roots(out: &mut ReportText, config: &Config, services: &Services) {
    for (number, root) in services.workspace.roots().iter().enumerate() {
        let name = root.name().unwrap_or(UNNAMED);
        let state = match (root.is_optional(), root.is_absent()) {
            (_, true) => ", optional, not there yet",
            (true, false) => ", optional",
            (false, false) => "",
        };
        let text = format!("{name}  {}{state}  {}", root.rights(), for_people(root.host()));
        out.head(if number == 0 { "directories" } else { "" }, &text);
    }
    let names: Vec<&str> = services.toolbox.tools().iter().map(|entry| entry.spec.name).collect();
    out.head("tools", &format!("{}{}", names.join(", "), if config.selection.read_only { " (read-only)" } else { "" }));
}

fn policy(out: &mut ReportText, config: &Config, services: &Services) {
    let rules = &config.workspace.policy;
    out.head("policy", &built_in_lists(rules, services));
    out.line(match config.server.confirm {
        Confirm::Never => "changes: made without asking a person (--confirm never)",
        Confirm::Destructive => {
            "changes: a person is asked before something is replaced or removed (--confirm destructive)"
        }
        Confirm::Writes => "changes: a person is asked before each (--confirm writes)",
    });
    if config.server.confirm != Confirm::Never {
        out.line(match config.server.confirm_through {
            ConfirmThrough::Client => "such a change is refused if the client cannot ask (--confirm-through client)",
            ConfirmThrough::Model => {
                "if the client cannot ask, the model is to ask and to repeat the call with a code (--confirm-through \
                 model): it could do so without asking"
            }
        });
    }
    out.line(match config.settings.read_before_write {
        ReadBeforeWrite::Strict => "a file is changed only if it was read and is unchanged since",
        ReadBeforeWrite::Off => "a file may be changed without having been read (--read-before-write off)",
    });
    rule_lines(out, "", rules);
    for root in services.workspace.roots().iter().filter(|root| !root.own_rules().is_empty()) {
        rule_lines(out, &format!("below {}, ", root.public()), root.own_rules());
    }
}

/// The line on what the built-in lists refuse; exceptions may have left nothing of one.
fn built_in_lists(rules: &PolicyRules, services: &Services) -> String {
    let all = |allows_every: fn(&PolicyRules) -> bool| {
        allows_every(rules) || services.workspace.roots().iter().all(|root| allows_every(root.own_rules()))
    };
    let secrets = if all(PolicyRules::allows_every_secret) {
        "secrets (all of them may be read: --allow-secret)"
    } else if rules.secrets == Some(Secrets::Mask) {
        "secrets (values masked, or content refused where they cannot be: --secrets mask)"
    } else {
        "secrets (content refused)"
    };
    let run_later = if all(PolicyRules::allows_every_protected) {
        "files that run later (all of them may be written: --allow-protected)"
    } else {
        "files that run later (not written)"
    };
    format!("built-in lists: {secrets}, {run_later}")
}

fn rule_lines(out: &mut ReportText, place: &str, rules: &PolicyRules) {
    for (what, globs) in [
        ("content also refused", &rules.deny),
        ("secrets that may be read", &rules.allow_secret),
        ("also not written", &rules.protect),
        ("files that run later and may be written", &rules.allow_protected),
        ("hidden", &rules.hide),
    ] {
        if !globs.is_empty() {
            out.line(&format!("{place}{what}: {}", globs.join(", ")));
        }
    }
    match rules.secrets.filter(|_| !place.is_empty()) {
        Some(Secrets::Mask) => out.line(&format!("{place}values of secrets masked")),
        Some(Secrets::Deny) => out.line(&format!("{place}content of secrets refused")),
        None => {}
    }
}

/// How many patterns of one kind are listed for a file.
const MAX_LISTED: usize = 20;

/// The rule files that people wrote for agents, and which of their rules are enforced.
fn agent_rules(out: &mut ReportText, config: &Config, start: &StartReport) {
    if !config.workspace.agent_rules {
        return out.head("agent rules", "not read (--agent-rules off)");
    }
    if start.agent_files.is_empty() {
        return out.head("agent rules", "none at the top of a directory");
    }
    for (number, file) in start.agent_files.iter().enumerate() {
        let text = match &file.problem {
            Some(problem) => format!("{}: {problem}", file.name),
            None if file.refused.is_empty() && file.protected.is_empty() => format!("{}: no rules", file.name),
            None => format!("{} is enforced", file.name),
        };
        out.head(if number == 0 { "agent rules" } else { "" }, &text);
        for (what, rules) in
            [("content refused", &file.refused), ("not written", &file.protected), ("not used", &file.unused)]
        {
            if !rules.is_empty() {
                // A pattern may contain line breaks.
                let listed: Vec<String> = rules.iter().take(MAX_LISTED).map(|rule| one_line(rule)).collect();
                let more = rules.len().saturating_sub(MAX_LISTED);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                out.line(&format!("  {what} ({}): {}{more}", rules.len(), listed.join(", ")));
            }
        }
    }
}

fn one_line(text: &str) -> String {
    escape_controls(text).chars().map(|character| if character == '\n' { ' ' } else { character }).take(200).collect()
}

fn limits(out: &mut ReportText, config: &Config) {
    let (settings, quota) = (&config.settings, &config.quota);
    out.head(
        "limits",
        &format!("call: {} s; file: {}", config.server.deadline.as_secs_f64(), exact_size(settings.max_file_size)),
    );
    let root = quota.root_bytes.map_or_else(String::new, |size| format!("; directory: {} in total", exact_size(size)));
    out.line(&format!("session: {} files created, {} written{root}", quota.files, exact_size(quota.bytes)));
}

/// Whether an index of the paths can be kept between searches, tried here as a search would.
fn path_index(out: &mut ReportText, config: &Config, services: &Services, start: &StartReport) {
    out.head(
        "path index",
        match config.index {
            IndexMode::Auto => {
                "kept for large trees after their first search, with a filter over their files (--index auto)"
            }
            IndexMode::Eager => "kept for every tree from the start, with a filter over its files (--index eager)",
            IndexMode::Off => "none: every search walks its directory (--index off)",
        },
    );
    if config.index == IndexMode::Off {
        return;
    }
    for root in services.workspace.roots().iter().filter(|root| !root.is_absent()) {
        let name = root.name().unwrap_or(UNNAMED);
        match PathIndex::probe(&services.workspace, &services.workspace.root_path(root)) {
            Ok(watched) => {
                let limit = start
                    .watch_limit
                    .map_or_else(String::new, |limit| format!(" of the {limit} that the user may set"));
                out.line(&format!("{name}  can be indexed, with watches on its directories: {watched}{limit}"));
            }
            Err(why) => {
                out.line(&format!("{name}  is walked at each search because {why}"));
                if let Some(hint) = raised_limit(why, start.watch_limit) {
                    out.line(&hint);
                }
            }
        }
    }
    stored_indexes(out, config, services);
}

/// How to raise the limit of the system that keeps a root from being indexed.
fn raised_limit(why: Unwatchable, watches: Option<u64>) -> Option<String> {
    let (name, value) = match why {
        Unwatchable::OutOfWatches => ("max_user_watches", (watches.unwrap_or_default() * 2).max(1 << 20)),
        Unwatchable::OutOfInstances => ("max_user_instances", 1024),
        _ => return None,
    };
    Some(format!("raise it: sudo sysctl fs.inotify.{name}={value}"))
}

/// Lines about what is stored for the searches of the next process.
fn stored_indexes(out: &mut ReportText, config: &Config, services: &Services) {
    if let Some(why) = index::off(config, services) {
        return out.head("stored index", &format!("none: {why}"));
    }
    let stored = services.path_index.stored_indexes();
    let total =
        format!("{} of all directories, of at most {}", file_size(stored.bytes()), exact_size(config.index_size));
    out.head("stored index", &total);
    for root in services.workspace.roots() {
        let name = root.name().unwrap_or(UNNAMED);
        out.line(&format!("{name}  {}", index::text(&stored.status(&services.workspace.root_path(root)))));
    }
    // By writing: the folder may be read-only, or its disk full.
    if let Err(error) = stored.probe() {
        out.line(&format!("nothing new can be stored: {error}"));
    }
}

fn records(out: &mut ReportText, config: &Config, start: &StartReport) {
    match &config.state {
        Some(path) if start.state => out.head("state", &path.display().to_string()),
        Some(path) => out.head("state", &format!("in memory only: {} cannot be used", path.display())),
        None => out.head("state", "in memory only"),
    }
    let history = &config.history;
    if history.on_disk && start.state {
        out.line(&format!("former content is kept there, up to {} in total", exact_size(history.bytes)));
    } else {
        out.line("former content is kept until the server ends");
    }
    let audit = &config.audit;
    match &audit.file {
        Some(file) => {
            let required = if audit.required { ", required" } else { "" };
            out.head("audit", &format!("{}{required}", file.display()));
        }
        None => out.head("audit", "none"),
    }
}

/// The layers of `--stage`.
fn staged(out: &mut ReportText, config: &Config, services: &Services) {
    let Some(stage) = &config.workspace.stage else {
        return out.head("changes", "made on the disk");
    };
    out.head(
        "changes",
        &format!("staged, up to {} in each layer, until `rootbound stage apply`", exact_size(stage.most_bytes)),
    );
    for (root, size) in services.workspace.layer_sizes() {
        let age = size.oldest.and_then(|oldest| SystemTime::now().duration_since(oldest).ok());
        let text = match age {
            Some(age) => {
                let minutes = age.as_secs() / 60;
                let oldest =
                    format!("the oldest {} old", count(usize::try_from(minutes).unwrap_or(usize::MAX), "minute"));
                let files = count(usize::try_from(size.files).unwrap_or(usize::MAX), "file");
                format!("{root}: {files}, {}, {oldest}", exact_size(size.bytes))
            }
            None if services.workspace.has_staged_changes(&root) => {
                format!("{root}: no file; entries of the disk are hidden")
            }
            None => format!("{root}: nothing is staged"),
        };
        out.line(&text);
    }
}

fn clients(out: &mut ReportText, config: &Config) {
    match config.settings.max_output {
        Some(most) => out.head("clients", &format!("an answer of {} (--max-output)", exact_size(most as u64))),
        None => out.head(
            "clients",
            &format!("an answer is as long as the client takes, {} if it is not known", AnswerBudget::UNKNOWN_CLIENT),
        ),
    }
    if config.settings.structured_output {
        out.line("--structured-output: Claude Code and VS Code then show the model neither text nor images");
    }
    if config.settings.max_output.is_some_and(|most| most > 100 * 1024) {
        out.line("--max-output is more than most clients pass on");
    }
}

fn roles(out: &mut ReportText, config: &Config) {
    for (number, role) in config.roles.iter().enumerate() {
        let applies = if config.role.as_ref().is_some_and(|own| own.name == role.name) {
            if config.client_roles.is_empty() { "applies" } else { "applies to other clients" }
        } else if config.client_roles.iter().any(|own| own.name == role.name) {
            "applies to clients of that name"
        } else {
            "does not apply to this process"
        };
        out.head(if number == 0 { "roles" } else { "" }, &format!("{:?}, for {}: {applies}", role.name, role.who()));
        let root = |root: &RootSpec| {
            let name = root.name.clone().unwrap_or_else(|| root.path.display().to_string());
            if root.access == Access::ReadOnly { format!("{name} (read-only)") } else { name }
        };
        let roots: Vec<String> = role.roots.iter().map(root).collect();
        let tools = Toolbox::new(&role.selection);
        let tools: Vec<&str> = tools.tools().iter().map(|tool| tool.spec.name).collect();
        out.line(&format!("  directories: {}; tools: {}", roots.join(", "), tools.join(", ")));
    }
    if !config.client_roles.is_empty() {
        out.line("a client's name is what it says; the kernel confines the process to the directories of all clients");
    }
}

/// The next step for a person on a system whose kernel does not confine the process.
const ELSEWHERE: &str = if cfg!(windows) {
    "to have one, run rootbound in WSL 2, with a low integrity level, or as another user: see SECURITY.md"
} else {
    "to have one, run rootbound in a container or as another user"
};

/// The walls of a run: how paths are opened, and what the kernel refuses the process. A wall that this system has, but that
/// is not in force although it is wanted, is a complaint; one that the system lacks is named with what a person can do.
fn walls(
    out: &mut ReportText,
    config: &Config,
    services: &Services,
    confinement: &ConfineReport,
    complaints: &mut Vec<String>,
) {
    let resolver = match (services.workspace.confined_opens(), config.workspace.force_fallback) {
        (true, _) => "in one step that the kernel confines (openat2)",
        (false, true) => "name by name, without following links (--resolver walk)",
        (false, false) if cfg!(target_os = "linux") => {
            "name by name, without following links: this kernel, or the container, has no openat2"
        }
        (false, false) => "name by name below the handle of each directory, without following links",
    };
    out.head("paths", &format!("opened {resolver}"));

    let asked = match config.confine {
        Confine::Auto => "auto",
        Confine::Required => "required",
        Confine::Off => "off",
    };
    out.head("kernel", &format!("{} (--confine {asked})", confinement.level));
    if config.confine == Confine::Off {
        return out.head("system calls", &confinement.calls);
    }
    if !cfg!(target_os = "linux") {
        return out.line(ELSEWHERE);
    }
    if confinement.enforced {
        services.workspace.roots().iter().for_each(|root| optional_rule(out, root));
    }
    out.head("system calls", &confinement.calls);
    if !confinement.enforced {
        complaints.push(format!("the kernel does not confine the process: {}", confinement.level));
    }
    // Where one wall is for both, one sentence is enough.
    if !confinement.calls_refused && confinement.calls != confinement.level {
        complaints.push(format!("system calls are {}", confinement.calls));
    }
}

/// How much more Landlock allows while a directory may be missing.
fn optional_rule(out: &mut ReportText, root: &Root) {
    let name = root.name().unwrap_or(UNNAMED);
    match root.sandboxed_above() {
        Some(above) => out.line(&format!(
            "{name} is optional, so the kernel's rule for it ({}) is on all of {}; each path is still opened only below \
             the directory itself",
            root.rights(),
            above.display()
        )),
        None if root.is_optional() => out.line(&format!(
            "{name} is optional, and the directory above it is too wide for a rule of the kernel (/, or one that holds \
             the home directory): if it is made or replaced after the start, restart the server"
        )),
        None => {}
    }
}

/// Lists the language servers with their walls, and starts each once.
fn language_servers(out: &mut ReportText, config: &Config, services: &Services, complaints: &mut Vec<String>) {
    let mut started = services
        .language_servers
        .as_ref()
        .map_or_else(Vec::new, |servers| servers.probe(&services.workspace))
        .into_iter();
    for (number, server) in config.language_servers.iter().enumerate() {
        let head = if number == 0 { "lsp" } else { "" };
        let files = server.extensions.iter().map(|one| format!(".{one}")).collect::<Vec<_>>().join(" ");
        let shown = server.program.program.display();
        // They come in the order of the configuration.
        let started = started.next();
        if find_program(server.program.program.as_ref()).is_none() {
            out.head(head, &format!("{}  {files}  {shown}: there is no such program", server.name));
            continue;
        }
        let timeout = server.timeout.as_secs_f64();
        out.head(head, &format!("{}  {files}  {shown}; a change waits {timeout} s for it", server.name));
        out.line(&format!("  {}", server_walls(server)));
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

fn server_walls(server: &LanguageServer) -> String {
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
