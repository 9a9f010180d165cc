//! The entry of a server in a JSON file of a client.

use serde_json::{Map, Value};

use super::{
    entry::is_rootbound,
    json_document::{self, Added, JsonStep, find},
    marker::{Marker, VARIABLE},
};

/// An entry that is in the file.
#[derive(Clone, Debug)]
pub(super) struct FoundEntry {
    /// Whether it starts this program.
    pub(super) ours: bool,
    pub(super) marker: Marker,
    /// Its text, as it is.
    pub(super) text: String,
}

/// The entry of that name.
pub(super) fn existing(text: &str, path: &[&str], name: &str) -> Result<Option<FoundEntry>, String> {
    let found = find(text, &steps(path, &[name]))?;
    Ok(found.map(|(value, text)| FoundEntry {
        ours: is_rootbound(&value),
        marker: value["env"][VARIABLE].as_str().map(Marker::of).unwrap_or_default(),
        text: text.to_owned(),
    }))
}

/// The names of all entries that start this program.
pub(super) fn ours(text: &str, path: &[&str]) -> Result<Vec<String>, String> {
    let mut names = json_document::keys(text, &steps(path, &[]))?;
    names.retain(|name| existing(text, path, name).is_ok_and(|found| found.is_some_and(|found| found.ours)));
    Ok(names)
}

/// Adds the entry, with what `marker` says; returns what had to be added around it.
pub(super) fn add(
    text: &str,
    path: &[&str],
    name: &str,
    entry: &Map<String, Value>,
    marker: &Marker,
) -> Result<(String, Added), String> {
    json_document::set(text, &steps(path, &[name]), &Value::Object(marked(entry, marker)))
}

/// Changes what differs from `entry` in an entry of ours; what a person added to it stays.
pub(super) fn update(
    text: &str,
    path: &[&str],
    name: &str,
    entry: &Map<String, Value>,
    marker: &Marker,
) -> Result<String, String> {
    let mut text = text.to_owned();
    let mut set = |keys: &[&str], value: &Value| -> Result<(), String> {
        let path = steps(path, &[&[name], keys].concat());
        if find(&text, &path)?.is_none_or(|(old, _)| old != *value) {
            text = json_document::set(&text, &path, value)?.0;
        }
        Ok(())
    };
    for (key, value) in entry {
        set(&[key], value)?;
    }
    if !marker.is_empty() {
        set(&["env", VARIABLE], &Value::from(marker.text()))?;
    }
    Ok(text)
}

/// Takes the entry out, or puts back what it replaced.
pub(super) fn remove(text: &str, path: &[&str], name: &str, marker: &Marker) -> Result<String, String> {
    let path = steps(path, &[name]);
    if let Some(was) = &marker.was {
        let text = json_document::replace_text(text, &path, was)?;
        // A person may have changed it.
        return match (find(was, &[]), find(&text, &path)) {
            (Ok(Some((was, _))), Ok(Some((now, _)))) if was == now => Ok(text),
            _ => {
                Err(format!("{VARIABLE} of {name} does not hold the entry that was there before: take was= out of it"))
            }
        };
    }
    Ok(json_document::remove(text, &path, marker.made.added)?.unwrap_or_else(|| text.to_owned()))
}

/// Puts the entry in the place of somebody else's.
pub(super) fn replace(
    text: &str,
    path: &[&str],
    name: &str,
    entry: &Map<String, Value>,
    marker: &Marker,
) -> Result<String, String> {
    Ok(add(text, path, name, entry, marker)?.0)
}

fn marked(entry: &Map<String, Value>, marker: &Marker) -> Map<String, Value> {
    let mut entry = entry.clone();
    if !marker.is_empty() {
        let variables = entry.entry("env").or_insert_with(|| Value::Object(Map::new()));
        variables[VARIABLE] = Value::from(marker.text());
    }
    entry
}

fn steps<'k>(path: &[&'k str], rest: &[&'k str]) -> Vec<JsonStep<'k>> {
    path.iter().chain(rest).map(|key| JsonStep::Key(key)).collect()
}
