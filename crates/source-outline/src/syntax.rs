//! Syntax errors of files in formats that are checked without a program of theirs.
//!
//! A check never fails, and is bounded in time and memory for any text: what is too large, too deeply nested or not
//! certain counts as sound. It looks at one text; what a change has introduced is the difference of two checks, and
//! most changes need only one of them, as the new text has no error.
//!
//! # Map
//! `format` says by the name of a file what is checked. Data formats are checked by [`structured_text`]; `brackets`
//! checks programming languages, with `indentation` for Python.

mod brackets;
mod format;
mod indentation;
#[cfg(test)]
mod tests;

use structured_text::{
    Findings, SyntaxError, is_template,
    json::{self, JsonDialect},
};

use crate::problems::{ChangedLines, Problem, Severity, new_problems as not_among};
use format::CheckedFormat;

/// Bytes of the largest text that is checked.
const MOST_BYTES: usize = 4 << 20;

/// Whether files of this name are checked.
///
/// # Examples
/// ```
/// use source_outline::syntax::is_checked;
///
/// assert!(is_checked("src/tsconfig.json") && !is_checked("notes.txt"));
/// ```
pub fn is_checked(path: &str) -> bool {
    CheckedFormat::of(path).is_some()
}

/// The syntax errors that `new` has and the text before it, `old`, had not. The name of the file, `path`, says what
/// they are: `None` is a file that did not exist or was no text.
///
/// # Examples
/// ```
/// use source_outline::syntax::new_problems;
///
/// let new = new_problems("a.json", Some("[1, 2]"), "[1, 2");
/// assert_eq!(new[0].message, "expected `]`: the `[` of line 1 is not closed");
/// assert!(new_problems("a.json", Some("[1, 2"), "[1, 2, 3").is_empty());
/// ```
pub fn new_problems(path: &str, old: Option<&str>, new: &str) -> Vec<Problem> {
    let Some(format) = CheckedFormat::of(path) else { return Vec::new() };
    let old = old.unwrap_or_default();
    if new.len() > MOST_BYTES || old.len() > MOST_BYTES {
        return Vec::new();
    }
    // Its program reads what was there.
    let reads_comments = format.name == "JSON" && is_jsonc_only(old);
    let format = CheckedFormat::of("a.jsonc").filter(|_| reads_comments).unwrap_or(format);
    let mut after = (format.check)(new);
    // It becomes a valid file only when its program fills it in.
    if after.error.is_some() && is_template(new) {
        after = Findings::default();
    }
    if after.error.is_none() && after.warnings.is_empty() {
        return Vec::new();
    }
    let before = (format.check)(old);
    let changed = ChangedLines::between(old, new);
    let problem =
        |text: &str, fault: SyntaxError, severity| Problem::at(text, fault.at, severity, format.name, fault.message);
    let severity = if format.name == "JSON Lines" { Severity::Error } else { Severity::Warning };
    let all = |text: &str, faults: Vec<SyntaxError>| -> Vec<Problem> {
        faults.into_iter().map(|fault| problem(text, fault, severity)).collect()
    };
    let warnings = not_among(&all(old, before.warnings), all(new, after.warnings), &changed);
    let error = after.error.map(|fault| problem(new, fault, Severity::Error));
    let earlier = before.error.map(|fault| problem(old, fault, Severity::Error));
    error.filter(|error| is_new(earlier.as_ref(), error, &changed)).into_iter().chain(warnings).collect()
}

/// Whether `text` is JSON with comments or trailing commas, and not without.
fn is_jsonc_only(text: &str) -> bool {
    json::check(text, JsonDialect::Json).error.is_some() && json::check(text, JsonDialect::Jsonc).error.is_none()
}

/// Whether a change has introduced `error`, the first one of a text whose first error was `earlier`. An error hides
/// what is after it: one that shows when the first is corrected is not new, unless the change wrote it.
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
