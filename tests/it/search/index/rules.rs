//! Ignore rules that change through another name of their file.

use std::{fs, os::unix::fs::symlink, path::Path};

use serde_json::json;
use tree_search::IndexMode;

use super::{
    comparison::{Comparison, Rules},
    equipped, listed,
};

/// An indexed tree with three kinds of files and a folder for ignore files.
fn comparison() -> Option<Comparison> {
    comparison_by(Rules::Rgs)
}

fn comparison_by(rules: Rules) -> Option<Comparison> {
    let mut comparison = Comparison::new(1, IndexMode::Eager, rules);
    if !equipped(&comparison) {
        return None;
    }
    for folder in ["src/deep", "x"] {
        fs::create_dir_all(comparison.path(folder)).unwrap();
    }
    for file in ["a.rs", "b.log", "src/a.rs", "src/b.log", "src/deep/c.txt", "x/d.txt"] {
        fs::write(comparison.path(file), "some words\n").unwrap();
    }
    fs::write(comparison.path("x/rules"), "").unwrap();
    comparison.settle();
    if !listed(&comparison.report()) {
        return None;
    }
    look(&mut comparison, &["a.rs", "b.log", "src/a.rs", "src/b.log", "src/deep/c.txt", "x/d.txt"]);
    Some(comparison)
}

/// Index and walk agree, and rg if the rules are its own, and find these files.
fn look(comparison: &mut Comparison, expected: &[&str]) {
    let glob = json!({ "pattern": "*.{rs,log,txt}", "sort": "path" });
    comparison.compare("glob", glob.as_object().unwrap());
    let answer = comparison.listed("glob", &glob);
    assert_eq!(answer.source, Some(json!("list")));
    let found: Vec<_> = answer.data["paths"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert_eq!(found, expected);
}

const WITHOUT_LOGS: &[&str] = &["a.rs", "src/a.rs", "src/deep/c.txt", "x/d.txt"];
const WITHOUT_RS: &[&str] = &["b.log", "src/b.log", "src/deep/c.txt", "x/d.txt"];
const ALL: &[&str] = &["a.rs", "b.log", "src/a.rs", "src/b.log", "src/deep/c.txt", "x/d.txt"];

fn put(path: &Path, rules: &str) {
    fs::write(path, rules).unwrap();
}

#[test]
fn ignore_rules_written_through_a_hard_link_count_at_once() {
    for name in [".gitignore", ".ignore"] {
        let Some(mut comparison) = comparison() else { return };
        let (rules, outside) = (comparison.path("x/rules"), comparison.dir.path().join("aside/rules"));
        put(&rules, "*.log\n");
        fs::hard_link(&rules, comparison.path(name)).unwrap();
        look(&mut comparison, WITHOUT_LOGS);
        put(&rules, "*.rs\n");
        look(&mut comparison, WITHOUT_RS);
        // A second name, made later in an unwatched folder.
        fs::hard_link(&rules, &outside).unwrap();
        fs::remove_file(&rules).unwrap();
        put(&outside, "*.log\n");
        look(&mut comparison, WITHOUT_LOGS);
        put(&outside, "*.rs\n");
        look(&mut comparison, WITHOUT_RS);
        // No longer the ignore file.
        fs::remove_file(comparison.path(name)).unwrap();
        look(&mut comparison, ALL);
        put(&outside, "*.log\n");
        look(&mut comparison, ALL);
    }
}

#[test]
fn a_marker_file_ignores_a_folder_only_while_it_exists() {
    let Some(mut comparison) = comparison_by(Rules::Ours) else { return };
    let without_src = &["a.rs", "b.log", "x/d.txt"];
    let (tag, aside) = (comparison.path("src/CACHEDIR.TAG"), comparison.path("src/aside"));
    for _ in 0..2 {
        put(&tag, "Signature: 8a477f597d28d172789f06886806bc55\n");
        look(&mut comparison, without_src);
        // Changes inside are not indexed meanwhile.
        put(&comparison.path("src/deep/new.txt"), "needle\n");
        fs::remove_file(comparison.path("src/deep/new.txt")).unwrap();
        look(&mut comparison, without_src);
        fs::rename(&tag, &aside).unwrap();
        fs::remove_file(&aside).unwrap();
        look(&mut comparison, ALL);
    }
    // Also where the folder was moved meanwhile.
    put(&tag, "");
    look(&mut comparison, without_src);
    fs::rename(comparison.path("src"), comparison.path("y")).unwrap();
    look(&mut comparison, without_src);
    fs::remove_file(comparison.path("y/CACHEDIR.TAG")).unwrap();
    look(&mut comparison, &["a.rs", "b.log", "x/d.txt", "y/a.rs", "y/b.log", "y/deep/c.txt"]);
}

#[test]
fn a_hard_linked_ignore_file_counts_at_all_its_paths() {
    let Some(mut comparison) = comparison() else { return };
    let rules = comparison.path("x/rules");
    put(&rules, "c.txt\nd.txt\n");
    for folder in ["src", "x"] {
        fs::hard_link(&rules, comparison.path(folder).join(".gitignore")).unwrap();
    }
    look(&mut comparison, &["a.rs", "b.log", "src/a.rs", "src/b.log"]);
    put(&comparison.path("src/.gitignore"), "*.log\n");
    look(&mut comparison, &["a.rs", "b.log", "src/a.rs", "src/deep/c.txt", "x/d.txt"]);
    fs::remove_dir_all(comparison.path("src")).unwrap();
    put(&rules, "d.txt\n");
    look(&mut comparison, &["a.rs", "b.log"]);
}

#[test]
fn excludes_of_a_repository_count_however_they_are_changed() {
    let Some(mut comparison) = comparison() else { return };
    let (rules, exclude) = (comparison.path("x/rules"), comparison.path("src/.git/info/exclude"));
    fs::create_dir_all(comparison.path("src/.git/info")).unwrap();
    fs::hard_link(&rules, &exclude).unwrap();
    put(&rules, "a.rs\n");
    look(&mut comparison, &["a.rs", "b.log", "src/b.log", "src/deep/c.txt", "x/d.txt"]);
    fs::remove_file(&exclude).unwrap();
    // Written, and not closed yet.
    put(&exclude, "");
    look(&mut comparison, ALL);
    let mut open = fs::File::options().write(true).open(&exclude).unwrap();
    std::io::Write::write_all(&mut open, b"b.log\n").unwrap();
    look(&mut comparison, &["a.rs", "b.log", "src/a.rs", "src/deep/c.txt", "x/d.txt"]);
    drop(open);
    fs::remove_file(&exclude).unwrap();
    symlink("../../../x/rules", &exclude).unwrap();
    look(&mut comparison, &["a.rs", "b.log", "src/b.log", "src/deep/c.txt", "x/d.txt"]);
    put(&rules, "b.log\n");
    look(&mut comparison, &["a.rs", "b.log", "src/a.rs", "src/deep/c.txt", "x/d.txt"]);
}

#[test]
fn a_linked_ignore_file_and_changes_of_its_links_count() {
    for name in [".gitignore", ".ignore"] {
        let Some(mut comparison) = comparison() else { return };
        let rules = comparison.path("x/rules");
        symlink("x/rules", comparison.path(name)).unwrap();
        look(&mut comparison, ALL);
        put(&rules, "*.log\n");
        look(&mut comparison, WITHOUT_LOGS);
        // Replaced, as editors do.
        put(&comparison.path("x/other"), "*.rs\n");
        fs::rename(comparison.path("x/other"), &rules).unwrap();
        look(&mut comparison, WITHOUT_RS);
        // Another link on the path, to an unindexed folder.
        fs::create_dir_all(comparison.path(".git/store")).unwrap();
        put(&comparison.path(".git/store/rules"), "*.log\n");
        fs::remove_file(&rules).unwrap();
        symlink("../.git/store/rules", &rules).unwrap();
        look(&mut comparison, WITHOUT_LOGS);
        put(&comparison.path(".git/store/rules"), "*.rs\n");
        look(&mut comparison, WITHOUT_RS);
        fs::remove_file(comparison.path(".git/store/rules")).unwrap();
        look(&mut comparison, ALL);
        put(&comparison.path(".git/store/rules"), "*.log\n");
        look(&mut comparison, WITHOUT_LOGS);
    }
}

/// Ignored as before: an ignore file outside of the root does not count (rg reads it).
#[test]
fn an_ignore_file_linked_to_outside_or_to_a_secret_is_not_read() {
    let comparison = Comparison::new(1, IndexMode::Eager, Rules::Ours);
    fs::write(comparison.path("a.rs"), "").unwrap();
    for target in [
        comparison.dir.path().join("aside/rules"),
        comparison.path(".env"),
        comparison.path("nowhere"),
        comparison.path(""),
    ] {
        if target.ends_with("rules") || target.ends_with(".env") {
            fs::write(&target, "*.rs\n").unwrap();
        }
        let _ = fs::remove_file(comparison.path(".gitignore"));
        symlink(&target, comparison.path(".gitignore")).unwrap();
        for _ in 0..2 {
            let answer = comparison.listed("glob", &json!({ "pattern": "*.rs" }));
            assert!(answer.text.contains("a.rs"), "{}: {}", target.display(), answer.text);
            comparison.settle();
        }
    }
}
