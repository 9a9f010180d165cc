//! An entry and a listing as data.

use std::time::UNIX_EPOCH;

use confined_fs::{Stat, Visibility};
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use super::super::{answer::utc, omissions::is_zero};
use super::total::Total;

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
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ListedEntry {
    /// Its path, as it can be passed back.
    pub(super) path: String,
    /// `file`, `directory`, `symlink`, `other` or `root`.
    pub(super) kind: &'static str,
    /// Its size in bytes, where it is a file.
    pub(super) size: Option<u64>,
    /// What a link leads to, where that is inside a root.
    pub(super) target: Option<String>,
    /// Whether policy denies its content.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) protected: bool,
    /// Whether it is a linked worktree of git, which is not opened.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) worktree: bool,
    /// When it last changed, in UTC, where that was asked for.
    pub(super) modified: Option<String>,
    /// Its mode in octal, where that was asked for.
    pub(super) mode: Option<String>,
    /// How many entries an unopened directory has; at most 10000 are counted.
    pub(super) entries: Option<usize>,
    /// What is in a directory, to the bottom, where that was asked for.
    pub(super) total: Option<Total>,
    /// What is known of the content of a single file.
    pub(super) file: Option<FileFacts>,
    /// For a root, whether files in it may be changed.
    pub(super) writable: Option<bool>,
}

/// What is known of the content of one file.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct FileFacts {
    /// What it is, where that is not text: a media type, or a kind in words.
    pub(super) content: Option<String>,
    /// Lines.
    pub(super) lines: Option<usize>,
    /// Encoding of the text.
    pub(super) encoding: Option<&'static str>,
    /// Line endings: lf, crlf, mixed or none.
    pub(super) line_ending: Option<&'static str>,
    /// Whether the last line ends with a line ending.
    pub(super) final_newline: Option<bool>,
    /// Revision of the content, for `expected_revision`.
    pub(super) revision: Option<String>,
    /// Pixels across an image.
    pub(super) width: Option<usize>,
    /// Pixels down an image.
    pub(super) height: Option<usize>,
}

/// The numbers for programs.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Facts {
    /// Entries shown.
    pub(super) shown: usize,
    /// Files among them.
    pub(super) files: usize,
    /// Directories among them.
    pub(super) directories: usize,
    /// Bytes in those files.
    pub(super) bytes: u64,
    /// The offset that continues with the next entries of the directory.
    pub(super) next_offset: Option<usize>,
    /// What is in the directory, to the bottom, where that was asked for.
    pub(super) total: Option<Total>,
    /// What is known of the content of a single file.
    pub(super) file: Option<FileFacts>,
    /// Entries of listed directories that are not shown.
    pub(super) more: usize,
    /// Directories within the depth that were not listed, the limit being reached.
    pub(super) unlisted: usize,
    /// Entries that ignore rules leave out.
    pub(super) ignored: usize,
    /// Directories that could not be listed.
    pub(super) unreadable: usize,
    /// Linked worktrees of git, which are not opened.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) worktrees: usize,
    /// Directories that could not be opened, because too many files were open.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) out_of_files: usize,
    /// Whether there is more than is shown.
    pub(super) truncated: bool,
    /// The worktree and branch of a root, as text.
    pub(super) checkout: Option<String>,
    /// Whether the time limit ended the listing.
    pub(super) timed_out: bool,
}

/// The mark after the name of a file whose content is not open.
pub(super) fn mark(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::Open => "",
        Visibility::Masked => " [masked]",
        Visibility::Denied => " [protected]",
    }
}

/// When the content last changed, in UTC and without fractions: `2026-11-22T09:46:37Z`.
pub(super) fn modified(stat: &Stat) -> Option<String> {
    let modified = stat.modified?;
    let other = if modified < UNIX_EPOCH { "before 1970" } else { "after 9999" };
    Some(utc(modified).unwrap_or_else(|| other.to_owned()))
}

/// The permission bits in octal, `0644`; `None` if the system has none.
pub(super) fn mode(stat: &Stat) -> Option<String> {
    // On Unix, 0 is the mode of a file that nobody may open.
    Some(stat.mode()).filter(|mode| *mode != 0 || cfg!(unix)).map(|mode| format!("{mode:04o}"))
}
