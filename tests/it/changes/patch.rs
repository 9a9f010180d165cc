//! `apply_patch` as a model calls it: both forms, what is refused, and that a refused patch leaves all files as they were.

mod against_git;
mod scenarios;

use std::{collections::BTreeMap, fs, path::Path};

use file_tools::{Group, Selection};
use serde_json::json;

use crate::harness::{Answer, Harness, Setup};

/// Every file below a directory with its content.
type Tree = BTreeMap<String, String>;

fn setup() -> Setup {
    let selection = Selection { groups: vec![Group::Manage, Group::Patch], ..Selection::default() };
    Setup { selection, state: true, ..Setup::default() }
}

/// A workspace with these files, all of which were read.
fn with(files: &[(&str, &str)]) -> Harness {
    let h = setup().open();
    for (path, content) in files {
        h.write(path, content);
        h.call("read", json!({ "path": path })).ok();
    }
    h
}

fn apply(h: &Harness, patch: &str) -> Answer {
    h.call("apply_patch", json!({ "patch": patch }))
}

/// A patch of this body in the form of GPT models.
fn marked(body: &str) -> String {
    format!("*** Begin Patch\n{body}\n*** End Patch\n")
}

fn tree(h: &Harness) -> Tree {
    fn collect(dir: &Path, below: &str, out: &mut Tree) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{below}{}", path.file_name().unwrap().to_str().unwrap());
            if path.is_dir() {
                collect(&path, &format!("{name}/"), out);
            } else {
                out.insert(name, String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned());
            }
        }
    }
    let mut out = Tree::new();
    collect(&h.path(""), "", &mut out);
    out
}

fn of(files: &[(&str, &str)]) -> Tree {
    files.iter().map(|(path, content)| ((*path).to_owned(), (*content).to_owned())).collect()
}

/// The answer without the revs, which depend on the content.
fn without_revs(text: &str) -> String {
    let line = |line: &str| match line.split_once(", rev ") {
        Some((before, rest)) => format!("{before}{}", rest.find(';').map_or("", |at| &rest[at..])),
        None => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_kind_of_section_is_applied_and_undone_as_one_change() {
    let before = [("a.txt", "one\ntwo\n"), ("gone.txt", "x\n"), ("old.txt", "same\n"), ("dir/m.txt", "m\n")];
    let h = with(&before);
    let patch = marked(
        "*** Add File: new/deep.txt\n+hello\n*** Update File: a.txt\n@@\n-two\n+2\n*** Delete File: gone.txt\n\
         *** Update File: old.txt\n*** Move to: kept/new.txt\n*** Update File: dir/m.txt\n*** Move to: dir/n.txt\n@@\n-m\n+n",
    );
    let answer = apply(&h, &patch);
    assert_eq!(
        without_revs(&answer.ok()),
        "Applied to 5 files\nA new/deep.txt\nM a.txt\nD gone.txt\nR old.txt -> kept/new.txt\nR dir/m.txt -> dir/n.txt"
    );
    let facts = answer.facts();
    assert_eq!((&facts["files"][0]["change"], &facts["files"][4]["from"]), (&json!("added"), &json!("dir/m.txt")));
    let after = [("a.txt", "one\n2\n"), ("dir/n.txt", "n\n"), ("kept/new.txt", "same\n"), ("new/deep.txt", "hello\n")];
    assert_eq!(tree(&h), of(&after));
    // What was written counts as seen.
    h.call("edit", json!({ "path": "dir/n.txt", "old_string": "n", "new_string": "N" })).ok();
    h.call("undo", json!({})).ok();
    h.call("undo", json!({})).ok();
    assert_eq!(tree(&h), of(&before));
}

#[test]
fn git_diffs_with_all_headers_are_applied() {
    let h = with(&[
        ("src/a.rs", "fn a() {}\nfn b() {}\n"),
        ("gone", "1\n"),
        ("r", "one\ntwo\n"),
        ("c", "copy\n"),
        ("open", "a\nb"),
    ]);
    let patch = "From 1234 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] all\n\n---\n\
        diff --git a/src/a.rs b/src/a.rs\nindex 11..22 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,3 @@\n fn a() {}\n+fn new() {}\n fn b() {}\n\
        diff --git a/gone b/gone\ndeleted file mode 100644\nindex 11..00\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n\
        diff --git a/n/ew b/n/ew\nnew file mode 100644\nindex 00..11\n--- /dev/null\n+++ b/n/ew\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n\
        diff --git a/r b/s\nsimilarity index 50%\nrename from r\nrename to s\nindex 11..22 100644\n--- a/r\n+++ b/s\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n\
        diff --git a/c b/d\nsimilarity index 100%\ncopy from c\ncopy to d\n\
        diff --git a/open b/open\n--- a/open\n+++ b/open\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n-- \n2.39.2\n\n";
    let text = apply(&h, patch).ok();
    assert_eq!(without_revs(&text), "Applied to 6 files\nM src/a.rs\nD gone\nA n/ew\nR r -> s\nC c -> d\nM open");
    let after = [
        ("src/a.rs", "fn a() {}\nfn new() {}\nfn b() {}\n"),
        ("n/ew", "x\ny"),
        ("s", "one\n2\n"),
        ("c", "copy\n"),
        ("d", "copy\n"),
        ("open", "a\nb\n"),
    ];
    assert_eq!(tree(&h), of(&after));
}

#[test]
fn one_wrong_hunk_leaves_every_file_and_all_problems_are_named() {
    let before = [("a", "one\ntwo\n"), ("b", "x\nx\n"), ("c", "done already\nnext line\n"), ("dir/d", "d\n")];
    let h = with(&before);
    h.write("unseen", "u\n");
    let patch = marked(
        "*** Add File: new\n+n\n*** Update File: a\n@@\n-one\n+1\n*** Update File: a\n@@\n-three\n+3\n\
         *** Update File: b\n@@\n-x\n+y\n*** Update File: c\n@@\n-not done\n+done already\n next line\n*** Delete File: dir\n\
         *** Update File: none\n@@\n-a\n+b\n*** Update File: unseen\n@@\n-u\n+v\n*** Add File: a\n+again",
    );
    let text = apply(&h, &patch).fails("no_match");
    for expected in [
        "nothing of the patch was applied: 7 problems; the first: a, hunk 1 (line 9 of the patch): ",
        "problem 2: b, hunk 1 (line 13 of the patch): its lines are at lines 1, 2",
        "problem 3: c, hunk 1 (line 17 of the patch): this hunk is applied already: its new lines are at line 1",
        "problem 4: dir is a directory, and a patch changes files only",
        "problem 5: no such file or directory: none",
        "problem 6: unseen has not been read in this session",
        "problem 7: a already exists",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("old_string"), "{text}");
    let mut all = of(&before);
    all.insert("unseen".to_owned(), "u\n".to_owned());
    assert_eq!(tree(&h), all);
}

#[test]
fn a_file_that_changed_since_it_was_read_is_stale() {
    let h = with(&[("a", "one\n")]);
    h.write("a", "one\nby another program\n");
    let patch = marked("*** Update File: a\n@@\n-one\n+1");
    let text = apply(&h, &patch).fails("stale");
    assert!(text.contains("+by another program"), "{text}");
    // What it showed counts as read.
    apply(&h, &patch).ok();
    assert_eq!(h.bytes("a"), b"1\nby another program\n");
}

#[test]
fn a_patch_elsewhere_in_a_file_that_somebody_changed_is_applied() {
    let lines = |first: &str| (1..20).fold(format!("{first}\n"), |text, n| format!("{text}line {n}\n"));
    let h = with(&[("a", &lines("line 0")), ("b", "b\n")]);
    h.write("a", lines("by another program"));
    apply(&h, &marked("*** Update File: a\n@@\n line 12\n-line 13\n+thirteen\n line 14")).ok();
    assert_eq!(h.bytes("a"), lines("by another program").replace("line 13\n", "thirteen\n").as_bytes());
    h.write("a", lines("again"));
    let both = "*** Update File: b\n@@\n-b\n+c\n*** Update File: a\n@@\n-again\n+x";
    assert!(apply(&h, &marked(both)).fails("stale").contains("+again"));
    assert_eq!(h.bytes("b"), b"b\n");
}

#[test]
fn bytes_outside_the_hunks_survive() {
    let h = setup().open();
    let crlf = "one\r\ntwo\r\nthree";
    for (path, content) in [
        ("crlf", crlf.as_bytes().to_vec()),
        ("bom", b"\xef\xbb\xbfone\ntwo\n".to_vec()),
        ("latin", b"caf\xe9 d\xe9j\xe0 vu\ntwo\nd\xe9j\xe0\n".to_vec()),
        ("wide", [b"\xff\xfe".to_vec(), "one\ntwo\n".encode_utf16().flat_map(u16::to_le_bytes).collect()].concat()),
    ] {
        h.write(path, content);
        h.call("read", json!({ "path": path })).ok();
    }
    let section = |path: &str| format!("*** Update File: {path}\n@@\n-two\n+TWO\n+é");
    let patch = marked(&["crlf", "bom", "latin", "wide"].map(section).join("\n"));
    apply(&h, &patch).ok();
    assert_eq!(h.bytes("crlf"), "one\r\nTWO\r\né\r\nthree".as_bytes());
    assert_eq!(h.bytes("bom"), "\u{feff}one\nTWO\né\n".as_bytes());
    assert_eq!(h.bytes("latin"), b"caf\xe9 d\xe9j\xe0 vu\nTWO\n\xe9\nd\xe9j\xe0\n");
    let wide: Vec<u8> = "one\nTWO\né\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(h.bytes("wide"), [b"\xff\xfe".to_vec(), wide].concat());
    let text = apply(&h, &marked("*** Update File: latin\n@@\n-TWO\n+日本")).fails("invalid_input");
    assert!(text.contains("cannot represent"), "{text}");
}

#[test]
fn tolerant_hunks_are_named_and_shown() {
    let h = with(&[("a.py", "def f():\n\tone()\n\ttwo()\n"), ("b", "1\n2\n3\n4\n5\n")]);
    let text = apply(&h, &marked("*** Update File: a.py\n@@\n     one()\n-    two()\n+    three()")).ok();
    assert!(text.contains("; hunk 1 not exactly as given: the new text indented as the file is there"), "{text}");
    assert!(text.contains("\n+\tthree()"), "{text}");
    let text = apply(&h, "--- b\n+++ b\n@@ -1,9 +1,2 @@\n 3\n-4\n+four\n").ok();
    assert!(text.starts_with("Applied to 1 file; 1 hunk taken by its lines, as its header counts others"), "{text}");
    assert!(text.contains("; hunk 1 at line 3, not 1\n"), "{text}");
    assert!(text.contains("\n+four"), "{text}");
    // Where all is as the patch says, it is not repeated.
    let text = apply(&h, "--- b\n+++ b\n@@ -3,2 +3,2 @@\n 3\n-four\n+4\n").ok();
    assert_eq!(text.lines().count(), 2, "{text}");
}

#[test]
fn a_path_that_occurs_twice_is_patched_in_order() {
    let h = with(&[("a", "one\n"), ("b", "b\n")]);
    let patch = marked(
        "*** Update File: a\n@@\n-one\n+two\n*** Update File: a\n@@\n-two\n+three\n*** Update File: a\n*** Move to: c\n\
         *** Update File: c\n@@\n+end\n*** Add File: n\n+1\n*** Update File: n\n@@\n 1\n+2\n*** Delete File: b\n*** Add File: b\n+new b",
    );
    let text = apply(&h, &patch).ok();
    assert_eq!(without_revs(&text), "Applied to 3 files\nR a -> c\nA n\nM b");
    assert_eq!(tree(&h), of(&[("c", "three\nend\n"), ("n", "1\n2\n"), ("b", "new b\n")]));
    let text = apply(&h, &marked("*** Delete File: b\n*** Update File: b\n@@\n-new b\n+x")).fails("not_found");
    assert!(text.contains("an earlier section of the patch deletes or renames it"), "{text}");
}

#[test]
fn files_exchange_their_names() {
    let h = with(&[("a", "A\n"), ("b", "B\n")]);
    let patch = marked(
        "*** Update File: a\n*** Move to: t\n*** Update File: b\n*** Move to: a\n*** Update File: t\n*** Move to: b",
    );
    apply(&h, &patch).ok();
    assert_eq!(tree(&h), of(&[("a", "B\n"), ("b", "A\n")]));
    h.call("undo", json!({})).ok();
    assert_eq!(tree(&h), of(&[("a", "A\n"), ("b", "B\n")]));
}

#[test]
fn prefixes_are_taken_off_only_where_that_is_right() {
    let h = with(&[("a/x", "1\n"), ("y", "1\n"), ("b/z", "1\n"), ("z", "1\n")]);
    let patch = |old: &str, new: &str| format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-1\n+2\n");
    // A diff without prefixes of a directory `a`, one with them, and one where both would be there.
    assert!(apply(&h, &patch("a/x", "b/x")).ok().contains("M a/x") || h.bytes("a/x") == b"2\n");
    apply(&h, &patch("a/y", "b/y")).ok();
    apply(&h, &patch("a/z", "b/z")).ok();
    assert_eq!(tree(&h), of(&[("a/x", "2\n"), ("y", "2\n"), ("b/z", "1\n"), ("z", "2\n")]));
    // A host path begins with a slash only there.
    if cfg!(unix) {
        let host = h.path("y");
        let absolute = host.to_str().unwrap();
        apply(&h, &format!("--- {absolute}\n+++ {absolute}\n@@ -1 +1 @@\n-2\n+3\n")).ok();
        let bare = absolute.trim_start_matches('/');
        apply(&h, &format!("--- a/{bare}\n+++ b/{bare}\n@@ -1 +1 @@\n-3\n+4\n")).ok();
        assert_eq!(h.bytes("y"), b"4\n");
    }
    apply(&h, "--- /dev/null\n+++ b/new/file\n@@ -0,0 +1 @@\n+n\n").ok();
    assert_eq!(h.bytes("new/file"), b"n\n");
}

#[test]
fn a_missing_file_is_made_by_hunks_that_only_add() {
    let h = setup().open();
    apply(&h, "--- a/n.txt\n+++ b/n.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n").ok();
    assert_eq!(h.bytes("n.txt"), b"a\nb\n");
    apply(&h, "diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n").ok();
    assert_eq!(h.bytes("e"), b"");
    apply(&h, &marked("*** Add File: f")).ok();
    assert_eq!(h.bytes("f"), b"");
    apply(&h, "--- a/n.txt\n+++ b/n.txt\n@@ -1 +1 @@\n-z\n+y\n").fails("no_match");
    apply(&h, "--- a/m.txt\n+++ b/m.txt\n@@ -1 +1 @@\n-z\n+y\n").fails("not_found");
}

#[test]
fn deletions_are_checked_against_the_lines_they_repeat() {
    let h = with(&[("a", "1\n2\n"), ("b", "1\n2\n")]);
    let text = apply(&h, "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n").fails("no_match");
    assert!(text.contains("the file has lines that it does not remove"), "{text}");
    apply(&h, "--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-1\n-3\n").fails("no_match");
    apply(&h, "--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-1\n-2\n").ok();
    assert_eq!(tree(&h), of(&[("b", "1\n2\n")]));
    // Also one that the same patch has added or changed.
    let added = "--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+1\n+2\n";
    let text = apply(&h, &format!("{added}--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n")).fails("no_match");
    assert!(text.contains("the file has lines that it does not remove"), "{text}");
    apply(&h, &format!("{added}--- a/n\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-1\n-3\n")).fails("no_match");
    assert_eq!(tree(&h), of(&[("b", "1\n2\n")]));
    // As `delete`: a file that was never seen may go, one that has changed since may not.
    h.write("c", "c\n");
    apply(&h, &marked("*** Delete File: c")).ok();
    h.write("b", "changed\n");
    apply(&h, &marked("*** Delete File: b")).fails("stale");
}

#[test]
fn a_patch_that_changes_nothing_is_refused() {
    let h = with(&[("a", "1\n")]);
    let text = apply(&h, &marked("*** Update File: a\n@@\n 1")).fails("invalid_input");
    assert!(text.contains("the patch changes nothing"), "{text}");
    let text =
        apply(&h, &marked("*** Update File: a\n@@\n-1\n+2\n*** Update File: a\n@@\n-2\n+1")).fails("invalid_input");
    assert!(text.contains("the patch changes nothing"), "{text}");
}

#[test]
fn names_of_the_argument_that_models_send_are_accepted() {
    let h = setup().open();
    for (index, name) in ["patch", "input", "diff", "patchText"].into_iter().enumerate() {
        h.call("apply_patch", json!({ name: marked(&format!("*** Add File: f{index}\n+x")), "explanation": "e" })).ok();
    }
    assert_eq!(tree(&h).len(), 4);
    h.call("apply_patch", json!({})).fails("invalid_input");
}

#[test]
fn the_group_is_offered_only_with_allow() {
    let names = |h: &Harness| h.request("tools/list", json!({})).unwrap().to_string();
    assert!(names(&setup().open()).contains("\"apply_patch\""));
    assert!(!names(&Harness::new()).contains("apply_patch"));
    let read_only = Selection { groups: vec![Group::Patch], read_only: true, ..Selection::default() };
    assert!(!names(&Setup { selection: read_only, ..Setup::default() }.open()).contains("apply_patch"));
}

#[test]
fn a_notebook_is_patched_as_text() {
    let notebook = "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"metadata\": {},\n   \"source\": [\"x = 1\"],\n   \"outputs\": []\n  }\n ],\n \"metadata\": {},\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n";
    let h = with(&[("n.ipynb", notebook)]);
    apply(&h, &marked("*** Update File: n.ipynb\n@@\n-   \"source\": [\"x = 1\"],\n+   \"source\": [\"x = 2\"],")).ok();
    assert_eq!(String::from_utf8(h.bytes("n.ipynb")).unwrap(), notebook.replace("x = 1", "x = 2"));
}

#[test]
fn large_files_and_many_hunks_are_patched() {
    let lines = |change: fn(usize) -> bool| -> String {
        let line = |number| format!("{} {number}\n", if change(number) { "LINE" } else { "line" });
        (0..20_000).map(line).collect::<Vec<_>>().concat()
    };
    let h = with(&[("big", &lines(|_| false))]);
    let hunk = |number| format!("@@\n-line {number}\n+LINE {number}\n");
    let hunks = (0..20_000).step_by(4).map(hunk).collect::<Vec<_>>().concat();
    apply(&h, &marked(&format!("*** Update File: big\n{}", hunks.trim_end()))).ok();
    assert_eq!(String::from_utf8(h.bytes("big")).unwrap(), lines(|number| number % 4 == 0));
}

#[test]
fn one_question_shows_all_files_and_the_audit_has_each() {
    use crate::harness::process::Process;
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("root")).unwrap();
    fs::write(dir.path().join("root/a"), "one\n").unwrap();
    fs::write(dir.path().join("root/gone"), "g\n").unwrap();
    let options = ["--root", "app=root", "--audit", "log/audit.jsonl", "--allow", "patch", "--confirm", "writes"];
    let mut server = Process::start(dir.path(), &options);
    let client = json!({ "name": "test", "version": "1" });
    let capabilities = json!({ "elicitation": {} });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client });
    server.ask("initialize", &hello);
    server.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    server.ask("tools/call", &json!({ "name": "read", "arguments": { "path": "a" } }));
    let patch = marked("*** Update File: a\n@@\n-one\n+two\n*** Delete File: gone\n*** Add File: new\n+n");
    let params = json!({ "name": "apply_patch", "arguments": { "patch": patch } });
    server.line(&json!({ "jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params }).to_string());
    let question = server.next().unwrap();
    let message = question["params"]["message"].as_str().unwrap();
    for expected in
        ["Apply a patch to 3 files: M app/a, D app/gone, A app/new", "-one\n+two", "delete app/gone (2 bytes)", "+n"]
    {
        assert!(message.contains(expected), "{expected}: {message}");
    }
    let yes = json!({ "action": "accept", "content": { "confirm": true } });
    server.line(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes }).to_string());
    let answer = server.next().unwrap();
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert_eq!(fs::read(dir.path().join("root/a")).unwrap(), b"two\n");
    let audit = fs::read_to_string(dir.path().join("log/audit.jsonl")).unwrap();
    let line: serde_json::Value = serde_json::from_str(audit.lines().last().unwrap()).unwrap();
    let text = line.to_string();
    assert!(
        line["tool"] == "apply_patch" && ["app/a", "app/gone", "app/new"].iter().all(|path| text.contains(path)),
        "{text}"
    );
}

#[test]
fn sizes_and_quotas_bound_a_patch() {
    use file_tools::{Settings, session::QuotaLimits};
    let quota = QuotaLimits { files: 2, ..QuotaLimits::default() };
    let h = Setup { quota, ..setup() }.open();
    apply(&h, &marked("*** Add File: a\n+1\n*** Add File: b\n+1\n*** Add File: c\n+1")).fails("quota");
    apply(&h, &marked("*** Add File: new/a\n+1")).ok();
    assert_eq!(tree(&h).len(), 1);
    let settings = Settings { max_file_size: 100, ..Settings::default() };
    let h = Setup { settings, ..setup() }.open();
    h.write("f", "x\n".repeat(40));
    h.call("read", json!({ "path": "f" })).ok();
    apply(&h, &marked(&format!("*** Update File: f\n@@\n{}", "+yyyyyy\n".repeat(4).trim_end()))).fails("too_large");
    apply(&h, &marked(&format!("*** Add File: g\n+{}", "z".repeat(200)))).fails("too_large");
    assert_eq!(tree(&h).len(), 1);
}

#[test]
#[cfg(unix)]
fn links_are_followed_by_hunks_and_removed_by_deletions() {
    let h = with(&[("target", "one\n")]);
    std::os::unix::fs::symlink("target", h.path("link")).unwrap();
    h.call("read", json!({ "path": "link" })).ok();
    apply(&h, &marked("*** Update File: link\n@@\n-one\n+two")).ok();
    assert_eq!(h.bytes("target"), b"two\n");
    assert!(fs::symlink_metadata(h.path("link")).unwrap().is_symlink());
    // The link and its target are one file.
    apply(&h, &marked("*** Update File: link\n@@\n-two\n+three\n*** Update File: target\n@@\n-three\n+four")).ok();
    assert_eq!(h.bytes("target"), b"four\n");
    apply(&h, &marked("*** Update File: link\n*** Move to: moved")).fails("invalid_input");
    apply(&h, &marked("*** Add File: link\n+x")).fails("invalid_input");
    apply(&h, &marked("*** Delete File: link")).ok();
    assert_eq!(tree(&h), of(&[("target", "four\n")]));
    h.call("undo", json!({})).ok();
    assert!(fs::symlink_metadata(h.path("link")).unwrap().is_symlink());
}

#[test]
#[cfg(unix)]
fn modes_are_kept_by_changes_and_renames_and_set_for_new_programs() {
    use std::os::unix::fs::PermissionsExt as _;
    let h = with(&[("run.sh", "one\n")]);
    fs::set_permissions(h.path("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    let mode = |path: &str| fs::metadata(h.path(path)).unwrap().permissions().mode() & 0o777;
    apply(&h, &marked("*** Update File: run.sh\n*** Move to: bin/run.sh\n@@\n-one\n+two")).ok();
    assert_eq!(mode("bin/run.sh"), 0o750);
    apply(&h, "diff --git a/new.sh b/new.sh\nnew file mode 100755\n--- /dev/null\n+++ b/new.sh\n@@ -0,0 +1 @@\n+x\n")
        .ok();
    assert_eq!(mode("new.sh") & 0o111, 0o111);
}

#[test]
fn a_mark_of_byte_order_is_the_first_line_s_and_goes_only_with_it() {
    let h = setup().open();
    let text = "\u{feff}one\ntwo\n";
    let cases = [
        ("@@ -1,2 +1,2 @@\n \u{feff}one\n-two\n+2\n", text, "\u{feff}one\n2\n"),
        ("@@ -1,2 +1,2 @@\n-\u{feff}one\n+\u{feff}1\n two\n", text, "\u{feff}1\ntwo\n"),
        ("@@ -1,2 +1,2 @@\n-\u{feff}one\n+one\n two\n", text, "one\ntwo\n"),
        ("@@ -1,2 +1,2 @@\n-one\n+\u{feff}one\n two\n", "one\ntwo\n", text),
        ("@@ -1,2 +1,2 @@\n-one\n+\u{feff}1\n two\n", text, "\u{feff}1\ntwo\n"),
        ("@@ -1,2 +1,2 @@\n-\u{feff}one\n+\u{feff}1\n two\n", "one\ntwo\n", "1\ntwo\n"),
        ("@@ -1,2 +1,2 @@\n one\n-two\n+2\n", text, "\u{feff}one\n2\n"),
    ];
    for (index, (hunk, before, after)) in cases.into_iter().enumerate() {
        let name = format!("f{index}");
        let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let is_wide = before.starts_with('\u{feff}') && after.starts_with('\u{feff}');
        for wide_now in [false, true].into_iter().filter(|wide| is_wide || !wide) {
            let bytes = |text: &str| if wide_now { wide(text) } else { text.as_bytes().to_vec() };
            h.write(&name, bytes(before));
            h.call("read", json!({ "path": name })).ok();
            let answer = apply(&h, &format!("\u{feff}--- a/{name}\n+++ b/{name}\n{hunk}")).ok();
            assert!(!answer.contains("not exactly"), "{hunk}: {answer}");
            assert_eq!(h.bytes(&name), bytes(after), "{hunk}");
        }
    }
    // A diff that deletes such a file has the mark, too.
    h.write("gone", text);
    apply(&h, "--- a/gone\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-\u{feff}one\n-two\n").ok();
    assert!(!h.exists("gone"));
}

#[test]
fn carriage_returns_that_a_patch_takes_away_or_brings_are_its_change() {
    let h = with(&[("a", "one\r\ntwo\r\nthree\r\n"), ("b", "one\ntwo\n")]);
    let answer = apply(&h, "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\r\n-two\r\n+two\n three\r\n").ok();
    assert!(!answer.contains("not exactly"), "{answer}");
    assert_eq!(h.bytes("a"), b"one\r\ntwo\nthree\r\n");
    apply(&h, "--- a/b\n+++ b/b\n@@ -1,2 +1,2 @@\n-one\n+one\r\n two\n").ok();
    assert_eq!(h.bytes("b"), b"one\r\ntwo\n");
}

#[test]
fn hunks_in_another_order_than_their_numbers_are_not_placed_by_their_order() {
    let h = with(&[("a", "a\nend\nend\n\nb\nold\n\nc\nend\nend\n")]);
    let patch = "--- a/a\n+++ b/a\n@@ -9,2 +9,3 @@\n end\n end\n+new\n@@ -5,2 +5,2 @@\n b\n-old\n+other\n";
    apply(&h, patch).ok();
    assert_eq!(h.bytes("a"), b"a\nend\nend\n\nb\nother\n\nc\nend\nend\nnew\n");
}

#[test]
fn the_last_line_of_a_diff_that_is_not_ended_is_in_the_file_as_it_is() {
    let file = "one\ntwo\nthe third line of the file\nfour\n";
    for (last, is_whole) in [("the third line of the file", true), ("the third line of the fil", false), ("", false)] {
        let h = with(&[("x", file)]);
        let head = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-one\n+1\n two\n";
        let answer = apply(&h, &format!("{head} {last}"));
        assert_eq!(answer.error_kind().is_none(), is_whole, "{last}: {}", answer.text());
        assert_eq!(h.bytes("x").starts_with(b"1"), is_whole, "{last}");
    }
}

#[test]
fn characters_that_were_lost_before_the_patch_came_are_named() {
    let h = setup().open();
    h.write("latin", b"caf\xe9 d\xe9j\xe0 vu\ntwo\nd\xe9j\xe0\n");
    h.write("utf", "café déjà vu\ntwo\ndéjà\n");
    for name in ["latin", "utf"] {
        h.call("read", json!({ "path": name })).ok();
        let before = h.bytes(name);
        let head = format!("--- a/{name}\n+++ b/{name}\n");
        let lost = format!(
            "{head}@@ -1,2 +1,2 @@\n-caf\u{fffd} d\u{fffd}j\u{fffd} vu\n+Caf\u{fffd} d\u{fffd}j\u{fffd} vu\n two\n"
        );
        let text = apply(&h, &lost).fails("no_match");
        assert!(text.contains("hunk 1 (line 3 of the patch): it has U+FFFD in place of characters"), "{text}");
        assert_eq!(h.bytes(name), before);
        apply(&h, &format!("{head}@@ -2,2 +2,2 @@\n-two\n+zwei\n déjà\n")).ok();
    }
    assert_eq!(h.bytes("latin"), b"caf\xe9 d\xe9j\xe0 vu\nzwei\nd\xe9j\xe0\n");
    // Lines that are new show it as well.
    h.write("ascii", "zwei\n");
    h.call("read", json!({ "path": "ascii" })).ok();
    for name in ["latin", "utf", "ascii"] {
        let patch = format!("--- a/{name}\n+++ b/{name}\n@@ -2,0 +2 @@\n zwei\n+caf\u{fffd}\n");
        let text = apply(&h, &patch).fails("no_match");
        assert!(text.contains("hunk 1 (line 3 of the patch): it has U+FFFD in place of characters"), "{text}");
    }
    apply(&h, "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+caf\u{fffd}\n").fails("no_match");
    assert!(!h.exists("new"));
}

#[test]
fn a_patch_that_may_have_lost_only_empty_lines_at_its_end_is_checked_against_the_file() {
    let h = with(&[("a", "one\ntwo\n\n\nfive\n"), ("b", "one\ntwo\nthree\n")]);
    let patch = |name: &str| format!("--- a/{name}\n+++ b/{name}\n@@ -1,3 +1,3 @@\n-one\n+1\n two");
    apply(&h, &patch("a")).ok();
    assert_eq!(h.bytes("a"), b"1\ntwo\n\n\nfive\n");
    let text = apply(&h, &patch("b")).fails("invalid_input");
    // What it ends within is not to be added.
    let cut = "diff --git a/b b/b\nindex 1..2 100644\n--- a/b\n+++ b/b\n@@ -1,3 +1,3 @@\n-one\n+on";
    apply(&h, cut).fails("invalid_input");
    assert_eq!(h.bytes("b"), b"one\ntwo\nthree\n");
    assert!(text.contains("b, hunk 1 (line 3 of the patch): the patch ends within it"), "{text}");
    assert!(text.contains("1 more lines"), "{text}");
    assert_eq!(h.bytes("b"), b"one\ntwo\nthree\n");
}
