//! What a server says of a file, as it sends it and as a [`Problem`].

use std::collections::BTreeMap;

use serde_json::{Number, Value, value::RawValue};

use source_outline::problems::{Problem, Severity};
use text_file::shorten;

use super::protocol::{parsed, respelled};

const MAX_KEPT: usize = 1000;
/// Characters of a message that are kept: a compiler's may be pages.
const MAX_MESSAGE: usize = 2000;
/// The same of a source and a code.
const MAX_SOURCE: usize = 100;
/// Bytes of the longest URI: a path of 4,096 bytes, each as `%20`.
const MAX_URI: usize = 3 * 4096 + 16;
/// The largest number of a line or column in the protocol (`uinteger`).
const MAX_POSITION: usize = i32::MAX as usize;

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

pub(super) type FileDiagnostics = BTreeMap<String, Vec<Diagnostic>>;

/// The parameters of `textDocument/publishDiagnostics`: the URI, respelled, the version of the text, and its
/// diagnostics; `None` if they are something else.
pub(super) fn published(params: &RawValue) -> Option<(String, Option<i64>, Vec<Diagnostic>)> {
    let params = parsed(params);
    let uri = params["uri"].as_str().filter(|uri| uri.len() <= MAX_URI)?;
    Some((respelled(uri), params["version"].as_i64(), kept(&params["diagnostics"])?))
}

/// The diagnostics of a report that was asked for; `None` where they are as before, or where it is no report.
pub(super) fn reported(result: &RawValue) -> Option<Vec<Diagnostic>> {
    kept(&parsed(result)["items"])
}

fn kept(all: &Value) -> Option<Vec<Diagnostic>> {
    // Hints and information are for an editor's margin.
    let is_kept = |one: &&Value| one["severity"].as_u64().is_none_or(|severity| severity <= 2);
    let kept = all.as_array()?.iter().filter(is_kept).map(Diagnostic::read);
    let mut kept: Vec<Diagnostic> = kept.collect::<Option<_>>()?;
    // The worst first, as the end of a long list is cut.
    kept.sort_by_key(|one| (one.severity, one.line, one.character));
    kept.dedup();
    kept.truncate(MAX_KEPT);
    kept.shrink_to_fit();
    Some(kept)
}

impl Diagnostic {
    fn read(one: &Value) -> Option<Self> {
        let start = &one["range"]["start"];
        let number =
            |name: &str| Some(usize::try_from(start[name].as_u64()?).unwrap_or(MAX_POSITION).min(MAX_POSITION));
        let text = |value: &Value, most| Some(shorten(value.as_str()?, most).into_owned());
        Some(Self {
            line: number("line")?,
            character: number("character")?,
            // The protocol lets a server leave it out, and the client choose then.
            severity: if one["severity"] == 2 { Severity::Warning } else { Severity::Error },
            message: text(&one["message"], MAX_MESSAGE)?,
            source: text(&one["source"], MAX_SOURCE),
            // In the protocol, `integer | string`.
            code: one["code"].as_number().map(Number::to_string).or_else(|| text(&one["code"], MAX_SOURCE)),
        })
    }

    pub(super) fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Whether another one says the same in other words, as a compiler and the server do.
    pub(super) fn is_said_by(&self, other: &Self) -> bool {
        self == other || (self.line == other.line && self.code.is_some() && self.code == other.code)
    }

    /// The problem of a file with these lines. `clean` makes a text of the server fit for a model.
    pub(super) fn problem(&self, lines: &[&str], name: &str, clean: impl Fn(&str) -> String) -> Problem {
        // No `+ 1` overflows: `read` has cut both numbers to `MAX_POSITION`.
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
            // A place between the two units of a pair is taken for the one before the character.
            let fits = left >= character.len_utf16();
            left = left.saturating_sub(character.len_utf16());
            fits
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).expect("JSON")
    }

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
        let (_, _, found) = published(&raw(&params)).unwrap();
        let problems: Vec<Problem> = found.iter().map(|one| one.problem(&["", "é😀b"], "x", str::to_owned)).collect();
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
        let (_, _, found) = published(&raw(&format!(r#"{{"uri":"file:///a","diagnostics":[{one}]}}"#))).unwrap();
        let kept = format!("{found:?}");
        assert!(kept.len() < MAX_MESSAGE + 1000, "{} bytes", kept.len());
        let problem = found[0].problem(&["a"], "x", str::to_owned);
        assert_eq!((problem.line, problem.column), (1 << 31, 1 << 31));
        assert!(published(&raw(&format!(r#"{{"uri":"file:///{long}","diagnostics":[]}}"#))).is_none());
    }

    #[test]
    fn what_is_no_report_is_none() {
        for params in ["1", "[]", "{}", r#"{"uri":1,"diagnostics":[]}"#, r#"{"uri":"a","diagnostics":[{}]}"#] {
            assert!(published(&raw(params)).is_none(), "{params}");
        }
        assert_eq!(reported(&raw(r#"{"kind":"unchanged","resultId":"x"}"#)), None);
        assert_eq!(reported(&raw(r#"{"kind":"full","items":[]}"#)), Some(Vec::new()));
    }
}
