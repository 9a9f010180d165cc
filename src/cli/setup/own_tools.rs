//! The client's own file tools, turned off and on.

use std::path::PathBuf;

use super::{
    client::{Client, EntryScope, OwnTools},
    folders::Folders,
    json_document::{self, JsonStep, find},
    marker::{Made, Marker, ToolsOff},
    yaml_list,
};

/// The file that lists them.
///
/// # Errors
/// If no file does, what a person can do instead.
pub(super) fn file(client: &Client, scope: EntryScope, folders: &Folders<'_>) -> Result<PathBuf, String> {
    match &client.own_tools {
        OwnTools::JsonList { files, .. } => {
            let place = files.iter().find(|(own, _)| *own == scope).map(|(_, place)| place);
            folders.path(place.ok_or_else(|| {
                format!("--replace cannot turn off the file tools of {} for --scope {}", client.title, scope.name())
            })?)
        }
        OwnTools::YamlList { file, .. } => folders.path(file),
        OwnTools::ByHand(how) => Err(format!("--replace cannot turn off the file tools of {}: {how}", client.title)),
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
                let path = steps(path, name);
                if find(&text, &path)?.is_some() {
                    if earlier.names.iter().any(|earlier| earlier == name) {
                        turned.names.push((*name).to_owned());
                        turned.made = earlier.made.clone();
                        is_first = false;
                    }
                    continue;
                }
                let (edited, added) = json_document::set(&text, &path, &serde_json::Value::from(*name))?;
                text = edited;
                turned.names.push((*name).to_owned());
                if is_first {
                    turned.made.added = added;
                    is_first = false;
                }
            }
            Ok((text, turned))
        }
        OwnTools::YamlList { key, names, .. } => {
            let (text, mut off) = yaml_list::off(text, key, names)?;
            off.extend(earlier.names.iter().cloned());
            Ok((text, ToolsOff { names: off, made: Made::default() }))
        }
        OwnTools::ByHand(_) => Ok((text.to_owned(), ToolsOff::default())),
    }
}

/// Turns on in `text` what `marker` says was turned off.
pub(super) fn on(client: &Client, text: &str, marker: &Marker, padding: usize) -> Result<String, String> {
    match &client.own_tools {
        OwnTools::JsonList { path, .. } => {
            let mut text = text.to_owned();
            let mut added = marker.tools.made.added;
            added.padding = added.padding.max(padding);
            for name in &marker.tools.names {
                if let Some(edited) = json_document::remove(&text, &steps(path, name), added)? {
                    text = edited;
                }
            }
            Ok(text)
        }
        OwnTools::YamlList { .. } => Ok(yaml_list::on(text)),
        OwnTools::ByHand(_) => Ok(text.to_owned()),
    }
}

fn steps<'k>(path: &[&'k str], name: &'k str) -> Vec<JsonStep<'k>> {
    path.iter().map(|key| JsonStep::Key(key)).chain([JsonStep::Text(name)]).collect()
}
