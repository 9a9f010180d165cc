//! ls: a directory as a short tree, as a client sees it.

use rootbound::{tools::Settings, workspace::Access};
use serde_json::json;

use crate::harness::{Setup, mcp_test};

mcp_test!(directories_come_first_and_files_have_sizes, |h| {
    h.write("a.txt", vec![b'x'; 812]);
    h.write("big.bin", vec![b'x'; 12_595]);
    h.write("src/main.rs", "fn main() {}\n");
    h.write("src/deep/lower/x.rs", "x");
    h.mkdir("void");
    h.write(".env", "KEY=1\n");
    assert_eq!(
        h.call("ls", json!({})).ok(),
        "./\n  src/\n    deep/\n    main.rs\t13 B\n  void/ (empty)\n  .env\t6 B [protected]\n  a.txt\t812 B\n  big.bin\t12.3 KB"
    );
    assert_eq!(
        h.call("ls", json!({"path": "src", "depth": 3})).ok(),
        "src/\n  deep/\n    lower/\n      x.rs\t1 B\n  main.rs\t13 B"
    );
    assert_eq!(h.call("ls", json!({"path": "src", "depth": 1})).ok(), "src/\n  deep/\n  main.rs\t13 B");
    assert_eq!(h.call("ls", json!({"path": "void"})).ok(), "void/ (empty)");
});

mcp_test!(a_nested_directory_shows_a_hundred_entries, |h| {
    for n in 0..123 {
        h.write(&format!("many/f{n:03}"), "");
    }
    let tree = h.call("ls", json!({})).ok();
    assert!(tree.ends_with("    f099\t0 B\n    … 23 more entries"), "{tree}");
    assert_eq!(h.call("ls", json!({"path": "many"})).ok().lines().count(), 124);
});

mcp_test!(the_limit_cuts_the_deepest_level_first, |h| {
    for folder in ["a", "b", "c"] {
        for n in 0..4 {
            h.write(&format!("{folder}/f{n}"), "");
        }
    }
    let answer = h.call("ls", json!({"max_results": 7}));
    assert_eq!(
        answer.ok(),
        "./\n  a/\n    f0\t0 B\n    f1\t0 B\n    f2\t0 B\n    f3\t0 B\n  b/ …\n  c/ …\n\n\
         showing the first 7 entries, 2 directories not listed; narrow the path, or raise max_results (at most 2000)"
    );
    assert_eq!(answer.facts()["truncated"], json!(true));
    let top = h.call("ls", json!({"max_results": 2})).ok();
    assert!(top.starts_with("./\n  a/ …\n  b/ …\n  … 1 more entry\n\nshowing the first 2 entries"), "{top}");
});

mcp_test!(ignored_entries_are_counted_and_listed_on_request, |h| {
    h.write(".gitignore", "*.log\n");
    h.write("a.log", "");
    h.write("node_modules/x.js", "");
    h.write("logs/b.log", "");
    assert_eq!(
        h.call("ls", json!({})).ok(),
        "./\n  logs/ (only ignored entries)\n  .gitignore\t6 B\n\n(3 ignored entries hidden; pass no_ignore)"
    );
    assert!(h.call("ls", json!({"no_ignore": true})).ok().contains("  node_modules/\n    x.js\t0 B\n"));
});

#[cfg(unix)]
mcp_test!(links_show_targets_only_inside, |h| {
    h.write("real.txt", "x");
    h.symlink("real.txt", "inside");
    h.symlink(h.outside("."), "outside");
    h.symlink("nowhere", "dangling");
    let tree = h.call("ls", json!({})).ok();
    assert!(tree.contains("\n  inside -> real.txt\n"), "{tree}");
    assert!(tree.contains("\n  outside (link to nothing in the workspace)"), "{tree}");
});

mcp_test!(a_file_is_listed_alone_and_a_missing_path_is_an_error, |h| {
    h.write("a.txt", "12345");
    assert_eq!(h.call("ls", json!({"path": "a.txt"})).ok(), "a.txt\t5 B (a file)");
    assert_eq!(h.call("ls", json!({"path": "b"})).error_kind(), Some("not_found"));
    assert_eq!(h.call("ls", json!({"path": "/etc"})).error_kind(), Some("denied"));
});

#[test]
fn several_roots_are_listed_with_their_rights() {
    let setup = Setup {
        roots: vec![(Some("code"), "one", Access::ReadWrite), (Some("/mnt/docs"), "two", Access::ReadOnly)],
        ..Setup::default()
    };
    let h = setup.open();
    h.write("a.txt", "x");
    assert_eq!(h.call("ls", json!({})).ok(), "2 roots:\n  code/ (read-write)\n  /mnt/docs/ (read-only)");
    assert_eq!(h.call("ls", json!({"path": "code"})).ok(), "code/\n  a.txt\t1 B");
}

#[test]
fn a_listing_over_the_budget_is_cut_and_says_so() {
    let setup = Setup { settings: Settings { max_output: Some(2048), ..Settings::default() }, ..Setup::default() };
    let h = setup.open();
    for n in 0..200 {
        h.write(&format!("file-with-a-long-name-{n:03}.txt"), "");
    }
    let text = h.call("ls", json!({})).ok();
    assert!(text.len() <= 2048 && text.contains("the text limit is reached"), "{text}");
}

#[cfg(unix)]
mcp_test!(a_secret_is_marked_when_it_is_named_and_behind_a_link, |h| {
    h.write(".env", "KEY=1\n");
    h.symlink(".env", "settings");
    assert_eq!(h.call("ls", json!({ "path": ".env" })).ok(), ".env\t6 B (a file) [protected]");
    assert_eq!(h.call("ls", json!({ "path": "settings" })).ok(), "settings\t6 B (a file) [protected]");
    let text = h.call("ls", json!({})).ok();
    assert!(text.contains("settings -> .env [protected]"), "{text}");
});

mcp_test!(at_the_time_limit_a_listing_is_partial, |_h| {
    let mut setup = Setup::default();
    setup.options.deadline = std::time::Duration::ZERO;
    let h = setup.open();
    for n in 0..40 {
        h.write(&format!("folder{n}/file.txt"), "x");
    }
    let answer = h.call("ls", json!({}));
    let text = answer.ok();
    assert!(text.contains("folder0/ …"), "{text}");
    assert!(
        text.contains("time limit of 0ns reached after 40 entries; narrow the path, or ask for less depth"),
        "{text}"
    );
    assert_eq!((&answer.facts()["timed_out"], &answer.facts()["truncated"]), (&json!(true), &json!(true)));
});
