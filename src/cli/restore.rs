//! `rootbound restore`: restores former content, with the same checks as any other write.

use std::{process::ExitCode, time::Duration};

use crate::{server::Parts, tools::restore as bring_back};

use super::output::{fail, print};

/// A person waits for it and can press Ctrl-C.
const TIME_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Restores a recorded content and prints what was done.
pub fn restore(parts: &Parts, path: &str, revision: Option<&str>) -> ExitCode {
    let cx = parts.context(TIME_LIMIT);
    match bring_back::restore(&cx, path, revision) {
        Ok(text) => print(text.trim_end()),
        Err(error) => fail(&error.text(), 1),
    }
}
