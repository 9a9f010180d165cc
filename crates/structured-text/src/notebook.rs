//! Jupyter notebooks: the cells of a file of JSON, where each source is in it, and a changed source.
//!
//! Versions 3 and 4 of the format (<https://nbformat.readthedocs.io/en/latest/format_description.html>). Only places in
//! the JSON are kept, so that a change of one source leaves every other byte of the file as it was. The strings of a list
//! are joined as they are; in version 3 they are the lines where the first has no line break.

mod source;

use std::{borrow::Cow, cell::OnceCell, collections::BTreeMap, ops::Range};

use serde::Deserialize;
use serde_json::value::RawValue;
use text_file::file_size;

use source::{CellSource, JsonStyle, ListLayout, between};

pub use source::SourceEdit;

/// The cells of a notebook.
#[derive(Debug)]
pub struct Notebook<'t> {
    text: &'t str,
    cells: Vec<Cell<'t>>,
    /// The style and the layout cost a pass over the whole file, and an edit may change each of many cells.
    style: OnceCell<JsonStyle>,
    layout: OnceCell<Option<ListLayout>>,
}

/// One cell of a notebook.
#[derive(Debug)]
pub struct Cell<'t> {
    /// `code`, `markdown`, `raw` or `heading`.
    pub kind: String,
    /// Its id, where the format has one.
    pub id: Option<String>,
    /// How many executions there had been when it was executed.
    pub count: Option<u64>,
    source: CellSource,
    outputs: Vec<&'t RawValue>,
    /// Whether it is one of version 3.
    is_old: bool,
}

impl<'t> Notebook<'t> {
    /// The notebook in `text`; `None` if it is none.
    ///
    /// # Examples
    /// ```
    /// use structured_text::Notebook;
    ///
    /// let text = r#"{"cells": [{"cell_type": "code", "source": ["a = 1\n", "b = 2"]}], "nbformat": 4}"#;
    /// let notebook = Notebook::parse(text).unwrap();
    /// assert_eq!(notebook.cells()[0].source(), "a = 1\nb = 2");
    /// let edit = notebook.replaced(0, "a = 1\nb = \"3\"");
    /// let mut changed = text.to_owned();
    /// changed.replace_range(edit.span, &edit.json);
    /// assert_eq!(changed, text.replace("b = 2", r#"b = \"3\""#));
    /// ```
    pub fn parse(text: &'t str) -> Option<Self> {
        let fields: Fields<'t> = serde_json::from_str(text).ok()?;
        let version: Option<u64> = value_of(fields.get("nbformat").copied());
        // Other programs than Jupyter do not know version 2, whose cells have other fields.
        if version.is_some_and(|version| version < 3) {
            return None;
        }
        let is_old = version == Some(3) || !fields.contains_key("cells");
        let lists = if let Some(cells) = fields.get("cells") {
            vec![*cells]
        } else {
            // Version 3 has its cells in sheets.
            let sheets: Vec<Fields<'t>> = value_of(fields.get("worksheets").copied())?;
            sheets.iter().map(|sheet| sheet.get("cells").copied()).collect::<Option<_>>()?
        };
        let mut cells = Vec::new();
        for list in lists {
            let list: Vec<Fields<'t>> = value_of(Some(list))?;
            cells.extend(list.iter().map(|fields| Cell::of(fields, text, is_old)).collect::<Option<Vec<_>>>()?);
        }
        Some(Self { text, cells, style: OnceCell::new(), layout: OnceCell::new() })
    }

    /// The cells, in their order.
    pub fn cells(&self) -> &[Cell<'t>] {
        &self.cells
    }

    /// The lines of cells' sources that are at `place` in the text, each with its cell and its number there, counted
    /// from 1.
    pub fn source_lines<'s>(&'s self, place: &'s Range<usize>) -> impl Iterator<Item = (usize, usize, &'s str)> {
        let pieces = move |(index, cell): (usize, &'s Cell<'t>)| {
            cell.source.lines_in(place.clone()).map(move |(number, line)| (index + 1, number, line))
        };
        self.cells.iter().enumerate().flat_map(pieces)
    }

    /// The change of the text that gives the cell `index` the source `new`. Lines that stay keep their bytes;
    /// others are written as the notebook writes its own.
    ///
    /// # Panics
    /// If there is no such cell.
    pub fn replaced(&self, index: usize, new: &str) -> SourceEdit {
        let cell = &self.cells[index];
        let style = *self.style.get_or_init(|| JsonStyle::of(self.text));
        let first_layout = || self.cells.iter().find_map(|cell| cell.source.list_layout(self.text));
        cell.source.replaced(self.text, new, style, || self.layout.get_or_init(first_layout).clone())
    }
}

impl<'t> Cell<'t> {
    fn of(fields: &Fields<'t>, text: &'t str, is_old: bool) -> Option<Self> {
        let get = |name: &str| fields.get(name).copied();
        Some(Self {
            kind: value_of(get("cell_type"))?,
            id: value_of(get("id")),
            // The second name of each is that of a code cell in version 3.
            count: value_of(get("execution_count")).or_else(|| value_of(get("prompt_number"))),
            source: CellSource::parse(get("source").or_else(|| get("input"))?, text, is_old)?,
            is_old,
            outputs: get("outputs").map_or(Some(None), |outputs| value_of(Some(outputs)))?.unwrap_or_default(),
        })
    }

    /// Its source, without the escapes of JSON.
    pub fn source(&self) -> &str {
        self.source.text()
    }

    /// Its outputs, each read when it is asked for.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = CellOutput> {
        self.outputs.iter().map(|raw| CellOutput::of(raw.get(), self.is_old))
    }

    /// Whether its source is a list of several strings of which one ends within a line, so that lines are glued together.
    pub fn is_glued(&self) -> bool {
        self.source.is_glued()
    }
}

/// The values of an object by their names, each read when it is needed.
type Fields<'j> = BTreeMap<Cow<'j, str>, &'j RawValue>;

/// One output of a cell, as text.
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
    fn of(json: &str, is_old: bool) -> Self {
        let Ok(fields) = serde_json::from_str::<Fields<'_>>(json) else { return Self::default() };
        let text = |name: &str| fields.get(name).map(|value| text_of(value, is_old)).unwrap_or_default();
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
                Self::of_forms(kind, data.as_ref().unwrap_or(&fields), is_old)
            }
        }
    }

    fn of_forms(kind: &str, forms: &Fields<'_>, is_old: bool) -> Self {
        const NO_FORMS: [&str; 4] = ["output_type", "metadata", "prompt_number", "execution_count"];
        let mut output = Self { kind: kind.to_owned(), ..Self::default() };
        for (form, value) in forms.iter().filter(|(form, _)| !NO_FORMS.contains(&&***form)) {
            match &**form {
                "text/plain" | "text" => output.text = clean(&text_of(value, is_old)),
                _ => output.other.push(format!("{form}, {}", file_size(value.get().len() as u64))),
            }
        }
        output
    }
}

/// The value of a field; `None` where it is missing or of another type.
fn value_of<'j, T: Deserialize<'j>>(field: Option<&'j RawValue>) -> Option<T> {
    serde_json::from_str(field?.get()).ok()
}

fn text_of(value: &RawValue, is_old: bool) -> String {
    let lines = || value_of::<Vec<String>>(Some(value)).map(|lines| lines.join(between(&lines, is_old)));
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
    while let Some((before, after)) = text.split_once('\u{1b}') {
        plain.push_str(before);
        let end = match after.as_bytes().first() {
            Some(b'[') => after.find(|character| matches!(character, '@'..='~') && character != '[').map(|at| at + 1),
            Some(b']') => after.find('\u{7}').map(|at| at + 1).or_else(|| after.find("\u{1b}\\").map(|at| at + 2)),
            Some(_) => after.char_indices().nth(1).map(|(at, _)| at),
            None => None,
        };
        text = &after[end.unwrap_or(after.len())..];
    }
    plain.push_str(text);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn replaced(text: &str, index: usize, new: &str) -> String {
        let edit = Notebook::parse(text).expect("a notebook").replaced(index, new);
        let changed = [&text[..edit.span.start], &edit.json, &text[edit.span.end..]].concat();
        let notebook = Notebook::parse(&changed).unwrap_or_else(|| panic!("no notebook: {changed}"));
        assert_eq!(notebook.cells()[index].source(), new, "{changed}");
        changed
    }

    fn with_source(source: &str) -> String {
        format!("{{\n \"cells\": [\n  {{\n   \"cell_type\": \"code\",\n   \"source\": {source}\n  }}\n ]\n}}\n")
    }

    #[test]
    fn cells_of_both_versions_are_read() {
        let text = r#"{"nbformat": 4, "cells": [
            {"cell_type": "code", "id": "a1", "execution_count": 3, "source": ["a\n", "b"], "outputs": [{}]},
            {"cell_type": "markdown", "source": "\u00e9\ud83d\ude00\u000ab"}, {"cell_type": "raw", "source": []}]}"#;
        let notebook = Notebook::parse(text).unwrap();
        let cells: Vec<_> = notebook
            .cells()
            .iter()
            .map(|cell| (cell.kind.as_str(), cell.id.as_deref(), cell.count, cell.source()))
            .collect();
        let expected =
            [("code", Some("a1"), Some(3), "a\nb"), ("markdown", None, None, "é😀\nb"), ("raw", None, None, "")];
        assert_eq!(cells, expected);
        let text = r#"{"worksheets": [{"cells": [{"cell_type": "code", "input": "x", "prompt_number": 2},
            {"cell_type": "heading", "level": 1, "source": ["T"]}]}]}"#;
        let notebook = Notebook::parse(text).unwrap();
        assert_eq!((notebook.cells()[0].source(), notebook.cells()[0].count), ("x", Some(2)));
        assert_eq!(notebook.cells()[1].source(), "T");
    }

    #[test]
    fn what_is_no_notebook_is_none() {
        for text in [
            "",
            "[]",
            "{}",
            "{\"cells\": 1}",
            "{\"cells\": [1]}",
            "{\"cells\": [{\"cell_type\": \"code\"}]}",
            "{\"cells\": [{\"cell_type\": \"code\", \"source\": 1}]}",
            "{\"cells\": [{\"cell_type\": \"code\", \"source\": [\"a\", 1]}]}",
            "{\"cells\": [{\"cell_type\": \"code\", \"source\": \"\\ud83d\"}]}",
            "{\"cells\": []} x",
        ] {
            assert!(Notebook::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn deep_json_needs_no_stack() {
        let deep = format!("{{\"cells\": [], \"x\": {}{}}}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert!(Notebook::parse(&deep).is_none_or(|notebook| notebook.cells().is_empty()));
    }

    #[test]
    fn lines_that_stay_keep_their_json_and_new_ones_look_like_them() {
        let list = with_source("[\n    \"a \\u0041\\n\",\n    \"b\\n\",\n    \"c\"\n   ]");
        for (new, source) in [
            ("a A\nB\nc", "[\n    \"a \\u0041\\n\",\n    \"B\\n\",\n    \"c\"\n   ]"),
            ("a A\nc", "[\n    \"a \\u0041\\n\",\n    \"c\"\n   ]"),
            ("b\nc", "[\n    \"b\\n\",\n    \"c\"\n   ]"),
            ("a A\nb\n", "[\n    \"a \\u0041\\n\",\n    \"b\\n\"\n   ]"),
            ("x\na A\nb\nc", "[\n    \"x\\n\",\n    \"a \\u0041\\n\",\n    \"b\\n\",\n    \"c\"\n   ]"),
            ("a A\nb\nc\nd", "[\n    \"a \\u0041\\n\",\n    \"b\\n\",\n    \"c\\n\",\n    \"d\"\n   ]"),
            ("", "[]"),
        ] {
            assert_eq!(replaced(&list, 0, new), with_source(source), "{new:?}");
        }
    }

    #[test]
    fn string_stays_a_string_with_the_escapes_of_its_other_lines() {
        let string = with_source("\"\\u0061\\nb\\u000a\\/c\"");
        assert_eq!(replaced(&string, 0, "a\n\"B\"\n/c"), with_source("\"\\u0061\\n\\\"B\\\"\\n\\/c\""));
        assert_eq!(replaced(&string, 0, ""), with_source("\"\""));
        assert_eq!(replaced(&with_source("\"\""), 0, "x\ny"), with_source("\"x\\ny\""));
        // The file is ASCII and has an escape that need not be one.
        let ascii = with_source("\"\\u00e9\\nb\"");
        assert_eq!(replaced(&ascii, 0, "é\nü"), with_source("\"\\u00e9\\n\\u00fc\""));
    }

    #[test]
    fn list_without_a_layout_takes_that_of_another_or_of_jupyter() {
        assert_eq!(replaced(&with_source("[]"), 0, "a\nb"), with_source("[\n    \"a\\n\",\n    \"b\"\n   ]"));
        let crlf = with_source("[]").replace('\n', "\r\n");
        assert!(replaced(&crlf, 0, "a\nb").contains("[\r\n    \"a\\n\",\r\n    \"b\"\r\n   ]"));
        let compact = r#"{"cells":[{"cell_type":"code","source":[]},{"cell_type":"code","source":["x\n","y"]}]}"#;
        assert!(replaced(compact, 0, "a\nb").contains(r#"["a\n","b"]"#));
        let single = with_source("[\n    \"a\"\n   ]");
        assert_eq!(replaced(&single, 0, "a\nb"), with_source("[\n    \"a\\n\",\n    \"b\"\n   ]"));
    }

    #[test]
    fn lines_of_version_3_are_joined_and_stay_lines_when_they_are_edited() {
        let with = |version: &str, source: &str, outputs: &str| {
            format!(
                "{{\"worksheets\": [{{\"cells\": [{{\"cell_type\": \"code\", \"input\": {source}, \"outputs\": {outputs}}}]}}]{version}}}"
            )
        };
        let three = |source: &str| with(", \"nbformat\": 3", source, "[]");
        for (source, text) in [
            ("[\"a = 1\", \"\", \"b\"]", "a = 1\n\nb"),
            ("[\"a\\n\", \"b\"]", "a\nb"),
            ("[\"a\"]", "a"),
            ("[]", ""),
            ("\"a\\nb\"", "a\nb"),
        ] {
            for json in [three(source), with("", source, "[]")] {
                assert_eq!(Notebook::parse(&json).unwrap().cells()[0].source(), text, "{source}");
            }
        }
        for (old, new, json) in [
            ("[\"a\", \"b\", \"c\"]", "a\nx\ny\nc", "[\"a\", \"x\", \"y\", \"c\"]"),
            ("[\"a\", \"b\", \"c\"]", "a\nc", "[\"a\", \"c\"]"),
            ("[\"a\", \"b\"]", "a\nb\nc\n", "[\"a\", \"b\", \"c\", \"\"]"),
            ("[\"a\", \"b\"]", "a", "[\"a\"]"),
            ("[\"a\", \"b\"]", "", "[]"),
            ("[\"a\",\n  \"b\",\n \"c\"]", "x\nb\nc", "[\"x\",\n  \"b\",\n \"c\"]"),
            ("[]", "a\nb", "[\"a\", \"b\"]"),
            ("[\"a\\n\", \"b\"]", "a\nx\nb", "[\"a\\n\", \"x\\n\", \"b\"]"),
            ("[\"a\"]", "a\n", "[\"a\", \"\"]"),
        ] {
            assert_eq!(replaced(&three(old), 0, new), three(json), "{old}");
        }
        let output = r#"[{"output_type": "stream", "text": ["1", "2"]}]"#;
        let json = with(", \"nbformat\": 3", "[]", output);
        assert_eq!(Notebook::parse(&json).unwrap().cells()[0].outputs().next().unwrap().text, "1\n2");
        assert!(Notebook::parse(&with(", \"nbformat\": 2", "\"a\"", "[]")).is_none());
        for (source, is_glued) in
            [("[\"a\", \"b\"]", true), ("[\"a\\n\", \"b\"]", false), ("[\"a\"]", false), ("\"a\"", false)]
        {
            assert_eq!(Notebook::parse(&with_source(source)).unwrap().cells()[0].is_glued(), is_glued, "{source}");
        }
    }

    proptest! {
        #[test]
        fn lines_of_version_3_can_be_any(old in "[a-c\n]{0,12}", new in "[a-c\n]{0,12}") {
            let list = |text: &str| serde_json::to_string(&text.split('\n').collect::<Vec<_>>()).unwrap();
            let json = |source: &str| format!("{{\"nbformat\": 3, \"cells\": [{{\"cell_type\": \"raw\", \"source\": {source}}}]}}");
            replaced(&json(&list(&old)), 0, &new);
        }

        #[test]
        fn any_source_becomes_any_other_and_all_else_keeps_its_bytes(
            old in "([a-cé\n\"\\\\\t]|😀){0,12}", new in "([a-cé\n\"\\\\\t\u{2028}]|😀){0,12}", is_list in any::<bool>(), is_ascii in any::<bool>(),
        ) {
            let style = if is_ascii { JsonStyle::Ascii } else { JsonStyle::Plain };
            let quoted = |text: &str| format!("\"{}\"", style.escaped(text));
            let source = if is_list {
                format!("[{}]", old.split_inclusive('\n').map(quoted).collect::<Vec<_>>().join(", "))
            } else {
                quoted(&old)
            };
            let text = with_source(&source);
            let changed = replaced(&text, 0, &new);
            let (before, after) = text.split_once(&source).unwrap();
            prop_assert!(changed.starts_with(before) && changed.ends_with(after));
            prop_assert!(!is_ascii || text.matches("\\u").count() == 0 || changed.is_ascii());
        }

        #[test]
        fn any_text_is_read_or_none(text in "[\\[\\]{}\",:a-z\\\\0-9]{0,60}") {
            let _ = Notebook::parse(&text);
        }
    }

    fn output(json: &Value) -> (String, String, Vec<String>) {
        let CellOutput { kind, text, other } = CellOutput::of(&json.to_string(), false);
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
