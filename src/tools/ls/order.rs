//! The order of a directory's entries.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::Deserialize;

use confined_fs::FileKind;

use super::listing::Item;

/// The order of the entries of each directory.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sort {
    /// Directories first, then by name.
    #[default]
    Name,
    /// The newest first, of every kind, ties by name.
    Modified,
    /// The largest file first, then everything that is not a file, by name.
    Size,
}

impl Sort {
    pub(super) fn compare(self, one: &Item, two: &Item) -> Ordering {
        let by_name = || one.entry.path().cmp(two.entry.path());
        let is_directory = |item: &Item| item.entry.kind() == FileKind::Directory;
        let modified = |item: &Item| item.stat.as_ref().and_then(|stat| stat.modified);
        let size = |item: &Item| item.stat.as_ref().filter(|stat| stat.kind == FileKind::File).map(|stat| stat.size);
        match self {
            Self::Name => is_directory(two).cmp(&is_directory(one)),
            Self::Modified => modified(two).cmp(&modified(one)),
            Self::Size => size(two).cmp(&size(one)),
        }
        .then_with(by_name)
    }
}
