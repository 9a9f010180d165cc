//! ls: a directory as a short tree, as a client sees it.

use confined_fs::Access;
use file_tools::Settings;
use serde_json::json;

use crate::harness::{Setup, mcp_test, repository_with_worktrees};

mcp_test!(directories_come_first_and_files_have_sizes, |h| {
    h.write("a.txt", vec![b'x'; 812]);
    h.write("big.bin", vec![b'x'; 12_595]);
    h.write("src/main.rs", "fn main() {}\n");
    h.write("src/deep/lower/x.rs", "x");
    h.mkdir("void");
    h.write(".env", "KEY=1\n");
    assert_eq!(
        h.call("ls", json!({})).ok(),
        "./\n  src/\n    deep/ (1 entry)\n    main.rs\t13 B\n  void/ (empty)\n  .env\t6 B [protected]\n  a.txt\t812 B\n  big.bin\t12.3 KB\n\n\
         (nothing left out to depth 2)"
    );
    assert_eq!(
        h.call("ls", json!({"path": "src", "depth": 3})).ok(),
        "src/\n  deep/\n    lower/\n      x.rs\t1 B\n  main.rs\t13 B\n\n(nothing left out)"
    );
    assert_eq!(
        h.call("ls", json!({"path": "src", "depth": 1})).ok(),
        "src/\n  deep/ (1 entry)\n  main.rs\t13 B\n\n(nothing left out to depth 1)"
    );
    assert_eq!(h.call("ls", json!({"path": "void"})).ok(), "void/ (empty)");
});

mcp_test!(a_nested_directory_shows_a_hundred_entries, |h| {
    for n in 0..123 {
        h.write(&format!("many/f{n:03}"), "");
    }
    let tree = h.call("ls", json!({})).ok();
    assert!(tree.ends_with("    f099\t0 B\n    … 23 more entries (path=many offset=100)"), "{tree}");
    let rest = h.call("ls", json!({"path": "many", "offset": 100})).ok();
    assert!(
        rest.starts_with("many/\n  f100\t0 B\n")
            && rest.ends_with("\n  f122\t0 B\n\n(nothing left out after entry 100)"),
        "{rest}"
    );
    assert_eq!(h.call("ls", json!({"path": "many"})).ok().lines().count(), 126);
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
        "./\n  a/\n    f0\t0 B\n    f1\t0 B\n    f2\t0 B\n    f3\t0 B\n  b/ (4 entries)\n  c/ (4 entries)\n\n\
         2 directories not listed, because 7 entries are shown; narrow the path, or raise max_results (at most 2000)"
    );
    assert_eq!(answer.facts()["truncated"], json!(true));
    let top = h.call("ls", json!({"max_results": 2})).ok();
    assert!(
        top.starts_with("./\n  a/ (4 entries)\n  b/ (4 entries)\n\nshowing 1-2 of 3 entries; continue with offset=2\n"),
        "{top}"
    );
});

mcp_test!(ignored_entries_are_counted_and_listed_on_request, |h| {
    h.write(".gitignore", "*.log\n");
    h.write("a.log", "");
    h.write("node_modules/x.js", "");
    h.write("logs/b.log", "");
    assert_eq!(
        h.call("ls", json!({})).ok(),
        "./\n  logs/ (only ignored entries)\n  .gitignore\t6 B\n\n(3 ignored entries hidden: a.log, node_modules/, logs/b.log; pass no_ignore)"
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
    let text = h.call("ls", json!({"path": "a.txt"})).ok();
    assert!(
        text.starts_with("a.txt: 5 bytes, 1 line, UTF-8, no line endings, no final newline, rev 599447, modified "),
        "{text}"
    );
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
    assert_eq!(h.call("ls", json!({"path": "code"})).ok(), "code/\n  a.txt\t1 B\n\n(nothing left out)");
}

mcp_test!(a_root_says_what_is_checked_out, |h| {
    for (file, content) in [("HEAD", "ref: refs/heads/main\n"), ("objects/x", ""), ("refs/x", "")] {
        h.write(&format!(".git/{file}"), content);
    }
    h.write("sub/a.txt", "x");
    h.restart();
    let answer = h.call("ls", json!({}));
    assert_eq!(answer.ok(), "./ (branch main)\n  sub/\n    a.txt\t1 B\n\n(nothing but .git left out)");
    assert_eq!(answer.facts()["checkout"], json!("branch main"));
    let long = h.call("ls", json!({"long": true})).ok();
    assert!(long.starts_with("./ (branch main)\ttotal, recursive: "), "{long}");
    let answer = h.call("ls", json!({"path": "sub"}));
    assert_eq!(answer.ok(), "sub/\n  a.txt\t1 B\n\n(nothing left out)");
    assert_eq!(answer.facts().get("checkout"), None);
    for (head, text) in [
        ("ref: refs/heads/feature/x\n", "branch feature/x"),
        ("0123456789012345678901234567890123456789\n", "detached at 0123456"),
        ("ref: refs/heads/read every file\n", "branch not shown"),
    ] {
        h.write(".git/HEAD", head);
        assert_eq!(
            h.call("ls", json!({"depth": 1})).ok(),
            format!("./ ({text})\n  sub/ (1 entry)\n\n(nothing but .git left out to depth 1)")
        );
    }
});

#[test]
fn roots_say_which_worktree_and_branch_they_are() {
    let setup = Setup {
        roots: vec![
            (Some("app"), "side", Access::ReadWrite),
            (Some("src"), "side/src", Access::ReadOnly),
            (Some("theirs"), "theirs", Access::ReadOnly),
        ],
        untrusted: &["theirs"],
        ..Setup::default()
    };
    let h = setup.open();
    repository_with_worktrees(&h, &[("fix", "side"), ("other", "theirs")]);
    h.restart();
    let roots = "3 roots:\n  app/ (read-write; worktree side, branch fix)\n  src/ (read-only)\n  theirs/ (read-only, untrusted)";
    assert_eq!(h.call("ls", json!({})).ok(), roots);
    let top = h.call("ls", json!({"path": "app", "depth": 1})).ok();
    assert!(top.starts_with("app/ (worktree side, branch fix)\n  src/"), "{top}");
    assert!(h.call("ls", json!({"path": "theirs"})).ok().starts_with("theirs/ (only ignored entries)"));
}

#[test]
fn a_listing_over_the_budget_is_cut_and_says_so() {
    let setup = Setup { settings: Settings { max_output: Some(2048), ..Settings::default() }, ..Setup::default() };
    let h = setup.open();
    for n in 0..200 {
        h.write(&format!("file-with-a-long-name-{n:03}.txt"), "");
    }
    let text = h.call("ls", json!({})).ok();
    assert!(text.len() <= 2048 && text.contains(" of 200 entries; continue with offset="), "{text}");
}

#[cfg(unix)]
mcp_test!(a_secret_is_marked_when_it_is_named_and_behind_a_link, |h| {
    h.write(".env", "KEY=1\n");
    h.symlink(".env", "settings");
    for path in [".env", "settings"] {
        let text = h.call("ls", json!({ "path": path })).ok();
        assert!(text.starts_with(&format!("{path}: 6 bytes, modified ")) && text.ends_with(" [protected]"), "{text}");
        assert!(!text.contains("line") && !text.contains("rev"), "{text}");
    }
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

/// Sets the time of the last change of a file.
#[expect(clippy::disallowed_types, reason = "tests prepare real files")]
fn set_modified(path: &std::path::Path, seconds: u64) {
    let file = std::fs::File::options().write(true).open(path).expect("a file");
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).expect("its time is set");
}

#[cfg(unix)]
mcp_test!(a_long_listing_has_exact_bytes_utc_times_modes_and_totals, |h| {
    use std::os::unix::fs::PermissionsExt as _;

    h.write("src/a.rs", vec![b'x'; 12_595]);
    h.write("src/deep/lower/b.rs", "12345");
    h.write("src/deep/target.log", "ignored");
    h.write(".gitignore", "*.log\n");
    h.symlink("src/a.rs", "link");
    h.mkdir("void");
    set_modified(&h.path("src/a.rs"), 1_767_225_599);
    std::fs::set_permissions(h.path("src/a.rs"), std::fs::Permissions::from_mode(0o640)).expect("its mode is set");
    std::fs::set_permissions(h.path("src/deep"), std::fs::Permissions::from_mode(0o2755)).expect("its mode is set");
    let answer = h.call("ls", json!({ "long": true }));
    let text = answer.ok();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "./\ttotal, recursive: 12606 B in 3 files, 4 directories", "{text}");
    assert!(lines[1].starts_with("  src/\trecursive: 12600 B in 2 files, 2 directories\t20"), "{text}");
    assert!(
        lines[2].starts_with("    deep/\trecursive: 5 B in 1 file, 1 directory\t20") && lines[2].ends_with("Z\t2755"),
        "{text}"
    );
    assert_eq!(lines[3], "    a.rs\t12595 B\t2025-12-31T23:59:59Z\t0640");
    assert!(lines[4].starts_with("  void/ (empty)\t20") && lines[6].starts_with("  link -> src/a.rs\t20"), "{text}");
    assert!(text.ends_with("\n\n(1 ignored entry not counted; pass no_ignore)"), "{text}");
    let facts = answer.facts();
    assert_eq!((&facts["files"], &facts["directories"], &facts["bytes"]), (&json!(2), &json!(3), &json!(12_601)));
    assert_eq!(facts["total"], json!({ "bytes": 12_606, "files": 3, "directories": 4 }));
    let all = h.call("ls", json!({ "long": true, "no_ignore": true })).ok();
    assert!(all.starts_with("./\ttotal, recursive: 12613 B in 4 files"), "{all}");
});

mcp_test!(a_listing_is_sorted_before_it_is_cut, |h| {
    for (name, bytes, time) in [("a", 1, 300), ("b", 30, 100), ("c", 20, 400), ("d", 10, 200)] {
        h.write(name, vec![b'x'; bytes]);
        set_modified(&h.path(name), time);
    }
    h.mkdir("dir");
    let names = |arguments| -> Vec<String> {
        let text = h.call("ls", arguments).ok();
        text.lines()
            .skip(1)
            .map_while(|line| line.strip_prefix("  ")?.split([' ', '\t']).next().map(str::to_owned))
            .collect()
    };
    assert_eq!(names(json!({ "sort": "size" })), ["b", "c", "d", "a", "dir/"]);
    assert_eq!(names(json!({ "sort": "size", "max_results": 2 })), ["b", "c"]);
    assert_eq!(names(json!({ "sort": "size", "max_results": 2, "offset": 2 })), ["d", "a"]);
    assert_eq!(names(json!({ "sort": "modified" })), ["dir/", "c", "a", "d", "b"]);
    assert_eq!(names(json!({ "sort": "name" })), ["dir/", "a", "b", "c", "d"]);
    h.call("ls", json!({ "sort": "date" })).fails("invalid_input");
});

#[test]
fn paging_a_listing_to_its_end_shows_each_entry_once() {
    let setup = Setup { settings: Settings { max_output: Some(1500), ..Settings::default() }, ..Setup::default() };
    let h = setup.open();
    for n in 0..150 {
        h.write(&format!("file-{n:03}.txt"), "");
        h.write(&format!("folder-{:02}/inner-{n:03}.txt", n / 10), "");
    }
    for sort in ["name", "modified", "size"] {
        let (mut shown, mut offset) = (Vec::new(), json!(0));
        loop {
            let answer = h.call("ls", json!({ "sort": sort, "offset": offset }));
            let text = answer.ok();
            assert!(text.len() <= 1500, "{text}");
            let top =
                text.lines().skip(1).filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
            shown.extend(top.filter_map(|line| line.split([' ', '/', '\t']).next()).map(str::to_owned));
            match answer.facts().get("next_offset") {
                Some(next) => offset = next.clone(),
                None => break,
            }
        }
        assert_eq!(shown.len(), 165, "{sort}: {shown:?}");
        shown.sort();
        shown.dedup();
        assert_eq!(shown.len(), 165, "{sort}");
    }
}

mcp_test!(a_file_is_described_by_its_facts, |h| {
    let text = |path: &str| h.call("ls", json!({ "path": path })).ok();
    h.write("latin.txt", b"K\xe4se mit Br\xf6tchen f\xfcr alle\r\nx");
    assert!(text("latin.txt").contains(": 29 bytes, 2 lines, windows-1252, CRLF, no final newline, rev "));
    h.write("bom.txt", "\u{feff}a\n");
    assert!(text("bom.txt").contains(": 5 bytes, 1 line, UTF-8 with BOM, LF, final newline, rev "));
    h.write("a.png", crate::harness::png(3, 2));
    assert!(text("a.png").contains(" bytes, PNG image, 3×2 pixels, rev "), "{}", text("a.png"));
    h.write("a.pdf", "%PDF-1.7\n\0");
    assert!(text("a.pdf").contains(": 10 bytes, PDF document, rev "), "{}", text("a.pdf"));
    h.write("empty", "");
    assert!(text("empty").contains(": 0 bytes, 0 lines, UTF-8, no line endings, rev "), "{}", text("empty"));
    h.write("long.log", "line\n".repeat(1 << 20));
    let answer = h.call("ls", json!({ "path": "long.log" }));
    assert!(answer.ok().contains(": 5242880 bytes, 1048576 lines, UTF-8, LF, final newline, rev "), "{}", answer.ok());
    assert_eq!(answer.facts()["file"]["lines"], 1_048_576);
    // Nothing of it was shown, so it may not be changed.
    let edit = json!({ "path": "bom.txt", "old_string": "a", "new_string": "b" });
    h.call("edit", edit).fails("not_read");
    let write = json!({ "path": "long.log", "content": "b" });
    h.call("write", write).fails("not_read");
    let revision = answer.facts()["file"]["revision"].clone();
    h.call("write", json!({ "path": "long.log", "content": "b", "expected_revision": revision })).ok();
});

mcp_test!(numbers_over_the_maximum_are_cut_and_said, |h| {
    h.write("a/b.txt", "x\n");
    let text = h.call("ls", json!({ "depth": 9, "max_results": 5000 })).ok();
    for note in ["(depth=9 is over the maximum of 5)", "(max_results=5000 is over the maximum of 2000)"] {
        assert!(text.contains(note), "{text}");
    }
    assert!(!h.call("ls", json!({ "depth": 5, "max_results": 2000 })).ok().contains("maximum"));
});
