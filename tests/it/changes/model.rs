//! Random changes against a simple model of the tree, which must be equal after each.
//!
//! A run is a list of operations made from a seed. What fails is made smaller by leaving operations out, and is printed
//! with its seed. `MODEL_OPERATIONS=10000 cargo test --test it model:: -- --nocapture` is a long run, `MODEL_SEED=7` one
//! with this seed alone.

#![expect(clippy::print_stdout, reason = "the count of a long run is its result")]

mod operation;
#[cfg(target_os = "linux")]
mod people;
mod player;
mod sessions;
mod shrink;
mod tree;

use operation::Operation;
use player::play;

use crate::{harness::seeded_random::Random, harness::share};

/// Operations of one run: enough for a tree that was changed everywhere, and few enough to be made smaller.
const RUN: usize = 125;

/// Seeds whose runs have found a mistake once.
const FOUND: [u64; 8] = [15, 17, 33, 59, 1011, 1025, 3046, 11003];

/// The seeds of a run, and those of [`FOUND`] where no first one is asked for.
fn seeds(operations: u64) -> impl Iterator<Item = u64> {
    let first = number("MODEL_SEED", 1);
    let last = first + operations.div_ceil(RUN as u64);
    // All of them are about the order of changes, not about a system, and Wine takes a minute for each.
    let found = FOUND
        .into_iter()
        .take(share(8) as usize)
        .filter(move |seed| std::env::var_os("MODEL_SEED").is_none() && *seed >= last);
    (first..last).chain(found)
}

/// The number that a variable has, or this one.
fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn tree_is_equal_to_its_model_after_each_change() {
    let all = number("MODEL_OPERATIONS", share(375).into());
    let mut counts = player::Counts::default();
    for seed in seeds(all) {
        let operations: Vec<Operation> = Operation::list(&mut Random(seed), RUN);
        match play(&operations) {
            Ok(played) => counts.add(&played),
            Err(failure) => {
                let fails = |operations: &[Operation]| play(operations).err();
                let (least, failure) = shrink::least(operations, failure, fails);
                panic!("MODEL_SEED={seed}: {failure}\nthe operations that lead there:\n{least:#?}");
            }
        }
    }
    println!("{all} operations: {counts}");
    assert!(counts.made() * 3 > all, "too few of them change anything: {counts}");
}

/// Plays runs of several sessions. `forgets`: the history loses contents meanwhile.
fn several_sessions(usual: u32, forgets: bool) -> sessions::Counts {
    let all = number("MODEL_OPERATIONS", share(usual).into());
    let mut counts = sessions::Counts::default();
    for seed in seeds(all) {
        let run = sessions::Run::new(seed, RUN, forgets);
        match sessions::play(&run) {
            Ok(played) => counts.add(&played),
            Err(failure) => {
                let fails = |steps: &[sessions::Step]| sessions::play(&run.with(steps.to_vec())).err();
                let (least, failure) = shrink::least(run.steps.clone(), failure, fails);
                panic!("MODEL_SEED={seed}: {failure}\nthe steps that lead there:\n{least:#?}");
            }
        }
    }
    println!("{all} steps of several sessions: {counts}");
    counts
}

#[test]
fn several_sessions_go_back_to_what_the_tree_was_at_a_checkpoint() {
    let counts = several_sessions(375, false);
    assert!(counts.exactly_back > share(5).into(), "too rarely back: {counts}");
}

#[test]
fn file_whose_history_is_not_whole_is_left_alone_as_a_whole_and_named() {
    let counts = several_sessions(250, true);
    assert!(counts.left_alone > 0, "nothing was lost: {counts}");
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_is_lost_and_nothing_widened_between_two_processes_and_a_person() {
    let all = number("MODEL_OPERATIONS", share(500).into());
    let mut counts = people::Counts::default();
    for seed in seeds(all) {
        let steps = people::steps(seed, RUN);
        match people::play(&steps) {
            Ok(played) => counts.add(&played),
            Err(failure) => {
                let fails = |steps: &[people::Step]| people::play(steps).err();
                let (least, failure) = shrink::least(steps, failure, fails);
                panic!("MODEL_SEED={seed}: {failure}\nthe steps that lead there:\n{least:#?}");
            }
        }
    }
    println!("{all} steps of two processes and a person: {counts}");
    assert!(counts.made * 10 > all && counts.undone > 0, "too few of them change anything: {counts}");
}
