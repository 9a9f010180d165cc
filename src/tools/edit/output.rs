//! What `edit` returns as data.

use schemars::JsonSchema;
use serde::Serialize;

use source_outline::problems::Problem;

/// The complete result as data: of one file, or of each of several.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Output {
    #[serde(flatten)]
    pub(super) file: Option<FileOutput>,
    /// One for each file, where the entries of `edits` name several or a glob does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) files: Option<Vec<FileOutput>>,
    #[serde(flatten)]
    pub(super) totals: Option<Totals>,
}

/// One file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct FileOutput {
    /// The file, as paths are printed.
    pub(super) path: String,
    /// Unified diff of the file's change, cut to 60 lines; a long line is cut to what changed in it.
    pub(super) diff: String,
    /// What else there is to know of it.
    pub(super) notes: Vec<String>,
    #[serde(flatten)]
    pub(super) facts: Facts,
}

/// The numbers of one file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Facts {
    /// Replacements made.
    pub(super) replacements: usize,
    /// How each edit was matched, in order; exact unless it had to be more tolerant.
    pub(super) strategies: Vec<String>,
    /// Lines added.
    pub(super) added: usize,
    /// Lines removed.
    pub(super) removed: usize,
    /// Lines of the diff that are not shown.
    pub(super) diff_cut_lines: usize,
    /// Revision of the file now (or as it would be, for a dry run).
    pub(super) revision: String,
    /// Whether the file was created.
    pub(super) created: bool,
    /// Whether nothing was written.
    pub(super) dry_run: bool,
    /// Problems that the change has introduced, such as syntax errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) problems: Vec<Problem>,
}

/// What is said of several files together.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Totals {
    /// Replacements in all files.
    pub(super) total_replacements: usize,
    /// What the search for the files of a glob left out, and what is not in the history.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) general_notes: Vec<String>,
}
