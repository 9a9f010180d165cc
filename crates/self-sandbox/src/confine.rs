//! The sandbox of this process: how much of it is wanted, which directories stay open, and what was reached.

use std::path::{Path, PathBuf};

use super::GrantedDirectory;

/// Whether to install the sandbox.
#[cfg_attr(target_os = "linux", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confine {
    /// As much of it as this system has.
    #[default]
    Auto,
    /// All of it, or an error.
    Required,
    /// None of it: the process stays as it was started.
    Off,
}

/// A directory that the process may use, by its path.
#[derive(Clone, Copy, Debug)]
pub struct GrantedPath<'p> {
    /// Its path on the host.
    pub path: &'p Path,
    /// Whether what is in it may be changed.
    pub may_write: bool,
    /// Whether it may be missing: then it is looked for name by name, from what exists above it.
    pub may_be_missing: bool,
}

/// The variable with the name by which the program was first started, which the restart replaces by its path. Not with
/// the prefix of the options, whose unknown names are refused.
pub const STARTED_AS: &str = "_ROOTBOUND_STARTED_AS";

/// The next step of `main`.
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
    /// With the result of a check of this process.
    #[cfg(target_os = "macos")]
    pub(crate) fn new(outcome: Result<(), String>) -> Self {
        Self(outcome)
    }

    /// On this system a process is not started again.
    pub fn none() -> Self {
        let system = match std::env::consts::OS {
            "linux" => "Linux",
            "macos" => "macOS",
            "windows" => "Windows",
            other => other,
        };
        Self(Err(format!("{system} does not confine the process")))
    }

    /// Why the process is behind no profile, if it is not.
    pub fn missing(&self) -> Option<&str> {
        self.0.as_ref().err().map(String::as_str)
    }
}

/// The walls that are in force.
#[derive(Debug)]
pub struct ConfineReport {
    /// How far files are confined, as text for the log and for `doctor`.
    pub level: String,
    /// Whether the kernel confines file access now.
    pub enforced: bool,
    /// How far system calls are filtered, as text.
    pub calls: String,
    /// Whether the kernel refuses programs, sockets and the like now.
    pub calls_refused: bool,
}

/// Starts the program again where that is how a process is confined (macOS), unless it has been: `main` calls this
/// before it opens anything and before any thread starts. The program may then reach `roots` with their rights and
/// `folders`, which exist, and read `files`. `before` runs in the process that is replaced.
pub fn restart_confined(
    how: Confine,
    roots: &[GrantedPath<'_>],
    files: &[PathBuf],
    folders: &[&Path],
    before: impl FnOnce(),
) -> Restart {
    #[cfg(target_os = "macos")]
    if how != Confine::Off {
        return crate::seatbelt::restart(roots, files, folders, before);
    }
    let _ = (how, roots, files, folders, before);
    Restart::Continue(SystemProfile::none())
}

/// Installs the kernel's sandbox around the process: no files but those of `directories`, with their rights, and of
/// `folders` (for state and audit); no TCP; none of the system calls that a file server never needs. Call it before any
/// other thread starts, and once those folders exist. Where the process has to start again for that, it has been
/// confined already, or `profile` says why not.
///
/// # Errors
/// Why all of it cannot be had, where `how` requires that.
pub fn confine(
    directories: &[GrantedDirectory<'_>],
    how: Confine,
    folders: &[&Path],
    profile: &SystemProfile,
) -> Result<ConfineReport, String> {
    if how == Confine::Off {
        let off = || "off, as configured".to_owned();
        return Ok(ConfineReport { level: off(), enforced: false, calls: off(), calls_refused: false });
    }
    let report = install(directories, how == Confine::Required, folders, profile)?;
    if how == Confine::Required && !report.calls_refused {
        return Err(format!("confinement is required, but system calls are {}", report.calls));
    }
    Ok(report)
}

#[cfg(target_os = "linux")]
fn install(
    directories: &[GrantedDirectory<'_>],
    required: bool,
    folders: &[&Path],
    _: &SystemProfile,
) -> Result<ConfineReport, String> {
    let (level, enforced) = crate::landlock::install(directories, required, folders)?;
    let (calls, calls_refused) = match crate::seccomp::install() {
        Ok(()) => ("programs, sockets, changes by path and the like are refused (seccomp)".to_owned(), true),
        Err(why) => (format!("not filtered: {why}"), false),
    };
    Ok(ConfineReport { level, enforced, calls, calls_refused })
}

/// Reports whether the process was confined when it was started.
#[cfg(not(target_os = "linux"))]
fn install(
    _: &[GrantedDirectory<'_>],
    required: bool,
    _: &[&Path],
    profile: &SystemProfile,
) -> Result<ConfineReport, String> {
    let Some(why) = profile.missing() else {
        return Ok(ConfineReport {
            level: "a Seatbelt profile allows only the directories, the state and the system's libraries".to_owned(),
            enforced: true,
            calls: "programs and sockets are refused (Seatbelt)".to_owned(),
            calls_refused: true,
        });
    };
    if required {
        return Err(format!(
            "confinement is required, but there is none: {why}. Remove --confine required, or see what to do on this \
             system in SECURITY.md (https://github.com/rootbound/rootbound/blob/main/SECURITY.md)"
        ));
    }
    let level = format!("none: {why}");
    Ok(ConfineReport { calls: level.clone(), level, enforced: false, calls_refused: false })
}
