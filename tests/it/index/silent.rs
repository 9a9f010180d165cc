//! Writes by Linux AIO, which no event tells of until the file is closed.

use std::{
    fs,
    time::{Duration, SystemTime},
};

use rootbound::search::IndexMode;
use serde_json::json;

use super::{
    equipped,
    game::{Game, Rules},
    old_file, settled,
};

fn finds(game: &Game, word: &str) -> bool {
    let answer = game.listed("grep", &json!({ "pattern": word }));
    assert_eq!(answer.source, Some(json!("list")));
    !answer.text.starts_with("No matches found")
}

/// A listed tree with one file in the filter; none where there is no AIO.
fn game() -> Option<Game> {
    let mut game = Game::new(1, IndexMode::Eager, Rules::Ours);
    if !equipped(&game) {
        return None;
    }
    if !game.mapper.begin_aio() {
        eprintln!("SKIPPED: this kernel has no Linux AIO");
        return None;
    }
    assert!(game.mapper.end_aio());
    old_file(&game, "open.txt", &"nothing of interest here\n".repeat(50));
    settled(&game, "1 in the filter").then_some(game)
}

#[test]
fn a_write_by_aio_into_an_open_file_is_seen_at_once() {
    let Some(mut game) = game() else { return };
    let file = game.path("open.txt");
    assert!(game.mapper.begin_aio() && game.mapper.open(&file));
    assert!(!finds(&game, "first_needle"));
    for (at, word) in [(7, "first_needle"), (40, "second_needle")] {
        assert!(game.mapper.write_by_aio(at, word));
        assert!(finds(&game, word), "{word}");
        // The filter has seen the file meanwhile.
        game.settle();
    }
    // The context is gone and the file still open.
    assert!(game.mapper.write_by_aio(80, "third_needle") && game.mapper.end_aio());
    assert!(finds(&game, "third_needle"));
    assert!(game.mapper.close());
    game.compare("grep", json!({ "pattern": "needle" }).as_object().unwrap());
}

#[test]
fn times_and_rules_that_aio_writes_are_seen_at_once() {
    let Some(mut game) = game() else { return };
    old_file(&game, "newer.txt", "nothing\n");
    let file = fs::File::options().write(true).open(game.path("newer.txt")).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(1800)).unwrap();
    drop(file);
    let glob = json!({ "pattern": "*.txt", "sort": "modified" });
    game.compare("glob", glob.as_object().unwrap());
    assert!(game.mapper.begin_aio() && game.mapper.open(&game.path("open.txt")));
    assert!(game.mapper.write_by_aio(0, "x"));
    game.compare("glob", glob.as_object().unwrap());
    assert!(game.mapper.close());

    fs::write(game.path(".gitignore"), "# nothing yet\n").unwrap();
    game.compare("glob", glob.as_object().unwrap());
    assert!(game.mapper.open(&game.path(".gitignore")) && game.mapper.write_by_aio(0, "newer.txt\n#"));
    game.compare("glob", glob.as_object().unwrap());
    assert!(!game.listed("glob", &glob).text.contains("newer"));
    assert!(game.mapper.end_aio() && game.mapper.close());
}
