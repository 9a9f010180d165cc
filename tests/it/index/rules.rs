//! Ignore rules that change through another name than the one they count by.

use std::{fs, os::unix::fs::symlink, path::Path};

use rootbound::search::IndexMode;
use serde_json::json;

use super::{
    equipped,
    game::{Game, Rules},
    listed,
};

/// A listed tree with three kinds of files and a folder for rules.
fn game() -> Option<Game> {
    game_by(Rules::Rgs)
}

fn game_by(rules: Rules) -> Option<Game> {
    let mut game = Game::new(1, IndexMode::Eager, rules);
    if !equipped(&game) {
        return None;
    }
    for folder in ["src/deep", "x"] {
        fs::create_dir_all(game.path(folder)).unwrap();
    }
    for file in ["a.rs", "b.log", "src/a.rs", "src/b.log", "src/deep/c.txt", "x/d.txt"] {
        fs::write(game.path(file), "some words\n").unwrap();
    }
    fs::write(game.path("x/rules"), "").unwrap();
    game.settle();
    if !listed(&game.report()) {
        return None;
    }
    look(&mut game, &["a.rs", "b.log", "src/a.rs", "src/b.log", "src/deep/c.txt", "x/d.txt"]);
    Some(game)
}

/// The list and a walk agree, and rg where the rules are its own, and find these of the files.
fn look(game: &mut Game, expected: &[&str]) {
    let glob = json!({ "pattern": "*.{rs,log,txt}", "sort": "path" });
    game.compare("glob", glob.as_object().unwrap());
    let answer = game.listed("glob", &glob);
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
fn rules_that_are_written_through_a_hard_link_count_at_once() {
    for name in [".gitignore", ".ignore"] {
        let Some(mut game) = game() else { return };
        let (rules, outside) = (game.path("x/rules"), game.dir.path().join("aside/rules"));
        put(&rules, "*.log\n");
        fs::hard_link(&rules, game.path(name)).unwrap();
        look(&mut game, WITHOUT_LOGS);
        put(&rules, "*.rs\n");
        look(&mut game, WITHOUT_RS);
        // A name that it is given later, where nothing is watched.
        fs::hard_link(&rules, &outside).unwrap();
        fs::remove_file(&rules).unwrap();
        put(&outside, "*.log\n");
        look(&mut game, WITHOUT_LOGS);
        put(&outside, "*.rs\n");
        look(&mut game, WITHOUT_RS);
        // No longer the file of rules.
        fs::remove_file(game.path(name)).unwrap();
        look(&mut game, ALL);
        put(&outside, "*.log\n");
        look(&mut game, ALL);
    }
}

#[test]
fn a_mark_that_makes_a_listed_folder_an_ignored_one_counts_no_longer_than_it_is_there() {
    let Some(mut game) = game_by(Rules::Ours) else { return };
    let without_src = &["a.rs", "b.log", "x/d.txt"];
    let (tag, aside) = (game.path("src/CACHEDIR.TAG"), game.path("src/aside"));
    for _ in 0..2 {
        put(&tag, "Signature: 8a477f597d28d172789f06886806bc55\n");
        look(&mut game, without_src);
        // What happens in it meanwhile is nothing to a list.
        put(&game.path("src/deep/new.txt"), "needle\n");
        fs::remove_file(game.path("src/deep/new.txt")).unwrap();
        look(&mut game, without_src);
        fs::rename(&tag, &aside).unwrap();
        fs::remove_file(&aside).unwrap();
        look(&mut game, ALL);
    }
    // Also where the folder was moved meanwhile.
    put(&tag, "");
    look(&mut game, without_src);
    fs::rename(game.path("src"), game.path("y")).unwrap();
    look(&mut game, without_src);
    fs::remove_file(game.path("y/CACHEDIR.TAG")).unwrap();
    look(&mut game, &["a.rs", "b.log", "x/d.txt", "y/a.rs", "y/b.log", "y/deep/c.txt"]);
}

#[test]
fn one_file_of_rules_in_several_places_counts_in_all_of_them() {
    let Some(mut game) = game() else { return };
    let rules = game.path("x/rules");
    put(&rules, "c.txt\nd.txt\n");
    for folder in ["src", "x"] {
        fs::hard_link(&rules, game.path(folder).join(".gitignore")).unwrap();
    }
    look(&mut game, &["a.rs", "b.log", "src/a.rs", "src/b.log"]);
    put(&game.path("src/.gitignore"), "*.log\n");
    look(&mut game, &["a.rs", "b.log", "src/a.rs", "src/deep/c.txt", "x/d.txt"]);
    fs::remove_dir_all(game.path("src")).unwrap();
    put(&rules, "d.txt\n");
    look(&mut game, &["a.rs", "b.log"]);
}

#[test]
fn excludes_of_a_repository_count_however_they_are_written() {
    let Some(mut game) = game() else { return };
    let (rules, exclude) = (game.path("x/rules"), game.path("src/.git/info/exclude"));
    fs::create_dir_all(game.path("src/.git/info")).unwrap();
    fs::hard_link(&rules, &exclude).unwrap();
    put(&rules, "a.rs\n");
    look(&mut game, &["a.rs", "b.log", "src/b.log", "src/deep/c.txt", "x/d.txt"]);
    fs::remove_file(&exclude).unwrap();
    // Written, and not closed yet.
    put(&exclude, "");
    look(&mut game, ALL);
    let mut open = fs::File::options().write(true).open(&exclude).unwrap();
    std::io::Write::write_all(&mut open, b"b.log\n").unwrap();
    look(&mut game, &["a.rs", "b.log", "src/a.rs", "src/deep/c.txt", "x/d.txt"]);
    drop(open);
    fs::remove_file(&exclude).unwrap();
    symlink("../../../x/rules", &exclude).unwrap();
    look(&mut game, &["a.rs", "b.log", "src/b.log", "src/deep/c.txt", "x/d.txt"]);
    put(&rules, "b.log\n");
    look(&mut game, &["a.rs", "b.log", "src/a.rs", "src/deep/c.txt", "x/d.txt"]);
}

#[test]
fn a_linked_file_of_rules_counts_and_so_does_each_change_on_the_way_to_it() {
    for name in [".gitignore", ".ignore"] {
        let Some(mut game) = game() else { return };
        let rules = game.path("x/rules");
        symlink("x/rules", game.path(name)).unwrap();
        look(&mut game, ALL);
        put(&rules, "*.log\n");
        look(&mut game, WITHOUT_LOGS);
        // Replaced, as editors do.
        put(&game.path("x/other"), "*.rs\n");
        fs::rename(game.path("x/other"), &rules).unwrap();
        look(&mut game, WITHOUT_RS);
        // Another link on the way, to where nothing is listed.
        fs::create_dir_all(game.path(".git/store")).unwrap();
        put(&game.path(".git/store/rules"), "*.log\n");
        fs::remove_file(&rules).unwrap();
        symlink("../.git/store/rules", &rules).unwrap();
        look(&mut game, WITHOUT_LOGS);
        put(&game.path(".git/store/rules"), "*.rs\n");
        look(&mut game, WITHOUT_RS);
        fs::remove_file(game.path(".git/store/rules")).unwrap();
        look(&mut game, ALL);
        put(&game.path(".git/store/rules"), "*.log\n");
        look(&mut game, WITHOUT_LOGS);
    }
}

/// Ignored as before: what a link says outside is none of this tree's matter (rg reads it).
#[test]
fn a_file_of_rules_behind_a_link_that_leaves_the_root_or_leads_to_a_secret_does_not_count() {
    let game = Game::new(1, IndexMode::Eager, Rules::Ours);
    fs::write(game.path("a.rs"), "").unwrap();
    for target in [game.dir.path().join("aside/rules"), game.path(".env"), game.path("nowhere"), game.path("")] {
        if target.ends_with("rules") || target.ends_with(".env") {
            fs::write(&target, "*.rs\n").unwrap();
        }
        let _ = fs::remove_file(game.path(".gitignore"));
        symlink(&target, game.path(".gitignore")).unwrap();
        for _ in 0..2 {
            let answer = game.listed("glob", &json!({ "pattern": "*.rs" }));
            assert!(answer.text.contains("a.rs"), "{}: {}", target.display(), answer.text);
            game.settle();
        }
    }
}
