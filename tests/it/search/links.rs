//! Links that `glob` and `grep` meet: a link to a file is a name, one to a directory is entered where the pattern names it,
//! and where it leads is said if that was not searched.

use confined_fs::Access;
use serde_json::{Value, json};
use tree_search::IndexMode;

use crate::harness::{Harness, Setup, mcp_test};

fn glob(h: &Harness, pattern: &str) -> String {
    h.call("glob", json!({ "pattern": pattern, "sort": "path" })).ok()
}

mcp_test!(a_link_to_a_file_is_a_name, |h| {
    h.write("AGENTS.md", "rules\n");
    h.write("sub/.gitignore", "ignored\n");
    h.write("sub/ignored/deep.md", "x\n");
    h.write(".env", "KEY=1\n");
    h.write_outside("secret.md", "x\n");
    for (target, link) in [
        ("AGENTS.md", "CLAUDE.md"),
        ("../CLAUDE.md", "sub/CLAUDE.md"),
        ("nowhere", "broken/CLAUDE.md"),
        ("../../secret.md", "out/CLAUDE.md"),
        ("CLAUDE.md", "loop/CLAUDE.md"),
        ("../.env", "env/CLAUDE.md"),
        ("ignored/deep.md", "sub/GEMINI.md"),
    ] {
        h.symlink(target, link);
    }
    h.symlink(h.path("AGENTS.md"), "absolute.md");
    assert_eq!(glob(&h, "**/CLAUDE.md"), "Found 2 paths under .\n1. CLAUDE.md\n2. sub/CLAUDE.md");
    assert_eq!(glob(&h, "absolute*"), "Found 1 path under .\n1. absolute.md");
    let newest = h.call("glob", json!({ "pattern": "{CLAUDE,AGENTS}.md" })).ok();
    assert!(newest.starts_with("Found 3 paths"), "{newest}");
    // Its content is searched by its own name, unless that is left out.
    let link = "1 link not followed: sub/GEMINI.md -> sub/ignored/deep.md; pass it as path";
    let found = h.call("grep", json!({ "pattern": "rules" })).ok();
    assert_eq!(
        found,
        format!("Found 1 match in 1 file under .\nAGENTS.md:1: rules\n\n{link}\nskipped: .env (protected)")
    );
    let named =
        "No matches found\n2 links not followed: CLAUDE.md -> AGENTS.md, sub/CLAUDE.md -> AGENTS.md; pass one as path";
    assert_eq!(h.call("grep", json!({ "pattern": "rules", "glob": "CLAUDE.md" })).ok(), named);
    let ignored = h.call("grep", json!({ "pattern": "x", "glob": "GEMINI.md" })).ok();
    assert_eq!(ignored, "No matches found\n1 link not followed: sub/GEMINI.md -> sub/ignored/deep.md; pass it as path");
});

mcp_test!(a_link_to_a_directory_is_entered_where_the_pattern_names_it, |h| {
    h.write("items/foo/a.md", "hit\n");
    h.write("items/foo/deep/b.md", "hit\n");
    h.write("cat/own.md", "hit\n");
    h.symlink("../items/foo", "cat/foo");
    h.symlink("foo", "cat/chain");
    h.symlink("../items", "cat/all");
    let below = "Found 2 paths under .\n1. cat/foo/a.md\n2. cat/foo/deep/b.md";
    for pattern in ["cat/foo/**/*.md", "./cat/foo/**", "cat/foo/**/*,nothing/*.rs"] {
        assert_eq!(glob(&h, pattern), below, "{pattern}");
    }
    assert_eq!(glob(&h, "cat/foo/"), "Found 1 path under .\n1. cat/foo/");
    assert_eq!(glob(&h, "cat/foo/**/"), "Found 1 path under .\n1. cat/foo/deep/");
    assert_eq!(glob(&h, "cat/chain/a.md"), "Found 1 path under .\n1. cat/chain/a.md");
    assert_eq!(glob(&h, "cat/all/foo/*.md"), "Found 1 path under .\n1. cat/all/foo/a.md");
    let under = h.call("glob", json!({ "pattern": "foo/*.md", "path": "cat" })).ok();
    assert_eq!(under, "Found 1 path under cat\n1. cat/foo/a.md");
    assert!(glob(&h, "CAT/FOO/*.md").starts_with("No files matched"));
    let loose = h.call("glob", json!({ "pattern": "CAT/FOO/*.md", "case_sensitive": false })).ok();
    assert_eq!(loose, "Found 1 path under .\n1. cat/foo/a.md");
    // All of it is found by its own name.
    assert_eq!(glob(&h, "**/*.md"), "Found 3 paths under .\n1. cat/own.md\n2. items/foo/a.md\n3. items/foo/deep/b.md");
    assert!(!h.call("grep", json!({ "pattern": "hit" })).ok().contains("link"));
    let directories = h.call("glob", json!({ "pattern": "foo", "include_dirs": true, "sort": "path" })).ok();
    assert_eq!(directories, "Found 2 paths under .\n1. cat/foo/\n2. items/foo/");
    // A pattern with a wildcard before it does not enter it, and says so.
    let links =
        "3 links not followed: cat/all -> items, cat/chain -> items/foo, cat/foo -> items/foo; pass one as path";
    assert_eq!(glob(&h, "cat/**/*.md"), format!("Found 1 path under .\n1. cat/own.md\n\n{links}"));
    for (tool, arguments) in [
        ("grep", json!({ "pattern": "hit", "path": "cat" })),
        ("grep", json!({ "pattern": "hit", "glob": "cat/**" })),
        ("glob", json!({ "pattern": "*.md", "path": "cat" })),
    ] {
        let answer = h.call(tool, arguments.clone());
        assert!(answer.ok().ends_with(links), "{arguments}: {}", answer.ok());
        assert_eq!(answer.facts()["links_not_followed"], 3);
    }
    assert_eq!(
        h.call("grep", json!({ "pattern": "hit", "path": "cat/foo", "output_mode": "count" })).facts()["matches"],
        2
    );
});

mcp_test!(what_policy_hides_or_is_outside_is_never_named, |h| {
    h.write("dir/own.txt", "hit\n");
    h.write("node_modules/pkg/a.txt", "hit\n");
    h.write(".git/config", "hit\n");
    h.write_outside("beside/a.txt", "hit\n");
    for (target, link) in [
        ("../../beside", "dir/out"),
        ("../../nowhere", "dir/nowhere"),
        ("loop", "dir/loop"),
        ("..", "dir/up"),
        (".", "dir/self"),
        ("../node_modules/pkg", "dir/pkg"),
    ] {
        h.symlink(target, link);
    }
    h.symlink(h.outside("beside"), "dir/absolute");
    let text = h.call("grep", json!({ "pattern": "hit", "path": "dir" })).ok();
    let links = "2 links not followed: dir/pkg -> node_modules/pkg, dir/up -> .; pass one as path";
    assert_eq!(text, format!("Found 1 match in 1 file under dir\ndir/own.txt:1: hit\n\n{links}"));
    let text = h.call("grep", json!({ "pattern": "hit" })).ok();
    assert!(text.ends_with("1 link not followed: dir/pkg -> node_modules/pkg; pass it as path"), "{text}");
    let text = h.call("grep", json!({ "pattern": "hit", "no_ignore": true })).ok();
    assert!(!text.contains("not followed"), "{text}");
});

#[test]
fn more_links_than_are_named_are_counted() {
    let h = Harness::new();
    for number in 1..=5 {
        h.write(&format!("items/{number}/a.txt"), "hit\n");
        h.symlink(format!("../items/{number}"), &format!("cat/{number}"));
    }
    let links =
        "5 links not followed: cat/1 -> items/1, cat/2 -> items/2, cat/3 -> items/3 and 2 more; pass one as path";
    assert_eq!(h.call("grep", json!({ "pattern": "hit", "path": "cat" })).ok(), format!("No matches found\n{links}"));
}

#[test]
fn a_link_may_lead_into_another_root() {
    let roots = vec![(Some("app"), "one", Access::ReadWrite), (Some("lib"), "two", Access::ReadOnly)];
    let h = Setup { roots, ..Setup::default() }.open();
    h.write("own.txt", "hit\n");
    h.write_outside("two/dir/a.txt", "hit\n");
    h.symlink(h.outside("two/dir"), "linked");
    let found = h.call("grep", json!({ "pattern": "hit", "path": "app" })).ok();
    assert!(found.ends_with("\n\n1 link not followed: app/linked -> lib/dir; pass it as path"), "{found}");
    assert!(!h.call("grep", json!({ "pattern": "hit" })).ok().contains("not followed"), "both roots are searched");
    for pattern in ["app/linked/*.txt", "linked/*.txt"] {
        assert!(glob(&h, pattern).ends_with("1. app/linked/a.txt"), "{pattern}");
    }
}

/// With the list of an index, and with a walk.
#[cfg(target_os = "linux")]
#[test]
fn an_index_knows_the_same_links_as_a_walk() {
    use std::sync::Arc;

    use file_tools::{Content, Plan, Selection, Toolbox};

    let h = Harness::new();
    h.write("items/foo/a.md", "hit\n");
    h.write("target/b.md", "hit\n");
    h.write("Cargo.toml", "");
    h.symlink("../items/foo", "cat/foo");
    h.symlink("../target", "cat/target");
    h.symlink("../items/foo/a.md", "cat/CLAUDE.md");
    let setup = Setup::default();
    let workspace = Arc::new(setup.workspace(&h.outside("")));
    let toolbox = Toolbox::new(&Selection::default());
    let [with, without] = [IndexMode::Eager, IndexMode::Off].map(|mode| setup.context(&workspace, mode));
    with.path_index.settle(&workspace);
    let calls: [(&str, Value); 5] = [
        ("glob", json!({ "pattern": "**/CLAUDE.md" })),
        ("glob", json!({ "pattern": "cat/foo/*.md" })),
        ("glob", json!({ "pattern": "cat/**/*.md" })),
        ("grep", json!({ "pattern": "hit" })),
        ("grep", json!({ "pattern": "hit", "path": "cat" })),
    ];
    for (tool, arguments) in calls {
        let answer = |cx| {
            let entry = toolbox.tools().iter().find(|entry| entry.spec.name == tool).unwrap();
            match entry.plan(cx, arguments.as_object().unwrap().clone()) {
                Ok(Plan::Answer(answer)) => match answer.content.into_iter().next() {
                    Some(Content::Text(text)) => text,
                    _ => panic!("{tool} answers with text"),
                },
                _ => panic!("{tool} {arguments} answers"),
            }
        };
        let (one, other) = (answer(&with), answer(&without));
        assert_eq!(one, other, "{tool} {arguments}");
        assert!(one.contains("cat/"), "{tool} {arguments}: {one}");
    }
}
