//! Links: out of the roots in every form and with every tool, and legitimate ones, which must work.

use serde_json::json;

use super::{Case, DENIED, Expect, case, every_tool};

/// Links whose target is outside: file, directory, chain, loop, dangling, the kernel's magic
/// (CVE-2025-53109, CVE-2026-39861).
pub(super) fn out() -> Vec<Case> {
    let denied = [
        "out_file",
        "out_file_absolute",
        "out_dir",
        "out_dir/zebra-secret.txt",
        "out_dir/zebra-dir/zebra-deep.txt",
        "out_dir/zebra-brand-new.txt",
        "out_dir/zebra-new-dir/zebra-new.txt",
        "out_dir_absolute",
        "out_dir_absolute/zebra-secret.txt",
        "out_chain",
        "out_through_dir",
        "sub/up/outside/zebra-secret.txt",
        "sub/up/zebra-beside.txt",
        "out_sibling",
        "out_sibling_dir/zebra-secret.txt",
        "out_parent",
        "out_parent/zebra-beside.txt",
        "out_parent/outside/zebra-secret.txt",
        "out_bounce",
        "out_bounce_dir",
        "out_slash",
        "out_slash/etc/passwd",
        "out_etc",
        "out_dangling",
        "out_dangling_deep",
        "out_dangling_absolute",
        "out_nowhere",
        "out_dots",
        "out_almost_root",
        "magic_root",
        "magic_root/etc/passwd",
        "magic_cwd",
        "magic_cwd/outside/zebra-secret.txt",
        "magic_environ",
        "magic_maps",
        "magic_fd",
        "magic_fds",
        "magic_fds/3",
        "magic_thread",
        "magic_stdin",
        "magic_stdout",
        "device_zero",
        "device_random",
        "device_full",
        "device_tty",
        "in_lib/out",
        "lib/out",
    ];
    let round = ["loop_self", "loop_a", "loop_b/x", "loop_deep", "loop_deep/y"];
    denied
        .iter()
        // A link may leave the root and return to it.
        .flat_map(|path| every_tool(&format!("app/{path}"), &qualified(path), &DENIED))
        .chain(round.iter().flat_map(|path| every_tool(path, &qualified(path), &ROUND)))
        .chain(searches())
        .collect()
}

fn qualified(path: &str) -> String {
    if path.starts_with("lib/") { path.to_owned() } else { format!("app/{path}") }
}

const ROUND: Expect = Expect::Fails(&["invalid_input", "denied"]);

/// Searches of the whole workspace pass every one of these links.
fn searches() -> Vec<Case> {
    vec![
        case("search for outside content", "grep", json!({ "pattern": "CANARY-of", "no_ignore": true }), NONE),
        case("search for the secret's line", "grep", json!({ "pattern": "^CANARY", "literal": false }), NONE),
        case("search in several lines", "grep", json!({ "pattern": "CANARY.*side", "multiline": true }), NONE),
        case(
            "files with outside content",
            "grep",
            json!({ "pattern": "CANARY-", "output_mode": "files_with_matches" }),
            NONE,
        ),
        case("count of outside content", "grep", json!({ "pattern": "CANARY-", "output_mode": "count" }), NONE),
        case("search for passwd", "grep", json!({ "pattern": "root:x:0" }), NONE),
        case("names behind links", "glob", json!({ "pattern": "**/zebra*", "no_ignore": true }), NONE),
        case("names below a link", "glob", json!({ "pattern": "out_dir/**", "no_ignore": true }), Expect::Harmless),
        case("names in /etc", "glob", json!({ "pattern": "**/passwd", "no_ignore": true }), NONE),
        case(
            "a tree with links",
            "ls",
            json!({ "path": "app", "depth": 5, "no_ignore": true }),
            Expect::Answers("out_file"),
        ),
        case("a tree of the other root", "ls", json!({ "path": "lib", "depth": 5 }), Expect::Answers("shared.txt")),
    ]
}

const NONE: Expect = Expect::Without("zebra-");

/// Links that stay inside, or lead from one root into another, are what repositories are made of.
pub(super) fn honest() -> Vec<Case> {
    let reads = [
        ("app/in_file", "alpha"),
        ("app/in_dir/b.txt", "beneath"),
        ("app/in_absolute", "alpha"),
        ("app/in_there_and_back", "alpha"),
        ("app/in_chain", "alpha"),
        ("app/in_lib/shared.txt", "shared"),
        ("app/in_lib/deep/more.txt", "more"),
        ("app/in_lib_absolute", "shared"),
    ];
    let mut cases: Vec<Case> = reads
        .iter()
        .map(|(path, part)| case(format!("read {path}"), "read", json!({ "path": path }), Expect::Answers(part)))
        .collect();
    cases.extend([
        case("list a linked directory", "ls", json!({ "path": "app/in_dir" }), Expect::Answers("b.txt")),
        case(
            "search a linked directory",
            "grep",
            json!({ "pattern": "beneath", "path": "app/in_dir" }),
            Expect::Answers("beneath"),
        ),
        case(
            "write through a link",
            "write",
            json!({ "path": "app/in_file", "content": "alpha\ngamma\n" }),
            Expect::Answers(""),
        )
        .writes(),
        case("the link stays a link", "ls", json!({ "path": "app" }), Expect::Answers("in_file ->")),
        case(
            "create through a dangling link",
            "write",
            json!({ "path": "app/in_dangling", "content": "x\n" }),
            Expect::Answers(""),
        )
        .writes(),
        case("what was created is the target", "read", json!({ "path": "app/fresh.txt" }), Expect::Answers("x")),
        case(
            "edit through a link",
            "edit",
            json!({ "path": "app/in_chain", "old_string": "gamma", "new_string": "delta" }),
            Expect::Answers("delta"),
        )
        .writes(),
        case(
            "the rights are those of the root that a link lands in",
            "write",
            json!({ "path": "app/in_lib/shared.txt", "content": "x" }),
            Expect::Fails(&["read_only"]),
        ),
        case(
            "also through an absolute link",
            "edit",
            json!({ "path": "app/in_lib_absolute", "old_string": "shared", "new_string": "x" }),
            Expect::Fails(&["read_only"]),
        ),
        case(
            "and for a new file there",
            "write",
            json!({ "path": "app/in_lib/new.txt", "content": "x" }),
            Expect::Fails(&["read_only"]),
        ),
    ]);
    cases
}
