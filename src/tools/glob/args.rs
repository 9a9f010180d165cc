//! What `glob` is asked for.

use schemars::JsonSchema;
use serde::Deserialize;

/// Which names to look for, and where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Glob on the path relative to `path`: "**/*.rs", "src/*.{ts,tsx}". Without a slash it matches names at any depth.
    pub(super) pattern: String,
    /// Directory to search. Default: the root, or all roots.
    pub(super) path: Option<String>,
    /// List matching directories too, with a trailing slash. Default: false.
    pub(super) include_dirs: Option<bool>,
    /// Order: newest first, or by path. Default: modified.
    pub(super) sort: Option<Sort>,
    /// Most paths to return, at most 1000. Default: 200.
    pub(super) max_results: Option<i64>,
    /// Paths to skip, for the next page. Default: 0.
    pub(super) offset: Option<i64>,
    /// List ignored files too. Default: false.
    pub(super) no_ignore: Option<bool>,
    /// Match upper and lower case exactly. Default: true.
    pub(super) case_sensitive: Option<bool>,
}

/// The order of paths.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sort {
    /// Newest first, ties by path.
    Modified,
    /// By path.
    Path,
}
