//! Tests of many cases in one: all that fail are named.

use std::{
    fmt::Display,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Runs tests with their names.
#[track_caller]
pub(crate) fn each<N: Display, F: FnOnce()>(tests: impl IntoIterator<Item = (N, F)>) {
    let failed = |test: F| catch_unwind(AssertUnwindSafe(test)).is_err();
    let wrong: Vec<String> =
        tests.into_iter().filter_map(|(name, test)| failed(test).then(|| name.to_string())).collect();
    assert!(wrong.is_empty(), "these fail:\n{}", wrong.join("\n"));
}
