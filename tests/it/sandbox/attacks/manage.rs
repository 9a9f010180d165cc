//! The tools that move, copy, delete and make directories; their second argument is also a path.

use serde_json::json;

use super::{Case, DENIED, Expect, case};

/// Paths that lead out, in every form.
pub(super) const OUT: &[&str] = &[
    "../zebra-beside.txt",
    "/etc/passwd",
    "{host}/outside/zebra-secret.txt",
    "{host}/root-evil/zebra-secret.txt",
    "app/../../outside/zebra-secret.txt",
    "app/out_dir/zebra-secret.txt",
    "app/out_dir/zebra-new.txt",
    "app/out_dir/zebra-new/zebra-new.txt",
    "app/out_parent/zebra-beside.txt",
    "app/out_slash/etc/passwd",
    "app/sub/up/outside/zebra-secret.txt",
    "app/magic_root/etc/passwd",
    "app/magic_cwd/outside/zebra-secret.txt",
    "app/in_lib/out/x",
    "file:///etc/passwd",
    "~/zebra",
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for path in OUT {
        cases.push(case(format!("delete {path}"), "delete", json!({ "path": path, "recursive": true }), DENIED));
        cases.push(case(format!("mkdir {path}"), "mkdir", json!({ "path": path }), DENIED));
        for tool in ["move", "copy"] {
            cases.push(case(
                format!("{tool} from {path}"),
                tool,
                json!({ "source": path, "destination": "app/taken.txt" }),
                DENIED,
            ));
            for (name, sources, destination) in [
                ("several from", json!([path, "app/a.txt"]), "app/taken/".to_owned()),
                ("several to", json!(["app/a.txt", "app/sub"]), format!("{path}/")),
            ] {
                let arguments = json!({ "sources": sources, "destination": destination });
                cases.push(case(format!("{tool} {name} {path}"), tool, arguments, GONE));
            }
            for overwrite in [false, true] {
                cases.push(case(
                    format!("{tool} to {path}, overwrite {overwrite}"),
                    tool,
                    json!({ "source": "app/a.txt", "destination": path, "overwrite": overwrite }),
                    DENIED,
                ));
            }
        }
    }
    cases.extend(policy());
    cases.extend(links());
    cases
}

/// Secrets are not moved to another name, and nothing becomes a file that runs later.
fn policy() -> Vec<Case> {
    let mut cases = Vec::new();
    for secret in [".env", "id_rsa", "keys/server.pem", ".ssh", "keys", "alias_ssh/config", "in_dir/../.env"] {
        let path = format!("app/{secret}");
        for tool in ["move", "copy"] {
            cases.push(case(
                format!("{tool} the secret {secret}"),
                tool,
                json!({ "source": path, "destination": "app/plain.txt" }),
                Expect::Harmless,
            ));
            let with_others =
                json!({ "sources": [path, format!("{path}*"), "app/a.txt"], "destination": "app/plain/" });
            cases.push(case(format!("{tool} the secret {secret} with others"), tool, with_others, Expect::Harmless));
        }
        cases.push(case(
            format!("read what became of {secret}"),
            "grep",
            json!({ "pattern": "SECRET-of", "path": "app", "no_ignore": true }),
            Expect::Without(":1:"),
        ));
    }
    for later in [
        ".git/hooks/post-commit",
        ".git/config",
        ".git",
        ".vscode/tasks.json",
        ".vscode",
        ".claude/settings.json",
        ".mcp.json",
        ".envrc",
        ".bashrc",
        ".GIT/hooks/x",
        ".g\u{200d}it/config",
        "alias_hooks/post-merge",
        "alias_git/config",
        "alias_future_hook/x",
        "sub/.git/config",
        ".env",
        ".ssh/authorized_keys",
        "new.pem",
    ] {
        let path = format!("app/{later}");
        for tool in ["move", "copy"] {
            cases.push(case(
                format!("{tool} onto {later}"),
                tool,
                json!({ "source": "app/a.txt", "destination": path, "overwrite": true }),
                GONE,
            ));
        }
        cases.push(case(format!("delete {later}"), "delete", json!({ "path": path, "recursive": true }), GONE));
    }
    for (source, destination) in
        [("app/a.txt", "lib/new.txt"), ("app/a.txt", "app/in_lib/new.txt"), ("lib/shared.txt", "app/x.txt")]
    {
        let tool = "move";
        let arguments = json!({ "source": source, "destination": destination, "overwrite": true });
        cases.push(case(format!("move {source} to {destination}"), tool, arguments, READ_ONLY));
    }
    for path in ["lib/shared.txt", "lib/deep", "lib", "app/in_lib/shared.txt"] {
        cases.push(case(format!("delete {path}"), "delete", json!({ "path": path, "recursive": true }), READ_ONLY));
        cases.push(case(format!("mkdir below {path}"), "mkdir", json!({ "path": format!("{path}/new") }), READ_ONLY));
    }
    for root in ["app", ".", "{host}/root"] {
        cases.push(case(
            format!("delete the root as {root}"),
            "delete",
            json!({ "path": root, "recursive": true }),
            GONE,
        ));
        cases.push(case(
            format!("move the root as {root}"),
            "move",
            json!({ "source": root, "destination": "app/sub/inside" }),
            GONE,
        ));
    }
    cases
}

const GONE: Expect = Expect::Fails(&["denied", "not_found", "invalid_input"]);
const READ_ONLY: Expect = Expect::Fails(&["read_only", "denied", "invalid_input"]);

/// A change of a link does not affect its target.
fn links() -> Vec<Case> {
    let mut cases = Vec::new();
    for link in
        ["out_file", "out_dir", "out_dangling", "out_slash", "magic_root", "device_zero", "fifo", "socket", "device"]
    {
        let path = format!("app/{link}");
        cases.push(case(
            format!("copy {link}"),
            "copy",
            json!({ "source": path, "destination": format!("app/copy-of-{link}") }),
            Expect::Harmless,
        ));
        cases.push(
            case(
                format!("move {link} deeper"),
                "move",
                json!({ "source": path, "destination": format!("app/sub/moved-{link}") }),
                Expect::Harmless,
            )
            .writes(),
        );
        cases.push(case(
            format!("read the moved {link}"),
            "read",
            json!({ "path": format!("app/sub/moved-{link}") }),
            Expect::Fails(&["denied", "not_found", "invalid_input"]),
        ));
        cases.push(
            case(format!("delete {link}"), "delete", json!({ "path": path, "recursive": true }), Expect::Harmless)
                .writes(),
        );
    }
    cases.push(
        case(
            "copy a tree with links out",
            "copy",
            json!({ "source": "app/sub", "destination": "app/copy-of-sub" }),
            Expect::Harmless,
        )
        .writes(),
    );
    cases.push(case(
        "search the copied tree",
        "grep",
        json!({ "pattern": "CANARY-", "path": "app", "no_ignore": true }),
        Expect::Without("zebra-"),
    ));
    cases.push(
        case(
            "delete a tree with links out",
            "delete",
            json!({ "path": "app/sub", "recursive": true }),
            Expect::Harmless,
        )
        .writes(),
    );
    cases.push(case("undo", "undo", json!({}), Expect::Harmless).writes());
    cases
}
