//! One problem at a place of a text.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

/// How bad a problem is; the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The file does not work.
    Error,
    /// The file may not do what it looks like.
    Warning,
}

/// One problem at a place of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Problem {
    /// Its line, from 1.
    pub line: usize,
    /// Its column, in characters from 1.
    pub column: usize,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// The language or the program that found it.
    pub source: Cow<'static, str>,
}

impl Problem {
    /// The problem at the byte `at` of `text`.
    pub fn at(text: &str, at: usize, severity: Severity, source: &'static str, message: String) -> Self {
        let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        let before = &text[..at];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Self {
            line: memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1,
            column: before[line_start..].chars().count() + 1,
            severity,
            message,
            source: source.into(),
        }
    }
}
