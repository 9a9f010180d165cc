//! Edits of several files: a file that may not be changed, or shown, among good ones; one file by many names; globs that
//! match everything.

use serde_json::{Value, json};

use super::{Case, DENIED, Expect, case};

/// An entry that could be made alone.
fn good() -> Value {
    json!({ "path": "app/a.txt", "old_string": "alpha", "new_string": "owned" })
}

fn everywhere(glob: &str, old: &str) -> Value {
    json!({ "glob": glob, "old_string": old, "new_string": "owned", "replace_all": true })
}

fn call(name: &str, edits: impl IntoIterator<Item = Value>, expect: Expect) -> Case {
    let edits: Vec<Value> = edits.into_iter().collect();
    case(format!("several files: {name}"), "edit", json!({ "edits": edits }), expect)
}

/// Nothing may change in any of them: what is good is in one call with what is not.
pub(super) fn cases() -> Vec<Case> {
    const REFUSED: Expect = Expect::Fails(&["denied", "not_found", "invalid_input", "read_only"]);
    const NOWHERE: Expect = Expect::Fails(&["denied", "no_match", "invalid_input"]);
    const NO_MATCH: Expect = Expect::Fails(&["no_match"]);
    let mut cases = Vec::new();
    for path in [
        "../outside/zebra-secret.txt",
        "/etc/passwd",
        "app/../outside/zebra-secret.txt",
        "app/.env",
        "app/keys/server.pem",
        "app/agent_secret/x",
        "app/.git/hooks/pre-commit",
        "app/.vscode/tasks.json",
        "lib/shared.txt",
        "app/out_dots",
        "app/alias_env",
        "app/alias_tasks",
        "app/sub",
        "app/missing.txt",
    ] {
        let entry = |old: &str| json!({ "path": path, "old_string": old, "new_string": "owned" });
        cases.push(call(&format!("after a good one, {path}"), vec![good(), entry("e")], REFUSED));
        cases.push(call(&format!("before a good one, {path}"), vec![entry("e"), good()], REFUSED));
        if path != "app/missing.txt" {
            cases.push(call(&format!("made among good ones, {path}"), vec![good(), entry("")], REFUSED));
        }
    }
    for (glob, old, expect) in [
        ("**", "e", REFUSED),
        ("**/*", "a", REFUSED),
        ("app/.env", "TOKEN", NO_MATCH),
        ("app/**/.en[v]", "TOKEN", NO_MATCH),
        ("app/{.ssh,keys,agent_secret}/**", "SECRET", NO_MATCH),
        ("app/.git/**", "core", REFUSED),
        ("app/.vscode/*", "{", REFUSED),
        ("lib/**", "shared", REFUSED),
        ("/etc/*", "root", NOWHERE),
        ("../outside/*", "hard", REFUSED),
        ("{host}/outside/*", "hard", NOWHERE),
        ("app/[[[", "e", REFUSED),
        ("app/**", "\0", NOWHERE),
    ] {
        cases.push(call(&format!("glob {glob} of {old:?}"), vec![good(), everywhere(glob, old)], expect));
    }
    let names = ["app/a.txt", "app/./a.txt", "@app/a.txt", "app/sub/../a.txt", "app//a.txt"];
    let twice = |path: &&str| json!({ "path": path, "old_string": "alpha", "new_string": "owned" });
    // The second entry is the first one again, whatever its path is called.
    cases.push(call("one file by many names", names.iter().map(twice), Expect::Fails(&["invalid_input"])));
    cases.push(call("10,000 entries", vec![good(); 10_000], Expect::Fails(&["invalid_input", "too_large"])));
    let large = json!({ "path": "app/long-line.txt", "old_string": "x", "new_string": "y".repeat(1 << 20), "replace_all": true });
    cases.push(call("one that would grow without end", vec![good(), large], Expect::Fails(&["too_large"])));
    let wrong = |value: Value| json!({ "edits": value });
    for (name, arguments) in [
        ("no list", wrong(json!("[{\"path\":"))),
        ("an entry that is no object", wrong(json!([["app/a.txt"]]))),
        ("an entry without a text", wrong(json!([{ "path": "app/a.txt" }, { "glob": "**" }]))),
        ("a path that is a list", wrong(json!([{ "path": ["app/a.txt"], "old_string": "a", "new_string": "b" }]))),
        (
            "path and glob twice",
            wrong(
                json!([{ "path": "app/a.txt", "glob": "*", "old_string": "alpha", "new_string": "b", "replace_all": true }]),
            ),
        ),
    ] {
        cases.push(case(format!("several files: {name}"), "edit", arguments, Expect::Fails(&["invalid_input"])));
    }
    cases.push(call(
        "a secret as the source of another",
        vec![good(), json!({ "path": "app/sub/b.txt", "old_string": "beneath", "new_from": "app/.env" })],
        DENIED,
    ));
    cases
}
