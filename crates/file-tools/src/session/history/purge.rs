//! Contents that are taken out of the history for good.
//!
//! The line of a purged content stays, at its length: its revisions are zeros (`PURGED`), and spaces follow it. So it is
//! overwritten where it is, while other processes append, those of a former version as well. To these a purged content is
//! one that is not kept: `None` in its place would mean that nothing was there.

use std::{collections::HashMap, ffi::OsStr, io, time::Duration};

use change_set::StateDir;
use confined_fs::Revision;

use super::disk_store::{FOLDER, days, file_of_day};
use super::journal::JournalRecord;

/// Everything that the history holds, of all roots and sessions.
pub(crate) struct KeptContents {
    folder: StateDir,
    pub(crate) lines: Vec<JournalLine>,
    /// How long ago each was kept.
    pub(crate) objects: HashMap<Revision, Duration>,
}

pub(crate) struct JournalLine {
    file: String,
    at: u64,
    pub(crate) text: Vec<u8>,
    /// `None` of a line that is torn, or of another version.
    pub(crate) record: Option<JournalRecord>,
}

impl JournalLine {
    /// The line without contents, as long as before; `None` where it has none.
    pub(crate) fn purged(&self) -> Option<String> {
        let purged = self.record.as_ref().map(JournalRecord::purged);
        let is_new = purged.is_none() || purged != self.record;
        let text = purged.map(|record| record.line().trim_end().to_owned());
        let text = text.filter(|text| text.len() <= self.text.len()).unwrap_or_default();
        is_new.then(|| " ".repeat(self.text.len() - text.len())).map(|spaces| text + &spaces)
    }
}

impl KeptContents {
    pub(crate) fn of(state: &StateDir) -> io::Result<Self> {
        let folder = state.folder(FOLDER)?;
        let mut lines = Vec::new();
        for file in days(&folder)?.into_iter().map(file_of_day) {
            let mut at = 0;
            for line in folder.read(&file, u64::MAX)?.split_inclusive(|byte| *byte == b'\n') {
                let text = line.trim_ascii_end().to_vec();
                let record = str::from_utf8(&text).ok().and_then(JournalRecord::read);
                lines.push(JournalLine { file: file.clone(), at, text, record });
                at += line.len() as u64;
            }
        }
        let files = folder.files()?.into_iter();
        let objects =
            files.filter_map(|file| Some((file.name.parse().ok()?, file.modified.elapsed().unwrap_or_default())));
        Ok(Self { objects: objects.collect(), folder, lines })
    }

    /// Removes these contents, then what the lines hold, so that after a kill the same lines name what is left.
    pub(crate) fn purge<'l>(
        &self,
        contents: impl Iterator<Item = &'l Revision>,
        lines: impl Iterator<Item = &'l JournalLine>,
    ) -> io::Result<()> {
        for revision in contents {
            match self.folder.remove_any(OsStr::new(&revision.to_string())) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        // Also those of a process that is writing one: it keeps the content in memory then.
        self.folder.sweep_locked(&self.folder.lock())?;
        for (line, purged) in lines.filter_map(|line| Some((line, line.purged()?))) {
            self.folder.overwrite(&line.file, line.at, purged.as_bytes())?;
        }
        self.folder.sync()
    }
}

#[cfg(test)]
mod tests {
    use super::super::journal::{PURGED, RecordKind};
    use super::*;

    fn line(text: &str) -> JournalLine {
        JournalLine { file: String::new(), at: 0, text: text.into(), record: JournalRecord::read(text) }
    }

    #[test]
    fn purged_line_keeps_its_length_and_is_read_without_contents() {
        let (old, new) = (Revision::of(b"old"), Revision::of(b"new"));
        let record = JournalRecord {
            session: "5e55".into(),
            change: 7,
            tool: "edit".into(),
            shown: "a,\"edited\":\"ä\"".into(),
            old: Some(old.to_string()),
            new: Some(new.to_string()),
            mode: Some(0o644),
            attributes: Some("user.key=hunter2".into()),
            appended_at: Some(3),
            appended: Some(old.to_string()),
            edited: Some((3, "hunter2 \"]\nä".into(), 4)),
            by: Some("thread a1".into()),
            ..JournalRecord::default()
        };
        let before = line(record.line().trim_end());
        let text = before.purged().unwrap();
        assert_eq!(text.len(), before.text.len());
        let zeros = Some(PURGED.to_string());
        let purged = JournalRecord {
            old: zeros.clone(),
            new: zeros.clone(),
            appended: zeros,
            edited: None,
            attributes: None,
            ..record.clone()
        };
        assert_eq!(JournalRecord::read(&text), Some(purged));
        let after = line(text.trim_end());
        assert!(after.purged().is_none() && after.record.unwrap().is_purged() && !record.is_purged());
        assert!(!text.contains("hunter2") && !text.contains(&old.to_string()));
    }

    #[test]
    fn target_of_a_link_goes_and_a_directory_has_no_content() {
        let link = JournalRecord { kind: RecordKind::Link, target: Some("hunter2".into()), ..JournalRecord::default() };
        let text = line(link.line().trim_end()).purged().unwrap();
        assert!(!text.contains("hunter2") && JournalRecord::read(&text).unwrap().is_purged());
        let directory = JournalRecord { kind: RecordKind::Directory, mode: Some(0o700), ..JournalRecord::default() };
        assert!(line(directory.line().trim_end()).purged().is_none());
        // A line that this version would write longer, and a torn one.
        for text in [
            "{\"time\":1,\"session\":\"s\",\"change\":1,\"tool\":\"t\",\"root\":\"\",\"path\":\"\",\"shown\":\"\",\"old\":\"a\"}",
            "{\"ti",
        ] {
            assert_eq!(line(text).purged(), Some(" ".repeat(text.len())));
        }
    }
}
