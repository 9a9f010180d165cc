//! Files that run later, and read-only roots.

use serde_json::json;

use super::{Case, DENIED, Expect, case};

/// Existing and future ones, by name, by link and in another spelling (CVE-2026-25725,
/// CVE-2025-61260, CVE-2026-21852, CVE-2026-35603).
#[expect(clippy::too_many_lines, reason = "a table of cases")]
pub(super) fn run_later() -> Vec<Case> {
    let there = [
        ".git/config",
        ".git/hooks/pre-commit",
        ".vscode/tasks.json",
        ".claude/settings.json",
        ".mcp.json",
        "alias_config",
        "alias_git/config",
        "alias_hooks/pre-commit",
        "alias_tasks",
        "alias_vscode/tasks.json",
    ];
    let future = [
        ".git/hooks/post-checkout",
        ".git/hooks/new/deep/hook",
        ".git/modules/sub/config",
        ".git/info/attributes",
        ".git",
        "sub/.git/config",
        "sub/.git/hooks/pre-commit",
        ".GIT/config",
        ".Git/hooks/pre-commit",
        ".git./config",
        ".git /config",
        ".g\u{200c}it/config",
        ".ｇit/config",
        "git~1/config",
        "GIT~1/hooks/pre-commit",
        ".git::$INDEX_ALLOCATION/hooks/pre-commit",
        ".git:$I30:$INDEX_ALLOCATION/config",
        ".vscode::$INDEX_ALLOCATION/tasks.json",
        ".gitmodules",
        ".husky/pre-commit",
        ".vscode/launch.json",
        ".VSCODE/Tasks.json",
        ".idea/workspace.xml",
        ".cursor/mcp.json",
        ".gemini/settings.json",
        ".codex/config.toml",
        ".claude/settings.local.json",
        ".envrc",
        ".bashrc",
        ".zshenv",
        ".profile",
        "sub/.bash_profile",
        ".npmrc",
        ".cargo/config.toml",
        "sitecustomize.py",
        "alias_hooks/post-merge",
        "alias_git/hooks/pre-push",
        "alias_future_hook",
        "alias_vscode/settings.json",
    ];
    let mut cases = Vec::new();
    for path in there {
        let path = format!("app/{path}");
        cases.push(case(format!("replace {path}"), "write", json!({ "path": path, "content": "owned" }), DENIED));
        cases.push(case(
            format!("append to {path}"),
            "write",
            json!({ "path": path, "content": "owned", "mode": "append" }),
            DENIED,
        ));
        cases.push(case(
            format!("edit {path}"),
            "edit",
            json!({ "path": path, "old_string": "e", "new_string": "owned", "replace_all": true }),
            DENIED,
        ));
        cases.push(case(
            format!("try to edit {path}"),
            "edit",
            json!({ "path": path, "old_string": "e", "new_string": "owned", "replace_all": true, "dry_run": true }),
            DENIED,
        ));
    }
    for path in future {
        let path = format!("app/{path}");
        cases.push(case(format!("create {path}"), "write", json!({ "path": path, "content": "owned" }), DENIED));
        cases.push(case(
            format!("create {path} by an edit"),
            "edit",
            json!({ "path": path, "old_string": "", "new_string": "owned" }),
            DENIED,
        ));
    }
    cases.extend([
        case("they may be read", "read", json!({ "path": "app/.git/config" }), Expect::Answers("bare")),
        case("also by a link", "read", json!({ "path": "app/alias_tasks" }), Expect::Answers("{}")),
    ]);
    cases
}

/// No tool writes to a read-only root, by any path.
pub(super) fn read_only() -> Vec<Case> {
    const READ_ONLY: Expect = Expect::Fails(&["read_only"]);
    ["lib/shared.txt", "lib/new.txt", "lib/new/deep.txt", "{host}/lib/shared.txt", "{uri}/lib/new.txt"]
        .iter()
        .chain(&["app/in_lib/shared.txt", "app/in_lib/new.txt", "app/in_lib_absolute"])
        .flat_map(|path| {
            [
                case(format!("write {path}"), "write", json!({ "path": path, "content": "x" }), READ_ONLY),
                case(
                    format!("create {path}"),
                    "edit",
                    json!({ "path": path, "old_string": "", "new_string": "x" }),
                    READ_ONLY,
                ),
                case(
                    format!("edit {path}"),
                    "edit",
                    json!({ "path": path, "old_string": "s", "new_string": "x", "replace_all": true }),
                    READ_ONLY,
                ),
            ]
        })
        .collect()
}
