//! The lines of the journal: one JSON object for each entry that a change touched.
//!
//! A line names the file by its root's key and a hash of the path below it, which is what it is found
//! by, and by the path as it was printed, which is what a person recognises.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use change_set::{AppendedPart, EditedPart, EntryChange, EntryState, FileState, Rights};
use confined_fs::{Revision, WorkspacePath};

use super::undo::CheckpointName;

/// The revision of each content that was purged.
pub(crate) const PURGED: Revision = Revision::from_bytes([0; 16]);

/// The kind of entry that a record is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordKind {
    /// A regular file that is written, removed or moved.
    #[default]
    File,
    /// A directory of a deleted tree.
    Directory,
    /// A link that is made, removed or moved.
    Link,
    /// A directory that was made.
    Made,
    /// Not an entry: a name of the state before this change of this process, and of all that follows. `shown` is it. The
    /// person's have the change 0.
    Checkpoint,
    /// Not an entry: the change of that number was never made.
    Void,
    /// Not an entry: the change of that number was taken back by a plain undo, or is one.
    Undone,
}

/// One line of the journal, as JSON.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalRecord {
    /// When it was written, in seconds since 1970.
    pub time: u64,
    /// Which process made the change.
    pub session: String,
    /// Which of its changes; the entries of a deleted tree share it.
    pub change: u64,
    /// The tool, or the subcommand, that made it.
    pub tool: String,
    /// The kind of the entry, or of the line.
    #[serde(default)]
    pub kind: RecordKind,
    /// The key of the root that the entry is beneath.
    pub root: String,
    /// Hash of the path below the root.
    pub path: String,
    /// The path as it was printed.
    pub shown: String,
    /// The content before; none if nothing was there.
    pub old: Option<String>,
    /// The content after; none if nothing is there.
    pub new: Option<String>,
    /// Permission bits before that give nobody more rights when the entry is made again; `None` if they are not known.
    pub mode: Option<u32>,
    /// The attributes of [`Rights`] before, as text.
    pub attributes: Option<String>,
    /// Where the bytes begin that were appended, and their revision.
    pub appended_at: Option<u64>,
    /// As `appended_at`.
    pub appended: Option<String>,
    /// What alone differs in the content after, and the bytes before and after it.
    pub edited: Option<(usize, String, usize)>,
    /// The target of a link.
    pub target: Option<String>,
    /// Where it was moved to, as printed.
    pub to: Option<String>,
    /// Whether a directory was made for another entry of the change.
    pub parent: Option<bool>,
    /// Who made it, as far as the request or the process names them.
    pub by: Option<String>,
    /// The client of that process, as it names itself.
    pub client: Option<String>,
}

impl JournalRecord {
    /// A record of a change at `path`, which must be a real one.
    pub fn new(tool: &str, path: &WorkspacePath) -> Self {
        Self {
            tool: tool.to_owned(),
            root: path.root().key().to_owned(),
            path: path_hash(path),
            shown: path.to_string(),
            ..Self::default()
        }
    }

    /// The record of the change of one entry: `None` of one that is written down otherwise, as a move tells what it moves
    /// over, too.
    pub fn of_entry(tool: &str, change: &EntryChange) -> Vec<Self> {
        let EntryChange { path, from, to, moved_from, appended, edited, is_parent, .. } = change;
        let own = Self::new(tool, moved_from.as_ref().unwrap_or(path));
        if moved_from.is_some() {
            let (kind, new) = match to {
                Some(EntryState::Directory { .. }) => (RecordKind::Directory, None),
                Some(EntryState::Link(_)) => (RecordKind::Link, None),
                Some(EntryState::File(file)) => (RecordKind::File, Some(file.revision.to_string())),
                None => (RecordKind::File, None),
            };
            // A file that is moved over has a record of its own, with nothing after it.
            let over = from.as_ref().map(|replaced| Self::new(tool, path).before(replaced));
            let moved = Self { kind, new, to: Some(path.to_string()), ..own };
            return [moved].into_iter().chain(over).collect();
        }
        let record = match (from, to) {
            (Some(from), None) => Self { parent: is_parent.then_some(true), ..own.before(from) },
            (from, Some(EntryState::File(file))) => {
                let own = from.as_ref().map_or(own.clone(), |from| own.before(from));
                let at = appended.map(|part| part.at);
                let appended = appended.map(|part| part.tail.to_string());
                let edited = edited.as_ref().map(|part| (part.head, part.middle.clone(), part.tail));
                Self { new: Some(file.revision.to_string()), appended_at: at, appended, edited, ..own }
            }
            (_, Some(EntryState::Directory { .. })) => {
                Self { kind: RecordKind::Made, parent: is_parent.then_some(true), ..own }
            }
            // The hash tells a link that was made from one that was removed: both have a target.
            (_, Some(link @ EntryState::Link(target))) => {
                Self { new: Some(Revision::of(target.as_encoded_bytes()).to_string()), ..own.before(link) }
            }
            (None, None) => return Vec::new(),
        };
        vec![record]
    }

    /// With what an entry was before it was removed or replaced.
    fn before(self, state: &EntryState) -> Self {
        match state {
            EntryState::File(FileState { revision, rights }) => {
                Self { old: Some(revision.to_string()), ..self.with_rights(rights) }
            }
            EntryState::Directory { rights } => Self { kind: RecordKind::Directory, ..self.with_rights(rights) },
            EntryState::Link(target) => {
                Self { kind: RecordKind::Link, target: target.to_str().map(str::to_owned), ..self }
            }
        }
    }

    fn with_rights(self, Rights { mode, attributes }: &Rights) -> Self {
        let attributes = attributes.as_ref().map(ToString::to_string);
        Self { mode: Some(*mode).filter(|mode| *mode != 0), attributes, ..self }
    }

    /// The rights to the entry before.
    pub fn rights(&self) -> Rights {
        let attributes = self.attributes.as_ref().and_then(|text| text.parse().ok()).map(Arc::new);
        // No set-user-ID bit comes from a file that others may write.
        Rights { mode: self.mode.unwrap_or(0) & 0o11_777, attributes }
    }

    /// The bytes that were appended, if that is the whole change.
    pub fn appended_part(&self) -> Option<AppendedPart> {
        Some(AppendedPart { at: self.appended_at?, tail: self.appended.as_deref()?.parse().ok()? })
    }

    /// What alone differs in the content after, where that is known.
    pub fn edited_part(&self) -> Option<EditedPart> {
        let (head, middle, tail) = self.edited.clone()?;
        Some(EditedPart { head, tail, middle })
    }

    /// Who made it, in the words of a sentence.
    pub fn maker(&self) -> String {
        let session = self.session.get(..8).unwrap_or(&self.session);
        self.by.as_ref().map_or_else(|| format!("session {session}"), |by| format!("{by} in session {session}"))
    }

    /// Whether it is about the file at the real path `path`.
    pub fn is_of(&self, path: &WorkspacePath) -> bool {
        self.root == path.root().key() && self.path == path_hash(path)
    }

    /// Whether it is about an entry, so a part of a change.
    pub fn is_of_entry(&self) -> bool {
        !matches!(self.kind, RecordKind::Checkpoint | RecordKind::Void | RecordKind::Undone)
    }

    /// Identifies the change that a line belongs to: its session and its number there.
    pub fn key(&self) -> (&str, u64) {
        (&self.session, self.change)
    }

    /// The content before, as a revision.
    pub fn old_revision(&self) -> Option<Revision> {
        self.old.as_deref()?.parse().ok()
    }

    /// The content after, as a revision.
    pub fn new_revision(&self) -> Option<Revision> {
        self.new.as_deref()?.parse().ok()
    }

    /// The revisions that it has of contents that may be kept, but for the empty one.
    pub(crate) fn revisions(&self) -> impl Iterator<Item = Revision> {
        let all = [&self.old, &self.new, &self.appended].into_iter().flatten().filter_map(|text| text.parse().ok());
        all.filter(|revision| *revision != PURGED && *revision != Revision::of(b""))
    }

    /// It without what it tells of contents. `None` in the place of a revision would mean that nothing was there.
    pub(crate) fn purged(&self) -> Self {
        let zeros = |text: &Option<String>| text.as_ref().map(|_| PURGED.to_string());
        let [old, new, appended] = [&self.old, &self.new, &self.appended].map(zeros);
        match self.kind {
            RecordKind::File | RecordKind::Link => {
                Self { old, new, appended, edited: None, target: None, attributes: None, ..self.clone() }
            }
            _ => self.clone(),
        }
    }

    /// Whether its contents were purged: of a link, its target.
    pub fn is_purged(&self) -> bool {
        let mut all = [&self.old, &self.new, &self.appended].into_iter().flatten();
        all.any(|text| text.parse() == Ok(PURGED))
            || (self.kind == RecordKind::Link && self.to.is_none() && self.target.is_none())
    }

    /// The state of the root with this key has this name.
    pub(super) fn checkpoint(root: &str, name: &CheckpointName) -> Self {
        Self {
            kind: RecordKind::Checkpoint,
            root: root.to_owned(),
            shown: name.to_string(),
            tool: "checkpoint".to_owned(),
            ..Self::default()
        }
    }

    /// Whether something that was there is replaced or removed.
    pub(super) fn is_of_loss(&self) -> bool {
        self.old.is_some() || (self.target.is_some() && self.new.is_none()) || self.kind == RecordKind::Directory
    }

    /// A line that says of a change that it was never made, or does not count any more.
    pub(super) fn gone(kind: RecordKind, session: &str, change: u64) -> Self {
        Self { kind, ..Self::default() }.of(session, change)
    }

    pub(super) fn of(mut self, session: &str, change: u64) -> Self {
        self.time = now();
        session.clone_into(&mut self.session);
        self.change = change;
        self
    }

    /// The line, with its line break.
    pub(super) fn line(&self) -> String {
        // Strings and numbers alone: this cannot fail.
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }

    /// Reads a line; what is torn or of another version is left out.
    pub(super) fn read(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }
}

/// The time in seconds since 1970; 0 for a clock before that.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn path_hash(path: &WorkspacePath) -> String {
    // Of the bytes, as a name need not be UTF-8.
    Revision::of(path.relative().as_os_str().as_encoded_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journal_record_survives_a_round_trip() {
        let record = JournalRecord {
            tool: "edit".into(),
            shown: "a\"b/ä".into(),
            old: Some("0".repeat(32)),
            mode: Some(0o644),
            ..JournalRecord::default()
        }
        .of("5e55", 7);
        let line = record.line();
        assert!(line.ends_with('\n') && line.trim_end().lines().count() == 1);
        assert_eq!(JournalRecord::read(&line), Some(record));
        assert_eq!(JournalRecord::read(&line[..line.len() / 2]), None);
        // As the former program wrote it of a file with masked values.
        let former = line.replacen('{', "{\"state\":\"1f\",", 1);
        assert_eq!(JournalRecord::read(&former), JournalRecord::read(&line));
    }
}
