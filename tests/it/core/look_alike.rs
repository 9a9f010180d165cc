//! Names that look the same and are not: which of them a path means, and what is said about it. And paths as Windows
//! writes them, on a system where a backslash is part of a name. On Linux, whose file systems take each of these names.

use confined_fs::Access;
use serde_json::json;

use crate::harness::{Harness, Setup, mcp_test};

/// The name on the disk, what a model writes for it, and the first as it is shown.
const PAIRS: &[(&str, &str, &str)] = &[
    ("Shot 10.05.09\u{202f}AM.md", "Shot 10.05.09 AM.md", r"Shot 10.05.09\u{202f}AM.md, with U+202F"),
    ("Shot 11 AM.md", "Shot 11\u{202f}AM.md", "Shot 11 AM.md"),
    ("a\u{a0}b\u{a0}c.md", "a b c.md", r"a\u{a0}b\u{a0}c.md, with U+00A0"),
    ("d\u{3000}e\u{2009}f.md", "d e\u{a0}f.md", r"d\u{3000}e\u{2009}f.md, with U+2009, U+3000"),
    ("Cafe\u{301}.md", "Café.md", r"Cafe\u{301}.md"),
    ("Zoë.md", "Zoe\u{308}.md", "Zoë.md"),
    ("\u{1112}\u{1161}\u{11ab}.md", "한.md", r"\u{1112}\u{1161}\u{11ab}.md"),
    ("re\u{301}sume\u{301}\u{a0}2.md", "résumé 2.md", r"re\u{301}sume\u{301}\u{a0}2.md, with U+00A0"),
    // Each name on the way.
    (
        "De\u{301}ck\u{a0}1/in\u{202f}it/x\u{a0}y.md",
        "Déck 1/in it/x y.md",
        r"De\u{301}ck\u{a0}1/in\u{202f}it/x\u{a0}y.md, with U+00A0, U+202F",
    ),
];

mcp_test!(the_only_name_that_looks_the_same_is_meant, |h| {
    for (real, asked, shown) in PAIRS {
        h.write(real, "needle one\n");
        let given: String = confined_fs::escape::escape_difference(asked.as_ref()).into_owned();
        let first = format!("({given} is {shown})\n");
        let read = h.call("read", json!({"path": asked})).ok();
        assert!(read.starts_with(&format!("{first}1\tneedle one\n")), "{asked}: {read}");
        let several = h.call("read", json!({"paths": [format!("{asked}:1-1")]})).ok();
        assert!(several.starts_with(&first) && several.contains("needle"), "{asked}: {several}");
        for (tool, arguments) in [
            ("ls", json!({"path": asked})),
            ("grep", json!({"path": asked, "pattern": "needle"})),
            ("edit", json!({"path": asked, "old_string": "one", "new_string": "two"})),
            ("write", json!({"path": asked, "content": "needle three\n"})),
            ("write", json!({"path": asked, "content": "needle four\n", "mode": "append"})),
        ] {
            let answer = h.call(tool, arguments).ok();
            assert!(answer.starts_with(&first), "{tool} {asked}: {answer}");
        }
        assert_eq!(h.bytes(real), b"needle three\nneedle four\n", "{asked}");
        assert!(!h.exists(asked), "{asked}");
        // What is printed so is a path.
        let printed = shown.split(", with").next().unwrap();
        assert!(h.call("read", json!({"path": printed})).ok().starts_with("1\tneedle three"), "{printed}");
        // An exact name goes first.
        h.write(asked, "exact\n");
        assert!(h.call("read", json!({"path": asked})).ok().starts_with("1\texact\n"), "{asked}");
        assert!(h.call("read", json!({"path": real})).ok().starts_with("1\tneedle three\n"), "{asked}");
    }
});

mcp_test!(globs_find_names_that_look_the_same, |h| {
    h.write("Shot\u{202f}1 AM.png", "needle");
    h.write("De\u{301}ck/a.md", "needle");
    h.write("plain.md", "needle");
    for (pattern, found) in [
        ("Shot 1 AM.png", "Shot\u{202f}1 AM.png"),
        ("Shot 1*", "Shot\u{202f}1 AM.png"),
        ("*t 1 A?.png", "Shot\u{202f}1 AM.png"),
        ("Shot\u{a0}1*", "Shot\u{202f}1 AM.png"),
        ("Déck/*.md", "De\u{301}ck/a.md"),
        ("**/D?ck/*", "De\u{301}ck/a.md"),
        ("D[é]ck/**", "De\u{301}ck/a.md"),
    ] {
        let glob = h.call("glob", json!({"pattern": pattern})).ok();
        assert!(glob.starts_with('(') && glob.contains(")\nFound 1 path") && glob.contains(found), "{pattern}: {glob}");
        let grep = h.call("grep", json!({"pattern": "needle", "glob": pattern})).ok();
        assert!(grep.contains(&format!("{found}:1")), "{pattern}: {grep}");
        assert_eq!(grep.lines().next(), glob.lines().next(), "{pattern}");
    }
    for (tool, arguments) in
        [("glob", json!({"pattern": "pl?in.md"})), ("grep", json!({"pattern": "n", "glob": "pl?in.md"}))]
    {
        let plain = h.call(tool, arguments).ok();
        assert!(plain.starts_with("Found 1 "), "{plain}");
    }
    h.write("Shot\u{202f}2 AM.png", "needle");
    let several = h.call("glob", json!({"pattern": "*t ? AM.png"})).ok();
    assert!(several.starts_with("(2 names look like *t ? AM.png)\nFound 2 paths"), "{several}");
    let below = h.call("glob", json!({"pattern": "*.md", "path": "Déck"})).ok();
    assert!(below.starts_with(r"(Déck is De\u{301}ck)"), "{below}");
});

#[test]
fn another_name_of_that_look_is_made_at_the_second_call() {
    let mut setup = Setup::default();
    setup.selection.groups.extend([file_tools::Group::Manage, file_tools::Group::Patch]);
    let h = setup.open();
    h.write("a\u{a0}b.md", "first\n");
    h.write("De\u{301}ck/x.md", "x\n");
    h.write("other.md", "other\n");
    let patch = |name: &str| format!("*** Begin Patch\n*** Add File: {name}\n+new\n*** End Patch\n");
    for (tool, arguments, made) in [
        ("write", json!({"path": "a b.md", "content": "new\n"}), "a b.md"),
        ("write", json!({"path": "a\u{202f}b.md", "content": "new\n", "mode": "create"}), "a\u{202f}b.md"),
        ("edit", json!({"path": "a\u{2009}b.md", "old_string": "", "new_string": "new\n"}), "a\u{2009}b.md"),
        ("apply_patch", json!({"patch": patch("a\u{3000}b.md")}), "a\u{3000}b.md"),
        ("copy", json!({"source": "other.md", "destination": "a\u{2002}b.md"}), "a\u{2002}b.md"),
        ("move", json!({"source": "other.md", "destination": "a\u{2003}b.md"}), "a\u{2003}b.md"),
        ("mkdir", json!({"path": "Déck"}), "Déck"),
    ] {
        // Of two that look the same neither is meant.
        for blank in ["\u{202f}", "\u{2009}", "\u{3000}", "\u{2002}", " "] {
            if h.exists(&format!("a{blank}b.md")) {
                std::fs::remove_file(h.path(&format!("a{blank}b.md"))).unwrap();
            }
        }
        let refused = h.call(tool, arguments.clone()).fails("invalid_input");
        let other = if tool == "mkdir" { r"De\u{301}ck looks the same" } else { r"a\u{a0}b.md looks the same" };
        assert!(refused.contains(other) && !h.exists(made), "{tool}: {refused}");
        let answer = h.call(tool, arguments).ok();
        assert!(h.exists(made) && !answer.contains(" is a"), "{tool}: {answer}");
        assert_eq!(h.bytes("a\u{a0}b.md"), b"first\n");
    }
    // In a directory of that look nothing is a twin; and a name is made plain by a move.
    std::fs::remove_dir(h.path("Déck")).unwrap();
    let inside = h.call("write", json!({"path": "Déck/new.md", "content": "new\n"})).ok();
    assert!(inside.starts_with(r"(Déck/new.md is De\u{301}ck/new.md)") && h.exists("De\u{301}ck/new.md"), "{inside}");
    std::fs::remove_file(h.path("a\u{2003}b.md")).unwrap();
    h.call("move", json!({"source": "a\u{a0}b.md", "destination": "a b.md"})).ok();
    assert!(h.exists("a b.md") && !h.exists("a\u{a0}b.md"));
}

mcp_test!(of_several_that_look_the_same_none_is_meant, |h| {
    h.write("a\u{a0}b.md", "one\n");
    h.write("a\u{202f}b.md", "two\n");
    for (tool, arguments) in [
        ("read", json!({"path": "a b.md"})),
        ("write", json!({"path": "a b.md", "content": "x"})),
        ("edit", json!({"path": "a b.md", "old_string": "one", "new_string": "x"})),
    ] {
        let refused = h.call(tool, arguments).fails("ambiguous");
        assert!(refused.contains(r"a\u{a0}b.md") && refused.contains(r"a\u{202f}b.md"), "{tool}: {refused}");
    }
    assert!(!h.exists("a b.md"));
    // A name that is only near is shown apart, too.
    let near = h.call("read", json!({"path": "c b.md"})).fails("not_found");
    assert!(near.contains(r"a\u{a0}b.md"), "{near}");
});

/// Neither a hidden name nor a secret comes to light under another spelling.
#[test]
fn policy_holds_for_the_name_on_the_disk() {
    let mut setup = Setup { roots: vec![(None, "root", Access::ReadWrite)], ..Setup::default() };
    setup.workspace.policy.hide = vec!["hid*".to_owned(), "Hi\u{301}d*/**".to_owned(), "Híd*".to_owned()];
    setup.workspace.policy.deny = vec!["deni*".to_owned()];
    setup.workspace.policy.protect = vec!["keep*".to_owned()];
    let h = setup.open();
    for name in
        ["hid\u{a0}x.md", "Hi\u{301}d/x.md", "deni\u{a0}x.md", "keep\u{a0}x.md", "id_rsa\u{a0}", "key\u{a0}a.pem"]
    {
        h.write(name, "PRIVATE\n");
    }
    for name in ["hid x.md", "Híd/x.md"] {
        let missing = h.call("read", json!({"path": name})).fails("not_found");
        let other = h.call("read", json!({"path": "hid z.md"})).fails("not_found");
        assert!(!missing.contains("u{") && !other.contains("u{"), "{missing} {other}");
    }
    h.call("write", json!({"path": "new x.md", "content": ""})).ok();
    for name in ["deni x.md", "key a.pem"] {
        let denied = h.call("read", json!({"path": name})).denied();
        assert!(!denied.contains("PRIVATE"), "{denied}");
        h.call("edit", json!({"path": name, "old_string": "PRIVATE", "new_string": "x"})).denied();
        let found = h.call("grep", json!({"path": name, "pattern": "PRIVATE"})).text();
        assert!(!found.contains("PRIVATE\n") && !found.contains(":1:"), "{found}");
    }
    h.call("read", json!({"path": "keep x.md"})).ok();
    h.call("edit", json!({"path": "keep x.md", "old_string": "PRIVATE", "new_string": "x"})).denied();
    assert_eq!(h.bytes("keep\u{a0}x.md"), b"PRIVATE\n");
}

fn sources(h: &Harness) {
    for name in ["src/a.go", "src/deep/b.go", "src/[id]/c.go", "app/src/only.go"] {
        h.write(name, "package one\n");
    }
}

mcp_test!(paths_of_windows_mean_those_with_slashes, |h| {
    sources(&h);
    for (text, path) in [
        (r"src\a.go", "src/a.go"),
        (r".\src\a.go", "src/a.go"),
        (r"src\deep\..\a.go", "src/a.go"),
        (r"src\deep/b.go", "src/deep/b.go"),
        (r"src\[id]\c.go", "src/[id]/c.go"),
        (r"src\only.go", "app/src/only.go"),
    ] {
        let first = format!("({text} is {path})\n");
        for (tool, arguments) in [
            ("read", json!({"path": text})),
            ("read", json!({"paths": [text, "src/a.go"]})),
            ("edit", json!({"path": text, "old_string": "one", "new_string": "two", "dry_run": true})),
            ("grep", json!({"path": text, "pattern": "package"})),
        ] {
            let answer = h.call(tool, arguments).ok();
            assert!(answer.starts_with(&first), "{tool} {text}: {answer}");
        }
    }
    let lines = h.call("read", json!({"paths": [r"src\a.go:1-1", r".\src\deep\b.go:1-1"]})).ok();
    assert!(lines.contains("==> src/a.go") && lines.contains("==> src/deep/b.go"), "{lines}");
    let written = h.call("write", json!({"path": r"src\a.go", "content": "package two\n"})).ok();
    assert!(written.starts_with(r"(src\a.go is src/a.go)"), "{written}");
    assert_eq!(h.bytes("src/a.go"), b"package two\n");
    // A file of just that name goes first.
    h.write(r"src\a.go", "literal\n");
    assert!(h.call("read", json!({"path": r"src\a.go"})).ok().starts_with("1\tliteral\n"));
    for outside in [r"..\x.go", r"src\..\..\x.go", r"\etc\passwd"] {
        let refused = h.call("read", json!({"path": outside}));
        assert!(refused.error_kind().is_some(), "{outside}: {}", refused.text());
    }
    for drive in [r"C:\Users\me\a.go", "C:/Users/me/a.go", r"\\server\share\a.go", r"c:\x"] {
        for (tool, arguments) in [("read", json!({"path": drive})), ("write", json!({"path": drive, "content": "x"}))] {
            let refused = h.call(tool, arguments).fails("invalid_input");
            assert!(refused.contains("this is a path of Windows"), "{refused}");
        }
    }
});

#[test]
fn a_new_name_with_backslashes_is_refused_once() {
    let mut setup = Setup::default();
    setup.selection.groups.extend([file_tools::Group::Manage, file_tools::Group::Patch]);
    let h = setup.open();
    sources(&h);
    let patch = "*** Begin Patch\n*** Add File: src\\patched.go\n+new\n*** End Patch\n";
    for (tool, arguments, slashes, made) in [
        ("write", json!({"path": r"src\new.go", "content": "x"}), "src/new.go", r"src\new.go"),
        ("write", json!({"path": r"lib\deep\new.go", "content": "x"}), "lib/deep/new.go", r"lib\deep\new.go"),
        ("edit", json!({"path": r"src\made.go", "old_string": "", "new_string": "x"}), "src/made.go", r"src\made.go"),
        ("mkdir", json!({"path": r"src\sub"}), "src/sub", r"src\sub"),
        ("copy", json!({"source": "src/a.go", "destination": r"src\copy.go"}), "src/copy.go", r"src\copy.go"),
        ("move", json!({"source": r"src\deep\b.go", "destination": r"src\moved.go"}), "src/moved.go", r"src\moved.go"),
        ("apply_patch", json!({"patch": patch}), "src/patched.go", r"src\patched.go"),
    ] {
        let refused = h.call(tool, arguments.clone()).fails("invalid_input");
        assert!(refused.contains(&format!("pass {slashes};")) && !h.exists(made), "{tool}: {refused}");
        h.call(tool, arguments).ok();
        assert!(h.exists(made) && !h.exists(slashes), "{tool}");
    }
}

mcp_test!(globs_of_windows_mean_those_with_slashes, |h| {
    sources(&h);
    h.write("src/e\u{301}.go", "package one\n");
    for (pattern, other, found) in [
        (r"src\**\*.go", "src/**/*.go", 4),
        (r"src\*.go", "src/*.go", 2),
        (r".\src\*.go", "./src/*.go", 2),
        (r"src\deep\b.go", "src/deep/b.go", 1),
    ] {
        let glob = h.call("glob", json!({"pattern": pattern})).ok();
        assert!(glob.starts_with(&format!("({pattern} is {other})\nFound {found} path")), "{pattern}: {glob}");
        let grep =
            h.call("grep", json!({"pattern": "package", "glob": pattern, "output_mode": "files_with_matches"})).ok();
        assert!(grep.contains(&format!("Found {found} file")), "{pattern}: {grep}");
    }
    // An escape stays one.
    let escaped = h.call("glob", json!({"pattern": r"src/\[id\]/*.go"})).ok();
    assert!(escaped.starts_with("Found 1 path"), "{escaped}");
});
