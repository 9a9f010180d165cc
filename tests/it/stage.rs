//! Staged changes: the merged view, the disk that stays as it is, and the commands `diff`, `apply` and `discard`.

mod project;
mod running_server;

use std::fs;

use confined_fs::Access;
use rootbound::tools::{Group, ReadBeforeWrite, Selection, Settings};
use serde_json::{Value, json};

use crate::{
    harness::{Harness, Setup},
    program::{Outcome, program},
};

use project::{Project, times, tree};

#[test]
fn changes_are_seen_by_every_process_and_reach_the_disk_by_apply_alone() {
    let project =
        Project::new(&[("a.txt", "one\n"), ("d/b.txt", "two\n"), ("d/sub/c.txt", "three\n"), ("gone", "x\n")]);
    let (before, times_before) = (tree(&project.root()), times(&project.root()));
    project.staged("edit", &json!({"path": "a.txt", "old_string": "one", "new_string": "ONE"}));
    project.staged("write", &json!({"path": "new/x.txt", "content": "new\n"}));
    project.staged("move", &json!({"source": "d", "destination": "e"}));
    project.staged("delete", &json!({"path": "gone"}));
    assert_eq!(project.staged("read", &json!({"path": "a.txt"})).lines().next(), Some("1\tONE"));
    let found = project.staged("glob", &json!({"pattern": "**"}));
    for name in ["a.txt", "new/x.txt", "e/b.txt", "e/sub/c.txt"] {
        assert!(found.contains(name), "{name}: {found}");
    }
    assert!(found.starts_with("Found 4 paths"), "{found}");
    let seen = project.staged("grep", &json!({"pattern": "three"}));
    assert!(seen.contains("e/sub/c.txt:1: three") && !seen.contains("d/sub"), "{seen}");
    assert_eq!((tree(&project.root()), times(&project.root())), (before, times_before));
    // Without --stage the disk is seen.
    assert!(project.ok(&["call", "read", "path=a.txt"]).starts_with("1\tone"));

    let diff = project.ok(&["stage", "diff"]);
    assert!(diff.contains("-one\n+ONE\n") && diff.contains("deleted file gone") && diff.contains("+new\n"), "{diff}");
    let applied = project.ok(&["stage", "apply"]);
    assert!(applied.starts_with("Applied "), "{applied}");
    assert_eq!(project.content("a.txt"), "ONE\n");
    assert_eq!(project.content("e/sub/c.txt"), "three\n");
    assert!(!project.path("d").exists() && !project.path("gone").exists());
    assert_eq!(project.ok(&["stage", "diff"]).trim_end(), "nothing is staged");
    assert!(!project.layer().join("record").exists());
    assert_eq!(fs::read_dir(project.layer().join("upper")).unwrap().count(), 0);
    // What was applied is in the history of the disk.
    assert!(project.ok(&["history", "restore", "a.txt"]).contains("+one"));
}

#[test]
fn part_is_applied_or_discarded_by_its_path() {
    let project = Project::new(&[("a", "a\n"), ("b", "b\n"), ("d/c", "c\n"), ("keep", "k\n")]);
    for name in ["a", "b", "d/c"] {
        project.staged("write", &json!({"path": name, "content": "changed\n"}));
    }
    project.staged("write", &json!({"path": "new/deep/file", "content": "new\n"}));
    project.staged("delete", &json!({"path": "keep"}));
    assert!(project.ok(&["stage", "apply", "a", "new/deep"]).starts_with("Applied "));
    assert_eq!((project.content("a"), project.content("b")), ("changed\n".into(), "b\n".into()));
    assert_eq!((project.content("new/deep/file"), project.content("d/c")), ("new\n".into(), "c\n".into()));
    project.ok(&["stage", "discard", "d", "keep"]);
    assert_eq!(project.staged("read", &json!({"path": "d/c"})).lines().next(), Some("1\tc"));
    assert_eq!(project.staged("read", &json!({"path": "keep"})).lines().next(), Some("1\tk"));
    let diff = project.ok(&["stage", "diff"]);
    assert!(diff.starts_with("changed file b\n") && !diff.contains("keep") && !diff.contains("d/c"), "{diff}");
    assert_eq!(project.ok(&["stage", "discard"]).trim_end(), "Discarded 1 staged change");
    assert_eq!(project.staged("read", &json!({"path": "b"})).lines().next(), Some("1\tb"));
    assert_eq!(project.content("b"), "b\n");
}

#[test]
fn nothing_is_applied_over_what_others_changed_on_the_disk() {
    let project = Project::new(&[("a", "a\n"), ("b", "b\n"), ("d/c", "c\n"), ("gone", "g\n")]);
    for name in ["a", "b", "new"] {
        project.staged("write", &json!({"path": name, "content": "staged\n"}));
    }
    project.staged("delete", &json!({"path": "d", "recursive": true}));
    project.staged("delete", &json!({"path": "gone"}));
    project.write("a", "theirs\n");
    project.write("new", "theirs\n");
    project.write("d/more", "theirs\n");
    let before = tree(&project.root());
    let refused = project.fails(&["stage", "apply"]);
    assert!(refused.contains("nothing was applied: 3 paths") && refused.contains(": a, d, new"), "{refused}");
    assert_eq!(tree(&project.root()), before);
    assert!(project.ok(&["stage", "diff"]).contains("changed file a (also changed on the disk)"));

    let applied = project.ok(&["stage", "apply", "--skip-conflicts"]);
    assert!(applied.contains("Left staged, as the disk has changed: a, d, new"), "{applied}");
    assert_eq!((project.content("a"), project.content("new")), ("theirs\n".into(), "theirs\n".into()));
    assert_eq!((project.content("b"), project.content("d/more")), ("staged\n".into(), "theirs\n".into()));
    assert!(!project.path("gone").exists() && !project.path("d/c").exists());
    // They stay staged until they are discarded.
    assert!(project.staged("read", &json!({"path": "a"})).starts_with("1\tstaged"));
    project.ok(&["stage", "discard"]);
    assert!(project.staged("read", &json!({"path": "a"})).starts_with("1\ttheirs"));
}

#[test]
fn entry_may_become_another_kind_and_be_made_again() {
    let project = Project::new(&[("file", "f\n"), ("dir/x", "x\n"), ("dir/y", "y\n"), ("again", "1\n")]);
    let before = tree(&project.root());
    project.staged("delete", &json!({"path": "file"}));
    project.staged("write", &json!({"path": "file/inner", "content": "i\n"}));
    project.staged("delete", &json!({"path": "dir", "recursive": true}));
    project.staged("write", &json!({"path": "dir", "content": "d\n"}));
    project.staged("delete", &json!({"path": "again"}));
    project.staged("write", &json!({"path": "again", "content": "2\n"}));
    let found = project.staged("glob", &json!({"pattern": "**"}));
    assert!(found.starts_with("Found 3 paths") && found.contains("file/inner"), "{found}");
    assert_eq!(tree(&project.root()), before);
    project.ok(&["stage", "apply"]);
    assert_eq!((project.content("file/inner"), project.content("dir")), ("i\n".into(), "d\n".into()));
    assert_eq!(project.content("again"), "2\n");
}

#[test]
fn deleted_directory_that_is_made_again_shows_nothing_of_the_old_one() {
    let project = Project::new(&[("dir/x", "x\n"), ("dir/sub/y", "y\n")]);
    project.staged("delete", &json!({"path": "dir", "recursive": true}));
    project.staged("write", &json!({"path": "dir/sub/z", "content": "z\n"}));
    let found = project.staged("glob", &json!({"pattern": "**"}));
    assert!(found.contains("dir/sub/z") && !found.contains("dir/x") && !found.contains("/y"), "{found}");
    project.ok(&["stage", "apply"]);
    assert_eq!(tree(&project.root()).into_keys().collect::<Vec<_>>(), ["dir", "dir/sub", "dir/sub/z"]);
}

#[test]
fn read_only_root_is_not_staged_and_nested_roots_show_the_same() {
    let project = Project::new(&[("in/a", "a\n"), ("b", "b\n")]);
    let (outer, inner) = (format!("out={}", project.root().display()), format!("in={}", project.path("in").display()));
    let roots = ["--root", &outer, "--root", &inner, "--stage", "--read-before-write", "off", "call"];
    let call = |tool: &str, arguments: Value| {
        let arguments = arguments.to_string();
        project.ok(&[&roots[..], &[tool, &arguments]].concat())
    };
    call("write", json!({"path": "in/new", "content": "n\n"}));
    call("write", json!({"path": "in/a", "content": "A\n"}));
    let found = call("grep", json!({"pattern": ".", "path": "out"}));
    assert!(found.contains("new") && found.contains(": A") && !found.contains(": a"), "{found}");
    assert_eq!(project.content("in/a"), "a\n");
    let read_only = format!("{}:ro", project.root().display());
    let (_, refused) = project.run(&["--root", &read_only, "--stage", "call", "write", "path=x", "content=x"]);
    assert!(refused.contains("read"), "{refused}");
}

#[test]
fn staging_without_a_state_folder_is_an_error_of_the_start() {
    let project = Project::new(&[]);
    let (code, text) = project.run(&["--stage", "--state-dir", "off", "doctor"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("--stage") && text.contains("--state-dir is `off`"), "{text}");
}

#[test]
fn doctor_shows_what_is_staged() {
    let project = Project::new(&[("a", "a\n")]);
    assert!(project.ok(&["--stage", "doctor"]).contains("nothing is staged"));
    project.staged("write", &json!({"path": "new", "content": "12345"}));
    let text = project.ok(&["--stage", "doctor"]);
    assert!(text.contains("1 file, 5 bytes"), "{text}");
}

#[test]
fn full_layer_is_a_quota_error() {
    let project = Project::new(&[("large", &"x".repeat(100 << 10))]);
    let call = |number: usize| {
        let arguments = json!({"source": "large", "destination": format!("f{number}")}).to_string();
        project.run(&["--stage", "--history-size", "1MiB", "--allow", "manage", "call", "copy", &arguments])
    };
    let (code, text) = (0..12).map(call).find(|(code, _)| *code != 0).expect("more than a mebibyte");
    assert!(code == 1 && text.contains("the layer of staged changes is full"), "{text}");
    assert!(text.contains("rootbound stage apply"), "{text}");
}

#[test]
fn secrets_are_not_shown_in_the_diff() {
    let project = Project::new(&[("a", "a\n")]);
    let arguments = json!({"path": ".env", "content": "TOKEN=hunter2\n"}).to_string();
    let allowed = ["--stage", "--allow-secret", ".env", "--allow-protected", ".env", "call", "write", &arguments];
    project.ok(&allowed);
    let diff = project.ok(&["stage", "diff"]);
    assert!(diff.contains("new file .env") && !diff.contains("hunter2"), "{diff}");
}

/// Damaged and forged content of the layer: nothing outside is reached, and nothing is applied that was not staged.
#[cfg(unix)]
#[test]
fn forged_layer_reaches_nothing_outside() {
    use std::os::unix::fs::symlink;
    let project = Project::new(&[("a", "a\n"), ("d/b", "b\n")]);
    let outside = project.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "hunter2\n").unwrap();
    project.staged("write", &json!({"path": "new", "content": "n\n"}));
    let upper = project.layer().join("upper");
    symlink(&outside, upper.join("link")).unwrap();
    symlink(outside.join("secret"), upper.join("a")).unwrap();
    symlink("../../../../outside", upper.join("d")).unwrap();
    let record = project.layer().join("record");
    let forged = "hide ../outside\nhide /etc\nbase absent ../outside/x\nnonsense\nhide \nbase file z 9 q\n\u{1}";
    fs::write(&record, fs::read_to_string(&record).unwrap() + forged).unwrap();
    for path in ["a", "link/secret", "d/secret", "d/b"] {
        let arguments = json!({"path": path}).to_string();
        let (code, text) = project.run(&["--stage", "call", "read", &arguments]);
        assert!(code == 1 && !text.contains("hunter2"), "{path}: {text}");
    }
    let arguments = json!({"path": "link/made", "content": "x"}).to_string();
    assert_eq!(project.run(&["--stage", "call", "write", &arguments]).0, 1);
    let (before, outside_before) = (tree(&project.root()), tree(&outside));
    assert!(project.fails(&["stage", "apply"]).contains("nothing was applied"));
    assert_eq!((tree(&project.root()), tree(&outside)), (before, outside_before));
    project.ok(&["stage", "discard"]);
    assert!(project.staged("read", &json!({"path": "a"})).starts_with("1\ta"));
}

/// A directory of the disk becomes a link while something below it is staged.
#[cfg(unix)]
#[test]
fn directory_that_becomes_a_link_is_not_written_through() {
    let project = Project::new(&[("d/a", "a\n"), ("other/a", "other\n")]);
    project.staged("write", &json!({"path": "d/new", "content": "n\n"}));
    project.staged("write", &json!({"path": "d/a", "content": "staged\n"}));
    fs::remove_dir_all(project.path("d")).unwrap();
    std::os::unix::fs::symlink("other", project.path("d")).unwrap();
    assert!(project.staged("read", &json!({"path": "d/a"})).starts_with("1\tstaged"));
    assert!(!project.staged("glob", &json!({"pattern": "d/*"})).contains("other"));
    let before = tree(&project.root());
    for arguments in [&["stage", "apply"][..], &["stage", "apply", "d/new"]] {
        assert!(project.fails(arguments).contains("nothing was applied"));
        assert_eq!(tree(&project.root()), before);
    }
}

/// A generator of numbers: the same on every machine (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % most as u64).unwrap()
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const NAMES: &[&str] = &[
    "a",
    "b.rs",
    "d",
    "d/a",
    "d/b.rs",
    "d/e",
    "d/e/f.txt",
    "d/e/g",
    "h",
    "h/i",
    "h/i/j.rs",
    "k.txt",
    "A",
    "h/.hidden",
];
const WORDS: &[&str] = &["alpha", "beta", "gamma", "delta"];

fn random_call(random: &mut Random) -> (&'static str, Value) {
    let (path, other) = (random.pick(NAMES), random.pick(NAMES));
    let overwrite = random.below(2) == 0;
    match random.below(14) {
        0..=2 => {
            let content = format!("{}\n{}\n", random.pick(WORDS), random.pick(WORDS));
            ("write", json!({"path": path, "content": content, "mode": if overwrite { "overwrite" } else { "create" }}))
        }
        3..=4 => {
            let (old, new) = (random.pick(WORDS), random.pick(WORDS));
            ("edit", json!({"path": path, "old_string": old, "new_string": format!("{new}!"), "replace_all": true}))
        }
        5..=6 => ("delete", json!({"path": path, "recursive": random.below(2) == 0})),
        7..=8 => ("move", json!({"source": path, "destination": other, "overwrite": overwrite})),
        9 => ("copy", json!({"source": path, "destination": other, "overwrite": overwrite})),
        10 => ("mkdir", json!({"path": path})),
        11..=12 if path != other => {
            let (old, new) = (random.pick(WORDS), random.pick(WORDS));
            let edit = |path| json!({"path": path, "old_string": old, "new_string": new, "replace_all": true});
            ("edit", json!({"edits": [edit(path), edit(other)]}))
        }
        _ => ("undo", json!({})),
    }
}

/// An answer without what may differ: the times and the order by them, and how a directory was moved.
fn comparable(text: &str) -> Vec<String> {
    let copied = "; it was copied and its old place emptied, as the system does not rename it";
    let untimed = |line: &str| match line.split_once(", modified ") {
        Some((before, after)) => before.to_owned() + after.split_once(',').map_or("", |(_, rest)| rest),
        None => line.to_owned(),
    };
    let unnumbered = |line: &str| untimed(line.split_once(". ").map_or(line, |(_, rest)| rest));
    let mut lines: Vec<String> = text.replace(copied, "").lines().map(unnumbered).collect();
    lines.sort_unstable();
    lines
}

fn search_both(staged: &Harness, plain: &Harness, what: &str) {
    for (tool, arguments) in [
        ("glob", json!({"pattern": "**"})),
        ("glob", json!({"pattern": "**/*.rs", "path": "d"})),
        ("glob", json!({"pattern": "*/*"})),
        ("ls", json!({"depth": 5})),
        ("ls", json!({"path": "h"})),
        ("grep", json!({"pattern": "alpha|beta"})),
        ("grep", json!({"pattern": "^(gamma|delta)", "glob": "*.rs", "output_mode": "count"})),
        ("grep", json!({"pattern": "!", "path": "d/e"})),
        ("read", json!({"path": "d/e/f.txt"})),
        ("read", json!({"path": "d"})),
    ] {
        let (one, other) = (staged.call(tool, arguments.clone()).text(), plain.call(tool, arguments.clone()).text());
        assert_eq!(comparable(&one), comparable(&other), "{tool} {arguments} after {what}");
    }
}

fn apply(staged: &Harness) {
    let mut command = program(&staged.path(""));
    command.env("ROOTBOUND_STATE_DIR", staged.outside("state"));
    Outcome::of(command.args(["stage", "apply"])).succeeded();
}

/// The same random calls on a staged root and on a plain copy of it: equal answers, and after `apply` equal trees.
#[test]
fn merged_view_equals_a_plain_copy_after_random_changes() {
    let setup = |staged| Setup {
        staged,
        selection: Selection { groups: vec![Group::Manage], ..Selection::default() },
        settings: Settings { read_before_write: ReadBeforeWrite::Off, ..Settings::default() },
        roots: vec![(None, "root", Access::ReadWrite)],
        ..Setup::default()
    };
    let seed = std::env::var("STAGE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let usual = if cfg!(windows) { 15 } else { 60 };
    let calls = std::env::var("STAGE_CALLS").ok().and_then(|calls| calls.parse().ok()).unwrap_or(usual);
    // Wine needs half a minute for more.
    let trees = if cfg!(windows) { 1 } else { 3 };
    for seed in seed..seed + trees {
        let mut random = Random(seed);
        let (staged, plain) = (setup(true).open(), setup(false).open());
        for name in ["a", "b.rs", "d/b.rs", "d/e/f.txt", "h/i/j.rs", "k.txt"] {
            let content = format!("{} {name}\n", random.pick(WORDS));
            staged.write(name, &content);
            plain.write(name, &content);
        }
        staged.write(".gitignore", "k.txt\n");
        plain.write(".gitignore", "k.txt\n");
        let (mut before, mut times_before) = (tree(&staged.path("")), times(&staged.path("")));
        for number in 0..calls {
            let (tool, arguments) = random_call(&mut random);
            let what = format!("seed {seed}, call {number}: {tool} {arguments}");
            let (one, other) = (staged.call(tool, arguments.clone()).text(), plain.call(tool, arguments).text());
            assert_eq!(comparable(&one), comparable(&other), "{what}");
            search_both(&staged, &plain, &what);
            // The person applies what there is so far, and both go on with new sessions.
            if number == calls / 2 {
                assert_eq!((tree(&staged.path("")), times(&staged.path(""))), (before, times_before), "seed {seed}");
                apply(&staged);
                assert_eq!(tree(&staged.path("")), tree(&plain.path("")), "seed {seed}");
                (before, times_before) = (tree(&staged.path("")), times(&staged.path("")));
                staged.restart();
                plain.restart();
            }
        }
        assert_eq!((tree(&staged.path("")), times(&staged.path(""))), (before, times_before), "seed {seed}");
        staged.restart();
        search_both(&staged, &plain, "a restart");
        apply(&staged);
        assert_eq!(tree(&staged.path("")), tree(&plain.path("")), "seed {seed}");
        let mut command = program(&staged.path(""));
        command.env("ROOTBOUND_STATE_DIR", staged.outside("state"));
        assert_eq!(Outcome::of(command.args(["stage", "diff"])).succeeded().trim_end(), "nothing is staged");
    }
}
