//! Why `rootbound setup` does nothing.

use std::process::ExitCode;

use confined_fs::escape::escape_controls;

use crate::{cli::fail, config::BAD_CONFIGURATION};

/// The reason, in a sentence for a person, and the exit code that says so.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(super) struct SetupError {
    pub(super) message: String,
    code: u8,
}

pub(super) type Result<T, E = SetupError> = std::result::Result<T, E>;

pub(super) fn refused<T>(message: impl Into<String>) -> Result<T> {
    Err(message.into().into())
}

impl<T: Into<String>> From<T> for SetupError {
    fn from(message: T) -> Self {
        Self { message: message.into(), code: 1 }
    }
}

impl SetupError {
    pub(super) fn of_usage(self) -> Self {
        Self { code: BAD_CONFIGURATION, ..self }
    }

    /// Prints it. Names and texts in it are from the file, which may be somebody else's.
    pub(super) fn report(&self) -> ExitCode {
        fail(&format!("rootbound: {}", escape_controls(&self.message)), self.code)
    }
}
