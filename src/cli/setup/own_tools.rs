//! The client's own file tools, turned off and on.

use std::path::PathBuf;

use serde_json::Value;

use super::{
    client::{Client, EntryScope, OwnTools},
    folders::Folders,
    json_document::{self, at},
    records::{Made, ToolsOff},
    yaml_list,
};

/// The file that lists them.
///
/// # Errors
/// If no file does, what a person can do instead.
pub(super) fn file(client: &Client, scope: EntryScope, folders: &Folders<'_>) -> Result<PathBuf, String> {
    let refused = |why: &str| format!("--replace cannot turn off the file tools of {}{why}", client.title);
    match &client.own_tools {
        OwnTools::JsonList { files, .. } => {
            let place = files.iter().find(|(own, _)| *own == scope).map(|(_, place)| place);
            folders.path(place.ok_or_else(|| refused(&format!(" for --scope {}", scope.name())))?)
        }
        OwnTools::Policy { file, .. } if scope == EntryScope::User => folders.path(file),
        OwnTools::Policy { .. } => Err(refused(" in one project, whose policies it does not apply: use --scope user")),
        OwnTools::YamlList { file, .. } => folders.path(file),
        OwnTools::ByHand(how) => Err(refused(&format!(": {how}"))),
    }
}

/// Turns them off in `text`; what `earlier` says was turned off before counts, too.
pub(super) fn off(client: &Client, text: &str, file: Made, earlier: &ToolsOff) -> Result<(String, ToolsOff), String> {
    match &client.own_tools {
        OwnTools::JsonList { path, names, .. } => {
            let mut text = text.to_owned();
            let mut turned = ToolsOff { names: Vec::new(), made: file };
            let mut is_first = true;
            for name in *names {
                if has_text(&text, path, name)? {
                    if earlier.names.iter().any(|earlier| earlier == name) {
                        turned.names.push((*name).to_owned());
                        turned.made = earlier.made.clone();
                        is_first = false;
                    }
                    continue;
                }
                let (edited, containers) = json_document::add_text(&text, path, name)?;
                text = edited;
                turned.names.push((*name).to_owned());
                if is_first {
                    turned.made.containers = containers;
                    is_first = false;
                }
            }
            Ok((text, turned))
        }
        OwnTools::Policy { names, .. } => {
            let rule = rule(names);
            if text.contains(&rule) {
                return Ok((text.to_owned(), earlier.clone()));
            }
            let gap = if text.is_empty() { "" } else { "\n" };
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            Ok((format!("{text}{gap}{rule}"), ToolsOff { names, made: file }))
        }
        OwnTools::YamlList { key, names, .. } => {
            let (text, mut off) = yaml_list::off(text, key, names)?;
            off.extend(earlier.names.iter().cloned());
            Ok((text, ToolsOff { names: off, made: Made::default() }))
        }
        OwnTools::ByHand(_) => Ok((text.to_owned(), ToolsOff::default())),
    }
}

/// Turns on in `text` what was turned off.
pub(super) fn on(client: &Client, text: &str, turned: &ToolsOff) -> Result<String, String> {
    match &client.own_tools {
        OwnTools::JsonList { path, names, .. } => {
            let mut text = text.to_owned();
            for name in turned.names.iter().filter(|name| names.contains(&name.as_str())) {
                text = json_document::remove(&text, path, Some(name), turned.made.containers)?;
            }
            Ok(text)
        }
        OwnTools::Policy { names, .. } => {
            let rule = rule(names);
            let before = text.strip_prefix(&rule).map(str::to_owned);
            Ok(before.unwrap_or_else(|| text.replacen(&format!("\n{rule}"), "", 1)))
        }
        OwnTools::YamlList { .. } => Ok(yaml_list::on(text)),
        OwnTools::ByHand(_) => Ok(text.to_owned()),
    }
}

/// Those that are off in `text`, whoever turned them off.
pub(super) fn still_off(client: &Client, text: &str) -> Vec<&'static str> {
    match &client.own_tools {
        OwnTools::JsonList { path, names, .. } => {
            let is_off = |name: &&&str| has_text(text, path, name).unwrap_or(false);
            names.iter().filter(is_off).copied().collect()
        }
        OwnTools::Policy { names, .. } => {
            names.iter().filter(|name| text.contains(&format!("\"{name}\""))).copied().collect()
        }
        // What is off there is marked, and turned on by its marks.
        OwnTools::YamlList { .. } | OwnTools::ByHand(_) => Vec::new(),
    }
}

/// A rule for the policy engine of Gemini CLI. The largest priority: a person's approval of a tool has a smaller one.
fn rule(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!("[[rule]]\ntoolName = [{}]\ndecision = \"deny\"\npriority = 999\n", names.join(", "))
}

fn has_text(text: &str, path: &[&str], name: &str) -> Result<bool, String> {
    let document = json_document::value(text)?;
    Ok(at(&document, path).and_then(Value::as_array).is_some_and(|list| list.iter().any(|one| one == name)))
}
