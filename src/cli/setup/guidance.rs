//! The texts that a person reads: the configuration, the approval and the next step.

use std::fmt::Write as _;

use change_set::host_directory;

use crate::config::SetupRequest;

use super::{
    clients::{CLIENT_ROWS, Client, EntryScope, Folders, Format, ToolList},
    entry::{Launcher, NPX_LAUNCHER, ServerEntry, UVX_LAUNCHER, launcher},
    error::Result,
    hooks, json_document, own_tools,
    plan::SetupTarget,
    records::{Created, ToolsOff},
};

pub(super) fn clients(folders: &Folders<'_>) -> String {
    let mut out =
        "rootbound setup CLIENT [DIR]... shows what the client's file needs; --write puts it there.\n\n".to_owned();
    for client in CLIENT_ROWS {
        let own = client.own_tools.as_ref().map_or(&[][..], |own| own.files);
        let is_found = client.files.iter().chain(own).any(|(_, place)| folders.has_signs_of(place));
        let found = if is_found { "found here" } else { "" };
        let _ = writeln!(out, "{:<16} {:<17} {found}", client.id, client.title);
    }
    let lines: Vec<&str> = out.lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// The configuration of a client, to be put there by hand or with `--write`.
pub(super) fn configuration(
    target: &SetupTarget<'_>,
    entries: &[ServerEntry],
    request: &SetupRequest,
) -> Result<String> {
    let (client, scope) = (target.client, target.scope);
    let mut snippet = String::new();
    if let Format::Yaml(key) = client.format {
        snippet = yaml(key, entries);
    } else {
        for entry in entries {
            snippet = target.list.add(&snippet, entry)?.0;
        }
    }
    let mut out = String::new();
    let _ = writeln!(out, "{} ({})\n", client.title, whose(client, scope));
    let path = target.path.display().to_string();
    let path = if path.is_empty() { "the file that lists its servers" } else { &path };
    let _ = writeln!(out, "In {path}:\n\n{snippet}");
    if let (true, Ok(own)) = (request.replace, &client.own_tools) {
        let path = own_tools::file(client, scope, target.folders)?;
        if let ToolList::Yaml(key) = own.list {
            let _ = writeln!(out, "In {}, leave these out of `{key}`: {}\n", path.display(), own.names.join(", "));
        } else {
            let (list, _) = own_tools::off(own, "", Created::default(), &ToolsOff::default())?;
            let _ = writeln!(out, "In {}:\n\n{list}", path.display());
            out.extend(effect(client).map(|effect| format!("{effect}\n")));
        }
    }
    if request.hooks {
        let list = hooks::on("", &hooks::command(client, scope, &entries[0], request)?, "", &mut Created::default())?;
        let _ = writeln!(out, "In {}:\n\n{list}", hooks::file(client, scope, target.folders)?.display());
    }
    if client.splits_tools() {
        settings_page(&mut out, entries, launcher(target.folders.environment))?;
    }
    let _ = writeln!(out, "starts    in {}", client.starts_in.0);
    let _ = writeln!(out, "{}", after(target, entries, request));
    let next = "the same command with --write merges this into the file; --remove takes it out";
    let _ = writeln!(out, "next      {}", target.by_hand(false).as_deref().unwrap_or(next));
    Ok(out)
}

/// The entries below `key`, with the names that Goose has for the members. A JSON value is a YAML one.
fn yaml(key: &str, entries: &[ServerEntry]) -> String {
    let mut out = format!("{key}:\n");
    for ServerEntry { name, value } in entries {
        let _ = writeln!(out, "  {name}:\n    name: {name}");
        for (member, value) in value {
            let member = if member == "command" { "cmd" } else { member };
            let _ = writeln!(out, "    {member}: {value}");
        }
    }
    out
}

/// DeerFlow's settings page accepts only these two commands.
fn settings_page(out: &mut String, entries: &[ServerEntry], launcher: Launcher) -> Result<()> {
    if [NPX_LAUNCHER, UVX_LAUNCHER].contains(&launcher) {
        let _ = writeln!(out, "Its settings page accepts the same JSON.\n");
        return Ok(());
    }
    let mut whole = String::new();
    for mut entry in entries.iter().cloned() {
        let words = UVX_LAUNCHER
            .iter()
            .map(|&word| word.into())
            .chain(entry.argv().into_iter().skip(1).map(serde_json::Value::from));
        entry.start(words.collect());
        whole = json_document::set(&whole, &["mcpServers", &entry.name], &entry.value.into())?.0;
    }
    let _ = writeln!(out, "Its settings page accepts only the commands npx and uvx. There:\n\n{whole}");
    Ok(())
}

pub(super) fn after(target: &SetupTarget<'_>, entries: &[ServerEntry], request: &SetupRequest) -> String {
    let client = target.client;
    let name = entries.first().map_or("files", |entry| entry.name.as_str());
    let is_other = target.scope == EntryScope::Project && !client.project_approval.is_empty();
    let approval = if is_other { client.project_approval } else { client.approval };
    let fill = |text: &str| text.replace("FILE", &target.path.display().to_string()).replace("NAME", name);
    // DeerFlow does not show a server's instructions to its model.
    let guide = if client.splits_tools() {
        format!("\nmodel     rootbound guide {} --prefix {name}_", client.id)
    } else {
        String::new()
    };
    let home = target.folders.environment.home.as_deref().and_then(host_directory).unwrap_or_default();
    let wide = if request.directories.iter().filter_map(|one| host_directory(one)).any(|one| home.starts_with(one)) {
        "caution   the home directory has keys, histories and settings in it: a project directory is a safer choice\n"
    } else {
        ""
    };
    let trust = if client.id == "codex" { "; Codex runs it only once you trust it with /hooks" } else { "" };
    let hooks = if request.hooks { format!("{PROMPTS_LINE}{trust}\n") } else { String::new() };
    format!("{wide}{hooks}approval  {}\ncheck     {}{guide}", fill(approval), fill(client.check))
}

const PROMPTS_LINE: &str = "prompts   `rootbound history restore --to last-prompt` goes back to before the last one";

/// The note on what turning off a client's own tools means to a person.
pub(super) fn effect(client: &Client) -> Option<String> {
    let effect = client.own_tools.as_ref().ok()?.effect;
    (!effect.is_empty()).then(|| format!("note      {effect}"))
}

pub(super) fn whose(client: &Client, scope: EntryScope) -> &'static str {
    match scope {
        _ if client.id == "deerflow" => "for everyone who uses the DeerFlow of this folder",
        EntryScope::User => "for you, in every project: --scope user",
        EntryScope::Project => "for everyone who has this project: --scope project",
        EntryScope::Local => "for you, in this project: --scope local",
    }
}
