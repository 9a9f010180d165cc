//! Paths given by their end, as people mention files in a conversation: `@index.ts`, `app/index.ts`, `#file:a.ts`.

use std::fs;

use confined_fs::{Access, PolicyRules, WorkspaceOptions};
use file_tools::{Group, Selection, Settings};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{Answer, Harness, Setup, share};

fn open() -> Harness {
    let selection = Selection { groups: vec![Group::Manage], ..Selection::default() };
    let h = Setup { selection, state: true, ..Setup::default() }.open();
    h.write("src/app/index.ts", "let one = 1;\nlet two = 2;\n");
    h.write("src/lib/util.ts", "let util;\n");
    h.write("src/other/util.ts", "let other;\n");
    h.write("my docs/read me.txt", "words\n");
    h
}

fn resolved(answer: &Answer) -> Value {
    answer.facts().remove("resolved").unwrap_or_default()
}

#[test]
fn every_tool_takes_the_only_file_of_a_name_and_says_which() {
    for name in
        ["index.ts", "@index.ts", "app/index.ts", "@app/index.ts", "#file:index.ts", "@\"index.ts\"", "'index.ts'"]
    {
        let line = format!("({name} is src/app/index.ts)\n");
        for (tool, arguments) in [
            ("read", json!({ "path": name })),
            ("read", json!({ "paths": [name] })),
            ("ls", json!({ "path": name })),
            ("grep", json!({ "pattern": "one", "path": name })),
            ("edit", json!({ "path": name, "old_string": "1", "new_string": "3", "dry_run": true })),
            ("edit", json!({ "path": name, "old_string": "1", "new_string": "3" })),
            ("undo", json!({ "path": name })),
            ("copy", json!({ "source": name, "destination": "copy.txt" })),
            ("delete", json!({ "path": "copy.txt" })),
            ("move", json!({ "source": name, "destination": "src/app/moved.ts" })),
            ("undo", json!({})),
            ("delete", json!({ "path": name })),
        ] {
            let h = open();
            h.call("read", json!({ "path": "src/app/index.ts" })).ok();
            match tool {
                "undo" => {
                    let args = json!({ "path": "src/app/index.ts", "old_string": "1", "new_string": "3" });
                    h.call("edit", args).ok();
                }
                "delete" => h.write("copy.txt", "x\n"),
                _ => {}
            }
            let answer = h.call(tool, arguments.clone());
            let text = answer.ok();
            if arguments.to_string().contains("index.ts") {
                assert!(text.starts_with(&line), "{tool} {arguments}: {text}");
                assert_eq!(resolved(&answer), json!([{ "given": name, "path": "src/app/index.ts" }]), "{tool}");
            } else {
                assert_eq!(resolved(&answer), Value::Null);
            }
        }
    }
}

#[test]
fn several_files_of_a_name_are_listed_and_none_is_taken() {
    let h = open();
    for (tool, arguments) in [
        ("read", json!({ "path": "util.ts" })),
        ("read", json!({ "path": "@util.ts#L1" })),
        ("ls", json!({ "path": "@util.ts" })),
        ("grep", json!({ "pattern": "let", "path": "util.ts" })),
        ("edit", json!({ "path": "util.ts", "old_string": "let", "new_string": "const" })),
        ("write", json!({ "path": "@util.ts", "content": "x" })),
        ("delete", json!({ "path": "util.ts" })),
        ("move", json!({ "source": "util.ts", "destination": "x.ts" })),
        ("copy", json!({ "source": "util.ts", "destination": "x.ts" })),
    ] {
        let text = h.call(tool, arguments).fails("ambiguous");
        assert!(
            text.contains("2 paths in the workspace end with it\n\nhint: pass the whole path of"),
            "{tool}: {text}"
        );
        assert!(text.ends_with("\n\nsrc/lib/util.ts\nsrc/other/util.ts"), "{tool}: {text}");
    }
    assert!(!h.exists("util.ts") && !h.exists("x.ts"));
    for number in 0..30 {
        h.write(&format!("many/{number:02}/mod.rs"), "x\n");
    }
    let text = h.call("read", json!({ "path": "mod.rs" })).fails("ambiguous");
    assert!(text.contains("30 paths") && text.contains("many/09/mod.rs\nand 20 more"), "{text}");
    // In a list it has its own place.
    let text = h.call("read", json!({ "paths": ["index.ts", "util.ts"] })).ok();
    assert!(text.starts_with("(index.ts is src/app/index.ts)\n==> src/app/index.ts <==\n1\tlet one"), "{text}");
    assert!(text.contains("==> util.ts <==\nutil.ts does not exist, and 2 paths"), "{text}");
}

#[test]
fn path_that_is_there_or_says_where_it_begins_is_no_end_of_another() {
    let h = open();
    h.write("util.ts", "own\n");
    assert!(h.call("read", json!({ "path": "@util.ts" })).ok().starts_with("1\town"));
    for path in
        ["./index.ts", "src/../index.ts", "/index.ts", "~/index.ts", "file:///index.ts", "pp/index.ts", "ndex.ts"]
    {
        let answer = h.call("read", json!({ "path": path }));
        assert!(matches!(answer.error_kind(), Some("not_found" | "denied")), "{path}: {}", answer.text());
    }
    for (path, expected) in [(".", "my docs/"), ("src/..", "my docs/"), ("", "my docs/"), ("src/.", "app/")] {
        assert!(h.call("ls", json!({ "path": path })).ok().contains(expected), "{path}");
    }
    for path in ["..", "src/../..", "~", "~root", "~root/index.ts", "@~root/x", "\"../x\"", "@\"/etc/passwd\""] {
        h.call("read", json!({ "path": path })).denied();
        h.call("write", json!({ "path": path, "content": "x" })).denied();
    }
    // A link that leads nowhere is there: it is what is deleted.
    #[cfg(unix)]
    {
        h.symlink("nowhere", "index.ts");
        h.call("delete", json!({ "path": "index.ts" })).ok();
        assert!(h.exists("src/app/index.ts"));
    }
}

#[test]
fn directory_of_a_name_is_listed_and_searched_and_never_deleted() {
    let h = open();
    let text = h.call("ls", json!({ "path": "lib" })).ok();
    assert!(text.starts_with("(lib is src/lib)\nsrc/lib"), "{text}");
    assert!(h.call("grep", json!({ "pattern": "util", "path": "@lib/" })).ok().contains("src/lib/util.ts:1"));
    assert!(h.call("glob", json!({ "pattern": "*.ts", "path": "lib" })).ok().contains("1. src/lib/util.ts"));
    assert!(h.call("read", json!({ "path": "@lib" })).ok().starts_with("(@lib is src/lib)\n"));
    h.call("delete", json!({ "path": "lib", "recursive": true })).fails("not_found");
    h.call("move", json!({ "source": "lib", "destination": "x" })).fails("not_found");
    assert!(h.exists("src/lib/util.ts"));
}

#[test]
fn new_file_is_made_where_it_was_asked_for_and_a_mention_means_the_one_that_is_there() {
    let h = open();
    let text = h.call("write", json!({ "path": "index.ts", "content": "new\n" })).ok();
    assert!(text.starts_with("(src/app/index.ts has the same name and was not changed)\nCreated: "), "{text}");
    assert_eq!(h.bytes("index.ts"), b"new\n");
    h.call("delete", json!({ "path": "index.ts" })).ok();
    h.call("write", json!({ "path": "@index.ts", "content": "other\n" })).fails("not_read");
    h.call("read", json!({ "path": "@index.ts" })).ok();
    let text = h.call("write", json!({ "path": "@index.ts", "content": "let three;\n" })).ok();
    assert!(text.starts_with("(@index.ts is src/app/index.ts)\nReplaced: "), "{text}");
    assert_eq!(h.bytes("src/app/index.ts"), b"let three;\n");
    assert!(!h.exists("index.ts") && !h.exists("@index.ts"));
    h.call("write", json!({ "path": "@index.ts", "content": "x", "mode": "create" })).fails("invalid_input");
    let text = h.call("write", json!({ "path": "@index.ts#L1", "content": "x" })).fails("invalid_input");
    assert!(text.contains("pass @index.ts, ") && !h.exists("index.ts#L1"), "{text}");
    // Nothing of that name: it is made, without the sign.
    h.call("write", json!({ "path": "@brand-new.txt", "content": "x" })).ok();
    h.call("write", json!({ "path": "\"quoted name.txt\"", "content": "x" })).ok();
    assert!(h.exists("brand-new.txt") && h.exists("quoted name.txt"));
}

#[test]
fn forms_that_clients_paste_are_read() {
    let h = open();
    for path in [
        "@\"my docs/read me.txt\"",
        "\"my docs/read me.txt\"",
        "'my docs/read me.txt'",
        "`my docs/read me.txt`",
        "#file:my docs/read me.txt",
        "@file:my docs/read me.txt",
        "file:///my%20docs/read%20me.txt",
        "@file:///my%20docs/read%20me.txt",
    ] {
        assert!(h.call("read", json!({ "path": path })).ok().starts_with("1\twords"), "{path}");
        assert!(h.call("grep", json!({ "pattern": "words", "path": path })).ok().contains("1:words"), "{path}");
    }
    #[cfg(unix)]
    assert!(h.call("read", json!({ "path": r"@my\ docs/read\ me.txt" })).ok().starts_with("1\twords"));
    for path in [
        "@src/app/index.ts#L2",
        "src/app/index.ts#L2-L2",
        "src/app/index.ts#2-2",
        "@src/app/index.ts:2",
        "src/app/index.ts:2:5",
        "\"src/app/index.ts:2-2\"",
        "#file:src/app/index.ts:2-2",
        "@\"src/app/index.ts\"#L2",
        "@index.ts#L2",
        "index.ts:2",
    ] {
        for arguments in [json!({ "path": path }), json!({ "paths": [path] })] {
            let text = h.call("read", arguments).ok();
            assert!(text.contains("2\tlet two = 2;") && !text.contains("let one"), "{path}: {text}");
        }
    }
    let text = h.call("read", json!({ "path": "index.ts#L2", "start_line": 1 })).fails("invalid_input");
    assert!(text.contains("names a part of the file"), "{text}");
    let text = h.call("grep", json!({ "pattern": "x", "path": "@src/app/index.ts#L2" })).fails("not_found");
    assert!(text.contains("only read takes lines after a path: pass src/app/index.ts"), "{text}");
    // A file that has the signs in its name comes first.
    if cfg!(unix) {
        for name in ["\"q\"", "@at", "#file:f", "a#L1", "a:1", "a\\ b", "~root"] {
            h.write(&format!("./{name}"), format!("{name} itself\n"));
            assert!(h.call("read", json!({ "path": name })).ok().contains("itself"), "{name}");
        }
    }
}

#[test]
fn hidden_and_ignored_files_neither_resolve_a_name_nor_make_it_ambiguous() {
    let rules = PolicyRules { hide: vec!["vault".to_owned(), "index.ts".to_owned()], ..PolicyRules::default() };
    let workspace = WorkspaceOptions { policy: rules, ..WorkspaceOptions::default() };
    let h = Setup { workspace, ..Setup::default() }.open();
    h.write("vault/only.ts", "x\n");
    h.write("vault/both.ts", "x\n");
    h.write("src/both.ts", "both\n");
    h.write(".gitignore", "out/\n");
    h.write("out/both.ts", "x\n");
    h.write("out/made.ts", "x\n");
    assert!(h.call("read", json!({ "path": "both.ts" })).ok().starts_with("(both.ts is src/both.ts)\n"));
    let same = |path: &str| h.call("read", json!({ "path": path })).fails("not_found").replace(path, "X");
    assert_eq!(same("only.ts"), same("none.ts"));
    assert_eq!(same("vault/only.ts"), same("vaultX/only.ts"));
    assert_eq!(same("index.ts"), same("indes.ts"));
    h.call("read", json!({ "path": "made.ts" })).fails("not_found");
    assert_eq!(h.call("glob", json!({ "pattern": "onyl.ts" })).ok(), "No files matched");
}

#[test]
fn denied_file_makes_no_name_ambiguous_and_is_denied_where_it_is_the_only_one() {
    let h = open();
    h.write("keys/.ssh/index.ts", "secret\n");
    h.write("keys/.ssh/other.ts", "secret\n");
    assert!(h.call("read", json!({ "path": "index.ts" })).ok().starts_with("(index.ts is src/app/index.ts)\n"));
    h.call("read", json!({ "path": "other.ts" })).fails("denied");
}

#[test]
fn undo_takes_the_name_of_a_deleted_file() {
    let h = open();
    h.call("delete", json!({ "path": "index.ts" })).ok();
    let text = h.call("undo", json!({ "path": "@index.ts" })).ok();
    assert!(text.starts_with("(@index.ts is src/app/index.ts)\nBrought back src/app/index.ts, rev "), "{text}");
    for path in ["src/lib/util.ts", "src/other/util.ts"] {
        h.call("delete", json!({ "path": path })).ok();
    }
    let text = h.call("undo", json!({ "path": "util.ts" })).fails("ambiguous");
    assert!(text.ends_with("\n\nsrc/lib/util.ts\nsrc/other/util.ts"), "{text}");
    // Windows has no such names, which is a different error.
    if cfg!(unix) {
        let text = h.call("undo", json!({ "path": "gone\nforged" })).fails("not_found");
        assert!(text.starts_with("this session has made no change to gone\\u{a}forged that"), "{text}");
    }
}

#[test]
fn wait_takes_the_name_of_a_file_that_is_there() {
    let selection = Selection { groups: vec![Group::Watch], ..Selection::default() };
    let h = Setup { selection, ..Setup::default() }.open();
    h.write("logs/build.log", "one\n");
    let text = h.call("wait", json!({ "path": "@build.log", "offset": 0 })).ok();
    assert!(text.starts_with("(@build.log is logs/build.log)\n") && text.contains("one"), "{text}");
}

#[test]
fn all_roots_are_searched_and_the_name_of_a_root_counts() {
    let roots = vec![(Some("app"), "app", Access::ReadWrite), (Some("/mnt/data"), "data", Access::ReadOnly)];
    let h = Setup { roots, ..Setup::default() }.open();
    fs::write(h.outside("data/table.csv"), "1\n").unwrap();
    h.write("src/app/main.rs", "fn main() {}\n");
    assert!(h.call("read", json!({ "path": "table.csv" })).ok().starts_with("(table.csv is /mnt/data/table.csv)\n"));
    assert!(h.call("read", json!({ "path": "@data/table.csv" })).ok().contains("1\t1"));
    h.call("edit", json!({ "path": "table.csv", "old_string": "1", "new_string": "2" })).fails("read_only");
    // The name of a root says where a path begins.
    h.call("read", json!({ "path": "app/main.rs" })).fails("not_found");
    h.call("read", json!({ "path": "wrong/main.rs" })).fails("not_found");
}

#[test]
fn names_of_an_untrusted_root_are_fenced() {
    let roots = vec![(Some("app"), "app", Access::ReadWrite), (Some("mail"), "mail", Access::ReadWrite)];
    let h = Setup { roots, untrusted: &["mail"], ..Setup::default() }.open();
    for path in ["a/one.txt", "a/two.txt", "b/two.txt"] {
        fs::create_dir_all(h.outside("mail").join(path).parent().unwrap()).unwrap();
        fs::write(h.outside("mail").join(path), "x\n").unwrap();
    }
    let text = h.call("read", json!({ "path": "one.txt" })).ok();
    assert!(text.starts_with("(untrusted content up to"), "{text}");
    let text = h.call("read", json!({ "path": "two.txt" })).fails("ambiguous");
    let (before, _) = text.split_once("(untrusted content").unwrap();
    assert!(!before.contains("mail/"), "{text}");
}

#[test]
fn note_is_within_the_budget_and_pages_stay_whole() {
    let settings = Settings { max_output: Some(2000), ..Settings::default() };
    let h = Setup { settings, ..Setup::default() }.open();
    let lines: Vec<String> = (1..=400).map(|number| format!("line {number}")).collect();
    h.write("src/long.txt", lines.join("\n") + "\n");
    let (mut offset, mut seen) = (0, Vec::new());
    loop {
        let answer = h.call("read", json!({ "path": "@long.txt", "offset": offset }));
        let text = answer.ok();
        assert!(text.len() <= 2000, "{} bytes", text.len());
        assert!(text.starts_with("(@long.txt is src/long.txt)\n"), "{text}");
        seen.extend(text.lines().filter_map(|line| Some(line.split_once('\t')?.1.to_owned())));
        match answer.facts().get("next_offset").and_then(Value::as_u64) {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert_eq!(seen, lines);
}

#[test]
fn glob_without_a_match_offers_the_nearest_names() {
    let h = open();
    for (pattern, expected) in [
        ("indxe.ts", "nearest names: src/app/index.ts"),
        ("**/INDEX.TS", "nearest names: src/app/index.ts"),
        ("app/index.ts", "nearest names: src/app/index.ts"),
        ("scr/**/*.ts", "nearest names: src/"),
        ("src/ap/*.rs", "nearest names: src/app/"),
        ("util.{tsx,js}", "nearest names: src/lib/util.ts, src/other/util.ts"),
    ] {
        let answer = h.call("glob", json!({ "pattern": pattern }));
        assert_eq!(answer.ok(), format!("No files matched\n{expected}"), "{pattern}");
        assert!(answer.facts().contains_key("nearest"));
    }
    // From anywhere, where nothing below the path is near.
    let text = h.call("glob", json!({ "pattern": "index.ts", "path": "my docs" })).ok();
    assert_eq!(text, "No files matched\nnearest names: src/app/index.ts");
    for pattern in ["*.rb", "zzz", "**/*.py", "[x]", "{x,y}*"] {
        assert_eq!(h.call("glob", json!({ "pattern": pattern })).ok(), "No files matched", "{pattern}");
    }
    h.write(".gitignore", "out/\n");
    h.write("out/inde.ts", "x\n");
    let text = h.call("glob", json!({ "pattern": "inde.ts" })).ok();
    assert_eq!(text, "No files matched\n1 more in ignored files; pass no_ignore");
}

/// The rule without any of the program's code: the path itself, or else the only file that ends with it by whole names.
fn oracle<'f>(files: &'f [String], text: &str) -> Result<&'f str, &'static str> {
    let fits = |file: &&String| format!("/{file}").ends_with(&format!("/{text}"));
    if let Some(own) = files.iter().find(|file| *file == text) {
        return Ok(own);
    }
    let mut found = files.iter().filter(fits);
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err("ambiguous"),
        (None, _) => Err("not_found"),
    }
}

#[test]
fn any_tree_and_any_name_agree_with_the_oracle() {
    let name = || proptest::sample::select(&["a", "b", "c"]);
    let path = || proptest::collection::vec(name(), 1..4);
    proptest!(ProptestConfig::with_cases(share(24)), |(
        trees in proptest::collection::vec(path(), 1..8), asked in proptest::collection::vec(path(), 1..12)
    )| {
        let h = Harness::new();
        let mut files: Vec<String> = Vec::new();
        for tree in &trees {
            // No directory has the name of a file.
            let file = format!("{}.f", tree.join("/"));
            if !files.contains(&file) {
                h.write(&file, &file);
                files.push(file);
            }
        }
        for asked in &asked {
            let text = format!("{}.f", asked.join("/"));
            for sign in ["", "@", "#file:"] {
                let answer = h.call("read", json!({ "path": format!("{sign}{text}") }));
                match oracle(&files, &text) {
                    Ok(file) => prop_assert!(answer.ok().contains(&format!("1\t{file}")), "{files:?} {text}"),
                    Err(kind) => { answer.fails(kind); }
                }
            }
        }
    });
}
