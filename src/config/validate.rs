//! From what was typed to what it means: one [`Config`], or every problem there is.
//!
//! Nothing here stops at the first wrong value: each is noted and a default stands in for it.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::{
    text::nearest_name::{ONE_OF_FEW, did_you_mean, nearest_names},
    tools::{Group, Selection, Toolbox},
    workspace::{AppendLog, IgnoreRules, RootSpec},
};

use super::{
    Action, Config, Environment, host_path,
    option::OptionRow,
    options::OPTIONS,
    parse_value, policy,
    raw::{Origin, RawArgs, RawValue, Source},
    roots,
};

/// Understands what was typed. `file` is the configuration file, where there is one.
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
    for option in OPTIONS {
        parse_value::apply(option, raw, &mut config, &mut problems);
    }
    selection(raw, &mut config.selection, &mut problems);
    config.audit.file = audit(raw, config.audit.required, file_base, environment, &mut problems);
    config.workspace.ignore.extra = raw.list("ignore");
    let policy = policy::rules(raw, &mut problems);
    for (option, given) in raw.each("ignore") {
        let one = IgnoreRules { extra: vec![given.text.clone()], no_default: true };
        problems.extend(one.validate().into_iter().map(|why| format!("{}: {why}", Origin(option, &given.source))));
    }
    let mut named = raw.highest("root");
    if !directories.is_empty() {
        // Plain directories are the command line's; roots of the environment and the file give way to them.
        named.retain(|(_, given)| given.source == Source::CommandLine);
    }
    left_out(raw, &named, &mut warnings);
    let asked = roots::RootArgs { directories, roots: named, file_base, read_only: config.selection.read_only };
    let roots = roots::specs(&asked, environment, &mut problems, &mut warnings);
    let paths: Vec<PathBuf> = roots.iter().flat_map(|root| host_path::names_of(&root.path)).collect();
    policy::host_paths(raw, &paths, environment.home.as_deref(), &mut problems);
    if let Some(root) = config.audit.file.as_ref().and_then(|file| roots::overlapping(file.parent()?, &roots)) {
        problems.push(format!(
            "the audit file lies in, or beside, {}, which is offered: choose a folder of its own outside of all \
             directories",
            root.path.display()
        ));
    }
    let state = state(raw, &roots, file_base, environment, &mut problems, &mut warnings);

    if !problems.is_empty() {
        return Err(problems);
    }
    config.workspace.server_files = own(file, config.audit.file.as_deref(), state.as_deref(), environment);
    config.workspace.policy = policy;
    Ok(Config { roots, state, warnings, ..config })
}

/// The groups of tools that are not offered unasked.
const GROUPS: &[(&str, Group)] = &[("manage", Group::Manage)];

/// Reads `--tools` and `--allow`.
fn selection(raw: &RawArgs, selection: &mut Selection, problems: &mut Vec<String>) {
    selection.groups = groups(raw, problems);
    let Some((option, given)) = raw.one("tools") else { return };
    let known = Toolbox::known();
    let origin = Origin(option, &given.source);
    let names: Vec<String> =
        given.text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    for name in names.iter().filter(|name| !known.contains(&name.as_str())) {
        let hint = did_you_mean(nearest_names(name, &known, ONE_OF_FEW).first())
            .unwrap_or_else(|| format!("there are {}", known.join(", ")));
        problems.push(format!("{origin} names {name:?}, which is no tool: {hint}"));
    }
    if names.is_empty() {
        problems.push(format!("{origin} is empty: leave it out, or name some of {}", known.join(", ")));
    }
    selection.only = Some(names.clone());
    let offered = Toolbox::new(selection);
    for name in names.iter().filter(|name| known.contains(&name.as_str()) && offered.get(name).is_none()) {
        let next = if selection.read_only { "remove it, or --read-only" } else { "add --allow manage" };
        problems.push(format!("{origin} names {name}, which the other options leave out: {next}"));
    }
}

fn groups(raw: &RawArgs, problems: &mut Vec<String>) -> Vec<Group> {
    let mut groups = Vec::new();
    for (option, given) in raw.each("allow") {
        for name in given.text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match GROUPS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                Some((_, group)) => groups.push(*group),
                None => problems.push(format!(
                    "{} {name:?} is no group of tools: there is `manage`",
                    Origin(option, &given.source)
                )),
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
    let Some((option, given)) = raw.one("audit") else {
        if required {
            problems.push("--audit-required needs --audit FILE".to_owned());
        }
        return None;
    };
    if given.text.is_empty() {
        problems.push(format!("{} is empty: name a file, or leave it out", Origin(option, &given.source)));
        return None;
    }
    let base = if matches!(given.source, Source::File { .. }) { file_base } else { &environment.directory };
    Some(environment.absolute(Path::new(&given.text), base))
}

/// A client's own variable that it did not fill in: Claude Desktop leaves the text of an unset option
/// as it stands, and a directory or pattern of that name would be taken for real.
fn placeholders(raw: &RawArgs, directories: &[OsString], problems: &mut Vec<String>) {
    const NEXT: &str = "a client did not fill this in; set the option in the client, or take the argument out";
    for directory in directories {
        if directory.to_string_lossy().contains("${") {
            problems.push(format!("the argument {} still holds `${{`: {NEXT}", directory.display()));
        }
    }
    let outside = raw.all().filter(|(_, given)| !matches!(given.source, Source::File { .. }));
    for (option, given) in outside.filter(|(_, given)| given.text.contains("${")) {
        problems.push(format!("{} {:?} still holds `${{`: {NEXT}", Origin(option, &given.source), given.text));
    }
}

/// The files that decide about the next start: a model that could write one would allow itself more by it.
fn own(file: Option<&Path>, audit: Option<&Path>, state: Option<&Path>, environment: &Environment) -> Vec<PathBuf> {
    let logs = audit.into_iter().flat_map(AppendLog::names);
    let others = file.into_iter().chain(state).map(|path| environment.directory.join(path));
    others.chain(logs).chain(environment.program.iter().cloned()).collect()
}

/// Rules of a directory that the environment or the command line leaves out count nowhere, which a
/// person should know.
fn left_out(raw: &RawArgs, used: &[(&'static OptionRow, &RawValue)], warnings: &mut Vec<String>) {
    for (option, given) in raw.each("root") {
        let has_rules =
            given.table.as_ref().is_some_and(|table| table.own.all().any(|(own, _)| own.flag != "read-only"));
        if has_rules && !used.iter().any(|(_, other)| std::ptr::eq(*other, given)) {
            warnings.push(format!(
                "{} {} and its rules are not used: other directories were named",
                Origin(option, &given.source),
                given.text
            ));
        }
    }
}

/// The folder for what outlives the process. One that calls could reach would let a model forge what
/// it has read, and the rights to write it would reach into a read-only directory.
fn state(
    raw: &RawArgs,
    roots: &[RootSpec],
    file_base: &Path,
    environment: &Environment,
    problems: &mut Vec<String>,
    warnings: &mut Vec<String>,
) -> Option<PathBuf> {
    let Some((option, given)) = raw.one("state-dir") else {
        if environment.state.is_none() {
            warnings.push(
                "there is no home directory, so what has been read is remembered in memory only; --state-dir names a \
                 folder for it"
                    .to_owned(),
            );
        }
        let reachable = environment.state.as_deref().and_then(|path| roots::overlapping(path, roots));
        if let Some(root) = reachable {
            warnings.push(format!(
                "the state folder of this account overlaps {}, which is offered, so what has been read is remembered in \
                 memory only; --state-dir names a folder outside",
                root.path.display()
            ));
            return None;
        }
        return environment.state.clone();
    };
    match given.text.as_str() {
        "off" => None,
        "" => {
            problems.push(format!("{} is empty: name a folder, or `off`", Origin(option, &given.source)));
            None
        }
        text => {
            let base = if matches!(given.source, Source::File { .. }) { file_base } else { &environment.directory };
            let path = environment.absolute(Path::new(text), base);
            if let Some(root) = roots::overlapping(&path, roots) {
                problems.push(format!(
                    "{} {text:?} lies in, or beside, {}, which is offered: choose a folder of its own outside of all \
                     directories, or `off`",
                    Origin(option, &given.source),
                    root.path.display()
                ));
            }
            Some(path)
        }
    }
}
