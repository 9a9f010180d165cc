//! `rootbound diff`: how an earlier state differs from now.

use std::process::ExitCode;

use crate::{config::EarlierState, server::Services, tools::restore::diff_from};

use super::{
    output::{fail, print},
    restore::{TIME_LIMIT, earlier},
};

/// Prints the difference as a unified diff.
pub fn diff(services: &Services, state: &EarlierState) -> ExitCode {
    let cx = services.context(TIME_LIMIT);
    match diff_from(&cx, earlier(state), &state.paths) {
        Ok(text) => print(text.trim_end()),
        Err(error) => fail(&error.text(), 1),
    }
}
