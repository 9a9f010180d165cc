//! Whether the process runs behind a profile that the system installed when it was started again.

/// The variable with the name by which the program was first started, which the restart replaces by its path. Not with
/// the prefix of the options, whose unknown names are refused.
pub const STARTED_AS: &str = "_ROOTBOUND_STARTED_AS";

/// How `main` goes on.
#[derive(Debug)]
pub enum Restart {
    /// This is the process that serves.
    Continue(SystemProfile),
    /// This process only tried out a profile: why it cannot be used, if so.
    Trial(Result<(), String>),
}

/// Whether the process is behind a profile, or why not.
#[derive(Debug)]
pub struct SystemProfile(Result<(), String>);

impl SystemProfile {
    /// What a check of this process found.
    #[cfg(target_os = "macos")]
    pub(super) fn new(outcome: Result<(), String>) -> Self {
        Self(outcome)
    }

    /// On this system a process is not started again.
    pub fn none() -> Self {
        Self(Err(format!("{} does not confine the process", system_name())))
    }

    /// Why the process is behind no profile, if it is not.
    pub fn missing(&self) -> Option<&str> {
        self.0.as_ref().err().map(String::as_str)
    }
}

/// The name of this system as people write it.
fn system_name() -> &'static str {
    match std::env::consts::OS {
        "linux" => "Linux",
        "macos" => "macOS",
        "windows" => "Windows",
        other => other,
    }
}
