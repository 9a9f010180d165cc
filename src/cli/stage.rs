//! `rootbound diff`, `apply` and `discard`: what is staged with `--stage`, for the person who decides about it.

use std::{process::ExitCode, time::Duration};

use crate::{server::Services, tools::staged};

use super::output::{fail, print};

/// A person waits for it and can press Ctrl-C.
const TIME_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Prints what is staged as a diff.
pub fn staged_diff(services: &Services) -> ExitCode {
    report(staged::diff(&services.workspace))
}

/// Makes staged changes on the disk.
pub fn apply_staged(services: &Services, paths: &[String], skip_conflicts: bool) -> ExitCode {
    report(staged::apply(&services.context(TIME_LIMIT), paths, skip_conflicts))
}

/// Drops staged changes.
pub fn discard_staged(services: &Services, paths: &[String]) -> ExitCode {
    report(staged::discard(&services.workspace, paths))
}

fn report(answer: Result<String, crate::tools::ToolError>) -> ExitCode {
    match answer {
        Ok(text) => print(text.trim_end()),
        Err(error) => fail(&error.text(), 1),
    }
}
