//! Links to files: none may name what `read` would refuse.

use serde_json::json;

use super::{Case, DENIED, Expect, case};

/// Paths that lead out.
const OUT: &[&str] = &[
    "../zebra-beside.txt",
    "/etc/passwd",
    "{host}/outside/zebra-secret.txt",
    "{host}/root-evil/zebra-secret.txt",
    "app/../../outside/zebra-secret.txt",
    "app/out_dir/zebra-secret.txt",
    "app/magic_root/etc/passwd",
    "file:///etc/passwd",
    "file:///app/..%2f..%2foutside/zebra-secret.txt",
    "/proc/self/environ",
    "~/zebra",
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for path in OUT {
        cases.push(case(format!("present {path}"), "present", json!({ "path": path }), DENIED));
        let beside = json!({ "paths": ["app/a.txt", path] });
        cases.push(case(
            format!("present {path} beside a file"),
            "present",
            beside,
            Expect::Answers("not presented: "),
        ));
    }
    for secret in ["app/.env", "app/id_rsa", "app/keys/server.pem", "app/alias_ssh/config", "app/in_dir/../.env"] {
        cases.push(case(
            format!("present {secret}"),
            "present",
            json!({ "path": secret }),
            Expect::Fails(&["denied", "not_found"]),
        ));
    }
    let texts = json!({ "path": "app/a.txt", "title": "\u{1b}]0;owned\u{7}", "note": "\u{202e}note" });
    cases.push(case("present with terminal escapes", "present", texts, Expect::Without("\u{1b}")));
    cases
}
