//! Files that a program changes through a mapping while an index is stored: their times stay as they are, as long as a
//! page is not written back.

use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, SystemTime},
};

use serde_json::json;

use super::epoch::REST;
use crate::search::index::{
    comparison::{Comparison, Rules},
    equipped,
    mapping::Mapper,
    searchers::End,
};

/// A file that is mapped and was written to, beside one at rest. `None` without what that needs.
fn mapped() -> Option<(Comparison, Mapper)> {
    let comparison = Comparison::of_processes(1, Rules::Ours);
    let mut mapper = Mapper::start();
    if !equipped(&comparison) {
        return None;
    }
    fs::write(comparison.path("still.txt"), "nothing of interest\n".repeat(400)).unwrap();
    fs::write(comparison.path("mapped.txt"), "nothing of interest\n".repeat(400)).unwrap();
    assert!(mapper.hold(&comparison.path("mapped.txt")) && mapper.poke(0, "dirty"));
    thread::sleep(REST);
    Some((comparison, mapper))
}

/// A process that starts now finds what was written after the index was stored.
fn finds(mut comparison: Comparison, mapper: &mut Mapper) {
    assert!(mapper.poke(40, "needle"));
    let arguments = json!({ "pattern": "needle", "literal": true });
    comparison.processes().start("auto");
    comparison.compare("grep", arguments.as_object().unwrap());
    comparison.processes().end(End::Input);
    let is_used = comparison.processes().answered.get() > 0;
    assert!(is_used || !cfg!(target_os = "linux"), "the file at rest was not answered for by the stored index");
}

#[test]
fn page_that_was_dirty_before_the_index_was_stored() {
    let Some((comparison, mut mapper)) = mapped() else { return };
    comparison.processes().build(None);
    finds(comparison, &mut mapper);
}

#[test]
fn page_that_is_written_to_all_the_while() {
    let Some((comparison, mut mapper)) = mapped() else { return };
    let is_stored = AtomicBool::new(false);
    let file = comparison.path("mapped.txt");
    thread::scope(|threads| {
        threads.spawn(|| {
            // Its modification time is set back, so that it is read as one that was left alone; its change time is of now.
            let file = fs::File::options().write(true).open(file).unwrap();
            let then = SystemTime::now() - Duration::from_secs(3600);
            while !is_stored.load(Ordering::Relaxed) {
                assert!(mapper.poke(0, "dirty"));
                if file.metadata().unwrap().modified().unwrap() > then + REST {
                    file.set_modified(then).unwrap();
                }
            }
        });
        comparison.processes().build(None);
        is_stored.store(true, Ordering::Relaxed);
    });
    finds(comparison, &mut mapper);
}
