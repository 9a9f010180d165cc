//! What does not hold yet, each with its reason. Such a test fails as soon as it holds, so that its mark is taken away.

#![expect(clippy::print_stdout, reason = "the list of what does not hold yet")]

use std::{
    fmt::Display,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Runs a test that is expected to fail, and prints its name.
#[track_caller]
pub(crate) fn expected_failure(name: &str, why: &'static str, test: impl FnOnce()) {
    each([(name, Some(why), test)]);
}

/// Runs tests with their names. One with a reason is expected to fail, and its name is printed.
#[track_caller]
pub(crate) fn each<N: Display, F: FnOnce()>(tests: impl IntoIterator<Item = (N, Option<&'static str>, F)>) {
    let mut wrong = Vec::new();
    for (name, why, test) in tests {
        let failed = catch_unwind(AssertUnwindSafe(test)).is_err();
        match why {
            Some(why) if failed => println!("EXPECTED FAILURE {name}: {why}"),
            Some(why) => wrong.push(format!("holds now, and is no expected failure any more ({why}): {name}")),
            None if failed => wrong.push(format!("fails: {name}")),
            None => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn expected_failure_is_one_only_while_the_test_fails() {
    expected_failure("of the helper itself", "it panics", || panic!("as expected"));
    let holds = catch_unwind(|| expected_failure("of the helper itself", "it holds", || ()));
    assert!(holds.is_err(), "a test that holds is no expected failure");
}
