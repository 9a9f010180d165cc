//! Linked worktrees of git below a root: other checkouts of the same repository, which a search of what is above them
//! leaves out and counts.

use std::{fs, path::Path, process::Command};

use confined_fs::Access;
use serde_json::json;

use crate::harness::{Harness, Setup, mcp_test};

/// Linked worktrees, and what git writes into the `.git` file of each; two of them are ignored.
const WORKTREES: [(&str, &str); 5] = [
    ("wt1", "gitdir: /elsewhere/team/.git/worktrees/wt1\n"),
    ("packages/wt2", "gitdir: ../../.git/worktrees/wt2\n"),
    (".claude/worktrees/agent-a", "gitdir: /elsewhere/team/.git/worktrees/agent-a\n"),
    ("ignored/wt4", "gitdir: /elsewhere/team/.git/worktrees/wt4\r\n"),
    ("ignored-wt5", "gitdir: /elsewhere/team/.git/modules/sub/worktrees/wt5"),
];
/// Repositories that are no other checkout: submodules, one called so, one in a worktree, and one with its git folder
/// elsewhere.
const OTHERS: [(&str, &str); 4] = [
    ("sub", "gitdir: ../.git/modules/sub\n"),
    ("worktrees", "gitdir: ../.git/modules/worktrees\n"),
    ("of-a-worktree", "gitdir: /elsewhere/team/.git/worktrees/wt1/modules/sub\n"),
    ("separate", "gitdir: /elsewhere/separate.git\n"),
];
const NOTE: &str = "(5 worktrees below not searched; pass one as path)";

/// A repository with all of them, one that is nested, and a bare one; `src/app.rs` is in each checkout.
fn team(h: &Harness) {
    h.write(".gitignore", "ignored/\nignored-wt*\n");
    for name in [".git", "nested/.git", "bare.git"] {
        h.write(&format!("{name}/HEAD"), "ref: refs/heads/main\n");
        h.write(&format!("{name}/config"), "[core]\n");
        h.mkdir(&format!("{name}/objects"));
        h.mkdir(&format!("{name}/refs"));
    }
    h.write("src/app.rs", "fn needle() {}\n");
    h.write("bare.git/description", "needle of the bare one\n");
    h.write("nested/src/app.rs", "fn needle() {}\n");
    for (place, git) in WORKTREES.iter().chain(&OTHERS) {
        h.write(&format!("{place}/.git"), git);
        h.write(&format!("{place}/src/app.rs"), "fn needle() {}\n");
    }
}

mcp_test!(each_file_is_found_once_and_the_other_checkouts_are_counted, |h| {
    team(&h);
    let found = [
        "bare.git/description",
        "nested/src/app.rs",
        "of-a-worktree/src/app.rs",
        "separate/src/app.rs",
        "src/app.rs",
        "sub/src/app.rs",
        "worktrees/src/app.rs",
    ];
    let grep = h.call("grep", json!({"pattern": "needle", "output_mode": "files_with_matches"}));
    assert_eq!(grep.ok(), format!("Found 7 files under .\n{}\n\n{NOTE}", found.join("\n")));
    assert_eq!(grep.facts()["worktrees"], json!(5));
    let glob = h.call("glob", json!({"pattern": "**/app.rs", "sort": "path"}));
    assert!(glob.ok().starts_with("Found 6 paths") && glob.ok().ends_with(NOTE), "{}", glob.ok());
    assert_eq!(glob.facts()["worktrees"], json!(5));
    // Where nothing is found, too, and with ignored files.
    let none = h.call("grep", json!({"pattern": "nobody wrote this"})).ok();
    assert_eq!(none, format!("No matches found\n{NOTE}"));
    let none = h.call("glob", json!({"pattern": "none.rs"})).ok();
    assert!(none.starts_with("No files matched\n") && none.ends_with(NOTE), "{none}");
    let all = h.call("grep", json!({"pattern": "needle", "output_mode": "count", "no_ignore": true}));
    assert_eq!((&all.facts()["matches"], &all.facts()["worktrees"]), (&json!(7), &json!(5)));
    // Below a directory without one nothing is said.
    let below = h.call("grep", json!({"pattern": "needle", "path": "src", "output_mode": "files_with_matches"}));
    assert_eq!((below.ok(), below.facts().get("worktrees")), ("Found 1 file under src\nsrc/app.rs".to_owned(), None));
    let one = h.call("glob", json!({"pattern": "*.rs", "path": "packages"})).ok();
    assert!(one.ends_with("\n(1 worktree below not searched; pass it as path)"), "{one}");
});

mcp_test!(worktree_that_is_named_itself_is_searched, |h| {
    team(&h);
    // One in a worktree is another one again.
    h.write("wt1/wt6/.git", WORKTREES[0].1);
    h.write("wt1/wt6/src/app.rs", "fn needle() {}\n");
    for (place, _) in WORKTREES.iter().chain(&OTHERS) {
        for path in [(*place).to_owned(), format!("{place}/src")] {
            let arguments = json!({"pattern": "needle", "path": path, "output_mode": "files_with_matches"});
            let text = h.call("grep", arguments).ok();
            let note = "\n\n(1 worktree below not searched; pass it as path)";
            let note = if path == "wt1" { note } else { "" };
            assert_eq!(text, format!("Found 1 file under {path}\n{place}/src/app.rs{note}"));
            let text = h.call("glob", json!({"pattern": "app.*", "path": path})).ok();
            assert!(text.contains(&format!("\n1. {place}/src/app.rs")), "{text}");
        }
        let listed = h.call("ls", json!({"path": place})).ok();
        assert!(listed.contains("\n  src/\n    app.rs"), "{listed}");
    }
    assert_eq!(h.call("read", json!({"path": "wt1/src/app.rs"})).error_kind(), None);
    // A pattern that leads into one names it, from the root, from a directory and with the path of the host.
    for call in [
        json!({"pattern": "wt1/**/app.rs"}),
        json!({"pattern": "wt1/src/*"}),
        json!({"pattern": "./wt1/src/app.rs"}),
        json!({"pattern": "wt1/**/app.rs", "path": "."}),
        json!({"pattern": format!("{}/wt1/src/*.rs", h.path("").display())}),
    ] {
        let text = h.call("glob", call.clone()).ok();
        assert!(text.contains("\n1. wt1/src/app.rs"), "{call}: {text}");
    }
    let below = h.call("glob", json!({"pattern": "wt2/src/*.rs", "path": "packages"})).ok();
    assert!(below.contains("\n1. packages/wt2/src/app.rs"), "{below}");
    let above = h.call("glob", json!({"pattern": "packages/**/app.rs"})).ok();
    assert!(above.starts_with("No files matched") && above.contains("(5 worktrees below not searched;"), "{above}");
    let missing = h.call("glob", json!({"pattern": "wt1/none/*.rs"}));
    assert_eq!(missing.error_kind(), Some("not_found"));
});

mcp_test!(ls_shows_worktrees_and_does_not_open_them, |h| {
    team(&h);
    h.write("ignored/plain.txt", "x");
    let listed = h.call("ls", json!({"depth": 3}));
    let text = listed.ok();
    for line in ["\n  wt1/ (worktree)", "\n    wt2/ (worktree)", "\n      agent-a/ (worktree)"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(text.contains("\n  sub/\n    src/\n      app.rs"), "{text}");
    assert!(text.ends_with("(3 worktrees below not listed; pass one as path)"), "{text}");
    assert_eq!(listed.facts()["worktrees"], json!(3));
    // Where they would only be counted, and without ignore rules.
    let listed = h.call("ls", json!({"no_ignore": true})).ok();
    assert!(listed.contains("\n  ignored-wt5/ (worktree)\n") && listed.contains("\n    wt4/ (worktree)\n"), "{listed}");
    assert!(listed.ends_with("(4 worktrees below not listed; pass one as path)"), "{listed}");
    let listed = h.call("ls", json!({"path": "packages"})).ok();
    assert_eq!(listed, "packages/\n  wt2/ (worktree)\n\n(1 worktree below not listed; pass it as path)");
    // Exact totals are without them, and those further down are counted once.
    let long = h.call("ls", json!({"long": true}));
    assert!(long.ok().contains("(3 worktrees below not listed; pass one as path)"), "{}", long.ok());
    assert_eq!(long.facts()["worktrees"], json!(3));
    // Three of the bare one, the six that are searched, and the ignore rules.
    assert_eq!(long.facts()["total"]["files"], json!(10), "{}", long.ok());
});

mcp_test!(edit_with_a_glob_leaves_other_checkouts_alone, |h| {
    team(&h);
    let edits = json!([{"glob": "**/*.rs", "old_string": "needle", "new_string": "pin", "replace_all": true}]);
    let tried = h.call("edit", json!({"edits": edits, "dry_run": true})).ok();
    let text = h.call("edit", json!({"edits": edits})).ok();
    assert!(tried.contains("(3 worktrees below") && !tried.contains("wt1/"), "{tried}");
    assert!(text.contains("(3 worktrees below not searched; pass one as path)"), "{text}");
    for (place, _) in WORKTREES {
        assert_eq!(h.bytes(&format!("{place}/src/app.rs")), b"fn needle() {}\n", "{place}");
    }
    for place in ["", "sub/", "worktrees/", "nested/"] {
        assert_eq!(h.bytes(&format!("{place}src/app.rs")), b"fn pin() {}\n", "{place}");
    }
    let edits =
        json!([{"glob": "*.rs", "path": "wt1", "old_string": "needle", "new_string": "pin", "replace_all": true}]);
    h.call("edit", json!({"edits": edits, "dry_run": true})).ok();
    let text = h.call("edit", json!({"edits": edits})).ok();
    assert!(!text.contains("worktree below"), "{text}");
    assert_eq!(h.bytes("wt1/src/app.rs"), b"fn pin() {}\n");
});

mcp_test!(worktrees_come_and_go_while_the_server_runs, |h| {
    h.write("src/app.rs", "needle\n");
    let found = || {
        let answer = h.call("grep", json!({"pattern": "needle", "output_mode": "count"}));
        let worktrees = answer.facts().get("worktrees").cloned();
        (answer.facts()["matches"].as_u64().unwrap(), worktrees.and_then(|count| count.as_u64()).unwrap_or(0))
    };
    assert_eq!(found(), (1, 0));
    h.write("wt/src/app.rs", "needle\n");
    assert_eq!(found(), (2, 0));
    h.write("wt/.git", WORKTREES[0].1);
    assert_eq!(found(), (1, 1));
    h.write("wt/.git", "gitdir: ../.git/modules/wt\n");
    assert_eq!(found(), (2, 0));
    h.write("wt/.git", WORKTREES[1].1);
    assert_eq!(found(), (1, 1));
    fs::remove_file(h.path("wt/.git")).unwrap();
    assert_eq!(found(), (2, 0));
    fs::remove_dir_all(h.path("wt")).unwrap();
    assert_eq!(found(), (1, 0));
});

#[test]
fn a_root_that_is_a_worktree_is_searched_beside_the_one_above_it() {
    let roots = vec![(Some("main"), "root", Access::ReadWrite), (Some("wt"), "root/wt1", Access::ReadWrite)];
    let h = Setup { roots, ..Setup::default() }.open();
    team(&h);
    let arguments = json!({"pattern": "app.rs", "sort": "path", "path": "main"});
    let main = h.call("glob", arguments).ok();
    assert!(
        main.contains("main/wt1/src/app.rs") && main.ends_with("(4 worktrees below not searched; pass one as path)")
    );
    let both = h.call("grep", json!({"pattern": "needle", "output_mode": "files_with_matches"})).ok();
    assert!(both.starts_with("Found 8 files\n") && both.contains("\nwt/src/app.rs"), "{both}");
    let listed = h.call("ls", json!({"path": "main"})).ok();
    assert!(!listed.contains("wt1/ (worktree)") && listed.contains("\n  wt1/\n    src/ (1 entry)"), "{listed}");
}

/// What git itself makes, where it is installed.
#[test]
fn worktrees_that_git_makes_are_known() {
    let h = Harness::new();
    let git = |folder: &Path, arguments: &[&str]| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"];
        let mut command = Command::new("git");
        command.args(identity).args(arguments).current_dir(folder);
        for (name, value) in [("GIT_CONFIG_GLOBAL", "none"), ("GIT_CONFIG_NOSYSTEM", "1")] {
            command.env(name, value);
        }
        // As a hook of git has them that runs the tests.
        command.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").env_remove("GIT_INDEX_FILE");
        command.output().is_ok_and(|done| done.status.success())
    };
    let (root, library) = (h.path(""), h.outside("library"));
    fs::create_dir(&library).unwrap();
    if !git(&library, &["init", "-q"]) {
        // Not installed, as under Wine.
        return;
    }
    fs::write(library.join("lib.rs"), "needle\n").unwrap();
    h.write("app.rs", "needle\n");
    assert!(git(&library, &["add", "."]) && git(&library, &["commit", "-qm", "one"]));
    assert!(git(&root, &["init", "-q"]) && git(&root, &["add", "."]) && git(&root, &["commit", "-qm", "one"]));
    let from = library.to_str().unwrap();
    assert!(git(&root, &["submodule", "--quiet", "add", from, "worktrees"]), "a submodule");
    for place in ["wt1", ".claude/worktrees/agent-a"] {
        let name = place.rsplit('/').next().unwrap();
        assert!(git(&root, &["worktree", "add", "-q", "-b", name, place]), "{place}");
    }
    assert!(git(&root.join("worktrees"), &["worktree", "add", "-q", "-b", "x", "../of-submodule"]));
    let grep = || h.call("grep", json!({"pattern": "needle", "output_mode": "files_with_matches"})).ok();
    let found = "Found 2 files under .\napp.rs\nworktrees/lib.rs";
    assert_eq!(grep(), format!("{found}\n\n(3 worktrees below not searched; pass one as path)"));
    assert!(
        git(&root, &["worktree", "remove", "wt1"]) && git(&root, &["worktree", "remove", ".claude/worktrees/agent-a"])
    );
    assert_eq!(grep(), format!("{found}\n\n(1 worktree below not searched; pass it as path)"));
}
