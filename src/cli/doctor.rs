//! `rootbound doctor`: what protects a run with these options, in one screen.
//!
//! Goes through the same start-up as serving and reports its results; it decides nothing.

use std::{
    fmt::{Display, Write as _},
    path::PathBuf,
    process::ExitCode,
};

use confined_fs::{AgentFile, PolicyRules, Root, Secrets, escape::escape_controls, watch::Unwatchable};
use self_sandbox::{Confine, ConfineReport, find_program, runs_as_root};
use text_file::{exact_size, file_size};
use tree_search::{IndexMode, PathIndex};

use crate::{
    config::{Config, Role},
    server::{Confirm, Services},
};
use file_tools::{AnswerBudget, ReadBeforeWrite, count, undo::purge::kept_secrets};

use super::{index, print};

/// Files that became secret and are named.
const MAX_KEPT_SECRETS: usize = 5;

#[derive(Debug)]
pub struct StartReport {
    pub confinement: ConfineReport,
    pub complaints: Vec<String>,
    pub state: bool,
    pub unapplied_layers: Vec<PathBuf>,
    pub agent_files: Vec<AgentFile>,
    /// How many directories the user may watch in total, if the system limits it.
    pub watch_limit: Option<u64>,
}

/// Prints the report. The exit code is 0 if everything is as configured, else 1.
pub fn doctor(config: &Config, services: &Services, start: &StartReport) -> ExitCode {
    let mut out = Report { complaints: start.complaints.clone(), ..Report::default() };
    let system = (std::env::consts::OS, std::env::consts::ARCH);
    out.head("rootbound", format_args!("{} on {}-{}", env!("CARGO_PKG_VERSION"), system.0, system.1));
    directories(&mut out, config, services);
    walls(&mut out, config, services, &start.confinement);
    out.heading = "this machine";
    for line in &config.machine_policy {
        out.line(line);
    }
    if config.machine_policy.is_empty() {
        out.line("no policy of an administrator");
    }
    policy(&mut out, config, services);
    agent_rules(&mut out, config, start);
    limits(&mut out, config);
    indexes(&mut out, config, services, start);
    language_servers(&mut out, config, services);
    records(&mut out, config, services, start);
    out.heading = "remarks";
    for remark in &config.warnings {
        out.line(format_args!("- {remark}"));
    }
    let complaints = std::mem::take(&mut out.complaints);
    let not = if complaints.is_empty() { ("", "") } else { ("not ", ":") };
    out.head("verdict", format_args!("{}everything is as configured{}", not.0, not.1));
    for complaint in &complaints {
        out.line(format_args!("- {complaint}"));
    }
    let printed = print(&out.text);
    if complaints.is_empty() { printed } else { ExitCode::FAILURE }
}

#[derive(Default)]
struct Report {
    text: String,
    heading: &'static str,
    complaints: Vec<String>,
}

impl Report {
    fn head(&mut self, heading: &'static str, text: impl Display) {
        self.heading = heading;
        self.line(text);
    }

    fn line(&mut self, text: impl Display) {
        let _ = writeln!(self.text, "{:<13}{text}", std::mem::take(&mut self.heading));
    }
}

fn name(root: &Root) -> &str {
    root.name().unwrap_or("(unnamed)")
}

/// The directories, the tools and the roles, which leave less of both to some callers.
fn directories(out: &mut Report, config: &Config, services: &Services) {
    out.heading = "directories";
    for root in services.workspace.roots() {
        let optional = if root.is_optional() { ", optional" } else { "" };
        let state = format!("{optional}{}", root.absence_note());
        // Windows puts `\\?\` before a resolved path.
        let path = root.host().display().to_string();
        out.line(format_args!("{}  {}{state}  {}", name(root), root.rights(), path.trim_start_matches(r"\\?\")));
        if let Some(above) = services.workspace.ignore_rules_above(root) {
            out.line(format_args!("  {above}"));
        }
    }
    let tools: Vec<&str> = services.toolbox.tools().iter().map(|tool| tool.spec.name).collect();
    let read_only = if config.selection.read_only { " (read-only)" } else { "" };
    out.head("tools", format_args!("{}{read_only}", tools.join(", ")));
    out.heading = "roles";
    for role in &config.roles {
        let is_it = |own: &Role| own.name == role.name;
        let applies = match (config.role.as_ref().is_some_and(is_it), config.client_roles.iter().any(is_it)) {
            (true, _) if config.client_roles.is_empty() => "applies",
            (true, _) => "applies to other clients",
            (false, true) => "applies to clients of that name",
            (false, false) => "does not apply to this process",
        };
        out.line(format_args!("{:?}, for {}: {applies}", role.name, role.who()));
    }
}

/// How paths are opened, and what the kernel refuses the process. A wall that this system has, but that is not in force
/// although it is wanted, is a complaint; one that the system lacks is named with what a person can do.
fn walls(out: &mut Report, config: &Config, services: &Services, confinement: &ConfineReport) {
    let resolver = match (services.workspace.confined_opens(), config.workspace.force_fallback) {
        (true, _) => "in one step that the kernel confines (openat2)",
        (false, true) => "name by name, without following links (--resolver walk)",
        (false, false) => "name by name, without following links (no usable openat2)",
    };
    out.head("paths", format_args!("opened {resolver}"));
    let asked = format!("{:?}", config.confine).to_lowercase();
    out.head("kernel", format_args!("{} (--confine {asked})", confinement.level));
    if !cfg!(target_os = "linux") && config.confine != Confine::Off {
        return out.line("to have a wall of the kernel, see \"On macOS and Windows\" in SECURITY.md");
    }
    for root in services.workspace.roots().iter().filter(|_| confinement.enforced) {
        let name = name(root);
        if let Some(above) = root.sandboxed_above().map(std::path::Path::display) {
            out.line(format_args!(
                "{name} is optional, so the kernel's rule for it ({}) is on all of {above}",
                root.rights()
            ));
        } else if root.is_optional() {
            let wide = "is optional, and the directory above it is too wide for a rule of the kernel";
            out.line(format_args!("{name} {wide}: once it is made or replaced, restart the server"));
        }
    }
    out.head("system calls", &confinement.calls);
    if cfg!(target_os = "linux") {
        missing_calls(out, config, services, confinement);
    }
    if config.confine != Confine::Off && !confinement.enforced {
        out.complaints.push(format!("the kernel does not confine the process: {}", confinement.level));
    }
    if config.confine != Confine::Off && !confinement.calls_refused {
        out.complaints.push(format!("system calls are {}", confinement.calls));
    }
}

/// The system calls of walls that are not in force, and who has to allow them.
fn missing_calls(out: &mut Report, config: &Config, services: &Services, confinement: &ConfineReport) {
    let is_wanted = config.confine != Confine::Off;
    let (files, calls) = (is_wanted && !confinement.enforced, is_wanted && !confinement.calls_refused);
    let missing = [
        (!services.workspace.confined_opens() && !config.workspace.force_fallback, "openat2"),
        (files, "landlock_create_ruleset, landlock_add_rule, landlock_restrict_self"),
        (calls, "seccomp"),
        (files && calls, "prctl"),
    ];
    let missing: Vec<&str> = missing.into_iter().filter(|(is_missing, _)| *is_missing).map(|(_, name)| name).collect();
    if !missing.is_empty() && confinement.has_profile {
        let named = missing.join(", ");
        out.line(format_args!(
            "allow in the seccomp profile of this container, or take the current one of its engine: {named}"
        ));
    } else if !missing.is_empty() {
        out.line("Linux 5.6 has openat2; 5.13 has Landlock, where the boot option lsm= lists it");
    }
}

fn policy(out: &mut Report, config: &Config, services: &Services) {
    let rules = &config.workspace.policy;
    let all = |allows_every: fn(&PolicyRules) -> bool| {
        allows_every(rules) || services.workspace.roots().iter().all(|root| allows_every(root.own_rules()))
    };
    // Exceptions may have left nothing of a built-in list.
    let secrets = match rules.secrets {
        _ if all(PolicyRules::allows_every_secret) => "all of them may be read: --allow-secret",
        Some(Secrets::Names) => "content refused, names in lists of names shown: --secrets names",
        _ => "content refused",
    };
    let every = all(PolicyRules::allows_every_protected);
    let run_later = if every { "all of them may be written: --allow-protected" } else { "not written" };
    out.head("policy", format_args!("secrets ({secrets}), files that run later ({run_later})"));
    out.line(match config.server.confirm {
        Confirm::Never => "changes are made without asking a person (--confirm never)",
        Confirm::Destructive => "a person is asked before something is replaced or removed",
        Confirm::Writes => "a person is asked before each change",
    });
    out.line(match config.settings.read_before_write {
        ReadBeforeWrite::Strict => "a file is changed only if it was read and is unchanged since",
        ReadBeforeWrite::Off => "a file may be changed without having been read",
    });
    rule_lines(out, "", rules);
    for root in services.workspace.roots().iter().filter(|root| !root.own_rules().is_empty()) {
        rule_lines(out, &format!("below {}, ", root.public()), root.own_rules());
    }
}

fn rule_lines(out: &mut Report, place: &str, rules: &PolicyRules) {
    for (what, globs) in [
        ("content also refused", &rules.deny),
        ("secrets that may be read", &rules.allow_secret),
        ("also not written", &rules.protect),
        ("files that run later and may be written", &rules.allow_protected),
        ("hidden", &rules.hide),
    ] {
        if !globs.is_empty() {
            out.line(format_args!("{place}{what}: {}", globs.join(", ")));
        }
    }
    if let Some(secrets) = rules.secrets.filter(|_| !place.is_empty()) {
        let names = if secrets == Secrets::Names { ", names shown" } else { "" };
        out.line(format_args!("{place}content of secrets refused{names}"));
    }
}

/// The rule files that people wrote for agents, and which of their rules are enforced.
fn agent_rules(out: &mut Report, config: &Config, start: &StartReport) {
    out.heading = "agent rules";
    if !config.workspace.agent_rules {
        out.line("not read (--agent-rules off)");
    } else if start.agent_files.is_empty() {
        out.line("none at the top of a directory");
    }
    for file in &start.agent_files {
        let is_empty = file.refused.is_empty() && file.protected.is_empty();
        let state = if is_empty { ": no rules" } else { " is enforced" };
        let problem = file.problem.as_ref().map(|problem| format!(": {problem}"));
        out.line(format_args!("{}{}", file.name, problem.as_deref().unwrap_or(state)));
        for (what, rules) in
            [("content refused", &file.refused), ("not written", &file.protected), ("not used", &file.unused)]
        {
            // A pattern may contain line breaks, and a file thousands of patterns.
            let one_line = |rule: &String| escape_controls(rule).replace('\n', " ").chars().take(200).collect();
            let listed: Vec<String> = rules.iter().take(20).map(one_line).collect();
            let more = if rules.len() > listed.len() { ", …" } else { "" };
            if !rules.is_empty() {
                out.line(format_args!("  {what} ({}): {}{more}", rules.len(), listed.join(", ")));
            }
        }
    }
}

fn limits(out: &mut Report, config: &Config) {
    let (settings, quota, seconds) = (&config.settings, &config.quota, config.server.deadline.as_secs_f64());
    out.head("limits", format_args!("call: {seconds} s; file: {}", exact_size(settings.max_file_size)));
    let root = quota.root_bytes.map_or_else(String::new, |size| format!("; directory: {} in total", exact_size(size)));
    out.line(format_args!("session: {} files created, {} written{root}", quota.files, exact_size(quota.bytes)));
    let most = settings.max_output.map(|most| format!("of {} (--max-output)", exact_size(most as u64)));
    let usual = || format!("as the client takes it, else {}", AnswerBudget::UNKNOWN_CLIENT);
    out.line(format_args!("an answer {}", most.unwrap_or_else(usual)));
}

/// Whether an index of the paths can be kept between searches, tried here as a search would, and what is stored of it for
/// the next process.
fn indexes(out: &mut Report, config: &Config, services: &Services, start: &StartReport) {
    out.head(
        "path index",
        match config.index {
            IndexMode::Auto => "kept for large trees after their first search (--index auto)",
            IndexMode::Eager => "kept for every tree from the start (--index eager)",
            IndexMode::Off => return out.head("path index", "none (--index off)"),
        },
    );
    for root in services.workspace.roots().iter().filter(|root| !root.is_absent()) {
        let why = match PathIndex::probe(&services.workspace, &services.workspace.root_path(root)) {
            Ok(watched) => {
                out.line(format_args!("{}  can be indexed ({watched} watches)", name(root)));
                continue;
            }
            Err(why) => why,
        };
        out.line(format_args!("{}  no index: {why}", name(root)));
        let (limit, value) = match why {
            Unwatchable::OutOfWatches => ("watches", (start.watch_limit.unwrap_or_default() * 2).max(1 << 20)),
            Unwatchable::OutOfInstances => ("instances", 1024),
            _ => continue,
        };
        out.line(format_args!("raise it: sudo sysctl fs.inotify.max_user_{limit}={value}"));
    }
    if let Some(why) = index::off(config, services) {
        return out.head("stored index", format_args!("none: {why}"));
    }
    let stored = services.path_index.stored_indexes();
    let size = (file_size(stored.bytes()), exact_size(config.index_size));
    out.head("stored index", format_args!("{} of at most {} (rootbound index status)", size.0, size.1));
    // By writing: the folder may be read-only, or its disk full.
    if let Err(error) = stored.probe() {
        out.line(format_args!("nothing new can be stored: {error}"));
    }
}

fn language_servers(out: &mut Report, config: &Config, services: &Services) {
    let started = services.language_servers.as_ref();
    // They come in the order of the configuration.
    let mut started = started.map_or_else(Vec::new, |servers| servers.probe(&services.workspace)).into_iter();
    out.heading = "lsp";
    for server in &config.language_servers {
        let (program, started) = (&server.program, started.next());
        let walls = match program.confine {
            Confine::Off => "not confined",
            Confine::Auto | Confine::Required if runs_as_root() => {
                "confined, but AS ROOT: it may change modes and owners"
            }
            Confine::Auto | Confine::Required => "confined",
        };
        let root = if program.may_write { "read-write" } else { "read-only" };
        let network = if program.network { "network" } else { "no network" };
        let state = match started {
            _ if find_program(program.program.as_ref()).is_none() => "there is no such program".to_owned(),
            Some(Ok(after)) => format!("it answers after {:.1} s", after.as_secs_f64()),
            Some(Err(why)) => {
                out.complaints.push(format!("the language server {} {why}", server.name));
                format!("it {why}")
            }
            None => "not started".to_owned(),
        };
        out.line(format_args!("{}  {}: {state}", server.name, program.program.display()));
        out.line(format_args!("  {walls}, root {root}, {network}"));
        if let Some(gap) = server.leaves_out() {
            out.line(format_args!("  {gap}"));
        }
    }
}

fn records(out: &mut Report, config: &Config, services: &Services, start: &StartReport) {
    match (&config.state, start.state) {
        (Some(path), true) => {
            out.head("state", path.display());
            for layer in &start.unapplied_layers {
                out.line(format_args!(
                    "changes that an earlier version staged may not have been applied: {} (new contents in upper, deleted \
                     paths in record)",
                    path.join(layer).display()
                ));
            }
        }
        (Some(path), false) => out.head("state", format_args!("in memory only: {} cannot be used", path.display())),
        (None, _) => out.head("state", "in memory only"),
    }
    if config.history.on_disk && start.state {
        let most = exact_size(config.history.bytes);
        out.line(format_args!("former content is kept there, up to {most} in total"));
        for (path, lines) in kept_secrets(&services.workspace, &services.session, MAX_KEPT_SECRETS) {
            let (path, changes) = (escape_controls(&path), count(lines, "change"));
            out.complaints.push(format!(
                "the history keeps contents of {changes} of {path}, which is denied now: rootbound history purge {path}"
            ));
        }
    } else {
        out.line("former content is kept until the server ends");
    }
    let required = if config.audit.required { ", required" } else { "" };
    let file = config.audit.file.as_ref().map(|file| format!("{}{required}", file.display()));
    out.head("audit", file.as_deref().unwrap_or("none"));
}
