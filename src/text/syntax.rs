//! Syntax errors of files in formats that are checked without a program of theirs.
//!
//! JSON (with comments where the file's programs read them) so far. A check never fails: what is too large or too deeply
//! nested for it is passed over.
//!
//! # Map
//! `format` says by the name of a file what is checked; `json` checks.

mod fault;
mod format;
mod json;

use super::problems::{ChangedLines, Problem, Severity, new_problems as not_among};
use fault::{Fault, Findings};
use format::Format;
use json::Dialect;

/// Bytes of the largest text that is checked.
const MOST_BYTES: usize = 4 << 20;

/// Whether files of this name are checked.
///
/// # Examples
/// ```
/// use rootbound::text::syntax::is_checked;
///
/// assert!(is_checked("src/tsconfig.json") && !is_checked("notes.txt"));
/// ```
pub fn is_checked(path: &str) -> bool {
    Format::of(path).is_some()
}

/// The syntax errors that `new` has and the text before it, `old`, had not. The name of the file, `path`, says what they
/// are: `None` is a file that did not exist or was no text.
///
/// # Examples
/// ```
/// use rootbound::text::syntax::new_problems;
///
/// let new = new_problems("a.json", Some("[1, 2]"), "[1, 2");
/// assert_eq!(new[0].message, "expected `]`: the `[` of line 1 is not closed");
/// assert!(new_problems("a.json", Some("[1, 2"), "[1, 2, 3").is_empty());
/// ```
pub fn new_problems(path: &str, old: Option<&str>, new: &str) -> Vec<Problem> {
    let Some(format) = Format::of(path) else { return Vec::new() };
    let old = old.unwrap_or_default();
    if new.len() > MOST_BYTES || old.len() > MOST_BYTES {
        return Vec::new();
    }
    let format = match format {
        // Its program reads what was there.
        Format::Json(Dialect::Json) if is_jsonc_only(old) => Format::Json(Dialect::Jsonc),
        format => format,
    };
    let after = check(format, new);
    if after.error.is_none() && after.warnings.is_empty() {
        return Vec::new();
    }
    let before = check(format, old);
    let changed = ChangedLines::between(old, new);
    let source = source(format);
    let problem = |text: &str, fault, severity| Fault::problem(fault, text, severity, source);
    let severity = if format == Format::JsonLines { Severity::Error } else { Severity::Warning };
    let all = |text: &str, faults: Vec<Fault>| -> Vec<Problem> {
        faults.into_iter().map(|fault| problem(text, fault, severity)).collect()
    };
    let warnings = not_among(&all(old, before.warnings), all(new, after.warnings), &changed);
    let error = after.error.map(|fault| problem(new, fault, Severity::Error));
    let earlier = before.error.map(|fault| problem(old, fault, Severity::Error));
    error.filter(|error| is_new(earlier.as_ref(), error, &changed)).into_iter().chain(warnings).collect()
}

fn check(format: Format, text: &str) -> Findings {
    match format {
        Format::Json(dialect) => json::check(text, dialect),
        Format::JsonLines => json::check_lines(text),
    }
}

fn source(format: Format) -> &'static str {
    match format {
        Format::Json(Dialect::Json) => "JSON",
        Format::Json(Dialect::Jsonc) => "JSON with comments",
        Format::Json(Dialect::Json5) => "JSON5",
        Format::JsonLines => "JSON Lines",
    }
}

/// Whether `text` is JSON with comments or trailing commas, and not without.
fn is_jsonc_only(text: &str) -> bool {
    json::check(text, Dialect::Json).error.is_some() && json::check(text, Dialect::Jsonc).error.is_none()
}

/// Whether a change has introduced `error`, the first one of a text whose first error was `earlier`. An error hides what
/// is behind it: one that shows when the first is mended is not new, unless the change wrote it.
fn is_new(earlier: Option<&Problem>, error: &Problem, changed: &ChangedLines) -> bool {
    let Some(earlier) = earlier else { return true };
    if let Some(line) = changed.now_at(earlier.line) {
        // Up to there the text was sound.
        return (error.line, error.column) < (line, earlier.column) && error.line != line;
    }
    changed.new.contains(&error.line) && without_digits(&error.message) != without_digits(&earlier.message)
}

/// A message without the numbers of lines, which change when others are inserted.
fn without_digits(message: &str) -> String {
    message.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}
