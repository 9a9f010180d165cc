//! The walk: order, ignore rules and their precedence, depth, links, and what cannot be read.

use super::*;

const FILES: WalkOptions = WalkOptions { ignored: Ignored::Skip, max_depth: None, directories: false, symlinks: false };

fn walked(workspace: &Workspace, start: &str, options: &WalkOptions) -> (Vec<String>, WalkReport) {
    let mut seen = Vec::new();
    let start = workspace.resolve(start).unwrap();
    let report = workspace
        .walk(&start, options, &mut |entry| {
            seen.push(entry.path().to_string());
            ControlFlow::Continue(())
        })
        .unwrap();
    (seen, report)
}

fn files(workspace: &Workspace, start: &str) -> Vec<String> {
    walked(workspace, start, &FILES).0
}

#[test]
fn entries_come_in_path_order_with_directories_before_their_content() {
    Fixture::both(|fixture| {
        for name in ["b", "a/z", "a/a/x", "a.txt", "a-b", ".hidden", ".git/config"] {
            fixture.file(&format!("ws/{name}"), "");
        }
        fixture.link("a", "ws/link");
        let workspace = fixture.open();
        let all = WalkOptions { directories: true, symlinks: true, ..FILES };
        let (seen, _) = walked(&workspace, ".", &all);
        assert_eq!(seen, [".hidden", "a", "a/a", "a/a/x", "a/z", "a-b", "a.txt", "b", "link"]);
        let (seen, _) = walked(&workspace, ".", &WalkOptions { max_depth: Some(1), ..all.clone() });
        assert_eq!(seen, [".hidden", "a", "a-b", "a.txt", "b", "link"]);
        let mut sorted: Vec<_> = seen.iter().map(|text| workspace.resolve(text).unwrap()).collect();
        sorted.sort();
        assert_eq!(sorted.iter().map(ToString::to_string).collect::<Vec<_>>(), seen);
    });
}

#[test]
fn report_lists_ignored_entries_up_to_a_limit() {
    let fixture = Fixture::new(false);
    fixture.file("ws/.ignore", "*.log\nout/\n");
    for name in ["a/x.log", "b/out/y", "c", "z.log"] {
        fixture.file(&format!("ws/{name}"), "");
    }
    let workspace = fixture.open();
    let (_, report) = walked(&workspace, ".", &FILES);
    let left_out = |report: &WalkReport| -> Option<Vec<_>> {
        Some(report.ignored_entries.all()?.iter().map(|entry| entry.path().to_string()).collect())
    };
    assert_eq!(left_out(&report).unwrap(), ["a/x.log", "b/out", "z.log"]);
    for number in 0..4100 {
        fixture.file(&format!("ws/logs/{number}.log"), "");
    }
    let (_, report) = walked(&workspace, ".", &FILES);
    assert_eq!((left_out(&report), report.ignored_files), (None, 4102));
}

#[test]
fn walk_starts_at_a_file_a_link_or_a_repository() {
    Fixture::both(|fixture| {
        fixture.file("ws/real/sub/x", "1");
        fixture.file("ws/.git/config", "2");
        fixture.link("real", "ws/link");
        fixture.link("../out", "ws/outside");
        let workspace = fixture.open();
        assert_eq!(files(&workspace, "real/sub/x"), ["real/sub/x"]);
        assert_eq!(files(&workspace, "link"), ["link/sub/x"]);
        assert_eq!(files(&workspace, ".git"), [".git/config"]);
        let start = workspace.resolve("outside").unwrap();
        let error = workspace.walk(&start, &FILES, &mut |_| ControlFlow::Continue(())).unwrap_err();
        assert_eq!(error.kind, AccessErrorKind::Denied);
        let start = workspace.resolve("none").unwrap();
        assert!(workspace.walk(&start, &FILES, &mut |_| ControlFlow::Continue(())).is_err());
    });
}

#[test]
fn entries_can_be_opened_after_the_walk() {
    Fixture::both(|fixture| {
        fixture.file("ws/d/x", "1");
        fixture.file("ws/d/.env", "secret");
        fixture.link("d", "ws/link");
        let workspace = fixture.open();
        let mut entries = Vec::new();
        let start = workspace.resolve("link").unwrap();
        let visit = &mut |entry: Entry| {
            assert!(entry.stat().is_ok());
            entries.push(entry);
            ControlFlow::Continue(())
        };
        workspace.walk(&start, &FILES, visit).unwrap();
        let [secret, plain] = entries.as_slice() else { panic!("{entries:?}") };
        assert!(secret.is_secret() && !plain.is_secret());
        assert_eq!(secret.open().unwrap_err().kind, AccessErrorKind::Secret);
        let open = plain.open().unwrap();
        assert_eq!((open.path().to_string(), open.real_path().to_string()), ("link/x".into(), "d/x".into()));
        assert_eq!(plain.stat().unwrap().size, 1);
        // A link in its place is not followed.
        fs::remove_file(fixture.host("ws/d/x")).unwrap();
        fixture.link("../../out/secret.txt", "ws/d/x");
        assert_eq!(plain.open().unwrap_err().kind, AccessErrorKind::Changed);
    });
}

#[test]
fn link_targets_are_shown_only_inside_the_roots() {
    let mut fixture = Fixture::new(false);
    fixture.policy.hide = vec!["hidden".into()];
    fixture.file("ws/hidden", "");
    fixture.link("b", "ws/a");
    fixture.link("../out/secret.txt", "ws/c");
    fixture.link("hidden", "ws/d");
    let workspace = fixture.open();
    let mut targets = Vec::new();
    let visit = &mut |entry: Entry| {
        targets.push((entry.path().to_string(), entry.link_target().map(|path| path.to_string())));
        ControlFlow::Continue(())
    };
    let start = workspace.resolve(".").unwrap();
    workspace.walk(&start, &WalkOptions { symlinks: true, ..FILES }, visit).unwrap();
    assert_eq!(targets, [("a".into(), Some("b".into())), ("c".into(), None), ("d".into(), None)]);
}

#[test]
fn ignore_files_count_at_every_level_without_a_repository() {
    Fixture::both(|fixture| {
        fixture.file("ws/.gitignore", "*.log\n/anchored\nonly/\n\\#hash\n");
        fixture.file("ws/sub/.gitignore", "!keep.log\n*.tmp\n");
        fixture.file("ws/sub/.ignore", "!a.tmp\nby-ignore\n");
        for name in ["a.log", "anchored", "only", "#hash", "sub/anchored", "sub/keep.log", "sub/x.log"] {
            fixture.file(&format!("ws/{name}"), "");
        }
        for name in ["sub/a.tmp", "sub/b.tmp", "sub/by-ignore", "sub/only/x", "sub/deep/c.tmp"] {
            fixture.file(&format!("ws/{name}"), "");
        }
        let workspace = fixture.open();
        let (seen, report) = walked(&workspace, ".", &FILES);
        let left = [".gitignore", "only", "sub/.gitignore", "sub/.ignore", "sub/a.tmp", "sub/anchored", "sub/keep.log"];
        assert_eq!(seen, left);
        assert_eq!((report.ignored_files, report.ignored_dirs), (7, 1));
        // The rules above the start count as well.
        assert_eq!(files(&workspace, "sub"), left[2..]);
        let (only, _) = walked(&workspace, ".", &WalkOptions { ignored: Ignored::Only, ..FILES });
        let (all, _) = walked(&workspace, ".", &WalkOptions { ignored: Ignored::Include, ..FILES });
        assert_eq!(only.len() + left.len(), all.len());
        assert!(only.contains(&"sub/only/x".to_owned()) && only.iter().all(|path| !left.contains(&path.as_str())));
    });
}

#[test]
fn negation_below_an_ignored_directory_does_not_count() {
    let fixture = Fixture::new(false);
    fixture.file("ws/.gitignore", "dir/\n!dir/keep\n");
    fixture.file("ws/dir/keep", "");
    let workspace = fixture.open();
    assert_eq!(files(&workspace, "."), [".gitignore"]);
    // Asked for by name it is searched.
    assert_eq!(files(&workspace, "dir"), ["dir/keep"]);
}

#[test]
fn nested_repository_has_its_exclude_file_but_no_git_rules_from_above() {
    let fixture = Fixture::new(false);
    fixture.file("ws/.gitignore", "*.log\n");
    fixture.file("ws/.ignore", "*.bak\n");
    fixture.file("ws/repo/.git/info/exclude", "*.tmp\n");
    for name in ["a.log", "a.tmp", "a.bak"] {
        fixture.file(&format!("ws/repo/{name}"), "");
    }
    assert_eq!(files(&fixture.open(), "repo"), ["repo/a.log"]);
}

#[test]
fn default_ignores_depend_on_siblings_and_markers() {
    let fixture = Fixture::new(false);
    for name in [
        "node_modules/m/i.js",
        "a/__pycache__/x",
        "x.swp",
        ".DS_Store",
        "rust/Cargo.toml",
        "rust/target/debug/x",
        "target/source",
        "build/source",
        "js/package.json",
        "js/dist/x",
        "py/env/pyvenv.cfg",
        "env/source",
        "tagged/CACHEDIR.TAG",
        "tagged/x",
    ] {
        fixture.file(&format!("ws/{name}"), "");
    }
    let (seen, report) = walked(&fixture.open(), ".", &FILES);
    assert_eq!(seen, ["build/source", "env/source", "js/package.json", "rust/Cargo.toml", "target/source"]);
    assert_eq!((report.ignored_dirs, report.ignored_files), (6, 2));

    let mut without = Fixture::new(false);
    without.ignore = IgnoreRules { no_default: true, extra: vec!["*.min.js".into(), "/top".into()] };
    for name in ["node_modules/x", "a.min.js", "top", "sub/top", ".git/x"] {
        without.file(&format!("ws/{name}"), "");
    }
    assert_eq!(files(&without.open(), "."), ["node_modules/x", "sub/top"]);
}

#[test]
fn negated_rule_keeps_a_default_ignored_name() {
    let fixture = Fixture::new(false);
    fixture.file("ws/.gitignore", "!node_modules\n!tagged/\n");
    fixture.file("ws/node_modules/x", "");
    fixture.file("ws/tagged/CACHEDIR.TAG", "");
    assert_eq!(files(&fixture.open(), "."), [".gitignore", "node_modules/x", "tagged/CACHEDIR.TAG"]);
}

#[test]
fn visitor_can_end_the_walk() {
    let fixture = Fixture::new(false);
    for name in ["a", "b", "c"] {
        fixture.file(&format!("ws/{name}"), "");
    }
    let workspace = fixture.open();
    let mut seen = 0;
    let visit = &mut |_| {
        seen += 1;
        ControlFlow::Break(())
    };
    let report = workspace.walk(&workspace.resolve("").unwrap(), &FILES, visit).unwrap();
    assert!(report.stopped && seen == 1);
}

#[test]
fn reports_add_up_and_name_at_most_five_directories() {
    let workspace = Fixture::new(false).open();
    let path = workspace.resolve("a").unwrap();
    let one = || WalkReport {
        unreadable: vec![path.clone(); 3],
        unreadable_count: 4,
        ignored_files: 2,
        ..WalkReport::default()
    };
    let mut sum = one();
    sum.add(WalkReport { stopped: true, ..one() });
    assert_eq!((sum.unreadable.len(), sum.unreadable_count, sum.ignored_files), (5, 8, 4));
    assert!(sum.stopped);
}

#[test]
fn temporary_files_of_a_killed_process_are_not_walked() {
    let fixture = Fixture::new(false);
    fixture.file("ws/.rootbound-0123456789abcdef.tmp", "half");
    fixture.file("ws/.rootbound-0123456789abcde0.tmp/tree", "half");
    fixture.file("ws/.rootbound-notes.tmp", "a file of a person");
    let all = WalkOptions { ignored: Ignored::Include, directories: true, ..FILES };
    assert_eq!(walked(&fixture.open(), ".", &all).0, [".rootbound-notes.tmp"]);
}

#[test]
fn hidden_names_are_not_walked() {
    let mut fixture = Fixture::new(false);
    fixture.policy.hide = vec!["private/".into()];
    fixture.file("ws/private/x", "");
    fixture.file("ws/y", "");
    let all = WalkOptions { ignored: Ignored::Include, directories: true, ..FILES };
    assert_eq!(walked(&fixture.open(), ".", &all).0, ["y"]);
}

#[test]
fn unreadable_directory_is_counted_and_the_rest_is_walked() {
    use std::os::unix::fs::PermissionsExt as _;
    let fixture = Fixture::new(false);
    fixture.file("ws/a/x", "");
    fixture.file("ws/b", "");
    fs::set_permissions(fixture.host("ws/a"), fs::Permissions::from_mode(0o000)).unwrap();
    let (seen, report) = walked(&fixture.open(), ".", &FILES);
    // Permissions do not bind root.
    if rustix::process::geteuid().is_root() {
        assert_eq!(seen, ["a/x", "b"]);
    } else {
        assert_eq!((seen.as_slice(), report.unreadable_count), (["b".to_owned()].as_slice(), 1));
        assert_eq!(report.unreadable[0].to_string(), "a");
    }
    fs::set_permissions(fixture.host("ws/a"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn deep_tree_is_walked_with_few_descriptors() {
    Fixture::both(|fixture| {
        // Two branches at each level, so that every directory is needed again on the way back.
        const DEEP: usize = 600;
        let workspace = fixture.open();
        let mut dir = Dir::open_ambient(&fixture.host("ws"), false).unwrap();
        for _ in 0..DEEP {
            dir.make_dir("z".as_ref(), false).unwrap();
            dir.make_dir("d".as_ref(), false).unwrap();
            drop(dir.child_dir("z".as_ref(), beneath::OpenFor::Traverse).unwrap().create("f".as_ref(), false).unwrap());
            dir = dir.child_dir("d".as_ref(), beneath::OpenFor::Traverse).unwrap();
        }
        let mut seen = 0;
        let mut most = 0;
        let start = workspace.resolve("").unwrap();
        let visit = &mut |entry: Entry| {
            seen += 1;
            most = most.max(entry.depth());
            assert!(entry.stat().is_ok());
            ControlFlow::Continue(())
        };
        workspace.walk(&start, &FILES, visit).unwrap();
        assert_eq!((seen, most), (DEEP, DEEP + 1));
    });
}

#[test]
fn near_names_are_suggested_but_never_hidden_ones() {
    let mut fixture = Fixture::new(false);
    fixture.policy.hide = vec!["configs.rs".into()];
    for name in ["src/config.rs", "src/configs.rs", "lib/Über.md", "deep/er/only.txt", "README.md"] {
        fixture.file(&format!("ws/{name}"), "");
    }
    let workspace = fixture.open();
    let suggested = |text: &str| -> Vec<String> {
        let missing = workspace.resolve(text).unwrap();
        workspace.suggest(&missing).iter().map(ToString::to_string).collect()
    };
    assert_eq!(suggested("src/confg.rs"), ["src/config.rs"]);
    assert_eq!(suggested("scr/config.rs"), ["src/config.rs"]);
    assert_eq!(suggested("lib/U\u{308}ber.md"), ["lib/Über.md"]);
    assert_eq!(suggested("readme.md"), ["README.md"]);
    assert_eq!(suggested("only.txt"), ["deep/er/only.txt"]);
    assert_eq!(suggested("src/nothing-like-it"), Vec::<String>::new());
}

/// What git writes into the `.git` file of a linked worktree.
const LINKED: &str = "gitdir: /elsewhere/r/.git/worktrees/a\n";

#[test]
fn linked_worktrees_are_counted_and_not_entered_from_above() {
    Fixture::both(|fixture| {
        let places = [
            ("wt1", LINKED, true),
            (".claude/worktrees/b", "gitdir: ../../../.git/worktrees/b\n", true),
            ("deep/er/c", "gitdir: /bare.git/worktrees/c", true),
            ("of-sub", "gitdir: /r/.git/modules/sub/worktrees/a\n", true),
            ("sub", "gitdir: ../.git/modules/sub\n", false),
            ("worktrees", "gitdir: ../.git/modules/worktrees\n", false),
            ("worktrees/x", "gitdir: ../../.git/modules/worktrees/x\n", false),
            ("in-worktree", "gitdir: /r/.git/worktrees/a/modules/sub\n", false),
            ("separate", "gitdir: /elsewhere/r.git\n", false),
            ("plain", "no file of git\n", false),
        ];
        for (place, git, _) in places {
            fixture.file(&format!("ws/{place}/.git"), git);
            fixture.file(&format!("ws/{place}/src/x"), "");
        }
        fixture.file("ws/nested/.git/config", "");
        fixture.file("ws/nested/src/x", "");
        fixture.file("ws/honest", LINKED);
        fixture.file("ws/by-link/src/x", "");
        fixture.link("../honest", "ws/by-link/.git");
        let workspace = fixture.open();
        let entered = || {
            let names = places.iter().filter(|place| !place.2).map(|place| place.0).chain(["nested", "by-link"]);
            let mut names: Vec<_> = names.map(|name| format!("{name}/src/x")).collect();
            names.sort_by(|one, two| Path::new(one).cmp(Path::new(two)));
            names
        };
        let all = WalkOptions { directories: true, ..FILES };
        for ignored in [Ignored::Skip, Ignored::Include] {
            let options = WalkOptions { ignored, ..all.clone() };
            let (seen, report) = walked(&workspace, ".", &options);
            assert_eq!(report.worktrees, 4, "{ignored:?}");
            let seen_files: Vec<_> = seen.iter().filter(|path| path.ends_with("/x")).collect();
            let expected = entered();
            assert_eq!(seen_files.len(), expected.len() + 1, "{seen:?}");
            assert!(expected.iter().all(|file| seen_files.contains(&file)), "{seen:?}");
            // They themselves are seen.
            assert!(
                ["wt1", ".claude/worktrees/b", "deep/er/c", "of-sub"].iter().all(|top| seen.iter().any(|it| it == top))
            );
        }
        let (_, report) = walked(&workspace, ".", &WalkOptions { ignored: Ignored::Only, ..FILES });
        assert_eq!(report.worktrees, 0, "those in ignored directories alone");
        // Nothing below is left out by a walk that does not go there.
        let (_, report) = walked(&workspace, ".", &WalkOptions { max_depth: Some(1), ..all });
        assert_eq!(report.worktrees, 0);
        // What is named itself, or is in one, is searched.
        for (place, _, is_worktree) in places {
            let (seen, report) = walked(&workspace, place, &FILES);
            assert!(seen.contains(&format!("{place}/src/x")), "{place}: {seen:?}");
            assert_eq!(report.worktrees, 0, "{place}");
            assert_eq!(files(&workspace, &format!("{place}/src")), [format!("{place}/src/x")]);
            assert_eq!(workspace.is_linked_worktree(&workspace.resolve(place).unwrap()), is_worktree, "{place}");
        }
        for other in [".", "nested", "by-link", "wt1/src", "honest", "none"] {
            assert!(!workspace.is_linked_worktree(&workspace.resolve(other).unwrap()), "{other}");
        }
    });
}

#[test]
fn worktrees_in_ignored_directories_are_counted_where_those_are_entered() {
    Fixture::both(|fixture| {
        fixture.file("ws/.gitignore", "wt*/\nother/\n");
        for place in ["wt1", "wt2", "other/wt3", "seen"] {
            fixture.file(&format!("ws/{place}/.git"), LINKED);
            fixture.file(&format!("ws/{place}/x"), "");
        }
        // A marker in one leaves it out as an ignored directory.
        fixture.file("ws/cache/.git", LINKED);
        fixture.file("ws/cache/CACHEDIR.TAG", "");
        let workspace = fixture.open();
        let count = |ignored| {
            let (seen, report) = walked(&workspace, ".", &WalkOptions { ignored, ..FILES });
            assert!(!seen.iter().any(|path| path.ends_with("/x")), "{seen:?}");
            (report.worktrees, report.ignored_dirs)
        };
        assert_eq!(count(Ignored::Skip), (1, 4));
        assert_eq!(count(Ignored::Only), (4, 0));
        assert_eq!(count(Ignored::Include), (5, 0));
        assert_eq!(files(&workspace, "wt1"), ["wt1/x"]);
    });
}

#[test]
fn root_that_is_a_worktree_was_named_by_a_person() {
    Fixture::both(|mut fixture| {
        fixture.root(Some("inner"), "ws/wt1", Access::ReadOnly);
        fixture.file("ws/.git/config", "");
        for place in ["ws/wt1", "ws/wt1/wt2", "ws/wt3"] {
            fixture.file(&format!("{place}/.git"), LINKED);
            fixture.file(&format!("{place}/x"), "");
        }
        let workspace = fixture.open();
        let (seen, report) = walked(&workspace, "ws", &FILES);
        assert_eq!((seen, report.worktrees), (vec!["ws/wt1/x".to_owned()], 2));
        let (seen, report) = walked(&workspace, "inner", &FILES);
        assert_eq!((seen, report.worktrees), (vec!["inner/x".to_owned()], 1));
        let is_linked = |path| workspace.is_linked_worktree(&workspace.resolve(path).unwrap());
        assert!(!is_linked("inner") && !is_linked("ws/wt1") && is_linked("ws/wt1/wt2") && is_linked("ws/wt3"));
    });
}

#[test]
fn many_worktrees_and_a_walk_of_one_of_them_from_its_parent() {
    Fixture::both(|fixture| {
        for number in 0..64 {
            fixture.file(&format!("ws/agents/{number}/.git"), LINKED);
            fixture.file(&format!("ws/agents/{number}/x"), "");
        }
        let workspace = fixture.open();
        let (seen, report) = walked(&workspace, ".", &FILES);
        assert_eq!((seen, report.worktrees), (Vec::new(), 64));
        let mut met = Vec::new();
        let one = workspace.resolve("agents/7").unwrap();
        let options = WalkOptions { directories: true, ..FILES };
        let report = workspace.walk_child(&one, &options, &mut |entry| {
            met.push(entry.path().to_string());
            ControlFlow::Continue(())
        });
        assert_eq!((met, report.unwrap().worktrees), (vec!["agents/7".to_owned()], 1));
    });
}
