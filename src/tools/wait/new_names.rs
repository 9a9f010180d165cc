//! What appeared in a directory, changed there or is gone, by the names in it.
//!
//! Limits: looks at the entries of the directory alone, not below them, and at the first 10,000 names.

use std::{collections::BTreeMap, ops::ControlFlow};

use text_file::file_size;

use confined_fs::{AccessError, FileKind, Ignored, WalkOptions, WorkspacePath};
use tree_search::Pattern;

use super::super::CallContext;

/// Names that are compared.
const MAX_NAMES: usize = 10_000;

/// The entries of a directory at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct DirectoryNames {
    entries: BTreeMap<WorkspacePath, NamedEntry>,
    /// Whether there are more than are compared.
    pub(super) more: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NamedEntry {
    is_directory: bool,
    size: u64,
    state: u64,
}

impl DirectoryNames {
    /// The entries of the directory at `path` that policy shows.
    pub(super) fn of(cx: &CallContext, path: &WorkspacePath) -> Result<Self, AccessError> {
        let options = WalkOptions { ignored: Ignored::Include, max_depth: Some(1), directories: true, symlinks: true };
        let mut names = Self::default();
        cx.workspace.walk(path, &options, &mut |entry| {
            if names.entries.len() == MAX_NAMES || cx.stop.stopped().is_some() {
                names.more = true;
                return ControlFlow::Break(());
            }
            let is_directory = entry.kind() == FileKind::Directory;
            let (size, state) = entry.stat().map_or((0, 0), |stat| (stat.size, stat.fingerprint()));
            names.entries.insert(entry.into_path(), NamedEntry { is_directory, size, state });
            ControlFlow::Continue(())
        })?;
        Ok(names)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The differences of `now`, a line for each name. With a pattern, only names that came or changed and match it
    /// count; the others are shown if one does.
    pub(super) fn changes(&self, now: &Self, pattern: Option<&Pattern>) -> Vec<String> {
        let line = |word: &str, path: &WorkspacePath, entry: &NamedEntry| {
            let what = if entry.is_directory { "/".to_owned() } else { format!(" ({})", file_size(entry.size)) };
            format!("{word}: {path}{what}\n")
        };
        let mut is_met = pattern.is_none();
        let mut lines = Vec::new();
        for (path, entry) in &now.entries {
            let word = match self.entries.get(path) {
                None => "new",
                Some(before) if before != entry => "changed",
                Some(_) => continue,
            };
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            is_met = is_met || pattern.is_none_or(|pattern| pattern.is_in_line(name.as_bytes()));
            lines.push(line(word, path, entry));
        }
        // Beyond the names that are compared nothing is known to be gone.
        if !now.more {
            let gone = self.entries.iter().filter(|(path, _)| !now.entries.contains_key(*path));
            lines.extend(gone.map(|(path, _)| format!("gone: {path}\n")));
        }
        if is_met { lines } else { Vec::new() }
    }
}
