//! What `wait` returns as data.

use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

/// The complete result as data.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The path, as paths are printed.
    pub(super) path: String,
    /// The new lines, numbered as in the text, or the names in a directory.
    pub(super) text: String,
    #[serde(flatten)]
    pub(super) facts: Facts,
}

/// What came of a wait.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    /// A line that was waited for.
    Line,
    /// Something is there now.
    Appeared,
    /// It is not what it was.
    Changed,
    /// Nothing is there any more.
    Gone,
    /// What was waited for did not happen.
    NothingNew,
}

/// The numbers for programs.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Facts {
    /// What came of it: line, appeared, changed, gone or `nothing_new`.
    pub(super) outcome: Outcome,
    /// Milliseconds that the call waited.
    pub(super) waited_ms: u64,
    /// New lines, or names that came, changed or are gone.
    pub(super) new: usize,
    /// The line that matched.
    pub(super) matched_line: Option<usize>,
    /// The `offset` of the next call.
    pub(super) next_offset: Option<usize>,
    /// Lines in the file.
    pub(super) total_lines: Option<usize>,
    /// Revision of the whole file.
    pub(super) revision: Option<String>,
    /// Bytes in the file.
    pub(super) size: Option<u64>,
    /// Whether the file was replaced, cut or written again, so that its lines count from the first one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) restarted: bool,
    /// Seconds that the call asked for, where it could not wait so long.
    pub(super) asked_seconds: Option<u64>,
}
