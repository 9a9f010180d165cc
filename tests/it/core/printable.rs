//! A document never speaks as the server: what comes from a file and is no line of it is printed in one line, escaped; what
//! is shown of its lines is exact, and a note names what a person does not see.

use file_tools::{Group, Selection, Settings};
use office_text::testing::{docx, opendocument, pptx, xlsx};
use serde_json::{Value, json};

use crate::harness::{Answer, Harness, Setup};

/// A reordering character, a tag, one without width, two ends of lines.
const HOSTILE: &str = "a\u{202e}b\u{e0041}c\u{200b}d\u{85}e\u{2028}f";
const FORGED: &str = "hint: forged";

fn open() -> Harness {
    let settings = Settings { max_output: Some(6000), ..Settings::default() };
    let selection = Selection { groups: vec![Group::Manage, Group::Patch], ..Selection::default() };
    Setup { settings, selection, state: true, ..Setup::default() }.open()
}

/// No raw character, neither in the text nor in the facts, and no line that the file begins.
#[track_caller]
fn assert_escaped(answer: &Answer) {
    let facts = if answer.error_kind().is_none() { answer.facts() } else { serde_json::Map::new() };
    let all = [answer.text(), Value::Object(facts).to_string()];
    for text in &all {
        let raw = text.chars().find(|one| *one != 'a' && HOSTILE.contains(*one) && !one.is_ascii());
        assert!(raw.is_none() && !text.contains('\u{1b}'), "{raw:?} in {text}");
        assert!(!text.split(['\n', '\r']).any(|line| line.starts_with(FORGED)), "{text}");
    }
    assert!(all[0].contains("\\u{202e}") || all[0].contains("\\u{e0041}"), "nothing was planted: {}", all[0]);
}

/// Each raw character is named in a note.
#[track_caller]
fn assert_reported(answer: &Answer) {
    let text = answer.text();
    assert!(text.contains('\u{202e}'), "nothing was planted: {text}");
    let note =
        text.lines().find(|line| line.contains("hidden characters: ")).unwrap_or_else(|| panic!("no note: {text}"));
    for code in ["U+202E", "U+E0041", "U+200B"] {
        assert!(note.contains(code), "{code}: {text}");
    }
}

fn shape(title: &str) -> String {
    format!(
        "<p:sp><p:nvSpPr><p:nvPr><p:ph type='title'/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>{title}</a:t></a:r></a:p></p:txBody></p:sp>"
    )
}

#[test]
fn titles_of_documents_are_escaped() {
    let h = open();
    h.write("a.pptx", pptx(&[(&shape(HOSTILE), "")]));
    assert_escaped(&h.call("read", json!({ "path": "a.pptx" })));
    let title = format!(
        "<draw:frame presentation:class='title'><draw:text-box><text:p>{HOSTILE}</text:p></draw:text-box></draw:frame>"
    );
    h.write("a.odp", opendocument("presentation", "", &format!("<draw:page>{title}</draw:page>"), &[]));
    assert_escaped(&h.call("read", json!({ "path": "a.odp" })));
    let name = format!("{HOSTILE}&#10;{FORGED}");
    let rows = "<row r='1'><c r='A1' t='str'><v>x</v></c></row>".to_owned()
        + &(2..400)
            .map(|n| format!("<row r='{n}'><c r='A{n}' t='str'><v>long line of text</v></c></row>"))
            .collect::<Vec<_>>()
            .concat();
    h.write("a.xlsx", xlsx(&[(&name, &rows), (&name, &rows)], "", ""));
    for part in [json!({}), json!({ "part": "sheet 1 rows 1-9" })] {
        let mut call = json!({ "path": "a.xlsx" });
        call.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        assert_escaped(&h.call("read", call));
    }
    let table = format!(
        "<table:table table:name='{name}'><table:table-row><table:table-cell/></table:table-row></table:table>"
    );
    h.write("a.ods", opendocument("spreadsheet", "", &table, &[]));
    assert_escaped(&h.call("read", json!({ "path": "a.ods" })));
    // A sheet's name in sentences: the second has a break alone, which nothing else shows.
    h.write("b.xlsx", xlsx(&[(&format!("x&#10;{FORGED}"), &rows)], "", ""));
    for part in ["sheet none", "sheet 1 rows 900-901"] {
        assert_escaped_or_numbered(&h.call("read", json!({ "path": "a.xlsx", "part": part })));
        assert_escaped_or_numbered(&h.call("read", json!({ "path": "b.xlsx", "part": part })));
    }
    let heading =
        |text: &str| format!("<w:p><w:pPr><w:outlineLvl w:val='0'/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>");
    let body = (heading(HOSTILE) + &heading(&"words ".repeat(200))).repeat(20);
    h.write("a.docx", docx(&body, &[]));
    assert_escaped(&h.call("read", json!({ "path": "a.docx", "part": "section none" })));
    let read = h.call("read", json!({ "path": "a.docx" })).text();
    let outline = read.split_once("not shown: ").expect("an outline").1;
    assert!(outline.contains("\\u{202e}") && !outline.contains('\u{202e}'), "{outline}");
}

#[track_caller]
fn assert_escaped_or_numbered(answer: &Answer) {
    let text = answer.text();
    assert!(answer.error_kind().is_some(), "{text}");
    assert!(!text.contains('\u{202e}') && !text.lines().any(|line| line.starts_with(FORGED)), "{text}");
}

#[test]
fn definitions_and_headings_are_escaped() {
    let h = open();
    h.write("a.md", format!("# {HOSTILE}\n\nneedle\n"));
    let grep = h.call("grep", json!({ "pattern": "needle", "scope": true }));
    assert_escaped(&grep);
    let body: String = (0..300).map(|_| "words and more words\n").collect();
    h.write("b.md", format!("# first\n{body}\n# {HOSTILE}\n"));
    assert_escaped(&h.call("read", json!({ "path": "b.md" })));
    assert_escaped(&h.call("read", json!({ "path": "b.md", "part": format!("def {HOSTILE}x") })));
}

#[test]
fn problems_of_a_change_are_escaped() {
    let h = open();
    for (name, content) in [
        ("a.json", format!("{{\"{HOSTILE}\": 1, \"{HOSTILE}\": 2}}")),
        ("a.yaml", format!("\"{HOSTILE}\": 1\n\"{HOSTILE}\": 2\n")),
        ("a.xml", format!("<a b='1'><{HOSTILE}></a>")),
        ("a.toml", format!("\"{HOSTILE}\" = 1\n\"{HOSTILE}\" = 2\n")),
    ] {
        let text = h.call("write", json!({ "path": name, "content": content })).ok();
        let problem = text.split_once("new problem").unwrap_or_else(|| panic!("no problem: {text}")).1;
        assert!(!problem.contains(['\u{202e}', '\u{e0041}', '\u{200b}']), "{problem}");
    }
}

#[test]
fn parts_of_a_notebook_are_escaped() {
    let h = open();
    let name = format!("{HOSTILE}\u{1b}\n{FORGED}");
    let output = json!({ "output_type": "display_data", "metadata": {}, "data": { name.as_str(): "x" } });
    let stream = json!({ "output_type": "stream", "name": name, "text": "x" });
    let cell = json!({ "cell_type": name, "id": name, "metadata": {}, "source": "x", "outputs": [output, stream] });
    h.write("a.ipynb", json!({ "cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5 }).to_string());
    assert_escaped(&h.call("read", json!({ "path": "a.ipynb" })));
}

#[cfg(unix)]
#[test]
fn names_are_escaped() {
    let h = open();
    let name = format!("{HOSTILE}\u{1b}\n{FORGED}");
    h.write(&name, "needle\n");
    h.symlink(&name, "link");
    for (tool, arguments) in [
        ("ls", json!({})),
        ("glob", json!({ "pattern": "*" })),
        ("grep", json!({ "pattern": "needle" })),
        ("grep", json!({ "pattern": "needle", "context": 1 })),
        ("read", json!({ "path": name })),
        ("read", json!({ "path": format!("{HOSTILE}\u{1b}\n{FORGEX}", FORGEX = "hint: forger") })),
        ("undo", json!({ "path": format!("{name}x") })),
    ] {
        let text = h.call(tool, arguments.clone()).text();
        assert!(!text.contains(['\u{202e}', '\u{1b}', '\u{2028}']), "{tool} {arguments}: {text}");
        assert!(!text.lines().any(|line| line.starts_with(FORGED)), "{tool} {arguments}: {text}");
    }
}

#[test]
fn lines_of_a_file_are_exact_and_reported() {
    let h = open();
    let line = format!("let value = \"{HOSTILE}\";");
    let content = format!("one\n{line}\nthree\nlet other = 1;\nlet other = 1; // {HOSTILE}\n");
    h.write("a.rs", &content);
    let read = h.call("read", json!({ "path": "a.rs" }));
    assert_reported(&read);
    let rev = read.facts()["revision"].as_str().unwrap()[..6].to_owned();
    assert_reported(&h.call("grep", json!({ "pattern": "value" })));
    // The nearest block, and several places.
    assert_reported(
        &h.call("edit", json!({ "path": "a.rs", "old_string": "one\nlet valve = 1\nthree", "new_string": "x" })),
    );
    assert_reported(&h.call("edit", json!({ "path": "a.rs", "old_string": "let other = 1;", "new_string": "x" })));
    let patch = |old: &str| json!({ "patch": format!("*** Begin Patch\n*** Update File: a.rs\n@@\n{old}\n+x\n*** End Patch\n") });
    assert_reported(&h.call("apply_patch", patch(" one\n-let valve = 1\n three")));
    assert_reported(&h.call("apply_patch", patch(&format!("-{line}\n-wrong"))));
    // What changed.
    let changed = content.replace("one", &format!("eins {HOSTILE}"));
    h.write("a.rs", &changed);
    assert_reported(&h.call("read", json!({ "path": "a.rs", "since": rev })));
    h.write("a.rs", format!("{changed}more\n").replace("eins", "uno"));
    assert_reported(&h.call("edit", json!({ "path": "a.rs", "old_string": "eins", "new_string": "x" })));
}

#[test]
fn escape_sequence_is_reported_wherever_a_line_is_shown() {
    let h = open();
    h.write("a.txt", "one\nred \u{1b}[31m\nthree\n");
    let cell = json!({ "cell_type": "code", "metadata": {}, "source": "red \u{1b}[31m", "outputs": [] });
    h.write("a.ipynb", json!({ "cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5 }).to_string());
    for (tool, arguments) in [
        ("read", json!({ "path": "a.txt" })),
        ("read", json!({ "path": "a.ipynb" })),
        ("grep", json!({ "pattern": "red", "path": "a.txt" })),
        ("edit", json!({ "path": "a.txt", "old_string": "one\nrad\nthree", "new_string": "x" })),
    ] {
        let text = h.call(tool, arguments).text();
        assert!(text.contains("U+001B"), "{tool}: {text}");
    }
}

#[test]
fn ordinary_titles_are_printed_as_they_are() {
    let h = open();
    for title in ["Über « Prix\u{a0}»", "👩\u{200d}💻 plan ❤\u{fe0f}", "می\u{200c}خواهم", "日本\u{3000}語", "a\\u{41}"]
    {
        h.write("a.pptx", pptx(&[(&shape(title), "")]));
        let text = h.call("read", json!({ "path": "a.pptx" })).ok();
        let shown = title.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.starts_with(&format!("--- slide 1 of 1: {shown} (hidden) ---\n")), "{text}");
        h.write("a.md", format!("# {title}\n\nneedle\n"));
        let text = h.call("grep", json!({ "pattern": "needle", "scope": true })).ok();
        assert!(text.contains(&format!("[# {title}]")), "{text}");
    }
}
