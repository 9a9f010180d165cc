//! Writes by Linux AIO, which cause no event until the file is closed.

use std::{
    fs,
    time::{Duration, SystemTime},
};

use serde_json::json;
use tree_search::IndexMode;

use super::{
    comparison::{Comparison, Rules},
    equipped, old_file, settled,
};

fn finds(comparison: &Comparison, word: &str) -> bool {
    let answer = comparison.listed("grep", &json!({ "pattern": word }));
    assert_eq!(answer.source, Some(json!("list")));
    !answer.text.starts_with("No matches found")
}

/// An indexed tree with one file in the filter; `None` without AIO.
fn comparison() -> Option<Comparison> {
    let mut comparison = Comparison::new(1, IndexMode::Eager, Rules::Ours);
    if !equipped(&comparison) {
        return None;
    }
    if !comparison.mapper.begin_aio() {
        eprintln!("SKIPPED: this kernel has no Linux AIO");
        return None;
    }
    assert!(comparison.mapper.end_aio());
    old_file(&comparison, "open.txt", &"nothing of interest here\n".repeat(50));
    settled(&comparison, "1 in the filter").then_some(comparison)
}

#[test]
fn a_write_by_aio_into_an_open_file_is_noticed_at_once() {
    let Some(mut comparison) = comparison() else { return };
    let file = comparison.path("open.txt");
    assert!(comparison.mapper.begin_aio() && comparison.mapper.open(&file));
    assert!(!finds(&comparison, "first_needle"));
    for (at, word) in [(7, "first_needle"), (40, "second_needle")] {
        assert!(comparison.mapper.write_by_aio(at, word));
        assert!(finds(&comparison, word), "{word}");
        // The filter has seen the file meanwhile.
        comparison.settle();
    }
    // The context is gone and the file still open.
    assert!(comparison.mapper.write_by_aio(80, "third_needle") && comparison.mapper.end_aio());
    assert!(finds(&comparison, "third_needle"));
    assert!(comparison.mapper.close());
    comparison.compare("grep", json!({ "pattern": "needle" }).as_object().unwrap());
}

#[test]
fn times_and_ignore_rules_written_by_aio_are_noticed_at_once() {
    let Some(mut comparison) = comparison() else { return };
    old_file(&comparison, "newer.txt", "nothing\n");
    let file = fs::File::options().write(true).open(comparison.path("newer.txt")).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(1800)).unwrap();
    drop(file);
    let glob = json!({ "pattern": "*.txt", "sort": "modified" });
    comparison.compare("glob", glob.as_object().unwrap());
    assert!(comparison.mapper.begin_aio() && comparison.mapper.open(&comparison.path("open.txt")));
    assert!(comparison.mapper.write_by_aio(0, "x"));
    comparison.compare("glob", glob.as_object().unwrap());
    assert!(comparison.mapper.close());

    fs::write(comparison.path(".gitignore"), "# nothing yet\n").unwrap();
    comparison.compare("glob", glob.as_object().unwrap());
    assert!(
        comparison.mapper.open(&comparison.path(".gitignore")) && comparison.mapper.write_by_aio(0, "newer.txt\n#")
    );
    comparison.compare("glob", glob.as_object().unwrap());
    assert!(!comparison.listed("glob", &glob).text.contains("newer"));
    assert!(comparison.mapper.end_aio() && comparison.mapper.close());
}
