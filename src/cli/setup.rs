//! `rootbound setup`: puts this server into the configuration file of a client, or shows how.
//!
//! Without `--write` or `--remove` nothing is changed. A file is changed whole and atomically, and only the part that is
//! ours: see `json_document`, `server_list` and `own_tools`. Limits: JSON with comments and trailing commas is
//! accepted for every client, also for one that does not; lists of tools in YAML are edited by their lines.

mod client_file;
mod clients;
mod entry;
mod error;
mod guidance;
mod hooks;
mod json_document;
mod own_tools;
#[cfg(all(test, unix))]
mod page_tests;
mod plan;
#[cfg(test)]
mod properties;
mod records;
mod server_list;

use std::process::ExitCode;

use confined_fs::escape::escape_controls;

use crate::config::{Environment, SetupRequest, suggestion::quoted};

use self::{
    client_file::FileChange,
    clients::{CLIENT_ROWS, Client, EntryScope},
    entry::{ServerEntry, entries, is_in},
    error::{Result, SetupError, refused},
    plan::{SetupPlan, SetupTarget},
    server_list::ServerList,
};
use clients::{Folders, System};

use super::{asked, print};

/// How often a change is computed again because another program has changed the file since it was read.
const MAX_ATTEMPTS: usize = 50;

/// Lists the clients, shows the configuration of one, or changes its file. The exit code is 0 if that is done, 1 if the
/// file cannot be used or a person says no, and 2 if the request cannot be understood.
pub fn setup(request: &SetupRequest, environment: &Environment) -> ExitCode {
    let folders = Folders { system: System::this(), environment };
    let Some(name) = &request.client else { return print(&guidance::clients(&folders)) };
    run(name, request, &folders).map_or_else(|error| error.report(), |text| print(&text))
}

fn run(name: &str, request: &SetupRequest, folders: &Folders<'_>) -> Result<String> {
    let target = target(name, request, folders).map_err(SetupError::of_usage)?;
    if let Some(why) = target.by_hand(request.remove).filter(|_| request.write || request.remove) {
        return Err(SetupError::from(why).of_usage());
    }
    let entries = if request.remove { Ok(Vec::new()) } else { entries(target.client, target.scope, request, folders) };
    let entries = entries.map_err(SetupError::of_usage)?;
    if request.replace {
        own_tools::file(target.client, target.scope, folders).map_err(SetupError::of_usage)?;
    }
    if request.hooks {
        hooks::file(target.client, target.scope, folders).map_err(SetupError::of_usage)?;
    }
    if request.remove {
        return remove(&target, request);
    }
    if request.write {
        return write(&target, &entries, request);
    }
    guidance::configuration(&target, &entries, request)
}

fn target<'f>(name: &str, request: &SetupRequest, folders: &'f Folders<'f>) -> Result<SetupTarget<'f>> {
    let is_it = |client: &&Client| client.id == name || client.id.replace('-', "").starts_with(name);
    let Some(client) = CLIENT_ROWS.iter().find(is_it) else {
        return refused(format!("{name:?} is not a client that setup knows: `rootbound setup` lists them"));
    };
    if request.split && !client.splits_tools() {
        return refused(format!("--split is for deerflow: leave it out for {}", client.id));
    }
    let scope = match request.scope.as_deref() {
        Some(given) => scope(client, given)?,
        None if request.remove => recorded_scope(client, request, folders),
        None => usual_scope(client, request, folders)?,
    };
    target_in(client, scope, request, folders)
}

fn target_in<'f>(
    client: &'static Client,
    scope: EntryScope,
    request: &SetupRequest,
    folders: &'f Folders<'f>,
) -> Result<SetupTarget<'f>> {
    let path = match (&request.file, client.file(scope)) {
        (Some(file), _) => file.clone(),
        (None, Some("")) => "".into(),
        (None, Some(place)) => folders.path(place)?,
        (None, None) => return refused(format!("{} has no file for --scope {}", client.title, scope.name())),
    };
    let above = match scope {
        // Claude Code has a list for each project in one file, by the path with slashes.
        EntryScope::Local => {
            let project = folders.repository();
            let project = project.to_str().ok_or_else(|| {
                format!("{} is not UTF-8, so --scope local cannot name it: use --scope project", project.display())
            })?;
            let project =
                if folders.system == System::Windows { project.replace('\\', "/") } else { project.to_owned() };
            vec!["projects".to_owned(), project]
        }
        EntryScope::User | EntryScope::Project => Vec::new(),
    };
    Ok(SetupTarget { client, scope, folders, path, list: ServerList::of(client.format, above) })
}

fn usual_scope(client: &Client, request: &SetupRequest, folders: &Folders<'_>) -> Result<EntryScope> {
    let project = &folders.environment.directory;
    match (&client.own_tools, client.files[0].0) {
        (Ok(own), _) if request.replace => Ok(own.files[0].0),
        // The project's file cannot name what is not in the project.
        (_, EntryScope::Project) if request.directories.iter().any(|directory| !is_in(project, directory)) => {
            Ok(EntryScope::User)
        }
        (_, EntryScope::Project) if request.file.is_none() && folders.is_home() => refused(format!(
            "the current directory is the home directory: change to the project, or name the directories to offer, as in \
             `rootbound setup {} ~/code/app --scope user`",
            client.id
        )),
        (_, first) => Ok(first),
    }
}

/// Where setup has put the entry: the first scope of which there is a record, else the usual one.
fn recorded_scope(client: &'static Client, request: &SetupRequest, folders: &Folders<'_>) -> EntryScope {
    let name = request.name.as_deref().unwrap_or(entry::DEFAULT_NAME);
    let is_recorded = |scope: &EntryScope| {
        target_in(client, *scope, request, folders).is_ok_and(|target| target.records().of(name).is_some())
    };
    client.files.iter().map(|(scope, _)| *scope).find(is_recorded).unwrap_or(client.files[0].0)
}

fn scope(client: &Client, given: &str) -> Result<EntryScope> {
    let known: Vec<String> = client.files.iter().map(|(scope, _)| scope.name()).collect();
    let found = client.files.iter().find(|(scope, _)| scope.name() == given).map(|(scope, _)| *scope);
    found.ok_or_else(|| format!("--scope {given}: {} has only {}", client.title, known.join(", ")).into())
}

fn write(target: &SetupTarget<'_>, entries: &[ServerEntry], request: &SetupRequest) -> Result<String> {
    let (shown, notes) = change(target, request, || target.write(entries, request))?;
    let effect = guidance::effect(target.client).filter(|_| request.replace);
    let after: String = effect.into_iter().chain(notes).map(|note| note + "\n").collect();
    let after = after + &guidance::after(target, entries, request);
    let path = target.path.display().to_string();
    let path = escape_controls(&path);
    Ok(match shown {
        None => format!("{path} has it already\n\n{after}"),
        Some(diff) => {
            format!(
                "{diff}\nwritten   {path}\n{after}\nundo      rootbound setup {} --remove",
                escape_controls(&undo(target, request))
            )
        }
    })
}

fn undo(target: &SetupTarget<'_>, request: &SetupRequest) -> String {
    let mut words = vec![target.client.id.to_owned()];
    if target.scope != target.client.files[0].0 {
        words.push(format!("--scope {}", target.scope.name()));
    }
    if let Some(name) = &request.name {
        words.push(format!("--name {name}"));
    }
    if let Some(file) = &request.file {
        words.push(format!("--file {}", quoted(&file.display().to_string())));
    }
    words.join(" ")
}

fn remove(target: &SetupTarget<'_>, request: &SetupRequest) -> Result<String> {
    let (shown, notes) = change(target, request, || target.remove(request))?;
    let path = target.path.display().to_string();
    let path = escape_controls(&path);
    Ok(match shown {
        None if request.replace || request.hooks => "setup has done nothing of that which is left to undo".to_owned(),
        None => format!("{path} has no entry of rootbound"),
        Some(diff) => {
            let done = if request.replace || request.hooks { "undone; the entry stays in" } else { "removed from" };
            let lines = std::iter::once(format!("{diff}\n{done} {path}"));
            lines.chain(notes.iter().map(|note| escape_controls(note).into_owned())).collect::<Vec<_>>().join("\n")
        }
    })
}

/// Shows the changes, asks, and makes them; computed again if another program was faster. Returns the diff, or `None`
/// if nothing is to be changed, and what the person should know.
fn change(
    target: &SetupTarget<'_>,
    request: &SetupRequest,
    plan: impl Fn() -> Result<SetupPlan>,
) -> Result<(Option<String>, Vec<String>)> {
    let records = target.records();
    for _ in 0..MAX_ATTEMPTS {
        let mut plan = plan()?;
        if plan.changes.is_empty() {
            return Ok((None, plan.notes));
        }
        // Nobody is asked for what cannot be done.
        plan.changes.iter().try_for_each(FileChange::check)?;
        let diff: Vec<String> = plan.changes.iter().map(FileChange::diff).collect();
        let diff = diff.join("\n");
        if !request.yes {
            let effect = guidance::effect(target.client).filter(|_| request.replace && !request.remove);
            approve(&effect.map_or(diff.clone(), |effect| format!("{diff}\n{effect}")))?;
        }
        // What was made is recorded before, what was undone is forgotten after it.
        if request.write
            && let Err(why) = records.save(&plan.records)
        {
            plan.notes.push(format!("note      {why}: --remove will not know what to undo besides the entry"));
        }
        let mut is_done = true;
        for change in &plan.changes {
            // After a file that another program has changed no further one is written: all are computed again.
            is_done = is_done && change.apply()?;
        }
        if is_done {
            if request.remove {
                let _ = records.save(&plan.records);
            }
            return Ok((Some(if request.yes { diff } else { String::new() }), plan.notes));
        }
    }
    let why = "before it could be written: close the client and try again";
    refused(format!("another program changed the file {MAX_ATTEMPTS} times {why}"))
}

fn approve(diff: &str) -> Result<()> {
    match asked(&format!("{diff}\nMake this change?")) {
        Some(true) => Ok(()),
        Some(false) => refused("nothing was changed"),
        None => Err(SetupError::from(
            "nobody can be asked, as stdin is not a terminal: add --yes to make the change without a question, or leave \
             --write out to see it",
        )
        .of_usage()),
    }
}
