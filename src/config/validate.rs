//! The raw values → one [`Config`], or every problem.
//!
//! Nothing stops at the first wrong value: each is reported, and validation continues with the default.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use confined_fs::{AppendLog, IgnoreRules, PolicyRules, RootSpec, StageOptions, escape_controls};
use text_file::nearest_name::{ONE_OF_FEW, did_you_mean, nearest_names};
use tracing::level_filters::LevelFilter;

use crate::{
    server::{Confirm, ConfirmThrough, ServerOptions},
    tools::{Group, Selection, Toolbox},
};

use super::{
    Action, Config, Environment, EventsOptions, RawArgs, RawValue, Source, host_path,
    lsp::{self, LspArgs},
    options::options,
    parse_value, policy, roles, roots,
};

/// Validates `raw`. `file` is the path of the configuration file, if there is one.
pub(super) fn config(
    raw: &RawArgs,
    action: Action,
    directories: &[OsString],
    file: Option<&Path>,
    environment: &Environment,
    mut problems: Vec<String>,
) -> Result<Config, Vec<String>> {
    let file_base = file.and_then(Path::parent).unwrap_or(&environment.directory);
    placeholders(raw, directories, &mut problems);
    let mut warnings = Vec::new();
    let mut config = Config { action, ..Config::default() };
    for option in options().filter(|option| option.flag != "secrets") {
        parse_value::apply(option, raw, &mut config, &mut problems);
    }
    // Its answer says why a call failed.
    if matches!(config.action, Action::Call { .. }) && raw.one("log").is_none() {
        config.log = LevelFilter::ERROR;
    }
    selection(raw, &mut config.selection, &mut problems);
    config.audit.file = audit(raw, config.audit.required, file_base, environment, &mut problems);
    config.audit.label = audit_label(raw, &mut problems);
    events(raw, &mut config.events, file_base, environment, &mut problems);
    config.workspace.ignore.extra = raw.list("ignore");
    let untrusted = config.workspace.policy.untrusted;
    let policy = PolicyRules { untrusted, ..policy::rules(raw, &mut problems) };
    for given in raw.each("ignore") {
        let one = IgnoreRules { extra: vec![given.text.clone()], no_default: true };
        problems.extend(one.validate().into_iter().map(|why| format!("{}: {why}", given.origin())));
    }
    let mut named = raw.highest("root");
    if !directories.is_empty() {
        // Plain directories are typed on the command line, so they override the roots of lower sources.
        named.retain(|given| given.source == Source::CommandLine);
    }
    unused_rules(raw, &named, &mut warnings);
    let args = roots::RootArgs {
        directories,
        roots: named,
        file_base,
        read_only: config.selection.read_only,
        default_to_current: config.action.opens_workspace(),
        serves: config.action == Action::Serve,
    };
    let unconfigured = &mut config.server.unconfigured;
    let roots = roots::specs(&args, environment, &mut problems, &mut warnings, unconfigured);
    let paths: Vec<PathBuf> = roots.iter().flat_map(|root| host_path::names_of(&root.path)).collect();
    policy::host_paths(raw, &paths, environment.home.as_deref(), &mut problems);
    for (what, path) in [("the audit file", &config.audit.file), ("--events", &config.events.path)] {
        let Some(folder) = path.as_deref().and_then(Path::parent) else { continue };
        problems.extend(not_separate(folder, &roots).map(|why| format!("the folder of {what}: {why}")));
    }
    let state = state(raw, &roots, file_base, environment, &mut problems, &mut warnings);
    through_model(&config.server, state.as_deref(), &mut warnings);
    config.workspace.stage = stage(&config, raw, state.as_deref(), &mut problems);

    let args = LspArgs { tables: &raw.language_servers, roots: &roots, file_base, confine: config.confine };
    config.language_servers = lsp::servers(&args, environment, &mut problems, &mut warnings);
    config.roles = roles::roles(raw, &config, &roots, &mut problems);
    if !problems.is_empty() {
        problems.extend(config.server.unconfigured.take());
        return Err(problems);
    }
    warnings.extend(config.server.unconfigured.clone());
    // By the names as they were given: each link on the way decides about the next start.
    config.workspace.server_files =
        own(file, &[&config.audit.file, &config.events.path], state.as_deref(), environment);
    let state = state.as_deref().map(host_path::lasting);
    for log in [&mut config.audit.file, &mut config.events.path].into_iter().flatten() {
        *log = host_path::lasting_file(log);
    }
    config.workspace.stage.iter_mut().for_each(|stage| stage.state = host_path::lasting(&stage.state));
    let is_idle = config.server.unconfigured.is_some();
    let state = state.filter(|_| !is_idle);
    config.workspace.stage.take_if(|_| is_idle);
    config.language_servers.retain(|_| !is_idle);
    config.workspace.policy = policy;
    Ok(roles::applied(Config { roots, state, warnings, ..config }))
}

/// Where changes are staged. The commands about staged changes work on the disk, and open the layers that are there.
fn stage(config: &Config, raw: &RawArgs, state: Option<&Path>, problems: &mut Vec<String>) -> Option<StageOptions> {
    let is_view = config.stage && !config.action.opens_layers();
    match state {
        Some(state) if config.stage || config.action.opens_layers() => {
            Some(StageOptions { state: state.to_owned(), most_bytes: config.history.bytes, is_view })
        }
        None if is_view => {
            let why = match raw.one("state-dir") {
                Some(given) => format!("{} is `off`", given.origin()),
                None => "no state folder can be used".to_owned(),
            };
            let origin = raw.one("stage").map_or_else(|| "--stage".to_owned(), RawValue::origin);
            problems.push(format!(
                "{origin} keeps changes in the state folder, but {why}: name a folder outside of all directories with \
                 --state-dir, or remove --stage"
            ));
            None
        }
        _ => None,
    }
}

/// Warns of `--confirm-through model` where it has no effect.
fn through_model(server: &ServerOptions, state: Option<&Path>, warnings: &mut Vec<String>) {
    if server.confirm_through == ConfirmThrough::Client {
        return;
    }
    if server.confirm == Confirm::Never {
        warnings.push(
            "--confirm-through model has no effect without --confirm: nobody is asked about any change".to_owned(),
        );
    } else if state.is_none() {
        warnings.push(
            "--confirm-through model needs a state folder: without one, a change that a person must confirm is refused \
             where the client cannot ask"
                .to_owned(),
        );
    }
}

/// The groups of tools that are offered only with `--allow`.
pub(super) const GROUPS: &[(&str, Group)] = Group::NAMED;

/// Reads `--tools` and `--allow`.
fn selection(raw: &RawArgs, selection: &mut Selection, problems: &mut Vec<String>) {
    selection.groups = groups(raw, problems);
    let Some(given) = raw.one("tools") else { return };
    let known = Toolbox::known();
    let origin = given.origin();
    let names: Vec<String> =
        given.text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    for name in names.iter().filter(|name| !known.contains(&name.as_str())) {
        let hint = did_you_mean(nearest_names(name, &known, ONE_OF_FEW).first())
            .unwrap_or_else(|| format!("the tools are {}", known.join(", ")));
        problems.push(format!("{origin} names {name:?}, which is not a tool: {hint}"));
    }
    if names.is_empty() {
        problems.push(format!("{origin} is empty: remove it, or name some of {}", known.join(", ")));
    }
    selection.only = Some(names.clone());
    let offered = Toolbox::new(selection);
    for name in names.iter().filter(|name| known.contains(&name.as_str()) && offered.get(name).is_none()) {
        let next = if selection.read_only { "remove it, or remove --read-only" } else { "add --allow manage" };
        problems.push(format!("{origin} names {name}, which the other options exclude: {next}"));
    }
}

fn groups(raw: &RawArgs, problems: &mut Vec<String>) -> Vec<Group> {
    let mut groups = Vec::new();
    for given in raw.each("allow") {
        for name in given.text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            if let Some((_, group)) = GROUPS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                groups.push(*group);
            } else {
                let known: Vec<&str> = GROUPS.iter().map(|(known, _)| *known).collect();
                let known = known.join(" or ");
                problems.push(format!("{} {name:?} is not a group of tools: write {known}", given.origin()));
            }
        }
    }
    groups
}

/// The file of `--audit`.
fn audit(
    raw: &RawArgs,
    required: bool,
    file_base: &Path,
    environment: &Environment,
    problems: &mut Vec<String>,
) -> Option<PathBuf> {
    let Some(given) = raw.one("audit") else {
        if required {
            problems.push("--audit-required needs --audit FILE".to_owned());
        }
        return None;
    };
    if given.text.is_empty() {
        problems.push(format!("{} is empty: name a file, or remove it", given.origin()));
        return None;
    }
    Some(given.path(&given.text, file_base, environment))
}

/// The place of `--events`.
fn events(
    raw: &RawArgs,
    events: &mut EventsOptions,
    file_base: &Path,
    environment: &Environment,
    problems: &mut Vec<String>,
) {
    let Some(given) = raw.one("events") else { return };
    let (text, is_socket) = given.text.strip_prefix("unix:").map_or((&*given.text, false), |path| (path, true));
    if text.is_empty() {
        problems.push(format!("{} is empty: name a file, a FIFO or unix:PATH, or remove it", given.origin()));
        return;
    }
    events.path = Some(given.path(text, file_base, environment));
    events.is_socket = is_socket;
}

/// The longest text of `--audit-label`, in characters.
const LONGEST_LABEL: usize = 100;

/// The text of `--audit-label`.
fn audit_label(raw: &RawArgs, problems: &mut Vec<String>) -> Option<String> {
    let given = raw.one("audit-label")?;
    let label = given.text.trim();
    let wrong = if label.is_empty() {
        "is empty: name the server, or remove it"
    } else if label.chars().count() > LONGEST_LABEL {
        "has more than 100 characters: choose a shorter text"
    } else if label != escape_controls(label) || label.contains(['\n', '\t']) {
        "contains control or invisible characters: use one line of plain text"
    } else {
        return Some(label.to_owned());
    };
    problems.push(format!("{} {wrong}", given.origin()));
    None
}

/// Reports variables that a client did not fill in: Claude Desktop passes the text `${…}` for an unset option, which
/// would be taken for a directory or a pattern.
fn placeholders(raw: &RawArgs, directories: &[OsString], problems: &mut Vec<String>) {
    const NEXT: &str = "the client did not fill this in; set the option in the client, or remove the argument";
    for directory in directories {
        if directory.to_string_lossy().contains("${") {
            problems.push(format!("the argument {} still contains `${{`: {NEXT}", directory.display()));
        }
    }
    let outside = raw.values.iter().filter(|given| !matches!(given.source, Source::File { .. }));
    for given in outside.filter(|given| given.text.contains("${")) {
        problems.push(format!("{} {:?} still contains `${{`: {NEXT}", given.origin(), given.text));
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
    let others = file.into_iter().chain(state).map(|path| environment.directory.join(path));
    others.chain(logs).chain(environment.program.iter().cloned()).collect()
}

/// Warns of the rules of a directory that is not offered, because the environment or the command line names others.
fn unused_rules(raw: &RawArgs, used: &[&RawValue], warnings: &mut Vec<String>) {
    for given in raw.each("root") {
        let has_rules = given.table.as_ref().is_some_and(|table| {
            table.own.values.iter().any(|own| !matches!(own.option.flag, "read-only" | "untrusted"))
        });
        if has_rules && !used.iter().any(|other| std::ptr::eq(*other, given)) {
            warnings.push(format!(
                "{} {} and its rules are not used: other directories were named",
                given.origin(),
                given.text
            ));
        }
    }
}

/// Why a folder cannot be the program's own.
fn not_separate(folder: &Path, roots: &[RootSpec]) -> Option<String> {
    let overlaps = |root: &RootSpec| format!("it contains, or is inside of, {}, which is offered", root.path.display());
    let why = roots::overlapping(folder, roots).map(overlaps).or_else(|| host_path::broken_link(folder))?;
    Some(format!("{why}: choose a separate folder outside of all directories"))
}

/// The folder for what outlives the process. If calls could reach it, a model could forge the record of what it has
/// read; and the server's right to write there would extend into a read-only directory.
fn state(
    raw: &RawArgs,
    roots: &[RootSpec],
    file_base: &Path,
    environment: &Environment,
    problems: &mut Vec<String>,
    warnings: &mut Vec<String>,
) -> Option<PathBuf> {
    let Some(given) = raw.one("state-dir") else {
        let why = match &environment.state {
            None => "there is no home directory".to_owned(),
            Some(path) => {
                let overlaps = |root: &RootSpec| {
                    format!("the default state folder overlaps {}, which is offered", root.path.display())
                };
                let overlap = roots::overlapping(path, roots).map(overlaps);
                let Some(why) = overlap.or_else(|| host_path::broken_link(path)) else { return Some(path.clone()) };
                why
            }
        };
        warnings.push(format!("{why}, so state is kept in memory only; name a folder outside with --state-dir"));
        return None;
    };
    match given.text.as_str() {
        "off" => None,
        "" => {
            problems.push(format!("{} is empty: name a folder, or `off`", given.origin()));
            None
        }
        text => {
            let path = given.path(text, file_base, environment);
            if let Some(why) = not_separate(&path, roots) {
                problems.push(format!("{} {text:?}: {why}, or `off`", given.origin()));
            }
            Some(path)
        }
    }
}
