//! Escapes at the next start: files that the server starts from, repositories by any name, links that span a protected
//! name, and the rules that people wrote for agents.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::{fs::symlink, process::CommandExt as _},
    path::Path,
    process::Command,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Barrier, Case, DENIED, Expect, case};
use crate::{harness::process::Process, harness::program::CHECK_OPENS};

/// Not made, changed, replaced, moved or deleted, whatever the tool; the kinds that a tool may answer with first.
const KEPT: Expect = Expect::Fails(&["denied", "invalid_input", "not_found"]);

/// Every way to create something at a path, and to remove what exists.
fn changes(path: &str) -> Vec<Case> {
    let app = format!("app/{path}");
    let mut cases = creations(path);
    for (name, tool, arguments) in [
        ("delete", "delete", json!({ "path": app, "recursive": true })),
        ("move away", "move", json!({ "source": app, "destination": "app/moved-away" })),
        (
            "edit",
            "edit",
            json!({ "path": app, "old_string": "e", "new_string": "owned", "replace_all": true, "dry_run": true }),
        ),
        ("append to", "write", json!({ "path": app, "content": "owned", "mode": "append" })),
    ] {
        cases.push(case(format!("{name} {path}"), tool, arguments, KEPT));
    }
    cases
}

/// Every way to create something at a path.
fn creations(path: &str) -> Vec<Case> {
    let app = format!("app/{path}");
    let from = |source: &str| json!({ "source": source, "destination": app, "overwrite": true });
    [
        ("write", "write", json!({ "path": app, "content": "owned" })),
        ("create", "edit", json!({ "path": app, "old_string": "", "new_string": "owned" })),
        ("move a file to", "move", from("app/a.txt")),
        ("copy a file to", "copy", from("app/a.txt")),
        ("move a directory to", "move", from("app/tmpl")),
        ("copy a directory to", "copy", from("app/tmpl")),
        ("move a link to", "move", from("app/in_file")),
    ]
    .into_iter()
    .map(|(name, tool, arguments)| case(format!("{name} {path}"), tool, arguments, KEPT))
    .collect()
}

/// Each case once: some paths are below others.
fn distinct(mut cases: Vec<Case>) -> Vec<Case> {
    let mut names = BTreeSet::new();
    cases.retain(|case| names.insert(case.name.clone()));
    cases
}

fn answers(name: &str, tool: &'static str, arguments: Value, part: &'static str) -> Case {
    case(name, tool, arguments, Expect::Answers(part))
}

/// The configuration is named as `root/way/in/rb.toml`: by two links and a directory below the root.
pub(super) fn own_files() -> Vec<Case> {
    let mut cases: Vec<Case> = ["way", "far_conf", "conf_dir/in"].into_iter().flat_map(changes).collect();
    for spelling in ["WAY", "way.", "Far_Conf", "conf_dir/IN", "./way", "sub/../way", "in_dir/../way"] {
        cases.extend(creations(spelling));
    }
    for path in ["app/way", "app/far_conf", "app/conf_dir/in", "{host}/root/way", "file://{host}/root/way", "@app/way"]
    {
        cases.push(case(format!("mkdir {path}"), "mkdir", json!({ "path": path }), KEPT));
    }
    for path in ["conf_dir", "{host}/root/conf_dir"] {
        let path = if path.starts_with('{') { path.to_owned() } else { format!("app/{path}") };
        cases.push(case(
            format!("delete the directory {path}"),
            "delete",
            json!({ "path": path, "recursive": true }),
            DENIED,
        ));
        let away = json!({ "source": path, "destination": "app/elsewhere" });
        cases.push(case(format!("move the directory {path}"), "move", away, DENIED));
    }
    cases.push(case(
        "copy links to another name",
        "copy",
        json!({ "source": "app/way", "destination": "app/way2" }),
        Expect::Harmless,
    ));
    cases.extend([
        answers(
            "what is beside them is written",
            "write",
            json!({ "path": "app/conf_dir/beside.txt", "content": "x" }),
            "",
        )
        .writes(),
        answers("and a name that only begins alike", "write", json!({ "path": "app/wayward", "content": "x" }), "")
            .writes(),
    ]);
    distinct(cases)
}

/// Bare, with another name for the directory, worktrees, submodules, and what would make one.
pub(super) fn repositories() -> Vec<Case> {
    let mut cases = Vec::new();
    for repository in ["mirror.git", "sep", "mirror.git/modules/m", "mirror.git/worktrees/x", "wtmeta", "alias_mirror"]
    {
        for file in
            ["config", "hooks/pre-commit", "hooks/new/deep", "config.worktree", "CONFIG", "info/attributes", "any"]
        {
            cases.extend(creations(&format!("{repository}/{file}")));
        }
        cases.push(case(
            format!("mkdir below {repository}"),
            "mkdir",
            json!({ "path": format!("app/{repository}/new") }),
            DENIED,
        ));
    }
    for path in ["mirror.git", "sep", "mirror.git/config", "mirror.git/hooks", "sep/objects", "sep/HEAD", "wtmeta"] {
        cases.extend(changes(path));
    }
    let copy = |source: &str, destination: &str| json!({ "source": source, "destination": destination });
    cases.extend([
        case("copy a repository", "copy", copy("app/mirror.git", "app/copied"), DENIED),
        case("copy a repository into a new directory", "copy", copy("app/sep", "app/x/y/z"), DENIED),
        case("move the top of one", "move", copy("app/wtmeta", "app/sub/wtmeta"), DENIED),
    ]);
    // An incomplete repository is not completed.
    for piece in ["objects", "refs", "commondir", "OBJECTS", "refs.", "re\u{200b}fs"] {
        cases.extend(creations(&format!("halfhead/{piece}")));
        cases.extend(creations(&format!("halfhead/{piece}/x")));
        let path = format!("app/halfhead/{piece}");
        cases.push(case(format!("mkdir {piece} beside HEAD"), "mkdir", json!({ "path": path }), DENIED));
    }
    for head in ["HEAD", "head", "HEAD.", "Head", "HEAD::$DATA"] {
        cases.extend(creations(&format!("tmpl/{head}")));
        cases.push(case(
            format!("give {head:?}"),
            "copy",
            copy("app/halfhead/HEAD", &format!("app/tmpl/{head}")),
            DENIED,
        ));
    }
    // Nor are its parts brought together by one call.
    let parts = json!(["app/halfhead/HEAD", "app/tmpl/objects", "app/tmpl/refs"]);
    let arguments = json!({ "sources": parts, "destination": "app/fresh/" });
    cases.push(case("copy the parts of a repository together", "copy", arguments, DENIED));
    let add = |name: &str| format!("*** Add File: app/fresh/{name}\n+x\n");
    let patch = format!("*** Begin Patch\n{}{}{}*** End Patch", add("HEAD"), add("objects/x"), add("refs/x"));
    cases.push(case("add the parts of a repository together", "apply_patch", json!({ "patch": patch }), DENIED));
    cases.extend(honest_repositories());
    distinct(cases)
}

fn honest_repositories() -> Vec<Case> {
    let mut cases = vec![
        answers("a repository may be read", "read", json!({ "path": "app/mirror.git/config" }), "bare"),
        answers("and searched", "grep", json!({ "pattern": "bare", "path": "app/mirror.git" }), "config"),
        answers(
            "a file of it may be copied out",
            "copy",
            json!({ "source": "app/mirror.git/description", "destination": "app/description.txt" }),
            "",
        )
        .writes(),
    ];
    for path in [
        "tmpl/objects/a.rs",
        "tmpl/refs/b.rs",
        "tmpl/config",
        "tmpl/hooks/use.ts",
        "tmpl/HEAD.md",
        "halfhead/config",
        "halfhead/object",
        "config/app.toml",
        "src/objects/cube.rs",
    ] {
        let arguments = json!({ "path": format!("app/{path}"), "content": "honest\n" });
        cases.push(answers(&format!("write {path}"), "write", arguments, "").writes());
    }
    cases.extend([
        answers("move what is none", "move", json!({ "source": "app/tmpl", "destination": "app/tmpl2" }), "").writes(),
        answers("copy what is none", "copy", json!({ "source": "app/tmpl2", "destination": "app/tmpl3" }), "").writes(),
        answers("delete what is none", "delete", json!({ "path": "app/tmpl3", "recursive": true }), "").writes(),
    ]);
    cases
}

/// `.zed -> shared_zed`, `.config -> cfgs`, `.cargo -> cargo_shared`, `.gnupg -> ring`, `.kube -> k8s`, and links to
/// those links.
pub(super) fn linked_names() -> Vec<Case> {
    let mut cases = Vec::new();
    for path in [
        ".zed/tasks.json",
        "to_zed/tasks.json",
        "shared_zed/tasks.json",
        ".zed/new.json",
        "shared_zed/new.json",
        "SHARED_ZED/other.json",
        ".config/git/config",
        ".config/git/new",
        "cfgs/git/config",
        "cfgs/nvim/init.lua",
        "to_config/git/config",
        ".cargo/config.toml",
        "cargo_shared/config.toml",
        "cargo_shared/CONFIG.TOML",
        "proj/.cargo/config.toml",
    ] {
        cases.extend(creations(path));
    }
    for path in [
        "shared_zed",
        "cfgs/git",
        "cargo_shared/config.toml",
        ".config/git",
        "to_config/git",
        ".zed",
        ".config",
        ".cargo",
    ] {
        let path = format!("app/{path}");
        cases.push(case(format!("delete {path}"), "delete", json!({ "path": path, "recursive": true }), KEPT));
        cases.push(case(format!("move {path}"), "move", json!({ "source": path, "destination": "app/away" }), KEPT));
    }
    // A link with a plain target under a name of the list would make plain files run.
    for name in [".vscode", "proj/.vscode", "proj/.config", "x/.github", "new/.yarn", ".aws2/../.bundle"] {
        let destination = format!("app/{name}");
        let arguments = json!({ "source": "app/to_sub", "destination": destination });
        cases.push(case(format!("move a link to {name}"), "move", arguments, KEPT));
        let arguments = json!({ "source": "app/with_link", "destination": destination });
        cases.push(case(format!("move a tree to {name}"), "move", arguments, Expect::Harmless).writes());
    }
    for path in [".gnupg/keys", "to_gnupg/keys", "ring/keys", ".kube/config", "k8s/config", "to_kube/config"] {
        let app = format!("app/{path}");
        cases.push(case(format!("read {path}"), "read", json!({ "path": app }), DENIED));
        cases.push(answers(&format!("mark {path}"), "ls", json!({ "path": app }), "[protected]"));
        cases.push(case(format!("grep {path}"), "grep", json!({ "pattern": ".", "path": app }), Expect::Harmless));
        cases.push(case(format!("copy {path}"), "copy", json!({ "source": app, "destination": "app/leak" }), DENIED));
        cases.extend(changes(path));
    }
    for path in [".gnupg", "to_gnupg", "ring", ".kube", "to_kube", "k8s"] {
        let app = format!("app/{path}");
        let grep = json!({ "pattern": ".", "path": app, "no_ignore": true });
        cases.push(case(format!("search {path}"), "grep", grep, Expect::Without(":1:")));
        cases.push(answers(&format!("list {path}"), "ls", json!({ "path": app }), "[protected]"));
        cases.push(case(
            format!("copy all of {path}"),
            "copy",
            json!({ "source": app, "destination": "app/leak" }),
            DENIED,
        ));
    }
    cases.extend([
        answers("names are found", "glob", json!({ "pattern": "*.json", "path": "app/shared_zed" }), "tasks.json"),
        answers("what runs later is read", "read", json!({ "path": "app/.zed/tasks.json" }), "{}"),
        answers("a plain name behind such a link", "write", json!({ "path": "app/cfgs/app.toml", "content": "x" }), "")
            .writes(),
        answers("also through it", "write", json!({ "path": "app/.config/other.toml", "content": "x" }), "").writes(),
    ]);
    distinct(cases)
}

/// `.claude/settings.json` and `.cursorignore` of the root.
pub(super) fn agent_rules() -> Vec<Case> {
    let mut cases = Vec::new();
    for path in ["agent_secret/x", "agent_secret/deep/y", "a.agent", "sub/b.agent", "vault/open.agent", "to_vault/any"]
    {
        let app = format!("app/{path}");
        cases.push(case(format!("read {path}"), "read", json!({ "path": app }), DENIED));
        cases.push(case(format!("copy {path}"), "copy", json!({ "source": app, "destination": "app/leak" }), DENIED));
        cases.extend(changes(path));
    }
    for path in [
        "Agent_Secret/new",
        "agent_secret./new",
        "NEW.AGENT",
        "new.agent.",
        "va\u{200b}ult/x",
        "agent_kept/x",
        "AGENT_KEPT/new",
    ] {
        cases.extend(creations(path));
    }
    for path in [".cursorignore", ".claude/settings.json", ".claude/settings.local.json", ".aiexclude", ".geminiignore"]
    {
        cases.extend(changes(path));
    }
    for path in ["app", "app/agent_secret", "app/vault", "app/to_vault"] {
        let arguments = json!({ "pattern": "SECRET-of", "path": path, "no_ignore": true });
        cases.push(case(format!("search {path}"), "grep", arguments, Expect::Without(":1:")));
    }
    cases.extend([
        answers("what is not edited is read", "read", json!({ "path": "app/agent_kept/x" }), "kept"),
        answers("negation counts in its file", "read", json!({ "path": "app/open.agent" }), "open"),
        answers("and is written", "write", json!({ "path": "app/open.agent", "content": "new" }), "").writes(),
        answers("anchored rules are anchored", "read", json!({ "path": "app/sub/agent_secret/x" }), "plain"),
    ]);
    distinct(cases)
}

/// A server with its own way of being started.
struct Started {
    dir: TempDir,
    process: Process,
}

impl Started {
    fn new(build: impl FnOnce(&Path), command: impl FnOnce(&Path) -> Command) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        build(dir.path());
        let mut started = command(dir.path());
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("ROOTBOUND_")) {
            started.env_remove(name);
        }
        started.current_dir(dir.path()).args(["--state-dir", "off", "--read-before-write", "off", "--allow", "manage"]);
        started.env(CHECK_OPENS.0, CHECK_OPENS.1);
        let mut process = Process::spawn(started);
        process.initialize();
        Self { dir, process }
    }

    /// The kind of the error, "" for an answer.
    fn call(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.process.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        answer["result"]["_meta"]["rootbound/error"].as_str().unwrap_or_default().to_owned()
    }

    /// Checks that nothing can be created at `path` and what exists cannot be removed.
    fn is_kept(&mut self, path: &str) {
        let there = self.dir.path().join(path);
        let before = fs::symlink_metadata(&there).map(|stat| (stat.len(), stat.modified().expect("a time"))).ok();
        for (tool, arguments) in [
            ("write", json!({ "path": path, "content": "owned" })),
            ("edit", json!({ "path": path, "old_string": "", "new_string": "owned" })),
            ("mkdir", json!({ "path": path })),
            ("write", json!({ "path": format!("{path}/below"), "content": "owned" })),
            ("move", json!({ "source": "app/plain.txt", "destination": path, "overwrite": true })),
            ("copy", json!({ "source": "app/plain.txt", "destination": path, "overwrite": true })),
            ("move", json!({ "source": path, "destination": "app/away" })),
            ("delete", json!({ "path": path, "recursive": true })),
            ("undo", json!({})),
        ] {
            // The server does not start from the files in the directory that a link leads to.
            if there.is_dir() && arguments["path"].as_str().is_some_and(|text| text.ends_with("/below")) {
                continue;
            }
            let kind = self.call(tool, &arguments);
            let is_there = tool == "mkdir" && kind.is_empty() && there.is_dir();
            assert!(!kind.is_empty() || is_there, "{tool} {arguments} was answered");
            let after = fs::symlink_metadata(&there).map(|stat| (stat.len(), stat.modified().expect("a time"))).ok();
            assert_eq!(before, after, "{tool} {arguments}");
        }
    }

    /// Checks that it can be written like any other file.
    fn is_free(&mut self, path: &str) {
        assert_eq!(self.call("write", &json!({ "path": path, "content": "honest" })), "", "{path}");
    }
}

fn put(dir: &Path, files: &[&str]) {
    for file in files {
        let path = dir.join(file);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("a folder");
        fs::write(path, "plain\n").expect("a file");
    }
}

fn with_barriers(test: impl Fn(&'static [&'static str])) {
    for barrier in [Barrier::All, Barrier::Openat2, Barrier::Walk] {
        test(barrier.arguments());
    }
}

#[test]
fn running_program_is_not_replaced_by_any_name_on_its_path() {
    with_barriers(|barrier| {
        let build = |dir: &Path| {
            put(dir, &["app/plain.txt", "app/early/other", "app/bin/other", "app/late/other"]);
            let program = env!("CARGO_BIN_EXE_rootbound");
            fs::hard_link(program, dir.join("app/bin/server"))
                .or_else(|_| fs::copy(program, dir.join("app/bin/server")).map(drop))
                .expect("a copy of the program");
            symlink("evil", dir.join("app/to_evil")).expect("a link");
            symlink("server", dir.join("app/bin/rb")).expect("a link");
            symlink("bin", dir.join("app/tools")).expect("a link");
        };
        let mut server = Started::new(build, |dir| {
            let mut command = Command::new(dir.join("app/bin/server"));
            let path = ["app/early", "app/tools", "app/late"].map(|folder| dir.join(folder));
            command.arg0("rb").env("PATH", std::env::join_paths(path).expect("plain names"));
            command.args(["--root", "app=app"]).args(barrier);
            command
        });
        for path in ["app/bin/server", "app/bin/rb", "app/tools/rb", "app/tools", "app/early/rb"] {
            server.is_kept(path);
        }
        assert_eq!(server.call("delete", &json!({ "path": "app/bin", "recursive": true })), "denied");
        assert_eq!(server.call("move", &json!({ "source": "app/bin", "destination": "app/bin2" })), "denied");
        for path in ["app/bin/other", "app/early/rbx", "app/late/rb"] {
            server.is_free(path);
        }
        // A link in the place of the directory would bring a plain name into it.
        assert_eq!(server.call("delete", &json!({ "path": "app/early", "recursive": true })), "");
        server.is_free("app/evil/rb");
        let link = json!({ "source": "app/to_evil", "destination": "app/early" });
        assert_eq!((server.call("move", &link), server.call("copy", &link)), ("denied".into(), "denied".into()));
        let tree = json!({ "source": "app/evil", "destination": "app/early" });
        assert_eq!((server.call("move", &tree), server.call("copy", &tree)), ("denied".into(), "denied".into()));
    });
}

#[test]
fn configuration_file_and_links_to_it_are_not_changed_in_any_root() {
    with_barriers(|barrier| {
        let build = |dir: &Path| {
            put(dir, &["app/plain.txt", "app/inner/conf/deep/rb.toml", "app/inner/conf/other", "lib/x"]);
            symlink("inner/conf", dir.join("app/conf")).expect("a link");
            symlink("../lib", dir.join("app/lib_link")).expect("a link");
            fs::write(dir.join("app/inner/conf/deep/rb.toml"), "log = \"warn\"\n").expect("written");
        };
        let mut server = Started::new(build, |_| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_rootbound"));
            command.args(["--root", "app=app", "--root", "in=app/inner", "--root", "lib=app/lib_link"]);
            command.args(["--config", "app/conf/deep/rb.toml"]).args(barrier);
            command
        });
        for path in ["app/conf", "app/conf/deep/rb.toml", "app/inner/conf/deep/rb.toml", "app/lib_link"] {
            server.is_kept(path);
        }
        for (tool, arguments) in [
            ("write", json!({ "path": "in/conf/deep/rb.toml", "content": "x" })),
            ("delete", json!({ "path": "in/conf/deep/rb.toml" })),
            ("delete", json!({ "path": "in/conf/deep", "recursive": true })),
            ("delete", json!({ "path": "in/conf", "recursive": true })),
            ("move", json!({ "source": "in/conf", "destination": "in/elsewhere" })),
            ("move", json!({ "source": "app/inner/conf/deep", "destination": "app/elsewhere" })),
        ] {
            assert_eq!(server.call(tool, &arguments), "denied", "{tool} {arguments}");
        }
        for path in ["in/conf/other", "in/conf/deep/rb.toml.bak", "app/conf/new", "lib/x"] {
            server.is_free(path);
        }
    });
}

#[test]
fn a_root_that_is_a_repository_is_not_written() {
    with_barriers(|barrier| {
        let build = |dir: &Path| {
            put(dir, &["app/plain.txt", "bare/config", "bare/HEAD", "bare/objects/x", "bare/refs/x"]);
        };
        let mut server = Started::new(build, |_| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_rootbound"));
            command
                .args(["--root", "app=app", "--root", "bare=bare", "--allow-protected", "description"])
                .args(barrier);
            command
        });
        for path in ["bare/config", "bare/hooks/pre-commit", "bare/new.txt", "bare/objects/x"] {
            server.is_kept(path);
        }
        server.is_free("bare/description");
    });
}
