//! What `write` returns as data.

use schemars::JsonSchema;
use serde::Serialize;

use source_outline::problems::Problem;

/// The complete result as data.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The file, as paths are printed.
    pub(super) path: String,
    /// Unified diff of a replacement, cut to 60 lines; a long line is cut to what changed in it.
    pub(super) diff: String,
    /// What else there is to know of it.
    pub(super) notes: Vec<String>,
    #[serde(flatten)]
    pub(super) facts: Facts,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Facts {
    /// Whether the file did not exist before.
    pub(super) created: bool,
    /// Bytes in the file now.
    pub(super) bytes: usize,
    /// Lines in the file now.
    pub(super) lines: usize,
    /// Revision of the file now, for `expected_revision`.
    pub(super) revision: String,
    /// Encoding that was written.
    pub(super) encoding: String,
    /// Lines added.
    pub(super) added: usize,
    /// Lines removed.
    pub(super) removed: usize,
    /// Lines of the diff that are not shown.
    pub(super) diff_cut_lines: usize,
    /// Bytes that were appended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) appended_bytes: Option<usize>,
    /// Lines that were appended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) appended_lines: Option<usize>,
    /// Problems that the change has introduced, such as syntax errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) problems: Vec<Problem>,
}
