//! Problems of a text, such as syntax errors: what they are, which of them a change has introduced, how they are shown.
//!
//! The checks that find them are in [`syntax`](super::syntax); others may come from outside of the process.

mod changed_lines;

use std::{borrow::Cow, fmt::Write as _};

use schemars::JsonSchema;
use serde::Serialize;
use text_file::shorten;

pub use changed_lines::{ChangedLines, new_problems};

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
        // One is found: 0 is a boundary of every text.
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

/// Problems that are shown of one change.
pub const MAX_SHOWN: usize = 20;
/// Characters of a message: a compiler's may be a page.
const MAX_MESSAGE: usize = 300;

/// The problems that an answer shows.
#[derive(Clone, Debug, Default)]
pub struct ShownProblems {
    /// Those that are shown.
    pub problems: Vec<Problem>,
    /// How many are not.
    pub cut: usize,
    /// The lines for the answer; empty without a problem.
    pub text: String,
}

impl ShownProblems {
    /// The first of `problems`, which are of the file `path`, in about `room` bytes; at least one.
    ///
    /// # Examples
    /// ```
    /// use source_outline::problems::{Problem, Severity, ShownProblems};
    ///
    /// let problem = Problem::at("{,}", 1, Severity::Error, "JSON", "expected `}`".to_owned());
    /// assert_eq!(ShownProblems::of("a.json", vec![problem], 1000).text, "new problem: a.json:1:2 expected `}` (JSON)");
    /// assert_eq!(ShownProblems::of("a.json", Vec::new(), 1000).text, "");
    /// ```
    pub fn of(path: &str, mut problems: Vec<Problem>, room: usize) -> Self {
        let total = problems.len();
        problems.truncate(MAX_SHOWN);
        for problem in &mut problems {
            let words: Vec<&str> = problem.message.split_whitespace().collect();
            problem.message = shorten(&words.join(" "), MAX_MESSAGE).into_owned();
        }
        if total == 1 {
            let text = problems.first().map(|only| format!("new problem: {path}:{}", line(only))).unwrap_or_default();
            return Self { problems, cut: 0, text };
        }
        let mut text = if total == 0 { String::new() } else { format!("{total} new problems in {path}:") };
        let mut shown = 0;
        for problem in &problems {
            let line = line(problem);
            if shown > 0 && text.len() + line.len() >= room {
                break;
            }
            let _ = write!(text, "\n{line}");
            shown += 1;
        }
        problems.truncate(shown);
        let cut = total - shown;
        if cut > 0 {
            let _ = write!(text, "\n{cut} more");
        }
        Self { problems, cut, text }
    }
}

/// `14:3 expected a comma (JSON)`
fn line(problem: &Problem) -> String {
    let Problem { line, column, message, source, .. } = problem;
    let severity = if problem.severity == Severity::Warning { "warning: " } else { "" };
    format!("{line}:{column} {severity}{message} ({source})")
}
