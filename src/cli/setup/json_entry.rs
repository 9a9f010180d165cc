//! The entry of a server in a JSON file of a client.

use serde_json::{Map, Value};

use super::{
    entry::{FoundEntry, is_rootbound},
    json_document::{self, Added, JsonStep, find},
};

/// A variable that earlier versions put into the server's environment.
const FORMER_VARIABLE: &str = "ROOTBOUND_SETUP";

/// The entry of that name.
pub(super) fn existing(text: &str, path: &[&str], name: &str) -> Result<Option<FoundEntry>, String> {
    let found = find(text, &steps(path, &[name]))?;
    Ok(found.map(|(value, _)| FoundEntry { ours: is_rootbound(&value), value }))
}

/// The names of all entries that start this program.
pub(super) fn ours(text: &str, path: &[&str]) -> Result<Vec<String>, String> {
    let mut names = json_document::keys(text, &steps(path, &[]))?;
    names.retain(|name| existing(text, path, name).is_ok_and(|found| found.is_some_and(|found| found.ours)));
    Ok(names)
}

/// Adds the entry; returns what had to be added around it.
pub(super) fn add(
    text: &str,
    path: &[&str],
    name: &str,
    entry: &Map<String, Value>,
) -> Result<(String, Added), String> {
    json_document::set(text, &steps(path, &[name]), &Value::Object(entry.clone()))
}

/// Gives an entry of ours the command and arguments of `entry`, and what else it lacks; what a person added to it or
/// changed in it stays.
pub(super) fn update(text: &str, path: &[&str], name: &str, entry: &Map<String, Value>) -> Result<String, String> {
    let variable = steps(path, &[name, "env", FORMER_VARIABLE]);
    let alone = Added { containers: 1, ..Added::default() };
    let mut text = json_document::remove(text, &variable, alone)?.unwrap_or_else(|| text.to_owned());
    for (key, value) in entry {
        let path = steps(path, &[name, key]);
        let is_start = matches!(key.as_str(), "command" | "args");
        if find(&text, &path)?.is_none_or(|(old, _)| is_start && old != *value) {
            text = json_document::set(&text, &path, value)?.0;
        }
    }
    Ok(text)
}

/// Takes the entry out, and what was added around it.
pub(super) fn remove(text: &str, path: &[&str], name: &str, added: Added) -> Result<String, String> {
    Ok(json_document::remove(text, &steps(path, &[name]), added)?.unwrap_or_else(|| text.to_owned()))
}

fn steps<'k>(path: &[&'k str], rest: &[&'k str]) -> Vec<JsonStep<'k>> {
    path.iter().chain(rest).map(|key| JsonStep::Key(key)).collect()
}
