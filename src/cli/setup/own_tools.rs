//! The client's own file tools, turned off and on.

use std::path::PathBuf;

use serde_json::Value;

use super::{
    clients::{Client, EntryScope, OwnTools, ToolList, place_of},
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
    let own = client.own_tools.as_ref().map_err(|how| refused(&format!(": {how}")))?;
    match (place_of(own.files, scope), own.list) {
        (Some(place), _) => folders.path(place),
        (None, ToolList::Policy) => Err(refused(" in one project, whose policies it does not apply: use --scope user")),
        (None, _) => Err(refused(&format!(" for --scope {}", scope.name()))),
    }
}

/// Turns them off in `text`; what `earlier` says was turned off before counts, too.
pub(super) fn off(own: &OwnTools, text: &str, file: Made, earlier: &ToolsOff) -> Result<(String, ToolsOff), String> {
    match own.list {
        ToolList::Json(path) => {
            let is_earlier = |name: &str| earlier.names.iter().any(|earlier| earlier == name);
            let mut turned = ToolsOff { names: Vec::new(), made: file };
            let mut text = text.to_owned();
            for name in own.names {
                if !has_text(&text, path, name)? {
                    let (edited, containers) = json_document::add(&text, path, &Value::from(*name))?;
                    turned.made.containers += containers;
                    text = edited;
                } else if is_earlier(name) {
                    turned.made = earlier.made.clone();
                } else {
                    continue;
                }
                turned.names.push((*name).to_owned());
            }
            Ok((text, turned))
        }
        ToolList::Policy => {
            let rule = rule(own.names);
            if text.contains(&rule) {
                return Ok((text.to_owned(), earlier.clone()));
            }
            let gap = if text.is_empty() { "" } else { "\n" };
            let names = own.names.iter().map(|name| (*name).to_owned()).collect();
            Ok((format!("{text}{gap}{rule}"), ToolsOff { names, made: file }))
        }
        ToolList::Yaml(key) => {
            let (text, mut names) = yaml_list::off(text, key, own.names)?;
            names.extend(earlier.names.iter().cloned());
            Ok((text, ToolsOff { names, made: Made::default() }))
        }
    }
}

/// Turns on in `text` what was turned off.
pub(super) fn on(own: &OwnTools, text: &str, turned: &ToolsOff) -> Result<String, String> {
    match own.list {
        ToolList::Json(path) => {
            let names = turned.names.iter().filter(|name| own.names.contains(&name.as_str()));
            names.into_iter().try_fold(text.to_owned(), |text, name| {
                json_document::remove(&text, path, Some(&Value::from(name.as_str())), turned.made.containers)
            })
        }
        ToolList::Policy => {
            let rule = rule(own.names);
            let before = text.strip_prefix(&rule).map(str::to_owned);
            Ok(before.unwrap_or_else(|| text.replacen(&format!("\n{rule}"), "", 1)))
        }
        ToolList::Yaml(_) => Ok(yaml_list::on(text)),
    }
}

/// Those that are off in `text`, whoever turned them off. In a list of YAML they are marked, and turned on by their marks.
pub(super) fn still_off(own: &OwnTools, text: &str) -> Vec<&'static str> {
    let is_off = |name: &&&str| match own.list {
        ToolList::Json(path) => has_text(text, path, name).unwrap_or(false),
        ToolList::Policy => text.contains(&format!("\"{name}\"")),
        ToolList::Yaml(_) => false,
    };
    own.names.iter().filter(is_off).copied().collect()
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
