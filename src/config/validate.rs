//! The raw values → one [`Config`], or every problem.
//!
//! Nothing stops at the first wrong value: each is reported, and validation continues with the default.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::{Path, PathBuf},
};

use change_set::state::AppendLog;
use confined_fs::{PolicyRules, RootSpec, escape::escape_controls, walk::IgnoreRules};
use tracing::level_filters::LevelFilter;

use crate::server::{Confirm, ConfirmThrough, ServerOptions};
use file_tools::{Group, Selection, Toolbox};

use super::{
    Action, Config, Environment, EventsOptions, RawArgs, RawValue, Source, environment, findings::Findings, lsp,
    machine_policy::MachinePolicy, options::options, roles, roots,
};

/// Validates `raw`. `file` is the path of the configuration file, if there is one; `policy` takes away in the end.
pub(super) fn config(
    raw: &RawArgs,
    action: Action,
    directories: &[OsString],
    (file, policy): (Option<&Path>, Option<MachinePolicy>),
    environment: &Environment,
    problems: Vec<String>,
) -> Result<Config, Vec<String>> {
    let file_base = file.and_then(Path::parent).unwrap_or(&environment.directory);
    let mut found = Findings { raw, file_base, environment, problems, warnings: Vec::new() };
    found.placeholders(directories);
    let mut config = Config { action, ..Config::default() };
    // `secrets` may also be a rule of one directory, so it is read with the policy.
    for option in options().filter(|option| option.flag != "secrets") {
        raw.apply(option, &mut config, &mut found.problems);
    }
    // Its answer says why a call failed.
    if matches!(config.action, Action::Call(_)) && raw.effective("log").is_none() {
        config.log = LevelFilter::ERROR;
    }
    found.selection(&mut config.selection);
    let is_called = matches!(config.action, Action::Serve | Action::Call(_) | Action::Doctor);
    let by_policy = is_called && policy.as_ref().is_some_and(|policy| policy.requires_audit);
    config.audit.required |= by_policy;
    config.audit.file = found.audit(config.audit.required, by_policy);
    config.audit.label = found.audit_label();
    found.events(&mut config.events);
    config.workspace.ignore.extra = raw.texts("ignore");
    let untrusted = config.workspace.policy.untrusted;
    // The table has set `untrusted`; the lists are read here, each pattern checked.
    let rules = PolicyRules { untrusted, ..roots::policy_rules(raw, &mut found.problems) };
    for given in raw.of_all_sources("ignore") {
        // One by one, so that a problem names the place where its pattern was given.
        let one = IgnoreRules { extra: vec![given.text.clone()], no_default: true };
        found.problems.extend(one.validate().into_iter().map(|why| format!("{}: {why}", given.origin())));
    }
    let mut named = raw.of_highest_source("root");
    if !directories.is_empty() {
        // Plain directories are typed on the command line, so they override the roots of lower sources.
        named.retain(|given| given.source == Source::CommandLine);
    }
    found.unused_rules(&named);
    let args = roots::RootArgs {
        directories,
        roots: named,
        read_only: config.selection.read_only,
        default_to_current: config.action.opens_workspace(),
        serves: config.action == Action::Serve,
    };
    let roots = roots::specs(&args, &mut found, &mut config.server.unconfigured);
    let paths: Vec<PathBuf> = roots.iter().flat_map(|root| environment::names_of(&root.path)).collect();
    // With the real path, too: a person may copy either.
    roots::report_host_paths(raw, &paths, environment.home.as_deref(), &mut found.problems);
    for (what, path) in [("the audit file", &config.audit.file), ("--events", &config.events.path)] {
        let Some(folder) = path.as_deref().and_then(Path::parent) else { continue };
        found.problems.extend(not_separate(folder, &roots).map(|why| format!("the folder of {what}: {why}")));
    }
    let state = found.state(&roots);
    found.through_model(&config.server, state.as_deref());
    config.language_servers = lsp::servers(&mut found, &roots, config.confine);
    config.roles = roles::roles(raw, &config, &roots, &mut found.problems);
    let Findings { mut problems, mut warnings, .. } = found;
    if !problems.is_empty() {
        // The server does not start, so it cannot say this to its client.
        problems.extend(config.server.unconfigured.take());
        return Err(problems);
    }
    warnings.extend(config.server.unconfigured.clone());
    // By the names as they were given: each link on the way decides about the next start.
    config.workspace.server_files =
        own(file, &[&config.audit.file, &config.events.path], state.as_deref(), environment);
    let state = state.as_deref().map(environment::link_free);
    for log in [&mut config.audit.file, &mut config.events.path].into_iter().flatten() {
        *log = environment::link_free_file(log);
    }
    // It answers each call with an error: nothing is kept or started for it.
    let is_idle = config.server.unconfigured.is_some();
    let state = state.filter(|_| !is_idle);
    config.language_servers.retain(|_| !is_idle);
    config.workspace.policy = rules;
    let mut config = Config { roots, state, warnings, ..config };
    if let Some(policy) = policy {
        limit(&mut config, &policy);
    }
    Ok(roles::applied(config))
}

/// Takes away what the policy of the machine does, also from each role.
fn limit(config: &mut Config, policy: &MachinePolicy) {
    config.machine_policy = policy.lines();
    let mut taken = BTreeSet::new();
    policy.limit_secrets(&mut config.workspace.policy, &mut taken);
    policy.limit(&mut config.roots, &mut config.selection, &mut taken);
    for role in &mut config.roles {
        policy.limit(&mut role.roots, &mut role.selection, &mut taken);
    }
    if policy.exec_refusal().is_some() && !std::mem::take(&mut config.language_servers).is_empty() {
        taken.insert("[lsp]".to_owned());
    }
    let words = |what| format!("{what} is not in force: the policy of this machine takes it away");
    config.warnings.extend(taken.into_iter().map(words));
}

/// The groups of tools that are offered only with `--allow`.
pub(super) const TOOL_GROUPS: &[(&str, Group)] = Group::NAMED;

/// The longest text of `--audit-label`, in characters.
const MAX_LABEL: usize = 100;

impl Findings<'_> {
    /// Reports variables that a client did not fill in: Claude Desktop passes the text `${…}` for an unset option, which
    /// would be taken for a directory or a pattern.
    fn placeholders(&mut self, directories: &[OsString]) {
        const UNFILLED_HINT: &str = "still contains `${`: the client did not fill this in; set the option in the client, or remove the argument";
        let unfilled = |directory: &&OsString| directory.to_string_lossy().contains("${");
        for directory in directories.iter().filter(unfilled) {
            self.problems.push(format!("the argument {} {UNFILLED_HINT}", directory.display()));
        }
        // Clients fill in arguments and variables. In the file nobody does, and it is text there.
        let outside = self.raw.values.iter().filter(|given| !matches!(given.source, Source::File { .. }));
        for given in outside.filter(|given| given.text.contains("${")) {
            self.problems.push(format!("{} {:?} {UNFILLED_HINT}", given.origin(), given.text));
        }
    }

    fn selection(&mut self, selection: &mut Selection) {
        for given in self.raw.of_all_sources("allow") {
            for name in given.text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
                if let Some((_, group)) = TOOL_GROUPS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                    selection.groups.push(*group);
                } else {
                    let known: Vec<&str> = TOOL_GROUPS.iter().map(|(known, _)| *known).collect();
                    let known = known.join(" or ");
                    self.wrong(given, &format!("{name:?} is not a group of tools: write {known}"));
                }
            }
        }
        let Some(given) = self.raw.effective("tools") else { return };
        let names = roles::tool_names(given, &mut self.problems);
        selection.only = Some(names.clone());
        let (known, offered) = (Toolbox::known(), Toolbox::new(selection));
        for name in names.iter().filter(|name| known.contains(&name.as_str()) && offered.get(name).is_none()) {
            let only = |group| Selection { groups: vec![group], only: None, read_only: selection.read_only };
            let group = TOOL_GROUPS.iter().find(|(_, group)| Toolbox::new(&only(*group)).get(name).is_some());
            // Without one it is a tool that changes something.
            let allow = group.map(|(group, _)| format!("add --allow {group}"));
            let next = allow.as_deref().unwrap_or("remove it, or remove --read-only");
            self.wrong(given, &format!("names {name}, which the other options exclude: {next}"));
        }
    }

    fn audit(&mut self, required: bool, by_policy: bool) -> Option<PathBuf> {
        let given = self.raw.effective("audit");
        if given.is_none() && required {
            let who = if by_policy { "the policy of this machine" } else { "--audit-required" };
            self.problems.push(format!("{who} needs --audit FILE"));
        }
        let given = given?;
        if given.text.is_empty() {
            self.wrong(given, "is empty: name a file, or remove it");
            return None;
        }
        Some(self.path(given, &given.text))
    }

    fn audit_label(&mut self) -> Option<String> {
        let given = self.raw.effective("audit-label")?;
        let label = given.text.trim();
        let wrong = if label.is_empty() {
            "is empty: name the server, or remove it"
        } else if label.chars().count() > MAX_LABEL {
            "has more than 100 characters: choose a shorter text"
        } else if label != escape_controls(label) || label.contains(['\n', '\t']) {
            "contains control or invisible characters: use one line of plain text"
        } else {
            return Some(label.to_owned());
        };
        self.wrong(given, wrong);
        None
    }

    fn events(&mut self, events: &mut EventsOptions) {
        let Some(given) = self.raw.effective("events") else { return };
        let (text, is_socket) = given.text.strip_prefix("unix:").map_or((&*given.text, false), |path| (path, true));
        if text.is_empty() {
            return self.wrong(given, "is empty: name a file, a FIFO or unix:PATH, or remove it");
        }
        *events = EventsOptions { path: Some(self.path(given, text)), is_socket };
    }

    /// Warns of the rules of a directory that is not offered, because the environment or the command line names others.
    fn unused_rules(&mut self, used: &[&RawValue]) {
        for given in self.raw.of_all_sources("root") {
            let is_rule = |own: &RawValue| !matches!(own.option.flag, "read-only" | "untrusted");
            let has_rules = given.table.as_ref().is_some_and(|table| table.own.values.iter().any(is_rule));
            if has_rules && !used.iter().any(|other| std::ptr::eq(*other, given)) {
                let (origin, path) = (given.origin(), &given.text);
                self.warnings.push(format!("{origin} {path} and its rules are not used: other directories were named"));
            }
        }
    }

    /// The folder for what outlives the process. If calls could reach it, a model could forge the record of what it has
    /// read; and the server's right to write there would extend into a read-only directory.
    fn state(&mut self, roots: &[RootSpec]) -> Option<PathBuf> {
        let Some(given) = self.raw.effective("state-dir") else {
            let why = match &self.environment.state {
                None => "there is no home directory".to_owned(),
                Some(path) => {
                    let overlap = roots::overlapping(path, roots).map(|root| {
                        format!("the default state folder overlaps {}, which is offered", root.path.display())
                    });
                    let Some(why) = overlap.or_else(|| environment::broken_link(path)) else {
                        return Some(path.clone());
                    };
                    why
                }
            };
            let next = "so state is kept in memory only; name a folder outside with --state-dir";
            self.warnings.push(format!("{why}, {next}"));
            return None;
        };
        match given.text.as_str() {
            "off" => None,
            "" => {
                self.wrong(given, "is empty: name a folder, or `off`");
                None
            }
            text => {
                let path = self.path(given, text);
                if let Some(why) = not_separate(&path, roots) {
                    self.wrong(given, &format!("{text:?}: {why}, or `off`"));
                }
                Some(path)
            }
        }
    }

    fn through_model(&mut self, server: &ServerOptions, state: Option<&Path>) {
        let why = if server.confirm_through == ConfirmThrough::Client {
            return;
        } else if server.confirm == Confirm::Never {
            "has no effect without --confirm: nobody is asked about any change"
        } else if state.is_none() {
            "needs a state folder: without one, a change that a person must confirm is refused where the client cannot ask"
        } else {
            return;
        };
        self.warnings.push(format!("--confirm-through model {why}"));
    }
}

/// The files that decide about the next start: a model that could write one could extend its own rights.
fn own(
    file: Option<&Path>,
    logs: &[&Option<PathBuf>],
    state: Option<&Path>,
    environment: &Environment,
) -> Vec<PathBuf> {
    let logs = logs.iter().copied().flatten().flat_map(|log| AppendLog::names(log));
    let others = file
        .into_iter()
        .chain(state)
        .chain(environment.machine_policy.as_deref())
        .map(|path| environment.directory.join(path));
    others.chain(logs).chain(environment.program.iter().cloned()).collect()
}

fn not_separate(folder: &Path, roots: &[RootSpec]) -> Option<String> {
    let overlaps = |root: &RootSpec| format!("it contains, or is inside of, {}, which is offered", root.path.display());
    let why = roots::overlapping(folder, roots).map(overlaps).or_else(|| environment::broken_link(folder))?;
    Some(format!("{why}: choose a separate folder outside of all directories"))
}
