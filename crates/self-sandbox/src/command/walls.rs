//! What a command is and what it may reach.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::wanted::Confine;

/// What a command may reach. All paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandWalls {
    /// Directories whose content may be read, executed and changed.
    pub writable: Vec<PathBuf>,
    /// Files and directories that may be read and executed.
    pub readable: Vec<PathBuf>,
    /// Whether it may use the internet.
    pub network: bool,
    /// Whether it runs where a wall is missing.
    pub how: Confine,
}

impl CommandWalls {
    /// Whether what is at `path`, or where a link there leads, is offered.
    #[cfg(unix)]
    #[expect(clippy::disallowed_methods, reason = "the host names the path; no call is served")]
    pub(super) fn offer(&self, path: &Path) -> bool {
        let mut offered =
            self.readable.iter().chain(&self.writable).filter_map(|path| std::fs::canonicalize(path).ok());
        std::fs::canonicalize(path).is_ok_and(|real| offered.any(|offered| real.starts_with(offered)))
    }
}

/// A command of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfinedCommand {
    /// A name that `PATH` has, or a path, which is relative to `directory`.
    pub program: OsString,
    /// Its arguments; no shell reads them.
    pub arguments: Vec<OsString>,
    /// Its working directory.
    pub directory: PathBuf,
    /// Its whole environment. Without `TMPDIR` there it gets a private directory.
    pub variables: Vec<(OsString, OsString)>,
    /// What it may reach.
    pub walls: CommandWalls,
    /// Whether the kernel kills it when the process that started this one ends (Linux).
    pub die_with_parent: bool,
}

/// Whether every command may read a path: programs, libraries and settings of the system.
pub fn is_always_readable(path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    let mut readable = super::needs::ALWAYS.iter().flat_map(super::needs::Need::paths);
    #[cfg(not(target_os = "linux"))]
    let mut readable = ["/usr", "/bin", "/sbin", "/System", "/Library", "/opt/homebrew", "/opt/local"].into_iter();
    readable.any(|readable| path.starts_with(readable))
}

/// Whether the account is root, which no mode of a file keeps out.
pub fn runs_as_root() -> bool {
    #[cfg(unix)]
    let is_root = rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    let is_root = false;
    is_root
}
