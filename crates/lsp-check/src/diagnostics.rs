//! What a server says of a file, as it sends it and as a [`Problem`].

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use source_outline::problems::{Problem, Severity};
use text_file::shorten;

use super::protocol::respelled;

/// Problems of one file that are kept.
const MAX_KEPT: usize = 1000;
/// Characters of a message that are kept: a compiler's may be pages.
const LONGEST_MESSAGE: usize = 2000;
/// The same of a source and a code.
const LONGEST_SOURCE: usize = 100;
/// Bytes of the longest URI: a path of 4,096 bytes, each as `%20`.
const LONGEST_URI: usize = 3 * 4096 + 16;
/// The largest number of a line or column in the protocol (`uinteger`).
const LARGEST: usize = i32::MAX as usize;

/// One diagnostic. Positions are in UTF-16 units, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Diagnostic {
    line: usize,
    character: usize,
    severity: Severity,
    message: String,
    source: Option<String>,
    code: Option<String>,
}

/// `textDocument/publishDiagnostics`.
#[derive(Debug)]
pub(super) struct Published {
    pub(super) uri: String,
    pub(super) version: Option<i64>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

#[derive(Deserialize)]
struct PublishParams<'m> {
    #[serde(borrow)]
    uri: Cow<'m, str>,
    version: Option<i64>,
    diagnostics: Vec<Raw>,
}

#[derive(Deserialize)]
struct Report {
    items: Option<Vec<Raw>>,
}

#[derive(Deserialize)]
struct Raw {
    range: Range,
    severity: Option<u8>,
    message: String,
    source: Option<String>,
    code: Option<Value>,
}

#[derive(Deserialize)]
struct Range {
    start: Position,
}

#[derive(Deserialize)]
struct Position {
    line: usize,
    character: usize,
}

impl Published {
    /// The parameters of the notification; `None` if they are something else.
    pub(super) fn read(params: &str) -> Option<Self> {
        let PublishParams { uri, version, diagnostics } = serde_json::from_str(params).ok()?;
        if uri.len() > LONGEST_URI {
            return None;
        }
        Some(Self { uri: respelled(&uri), version, diagnostics: kept(diagnostics) })
    }
}

/// The diagnostics of a report that was asked for; `None` where they are as before, or where it is no report.
pub(super) fn reported(result: &str) -> Option<Vec<Diagnostic>> {
    serde_json::from_str::<Report>(result).ok()?.items.map(kept)
}

fn kept(mut all: Vec<Raw>) -> Vec<Diagnostic> {
    // Hints and information are for an editor's margin.
    all.retain(|one| one.severity.is_none_or(|severity| severity <= 2));
    all.sort_by_key(|one| (one.severity.unwrap_or(1), one.range.start.line, one.range.start.character));
    let mut kept: Vec<Diagnostic> = all.into_iter().map(Diagnostic::of).collect();
    kept.dedup();
    kept.truncate(MAX_KEPT);
    kept.shrink_to_fit();
    kept
}

impl Diagnostic {
    fn of(raw: Raw) -> Self {
        let message = shorten(&raw.message, LONGEST_MESSAGE).into_owned();
        let code = match raw.code {
            Some(Value::String(code)) => Some(shorten(&code, LONGEST_SOURCE).into_owned()),
            Some(Value::Number(code)) => Some(code.to_string()),
            _ => None,
        };
        let severity = if raw.severity == Some(2) { Severity::Warning } else { Severity::Error };
        Self {
            line: raw.range.start.line.min(LARGEST),
            character: raw.range.start.character.min(LARGEST),
            severity,
            message,
            source: raw.source.map(|source| shorten(&source, LONGEST_SOURCE).into_owned()),
            code,
        }
    }

    /// Whether it is an error.
    pub(super) fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Whether another one says the same in other words, as a compiler and the server do.
    pub(super) fn is_said_by(&self, other: &Self) -> bool {
        self == other || (self.line == other.line && self.code.is_some() && self.code == other.code)
    }

    /// The problem of a file with these lines. `clean` makes a text of the server fit for a model.
    pub(super) fn problem(&self, lines: &[&str], name: &str, clean: impl Fn(&str) -> String) -> Problem {
        let column = lines.get(self.line).map_or(self.character, |line| characters(line, self.character)) + 1;
        let source = [Some(self.source.as_deref().unwrap_or(name)), self.code.as_deref()];
        let source = clean(&source.into_iter().flatten().collect::<Vec<_>>().join(" "));
        Problem {
            line: self.line + 1,
            column,
            severity: self.severity,
            message: clean(&self.message),
            source: source.chars().take(60).collect::<String>().into(),
        }
    }
}

/// How many characters of `line` the first `units` UTF-16 units are.
fn characters(line: &str, units: usize) -> usize {
    let mut left = units;
    line.chars()
        .take_while(|character| {
            let fits = left >= character.len_utf16();
            left = left.saturating_sub(character.len_utf16());
            fits
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters() {
        assert_eq!(characters("aé😀b", 0), 0);
        assert_eq!(characters("aé😀b", 2), 2);
        assert_eq!(characters("aé😀b", 3), 2, "in the middle of a pair");
        assert_eq!(characters("aé😀b", 4), 3);
        assert_eq!(characters("aé😀b", 99), 4);
    }

    #[test]
    fn errors_come_first_and_hints_are_left_out() {
        let one = |severity: u8| {
            format!(
                r#"{{"range":{{"start":{{"line":1,"character":4}}}},"severity":{severity},"message":"m{severity}","source":"s","code":"E1"}}"#
            )
        };
        let params = format!(r#"{{"uri":"file:///a","diagnostics":[{},{},{}]}}"#, one(4), one(2), one(1));
        let published = Published::read(&params).unwrap();
        let problems: Vec<Problem> =
            published.diagnostics.iter().map(|one| one.problem(&["", "é😀b"], "x", str::to_owned)).collect();
        assert_eq!(problems.len(), 2);
        assert_eq!((problems[0].message.as_str(), problems[0].line, problems[0].column), ("m1", 2, 4));
        assert_eq!((problems[1].severity, problems[1].source.as_ref()), (Severity::Warning, "s E1"));
    }

    #[test]
    fn hostile_report_is_cut_to_what_a_protocol_allows() {
        let long = "x".repeat(1 << 20);
        let one = format!(
            r#"{{"range":{{"start":{{"line":{0},"character":{0}}}}},"message":"{long}","source":"{long}","code":"{long}"}}"#,
            u64::MAX
        );
        let published = Published::read(&format!(r#"{{"uri":"file:///a","diagnostics":[{one}]}}"#)).unwrap();
        let kept = format!("{:?}", published.diagnostics);
        assert!(kept.len() < LONGEST_MESSAGE + 1000, "{} bytes", kept.len());
        let problem = published.diagnostics[0].problem(&["a"], "x", str::to_owned);
        assert_eq!((problem.line, problem.column), (1 << 31, 1 << 31));
        assert!(Published::read(&format!(r#"{{"uri":"file:///{long}","diagnostics":[]}}"#)).is_none());
    }

    #[test]
    fn what_is_no_report_is_none() {
        for params in ["", "[]", "{}", r#"{"uri":1,"diagnostics":[]}"#, r#"{"uri":"a","diagnostics":[{}]}"#] {
            assert!(Published::read(params).is_none(), "{params}");
        }
        assert_eq!(reported(r#"{"kind":"unchanged","resultId":"x"}"#), None);
        assert_eq!(reported(r#"{"kind":"full","items":[]}"#), Some(Vec::new()));
    }
}
