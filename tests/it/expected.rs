//! What does not hold yet, each with its reason. Such a test fails as soon as it holds, so that its mark is taken away.

#![expect(clippy::print_stdout, reason = "the list of what does not hold yet")]

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a test that is expected to fail, and prints its name: `cargo test --test it expected -- --nocapture` lists all.
#[track_caller]
pub(crate) fn expected_failure(name: &str, why: &str, test: impl FnOnce()) {
    let failed = catch_unwind(AssertUnwindSafe(test)).is_err();
    println!("EXPECTED FAILURE {name}: {why}");
    assert!(failed, "{name} holds now: it is no expected failure any more ({why})");
}

#[test]
fn expected_failure_is_one_only_while_the_test_fails() {
    expected_failure("of the helper itself", "it panics", || panic!("as expected"));
    let holds = catch_unwind(|| expected_failure("of the helper itself", "it holds", || ()));
    assert!(holds.is_err(), "a test that holds is no expected failure");
}
