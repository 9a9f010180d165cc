//! A command of a host, behind walls as the server has them: `rootbound exec`.
//!
//! The process gives up what the command may not use and then becomes the command (`execve(2)`, no shell), so that exit
//! code, signals, stdin, stdout and stderr are the command's. Children of the command are behind the same walls.
//!
//! | wall | Linux | others |
//! |---|---|---|
//! | files | `landlock`: the roots, and what `needs` lists | none |
//! | network, other processes, the kernel | `landlock` and the filter of `seccomp` | none |
//! | environment, descriptors, core dumps | `start` | the environment |
//!
//! Limits: a right to a directory is one to all that is below it, secrets included; neither wall knows `chmod`,
//! `chown`, `utime`, `setxattr` and `stat` by path, so a command may see and change those of the person's files
//! anywhere.

#[cfg(target_os = "linux")]
pub(super) mod needs;
#[cfg(target_os = "linux")]
mod program;
#[cfg(all(target_os = "linux", feature = "exec"))]
mod start;
#[cfg(all(target_os = "linux", feature = "exec"))]
pub(super) mod temporary_directory;
#[cfg(all(test, target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::Confine;

/// Text before the options in the line about a command that may not read the folder it is installed in.
pub const LET_READ: &str = "to let it read the rest: ";

/// The files and the network that a command may reach. All paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandWalls {
    pub writable: Vec<PathBuf>,
    pub readable: Vec<PathBuf>,
    pub network: bool,
    pub how: Confine,
}

impl CommandWalls {
    #[cfg(target_os = "linux")]
    #[expect(clippy::disallowed_methods, reason = "the host names the path; no call is served")]
    pub(super) fn offer(&self, path: &Path) -> bool {
        let mut offered =
            self.readable.iter().chain(&self.writable).filter_map(|path| std::fs::canonicalize(path).ok());
        std::fs::canonicalize(path).is_ok_and(|real| offered.any(|offered| real.starts_with(offered)))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfinedCommand {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    pub directory: PathBuf,
    pub variables: Vec<(OsString, OsString)>,
    pub walls: CommandWalls,
    /// Whether the kernel kills it when the process that started this one ends (Linux).
    pub die_with_parent: bool,
}

/// Whether every command may read a path: programs, libraries and settings of the system.
pub fn is_always_readable(path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    let mut readable = needs::COMMON_NEEDS.iter().flat_map(needs::Need::paths);
    #[cfg(not(target_os = "linux"))]
    let mut readable = std::iter::empty::<&Path>();
    readable.any(|readable| path.starts_with(readable))
}

pub fn runs_as_root() -> bool {
    #[cfg(unix)]
    let is_root = rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    let is_root = false;
    is_root
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct CommandFailure {
    /// As `env` and shells have them: 126 for what cannot be executed, 127 for what is not found. 2 where a wall is
    /// missing or the command line is wrong.
    pub code: u8,
    pub reason: String,
}

impl CommandFailure {
    /// Exits with 127: there is no such program.
    fn not_found(reason: String) -> Self {
        Self { code: 127, reason }
    }

    /// Exits with 126: it cannot be executed.
    fn not_executable(reason: String) -> Self {
        Self { code: 126, reason }
    }

    /// Exits with 2: it is not started, as what was asked for cannot be kept.
    fn refused(reason: String) -> Self {
        Self { code: 2, reason }
    }
}

#[cfg(all(not(target_os = "linux"), feature = "exec"))]
impl ConfinedCommand {
    /// Runs the command and returns its exit code: this system has no walls for a command.
    pub fn start(self, _remark: &dyn Fn(&str)) -> Result<u8, CommandFailure> {
        if self.walls.how != Confine::Off {
            let why = "this system has no walls for a command (Linux has them): --confine off runs it without";
            return Err(CommandFailure::refused(why.to_owned()));
        }
        let mut command = std::process::Command::new(&self.program);
        let status =
            command.args(&self.arguments).current_dir(&self.directory).env_clear().envs(self.variables).status();
        let shown = self.program.display();
        match status {
            Ok(status) => Ok(status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(CommandFailure::not_found(format!("{shown} is not found")))
            }
            Err(error) => Err(CommandFailure::not_executable(format!("{shown} cannot be executed: {error}"))),
        }
    }
}

#[cfg(not(feature = "exec"))]
impl ConfinedCommand {
    pub fn start(self, _remark: &dyn Fn(&str)) -> Result<u8, CommandFailure> {
        Err(CommandFailure::refused("this program was built without `exec`: it starts no command".to_owned()))
    }
}
