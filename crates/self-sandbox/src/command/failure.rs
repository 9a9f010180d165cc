//! Why a command does not run.

/// Why a command does not run, and the exit code that says so.
#[derive(Debug, PartialEq, Eq)]
pub struct CommandFailure {
    /// As `env` and shells have them: 126 for what cannot be executed, 127 for what is not found. 2 where a wall is
    /// missing or the command line is wrong.
    pub code: u8,
    /// In words, for a person.
    pub reason: String,
}

impl CommandFailure {
    /// There is no such program.
    #[cfg(unix)]
    pub(super) fn not_found(reason: String) -> Self {
        Self { code: 127, reason }
    }

    /// It cannot be executed.
    pub(super) fn not_executable(reason: String) -> Self {
        Self { code: 126, reason }
    }

    /// It is not started, as what was asked for cannot be kept.
    pub(super) fn refused(reason: String) -> Self {
        Self { code: 2, reason }
    }
}
