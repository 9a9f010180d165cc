//! A server that ends, or whose system calls fail, at each call that changes the disk.
//!
//! `faults.rs` of the crate `beneath` picks the call. A run without a fault shows what the tree holds after each
//! answer. Then there is one run for each call that changes the disk: the tree must hold, byte for byte, what it held
//! before or after the change that the fault interrupted. Where many calls repeat the steps of one file, every third one
//! fails. `CRASH_POINTS=all` tries every fault everywhere, and a second end at each call of the recovery.

#![expect(clippy::print_stdout, reason = "the number of calls is the result")]
#![expect(clippy::disallowed_types, reason = "the test makes the tree")]

mod points;
mod scenario;
mod snapshot;

use std::sync::atomic::{AtomicU64, Ordering};

use points::{States, appends_at, each, ends_at, ends_twice, fails_at};
use scenario::Scenario;

/// Whether all is tried, which takes minutes.
fn is_long() -> bool {
    std::env::var_os("CRASH_POINTS").is_some_and(|value| value == "all")
}

/// The server ends before each call, and within each write; in the long run also after each call, which is most often
/// the same as before the next.
fn end_at_each_call(scenario: &Scenario) {
    let states = States::of(scenario);
    let all = states.points.len();
    let run_all = |fault: &str, system: &str, only_writes: bool| {
        let skips = |number| only_writes && !states.is_write(number);
        let run = |number| Ok(skips(number) || ends_at(scenario, &states, &format!("{fault}:{number}{system}"))?);
        println!("{}: {fault}{system} at {} of {all} calls", scenario.name, each(run));
    };
    run_all("kill-before", "", false);
    run_all("kill-within", "", !is_long());
    if is_long() {
        run_all("kill-after", "", false);
        // What one entry leaves there may have two names.
        if !scenario.may_leave {
            run_all("kill-before", ",no-exchange", false);
        }
    }
}

/// The server ends before a call, and the next one at a call of its recovery. In the long run each call with each; else
/// every fourth, with one of the recovery.
fn end_twice(scenario: &Scenario) {
    let states = States::of(scenario);
    let met = AtomicU64::new(0);
    each(|number| {
        let is_last = usize::try_from(number).expect("a number") > states.points.len();
        if is_last || !is_long() && !number.is_multiple_of(4) {
            return Ok(!is_last);
        }
        let first = format!("kill-before:{number}");
        let twice = |second| ends_twice(scenario, &states, &first, second);
        let mut second = if is_long() { 1 } else { 1 + number / 4 % 9 };
        while twice(second)? {
            met.fetch_add(1, Ordering::Relaxed);
            if !is_long() {
                break;
            }
            second += 1;
        }
        Ok(true)
    });
    println!("{}: {} second ends during the recovery", scenario.name, met.into_inner());
}

/// Of more calls than that every third one fails with each error, unless all is tried: they repeat the steps of one file.
const MAX_ALL_CALLS: usize = 40;

/// A call fails with each of these, so many times: a full disk stays full, and with too many open files an open is
/// repeated for a while.
fn fail_at_each_call(scenario: &Scenario, errors: &[&str]) {
    let states = States::of(scenario);
    let rest: &[&str] = &["EIO", "ENOSPC+100000", "EMFILE+60", "EINTR", "ENOSPC", "EDQUOT"];
    let is_in_place = scenario.as_user.is_some();
    let is_sampled = !is_long() && states.points.len() > MAX_ALL_CALLS;
    for (turn, error) in (0..).zip(if is_long() { rest } else { errors }) {
        // What is overwritten takes no room: outside of a test the former content can be put back on a full disk.
        if is_in_place && error.starts_with("ENOSPC+") {
            continue;
        }
        let (name, count) = error.split_once('+').unwrap_or((error, "1"));
        let met = each(|number| {
            let is_last = usize::try_from(number).expect("a number") > states.points.len();
            let skips = is_sampled && !is_last && number % 3 != turn % 3;
            Ok(skips || fails_at(scenario, &states, &format!("{name}:{number}+{count}"))?)
        });
        println!("{}: {error} at {met} of {} calls", scenario.name, states.points.len());
    }
}

/// Those of many files: all in the long run, else without the edits, which add no new kind of step.
fn of_many_files() -> Vec<Scenario> {
    Scenario::of_many_files().into_iter().filter(|scenario| is_long() || !scenario.name.starts_with("edit")).collect()
}

#[test]
fn one_entry_is_whole_wherever_the_server_ends() {
    for scenario in &Scenario::of_one_entry() {
        end_at_each_call(scenario);
    }
}

#[test]
fn one_entry_is_whole_whichever_call_fails() {
    for scenario in &Scenario::of_one_entry() {
        // On a full disk a tree that is removed only in part could not be made again.
        let errors: &[&str] = if scenario.name == "trees" { &["EIO", "ENOSPC+100000"] } else { &["EIO"] };
        fail_at_each_call(scenario, errors);
    }
}

#[test]
fn many_files_are_whole_wherever_the_server_ends() {
    for scenario in &of_many_files() {
        end_at_each_call(scenario);
    }
}

#[test]
fn twenty_files_are_moved_all_or_none_wherever_the_server_ends() {
    let scenario = Scenario::of_twenty_files();
    end_at_each_call(&scenario);
    if is_long() {
        end_twice(&scenario);
        fail_at_each_call(&scenario, &[]);
    }
}

#[test]
fn many_files_are_whole_wherever_the_server_and_the_next_one_end() {
    for scenario in &of_many_files() {
        end_twice(scenario);
    }
}

#[test]
fn many_files_are_whole_whichever_call_fails() {
    for scenario in &of_many_files() {
        fail_at_each_call(scenario, &["EIO", "ENOSPC+100000"]);
    }
}

#[test]
fn files_in_place_are_whole_wherever_the_server_ends() {
    for scenario in &Scenario::in_place() {
        end_at_each_call(scenario);
        end_twice(scenario);
    }
}

#[test]
fn files_in_place_are_whole_whichever_call_fails() {
    for scenario in &Scenario::in_place() {
        fail_at_each_call(scenario, &["EIO", "ENOSPC"]);
    }
}

#[test]
fn an_append_is_added_in_part_at_most_and_that_is_said() {
    let scenario = Scenario::appends();
    for fault in ["kill-before", "kill-within", "kill-after", "EIO", "ENOSPC", "ENOSPC+100000", "EDQUOT", "EINTR"] {
        let (name, count) = fault.split_once('+').unwrap_or((fault, "1"));
        let met = each(|number| appends_at(&scenario, &format!("{name}:{number}+{count}")));
        println!("append: {fault} at {met} calls");
    }
}

#[test]
fn empty_folders_of_a_killed_change_go_with_its_recovery() {
    for call in [
        ("write", serde_json::json!({ "path": "n/m/new.txt", "content": "new\n" })),
        ("mkdir", serde_json::json!({ "path": "n/m/new.txt" })),
        ("copy", serde_json::json!({ "source": "run.sh", "destination": "n/m/new.txt" })),
        ("move", serde_json::json!({ "source": "moved.txt", "destination": "n/m/new.txt" })),
        ("move", serde_json::json!({ "sources": ["moved.txt", "run.sh", "tree"], "destination": "n/m/new.txt/" })),
        ("copy", serde_json::json!({ "sources": ["moved.txt", "run.sh", "tree"], "destination": "n/m/new.txt/" })),
    ] {
        let scenario = &Scenario::of_one_entry()[0];
        for number in 1.. {
            let world = scenario::World::of(scenario);
            let fault = format!("kill-before:{number}");
            let is_done = points::Victim::start(scenario, &world, Some(&fault)).call(&call).is_some();
            points::starts_again(scenario, &world);
            let (outer, inner) = (world.root().join("n"), world.root().join("n/m/new.txt"));
            assert!(!outer.exists() || inner.exists(), "{}: {fault}", call.0);
            if is_done {
                break;
            }
        }
    }
}
