//! The list of servers in a client's file, in JSON or TOML.

use super::{
    client::Format,
    entry::{FoundEntry, ServerEntry},
    json_document::{self, Added},
    json_entry, toml_entry,
};

/// Where the list is: the format with the names above the entries.
#[derive(Clone, Debug)]
pub(super) enum ServerList {
    Json(Vec<String>),
    Toml(&'static str),
}

impl ServerList {
    /// The list of a client; `above` is what a JSON list is nested in.
    pub(super) fn of(format: Format, above: &[String]) -> Self {
        match format {
            Format::Json(path) => Self::Json(above.iter().cloned().chain(path.iter().map(|&key| key.into())).collect()),
            Format::Toml(table) => Self::Toml(table),
        }
    }

    /// Where it is in its file, in words that no other list of the file has.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Json(path) => path.join(" "),
            Self::Toml(above) => (*above).to_owned(),
        }
    }

    pub(super) fn existing(&self, text: &str, name: &str) -> Result<Option<FoundEntry>, String> {
        match self {
            Self::Json(path) => json_entry::existing(text, &words(path), name),
            Self::Toml(above) => toml_entry::existing(text, above, name),
        }
    }

    /// The names of the entries that start this program.
    pub(super) fn ours(&self, text: &str) -> Result<Vec<String>, String> {
        match self {
            Self::Json(path) => json_entry::ours(text, &words(path)),
            Self::Toml(above) => toml_entry::ours(text, above),
        }
    }

    /// Adds an entry; returns what was added around it.
    pub(super) fn add(&self, text: &str, entry: &ServerEntry) -> Result<(String, Added), String> {
        match self {
            Self::Json(path) => json_entry::add(text, &words(path), &entry.name, &entry.value),
            Self::Toml(above) => toml_entry::add(text, above, &entry.name, &entry.value),
        }
    }

    /// Adds an entry to a text that has nothing but such entries.
    pub(super) fn add_plain(&self, text: &str, entry: &ServerEntry) -> Result<String, String> {
        match self {
            Self::Json(path) => json_entry::add(text, &words(path), &entry.name, &entry.value).map(|(text, _)| text),
            Self::Toml(above) => Ok(format!("{text}{}", toml_entry::plain(above, &entry.name, &entry.value))),
        }
    }

    /// Brings an entry of ours up to date.
    pub(super) fn update(&self, text: &str, entry: &ServerEntry) -> Result<String, String> {
        match self {
            Self::Json(path) => json_entry::update(text, &words(path), &entry.name, &entry.value),
            Self::Toml(above) => toml_entry::update(text, above, &entry.name, &entry.value),
        }
    }

    /// Takes an entry out with what was added around it.
    pub(super) fn remove(&self, text: &str, name: &str, added: Added) -> Result<String, String> {
        match self {
            Self::Json(path) => json_entry::remove(text, &words(path), name, added),
            Self::Toml(above) => toml_entry::remove(text, above, name, added),
        }
    }

    /// The document without the braces that were made for an entry, if nothing is between them.
    pub(super) fn without_empty_document(&self, text: String, before: Option<usize>) -> Result<String, String> {
        match (self, before) {
            (Self::Json(_), Some(before)) => json_document::without_empty_document(text, before),
            _ => Ok(text),
        }
    }
}

fn words(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}
