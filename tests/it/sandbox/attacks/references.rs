//! Paths given by their end, and the signs that people and clients put around a path: none of them leads out, and a name
//! outside or one that is hidden counts nowhere.

use serde_json::json;

use super::{Case, DENIED, Expect, case, every_tool};

const MISSING: Expect = Expect::Fails(&["not_found"]);
const REFUSED: Expect = Expect::Fails(&["denied", "not_found", "ambiguous", "invalid_input"]);

/// Ways out in quotes, behind signs and before lines.
pub(super) fn signs() -> Vec<Case> {
    [
        ("quotes", "\"../outside/zebra-secret.txt\""),
        ("mention with quotes", "@\"../outside/zebra-secret.txt\""),
        ("single quotes", "'{host}/outside/zebra-secret.txt'"),
        ("backquotes", "`/etc/passwd`"),
        ("quotes in quotes", "\"'`/etc/passwd`'\""),
        ("mention of a file", "@file:/etc/passwd"),
        ("mention of a URI", "@file:///etc/passwd"),
        ("quoted URI", "\"file:///etc/passwd\""),
        ("VS Code's sign", "#file:../outside/zebra-secret.txt"),
        ("VS Code's sign and a host path", "#file:{host}/outside/zebra-secret.txt"),
        ("home in quotes", "\"~/zebra\""),
        ("home of a user", "~root/.ssh/id_rsa"),
        ("home of a user alone", "~root"),
        ("mention of the home of a user", "@~root/.bashrc"),
        ("quoted home of a user", "'~nobody/x'"),
        ("quoted dots", "\"..\""),
        ("mention of dots", "@.."),
    ]
    .iter()
    .flat_map(|(name, path)| every_tool(name, path, &DENIED))
    .chain(
        [
            "../outside/zebra-secret.txt#L1-2",
            "@../outside/zebra-secret.txt:1-2",
            "\"../outside/zebra-secret.txt:1\"",
            "@\"{host}/outside/zebra-secret.txt\"#L1",
            "/etc/passwd#L1",
            "#file:/etc/passwd:1-2",
            "~root/.ssh/id_rsa:1",
        ]
        .iter()
        .map(|path| case(format!("lines of {path}"), "read", json!({ "path": path }), REFUSED)),
    )
    .chain(["@", "\"", "'", "#file:"].iter().flat_map(|sign| {
        let many = sign.repeat(6000);
        ["read", "ls", "delete"]
            .map(|tool| case(format!("many {sign}: {tool}"), tool, json!({ "path": &many }), REFUSED))
    }))
    .collect()
}

/// Names of what is outside, secret, protected or behind a link.
pub(super) fn names() -> Vec<Case> {
    let outside = ["zebra-secret.txt", "@zebra-secret.txt", "outside/zebra-secret.txt", "@passwd", "etc/passwd"];
    let missing = outside.iter().flat_map(|name| {
        let calls = [
            ("read", json!({ "path": name })),
            ("ls", json!({ "path": name })),
            ("grep", json!({ "pattern": ".", "path": name })),
            ("edit", json!({ "path": name, "old_string": "a", "new_string": "owned" })),
            ("delete", json!({ "path": name })),
            ("copy", json!({ "source": name, "destination": "app/owned" })),
            ("move", json!({ "source": name, "destination": "app/owned" })),
        ];
        calls.map(|(tool, arguments)| case(format!("name outside: {tool} {name}"), tool, arguments, MISSING))
    });
    let inside = ["@.env", "@config", "@pre-commit", "@tasks.json", "@settings.json", "@id_rsa", "hooks/pre-commit"];
    let refused = inside.iter().flat_map(|name| {
        let calls = [
            ("read", json!({ "path": name })),
            ("grep", json!({ "pattern": "SECRET", "path": name })),
            ("edit", json!({ "path": name, "old_string": "e", "new_string": "owned", "replace_all": true })),
            ("delete", json!({ "path": name })),
            ("move", json!({ "source": name, "destination": "app/owned" })),
        ];
        calls.map(|(tool, arguments)| {
            // What is protected may be read.
            let expect = if matches!(tool, "read" | "grep") { Expect::Harmless } else { REFUSED };
            case(format!("guarded name: {tool} {name}"), tool, arguments, expect)
        })
    });
    // A name that is nowhere may be made, and would be found from then on.
    let made = inside.iter().map(|name| {
        let arguments = json!({ "path": name, "content": "owned" });
        case(format!("guarded name: write {name}"), "write", arguments, Expect::Harmless).writes()
    });
    let near = ["zebra-secrte.txt", "zebra-beside.tx", "outsid/**", "passwdd", "../**"]
        .map(|pattern| case(format!("near {pattern}"), "glob", json!({ "pattern": pattern }), Expect::Harmless));
    missing.chain(refused).chain(near).chain(made).collect()
}
