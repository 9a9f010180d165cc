//! What a cell put out, as text.

use std::{borrow::Cow, collections::BTreeMap};

use serde::Deserialize;
use serde_json::value::RawValue;

use text_file::file_size;

/// The values of an object by their names, each read when it is needed.
pub(super) type Fields<'j> = BTreeMap<Cow<'j, str>, &'j RawValue>;

/// One output of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellOutput {
    /// Its kind: `stdout`, `result`, `display`, `error` …
    pub kind: String,
    /// Its text, without terminal escapes.
    pub text: String,
    /// Its other forms besides text, as media types with sizes.
    pub other: Vec<String>,
}

impl CellOutput {
    /// Reads the JSON of an output of either version.
    pub(super) fn of(json: &str) -> Self {
        let Ok(fields) = serde_json::from_str::<Fields<'_>>(json) else { return Self::default() };
        let text = |name: &str| fields.get(name).map(|value| text_of(value)).unwrap_or_default();
        match text("output_type").as_str() {
            "stream" => {
                let kind = [text("name"), text("stream")].into_iter().find(|name| !name.is_empty());
                let kind = kind.unwrap_or_else(|| "stream".to_owned());
                Self { kind, text: clean(&text("text")), other: Vec::new() }
            }
            "error" | "pyerr" => {
                let lines: Option<Vec<String>> = value_of(fields.get("traceback").copied());
                let traceback = lines.filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n"));
                let text = traceback.unwrap_or_else(|| format!("{}: {}", text("ename"), text("evalue")));
                Self { kind: "error".to_owned(), text: clean(&text), other: Vec::new() }
            }
            kind => {
                let kind = match kind {
                    "execute_result" | "pyout" => "result",
                    "display_data" => "display",
                    "" => "output",
                    other => other,
                };
                let data = value_of(fields.get("data").copied());
                // Version 3 has the forms next to the type of the output.
                Self::of_forms(kind, data.as_ref().unwrap_or(&fields))
            }
        }
    }

    /// An output in several forms, of which plain text is shown.
    fn of_forms(kind: &str, forms: &Fields<'_>) -> Self {
        const NO_FORMS: [&str; 4] = ["output_type", "metadata", "prompt_number", "execution_count"];
        let mut output = Self { kind: kind.to_owned(), ..Self::default() };
        for (form, value) in forms.iter().filter(|(form, _)| !NO_FORMS.contains(&&***form)) {
            match &**form {
                "text/plain" | "text" => output.text = clean(&text_of(value)),
                _ => output.other.push(format!("{form}, {}", file_size(value.get().len() as u64))),
            }
        }
        output
    }
}

/// The value of a field; `None` where it is missing or of another type.
pub(super) fn value_of<'j, T: Deserialize<'j>>(field: Option<&'j RawValue>) -> Option<T> {
    serde_json::from_str(field?.get()).ok()
}

/// A string, or a list of them, as one.
fn text_of(value: &RawValue) -> String {
    let lines = || value_of::<Vec<String>>(Some(value)).map(|lines| lines.concat());
    value_of(Some(value)).or_else(lines).unwrap_or_default()
}

/// `text` as a terminal leaves it: without escape sequences, and of what a carriage return overwrote the last.
fn clean(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let line = line.trim_end_matches('\r');
        let last = line.rsplit('\r').find(|shown| !shown.is_empty()).unwrap_or_default();
        push_without_escapes(&mut plain, last);
        plain.push_str(end);
    }
    plain
}

/// Leaves out what ECMA-48 calls control sequences (`ESC [` … letter) and strings (`ESC ]` … BEL or `ESC \`).
fn push_without_escapes(plain: &mut String, mut text: &str) {
    while let Some((before, behind)) = text.split_once('\u{1b}') {
        plain.push_str(before);
        let end = match behind.as_bytes().first() {
            Some(b'[') => behind.find(|character| matches!(character, '@'..='~') && character != '[').map(|at| at + 1),
            Some(b']') => behind.find('\u{7}').map(|at| at + 1).or_else(|| behind.find("\u{1b}\\").map(|at| at + 2)),
            Some(_) => behind.char_indices().nth(1).map(|(at, _)| at),
            None => None,
        };
        text = &behind[end.unwrap_or(behind.len())..];
    }
    plain.push_str(text);
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn output(json: &Value) -> (String, String, Vec<String>) {
        let CellOutput { kind, text, other } = CellOutput::of(&json.to_string());
        (kind, text, other)
    }

    fn plain(kind: &str, text: &str) -> (String, String, Vec<String>) {
        (kind.to_owned(), text.to_owned(), Vec::new())
    }

    #[test]
    fn text_of_each_kind_of_output_is_shown() {
        let stream = json!({ "output_type": "stream", "name": "stderr", "text": ["a\n", "b"] });
        assert_eq!(output(&stream), plain("stderr", "a\nb"));
        let result = json!({ "output_type": "execute_result", "execution_count": 3, "metadata": {},
            "data": { "text/plain": "42", "text/html": ["<b>", "42</b>"], "application/json": { "a": 1 } } });
        let expected = vec!["application/json, 7 B".to_owned(), "text/html, 16 B".to_owned()];
        assert_eq!(output(&result), ("result".to_owned(), "42".to_owned(), expected));
        let error = json!({ "output_type": "error", "ename": "E", "evalue": "v",
            "traceback": ["\u{1b}[0;31mE\u{1b}[0m: v", "\u{1b}]8;;x\u{7}link"] });
        assert_eq!(output(&error), plain("error", "E: v\nlink"));
        assert_eq!(output(&json!({ "output_type": "pyerr", "ename": "E", "evalue": "v" })), plain("error", "E: v"));
        let old =
            json!({ "output_type": "pyout", "prompt_number": 1, "metadata": {}, "text": ["4", "2"], "png": "aGk=" });
        assert_eq!(output(&old), ("result".to_owned(), "42".to_owned(), vec!["png, 6 B".to_owned()]));
        assert_eq!(output(&json!([1])), plain("", ""));
    }

    #[test]
    fn overwritten_text_and_unfinished_escapes_are_left_out() {
        assert_eq!(clean("10%\r50%\r100%\ndone\r\n"), "100%\ndone\n");
        assert_eq!(clean("a\u{1b}[31"), "a");
        assert_eq!(clean("a\u{1b}"), "a");
        assert_eq!(clean("\u{1b}(Bx\u{1b}[?25hy"), "Bxy");
    }
}
