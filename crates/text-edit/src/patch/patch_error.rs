//! Why a text is no patch.

use std::fmt;

/// Why a text is no patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchError {
    /// The line of the text, from 1; `None` where it is about all of it.
    pub line: Option<usize>,
    /// A lower-case sentence.
    pub message: String,
    /// What to send instead.
    pub hint: &'static str,
    /// Whether the patch is fine but too large.
    pub is_too_large: bool,
}

impl PatchError {
    pub(super) fn whole(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into(), hint: "", is_too_large: false }
    }

    pub(super) fn at(line: usize, message: impl Into<String>) -> Self {
        Self { line: Some(line), ..Self::whole(message) }
    }

    pub(super) fn too_many(line: usize, most: usize, what: &str) -> Self {
        Self {
            line: Some(line),
            message: format!("the patch has more than {most} {what}"),
            hint: "send it in several calls",
            is_too_large: true,
        }
    }

    /// Names the hunk that it is about, and its file.
    #[must_use]
    pub(super) fn in_hunk(mut self, number: usize, file: &str) -> Self {
        self.message = format!("{} (hunk {number} of {file})", self.message);
        self
    }

    #[must_use]
    pub(super) fn hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line} of the patch: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for PatchError {}
