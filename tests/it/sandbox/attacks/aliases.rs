//! Secrets inside the roots: by name, by link, and by equivalent names.

use serde_json::json;

use super::{Case, DENIED, Expect, case, every_tool};

/// CVE-2026-25724, CVE-2025-59944.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
pub(super) fn secrets() -> Vec<Case> {
    let files = [
        ".env",
        "id_rsa",
        "keys/server.pem",
        ".ssh/config",
        "alias_env",
        "alias_key",
        "alias_ssh/config",
        "alias_of_alias",
        "alias_absolute",
        "sub/alias_up",
        "in_dir/alias_up",
        "sub/../.env",
        "./.env",
    ];
    let mut cases: Vec<Case> = files
        .iter()
        .flat_map(|path| every_tool(path, &format!("app/{path}"), &DENIED))
        // Listing a name is allowed, and a directory search counts what it skips.
        .filter(|case| !matches!(case.tool, "ls" | "glob" | "grep"))
        .collect();
    // Names that some file system treats as the same: none of them may be created.
    for name in [
        ".ENV",
        ".Env",
        ".env.",
        ".env ",
        ".env. .",
        ".env.local",
        ".e\u{200b}nv",
        ".en\u{ad}v",
        ".ｅnv",
        "\u{feff}.env",
        "ID_RSA",
        "id_ed25519",
        "server.PEM",
        "new.key",
        ".SSH/authorized_keys",
        ".ssh./config",
        ".netrc",
        ".aws/credentials",
        ".kube/config",
        "alias_future_env",
    ] {
        let path = format!("app/{name}");
        cases.push(case(format!("create {name:?}"), "write", json!({ "path": path, "content": "x" }), DENIED));
        cases.push(case(
            format!("create {name:?} by an edit"),
            "edit",
            json!({ "path": path, "old_string": "", "new_string": "x" }),
            DENIED,
        ));
    }
    cases.extend([
        case("grep names a secret", "grep", json!({ "pattern": "SECRET", "path": "app/.env" }), Expect::Harmless),
        case("grep names an alias", "grep", json!({ "pattern": "SECRET", "path": "app/alias_env" }), Expect::Harmless),
        case(
            "grep in a directory of secrets",
            "grep",
            json!({ "pattern": "SECRET", "path": "app/.ssh" }),
            Expect::Harmless,
        ),
        case("grep in its alias", "grep", json!({ "pattern": "SECRET", "path": "app/alias_ssh" }), Expect::Harmless),
        case("grep everywhere", "grep", json!({ "pattern": "SECRET-of", "no_ignore": true }), Expect::Without(":1:")),
        case(
            "grep by glob",
            "grep",
            json!({ "pattern": "SECRET-of", "glob": ".env*", "no_ignore": true }),
            Expect::Without(":1:"),
        ),
        case(
            "grep for files",
            "grep",
            json!({ "pattern": "SECRET-of", "output_mode": "files_with_matches", "no_ignore": true }),
            Expect::Without("1. "),
        ),
        case(
            "grep for counts",
            "grep",
            json!({ "pattern": "TOKEN=S", "output_mode": "count", "no_ignore": true }),
            Expect::Without(".env:"),
        ),
        case("a name is shown and marked", "ls", json!({ "path": "app" }), Expect::Answers(".env\t27 B [protected]")),
        case("an example is no secret", "read", json!({ "path": "app/.env.example" }), Expect::Answers("TOKEN=")),
    ]);
    cases
}
