//! How new parts of a JSON document are printed: with the indentation and the line ends of the rest.

use serde_json::Value;

/// The habits of a document.
#[derive(Clone, Debug)]
pub(super) struct Style {
    /// One level of indentation.
    pub(super) unit: String,
    pub(super) line_end: &'static str,
    /// Whether the document is on one line.
    pub(super) one_line: bool,
    /// Whether there is no blank after colons.
    pub(super) dense: bool,
}

impl Style {
    /// Those of `text`; two spaces and LF where it has none.
    pub(super) fn of(text: &str) -> Self {
        let body = text.trim();
        let first =
            text.lines().find(|line| line.starts_with([' ', '\t']) && line.trim_start().starts_with(['"', '/']));
        let unit = first.map_or("  ", |line| &line[..line.len() - line.trim_start().len()]);
        Self {
            unit: unit.to_owned(),
            line_end: if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" },
            one_line: !body.contains('\n') && body.len() > 2,
            dense: !body.contains('\n') && body.contains("\":") && !body.contains("\": "),
        }
    }
}

/// The white space that the line of `at` begins with.
pub(super) fn indentation_at(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The text of a value whose first line is indented by `indentation` already. An array of plain values is on one line.
pub(super) fn print(value: &Value, style: &Style, indentation: &str) -> String {
    let gap = if style.dense { "" } else { " " };
    let deeper = format!("{indentation}{}", style.unit);
    let lines = |open: char, parts: Vec<String>, close: char| {
        if style.one_line {
            return format!("{open}{}{close}", parts.join(&format!(",{gap}")));
        }
        let line = format!("{}{deeper}", style.line_end);
        format!("{open}{line}{}{}{indentation}{close}", parts.join(&format!(",{line}")), style.line_end)
    };
    match value {
        Value::Object(members) if !members.is_empty() => {
            let member = |(key, value): (&String, &Value)| {
                format!("{}:{gap}{}", Value::from(key.as_str()), print(value, style, &deeper))
            };
            lines('{', members.iter().map(member).collect(), '}')
        }
        Value::Array(elements) if elements.iter().any(|one| one.is_object() || one.is_array()) => {
            lines('[', elements.iter().map(|one| print(one, style, &deeper)).collect(), ']')
        }
        Value::Array(elements) => {
            format!("[{}]", elements.iter().map(ToString::to_string).collect::<Vec<_>>().join(&format!(",{gap}")))
        }
        plain => plain.to_string(),
    }
}
