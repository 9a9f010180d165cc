//! A server that ends, or whose system calls fail, at each call that changes the disk.
//!
//! `sys/faults.rs` of the program picks the call. A run without a fault shows what the tree holds after each answer. Then
//! there is one run for each call that changes the disk: the tree must hold, byte for byte, what it held before or after
//! the change that the fault interrupted. `CRASH_POINTS=all` tries every fault everywhere, and a second end at each call
//! of the recovery.

#![expect(clippy::print_stdout, reason = "the number of calls is the result")]
#![expect(clippy::disallowed_types, reason = "the test makes the tree")]

mod points;
mod scenario;
mod snapshot;

use points::{States, each, ends_at, fails_at};
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
    for fault in ["kill-before", "kill-within", "kill-after"] {
        if fault == "kill-after" && !is_long() {
            continue;
        }
        let skips = |number| fault == "kill-within" && !is_long() && !states.is_write(number);
        let run = |number| Ok(skips(number) || ends_at(scenario, &states, &format!("{fault}:{number}"))?);
        println!("{}: {fault} at {} of {all} calls", scenario.name, each(run));
    }
}

/// A call fails with each of these, so many times: a full disk stays full, and with too many open files an open is
/// repeated for a while.
fn fail_at_each_call(scenario: &Scenario, errors: &[&str]) {
    let states = States::of(scenario);
    let rest: &[&str] = &["EIO", "ENOSPC+100000", "EMFILE+60", "EINTR", "ENOSPC", "EDQUOT"];
    for error in if is_long() { rest } else { errors } {
        let (name, count) = error.split_once('+').unwrap_or((error, "1"));
        let met = each(|number| fails_at(scenario, &states, &format!("{name}:{number}+{count}")));
        println!("{}: {error} at {met} of {} calls", scenario.name, states.points.len());
    }
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
        fail_at_each_call(scenario, &["EIO"]);
    }
}
