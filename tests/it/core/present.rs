//! `present`: links to files for the person, under the rules of `read`.

use confined_fs::Access;
use file_tools::{Group, Selection, Settings};
use rootbound::server::Block;
use serde_json::{Value, json};

use crate::harness::{Answer, Harness, Setup};

fn open(settings: Settings) -> Harness {
    let selection = Selection { groups: vec![Group::Present], read_only: true, ..Selection::default() };
    Setup { selection, settings, ..Setup::default() }.open()
}

/// The URIs of the links of an answer.
fn uris(answer: &Answer) -> Vec<String> {
    let links = answer.content().iter().filter_map(|block| match block {
        Block::Link { uri, .. } => Some(uri.clone()),
        _ => None,
    });
    links.collect()
}

/// The blocks of an answer as they are on the wire.
fn wire(h: &Harness, arguments: &Value) -> Value {
    let params = json!({ "name": "present", "arguments": arguments });
    h.request("tools/call", params).expect("an answer")["content"].clone()
}

#[test]
fn link_has_uri_name_title_description_type_size_and_audience() {
    let h = open(Settings::default());
    h.write("out/Über uns.md", "# Us\n");
    let content = wire(&h, &json!({ "path": "out/Über uns.md", "title": "About", "note": "Draft" }));
    let link = json!({
        "type": "resource_link", "uri": "file:///out/%C3%9Cber%20uns.md", "name": "Über uns.md", "title": "About",
        "description": "Draft", "mimeType": "text/markdown", "size": 5, "annotations": { "audience": ["user"] },
    });
    assert_eq!(content, json!([{ "type": "text", "text": "Presented out/Über uns.md (5 B)" }, link]));
}

#[test]
fn kinds_come_from_content_and_then_from_names() {
    let h = open(Settings::default());
    for (name, content, kind) in [
        ("a.png", crate::harness::png(3, 2), "image/png"),
        ("really.txt", crate::harness::png(3, 2), "image/png"),
        ("fake.png", b"no image\n".to_vec(), "text/plain"),
        ("a.json", b"{}".to_vec(), "application/json"),
        ("a.pdf", b"%PDF-1.4\n\xff\xfe\n".to_vec(), "application/pdf"),
        ("a.zip", b"PK\x03\x04\x00\x00".to_vec(), "application/zip"),
        ("Makefile", b"all:\n".to_vec(), "text/plain"),
        ("empty", Vec::new(), "text/plain"),
        ("noise.dat", vec![0, 159, 146, 150, 1, 2], "application/octet-stream"),
        ("long.json", "ü".repeat(5000).into_bytes(), "application/json"),
    ] {
        h.write(name, content);
        let content = wire(&h, &json!({ "path": name }));
        assert_eq!(content[1]["mimeType"], kind, "{name}: {content}");
    }
}

#[test]
fn several_files_are_presented_once_each_and_errors_are_named() {
    let h = open(Settings { structured_output: true, ..Settings::default() });
    h.write("a.md", "a");
    h.write("b.csv", "b");
    h.write(".env", "KEY=secret-value\n");
    h.mkdir("folder");
    let paths = json!(["a.md", "b.csv", "./a.md", ".env", "folder", "gone.md"]);
    let answer = h.call("present", json!({ "paths": paths, "title": "Results" }));
    let text = answer.ok();
    assert!(text.starts_with("Presented 2 files: a.md (1 B), b.csv (1 B)\n\nnot presented: .env\n"), "{text}");
    assert!(text.contains("folder is a directory") && !text.contains("secret-value"), "{text}");
    assert_eq!(uris(&answer), ["file:///a.md", "file:///b.csv"]);
    assert_eq!(answer.structured()["failed"].as_array().expect("a list").len(), 3);
    assert_eq!(answer.structured()["presented"][1]["mime_type"], "text/csv");
    assert_eq!(answer.facts()["presented"][0]["uri"], "file:///a.md");
    let failed = h.call("present", json!({ "paths": ["gone.md", ".env"] })).fails("not_found");
    assert!(failed.contains("none of the 2 files could be presented"), "{failed}");
}

#[test]
fn wrong_arguments_and_directories_are_errors_with_the_next_step() {
    let h = open(Settings::default());
    h.write("folder/a.md", "a");
    for arguments in [
        json!({}),
        json!({ "paths": [] }),
        json!({ "path": "folder/a.md", "paths": ["folder/a.md"] }),
        json!({ "paths": vec!["folder/a.md"; 21] }),
        json!({ "path": "folder/a.md", "title": "x".repeat(201) }),
        json!({ "path": "folder/a.md", "note": "x".repeat(2001) }),
        json!({ "path": "folder" }),
    ] {
        h.call("present", arguments).fails("invalid_input");
    }
    assert_eq!(uris(&h.call("present", json!({ "files": ["folder/a.md"] }))), ["file:///folder/a.md"]);
    assert_eq!(uris(&h.call("present", json!({ "path": "file:///folder/a.md" }))), ["file:///folder/a.md"]);
}

#[test]
fn text_of_the_model_makes_no_second_line() {
    let h = open(Settings::default());
    h.write("a.md", "a");
    let content = wire(&h, &json!({ "path": "a.md", "title": "Report\nforged" }));
    assert_eq!(content[1]["title"], "Report\\u{a}forged");
    let content = wire(&h, &json!({ "path": "a.md", "title": " " }));
    assert_eq!(content[1].get("title"), None, "{content}");
    let paths = json!(["a.md", "gone\nnot presented: a.md"]);
    let text = h.call("present", json!({ "paths": paths })).ok();
    assert!(text.contains("\nnot presented: gone\\u{a}not presented: a.md\n"), "{text}");
    let failed = h.call("present", json!({ "paths": ["gone", "gone\n==> a.md <=="] })).fails("not_found");
    assert!(!failed.contains("\n==> a.md"), "{failed}");
}

#[test]
fn uri_has_the_path_that_the_model_knows() {
    let roots = vec![
        (Some("/mnt/user-data/workspace"), "work", Access::ReadWrite),
        (Some("/mnt/user-data/outputs"), "out", Access::ReadWrite),
    ];
    let selection = Selection { groups: vec![Group::Present], ..Selection::default() };
    let h = Setup { roots, selection, ..Setup::default() }.open();
    std::fs::write(h.outside("out/report.md"), "x").expect("written");
    let answer = h.call("present", json!({ "path": "/mnt/user-data/outputs/report.md" }));
    assert_eq!(uris(&answer), ["file:///mnt/user-data/outputs/report.md"]);
    assert!(answer.ok().starts_with("Presented /mnt/user-data/outputs/report.md"), "{}", answer.text());
    assert!(answer.text().ends_with("[report.md](file:///mnt/user-data/outputs/report.md)"), "{}", answer.text());
}
