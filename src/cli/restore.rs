//! `rootbound restore`: restores former content, with the same checks as any other write.

use std::{process::ExitCode, time::Duration};

use crate::{
    config::{EarlierState, EarlierTime},
    server::Services,
    tools::restore::{self as bring_back, HistoryPoint, restore_to},
};

use super::output::{fail, print};

/// A person waits for it and can press Ctrl-C.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Restores a recorded content and prints what was done.
pub fn restore(services: &Services, path: &str, revision: Option<&str>) -> ExitCode {
    let cx = services.context(TIME_LIMIT);
    match bring_back::restore(&cx, path, revision) {
        Ok(text) => print(text.trim_end()),
        Err(error) => fail(&error.text(), 1),
    }
}

/// Restores an earlier state and prints what was done, or would be.
pub fn restore_state(services: &Services, state: &EarlierState, include_others: bool, dry_run: bool) -> ExitCode {
    let cx = services.context(TIME_LIMIT);
    match restore_to(&cx, earlier(state), &state.paths, include_others, dry_run) {
        Ok(text) => print(text.trim_end()),
        Err(error) => fail(&error.text(), 1),
    }
}

pub(super) fn earlier(state: &EarlierState) -> HistoryPoint<'_> {
    match &state.when {
        EarlierTime::Checkpoint(name) => HistoryPoint::Checkpoint(name),
        EarlierTime::Session(id) => HistoryPoint::RecordedSession(id),
    }
}
