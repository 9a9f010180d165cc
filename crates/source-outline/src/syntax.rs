//! Syntax errors of files in formats that are checked without a program of theirs.
//!
//! A check never fails, and is bounded in time and memory for any text: what is too large, too deeply nested or not certain
//! counts as sound. It looks at one text; what a change has introduced is the difference of two checks, and most
//! changes need only one of them, as the new text has no error.
//!
//! # Map
//! `format` says by the name of a file what is checked. Data formats are checked by [`structured_text`]; `brackets` checks
//! programming languages, with `indentation` for Python.

mod brackets;
mod format;
mod indentation;

use structured_text::{
    Findings, SyntaxError, is_template,
    json::{self, JsonDialect},
    toml, xml, yaml,
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

/// The syntax errors that `new` has and the text before it, `old`, had not. The name of the file, `path`, says what they
/// are: `None` is a file that did not exist or was no text.
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
    let format = match format {
        // Its program reads what was there.
        CheckedFormat::Json(JsonDialect::Json) if is_jsonc_only(old) => CheckedFormat::Json(JsonDialect::Jsonc),
        format => format,
    };
    let mut after = check(format, new);
    if after.error.is_some() && is_template(new) {
        after = Findings::default();
    }
    if after.error.is_none() && after.warnings.is_empty() {
        return Vec::new();
    }
    let before = check(format, old);
    let changed = ChangedLines::between(old, new);
    let source = source(format);
    let problem =
        |text: &str, fault: SyntaxError, severity| Problem::at(text, fault.at, severity, source, fault.message);
    let severity = if format == CheckedFormat::JsonLines { Severity::Error } else { Severity::Warning };
    let all = |text: &str, faults: Vec<SyntaxError>| -> Vec<Problem> {
        faults.into_iter().map(|fault| problem(text, fault, severity)).collect()
    };
    let warnings = not_among(&all(old, before.warnings), all(new, after.warnings), &changed);
    let error = after.error.map(|fault| problem(new, fault, Severity::Error));
    let earlier = before.error.map(|fault| problem(old, fault, Severity::Error));
    error.filter(|error| is_new(earlier.as_ref(), error, &changed)).into_iter().chain(warnings).collect()
}

fn check(format: CheckedFormat, text: &str) -> Findings {
    match format {
        CheckedFormat::Json(dialect) => json::check(text, dialect),
        CheckedFormat::JsonLines => json::check_lines(text),
        CheckedFormat::Toml => toml::check(text),
        CheckedFormat::Yaml => yaml::check(text),
        CheckedFormat::Xml => xml::check(text),
        CheckedFormat::Source(language) => brackets::check(text, language),
    }
}

fn source(format: CheckedFormat) -> &'static str {
    match format {
        CheckedFormat::Json(JsonDialect::Json) => "JSON",
        CheckedFormat::Json(JsonDialect::Jsonc) => "JSON with comments",
        CheckedFormat::Json(JsonDialect::Json5) => "JSON5",
        CheckedFormat::JsonLines => "JSON Lines",
        CheckedFormat::Toml => "TOML",
        CheckedFormat::Yaml => "YAML",
        CheckedFormat::Xml => "XML",
        CheckedFormat::Source(language) => language.name(),
    }
}

/// Whether `text` is JSON with comments or trailing commas, and not without.
fn is_jsonc_only(text: &str) -> bool {
    json::check(text, JsonDialect::Json).error.is_some() && json::check(text, JsonDialect::Jsonc).error.is_none()
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Line and message of each new problem.
    fn found(path: &str, old: &str, new: &str) -> Vec<(usize, String)> {
        new_problems(path, Some(old), new).into_iter().map(|problem| (problem.line, problem.message)).collect()
    }

    #[test]
    fn error_before_the_one_that_was_there_is_new() {
        let old = "{\n\"a\": 1,\n\"b\": 2\n\"c\": 3\n}\n";
        assert_eq!(found("a.json", old, &old.replace("1,", "1")), [(3, "expected `,` or `}`".to_owned())]);
        // The same, moved by a line.
        assert_eq!(found("a.json", old, &old.replace("1,", "1,\n\"x\": 0,")), []);
        // What shows when the first is mended was there.
        let two = old.to_owned() + "}";
        assert_eq!(found("a.json", &two, &two.replace("2\n", "2,\n")), []);
        // Mended, and broken in another way.
        let other = old.replace("\"b\": 2\n\"c\"", "\"b\": 2,\n'c'");
        assert_eq!(found("a.json", old, &other), [(4, "expected double quotes around a string".to_owned())]);
    }

    #[test]
    fn only_duplicates_that_the_change_made_are_named() {
        let old = "a: 1\na: 2\nb: 3\n";
        assert_eq!(found("a.yml", old, "x: 0\na: 1\na: 2\nb: 3\n"), []);
        assert_eq!(found("a.yml", old, "a: 1\na: 2\nb: 3\nb: 4\n"), [(4, "duplicate key `b`".to_owned())]);
    }

    #[test]
    fn plain_json_that_had_comments_may_have_them() {
        assert_eq!(found("a.json", "// x\n{}", "// x\n{\"a\": 1,}"), []);
        assert_eq!(found("a.json", "{}", "// x\n{}"), [(1, "comments are not allowed in JSON".to_owned())]);
        assert_eq!(found("tsconfig.app.json", "{}", "// x\n{}"), []);
    }

    #[test]
    fn templates_and_large_files_are_passed_over() {
        assert_eq!(found("a.yaml", "", "{{- if .Values.x }}\na: 1\n{{- end }}\n"), []);
        assert_eq!(found("a.json", "", &"[".repeat(MOST_BYTES + 1)), []);
        assert_eq!(found("a.html", "", "<p>"), []);
    }

    proptest! {
        #[test]
        fn no_text_makes_a_check_panic_and_each_problem_is_in_the_text(
            old in ".{0,200}|[\\[\\]{}<>:,&*!'\"a \n-]{0,200}",
            new in "(?s).{0,200}|[\\[\\]{}<>:,&*!'\"a \n=#|%?-]{0,300}",
        ) {
            for path in ["a.json", "a.json5", "a.jsonl", "a.toml", "a.yml", "a.xml", "a.rs", "a.c", "a.py", "a.js", "a.go"] {
                for problem in new_problems(path, Some(&old), &new) {
                    let lines: Vec<&str> = new.split('\n').collect();
                    prop_assert!(problem.line <= lines.len(), "{path}: {problem:?}");
                    prop_assert!(problem.column <= lines[problem.line - 1].chars().count() + 1, "{path}: {problem:?}");
                }
                prop_assert!(new_problems(path, Some(&new), &new).is_empty(), "{path}: {new:?}");
            }
        }
    }
}
