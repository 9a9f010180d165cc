//! What `grep` is asked for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to search for, where, and what to show.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Regular expression (Rust syntax, as ripgrep), or plain text with literal=true.
    pub(super) pattern: String,
    /// Directory or file to search. Default: the root, or all roots.
    pub(super) path: Option<String>,
    /// Only files matching this glob: "*.ts", "src/**/*.py", "!*.min.js"; several by commas or braces. Default: all
    /// files.
    pub(super) glob: Option<String>,
    /// Only files of this ripgrep type: rust, py, js, ts, go, java … Default: all.
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    /// Take pattern as plain text, not as a regular expression. Default: false.
    pub(super) literal: Option<bool>,
    /// Match upper and lower case exactly. Default: false.
    pub(super) case_sensitive: Option<bool>,
    /// Match whole words only. Default: false.
    pub(super) word: Option<bool>,
    /// Matches may span lines and `.` matches line breaks. Default: false.
    pub(super) multiline: Option<bool>,
    /// Matching lines, names of files with or without a match, matches per file, or only lines that define a matching
    /// name. Default: content.
    pub(super) output_mode: Option<OutputMode>,
    /// Lines to show before and after each match, at most 50. Default: 0.
    pub(super) context: Option<i64>,
    /// Lines to show before each match. Default: context.
    pub(super) before: Option<i64>,
    /// Lines to show after each match. Default: context.
    pub(super) after: Option<i64>,
    /// Name the function or type around each match. Default: false.
    pub(super) scope: Option<bool>,
    /// Order of files: by path, or newest first. Default: path.
    pub(super) sort: Option<Sort>,
    /// Most lines (in other modes: files) to return, at most 500. Default: 100.
    pub(super) max_results: Option<i64>,
    /// Results to skip, for the next page. Default: 0.
    pub(super) offset: Option<i64>,
    /// Search ignored files too. Default: false.
    pub(super) no_ignore: Option<bool>,
}

/// What is shown of a match.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OutputMode {
    /// Matching lines.
    Content,
    /// File names.
    FilesWithMatches,
    /// Names of files without a match.
    FilesWithoutMatch,
    /// Matches per file.
    Count,
    /// Lines that define what matches.
    Definitions,
}

impl OutputMode {
    /// Whether results are lines, not files.
    pub(super) fn is_of_lines(self) -> bool {
        matches!(self, Self::Content | Self::Definitions)
    }
}

/// The order of files.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sort {
    /// By path.
    Path,
    /// Newest first.
    Modified,
}
