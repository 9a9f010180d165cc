//! What `read` is asked for.

use encoding_rs::Encoding;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::{ToolError, encoding_argument};

/// Arguments of `read`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The file to read, or one with lines as `src/a.rs:120-180`.
    pub(super) path: Option<String>,
    /// Up to 20 files instead, each as `src/a.rs`, `src/a.rs:120-180,300-340` or `src/a.rs:def NAME` (or another part).
    pub(super) paths: Option<Vec<String>>,
    /// How many lines to skip; a negative number counts from the end. Default: 0.
    pub(super) offset: Option<i64>,
    /// How many lines to return. Default: 2000.
    pub(super) limit: Option<i64>,
    /// First line to return, counted from 1. Not together with offset or limit.
    pub(super) start_line: Option<i64>,
    /// Last line to return, inclusive. Not together with offset or limit.
    pub(super) end_line: Option<i64>,
    /// Text encoding as a WHATWG label such as `shift_jis`. Default: detected.
    pub(super) encoding: Option<String>,
    /// A rev of the file that you have: only what changed since is returned.
    pub(super) since: Option<String>,
    /// A part other than lines: `def NAME`, `pages 3-5` (PDF), `cells 2-4` (notebook), `region X,Y,WIDTH,HEIGHT` (image)
    /// or `columns 2001-4000` (long lines).
    pub(super) part: Option<String>,
}

impl Args {
    /// Whether a range of lines was given.
    pub(super) fn has_lines(&self) -> bool {
        [self.offset, self.limit, self.start_line, self.end_line].iter().any(Option::is_some)
    }

    /// The encoding, by its WHATWG label.
    pub(super) fn encoding(&self) -> Result<Option<&'static Encoding>, ToolError> {
        let label = self.encoding.as_deref().map(encoding_argument::parse).transpose()?;
        Ok(label.map(|label| label.encoding))
    }
}
