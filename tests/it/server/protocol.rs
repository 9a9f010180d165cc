//! What a client receives before its first call (tools, schemas, instructions), and what every
//! answer is made of, whatever the tool.

use confined_fs::Access;
use file_tools::{Selection, Settings, Toolbox};
use rootbound::server::{Block, InProcessClient, list_once};
use serde_json::{Value, json};

use crate::harness::{Harness, Setup, mcp_test};

fn list(h: &Harness) -> Value {
    h.request("tools/list", json!({})).expect("a list")
}

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().expect("tools").iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

/// The instructions of a server on these roots, and the folder that no model may see.
fn instructions(setup: &Setup) -> (String, String) {
    let h = setup.clone().open();
    let dir = h.outside("");
    let mut client = InProcessClient::connect(setup.server(&dir)).expect("the server starts");
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } });
    let answer = client.request("initialize", params).expect("a session");
    (answer["instructions"].as_str().expect("instructions").to_owned(), dir.display().to_string())
}

/// The names of the tools that a server with this selection offers, in their order.
fn offered(selection: &Selection) -> Vec<&'static str> {
    Toolbox::new(selection).tools().iter().map(|tool| tool.spec.name).collect()
}

mcp_test!(the_core_tools_are_listed_by_name, |h| {
    let listed = list(&h);
    assert_eq!(names(&listed), offered(&Selection::default()));
    for tool in ["edit", "glob", "grep", "ls", "read", "write"] {
        assert!(names(&listed).contains(&tool), "{tool}");
    }
});

mcp_test!(the_tool_list_is_small_and_has_simple_schemas, |h| {
    let list = list(&h);
    let tools = offered(&Selection::default()).len();
    let mut seen = list.clone();
    for tool in seen["tools"].as_array_mut().expect("tools") {
        // Which a model does not see.
        let meta = tool.as_object_mut().and_then(|tool| tool.remove("_meta"));
        assert_eq!(meta, Some(json!({ "anthropic/alwaysLoad": true })), "{tool}");
        let description = tool["description"].as_str().expect("text");
        assert!(description.starts_with("Use this instead of "), "{description}");
    }
    // Each tool 1,783 bytes on average: together 2,300 tokens of o200k, as benches/tokens.py counts them.
    assert!(seen.to_string().len() <= 1_783 * tools, "{} bytes", seen.to_string().len());
    for tool in list["tools"].as_array().expect("tools") {
        let schema = tool["inputSchema"].to_string();
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        for word in ["$ref", "$defs", "$schema", "anyOf", "oneOf", "allOf", "const", "null", "format"] {
            assert!(!schema.contains(&format!("\"{word}\"")), "{word} in {schema}");
        }
        for (name, property) in tool["inputSchema"]["properties"].as_object().expect("properties") {
            let described = property["description"].as_str().is_some_and(|text| !text.is_empty());
            assert!(described && property["type"].is_string(), "{} {name}: {property}", tool["name"]);
            let text = property["description"].as_str().unwrap_or_default();
            assert_eq!(text.matches("Default").count(), text.matches("Default: ").count(), "{} {name}", tool["name"]);
        }
        assert!(tool["title"].is_string() && tool["description"].is_string(), "{tool}");
    }
});

mcp_test!(annotations_describe_the_tools, |h| {
    for tool in list(&h)["tools"].as_array().expect("tools") {
        let writes = matches!(tool["name"].as_str(), Some("edit" | "write"));
        assert_eq!(tool["annotations"]["readOnlyHint"], !writes, "{tool}");
        assert_eq!(tool["annotations"]["destructiveHint"], writes, "{tool}");
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{tool}");
        assert!(tool["annotations"]["idempotentHint"].is_boolean(), "{tool}");
    }
});

#[test]
fn a_read_only_server_offers_nothing_that_changes() {
    let selection = Selection { read_only: true, ..Selection::default() };
    let reading = offered(&selection);
    let h = Setup { selection, ..Setup::default() }.open();
    assert_eq!(names(&list(&h)), reading);
    let changes = ["write", "edit", "move", "undo"];
    assert!(!reading.iter().any(|tool| changes.contains(tool)), "{reading:?}");
    let error = h.request("tools/call", json!({ "name": "write", "arguments": {} })).expect_err("not offered");
    assert_eq!(error, format!("the tool \"write\" is not offered; this server offers {}", reading.join(", ")));
}

#[test]
fn with_structured_output_every_tool_has_an_output_schema_of_an_object() {
    let settings = Settings { structured_output: true, ..Settings::default() };
    let h = Setup { settings, ..Setup::default() };
    let dir = h.clone().open();
    let list = list_once(h.server(&dir.outside(""))).expect("a list");
    for tool in list["tools"].as_array().expect("tools") {
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        assert!(!tool["outputSchema"].to_string().contains("\"$ref\""), "{tool}");
    }
}

#[test]
fn the_instructions_name_roots_and_access_and_no_host_path() {
    let (text, dir) = instructions(&Setup::default());
    assert!(text.starts_with("Use these tools instead of shell commands"), "{text}");
    assert!(text.contains("relative to the workspace root, which is read-write"), "{text}");
    assert!(text.chars().count() < 1_500 && !text.contains(&dir), "{text}");

    let roots = vec![(Some("app"), "one", Access::ReadWrite), (Some("/mnt/docs"), "two", Access::ReadOnly)];
    let (text, dir) = instructions(&Setup { roots, ..Setup::default() });
    assert!(text.contains("app (read-write)") && text.contains("/mnt/docs (read-only)"), "{text}");
    assert!(text.chars().count() < 1_500 && !text.contains(&dir), "{text}");
}

#[test]
fn the_instructions_mention_only_tools_that_are_offered() {
    let selection = Selection { only: Some(vec!["read".into(), "ls".into()]), ..Selection::default() };
    let (text, _) = instructions(&Setup { selection, ..Setup::default() });
    assert!(text.contains("read shows a file") && text.contains("ls shows a directory"), "{text}");
    assert!(!text.contains("glob") && !text.contains("edit") && !text.contains("See a file before"), "{text}");
}

mcp_test!(an_answer_is_one_text_block_with_metadata, |h| {
    h.write("dir/a.txt", "one\ntwo\n");
    let answer = h.call("read", json!({ "path": "dir/a.txt" }));
    assert_eq!(answer.content(), [Block::Text { text: "1\tone\n2\ttwo\n(2 lines, rev c3f9c8)".to_owned() }]);
    assert_eq!(answer.facts()["total_lines"], 2);
    assert_eq!(answer.error_kind(), None);
});

mcp_test!(an_image_is_an_image_block, |h| {
    h.write("dot.png", crate::harness::png(1, 1));
    let answer = h.call("read", json!({ "path": "dot.png" }));
    answer.ok();
    let images =
        answer.content().iter().filter(|block| matches!(block, Block::Image { mime, .. } if mime == "image/png"));
    assert_eq!(images.count(), 1, "{:?}", answer.content());
});

mcp_test!(an_error_has_a_reason_and_a_hint, |h| {
    h.mkdir("dir");
    let text = h.call("read", json!({ "path": "dir/missing.txt" })).fails("not_found");
    assert!(text.contains("dir/missing.txt") && text.contains("\n\nhint: "), "{text}");
    let text = h.call("read", json!({ "path": "dir", "lines": 5 })).fails("invalid_input");
    assert!(text.contains("lines"), "{text}");
    assert!(h.exists("dir") && !h.exists("dir/missing.txt"));
});

mcp_test!(every_error_names_the_next_step_within_480_characters, |h| {
    h.write("a.txt", "one\n");
    h.write(".env", "KEY=1\n");
    h.write("data.bin", b"\0\x01\x02");
    h.mkdir("dir");
    h.call("read", json!({ "path": "a.txt" })).ok();
    // A path that the message and the hint would both hold.
    let long = format!("{}long.txt", "directory/".repeat(34));
    h.write(&long, "unread\n");
    let edit = |extra: Value| {
        let mut arguments = json!({ "path": "a.txt", "old_string": "one", "new_string": "two" });
        arguments.as_object_mut().expect("an object").extend(extra.as_object().expect("an object").clone());
        arguments
    };
    let deep = "d/".repeat(2000);
    for (tool, arguments) in [
        ("read", json!({})),
        ("read", json!({ "path": [1] })),
        ("read", json!({ "path": "a\0" })),
        ("read", json!({ "path": "x".repeat(5000) })),
        ("read", json!({ "path": "x".repeat(300) })),
        ("read", json!({ "path": deep })),
        ("read", json!({ "path": "dir", "limit": 5 })),
        ("read", json!({ "path": ".env" })),
        ("read", json!({ "path": "data.bin" })),
        ("read", json!({ "path": "a.txt/b" })),
        ("read", json!({ "path": "/etc/passwd" })),
        ("read", json!({ "path": "a.txt", "start_line": 3, "end_line": 1 })),
        ("read", json!({ "path": "a.txt", "limit": "many" })),
        ("read", json!({ "path": "a.txt", "file": "b.txt" })),
        ("glob", json!({ "pattern": "*", "offset": -1 })),
        ("glob", json!({ "pattern": "*", "sort": "size" })),
        ("glob", json!({ "pattern": "[" })),
        ("grep", json!({ "pattern": "a\0" })),
        ("grep", json!({ "pattern": "(".repeat(4000) })),
        ("grep", json!({ "pattern": "x", "context": -1 })),
        ("edit", edit(json!({ "new_string": "one" }))),
        ("edit", edit(json!({ "expected_replacements": -1 }))),
        ("edit", edit(json!({ "expected_revision": "0" }))),
        ("edit", json!({ "path": "a.txt", "edits": [] })),
        ("edit", json!({ "path": "a.txt", "edits": [{ "old_string": "one", "new_string": "1", "pattern": "a" }] })),
        ("write", json!({ "path": "a.txt", "content": { "a": 1 } })),
        ("write", json!({ "path": ".git/config", "content": "" })),
        ("write", json!({ "path": long, "content": "" })),
        ("write", json!({ "path": long, "content": "", "expected_revision": "0".repeat(64) })),
        ("edit", json!({ "path": long, "old_string": "unread", "new_string": "" })),
        ("read", json!({ "path": long.replace("long.txt", "lomg.txt") })),
    ] {
        let answer = h.call(tool, arguments.clone());
        let text = answer.text();
        let shown: String = text.chars().take(480).collect();
        let hint = shown.split_once("\n\nhint: ").map(|(_, hint)| hint.lines().next().unwrap_or_default());
        let whole =
            hint.is_some_and(|hint| !hint.is_empty() && text.lines().any(|line| line == format!("hint: {hint}")));
        assert!(answer.error_kind().is_some() && whole, "{tool} {arguments}: {text}");
        for word in ["timeout", "timed out", "connection", "not configured", "disabled", "usize"] {
            assert!(!text.contains(word), "{tool} {arguments} says {word}: {text}");
        }
    }
});

#[cfg(unix)]
mcp_test!(a_link_out_of_the_root_is_denied, |h| {
    h.write_outside("secret.txt", "the secret");
    h.symlink(h.outside("secret.txt"), "link.txt");
    let text = h.call("read", json!({ "path": "link.txt" })).denied();
    assert!(!text.contains("the secret"), "{text}");
});

#[test]
fn a_file_read_in_one_process_may_be_edited_in_the_next() {
    let h = Setup { state: true, ..Setup::default() }.open();
    h.write("a.txt", "old\n");
    let edit = json!({ "path": "a.txt", "old_string": "old", "new_string": "new" });
    h.call("edit", edit.clone()).fails("not_read");
    h.call("read", json!({ "path": "a.txt" })).ok();
    h.restart();
    h.call("edit", edit).ok();
    assert_eq!(h.bytes("a.txt"), b"new\n");
}

mcp_test!(an_alias_works_for_every_tool_with_the_argument, |h| {
    h.write("a.txt", "needle\n");
    for (tool, arguments) in [
        ("glob", json!({ "pattern": "A.TXT", "caseSensitive": false, "noIgnore": true, "includeDirs": true })),
        ("grep", json!({ "pattern": "NEEDLE", "caseSensitive": false, "noIgnore": true })),
        ("ls", json!({ "noIgnore": true })),
        ("read", json!({ "path": "a.txt", "startLine": 1, "endLine": 1 })),
    ] {
        let text = h.call(tool, arguments).ok();
        assert!(text.contains("a.txt") || text.contains("needle"), "{tool}: {text}");
    }
    let revision = h.call("read", json!({ "path": "a.txt" })).facts()["revision"].clone();
    let edit = json!({ "path": "a.txt", "old_string": "needle", "new_string": "pin", "expectedRevision": revision,
        "expectedReplacements": 1 });
    h.call("edit", edit).ok();
    h.call("write", json!({ "path": "a.txt", "content": "x", "expectedRevision": revision })).fails("stale");
    // ls has no such argument, and proposes none.
    let text = h.call("ls", json!({ "caseSensitive": true })).fails("invalid_input");
    assert!(text.contains("unknown argument `caseSensitive`") && !text.contains("did you mean"), "{text}");
});
