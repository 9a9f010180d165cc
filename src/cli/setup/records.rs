//! The record of what `rootbound setup` did: `setup.jsonl` in the state folder, one line for each entry.
//!
//! Nothing that a client's file held is in it, so no value of an `env` either; and `--remove` takes no path from it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use change_set::StateDir;

use super::{
    client_file::ClientFile,
    error::{Result, refused},
};

/// How often another run of the same command may be faster.
const MAX_ATTEMPTS: usize = 200;

#[derive(Debug)]
pub(super) struct Records {
    pub(super) folder: Option<PathBuf>,
    pub(super) place: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Marker {
    pub(super) made: Created,
    pub(super) tools: ToolsOff,
    /// The command of its hook; empty without one.
    pub(super) hook: String,
    pub(super) hooks: Created,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Created {
    pub(super) file: bool,
    pub(super) folders: usize,
    pub(super) containers: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ToolsOff {
    pub(super) names: Vec<String>,
    pub(super) made: Created,
}

/// The new record of an entry; `None` forgets it.
pub(super) type RecordEdit = (String, Option<Marker>);

impl Records {
    pub(super) fn of(&self, name: &str) -> Option<Marker> {
        self.all().into_iter().find(|(own, _)| own == name).map(|(_, marker)| marker)
    }

    pub(super) fn all(&self) -> Vec<(String, Marker)> {
        // Without a record there is only the entry to take out.
        let text = self.file().and_then(|file| ClientFile::read(&file).ok()).map(|file| file.text).unwrap_or_default();
        let entry = |line: &str| {
            let mut line: Value =
                serde_json::from_str(line).ok().filter(|line: &Value| line["place"] == *self.place)?;
            let marker = serde_json::from_value(line["made"].take()).unwrap_or_default();
            Some((line["name"].as_str()?.to_owned(), marker))
        };
        text.lines().filter_map(entry).collect()
    }

    /// Records or forgets. The last record takes its file with it, and the folders that were made for that.
    ///
    /// # Errors
    /// Why it cannot be written.
    pub(super) fn save(&self, edits: &[RecordEdit]) -> Result<()> {
        let file = self.file().ok_or("there is no state folder")?;
        for _ in 0..MAX_ATTEMPTS {
            let read = ClientFile::read(&file)?;
            let folders = |line: &Value| line["folders"].as_u64();
            let values = || read.text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let made = values().find_map(|line| folders(&line)).unwrap_or(read.file.missing_folders() as u64);
            let is_edited = |line: &Value| {
                line["place"] == *self.place && edits.iter().any(|(name, _)| line["name"] == name.as_str())
            };
            let mut lines: Vec<Value> = values().filter(|line| folders(line).is_none() && !is_edited(line)).collect();
            lines.extend(edits.iter().filter_map(|(name, marker)| {
                Some(json!({"place": self.place, "name": name, "made": marker.as_ref()?}))
            }));
            let head = (!lines.is_empty()).then(|| json!({"folders": made}));
            let text = head.iter().chain(&lines).fold(String::new(), |text, line| text + &line.to_string() + "\n");
            if !text.is_empty() {
                // For its owner only, as the server makes it.
                self.folder.as_deref().map(StateDir::open).transpose().map_err(|error| error.to_string())?;
            }
            // A bound for what a damaged record says.
            let change = read.change(&text, Some(usize::try_from(made.min(16)).unwrap_or(0)));
            if !change.is_needed() || change.apply()? {
                return Ok(());
            }
        }
        refused(format!("another program changed {} {MAX_ATTEMPTS} times", file.display()))
    }

    fn file(&self) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join("setup.jsonl"))
    }
}
