//! `rootbound diff`: how an earlier state differs from now.

use std::process::ExitCode;

use crate::{config::EarlierState, server::Parts, tools::earlier_state};

use super::{
    output::{fail, print},
    restore::{TIME_LIMIT, earlier},
};

/// Prints the difference as a unified diff.
pub fn diff(parts: &Parts, state: Option<&EarlierState>) -> ExitCode {
    let Some(state) = state else {
        return fail("no earlier state is named\n\nhint: give a checkpoint's name, or --session ID", 1);
    };
    let cx = parts.context(TIME_LIMIT);
    match earlier_state::diff(&cx, earlier(state), &state.paths) {
        Ok(text) => print(text.trim_end()),
        Err(error) => fail(&error.text(), 1),
    }
}
