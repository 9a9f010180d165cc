//! The text of a client's file, which is outside of any root, and a change of it: shown as a diff, and made if the file is
//! still as it was read.

use std::path::{Path, PathBuf};

use change_set::HostFile;
use confined_fs::escape::escape_controls;
use text_edit::{DiffExtent, unified_diff};

use super::error::{Result, refused};

#[derive(Clone, Debug)]
pub(super) struct ClientFile {
    pub(super) path: PathBuf,
    pub(super) file: HostFile,
    /// Its bytes; `None` where there is no file.
    pub(super) before: Option<Vec<u8>>,
    has_bom: bool,
    pub(super) text: String,
}

impl ClientFile {
    /// Reads the file; one that does not exist has no text.
    ///
    /// # Errors
    /// If it cannot be read, or is not UTF-8.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let failed = |error| format!("{shown} cannot be used: {error}; name another file with --file");
        let file = HostFile::find(path).map_err(failed)?;
        let before = file.read().map_err(failed)?;
        let text = String::from_utf8(before.clone().unwrap_or_default()).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = valid.split(|byte| *byte == b'\n').count();
            format!("{shown} is not UTF-8 in line {line}: repair it")
        })?;
        let without_bom = text.strip_prefix('\u{feff}').map(str::to_owned);
        let (has_bom, text) = (without_bom.is_some(), without_bom.unwrap_or(text));
        Ok(Self { path: path.to_owned(), file, before, has_bom, text })
    }

    /// The change that leaves `text`; with `folders`, a file without any text goes, and `folders` empty folders above it.
    pub(super) fn change(self, text: &str, remove_empty: Option<usize>) -> FileChange {
        let gone = remove_empty.filter(|_| text.trim().is_empty());
        let after = match gone {
            Some(_) => None,
            None if self.before.is_none() && text.is_empty() => None,
            None => Some([if self.has_bom { "\u{feff}" } else { "" }, text].concat().into_bytes()),
        };
        FileChange { client: self, after, folders: gone.unwrap_or(0) }
    }
}

#[derive(Clone, Debug)]
pub(super) struct FileChange {
    client: ClientFile,
    /// `None` removes the file.
    after: Option<Vec<u8>>,
    /// How many empty folders above the file are removed with it, at most.
    folders: usize,
}

impl FileChange {
    pub(super) fn is_needed(&self) -> bool {
        self.client.before != self.after
    }

    pub(super) fn diff(&self) -> String {
        let text = |bytes: &Option<Vec<u8>>| String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
        // Line ends are no part of the change; they stay as the file has them.
        let shown = |bytes| text(bytes).replace("\r\n", "\n");
        let path = self.client.path.display().to_string();
        let name = escape_controls(&path);
        let diff = unified_diff("", &shown(&self.client.before), &shown(&self.after), DiffExtent::Full).text;
        // Escaped below, as the file may be somebody else's and a terminal obeys what is in it.
        let hunks = diff.find("@@").map_or("", |at| &diff[at..]);
        let (old, new) = match (&self.client.before, &self.after) {
            (None, _) => ("(no file)", &*name),
            (_, None) => (&*name, "(no file)"),
            _ => (&*name, &*name),
        };
        format!("--- {old}\n+++ {new}\n{}", escape_controls(hunks))
    }

    /// Whether the file that is there may be replaced by another one of its name.
    ///
    /// # Errors
    /// Why not, and what to do.
    pub(super) fn check(&self) -> Result<()> {
        let Some(flaw) = self.client.file.kept_as_it_is().filter(|_| self.client.before.is_some()) else {
            return Ok(());
        };
        let path = self.client.path.display();
        refused(format!("{path} {flaw}, and nothing was changed; or name another file with --file"))
    }

    /// Makes the change; false if another program has changed the file since it was read.
    pub(super) fn apply(&self) -> Result<bool> {
        let done = match (&self.client.before, &self.after) {
            (before, Some(after)) => self.client.file.replace(before.as_deref(), after),
            (Some(before), None) => self.client.file.remove(before, self.folders),
            (None, None) => Ok(true),
        };
        done.map_err(|error| {
            let path = self.client.path.display();
            format!("{path} cannot be written: {error}; check its rights, or name another file with --file").into()
        })
    }
}
