//! Every input in `fuzz/corpus`, through the bodies of the fuzz targets, without a fuzzer; and inputs made for them.

use std::{
    fs,
    panic::{self, AssertUnwindSafe},
    path::Path,
};

use proptest::prelude::*;
use text_edit::DiffExtent;

#[expect(unreachable_pub, reason = "a library, for the targets in fuzz/")]
#[path = "../../../fuzz/src/lib.rs"]
mod bodies;

use bodies::{World, edits, frames, paths, patterns};

/// Gives `test` a world that is gone afterwards.
fn in_a_world(test: impl FnOnce(&World)) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    test(&World::at(folder.path()));
}

/// Gives each input of a target's corpus to `check`.
fn replay(target: &str, check: fn(&World, &[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut inputs: Vec<_> =
        fs::read_dir(corpus).expect("a corpus for each target").map(|entry| entry.expect("an entry").path()).collect();
    inputs.sort();
    assert!(inputs.len() >= 10, "{target} has {} inputs", inputs.len());
    in_a_world(|world| {
        for input in inputs {
            let bytes = fs::read(&input).expect("an input");
            let held = panic::catch_unwind(AssertUnwindSafe(|| check(world, &bytes)));
            assert!(held.is_ok(), "{} fails, see above", input.display());
        }
    });
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

/// Every name that leads somewhere in the tree, by itself or over a link, and one that does not.
const NAMES: &[&str] = &[
    "..", "a", "abs", "around", "b", "back", "f", "far", "g", "gone", "home", "in", "l", "loop", "nil", "one", "other",
    "out", "top", "two", "up", "z",
];

#[test]
fn every_path_of_two_names_leads_where_the_oracle_says_by_both_ways_of_opening() {
    in_a_world(|world| {
        for one in NAMES {
            paths::check(world, one.as_bytes());
            for two in NAMES {
                paths::check(world, format!("{one}/{two}").as_bytes());
            }
        }
    });
}

#[test]
fn longer_paths_lead_where_the_oracle_says_by_both_ways_of_opening() {
    let names = proptest::collection::vec(proptest::sample::select(NAMES), 3..9);
    let separators = proptest::collection::vec(proptest::sample::select(&["/", "/", "/", "//", "/./"]), 9);
    let begin =
        proptest::sample::select(&["", "", "", "./", "@", "/", "~/", "ws/", "inner/", "/mnt/data/", "{world}/"]);
    in_a_world(|world| {
        proptest!(|(names in names, separators in separators, begin in begin)| {
            let path: String = names.iter().zip(&separators).flat_map(|(name, separator)| [*name, *separator]).collect();
            paths::check(world, format!("{begin}{path}").as_bytes());
        });
    });
}

proptest! {
    #[test]
    fn the_old_text_patched_is_the_new_one(old in "([ab\r]?\n|[cd]){0,30}", new in "([ab\r]?\n|[cd]){0,30}") {
        let diff = text_edit::unified_diff("f", &old, &new, DiffExtent::Full);
        prop_assert_eq!(edits::patched(&old, &diff.text), new);
    }
}
