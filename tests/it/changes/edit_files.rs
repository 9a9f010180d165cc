//! Edits of several files in one call: found by path or glob, planned together, made all or none.

use std::collections::BTreeMap;

use confined_fs::Access;
use file_tools::{ReadBeforeWrite, Selection, Settings};
use serde_json::{Value, json};

use crate::harness::{Answer, Harness, Setup, mcp_test};

fn entry(path: &str, old: &str, new: &str) -> Value {
    json!({ "path": path, "old_string": old, "new_string": new })
}

fn everywhere(glob: &str, old: &str, new: &str) -> Value {
    json!({ "glob": glob, "old_string": old, "new_string": new, "replace_all": true })
}

fn edit(h: &Harness, edits: impl Into<Value>) -> Answer {
    let edits: Value = edits.into();
    h.call("edit", json!({ "edits": edits }))
}

fn dry_run(h: &Harness, edits: &Value) -> Answer {
    h.call("edit", json!({ "edits": edits, "dry_run": true }))
}

/// Writes the files, and reads each.
fn read_all(h: &Harness, files: &[(&str, &str)]) {
    for (path, content) in files {
        h.write(path, content);
        h.call("read", json!({ "path": path })).ok();
    }
}

fn contents(h: &Harness, files: &[(&str, &str)]) -> BTreeMap<String, String> {
    let content = |path: &str| String::from_utf8(h.bytes(path)).expect("text");
    files.iter().map(|(path, _)| ((*path).to_owned(), content(path))).collect()
}

fn managed() -> Setup {
    Setup {
        selection: Selection { groups: vec![file_tools::Group::Manage], ..Selection::default() },
        ..Setup::default()
    }
}

const FILES: [(&str, &str); 3] = [("src/a.rs", "one\ntwo\n"), ("src/b.rs", "one\n"), ("c.txt", "uno\r\ndue\r\n")];

#[test]
fn documents_of_a_glob_are_said_to_be_left_out() {
    let h = Harness::new();
    h.write("a.txt", "one\n");
    h.write("b.pdf", crate::formats::pdf::document::pages_of(&["one"]));
    h.call("grep", json!({ "pattern": "one" })).ok();
    let text = edit(&h, json!([everywhere("*", "one", "two")])).ok();
    assert!(text.contains("(1 document left out: edit changes text, not PDF and Office files)"), "{text}");
}

#[test]
fn edits_of_several_files_are_one_change_and_one_undo() {
    let h = managed().open();
    read_all(&h, &FILES);
    let answer = edit(
        &h,
        json!([
            entry("src/a.rs", "one", "1"),
            entry("src/b.rs", "one", "1"),
            entry("src/deep/new.rs", "", "fn old() {}\n"),
            { "file_path": "c.txt", "old_str": "due", "newText": "zwei\ntre" },
            entry("./src/a.rs", "two", "2"),
            entry("@src/deep/new.rs", "old", "new"),
        ]),
    );
    let text = answer.ok();
    assert!(
        text.starts_with("Edited 3 files and created 1: 4 replacements\n\nsrc/a.rs: 2 replacements, rev "),
        "{text}"
    );
    for part in [
        "\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,2 @@\n-one\n-two\n+1\n+2\n\nsrc/b.rs: 1 replacement, rev ",
        "\n\nsrc/deep/new.rs: created, 12 bytes, rev ",
        "; line endings CRLF kept\n--- a/c.txt\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(h.bytes("src/a.rs"), b"1\n2\n");
    assert_eq!(h.bytes("c.txt"), b"uno\r\nzwei\r\ntre\r\n");
    assert_eq!(h.bytes("src/deep/new.rs"), b"fn new() {}\n");
    let facts = answer.facts();
    let revisions: Vec<&Value> = facts["files"].as_array().unwrap().iter().map(|file| &file["revision"]).collect();
    assert_eq!((revisions.len(), &facts["total_replacements"]), (4, &json!(4)));
    assert_eq!(h.call("read", json!({ "path": "src/b.rs" })).facts()["revision"], *revisions[1]);
    // Each counts as seen, and all are one step back.
    edit(&h, json!([entry("src/a.rs", "1", "I"), entry("src/deep/new.rs", "new", "newer")])).ok();
    h.call("undo", json!({})).ok();
    assert_eq!((h.bytes("src/a.rs"), h.bytes("src/deep/new.rs")), (b"1\n2\n".to_vec(), b"fn new() {}\n".to_vec()));
    h.call("undo", json!({})).ok();
    assert!(contents(&h, &FILES).iter().map(|(path, content)| (path.as_str(), content.as_str())).eq({
        let mut files = FILES;
        files.sort_unstable();
        files
    }));
    assert!(!h.exists("src/deep"));
}

mcp_test!(one_wrong_entry_changes_no_file_and_all_failures_are_named, |h| {
    read_all(&h, &FILES);
    h.write("unseen.txt", "one\n");
    let before = contents(&h, &FILES);
    let error = edit(
        &h,
        json!([
            entry("src/a.rs", "one", "1"),
            entry("src/b.rs", "three", "3"),
            entry("unseen.txt", "one", "1"),
            entry("c.txt", "missing", "x"),
            entry("src/new.rs", "", "new"),
        ]),
    )
    .fails("no_match");
    assert!(error.starts_with("in edits[1] (src/b.rs): src/b.rs: old_string was not found"), "{error}");
    assert!(error.contains("hint: 1 more failure to repair: in edits[3] (c.txt): "), "{error}");
    assert!(
        error.contains("unseen.txt has not been read") && error.contains("none of the edits was applied"),
        "{error}"
    );
    assert_eq!(contents(&h, &FILES), before);
    assert!(!h.exists("src/new.rs"));
    for (edits, kind, said) in [
        (json!([entry("src/a.rs", "one", "1"), entry("../x", "a", "b")]), "denied", "in edits[1]: access denied"),
        (json!([entry("src/a.rs", "one", "1"), entry("src", "a", "b")]), "invalid_input", "(src): src is a directory"),
        (
            json!([entry("src/a.rs", "one", "1"), entry("src/b.rs", "", "b")]),
            "invalid_input",
            "old_string is empty, but",
        ),
        (
            json!([entry("src/a.rs", "one", "1"), entry("no.rs", "a", "b")]),
            "not_found",
            "in edits[1] (no.rs): no such file",
        ),
        (
            json!([entry("src/a.rs", "one", "1"), json!({ "old_string": "a", "new_string": "b" })]),
            "invalid_input",
            "edits[1] has no `path`",
        ),
        (
            json!([entry("src/a.rs", "one", "1"), entry("src/b.rs", "one", "one")]),
            "invalid_input",
            "edits[1]: old_string and new_string are equal",
        ),
    ] {
        let error = edit(&h, edits).fails(kind);
        assert!(error.contains(said), "{said}: {error}");
        assert_eq!(contents(&h, &FILES), before);
    }
});

mcp_test!(unread_files_are_named_together, |h| {
    for n in 0..7 {
        h.write(&format!("f{n}"), "x\n");
    }
    let edits: Vec<Value> = (0..7).map(|n| entry(&format!("f{n}"), "x", "y")).collect();
    let error = edit(&h, json!(edits)).fails("not_read");
    assert!(
        error.starts_with("7 files have not been read in this session: f0, f1, f2, f3, f4 and 2 more\n"),
        "{error}"
    );
    assert!(error.ends_with("\nf5\nf6") && error.contains("read takes several as paths"), "{error}");
    h.call("read", json!({ "paths": ["f0", "f1", "f2", "f3", "f4", "f5", "f6"] })).ok();
    edit(&h, json!(edits)).ok();
});

mcp_test!(several_names_of_one_file_are_one_file, |h| {
    read_all(&h, &[("a.txt", "1 2 3 4\n")]);
    #[cfg(unix)]
    h.symlink("a.txt", "link");
    let link = if cfg!(unix) { "link" } else { "a.txt" };
    let answer = edit(
        &h,
        json!([
            entry("a.txt", "1", "2!"),
            entry("./a.txt", "2!", "3!"),
            entry("@a.txt", "3!", "4!"),
            entry(link, "4!", "5!")
        ]),
    );
    // One file is answered as ever.
    assert!(answer.ok().starts_with("Edited: 4 replacements, rev "), "{}", answer.text());
    assert_eq!(h.bytes("a.txt"), b"5! 2 3 4\n");
});

mcp_test!(path_of_the_call_is_that_of_entries_without_one, |h| {
    read_all(&h, &FILES);
    let call = json!({ "path": "src/a.rs", "edits": [
        { "old_string": "one", "new_string": "1" }, entry("src/b.rs", "one", "1"), { "old_string": "two", "new_string": "2" }] });
    h.call("edit", call).ok();
    assert_eq!((h.bytes("src/a.rs"), h.bytes("src/b.rs")), (b"1\n2\n".to_vec(), b"1\n".to_vec()));
    let revision = json!({ "expected_revision": "abcde", "edits": [entry("src/a.rs", "1", "one"), entry("src/b.rs", "1", "one")] });
    assert!(h.call("edit", revision).fails("invalid_input").contains("`expected_revision` is the rev of one file"));
    let counted = |count: u32| json!({ "expected_replacements": count, "edits": [entry("src/a.rs", "1", "one"), entry("src/b.rs", "1", "one")] });
    let error = h.call("edit", counted(3)).fails("no_match");
    assert!(error.starts_with("the edits make 2 replacements in 2 files, not the expected 3"), "{error}");
    h.call("edit", counted(2)).ok();
});

/// A tree with the name in four files, one of them in CRLF, and in files that a glob leaves out.
fn tree(h: &Harness) {
    for n in 0..3 {
        h.write(&format!("src/f{n}.rs"), format!("fn f{n}() {{ old_name(); old_name() }}\n"));
    }
    h.write("src/crlf.rs", "old_name();\r\nnext();\r\n");
    h.write("src/other.rs", "nothing\n");
    h.write("src/deep/x.txt", "old_name\n");
    h.write(".gitignore", "gen/\n");
    h.write("gen/x.rs", "old_name\n");
    h.write(".env", "old_name=1\n");
}

mcp_test!(glob_files_count_as_seen_once_a_dry_run_has_shown_them, |h| {
    tree(&h);
    let edits = json!([everywhere("**/*", "old_name", "new_name")]);
    let error = edit(&h, edits.clone()).fails("not_read");
    assert!(error.starts_with("5 files have not been read in this session: src/crlf.rs, src/deep/x.txt, "), "{error}");
    assert!(
        error.contains(
            "hint: look at the places first: repeat this call with dry_run=true, or where its diff is cut, grep"
        ),
        "{error}"
    );
    let shown = dry_run(&h, &edits).ok();
    assert!(
        shown.starts_with("Dry run, nothing was written: 5 files, 8 replacements\n\nsrc/crlf.rs: 1 replacement"),
        "{shown}"
    );
    let notes = "\n\nskipped: .env (protected)\n(edits[0]: in 5 of 7 searched files)";
    assert!(shown.ends_with(notes), "{shown}");
    assert_eq!(h.bytes("src/f0.rs"), b"fn f0() { old_name(); old_name() }\n");
    // A file that has changed since is not what was shown.
    h.write("src/f1.rs", "old_name!\n");
    assert!(edit(&h, edits.clone()).fails("stale").starts_with("in edits[0] (src/f1.rs): src/f1.rs has changed"));
    let text = edit(&h, edits).ok();
    assert!(text.starts_with("Edited 5 files: 7 replacements\n"), "{text}");
    assert_eq!(h.bytes("src/crlf.rs"), b"new_name();\r\nnext();\r\n");
    assert_eq!((h.bytes("gen/x.rs"), h.bytes(".env")), (b"old_name\n".to_vec(), b"old_name=1\n".to_vec()));
});

mcp_test!(glob_files_count_as_seen_once_grep_has_shown_the_text, |h| {
    tree(&h);
    h.call("grep", json!({ "pattern": "old_name", "glob": "*.rs" })).ok();
    let call =
        json!({ "path": "src", "edits": [everywhere("*.rs", "old_name", "new_name")], "expected_replacements": 7 });
    assert!(h.call("edit", call).ok().starts_with("Edited 4 files: 7 replacements\n"));
    assert_eq!(h.bytes("src/deep/x.txt"), b"old_name\n");
});

mcp_test!(glob_is_looked_for_where_the_call_says, |h| {
    tree(&h);
    h.write("lib/f.rs", "old_name\n");
    let shown = |call: Value| {
        let mut call = call;
        call["dry_run"] = json!(true);
        let facts = h.call("edit", call).facts();
        facts["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|file| file["path"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let one = |glob: &str| json!({ "edits": [everywhere(glob, "old_name", "x")] });
    assert_eq!(shown(one("lib/*.rs")), ["lib/f.rs"]);
    assert_eq!(shown(one("/lib/")), ["lib/f.rs"]);
    assert_eq!(shown(one("*.{txt,md}")), ["src/deep/x.txt"]);
    assert_eq!(shown(one("*.rs,!src/**")), ["lib/f.rs"]);
    assert_eq!(shown(json!({ "path": "lib", "edits": [everywhere("*.rs", "old_name", "x")] })), ["lib/f.rs"]);
    let mut below = everywhere("**/*.txt", "old_name", "x");
    below["path"] = json!("src");
    assert_eq!(shown(json!({ "edits": [below] })), ["src/deep/x.txt"]);
    // With a file as the path of other entries, a glob is one of all roots.
    h.call("read", json!({ "path": "src/other.rs" })).ok();
    let mixed = json!({ "path": "src/other.rs", "edits": [
        { "old_string": "nothing", "new_string": "x" }, everywhere("*.txt", "old_name", "x")] });
    assert_eq!(shown(mixed), ["src/other.rs", "src/deep/x.txt"]);
    for (call, kind, said) in [
        (
            json!({ "edits": [{ "glob": "*.rs", "old_string": "old_name", "new_string": "x" }] }),
            "invalid_input",
            "needs replace_all=true",
        ),
        (one(""), "invalid_input", "`glob` is empty"),
        (one("../*.rs"), "invalid_input", "invalid glob \"../*.rs\""),
        (one("[z-a]"), "invalid_input", "invalid glob"),
        (one("*.nothing"), "no_match", "old_string is in none of the 0 files of the glob"),
        (
            json!({ "edits": [everywhere("*.rs", "no_such_name", "x")] }),
            "no_match",
            "in none of the 6 files of the glob",
        ),
        (json!({ "edits": [everywhere("*.rs", "", "x")] }), "invalid_input", "needs old_string"),
        (json!({ "path": "no_such_dir", "edits": [everywhere("*.rs", "old_name", "x")] }), "not_found", "no_such_dir"),
        (json!({ "path": "src/f0.rs", "edits": [everywhere("*.rs", "old_name", "x")] }), "invalid_input", "is a file"),
    ] {
        let error = h.call("edit", call).fails(kind);
        assert!(error.contains(said), "{said}: {error}");
    }
});

mcp_test!(glob_entry_that_meets_another_one_names_it, |h| {
    h.write("a.txt", "old\n");
    h.write("b.txt", "old\n");
    for path in ["a.txt", "b.txt"] {
        h.call("read", json!({ "path": path })).ok();
    }
    let edits = json!([everywhere("*.txt", "old", "new"), everywhere("**/*.txt", "old", "new2")]);
    let text = h.call("edit", json!({ "edits": edits })).fails("no_match");
    assert!(text.contains("edits[0] of this call replaces old_string in each file of the glob: join both"), "{text}");
    let first = json!({ "path": "a.txt", "old_string": "old", "new_string": "1" });
    let text = h.call("edit", json!({ "edits": [first, everywhere("*.txt", "old", "2")] })).ok();
    assert!(text.contains("edits[1]: in 1 of 2 searched files; edits[0] of this call changes it in others"), "{text}");
    assert_eq!((h.bytes("a.txt"), h.bytes("b.txt")), (b"1\n".to_vec(), b"2\n".to_vec()));
});

mcp_test!(empty_arguments_beside_the_others_are_none, |h| {
    read_all(&h, &[("a.rs", "one\n")]);
    let edit = |edits: Value, old: &str, new: &str| {
        h.call("edit", json!({ "path": "a.rs", "edits": edits, "old_string": old, "new_string": new }))
    };
    edit(json!([]), "one", "two").ok();
    edit(json!([{ "old_string": "two", "new_string": "three" }]), "", "").ok();
    assert_eq!(h.bytes("a.rs"), b"three\n");
    edit(json!([{ "old_string": "three", "new_string": "x" }]), "three", "").fails("invalid_input");
});

mcp_test!(glob_entry_follows_the_edits_before_it, |h| {
    read_all(&h, &[("a.rs", "first\n"), ("b.rs", "second\n"), ("c.rs", "second\n")]);
    edit(
        &h,
        json!([
            entry("a.rs", "first", "second second"),
            entry("c.rs", "second", "gone"),
            everywhere("*.rs", "second", "third")
        ]),
    )
    .ok();
    assert_eq!(h.bytes("a.rs"), b"third third\n");
    assert_eq!((h.bytes("b.rs"), h.bytes("c.rs")), (b"third\n".to_vec(), b"gone\n".to_vec()));
});

mcp_test!(glob_matches_other_layouts_and_nothing_looser, |h| {
    let old = "if ready {\n    run();\n}";
    read_all(
        &h,
        &[
            ("lf.rs", "if ready {\n    run();\n}\n"),
            ("crlf.rs", "if ready {\r\n    run();\r\n}\r\n"),
            ("indented.rs", "\tif ready {\n\t    run();\n\t}\n"),
            ("typo.rs", "if ready {\n    rum();\n}\n"),
            ("apart.rs", "if ready {\n    stop();\n}\nrun();\n"),
        ],
    );
    let text = edit(&h, json!([everywhere("*.rs", old, "if ready {\n    go();\n}")])).ok();
    assert!(text.starts_with("Edited 3 files: 3 replacements\n"), "{text}");
    assert!(
        text.contains("indented.rs: 1 replacement, rev ")
            && text.contains("the new text indented as the file is there"),
        "{text}"
    );
    assert_eq!(h.bytes("crlf.rs"), b"if ready {\r\n    go();\r\n}\r\n");
    assert_eq!(h.bytes("indented.rs"), b"\tif ready {\n\t    go();\n\t}\n");
    assert_eq!(h.bytes("typo.rs"), b"if ready {\n    rum();\n}\n");
});

mcp_test!(files_in_other_encodings_and_notebooks_are_edited_as_alone, |h| {
    let cells = r#"{"cells":[{"cell_type":"code","metadata":{},"outputs":[],"source":["print(\"old_name\")"]}],"metadata":{},"nbformat":4,"nbformat_minor":5}"#;
    h.write("latin.txt", b"caf\xe9 old_name\n");
    h.write("utf16.txt", "\u{feff}old_name\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    h.write("n.ipynb", cells);
    let edits = json!([everywhere("*", "\"old_name\"", "\"n\u{eb}w\""), everywhere("*.txt", "old_name", "new")]);
    dry_run(&h, &edits).ok();
    let text = edit(&h, edits).ok();
    assert!(text.contains("n.ipynb: 1 replacement, rev ") && text.contains("; in cell 1\n"), "{text}");
    assert_eq!(h.bytes("latin.txt"), b"caf\xe9 new\n");
    assert_eq!(h.bytes("utf16.txt"), "\u{feff}new\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    assert!(String::from_utf8(h.bytes("n.ipynb")).unwrap().contains("n\u{eb}w"));
});

mcp_test!(dry_run_whose_diff_is_cut_does_not_count_as_read, |h| {
    h.write("long.txt", "old_name\n".repeat(200));
    h.write("short.txt", "old_name\n");
    let edits = json!([everywhere("*.txt", "old_name", "new_name")]);
    let shown = dry_run(&h, &edits).ok();
    assert!(
        shown.contains("(not counted as read, because the diff is cut: long.txt; read it, or grep for old_string with literal=true)"),
        "{shown}"
    );
    let error = edit(&h, edits.clone()).fails("not_read");
    assert!(error.starts_with("a file has not been read in this session: long.txt\n"), "{error}");
    h.call("grep", json!({ "pattern": "old_name", "max_results": 1 })).ok();
    edit(&h, edits).ok();
});

#[test]
fn read_before_write_can_be_off_for_several_files() {
    let settings = Settings { read_before_write: ReadBeforeWrite::Off, ..Settings::default() };
    let h = Setup { settings, ..Setup::default() }.open();
    tree(&h);
    h.call("read", json!({ "path": "src/f0.rs" })).ok();
    h.write("src/f0.rs", "old_name?\n");
    let edits = json!([everywhere("*.rs", "old_name", "new_name"), entry("src/other.rs", "nothing", "something")]);
    assert!(edit(&h, edits).ok().starts_with("Edited 5 files: "));
}

#[test]
fn files_of_several_roots_are_one_change() {
    let roots = vec![
        (Some("app"), "app", Access::ReadWrite),
        (Some("lib"), "lib", Access::ReadWrite),
        (Some("doc"), "doc", Access::ReadOnly),
    ];
    let h = Setup { roots, ..managed() }.open();
    for root in ["app", "lib", "doc"] {
        h.write_outside(&format!("{root}/a.txt"), "old\n");
    }
    h.call("grep", json!({ "pattern": "old" })).ok();
    let error = edit(&h, json!([everywhere("*.txt", "old", "new")])).fails("read_only");
    assert!(error.starts_with("in edits[0]: ") && error.contains("doc/a.txt"), "{error}");
    edit(&h, json!([everywhere("app/*.txt", "old", "new"), everywhere("lib/*.txt", "old", "new")])).ok();
    let content = |root: &str| std::fs::read_to_string(h.outside(&format!("{root}/a.txt"))).expect("a file");
    assert_eq!(["app", "lib", "doc"].map(content), ["new\n", "new\n", "old\n"]);
    h.call("undo", json!({})).ok();
    assert_eq!(["app", "lib", "doc"].map(content), ["old\n", "old\n", "old\n"]);
}

#[test]
fn number_and_size_of_the_files_are_bounded() {
    let settings = Settings { max_file_size: 100_000, read_before_write: ReadBeforeWrite::Off, ..Settings::default() };
    let h = Setup { settings, ..Setup::default() }.open();
    for n in 0..101 {
        h.write(&format!("many/f{n:03}"), "old\n");
    }
    let edits = json!([everywhere("many/*", "old", "new")]);
    let error = edit(&h, edits.clone()).fails("too_large");
    assert!(error.starts_with("this call would change more than 100 files\n"), "{error}");
    let long = json!([everywhere("many/*", "old", &"x".repeat(1000))]);
    assert!(edit(&h, long).fails("too_large").contains("the files of this call are over 100000 bytes together"));
    for n in 0..3 {
        h.write(&format!("large/f{n}"), format!("old{}\n", "x".repeat(40_000)));
    }
    assert!(
        edit(&h, json!([everywhere("large/*", "old", "new")]))
            .fails("too_large")
            .contains("over 100000 bytes together")
    );
    std::fs::remove_file(h.path("many/f100")).expect("it is there");
    let text = edit(&h, edits).ok();
    assert!(text.starts_with("Edited 100 files: 100 replacements\n") && text.len() <= 40_000, "{}", text.len());
    let error = edit(&h, json!(vec![entry("many/f000", "a", "b"); 10_000])).fails("invalid_input");
    assert!(error.starts_with("`edits` has 10000 edits; it takes 1 to 100"), "{error}");
}

#[test]
fn answer_of_large_diffs_is_shared_fairly_within_the_budget() {
    let settings = Settings { max_output: Some(8_000), read_before_write: ReadBeforeWrite::Off, ..Settings::default() };
    for structured_output in [false, true] {
        let settings = Settings { structured_output, ..settings.clone() };
        let h = Setup { settings, ..Setup::default() }.open();
        for n in 0..5 {
            h.write(&format!("large{n}.txt"), format!("old {}\n", "word ".repeat(20)).repeat(50));
        }
        h.write("small.txt", "old\n");
        let answer = edit(&h, json!([everywhere("*.txt", "old", "new")]));
        let text = answer.ok();
        assert!(text.len() <= 8_000, "{}", text.len());
        assert!(text.contains("\n-old\n+new\n") || structured_output, "the small one is whole: {text}");
        assert_eq!(text.matches(" more lines of diff").count(), 5, "{text}");
        for file in answer.facts()["files"].as_array().unwrap() {
            let path = file["path"].as_str().unwrap();
            assert!(text.contains(&format!("{path}: ")), "{path}: {text}");
        }
        if structured_output {
            assert!(answer.structured().to_string().len() <= 8_000, "{}", answer.structured().to_string().len());
        }
    }
}

#[test]
fn names_of_untrusted_files_are_fenced() {
    let roots = vec![(Some("app"), "app", Access::ReadWrite), (Some("web"), "web", Access::ReadWrite)];
    let h = Setup { roots, untrusted: &["web"], ..Setup::default() }.open();
    h.write_outside("web/obey me.txt", "old\n");
    h.write_outside("app/a.txt", "old\n");
    let edits = json!([everywhere("*.txt", "old", "new")]);
    let error = edit(&h, edits.clone()).fails("not_read");
    assert!(error.starts_with("2 files have not been read in this session\n"), "{error}");
    let fenced = |text: &str| {
        let (before, inside) = text.split_once("(untrusted content up to the line").expect("a fence");
        assert!(!before.contains("obey") && inside.contains("obey me.txt"), "{text}");
    };
    fenced(&error);
    fenced(&dry_run(&h, &edits).ok());
    fenced(&edit(&h, edits).ok());
}

#[test]
fn data_of_several_files_is_complete() {
    let settings = Settings { structured_output: true, ..Settings::default() };
    let h = Setup { settings, ..Setup::default() }.open();
    read_all(&h, &[("a.json", "{\"a\": 1}\n"), ("b.txt", "b\n")]);
    let answer = edit(&h, json!([entry("a.json", "1}", "1"), entry("b.txt", "b", "c")]));
    let text = answer.ok();
    assert!(text.contains("a.json:") && text.contains("\n\n"), "{text}");
    let data = answer.structured();
    let paths: Vec<&Value> = data["files"].as_array().unwrap().iter().map(|file| &file["path"]).collect();
    assert_eq!(paths, ["a.json", "b.txt"]);
    assert_eq!(data["files"][1]["diff"], "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-b\n+c\n");
    assert_eq!(data["files"][0]["problems"].as_array().map(Vec::len), Some(1), "{data}");
    assert_eq!(data["total_replacements"], 2);
}

#[test]
fn quota_is_that_of_all_files_together() {
    let quota = file_tools::session::QuotaLimits { files: 1, ..Default::default() };
    let h = Setup { quota, ..Setup::default() }.open();
    let error = edit(&h, json!([entry("a", "", "1"), entry("b", "", "2")])).fails("quota");
    assert!(error.contains("--max-files-created") && !h.exists("a") && !h.exists("b"), "{error}");
    edit(&h, json!([entry("a", "", "1"), entry("a", "1", "2")])).ok();
}

#[test]
fn a_root_before_a_relative_path_is_taken_off_in_both_texts() {
    let roots = vec![
        (Some("/mnt/user-data/workspace"), "work", Access::ReadWrite),
        (Some("/mnt/user-data/uploads"), "up", Access::ReadWrite),
    ];
    let h = Setup { roots, ..Setup::default() }.open();
    let file = h.outside("work/a.py");
    std::fs::write(&file, "x = open('data/a.csv')\ny = open('data/b.csv')\nz = 'data/b.csv'\n").expect("written");
    let path = "/mnt/user-data/workspace/a.py";
    h.call("read", json!({ "path": path })).ok();
    let edit = |old: &str, new: &str| h.call("edit", json!({ "path": path, "old_string": old, "new_string": new }));
    let shown = |text: &str| text.replace("data/", "/mnt/user-data/workspace/data/");
    let text = edit(&shown("x = open('data/a.csv')"), &shown("x = load('data/c.csv')")).ok();
    assert!(text.contains("`/mnt/user-data/workspace/` before relative paths taken off"), "{text}");
    let text = edit(&shown("'data/b.csv'"), "'b'").fails("no_match");
    assert!(text.contains("before a path that the file has without it, at lines 2, 3"), "{text}");
    assert!(!text.contains("copy old_string from the lines below"), "{text}");
    let made = std::fs::read_to_string(&file).expect("read");
    assert_eq!(made, "x = load('data/c.csv')\ny = open('data/b.csv')\nz = 'data/b.csv'\n");
    // Of several roots, and where the file has such a path itself.
    let both = "copy('/mnt/user-data/uploads/a', '/mnt/user-data/workspace/b')";
    std::fs::write(&file, "copy('a', 'b')\n").expect("written");
    h.call("read", json!({ "path": path })).ok();
    edit(both, &both.replace("/b'", "/c'")).ok();
    assert_eq!(std::fs::read_to_string(&file).expect("read"), "copy('a', 'c')\n");
    std::fs::write(&file, both.replace("/mnt/user-data/uploads/", "")).expect("written");
    h.call("read", json!({ "path": path })).ok();
    assert!(edit(both, "x").fails("no_match").contains("has without it, at line 1"));
}
