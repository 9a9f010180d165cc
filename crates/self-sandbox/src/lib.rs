//! The process confines itself with the kernel's sandbox, a second line behind directory handles; and it starts programs
//! that the configuration names behind walls of their own.
//!
//! | system | files | programs, sockets and the like |
//! |---|---|---|
//! | Linux | `landlock`: the directories, the folders of state and audit | `seccomp` |
//! | macOS | `seatbelt`: the same, and the system's libraries | `seatbelt` |
//! | others | nothing | nothing |
//!
//! It stops what directory handles cannot, such as creating a file through a directory that another process has moved
//! out of its root, and what a bug in this program would open up. The process can start no program afterwards.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use beneath::Dir;
//! use self_sandbox::{Confine, GrantedDirectory, SystemProfile, confine};
//!
//! let dir = Dir::open_ambient(Path::new("/srv/files"), false).expect("a directory");
//! let directories = [GrantedDirectory { dir: &dir, may_write: true }];
//! let report = confine(&directories, Confine::Auto, &[], &SystemProfile::none()).expect("as much as there is");
//! assert_eq!(report.enforced, std::fs::read("/etc/passwd").is_err());
//! ```
//!
//! # Map
//! [`confine`] is for this process, [`restart_confined`] where it has to start again for that. `command` has the walls of
//! a command that a host runs through this program, `broker` the process that starts language servers for one that may
//! start none.
//!
//! Limits: elsewhere the report says that there is no sandbox. On Linux the calling thread confines itself and those that
//! it starts: install the sandbox before any other thread runs.
//!
//! A part of Rootbound, published with it: its interface changes without notice.

#![expect(
    clippy::disallowed_types,
    reason = "what it looks at is no root: the system's files, and those of the configuration"
)]

mod broker;
mod command;
#[cfg(target_os = "linux")]
mod landlock;
mod priority;
#[cfg(any(target_os = "macos", all(test, unix)))]
mod seatbelt;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod seccomp;
mod system_profile;
mod wanted;

use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use landlock::install as confine_files;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
use seccomp::install as refuse_calls;

pub use broker::{
    BROKER_COMMAND, Broker, BrokeredProgram, MAX_RUNNING, ProgramInput, ProgramOutput, StartedProgram, find_program,
    serve_broker,
};
pub use command::{CommandFailure, CommandWalls, ConfinedCommand, LET_READ, is_always_readable, runs_as_root};
pub use priority::{Priority, lower_priority};
pub use system_profile::{Restart, STARTED_AS, SystemProfile};
pub use wanted::{Confine, GrantedDirectory, GrantedPath};

/// What was reached.
#[derive(Debug)]
pub struct ConfineReport {
    /// In words, for the log and for `doctor`.
    pub level: String,
    /// Whether the kernel confines file access now.
    pub enforced: bool,
    /// In words, what became of the filter on system calls.
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
        return seatbelt::restart(roots, files, folders, before);
    }
    let _ = (how, roots, files, folders, before);
    Restart::Continue(SystemProfile::none())
}

/// Installs the kernel's sandbox around the process: no files but those of `directories`, with their rights, and of
/// `folders` (for state and audit); no TCP; none of the system calls that a file server never needs. Call it before any
/// other thread starts, and once those folders exist. Where the process has to start again for that, it has been confined
/// already, or `profile` says why not.
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
    let (level, enforced) = confine_files(directories, required, folders)?;
    let (calls, calls_refused) = match refuse_calls() {
        Ok(()) => ("programs, sockets, changes by path and the like are refused (seccomp)".to_owned(), true),
        Err(why) => (format!("not filtered: {why}"), false),
    };
    Ok(ConfineReport { level, enforced, calls, calls_refused })
}

#[cfg(all(target_os = "linux", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn refuse_calls() -> Result<(), String> {
    Err("there is no filter for this processor".to_owned())
}

/// The process was confined when it was started, or it is not confined.
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
    let report = |level: String| ConfineReport { calls: level.clone(), level, enforced: false, calls_refused: false };
    Ok(report(format!("none: {why}")))
}
