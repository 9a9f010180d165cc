//! The sandbox of this process: how much of it is wanted, which directories stay open, and what was reached.

use std::path::Path;

use super::GrantedDirectory;

#[cfg_attr(target_os = "linux", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confine {
    #[default]
    Auto,
    Required,
    /// None of it: the process stays as it was started.
    Off,
}

#[derive(Debug)]
pub struct ConfineReport {
    /// How far files are confined, as text for the log and for `doctor`.
    pub level: String,
    /// Whether the kernel confines file access now.
    pub enforced: bool,
    pub calls: String,
    /// Whether the kernel refuses programs, sockets and the like now.
    pub calls_refused: bool,
}

/// Why the sandbox cannot be had as it is required.
#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    #[error("confinement is required, but {0}")]
    Incomplete(String),
    /// The system refuses the rules for files, or one of the folders.
    #[error("{0}: {1}")]
    Refused(String, #[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Installs the kernel's sandbox around the process: no files but those of the `granted` directories, with their rights,
/// and of its `own` folders (for state and audit); no TCP; none of the system calls that a file server never needs. Call it before any
/// other thread starts, and once those folders exist.
///
/// # Errors
/// Why all of it cannot be had, where `how` requires that.
pub fn confine(granted: &[GrantedDirectory<'_>], how: Confine, own: &[&Path]) -> Result<ConfineReport, ConfineError> {
    if how == Confine::Off {
        let off = || "off, as configured".to_owned();
        return Ok(ConfineReport { level: off(), enforced: false, calls: off(), calls_refused: false });
    }
    let report = install(granted, how == Confine::Required, own)?;
    if how == Confine::Required && !report.calls_refused {
        return Err(ConfineError::Incomplete(format!("system calls are {}", report.calls)));
    }
    Ok(report)
}

#[cfg(target_os = "linux")]
fn install(granted: &[GrantedDirectory<'_>], required: bool, own: &[&Path]) -> Result<ConfineReport, ConfineError> {
    let (level, enforced) = crate::landlock::install(granted, required, own)?;
    let (calls, calls_refused) = match crate::seccomp::install() {
        Ok(()) => ("programs, sockets, changes by path and the like are refused (seccomp)".to_owned(), true),
        Err(why) => (format!("not filtered: {why}"), false),
    };
    Ok(ConfineReport { level, enforced, calls, calls_refused })
}

/// Says that this system has no such sandbox.
#[cfg(not(target_os = "linux"))]
fn install(_: &[GrantedDirectory<'_>], required: bool, _: &[&Path]) -> Result<ConfineReport, ConfineError> {
    let system = match std::env::consts::OS {
        "macos" => "macOS",
        "windows" => "Windows",
        other => other,
    };
    let why = format!("{system} does not confine the process");
    if required {
        return Err(ConfineError::Incomplete(format!(
            "there is none: {why}. Remove --confine required, or see what to do on this \
             system in SECURITY.md (https://github.com/rootbound/rootbound/blob/main/SECURITY.md)"
        )));
    }
    let level = format!("none: {why}");
    Ok(ConfineReport { calls: level.clone(), level, enforced: false, calls_refused: false })
}
