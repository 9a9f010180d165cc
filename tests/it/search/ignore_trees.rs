//! `glob` beside `git ls-files`, in trees with files of rules: what is not ignored is the same.
//!
//! Without git the test is skipped with a message, and fails if `CI` is set. Random rules are compared in `confined-fs`.

use std::{collections::BTreeSet, env, path::Path, process::Command};

use confined_fs::escape::escape_name;
use serde_json::json;

use crate::harness::Setup;

/// A reason, files of rules with their content, and other files; a directory has a slash at its end.
type Tree = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

const TREES: &[Tree] = &[
    ("a brace is a character", &[(".gitignore", "*.{o,a}\n{b}\n")], &["a.o", "a.a", "x.{o,a}", "b", "{b}"]),
    (
        "named classes",
        &[(".gitignore", "*[[:digit:]].log\n[[:upper:]]*\n")],
        &["a1.log", "ad.log", "Abc", "abc", "a:.log"],
    ),
    ("negated and unknown classes", &[(".gitignore", "[![:alpha:]]\n[[:nope:]]\n")], &["a", "1", "n", "é"]),
    ("a tab at the end stays", &[(".gitignore", "a\t\nb\t \n")], &["a", "a\t", "b", "b\t"]),
    ("blanks at the end go", &[(".gitignore", "a  \nb\\ \nc\\  \n \nd \\\n")], &["a", "b", "b ", "c ", "c", " ", "d"]),
    ("no class matches a slash", &[(".gitignore", "a[/]b\nc[!x]d\ne[+-9]f\n")], &["a/b", "c/d", "c1d", "e/f", "e0f"]),
    ("escaped signs", &[(".gitignore", "#a\n\\#b\n\\!c\n!d\n\\*\n")], &["#a", "#b", "!c", "d", "*", "e"]),
    ("lines of Windows", &[(".gitignore", "a\r\n*.o\r\n\r\n!b.o\r\nc\r\r\n")], &["a", "a.o", "b.o", "c", "c\r", "d"]),
    ("a byte order mark", &[(".gitignore", "\u{feff}a\nb\n\u{feff}c\n")], &["a", "b", "c", "\u{feff}c"]),
    ("stars at the beginning", &[(".gitignore", "**/a/b\n**/c\n")], &["a/b", "x/a/b", "x/y/c", "c", "xc", "b"]),
    ("stars at the end", &[(".gitignore", "a/**\n!a/keep\n/b/**\n")], &["a/x", "a/keep", "a/d/x", "b/x", "c/b/x"]),
    (
        "stars in the middle",
        &[(".gitignore", "a/**/b\nc/*/d\n")],
        &["a/b", "a/x/b", "a/x/y/b", "c/x/d", "c/x/y/d", "c/d"],
    ),
    ("more than two stars", &[(".gitignore", "a/***/b\n***c\n")], &["a/b", "a/x/y/b", "xc", "x/yc", "b"]),
    (
        "stars within a name",
        &[(".gitignore", "a/foo**/bar\nb**c\n/d**\n")],
        &["a/foo/x/bar", "a/foobar", "a/bar", "bxc", "b/c", "d/e", "dx"],
    ),
    ("an escaped slash", &[(".gitignore", "a\\/b\nc\\/\n**\\/d\n")], &["a/b", "c/x", "d", "x/d", "x/y/d"]),
    (
        "a pattern with a slash is anchored",
        &[(".gitignore", "/a\nb/c\nd/\n")],
        &["a", "x/a", "b/c", "x/b/c", "x/d/e", "d/e"],
    ),
    ("directories alone", &[(".gitignore", "a/\nlink/\n*.d/\n")], &["x/a", "a/b", "c.d/x", "e.d"]),
    ("a directory that is left out cannot be entered", &[(".gitignore", "a/\n!a/b\n")], &["a/b", "a/c", "b"]),
    ("all but", &[(".gitignore", "a/*\n!a/keep/\n")], &["a/x", "a/keep/y", "a/keep/z", "b/a/x"]),
    ("some endings alone", &[(".gitignore", "*\n!*/\n!*.c\n!.gitignore\n")], &["a.c", "x/b.c", "x/b.h", "x/y/c.c"]),
    ("everything from the top", &[(".gitignore", "/**\n!/src/\n!/src/**\n")], &["a", "src/b", "src/c/d", "e/f"]),
    (
        "sets",
        &[(".gitignore", "[!a]b\n[^c]d\n[]-]e\n[f-h]i\n[j-]k\n")],
        &["ab", "bb", "cd", "dd", "]e", "-e", "^d", "gi", "jk", "-k"],
    ),
    (
        "escapes in sets",
        &[(".gitignore", "[a-\\]]x\n[\\a\\]]y\n[\\\\]z\n[b\\-d]q\n")],
        &["]x", "ax", "ay", "]y", "\\z", "-q", "cq", "bq"],
    ),
    (
        "no pattern",
        &[(".gitignore", "a[\nb[x\nc\\\n[]\n[!]\n!\n/\n//\n/d/\n")],
        &["a[", "a", "bx", "b[x", "c", "c\\", "[]", "d/x"],
    ),
    (
        "later lines and deeper files",
        &[(".gitignore", "*.o\n!b.o\n*.x\n"), ("a/.gitignore", "!*.o\nb.o\n")],
        &["c.o", "b.o", "a/b.o", "a/c.o", "a/d.x"],
    ),
    (
        "paths of a deeper file",
        &[("a/.gitignore", "/b\nc/d\n*.e\n")],
        &["b", "a/b", "a/x/b", "a/c/d", "c/d", "a/x/y.e", "y.e"],
    ),
    ("info/exclude", &[(".git/info/exclude", "*.o\n/a\n"), (".gitignore", "!k.o\n")], &["a", "x/a", "b.o", "k.o"]),
    (
        "letters of both cases",
        &[(".gitignore", "readme\nDIR/\n[a-c]X\n")],
        &["README", "readme", "dir/a", "DIR2/b", "aX", "AX", "ax"],
    ),
    ("no line break at the end", &[(".gitignore", "a\nb")], &["a", "b", "c"]),
    (
        "characters beyond ASCII",
        &[(".gitignore", "?.a\n??.a\né*\n[é]b\n*\u{a0}\n")],
        &["é.a", "ab.a", "日.a", "éx", "éb", "c\u{a0}", "d"],
    ),
    ("a file of rules that is left out", &[(".gitignore", ".gitignore\n"), ("a/.gitignore", "b\n")], &["a/b", "a/c"]),
    ("a NUL ends a line", &[(".gitignore", "a\0b\nc\n")], &["a", "c", "ab"]),
];

/// The names that git lists, as they are printed here.
fn by_git(directory: &Path) -> Option<BTreeSet<String>> {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(directory).envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")]);
        let output = command.args(["-c", "core.ignoreCase=false"]).args(arguments).output().ok()?;
        output.status.success().then_some(output.stdout)
    };
    let listed = git(&["ls-files", "-o", "--exclude-standard", "-z"])?;
    let text = String::from_utf8(listed).expect("all of them are text");
    let printed = |path: &str| path.split('/').map(|name| escape_name(name.as_ref()).into_owned()).collect::<Vec<_>>();
    let is_file = |path: &&str| directory.join(path).symlink_metadata().is_ok_and(|entry| entry.is_file());
    Some(text.split_terminator('\0').filter(is_file).map(|path| printed(path).join("/")).collect())
}

#[test]
fn what_is_ignored_is_what_git_ignores() {
    let has_git = Command::new("git").arg("--version").output().is_ok_and(|output| output.status.success());
    if !has_git {
        assert!(env::var_os("CI").is_none(), "git is missing");
        return crate::search::oracle::say("skipped: no git");
    }
    assert!(TREES.len() > 29);
    for (reason, rules, files) in TREES {
        let mut setup = Setup::default();
        setup.workspace.ignore.no_default = true;
        let h = setup.open();
        let made = Command::new("git").current_dir(h.path("")).args(["init", "-q", "--template="]).status();
        assert!(made.is_ok_and(|status| status.success()), "{reason}");
        files.iter().for_each(|file| h.write(file, ""));
        rules.iter().for_each(|(file, content)| h.write(file, content));
        h.mkdir("target-of-link");
        h.symlink("target-of-link", "link");
        let answer = h.call("glob", json!({"pattern": "**/*", "sort": "path", "max_results": 1000})).ok();
        let numbered = answer.lines().filter_map(|line| line.split_once(". "));
        let by_glob: BTreeSet<_> =
            numbered.filter(|(number, _)| number.parse::<u32>().is_ok()).map(|(_, name)| name.to_owned()).collect();
        assert_eq!(by_glob, by_git(&h.path("")).unwrap(), "{reason}: {rules:?}\n{answer}");
    }
}

#[test]
fn rules_above_a_root_count_and_doctor_lists_them() {
    let setup = Setup { roots: vec![(None, "top/root", confined_fs::Access::ReadOnly)], ..Setup::default() };
    let h = setup.open();
    h.write_outside("top/.git/HEAD", "");
    h.write_outside("top/.gitignore", "*.o\n/root/gen\n");
    for file in ["a.o", "gen/a", "b"] {
        h.write(file, "needle\n");
    }
    h.restart();
    let found = h.call("glob", json!({"pattern": "*"})).ok();
    assert!(found.starts_with("Found 1 path under .\n1. b\n"), "{found}");
    let found = h.call("grep", json!({"pattern": "needle"})).ok();
    assert!(found.starts_with("Found 1 match in 1 file under .\nb:1: needle"), "{found}");
    assert!(!found.contains("top"), "{found}");
    let report = |root: &str| {
        let arguments = ["doctor", "--state-dir", "off", "--confine", "off", "--root", root];
        crate::harness::program::Outcome::of(crate::harness::program::program(h.outside("").as_path()).args(arguments))
            .stdout
    };
    let rules = h.outside("top").canonicalize().unwrap().join(".gitignore");
    let line = format!("\n               ignore rules from above: {}\n", rules.display());
    assert!(report("top/root").contains(&line), "{}", report("top/root"));
    h.write_outside("top/.gitignore", "root\n");
    let line = format!("\n               left out, as they ignore all of it: {}\n", rules.display());
    assert!(report("top/root").contains(&line), "{}", report("top/root"));
}
