//! What answers reveal: names, errors, suggestions and link targets.

use serde_json::json;

use super::{Barrier, Case, DENIED, Expect, case, world::World};

/// Names that could drive a terminal, and content with hidden characters.
pub(super) fn odd_names() -> Vec<Case> {
    vec![
        case("names are escaped in a listing", "ls", json!({ "path": "app" }), Expect::Answers("odd")),
        case("in a glob", "glob", json!({ "pattern": "odd*" }), Expect::Answers("odd")),
        case("in a search", "grep", json!({ "pattern": "^odd", "path": "app" }), Expect::Answers("odd")),
        case(
            "in a list of files",
            "grep",
            json!({ "pattern": "^odd", "path": "app", "output_mode": "files_with_matches" }),
            Expect::Answers("odd"),
        ),
        case("in an error", "read", json!({ "path": "app/no\u{1b}[31m\u{202e}such" }), Expect::Fails(&["not_found"])),
        case("in a denial", "read", json!({ "path": "/no\u{1b}[31m\u{7}such" }), DENIED),
        case("in an unknown argument", "read", json!({ "path": "app/a.txt", "\u{1b}[31m": 1 }), INVALID),
        case("in a wrong value", "read", json!({ "path": "app/a.txt", "offset": "\u{1b}[2J" }), INVALID),
        case("in a regex", "grep", json!({ "pattern": "(\u{1b}[31m" }), INVALID),
        case("in a glob that is none", "glob", json!({ "pattern": "[\u{1b}\u{202e}" }), INVALID),
        case("in a wrong type", "grep", json!({ "pattern": "a", "type": "\u{1b}[31m" }), INVALID),
        case("in a wrong mode", "write", json!({ "path": "app/x", "content": "", "mode": "\u{1b}]0;x\u{7}" }), INVALID),
        case(
            "in a wrong revision",
            "edit",
            json!({ "path": "app/a.txt", "old_string": "a", "new_string": "b", "expected_revision": "\u{1b}c" }),
            INVALID,
        ),
        case("an escaped name comes back", "read", json!({ "path": "app/odd\\u{a}line.txt" }), Expect::Answers("odd")),
        case("a percent sign is itself", "read", json!({ "path": "app/a%20b.txt" }), Expect::Answers("odd")),
        case("a dash is itself", "read", json!({ "path": "app/-rf" }), Expect::Answers("odd")),
        case(
            "hidden characters are pointed out",
            "read",
            json!({ "path": "app/hidden.txt" }),
            Expect::Answers("U+202E"),
        ),
        case(
            "and left as they are",
            "read",
            json!({ "path": "app/hidden.txt" }),
            Expect::Answers("plain\u{202e}reversed"),
        ),
    ]
}

const INVALID: Expect = Expect::Fails(&["invalid_input"]);
const MISSING: Expect = Expect::Fails(&["not_found"]);

/// Errors and suggestions for names similar to outside or hidden ones.
pub(super) fn errors() -> Vec<Case> {
    vec![
        case("a slip near a name outside", "read", json!({ "path": "app/secret.txt" }), MISSING),
        case("a slip near a directory outside", "ls", json!({ "path": "app/outsid" }), MISSING),
        case("a slip near the host folder", "ls", json!({ "path": "app/rootbound-host" }), MISSING),
        case("a slip below a link out", "read", json!({ "path": "app/out_dir/secret.txt" }), DENIED),
        case("a slip below a link to /", "read", json!({ "path": "app/out_slash/etc/passw" }), DENIED),
        case(
            "a slip below a read-only root",
            "read",
            json!({ "path": "lib/share.txt" }),
            Expect::Fails(&["not_found"]),
        ),
        case("a missing file outside", "read", json!({ "path": "{host}/outside/missing" }), DENIED),
        case("a bare name outside", "read", json!({ "path": "{host}/zebra" }), DENIED),
        case("a directory of the host folder", "ls", json!({ "path": "{host}/roots" }), DENIED),
        case(
            "a target outside is not shown",
            "ls",
            json!({ "path": "app", "depth": 3 }),
            Expect::Without("../outside"),
        ),
        case("nor an absolute one", "ls", json!({ "path": "app" }), Expect::Without("-> /")),
        case("nor in the other root", "ls", json!({ "path": "lib" }), Expect::Without("outside")),
        case("a wrong type of argument", "read", json!({ "path": ["{host}/outside"] }), INVALID),
        case("an object as a path", "read", json!({ "path": { "a": 1 } }), INVALID),
        case("a number as a path", "ls", json!({ "path": 1e300 }), Expect::Harmless),
        case("no path", "read", json!({}), INVALID),
        case("two paths", "read", json!({ "path": "app/a.txt", "file_path": "/etc/passwd" }), INVALID),
        case("an unknown argument", "read", json!({ "path": "app/a.txt", "follow_links": true }), INVALID),
        case("a huge offset", "read", json!({ "path": "app/a.txt", "offset": i64::MAX }), Expect::Harmless),
        case("the least offset", "read", json!({ "path": "app/a.txt", "offset": i64::MIN }), Expect::Harmless),
        case("a huge context", "grep", json!({ "pattern": "alpha", "context": i64::MAX }), Expect::Harmless),
        case(
            "a huge page",
            "glob",
            json!({ "pattern": "*", "offset": i64::MAX, "max_results": i64::MAX }),
            Expect::Harmless,
        ),
        case("a huge depth", "ls", json!({ "path": "app", "depth": i64::MAX }), Expect::Harmless),
        case("an encoding that is none", "read", json!({ "path": "app/a.txt", "encoding": "../../etc" }), INVALID),
        case("an unknown tool", "shell", json!({ "command": "cat /etc/passwd" }), Expect::Refused),
        case("a tool with a path for a name", "../../bin/sh", json!({}), Expect::Refused),
    ]
}

/// A refusal that depends on what exists would reveal it.
#[test]
fn refusal_outside_does_not_reveal_what_exists() {
    let mut world = World::new(Barrier::All);
    let host = world.path("").to_str().expect("a plain name").trim_end_matches('/').to_owned();
    let pairs = [
        (format!("{host}/outside/zebra-secret.txt"), format!("{host}/outside/zebra-nothing.txt")),
        (format!("{host}/outside"), format!("{host}/nowhere")),
        ("../zebra-beside.txt".to_owned(), "../zebra-absent".to_owned()),
        ("app/out_dir/zebra-secret.txt".to_owned(), "app/out_dir/zebra-nothing.txt".to_owned()),
        ("app/out_slash/etc/passwd".to_owned(), "app/out_slash/etc/nothing".to_owned()),
        ("app/out_file".to_owned(), "app/out_dangling".to_owned()),
        ("/etc/passwd".to_owned(), "/etc/nothing".to_owned()),
    ];
    let calls = [
        ("read", json!({})),
        ("ls", json!({})),
        ("glob", json!({ "pattern": "*" })),
        ("grep", json!({ "pattern": "a" })),
        ("write", json!({ "content": "x" })),
        ("write", json!({ "content": "x", "mode": "create" })),
        ("edit", json!({ "old_string": "a", "new_string": "b" })),
        ("edit", json!({ "old_string": "", "new_string": "b" })),
    ];
    if cfg!(windows) {
        // Where no links are made these are folders of the root, which the first file in them would make.
        for path in ["app/out_dir/first", "app/out_slash/etc/first"] {
            let call = json!({ "name": "write", "arguments": { "path": path, "content": "x" } });
            world.process().ask("tools/call", &call);
        }
    }
    for (there, absent) in &pairs {
        for (tool, arguments) in &calls {
            let [one, other] = [there, absent].map(|path| {
                let mut arguments = arguments.clone();
                arguments["path"] = json!(path);
                let answer = world.process().ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
                // The text is JSON, which has each backslash twice.
                answer["result"].to_string().replace(json!(path).to_string().trim_matches('"'), "PATH")
            });
            assert_eq!(one, other, "{tool} reveals the difference of {there} and {absent}");
        }
    }
}
