//! `rootbound doctor`: what protects a run with these options, for people.
//!
//! Goes through the same start-up as serving and reports its results; it decides nothing.

mod language_servers;
mod report_text;
mod roles;
mod walls;

use std::{process::ExitCode, time::SystemTime};

use confined_fs::{AgentFile, PolicyRules, Secrets, Unwatchable, escape_controls};
use self_sandbox::ConfineReport;
use text_file::byte_size::{exact_size, file_size};
use tree_search::{IndexMode, PathIndex};

use crate::{
    config::Config,
    server::{CLIENTS, ClientRow, Confirm, ConfirmThrough, Services},
    tools::{AnswerBudget, ReadBeforeWrite, answer::count},
};

use super::{index, output::print};
use language_servers::language_servers;
use report_text::{ReportText, UNNAMED};
use walls::walls;

/// The results of start-up.
#[derive(Debug)]
pub struct StartReport {
    /// How the kernel confines the process.
    pub confinement: ConfineReport,
    /// What is not as configured, one sentence each.
    pub complaints: Vec<String>,
    /// What is as configured but unusual, one sentence each.
    pub remarks: Vec<String>,
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
    roles::roles(&mut out, config);
    walls(&mut out, config, services, &start.confinement, &mut complaints);
    policy(&mut out, config, services);
    agent_rules(&mut out, config, start);
    limits(&mut out, config);
    path_index(&mut out, config, services, start);
    language_servers(&mut out, config, services, &mut complaints);
    records(&mut out, config, start);
    staged(&mut out, config, services);
    clients(&mut out, config, services);
    for (number, remark) in start.remarks.iter().enumerate() {
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
    (out.into_text(), complaints.is_empty())
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
        ReadBeforeWrite::ChangedOnly => {
            "a file that was read is changed only if it is unchanged since (--read-before-write changed-only)"
        }
        ReadBeforeWrite::Off => "a file may be changed without having been read (--read-before-write off)",
    });
    rule_lines(out, "", rules);
    for root in services.workspace.roots().iter().filter(|root| !root.own_rules().is_empty()) {
        rule_lines(out, &format!("below {}, ", root.public()), root.own_rules());
    }
}

/// What the built-in lists refuse; exceptions may have left nothing of one.
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
    let (settings, server, quota) = (&config.settings, &config.server, &config.quota);
    out.head(
        "limits",
        &format!(
            "call: {} s, {} arguments, {} levels of nesting, a message of {}",
            server.deadline.as_secs_f64(),
            settings.max_arguments,
            settings.max_nesting,
            exact_size(server.max_line as u64)
        ),
    );
    let patterns = settings.patterns;
    out.line(&format!(
        "pattern: a glob of {}, a regex of {}, {} compiled, {} repeats",
        exact_size(patterns.glob as u64),
        exact_size(patterns.regex as u64),
        exact_size(patterns.compiled as u64),
        patterns.repeated
    ));
    let image = match settings.max_image_size {
        _ if !settings.images => "images off".to_owned(),
        None => "an image of the size that the client accepts".to_owned(),
        Some(bytes) => format!("{} as an image", exact_size(bytes as u64)),
    };
    out.line(&format!(
        "file: {} to edit or write, {} to search, {image}",
        exact_size(settings.max_file_size),
        exact_size(settings.max_search_file_size)
    ));
    out.line(&format!("session: {} files created, {} written", quota.files, exact_size(quota.bytes)));
    let root = quota
        .root_bytes
        .map_or_else(|| "no limit on its size".to_owned(), |size| format!("{} in total", exact_size(size)));
    out.line(&format!("directory: {root}"));
    out.line(&format!("at the same time: {} searches", server.heavy_calls()));
}

/// Whether an index of the paths can be kept between searches, tried here as a search would.
fn path_index(out: &mut ReportText, config: &Config, services: &Services, start: &StartReport) {
    out.head(
        "path index",
        match config.index {
            IndexMode::Auto => {
                "kept for large trees after their first search, with a filter over their files (--index auto)"
            }
            IndexMode::Memory => {
                "kept for large trees after their first search, with a filter over their files (--index memory)"
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
    let seconds = PathIndex::COMPARED_EVERY.as_secs();
    out.line(&format!(
        "writes through an open memory mapping, or through a hard link made later elsewhere, are noticed by a \
         comparison with the disk after a search, at most every {seconds} s"
    ));
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

/// What is stored for the searches of the next process.
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
        out.line(&format!("{name}  {}", index::words(&stored.status(&services.workspace.root_path(root)))));
    }
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
            out.head("audit", &format!("{} (rotated at {}{required})", file.display(), exact_size(audit.size)));
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
        &format!("staged, up to {} in each layer, until `rootbound apply`", exact_size(stage.most_bytes)),
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

fn clients(out: &mut ReportText, config: &Config, services: &Services) {
    if let Some(most) = config.settings.max_output {
        out.head("clients", &format!("an answer of {} (--max-output)", exact_size(most as u64)));
    } else {
        out.head("clients", "the size of an answer depends on the name that the client sends:");
        for ClientRow { title, budget, beyond, .. } in CLIENTS {
            out.line(&format!("{title}, which {beyond}: {budget}"));
        }
        out.line(&format!("any other: {}; --max-output sets one size for all", AnswerBudget::UNKNOWN_CLIENT));
    }
    if services.settings.structured_output {
        out.line("--structured-output: Claude Code and VS Code then show the model neither text nor images");
    }
    if services.workspace.roots().iter().any(|root| root.name().is_none()) {
        out.line("paths in an unnamed directory are relative; with --root app=DIR they begin with app/");
    }
    if config.settings.max_output.is_some_and(|most| most > 100 * 1024) {
        out.line("--max-output is more than most clients pass on");
    }
}
