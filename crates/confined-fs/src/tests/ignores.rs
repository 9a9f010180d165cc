//! Ignore rules beside git: what a walk meets is what `git ls-files` lists. Without git, or with another one, nothing is
//! compared; `PROPTEST_CASES` sets how many random files of rules are.

use std::collections::BTreeSet;
use std::process::Command;

use super::*;

const FILES: WalkOptions = WalkOptions { ignored: Ignored::Skip, max_depth: None, directories: false, symlinks: true };

/// The output of git in `directory`, which no configuration of a person changes; `None` without git.
fn git(directory: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let none = if cfg!(windows) { "NUL" } else { "/dev/null" };
    let mut command = Command::new("git");
    command.current_dir(directory).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", none);
    let output = command.env_remove("GIT_DIR").args(arguments).output().ok()?;
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}

/// The files that are not ignored below `directory`, to git.
fn by_git(directory: &Path) -> Option<BTreeSet<Vec<u8>>> {
    let listed = git(directory, &["ls-files", "-o", "--exclude-standard", "-z"])?;
    Some(listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect())
}

/// The same to a walk without the default ignores.
fn by_walk(workspace: &Workspace) -> BTreeSet<Vec<u8>> {
    let (mut met, start) = (BTreeSet::new(), workspace.root_path(&workspace.roots()[0]));
    let mut visit = |entry: Entry| {
        // The default ignores leave the file of that name out.
        if entry.path().file_name().is_none_or(|name| name != ".git") {
            met.insert(entry.path().relative().as_os_str().as_encoded_bytes().to_vec());
        }
        ControlFlow::Continue(())
    };
    workspace.walk(&start, &FILES, &mut visit).unwrap();
    met
}

/// Parts of patterns, and names that they may match.
const PARTS: &[&str] = &[
    "a",
    "b",
    "ab",
    "c",
    "1",
    "foo",
    "*",
    "*",
    "**",
    "***",
    "?",
    "/",
    "/",
    "/",
    "[ab]",
    "[!a]",
    "[^a]",
    "[a-c]",
    "[b-a]",
    "[[:alpha:]]",
    "[[:digit:]b]",
    "[![:space:]]",
    "[[:bad:]]",
    "[[:alpha]]",
    "[]]",
    "[!]a]",
    "[a\\]]",
    "[\\a-c]",
    "[a/]",
    "[!/]",
    "[+-9]",
    "[-a]",
    "[a-]",
    "[é]",
    "[",
    "]",
    "{",
    "}",
    "{a,b}",
    ",",
    "\\a",
    "\\*",
    "\\ ",
    "\\/",
    "\\",
    "\\\\",
    " ",
    "\t",
    "#",
    "!",
    ".",
    "é",
    "-",
    "\r",
    "\u{a0}",
    "^",
];
const NAMES: &[&str] = &[
    "a", "b", "ab", "ba", "c", "1", "foo", "fooa", "{a,b}", "a{b}", "[a]", "]", "a]", "!a", "#a", "a ", "a\t", " ",
    "é", "aé", "-", "a-", ".a", "a.c", "a,b", "a\\", "*", "a*b", "^", "a\u{a0}", "b\r",
];
const DIRECTORIES: &[&str] = &["", "a", "b", "ab", "foo", "foo/a", "foo/b", "a/b", "a/b/c", "a/foo", "1", ".a", "é"];

/// Pseudo-random numbers (splitmix64), so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % most as u64).unwrap()
    }
}

#[test]
fn random_rules_are_read_as_git_reads_them() {
    let variable = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let cases = variable("PROPTEST_CASES").unwrap_or(40);
    let mut random = Random(variable("SEED").unwrap_or(37));
    let mut fixture = Fixture::new(false);
    fixture.ignore.no_default = true;
    let top = fixture.host("ws");
    if git(&top, &["init", "-q"]).is_none() {
        return;
    }
    let mut rules = Vec::new();
    for case in 0..cases {
        let lines = (0..=random.below(3)).map(|line| {
            let parts: String = (0..=random.below(5)).map(|_| PARTS[random.below(PARTS.len())]).collect();
            // A later line that takes something back.
            if line > 0 && random.below(3) == 0 { format!("!{parts}\n") } else { format!("{parts}\n") }
        });
        let text: String = lines.collect();
        fixture.file(&format!("ws/{case}/.gitignore"), &text);
        for directory in DIRECTORIES {
            for _ in 0..8 {
                let path = top.join(case.to_string()).join(directory).join(NAMES[random.below(NAMES.len())]);
                // A name may be that of a file and of a directory.
                if fs::create_dir_all(path.parent().unwrap()).is_ok() && !path.exists() {
                    fs::write(path, "").unwrap();
                }
            }
        }
        rules.push(text);
    }
    let (git, walk) = (by_git(&top).unwrap(), by_walk(&fixture.open()));
    let wrong = git.symmetric_difference(&walk).map(|path| {
        let text = String::from_utf8_lossy(path).into_owned();
        let case: usize = text.split('/').next().unwrap().parse().unwrap();
        format!("{:?} {text:?}: git {}, walk {}", rules[case], git.contains(path), walk.contains(path))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), git.len(), wrong[..wrong.len().min(30)].join("\n"));
}

/// The workspace of one root, without the default ignores.
fn opened(root: &Path) -> Workspace {
    let spec = RootSpec {
        name: None,
        path: root.to_owned(),
        access: Access::ReadWrite,
        policy: PolicyRules::default(),
        optional: false,
    };
    let mut options = WorkspaceOptions::default();
    options.ignore.no_default = true;
    Workspace::open(&[spec], options).unwrap().workspace
}

fn rules_above(workspace: &Workspace) -> Option<String> {
    workspace.ignore_rules_above(&workspace.roots()[0])
}

#[test]
fn rules_between_the_top_of_the_repository_and_the_root_count() {
    let fixture = Fixture::new(false);
    let top = fixture.host("out/top");
    for name in
        ["a.o", "keep.o", "a.bak", "gen/x", "deep/gen/x", "deep/a.tmp", "a.tmp", "b", "deep/b", "q.txt", "é.log"]
    {
        fixture.file(&format!("out/top/p/root/{name}"), "");
    }
    fixture.file("out/top/.gitignore", "*.o\n/p/root/gen\n/gen\nroot/q.txt\np/**/b\n?.log\n??.log\n");
    fixture.file("out/top/p/.gitignore", "!keep.o\n/root/deep/*.tmp\n!b\n");
    // Above the repository nothing counts.
    fixture.file("out/.gitignore", "*\n");
    // Without a repository neither.
    assert_eq!((by_walk(&opened(&top.join("p/root"))).len(), rules_above(&opened(&top.join("p/root")))), (11, None));
    if git(&top, &["init", "-q"]).is_none() {
        return;
    }
    fixture.file("out/top/.git/info/exclude", "*.bak\n!*.tmp\n");
    for root in ["p/root", "p", "", "p/root/deep"] {
        assert_eq!(by_walk(&opened(&top.join(root))), by_git(&top.join(root)).unwrap(), "{root:?}");
    }
    let files =
        ["top/.git/info/exclude", "top/.gitignore", "top/p/.gitignore"].map(|file| fixture.host("out").join(file));
    let listed = files.map(|file| file.display().to_string()).join(", ");
    assert_eq!(rules_above(&opened(&top.join("p/root"))), Some(format!("ignore rules from above: {listed}")));

    // A root that a person has named is not empty because it is ignored.
    fixture.file("out/top/.gitignore", "*.o\np/ro*\n");
    let ignored = opened(&top.join("p/root"));
    assert_eq!(by_walk(&ignored).len(), 11);
    assert_eq!(rules_above(&ignored), Some(format!("left out, as they ignore all of it: {listed}")));

    // Regular files alone, and no repository of somebody else.
    fixture.file("out/rules", "*\n");
    fs::remove_file(top.join(".gitignore")).unwrap();
    fixture.link("../rules", "out/top/.gitignore");
    assert!(!rules_above(&opened(&top.join("p/root"))).unwrap().contains("top/.gitignore"));
    if std::os::unix::fs::chown(top.join(".git"), Some(12345), None).is_ok() {
        assert_eq!(rules_above(&opened(&top.join("p/root"))), None);
    }
}

#[test]
fn exclude_file_of_a_submodule_and_of_a_worktree_count_where_they_are_named_back() {
    let fixture = Fixture::new(false);
    let (main, worktree) = (fixture.host("ws"), fixture.host("out/worktree"));
    if git(&main, &["init", "-q"]).is_none() {
        return;
    }
    fs::create_dir(main.join(".git/modules")).unwrap();
    git(&main, &["init", "-q", "--separate-git-dir", ".git/modules/sub", "sub"]).unwrap();
    let sub = main.join("sub");
    git(&sub, &["config", "core.worktree", "../../../sub"]).unwrap();
    git(&main, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"]).unwrap();
    git(&main, &["worktree", "add", "-q", worktree.to_str().unwrap()]).unwrap();
    fixture.file("ws/.git/info/exclude", "*.main\n");
    fixture.file("ws/.git/modules/sub/info/exclude", "*.sub\n");
    for name in ["a.main", "a.sub", "below/a.main", "below/a.sub"] {
        fixture.file(&format!("ws/sub/{name}"), "");
        fixture.file(&format!("out/worktree/{name}"), "");
    }
    for root in [&sub, &sub.join("below"), &worktree, &worktree.join("below")] {
        assert_eq!(by_walk(&opened(root)), by_git(root).unwrap(), "{}", root.display());
    }
    // Seen from above it is read in the root, and what is kept of it is compared.
    let whole = opened(&main);
    let listed = |workspace: &Workspace| by_walk(workspace).iter().filter(|name| name.ends_with(b".sub")).count();
    assert_eq!(listed(&whole), 0);
    let listing = whole.list_tree(&whole.root_path(&whole.roots()[0])).unwrap();
    let outdated = |whole: &Workspace| {
        whole.verify_listing(&whole.root_path(&whole.roots()[0]), &listing, &mut |_| {}).outdated == usize::MAX
    };
    assert!(!outdated(&whole));
    fixture.file("ws/.git/modules/sub/info/exclude", "*.other\n");
    assert!(listed(&whole) == 2 && outdated(&whole));

    // A `.git` file can name any repository; one that names another checkout says nothing.
    fixture.file("ws/.git/modules/sub/info/exclude", "*\n");
    assert_eq!(by_walk(&opened(&sub)).len(), 0);
    git(&sub, &["config", "core.worktree", "../../../other"]).unwrap();
    assert_eq!((by_walk(&opened(&sub)).len(), listed(&opened(&main))), (4, 2));
    fs::copy(worktree.join(".git"), fixture.host("out/.git")).unwrap();
    fixture.file("out/a.main", "");
    assert!(by_walk(&opened(&fixture.host("out"))).contains("a.main".as_bytes()));
}
