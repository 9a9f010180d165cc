//! Roles: what some callers may do less than the command line allows, from the `[[role]]` tables of the file.
//!
//! One is chosen by the label of the process (`--audit-label`), which the person who starts it sets, or by the name that the
//! client sends, which is a claim. The first role that matches counts; one without `label` and `client` matches everybody.

use confined_fs::{Access, PolicyRules, RootSpec};

use file_tools::{Selection, Toolbox, session::QuotaLimits};

use super::{
    Config, PER_ROLE, RawArgs, RawTable, RawValue, Role, environment::real, findings::nearest_or_all, options::option,
};

pub(super) fn roles(raw: &RawArgs, config: &Config, roots: &[RootSpec], problems: &mut Vec<String>) -> Vec<Role> {
    let names = root_names(roots);
    let mut found: Vec<Role> = Vec::new();
    for table in &raw.roles {
        let role = role(table, config, roots, &names, problems);
        let place = &table.place;
        for earlier in &found {
            if earlier.name == role.name {
                problems.push(format!("{place}: two roles are called {:?}: give one of them another name", role.name));
            }
            if (&earlier.label, &earlier.client) == (&role.label, &role.client) {
                problems.push(format!(
                    "{place}: the roles {:?} and {:?} are for the same callers ({}): remove one, or change its label or \
                     client",
                    earlier.name,
                    role.name,
                    role.who()
                ));
            } else if earlier.label.is_none() && earlier.client.is_none() {
                problems.push(format!(
                    "{place}: the role {:?} is never chosen, because {:?} before it is for everybody: move that one to \
                     the end",
                    role.name, earlier.name
                ));
            }
        }
        found.push(role);
    }
    found
}

/// The configuration with the roles that this process may need. Where the first of them needs no client's name, it is
/// in force from the start, so that the kernel confines the process to its directories.
pub(super) fn applied(mut config: Config) -> Config {
    let label = config.audit.label.as_deref();
    for role in Role::candidates(&config.roles, label).into_iter().cloned().collect::<Vec<_>>() {
        if role.client.is_some() {
            config.client_roles.push(role);
        } else {
            config.role = Some(role);
        }
    }
    if let (Some(role), true) = (&config.role, config.client_roles.is_empty()) {
        config.roots.clone_from(&role.roots);
        config.selection = role.selection.clone();
        config.quota = role.quota;
    }
    config
}

fn role(table: &RawTable, config: &Config, roots: &[RootSpec], names: &[String], problems: &mut Vec<String>) -> Role {
    let place = &table.place;
    let name = table.name.clone().unwrap_or_default();
    if name.trim().is_empty() {
        problems.push(format!("{place}: a role without a name: add name = \"reader\""));
    }
    for (key, pattern) in [("label", &table.label), ("client", &table.client)] {
        if pattern.as_ref().is_some_and(|pattern| pattern.trim().is_empty()) {
            problems.push(format!("{place}: {key} of the role {name:?} is empty: remove it, or write what it matches"));
        }
    }
    if table.roots.is_none() && table.own.values.is_empty() {
        problems.push(format!(
            "{place}: the role {name:?} takes nothing away: add tools, roots, read_only or a limit, or read_only = false \
             for callers that may do all"
        ));
    }
    let mut own = Config { selection: config.selection.clone(), quota: config.quota, ..Config::default() };
    for flag in PER_ROLE {
        table.own.apply(option(flag), &mut own, problems);
    }
    // `read_only = false` in a role gives nothing back: a role only takes away.
    own.selection.read_only |= config.selection.read_only;
    tools(table, config, &mut own.selection, problems);
    limits(table, config.quota, own.quota, problems);
    let kept = match &table.roots {
        None => (0..roots.len()).collect(),
        Some(wanted) => chosen(wanted.as_slice(), place, &name, names, problems),
    };
    let roots = narrowed(roots, &kept, names, own.selection.read_only);
    let (label, client) = (table.label.clone(), table.client.clone());
    Role { name, label, client, roots, selection: own.selection, quota: own.quota }
}

/// The tools of a role: some of those that the command line offers.
fn tools(table: &RawTable, config: &Config, selection: &mut Selection, problems: &mut Vec<String>) {
    let Some(given) = table.own.effective("tools") else { return };
    let (known, origin) = (Toolbox::known(), given.origin());
    let names = tool_names(given, problems);
    let offered = Toolbox::new(&config.selection);
    for name in names.iter().filter(|name| known.contains(&name.as_str()) && offered.get(name).is_none()) {
        problems.push(format!("{origin} names {name}, which the other options exclude: a role only takes away"));
    }
    selection.only = Some(names);
    if Toolbox::new(selection).tools().is_empty() && selection.only.as_ref().is_some_and(|names| !names.is_empty()) {
        problems.push(format!("{origin} leaves no tool with read_only = true: name some of glob, grep, ls, read"));
    }
}

/// The names in a list of tools; each that is not the name of one is a problem, as is an empty list.
pub(super) fn tool_names(given: &RawValue, problems: &mut Vec<String>) -> Vec<String> {
    let (known, origin) = (Toolbox::known(), given.origin());
    let names: Vec<String> =
        given.text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    for name in names.iter().filter(|name| !known.contains(&name.as_str())) {
        let hint = nearest_or_all(name, &known, "tools");
        problems.push(format!("{origin} names {name:?}, which is not a tool: {hint}"));
    }
    if names.is_empty() {
        problems.push(format!("{origin} is empty: remove it, or name some of {}", known.join(", ")));
    }
    names
}

fn limits(table: &RawTable, all: QuotaLimits, own: QuotaLimits, problems: &mut Vec<String>) {
    let raised = [
        ("max-files-created", own.files > all.files),
        ("max-bytes-written", own.bytes > all.bytes),
        ("max-root-size", all.root_bytes.is_some_and(|all| own.root_bytes.is_none_or(|own| own > all))),
    ];
    for (flag, _) in raised.into_iter().filter(|(_, is_raised)| *is_raised) {
        if let Some(given) = table.own.effective(flag) {
            problems.push(format!("{} is more than --{flag} allows: a role only takes away", given.origin()));
        }
    }
}

fn chosen(wanted: &[String], place: &str, role: &str, names: &[String], problems: &mut Vec<String>) -> Vec<usize> {
    if wanted.is_empty() {
        problems.push(format!("{place}: the role {role:?} has no root: name one of {}", names.join(", ")));
    }
    let mut kept = Vec::new();
    for name in wanted {
        let mut same = (0..names.len()).filter(|index| names[*index] == *name);
        match (same.next(), same.next()) {
            (Some(index), None) => kept.push(index),
            (Some(_), Some(_)) => problems
                .push(format!("{place}: two directories are called {name:?}: give them a NAME (root = \"NAME=PATH\")")),
            _ => {
                let hint = nearest_or_all(name, names, "roots");
                problems
                    .push(format!("{place}: the role {role:?} names the root {name:?}, which is not offered: {hint}"));
            }
        }
    }
    // As the command line has them, whatever the order in the role.
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// The name by which a role names each root: its NAME, else the last part of its path.
fn root_names(roots: &[RootSpec]) -> Vec<String> {
    let name = |root: &RootSpec| {
        root.name.clone().unwrap_or_else(|| {
            real(&root.path).file_name().map_or_else(|| "root".to_owned(), |name| name.to_string_lossy().into_owned())
        })
    };
    roots.iter().map(name).collect()
}

/// The roots with the indices `kept`. One that is left out and lies inside one of them is hidden there: without it, its
/// place would have the rights of the outer root.
fn narrowed(roots: &[RootSpec], kept: &[usize], names: &[String], read_only: bool) -> Vec<RootSpec> {
    let paths: Vec<_> = roots.iter().map(|root| real(&root.path)).collect();
    let is_usual_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    kept.iter()
        .map(|index| {
            let mut root = roots[*index].clone();
            // The name that it has among the others stays the same.
            if roots.len() > 1 && root.name.is_none() && is_usual_name(&names[*index]) {
                root.name = Some(names[*index].clone());
            }
            if read_only {
                root.access = Access::ReadOnly;
            }
            let left_out = (0..roots.len()).filter(|other| !kept.contains(other));
            for below in left_out.filter_map(|other| paths[other].strip_prefix(&paths[*index]).ok()) {
                // A name may hold any character of a pattern, `\` as well, and bytes that are not UTF-8.
                root.policy.hide.extend(PolicyRules::exactly(below));
            }
            root
        })
        .collect()
}
