//! What `wait` is asked for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Arguments of `wait`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// File or directory to wait for. It need not exist yet.
    pub(super) path: String,
    /// What to wait for: a new line (matching pattern), that path appears, changes in any way, or is gone. Default: line
    /// with pattern; else appears if nothing is there, else changes.
    pub(super) until: Option<Until>,
    /// Regular expression (Rust syntax) for a new line; in a directory, for the name of a new or changed entry.
    pub(super) pattern: Option<String>,
    /// Take pattern as plain text, not as a regular expression. Default: false.
    pub(super) literal: Option<bool>,
    /// Match upper and lower case exactly. Default: false.
    pub(super) case_sensitive: Option<bool>,
    /// Seconds to wait at most. Default: 45.
    #[schemars(with = "Option<f64>")]
    pub(super) timeout: Option<Value>,
    /// Lines that you have: later ones count as new, also those that are there already. Take it from the last line of the
    /// answer before. Default: all lines that are there.
    pub(super) offset: Option<i64>,
    /// A rev of the file that you have, instead of offset.
    pub(super) since: Option<String>,
}

/// What ends a wait.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Until {
    /// A new line.
    Line,
    /// Something is there.
    Appears,
    /// It is not what it was.
    Changes,
    /// Nothing is there.
    Gone,
}

impl Until {
    /// As the schema has it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Appears => "appears",
            Self::Changes => "changes",
            Self::Gone => "gone",
        }
    }
}
