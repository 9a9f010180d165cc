//! Rules that start-up finds on the disk, and repositories, which are recognised before each change.

use super::*;

fn refusal(workspace: &Workspace, text: &str) -> Option<String> {
    write_error(workspace, text).map(|error| error.to_string())
}

#[test]
fn policy_applies_to_every_alias_of_a_path() {
    Fixture::both(|mut fixture| {
        fixture.policy.hide = vec!["ghost".into()];
        fixture.policy.deny = vec!["/denied/x".into()];
        fixture.file("ws/keys/config", "s");
        fixture.file("ws/plain/x", "s");
        fixture.file("ws/deep/k/config", "s");
        fixture.link("keys", "ws/sub/.ssh_real");
        fixture.link("../keys", "ws/sub/.ssh");
        fixture.link("sub/.ssh", "ws/one");
        fixture.link("one", "ws/two");
        fixture.link(fixture.host("ws/two"), "ws/three");
        fixture.link("plain", "ws/denied");
        fixture.link("denied", "ws/to_denied");
        fixture.link("plain", "ws/ghost");
        fixture.link("ghost", "ws/to_ghost");
        fixture.link("k", "ws/deep/.kube");
        fixture.link("deep", "ws/shallow");
        let workspace = fixture.open();
        for text in ["sub/.ssh/config", "one/config", "two/config", "three/config", "denied/x", "to_denied/x"] {
            assert_eq!(read(&workspace, text), Err(AccessErrorKind::Secret), "{text}");
            assert!(refusal(&workspace, text).is_some(), "{text}");
        }
        for text in ["deep/.kube/config", "shallow/.kube/config"] {
            assert_eq!(read(&workspace, text), Err(AccessErrorKind::Secret), "{text}");
        }
        for text in ["ghost/x", "to_ghost/x"] {
            assert_eq!(read(&workspace, text), Err(AccessErrorKind::NotFound), "{text}");
        }
        for text in ["plain/x", "deep/k/config", "shallow/k/config", "keys/config"] {
            assert_eq!(read(&workspace, text).as_deref(), Ok("s"), "{text}");
        }
    });
}

#[test]
fn targets_of_protected_links_are_found_in_large_directories() {
    Fixture::both(|fixture| {
        for number in 0..4_200 {
            fixture.file(&format!("ws/{number}.txt"), "");
        }
        fixture.file("ws/shared/tasks.json", "{}");
        fixture.link("shared", "ws/.vscode");
        fixture.link("run.sh", "ws/.husky");
        fixture.link("notes.md", "ws/.claude/CLAUDE.md");
        fixture.link("example.env.example", "ws/.env");
        fixture.file("ws/example.env.example", "x");
        fixture.file("ws/ring/x", "s");
        fixture.link("ring", "ws/.gnupg");
        let workspace = fixture.open();
        for text in ["shared/tasks.json", "shared/launch.json", "run.sh", "RUN.SH"] {
            assert!(refusal(&workspace, text).is_some_and(|why| why.contains("the target of the link")), "{text}");
        }
        for text in ["shared/other.json", "run.sh.txt", "example.env.example"] {
            assert_eq!(refusal(&workspace, text), None, "{text}");
        }
        assert_eq!(read(&workspace, "ring/x"), Err(AccessErrorKind::Secret));
    });
}

#[test]
fn instructions_for_agents_are_writable_behind_a_link() {
    let mut fixture = Fixture::new(false);
    fixture.file("ws/AGENTS.md", "x");
    fixture.file("ws/run.sh", "x");
    fixture.link("../AGENTS.md", "ws/.claude/CLAUDE.md");
    fixture.link("../run.sh", "ws/.claude/hook.sh");
    assert_eq!(refusal(&fixture.open(), "AGENTS.md"), None);
    assert!(refusal(&fixture.open(), "run.sh").is_some());
    fixture.policy.allow_protected = vec!["run.sh".into()];
    assert_eq!(refusal(&fixture.open(), "run.sh"), None);
}

#[test]
fn repository_is_recognised_by_content_at_write_time() {
    Fixture::both(|mut fixture| {
        fixture.file("ws/a/b/config", "x");
        let workspace = fixture.open();
        assert_eq!(refusal(&workspace, "a/b/config"), None);
        fixture.file("ws/a/b/HEAD", "ref: x");
        assert_eq!(refusal(&workspace, "a/b/config"), None);
        assert!(refusal(&workspace, "a/b/objects/x").is_some_and(|why| why.contains("what would make a/b a git")));
        fixture.file("ws/a/b/objects/x", "");
        fixture.file("ws/a/b/refs/x", "");
        for text in ["a/b/config", "a/b/hooks/x", "a/b/c/d/e"] {
            let why = refusal(&workspace, text).unwrap();
            assert!(why.contains("a/b, a git repository by its content"), "{why}");
        }
        for text in ["a/config", "a/bc/config", "other"] {
            assert_eq!(refusal(&workspace, text), None, "{text}");
        }
        fixture.policy.allow_protected = vec!["a/b/**".into()];
        assert_eq!(refusal(&fixture.open(), "a/b/config"), None);
    });
}

#[test]
fn directory_named_head_makes_no_repository() {
    Fixture::both(|fixture| {
        for file in ["ws/HEAD/x", "ws/objects/x", "ws/refs/x", "ws/sub/HEAD.md", "ws/sub/objects/x", "ws/sub/refs/x"] {
            fixture.file(file, "x");
        }
        let workspace = fixture.open();
        for text in ["config", "objects/y", "sub/config", "sub/objects/y", "HEAD/y"] {
            assert_eq!(refusal(&workspace, text), None, "{text}");
        }
    });
}

#[test]
fn directory_named_head_is_writable_and_a_file_is_not() {
    Fixture::both(|fixture| {
        fixture.file("ws/uu/head/src/head.rs", "x");
        fixture.file("ws/bin/head", "x");
        fixture.link("../uu/head", "ws/link/head");
        let workspace = fixture.open();
        assert_eq!(refusal(&workspace, "uu/head"), None);
        for file in ["bin/head", "bin/HEAD", "uu/HEAD.", "other/head"] {
            assert!(refusal(&workspace, file).is_some_and(|why| why.contains("`head`")), "{file}");
        }
        assert_eq!(plan_move(&workspace, "uu", "moved"), Ok(()));
        for from in ["bin", "link"] {
            assert_eq!(plan_move(&workspace, from, "moved"), Err(AccessErrorKind::ProtectedWrite), "{from}");
        }
    });
}

#[test]
fn server_files_are_protected_whatever_the_rules_allow() {
    Fixture::both(|mut fixture| {
        fixture.policy.allow_protected = vec!["**".into()];
        fixture.file("out/conf/r.toml", "");
        fixture.link(fixture.host("out/conf"), "ws/way");
        fixture.file("ws/plain", "");
        let server_files = vec![fixture.host("ws/way/r.toml"), fixture.host("ws/bin/tool")];
        let workspace = fixture.open_with(|options| options.server_files = server_files);
        for text in ["way", "WAY", "bin/tool", "bin/tool/below"] {
            assert_eq!(entry(&workspace, text).unwrap_err(), AccessErrorKind::ProtectedWrite, "{text}");
        }
        for text in ["plain", "bin", "bin/tools", "ways"] {
            assert!(entry(&workspace, text).is_ok(), "{text}");
        }
    });
}

#[test]
fn directory_left_by_dot_dot_before_a_server_file_is_protected_without_its_content() {
    Fixture::both(|fixture| {
        fixture.file("ws/src/deep/x", "");
        fixture.file("ws/r.toml", "");
        let server_files = vec![fixture.host("ws/src/deep/../../r.toml")];
        let workspace = fixture.open_with(|options| options.server_files = server_files);
        for text in ["src", "SRC", "src/deep", "r.toml"] {
            assert_eq!(entry(&workspace, text).unwrap_err(), AccessErrorKind::ProtectedWrite, "{text}");
        }
        for text in ["src/x", "src/deep/x", "src/deep/new/y", "sr"] {
            assert!(entry(&workspace, text).is_ok(), "{text}");
        }
    });
}

#[test]
fn link_cannot_take_a_name_above_a_protected_path() {
    Fixture::both(|mut fixture| {
        fixture.file("ws/plain/tasks.json", "{}");
        fixture.file("ws/dir/x", "");
        fixture.link("plain", "ws/evil");
        fixture.link("gone", "ws/.vscode");
        let server_files = vec![fixture.host("ws/early/tool")];
        let open = |fixture: &Fixture| fixture.open_with(|options| options.server_files = server_files.clone());
        let workspace = open(&fixture);
        // `gone` is what `.vscode` leads to, `early` a directory in which the program is looked for.
        for to in ["gone", "early", ".config", "sub/.github", "a/.VSCODE", ".yarn."] {
            assert_eq!(plan_move(&workspace, "evil", to), Err(AccessErrorKind::ProtectedWrite), "{to}");
        }
        assert!(plan_move(&workspace, "plain", "gone").is_err(), "with tasks.json in it");
        for (from, to) in [("evil", "other"), ("evil", "sub/config"), ("dir", "early"), ("dir", "gone")] {
            assert!(plan_move(&workspace, from, to).is_ok(), "{from} to {to}");
        }
        fixture.policy.allow_protected = vec![".config".into()];
        assert!(plan_move(&open(&fixture), "evil", ".config").is_ok());
    });
}
