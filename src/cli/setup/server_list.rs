//! The list of servers in a client's file, in JSON or TOML.

use serde_json::Value;

use super::{
    clients::Format,
    entry::{ServerEntry, is_ours},
    json_document::{self, at},
    toml_document,
};

/// A variable that earlier versions put into the server's environment.
const FORMER_VARIABLE: &str = "ROOTBOUND_SETUP";

/// Where the list is: the names above the entries, and the format.
#[derive(Clone, Debug)]
pub(super) struct ServerList {
    pub(super) is_toml: bool,
    path: Vec<String>,
}

impl ServerList {
    /// The list of a client; `above` is what a JSON list is nested in.
    pub(super) fn of(format: Format, above: Vec<String>) -> Self {
        let (is_toml, own) = match &format {
            Format::Json(path) => (false, *path),
            // That in YAML is only printed.
            Format::Toml(table) | Format::Yaml(table) => (true, std::slice::from_ref(table)),
        };
        Self { is_toml, path: above.into_iter().chain(own.iter().map(|&key| key.to_owned())).collect() }
    }

    /// Where it is in its file, as a text that no other list of the file has.
    pub(super) fn name(&self) -> String {
        self.path.join(" ")
    }

    /// The entry of that name, whoever put it there.
    pub(super) fn existing(&self, text: &str, name: &str) -> Result<Option<Value>, String> {
        Ok(at(&self.value(text)?, &self.path(&[name])).cloned())
    }

    /// The names of the entries that start this program.
    pub(super) fn ours(&self, text: &str) -> Result<Vec<String>, String> {
        let document = self.value(text)?;
        let servers = at(&document, &self.path(&[])).and_then(Value::as_object).into_iter().flatten();
        Ok(servers.filter(|(_, entry)| is_ours(entry)).map(|(name, _)| name.clone()).collect())
    }

    /// Adds an entry; returns how many containers were made for it.
    pub(super) fn add(&self, text: &str, entry: &ServerEntry) -> Result<(String, usize), String> {
        self.set(text, &[&entry.name], &Value::Object(entry.value.clone()))
    }

    /// Gives an entry of ours the command and arguments of `entry`, and what else it lacks; what a person added to it or
    /// changed in it stays.
    pub(super) fn update(&self, text: &str, entry: &ServerEntry) -> Result<String, String> {
        let mut text = text.to_owned();
        if !self.is_toml {
            text = json_document::remove(&text, &self.path(&[&entry.name, "env", FORMER_VARIABLE]), None, 1)?;
        }
        let found = self.existing(&text, &entry.name)?.unwrap_or_default();
        for (key, value) in &entry.value {
            let is_start = matches!(key.as_str(), "command" | "args");
            if found.get(key).is_none_or(|old| is_start && old != value) {
                text = self.set(&text, &[&entry.name, key], value)?.0;
            }
        }
        Ok(text)
    }

    /// Takes the entries of ours of one name out, and up to `made` containers above that hold nothing else.
    pub(super) fn remove(&self, text: &str, name: &str, made: usize) -> Result<String, String> {
        let mut text = text.to_owned();
        // A JSON file may have one name several times.
        while self.existing(&text, name)?.is_some_and(|found| is_ours(&found)) {
            text = if self.is_toml {
                toml_document::remove(&text, &self.path(&[name]))?
            } else {
                json_document::remove(&text, &self.path(&[name]), None, made)?
            };
        }
        Ok(text)
    }

    fn value(&self, text: &str) -> Result<Value, String> {
        if self.is_toml { toml_document::value(text) } else { json_document::value(text) }
    }

    fn set(&self, text: &str, rest: &[&str], value: &Value) -> Result<(String, usize), String> {
        let path = self.path(rest);
        if self.is_toml { toml_document::set(text, &path, value) } else { json_document::set(text, &path, value) }
    }

    fn path<'p>(&'p self, rest: &[&'p str]) -> Vec<&'p str> {
        self.path.iter().map(String::as_str).chain(rest.iter().copied()).collect()
    }
}
