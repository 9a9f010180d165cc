//! Processes that find what others stored: whatever became of the tree, of those processes and of the stored index, the
//! answers are those of a process without an index, and of `rg`.
//!
//! `EXACT_QUERIES=20000` asks so many (by default a few hundred), `EXACT_SEED` is the seed.

mod damage;
mod epoch;
mod forged;
mod mapped;

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{
        Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread,
    time::Instant,
};

use super::{
    comparison::{Comparison, Rules, Tally},
    equipped, mounts, number,
};
use epoch::Epochs;
pub(super) use epoch::REST;

/// Queries if no number is given, and trees at a time, so that one is asked while another waits for its files to age.
const QUERIES: u64 = 200;
const AT_A_TIME: usize = 3;
const AT_A_TIME_IF_LONG: usize = 6;
/// Epochs of one tree.
const EPOCHS: usize = 12;

/// Counts of all trees.
#[derive(Default)]
struct Sum {
    tally: Tally,
    trees: usize,
    differences: usize,
    answered: usize,
    started: usize,
    killed: usize,
}

#[test]
fn a_stored_index_never_changes_an_answer() {
    // With mounts among the changes, where they are possible.
    if !mounts::is_inside() && mounts::ran_inside("search::index::stored::a_stored_index_never_changes_an_answer") {
        return;
    }
    if !equipped(&Comparison::of_processes(1, Rules::Ours)) {
        return;
    }
    let long = number("EXACT_QUERIES");
    let wanted = usize::try_from(long.unwrap_or(QUERIES)).unwrap();
    let at_a_time = if long.is_some() { AT_A_TIME_IF_LONG } else { AT_A_TIME };
    let first = number("EXACT_SEED").unwrap_or(0x5EED_1001);
    let (next, asked, sum) = (AtomicU64::new(first), AtomicUsize::new(0), Mutex::new(Sum::default()));
    let begun = Instant::now();
    thread::scope(|threads| {
        for _ in 0..at_a_time {
            threads.spawn(|| {
                while asked.load(Ordering::Relaxed) < wanted {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    one_tree(seed, &asked, wanted, &sum);
                    let sum = sum.lock().unwrap();
                    if sum.trees.is_multiple_of(50) {
                        eprintln!("{} s: {}", begun.elapsed().as_secs(), sum.text());
                    }
                }
            });
        }
    });
    let sum = sum.into_inner().unwrap();
    eprintln!("seeds from {first}, {} s: {}\n{}", begun.elapsed().as_secs(), sum.text(), sum.tally);
    assert_eq!(sum.differences, 0);
    assert!(sum.tally.with_rg * 10 > sum.tally.asked(), "only {} compared with rg", sum.tally.with_rg);
    if cfg!(target_os = "linux") {
        assert!(sum.answered > 0, "no file was ever answered for by a stored index");
    }
}

/// Plays one tree; a difference ends it, and all are counted.
fn one_tree(seed: u64, asked: &AtomicUsize, wanted: usize, sum: &Mutex<Sum>) {
    let rules = if seed.is_multiple_of(2) { Rules::Rgs } else { Rules::Ours };
    let mut epochs = Epochs::new(seed, rules);
    let mut counted = 0;
    let mut count = |epochs: &Epochs| {
        let now = epochs.comparison.tally.asked();
        asked.fetch_add(now - counted, Ordering::Relaxed);
        counted = now;
    };
    let played = panic::catch_unwind(AssertUnwindSafe(|| {
        for _ in 0..EPOCHS {
            epochs.play();
            count(&epochs);
            if asked.load(Ordering::Relaxed) >= wanted {
                break;
            }
        }
        epochs.comparison.processes().end_all();
    }));
    if played.is_err() {
        eprintln!("EXACT_SEED={seed} shows it");
    }
    let processes = epochs.comparison.processes();
    let mut sum = sum.lock().unwrap();
    sum.trees += 1;
    sum.differences += usize::from(played.is_err());
    sum.answered += processes.answered.get();
    sum.started += processes.started.get();
    sum.killed += processes.killed.get();
    sum.tally += std::mem::take(&mut epochs.comparison.tally);
}

impl Sum {
    fn text(&self) -> String {
        format!(
            "{} queries on {} trees, {} processes started, {} killed, {} files answered for by a stored index\n\
             differences: {}",
            self.tally.asked(),
            self.trees,
            self.started,
            self.killed,
            self.answered,
            self.differences
        )
    }
}
