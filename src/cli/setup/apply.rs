//! Changes of files outside of any root: shown as a diff, approved on the terminal, and made.

use std::{
    io::{self, IsTerminal as _, Write as _},
    path::PathBuf,
};

use text_edit::{DiffExtent, unified_diff};

use confined_fs::{HostFile, escape_controls};

/// One change of a file.
#[derive(Clone, Debug)]
pub(super) struct FileChange {
    /// As the person knows it.
    pub(super) path: PathBuf,
    pub(super) file: HostFile,
    pub(super) before: Option<Vec<u8>>,
    /// `None` removes the file.
    pub(super) after: Option<Vec<u8>>,
    /// With the file, up to so many empty folders above it are removed.
    pub(super) folders: usize,
}

/// How a change ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Applied {
    Done,
    /// Another program has changed the file since it was read.
    Changed,
}

impl FileChange {
    pub(super) fn is_needed(&self) -> bool {
        self.before != self.after
    }

    /// The change as a diff.
    pub(super) fn diff(&self) -> String {
        let text = |bytes: &Option<Vec<u8>>| String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
        // Line ends are no part of the change; they stay as the file has them.
        let shown = |bytes| text(bytes).replace("\r\n", "\n");
        let name = escape_controls(&self.path.display().to_string()).into_owned();
        let diff = unified_diff("", &shown(&self.before), &shown(&self.after), DiffExtent::Full).text;
        let hunks = diff.find("@@").map_or("", |at| &diff[at..]);
        let (old, new) = match (&self.before, &self.after) {
            (None, _) => ("(no file)", name.as_str()),
            (_, None) => (name.as_str(), "(no file)"),
            _ => (name.as_str(), name.as_str()),
        };
        format!("--- {old}\n+++ {new}\n{}", escape_controls(hunks))
    }

    /// Whether the file that is there may be replaced by another one of its name.
    ///
    /// # Errors
    /// Why not, and what to do.
    pub(super) fn check(&self) -> Result<(), String> {
        let path = self.path.display();
        let flaw = if self.before.is_some() { self.file.kept_as_it_is() } else { None };
        flaw.map_or(Ok(()), |flaw| {
            Err(format!("{path} {flaw}, and nothing was changed; or name another file with --file"))
        })
    }

    /// Makes the change if the file is still as it was.
    pub(super) fn apply(&self) -> Result<Applied, String> {
        let done = match (&self.before, &self.after) {
            (before, Some(after)) => self.file.replace(before.as_deref(), after),
            (Some(before), None) => self.file.remove(before, self.folders),
            (None, None) => Ok(true),
        };
        match done {
            Ok(true) => Ok(Applied::Done),
            Ok(false) => Ok(Applied::Changed),
            Err(error) => {
                let path = self.path.display();
                Err(format!("{path} cannot be written: {error}; check its rights, or name another file with --file"))
            }
        }
    }
}

/// Asks a person on the terminal. `None` if there is no terminal.
pub(super) fn asked(question: &str) -> Option<bool> {
    if !io::stdin().is_terminal() {
        return None;
    }
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush());
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer).is_ok();
    Some(read && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
