//! What `ls` returns as data.

use schemars::JsonSchema;
use serde::Serialize;

use super::super::omissions::is_zero;

/// ls's result as data.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The directory listed, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<String>,
    /// What was shown, in the order shown.
    pub(super) entries: Vec<ListedEntry>,
    /// The numbers.
    #[serde(flatten)]
    pub(super) facts: Facts,
    /// What the answer leaves out, in words.
    pub(super) notes: Vec<String>,
}

/// One entry shown.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ListedEntry {
    /// Its path, as it can be passed back.
    pub(super) path: String,
    /// `file`, `directory`, `symlink`, `other` or `root`.
    pub(super) kind: &'static str,
    /// Its size in bytes, where it is a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) size: Option<u64>,
    /// What a link leads to, where that is inside a root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<String>,
    /// Whether policy denies its content.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) protected: bool,
    /// For a root, whether files in it may be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) writable: Option<bool>,
}

/// The numbers for programs.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Facts {
    /// Entries shown.
    pub(super) shown: usize,
    /// Entries of listed directories that are not shown.
    pub(super) more: usize,
    /// Directories within the depth that were not listed, the limit being reached.
    pub(super) unlisted: usize,
    /// Entries that ignore rules leave out.
    pub(super) ignored: usize,
    /// Directories that could not be listed.
    pub(super) unreadable: usize,
    /// Directories that could not be opened, because too many files were open.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) out_of_files: usize,
    /// Whether there is more than is shown.
    pub(super) truncated: bool,
    /// Whether the time limit ended the listing.
    pub(super) timed_out: bool,
}
