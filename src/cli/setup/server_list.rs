//! The list of servers in a client's file, in JSON or TOML.

use super::{
    client::Format,
    entry::ServerEntry,
    json_document::{self, Added},
    json_entry::{self, FoundEntry},
    marker::{Made, Marker},
    toml_entry,
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

    /// Adds an entry, which keeps in itself what was made for it: the file, `made`, and what is around it.
    pub(super) fn add(
        &self,
        text: &str,
        entry: &ServerEntry,
        mut marker: Marker,
        file: Made,
    ) -> Result<String, String> {
        let inherited = self.inherited(text)?;
        match self {
            Self::Json(path) => {
                let path = words(path);
                marker.made = if let Some(made) = inherited {
                    made
                } else {
                    let (_, added) = json_entry::add(text, &path, &entry.name, &entry.value, &marker)?;
                    Made { added, ..file }
                };
                json_entry::add(text, &path, &entry.name, &entry.value, &marker).map(|(text, _)| text)
            }
            Self::Toml(above) => {
                marker.made = Made { added: Added::default(), ..inherited.unwrap_or(file) };
                toml_entry::add(text, above, &entry.name, &entry.value, &marker)
            }
        }
    }

    /// Adds an entry without anything for `--remove`, as a person would write it.
    pub(super) fn add_plain(&self, text: &str, entry: &ServerEntry) -> Result<String, String> {
        match self {
            Self::Json(path) => {
                json_entry::add(text, &words(path), &entry.name, &entry.value, &Marker::default()).map(|(text, _)| text)
            }
            Self::Toml(above) => Ok(format!("{text}{}", toml_entry::plain(above, &entry.name, &entry.value))),
        }
    }

    /// Brings an entry of ours up to date.
    pub(super) fn update(&self, text: &str, entry: &ServerEntry, marker: &Marker) -> Result<String, String> {
        match self {
            Self::Json(path) => json_entry::update(text, &words(path), &entry.name, &entry.value, marker),
            Self::Toml(above) => toml_entry::update(text, above, &entry.name, &entry.value, marker),
        }
    }

    /// Puts an entry in the place of somebody else's.
    pub(super) fn replace(&self, text: &str, entry: &ServerEntry, marker: &Marker) -> Result<String, String> {
        match self {
            Self::Json(path) => json_entry::replace(text, &words(path), &entry.name, &entry.value, marker),
            Self::Toml(above) => toml_entry::replace(text, above, &entry.name, &entry.value, marker),
        }
    }

    /// Takes an entry out with what was made for it.
    pub(super) fn remove(&self, text: &str, name: &str, marker: &Marker) -> Result<String, String> {
        match self {
            Self::Json(path) => json_entry::remove(text, &words(path), name, marker),
            Self::Toml(above) => toml_entry::remove(text, above, name, marker),
        }
    }

    /// The document without the braces that were made for an entry, if nothing is between them.
    pub(super) fn without_empty_document(&self, text: String, before: Option<usize>) -> Result<String, String> {
        match (self, before) {
            (Self::Json(_), Some(before)) => json_document::without_empty_document(text, before),
            _ => Ok(text),
        }
    }

    /// What was made for another entry of ours. Whichever of them is removed last undoes it.
    fn inherited(&self, text: &str) -> Result<Option<Made>, String> {
        for name in self.ours(text)? {
            let made = self.existing(text, &name)?.map(|found| found.marker.made).unwrap_or_default();
            if made != Made::default() {
                return Ok(Some(made));
            }
        }
        Ok(None)
    }
}

fn words(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}
