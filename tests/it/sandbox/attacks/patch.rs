//! Patches that lead out, into secrets and into files that run later, in each form and in each place of a path.

use serde_json::json;

use super::{Case, DENIED, Expect, case, manage};

/// A place of a path in a patch, with `{}` where the path is.
const SECTIONS: &[(&str, &str)] = &[
    ("add", "*** Begin Patch\n*** Add File: {}\n+owned\n*** End Patch"),
    ("update", "*** Begin Patch\n*** Update File: {}\n@@\n-e\n+owned\n*** End Patch"),
    ("append", "*** Begin Patch\n*** Update File: {}\n@@\n+owned\n*** End Patch"),
    ("delete", "*** Begin Patch\n*** Delete File: {}\n*** End Patch"),
    ("rename from", "*** Begin Patch\n*** Update File: {}\n*** Move to: app/taken.txt\n*** End Patch"),
    ("rename to", "*** Begin Patch\n*** Update File: app/a.txt\n*** Move to: {}\n*** End Patch"),
    ("cd", "cd {} && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ../zebra-new.txt\n+owned\n*** End Patch\nEOF"),
    ("diff", "--- {}\n+++ {}\n@@ -1 +1 @@\n-e\n+owned\n"),
    ("git diff", "--- a/{}\n+++ b/{}\n@@ -1 +1 @@\n-e\n+owned\n"),
    ("new file", "--- /dev/null\n+++ {}\n@@ -0,0 +1 @@\n+owned\n"),
    ("quoted new file", "--- /dev/null\n+++ \"{}\"\n@@ -0,0 +1 @@\n+owned\n"),
    ("deleted file", "--- {}\n+++ /dev/null\n@@ -1 +0,0 @@\n-e\n"),
    ("git rename from", "diff --git a/x b/y\nrename from {}\nrename to app/taken.txt\n"),
    ("git rename to", "diff --git a/x b/y\nrename from app/a.txt\nrename to {}\n"),
    ("git copy from", "diff --git a/x b/y\ncopy from {}\ncopy to app/taken.txt\n"),
    ("git copy to", "diff --git a/x b/y\ncopy from app/a.txt\ncopy to {}\n"),
];

/// Refused, whatever is wrong first: a hunk that is not there is also an answer.
const GONE: Expect = Expect::Fails(&["denied", "not_found", "invalid_input", "read_only", "not_read", "no_match"]);

pub(super) fn cases() -> Vec<Case> {
    let patch = |name: String, text: &str, path: &str, expect: Expect| {
        case(name, "apply_patch", json!({ "patch": text.replace("{}", path) }), expect)
    };
    let mut cases = Vec::new();
    for path in manage::OUT {
        for (name, text) in SECTIONS {
            // Git's prefixes in front of a path make another one, and `cd` makes one that leads out from all.
            let is_other = matches!(*name, "git diff" | "cd" | "git copy to" | "git copy from");
            let expect = if is_other { GONE } else { DENIED };
            cases.push(patch(format!("{name} {path}"), text, path, expect));
        }
    }
    for path in [
        ".git/hooks/post-commit",
        ".git/config",
        ".vscode/tasks.json",
        ".mcp.json",
        ".envrc",
        ".env",
        "id_rsa",
        "keys/server.pem",
        ".ssh/authorized_keys",
        "alias_hooks/post-merge",
        "sub/.git/config",
    ] {
        for (name, text) in SECTIONS.iter().filter(|(name, _)| *name != "cd") {
            cases.push(patch(format!("{name} {path}"), text, &format!("app/{path}"), GONE));
        }
    }
    for path in ["lib/shared.txt", "app/in_lib/shared.txt", "lib/new.txt"] {
        for (name, text) in SECTIONS.iter().filter(|(name, _)| !name.starts_with("git copy from") && *name != "cd") {
            cases.push(patch(format!("{name} {path}"), text, path, GONE));
        }
    }
    // Escapes that spell a separator, a dot name or the end of a line.
    for (name, path) in [
        ("a separator", "app\\057..\\057..\\057zebra"),
        ("dots", "app/\\056\\056/\\056\\056/zebra-new"),
        ("NUL", "app/zebra\\000"),
    ] {
        let text = "--- /dev/null\n+++ \"{}\"\n@@ -0,0 +1 @@\n+owned\n";
        cases.push(patch(format!("escaped {name}"), text, path, GONE));
    }
    // One section that leads out voids all of them.
    let both = "*** Begin Patch\n*** Add File: app/zebra-first.txt\n+owned\n*** Add File: {}\n+owned\n*** End Patch";
    cases.push(patch("a good section first".to_owned(), both, "../zebra-new.txt", DENIED));
    cases.push(patch("a directory deleted".to_owned(), SECTIONS[3].1, "app/sub", GONE));
    let null = "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-e\n+owned\n";
    cases.push(patch("nothing to nothing".to_owned(), null, "", Expect::Fails(&["invalid_input"])));
    let look_alike = "*** Begin Patch\n∗∗∗ Update File: app/a.txt\n@@\n-e\n+owned\n*** End Patch";
    cases.push(patch("markers that look alike".to_owned(), look_alike, "", Expect::Fails(&["invalid_input"])));
    let many = format!("*** Begin Patch\n{}*** End Patch", "*** Add File: app/zebra\n+x\n".repeat(10_000));
    cases.push(patch("10,000 files".to_owned(), &many, "", Expect::Fails(&["too_large"])));
    cases
}
