//! What `grep` returns as data.

use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use tree_search::PathSource;

use super::{
    super::omissions::{InIgnored, SkippedFiles, SkippedPath},
    args::OutputMode,
};

/// grep's result as data.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// What was asked for.
    #[serde(rename = "output_mode")]
    pub(super) mode: OutputMode,
    /// The numbers.
    #[serde(flatten)]
    pub(super) facts: Facts,
    /// The files shown, in the order shown.
    pub(super) results: Vec<FileResult>,
    /// What the answer leaves out, in words.
    pub(super) notes: Vec<String>,
}

/// One file of the result.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileResult {
    /// Its path, as it can be passed back.
    pub(super) path: String,
    /// Matches in it, as far as it was searched.
    pub(super) matches: usize,
    /// Unusual encoding and line ending, given for the first such files: "windows-1252", "CRLF".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unusual: Vec<String>,
    /// The lines shown, in content mode.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) lines: Vec<MatchLine>,
}

/// One line shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct MatchLine {
    /// Its number, from 1.
    #[serde(rename = "line")]
    pub(super) number: u64,
    /// Its text, cut around the match where it is long.
    pub(super) text: String,
    /// Whether it is context of a match and none itself.
    pub(super) context: bool,
    /// Where the line is cut: the column of its match, or its first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cut_at: Option<u64>,
    /// The definition around a match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<String>,
    /// Whether it declares a name without defining it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) prototype: bool,
}

/// The numbers for programs.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Facts {
    /// Matches found, as far as the search went (with `files_with_matches`: files).
    pub(super) matches: usize,
    /// Files with matches (with `files_without_match`: without), as far as the search went.
    pub(super) files: usize,
    /// Results shown: matches in content mode, else files.
    pub(super) shown: usize,
    /// Whether there is more than is shown.
    pub(super) truncated: bool,
    /// The offset of the next page.
    pub(super) next_offset: Option<usize>,
    /// Whether every file was looked into.
    pub(super) complete: bool,
    /// Files looked into.
    pub(super) searched_files: usize,
    /// Files left out.
    pub(super) skipped: SkippedFiles,
    /// Each of them, where they are few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) skipped_paths: Vec<SkippedPath>,
    /// Files without a match that are not UTF-8, where the pattern has characters beyond ASCII.
    pub(super) not_utf8: Option<usize>,
    /// What ignored files hold.
    pub(super) ignored: Option<InIgnored>,
    /// Whether the names came from the path index or from a walk.
    pub(super) source: PathSource,
    /// Why no path index can be kept, where it cannot.
    pub(super) walked_because: Option<String>,
    /// How long it took.
    pub(super) elapsed_ms: u64,
}
