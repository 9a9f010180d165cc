//! `rootbound restore`: puts what a file held back, with the same checks as any other write.

use std::{process::ExitCode, time::Duration};

use crate::{server::Parts, tools::restore as bring_back};

use super::output::{fail, print};

/// Restoring is a person's own wish and may take as long as it needs.
const TIME_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Puts a recorded content back and prints what was done.
pub fn restore(parts: &Parts, path: &str, revision: Option<&str>) -> ExitCode {
    let cx = parts.context(TIME_LIMIT);
    match bring_back::restore(&cx, path, revision) {
        Ok(text) => print(text.trim_end()),
        Err(error) => fail(&error.text(), 1),
    }
}
