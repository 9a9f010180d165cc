//! What `glob` returns as data.

use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use tree_search::PathSource;

use super::super::omissions::{InIgnored, SkippedFiles, SkippedPath};

/// glob's result as data.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The paths shown; directories end with a slash.
    pub(super) paths: Vec<String>,
    /// The numbers.
    #[serde(flatten)]
    pub(super) facts: Facts,
    /// What the answer leaves out, in words.
    pub(super) notes: Vec<String>,
}

/// The numbers for programs.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Facts {
    /// Paths found, as far as the walk went.
    pub(super) found: usize,
    /// Paths shown.
    pub(super) shown: usize,
    /// Whether there is more than is shown.
    pub(super) truncated: bool,
    /// The offset of the next page.
    pub(super) next_offset: Option<usize>,
    /// Whether the walk went to its end.
    pub(super) complete: bool,
    /// Files and folders left out.
    pub(super) skipped: SkippedFiles,
    /// Each of them, where they are few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) skipped_paths: Vec<SkippedPath>,
    /// What ignored folders hold.
    pub(super) ignored: Option<InIgnored>,
    /// The nearest names, where nothing was found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) nearest: Vec<String>,
    /// Whether the names came from the path index or from a walk.
    pub(super) source: PathSource,
    /// Why no path index can be kept, where it cannot.
    pub(super) walked_because: Option<String>,
    /// How long it took.
    pub(super) elapsed_ms: u64,
}
