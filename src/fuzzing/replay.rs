//! Every input in `fuzz/corpus`, through the bodies of the targets, without a fuzzer.

use std::{
    fs,
    panic::{self, AssertUnwindSafe},
    path::Path,
};

use super::{World, edits, frames, paths, patterns};

/// Gives each input of a target's corpus to `check`, on a world of its own.
fn replay(target: &str, check: fn(&World, &[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    if !fuzz.is_dir() {
        // The published package has no corpus.
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let world = World::at(folder.path());
    let mut inputs: Vec<_> = fs::read_dir(fuzz.join("corpus").join(target))
        .expect("a corpus for each target")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    inputs.sort();
    assert!(inputs.len() >= 10, "{target} has {} inputs", inputs.len());
    for input in inputs {
        let bytes = fs::read(&input).expect("an input");
        let held = panic::catch_unwind(AssertUnwindSafe(|| check(&world, &bytes)));
        assert!(held.is_ok(), "{} fails, see above", input.display());
    }
}

#[test]
fn frames_corpus_passes() {
    replay("frames", frames::check);
}

#[test]
fn paths_corpus_passes() {
    replay("paths", paths::check);
}

#[test]
fn patterns_corpus_passes() {
    replay("patterns", patterns::check);
}

#[test]
fn edits_corpus_passes() {
    replay("edits", edits::check);
}
