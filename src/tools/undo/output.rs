//! The result of an undo as data.

use schemars::JsonSchema;
use serde::Serialize;

use source_outline::problems::Problem;

/// The complete result as data.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// What was reverted, as paths are printed; the first of several.
    pub(super) path: String,
    /// The tool whose change was reverted.
    pub(super) reverted: String,
    /// Unified diff of what the undo did, cut to 60 lines.
    pub(super) diff: String,
    /// Lines of the diff that are not shown.
    pub(super) diff_cut_lines: usize,
    /// What else there is to know of it.
    pub(super) notes: Vec<String>,
    /// Problems that the file has again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) problems: Vec<Problem>,
    /// What was done, step by step, where there were several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) steps: Vec<String>,
    /// What was left as it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) left_alone: Vec<LeftAlonePath>,
}

/// A path that was left as it is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LeftAlonePath {
    /// The path as it is printed.
    pub(super) path: String,
    /// Why.
    pub(super) reason: String,
}
