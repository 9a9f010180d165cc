//! A repository with five linked worktrees, a submodule, one that is called `worktrees`, an independent repository and a
//! bare one: every answer is that of a walk, whether names come from memory, from what was stored, or from the disk, and
//! that of `rg` with the worktrees left out.

use std::{fs, thread, time::SystemTime};

use serde_json::json;
use tree_search::IndexMode;

use super::{
    comparison::{Comparison, Rules},
    equipped, listed, number,
    searchers::End,
    stored::REST,
};

const QUERIES: usize = 200;
/// Beside, below and in ignored directories, and in the directories that queries name.
const WORKTREES: [&str; 5] = ["wt1", "lib/wt2", ".claude/worktrees/agent-a", "build/wt4", "src/deep/wt5"];
const OTHERS: [(&str, &str); 3] = [
    ("sub", "gitdir: ../.git/modules/sub\n"),
    ("worktrees", "gitdir: ../.git/modules/worktrees\n"),
    ("lib/in-worktree", "gitdir: /r/.git/worktrees/x/modules/y\n"),
];
/// In the same number of bytes.
const SUBMODULE: &str = "gitdir: /r/.git/modules/abc\n";
const LINKED: &str = "gitdir: /r/.git/worktrees/x\n";

fn team(comparison: &mut Comparison) {
    for _ in 0..60 {
        let file = comparison.file();
        comparison.write(&file);
    }
    let checkouts = WORKTREES.iter().chain(OTHERS.iter().map(|(place, _)| place)).chain(&["nested", "bare.git"]);
    for place in checkouts {
        for name in ["src/a.rs", "lib/b.rs", "Makefile", "g.md", "build/h.log"] {
            let path = comparison.path(&format!("{place}/{name}"));
            comparison.write(&path);
        }
    }
    for (place, git) in WORKTREES.iter().map(|place| (place, &LINKED)).chain(OTHERS.iter().map(|(one, two)| (one, two)))
    {
        fs::write(comparison.path(&format!("{place}/.git")), git).unwrap();
    }
    for place in [".git", "nested/.git", "bare.git"] {
        for folder in ["objects", "refs", "info"] {
            fs::create_dir_all(comparison.path(&format!("{place}/{folder}"))).unwrap();
        }
        fs::write(comparison.path(&format!("{place}/HEAD")), "ref: refs/heads/main\n").unwrap();
    }
    fs::write(comparison.path(".gitignore"), "build/\n*.log\n").unwrap();
    fs::write(comparison.path(".git/info/exclude"), "docs/\n").unwrap();
}

/// All queries of the worktrees themselves, and what is above them.
fn ask_for_each(comparison: &mut Comparison) {
    for place in WORKTREES.iter().chain(&["", "lib", "build", ".claude", "src/deep"]) {
        for no_ignore in [false, true] {
            let path = if place.is_empty() { "." } else { *place };
            for (tool, mode) in [("grep", "files_with_matches"), ("grep", "count"), ("glob", "")] {
                let mut arguments = json!({"pattern": "a", "path": path, "no_ignore": no_ignore, "sort": "path"});
                if tool == "grep" {
                    arguments["output_mode"] = json!(mode);
                } else {
                    arguments["pattern"] = json!("**/*");
                }
                comparison.compare(tool, arguments.as_object().unwrap());
            }
            let arguments = json!({"path": path, "depth": 4, "long": no_ignore});
            comparison.compare("ls", arguments.as_object().unwrap());
        }
    }
}

/// Rewrites a `.git` file in place, with the time that it had.
fn rewrite(comparison: &Comparison, place: &str, content: &str) {
    let git = comparison.path(&format!("{place}/.git"));
    let before = fs::metadata(&git).and_then(|meta| meta.modified()).unwrap_or(SystemTime::now());
    fs::write(&git, content).unwrap();
    fs::File::options().write(true).open(&git).unwrap().set_modified(before).unwrap();
}

/// Worktrees come, go, and turn into submodules and back; some queries after each.
fn change(comparison: &mut Comparison) {
    let steps: [fn(&Comparison); 10] = [
        |at| rewrite(at, "wt1", SUBMODULE),
        |at| rewrite(at, "sub", LINKED),
        |at| rewrite(at, "wt1", LINKED),
        // By default that is an ignored directory, then.
        |at| fs::write(at.path("wt1/CACHEDIR.TAG"), "").unwrap(),
        |at| fs::remove_file(at.path("wt1/CACHEDIR.TAG")).unwrap(),
        |at| fs::remove_file(at.path("lib/wt2/.git")).unwrap(),
        |at| rewrite(at, "lib/wt2", LINKED),
        |at| fs::rename(at.path("src/deep/wt5"), at.path("moved")).unwrap(),
        |at| fs::remove_dir_all(at.path(".claude/worktrees/agent-a")).unwrap(),
        |at| {
            // As `git worktree add` does: the directory, then `.git`, then the files.
            fs::create_dir_all(at.path(".claude/worktrees/agent-b")).unwrap();
            rewrite(at, ".claude/worktrees/agent-b", LINKED);
            fs::write(at.path(".claude/worktrees/agent-b/a.rs"), "needle a kernel\n").unwrap();
        },
    ];
    for (number, step) in steps.into_iter().enumerate() {
        step(comparison);
        comparison.log.push(format!("step {number}"));
        for include_dirs in [true, false] {
            let all = json!({"pattern": "**/*", "sort": "path", "include_dirs": include_dirs});
            comparison.compare("glob", all.as_object().unwrap());
        }
        comparison.query();
        comparison.query();
    }
}

#[test]
fn worktrees_are_left_out_with_and_without_an_index() {
    let mut comparison = Comparison::new(number("EXACT_SEED").unwrap_or(0x5EED_2001), IndexMode::Eager, Rules::Rgs);
    if !equipped(&comparison) {
        return;
    }
    team(&mut comparison);
    comparison.settle();
    if !listed(&comparison.report()) {
        return;
    }
    let all = json!({"pattern": "nobody wrote this"});
    let text = comparison.listed("grep", &all).text;
    assert!(text.starts_with("No matches found\n(5 worktrees below not searched; pass one as path)"), "{text}");
    for _ in 0..QUERIES {
        comparison.query();
    }
    let (queries, with_rg) = (comparison.tally.asked(), comparison.tally.with_rg);
    assert!(comparison.tally.listed * 2 > queries && with_rg * 4 > queries, "{}", comparison.tally);
    ask_for_each(&mut comparison);
    change(&mut comparison);
    ask_for_each_changed(&mut comparison);
}

/// After [`change`], with what was noticed since.
fn ask_for_each_changed(comparison: &mut Comparison) {
    comparison.settle();
    for place in [".", "wt1", "lib", "moved", ".claude", ".claude/worktrees/agent-b", "sub"] {
        let arguments = json!({"pattern": "a", "path": place, "output_mode": "count"});
        comparison.compare("grep", arguments.as_object().unwrap());
    }
}

#[test]
fn default_rules_about_ignored_directories_go_before() {
    let mut comparison = Comparison::new(0x5EED_2001, IndexMode::Eager, Rules::Ours);
    team(&mut comparison);
    comparison.settle();
    if listed(&comparison.report()) {
        change(&mut comparison);
        ask_for_each_changed(&mut comparison);
    }
}

#[test]
fn worktrees_are_left_out_by_what_was_stored() {
    let mut comparison = Comparison::of_processes(number("EXACT_SEED").unwrap_or(0x5EED_2003), Rules::Rgs);
    if !equipped(&comparison) {
        return;
    }
    team(&mut comparison);
    thread::sleep(REST);
    comparison.processes().build(None);
    for index in ["auto", "eager"] {
        comparison.processes().start(index);
        for _ in 0..QUERIES / 2 {
            comparison.query();
        }
        comparison.processes().end(End::Input);
    }
    comparison.processes().start("auto");
    ask_for_each(&mut comparison);
    comparison.processes().end(End::Input);
    if cfg!(target_os = "linux") {
        assert!(comparison.processes().answered.get() > 0, "no file was ever answered for by the stored index");
    }
    // What was stored is of another tree now.
    thread::sleep(REST);
    comparison.processes().build(None);
    rewrite(&comparison, "sub", LINKED);
    rewrite(&comparison, "wt1", SUBMODULE);
    comparison.processes().start("auto");
    ask_for_each(&mut comparison);
    comparison.processes().end(End::Input);
    change(&mut comparison);
    comparison.processes().start("auto");
    ask_for_each_changed(&mut comparison);
    comparison.processes().end(End::Input);
}
