//! The text of a client's file, whose bytes are kept.

use std::path::{Path, PathBuf};

use confined_fs::HostFile;

use super::apply::FileChange;

/// The file and its text.
#[derive(Clone, Debug)]
pub(super) struct ClientFile {
    /// As the person knows it.
    path: PathBuf,
    file: HostFile,
    before: Option<Vec<u8>>,
    bom: &'static str,
    pub(super) text: String,
}

impl ClientFile {
    /// Reads the file; one that does not exist has no text.
    ///
    /// # Errors
    /// If it cannot be read, or is not UTF-8.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let failed = |error| format!("{shown} cannot be used: {error}; name another file with --file");
        let file = HostFile::find(path).map_err(failed)?;
        let before = file.read().map_err(failed)?;
        let text = String::from_utf8(before.clone().unwrap_or_default()).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = valid.split(|byte| *byte == b'\n').count();
            format!("{shown} is not UTF-8 in line {line}: repair it")
        })?;
        let (bom, text) = match text.strip_prefix('\u{feff}') {
            Some(rest) => ("\u{feff}", rest.to_owned()),
            None => ("", text),
        };
        Ok(Self { path: path.to_owned(), file, before, bom, text })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn exists(&self) -> bool {
        self.before.is_some()
    }

    pub(super) fn missing_folders(&self) -> usize {
        self.file.missing_folders()
    }

    /// Whether the file, through its links, is below `folder`.
    pub(super) fn is_below(&self, folder: &Path) -> bool {
        self.file.is_below(folder)
    }

    /// The change that leaves `text`; with `folders`, a file without any text goes, and so many empty folders above it.
    pub(super) fn change(self, text: &str, remove_empty: Option<usize>) -> FileChange {
        let gone = remove_empty.filter(|_| text.trim().is_empty());
        let after = match gone {
            Some(_) => None,
            None if self.before.is_none() && text.is_empty() => None,
            None => Some(format!("{}{text}", self.bom).into_bytes()),
        };
        FileChange { path: self.path, file: self.file, before: self.before, after, folders: gone.unwrap_or(0) }
    }
}
