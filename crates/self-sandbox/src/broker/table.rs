//! Programs that the broker may start.

#[cfg(unix)]
use std::fs;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::Confine;

/// The subcommand that is the broker; hidden from the help, as a person has no use for it.
pub const BROKER_COMMAND: &str = "lsp-broker";

/// Programs that run at once, of all kinds and in all roots.
pub const MAX_RUNNING: usize = 8;

/// One program that may be started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrokeredProgram {
    /// Its file, by its absolute path.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables that it gets besides those that every program gets.
    pub variables: Vec<(OsString, OsString)>,
    /// Paths that it may read besides its root and the system's programs and libraries.
    pub readable: Vec<PathBuf>,
    /// Whether it may write in its root.
    pub may_write: bool,
    /// Whether it may use the network.
    pub network: bool,
    /// Whether the kernel is to confine it.
    pub confine: Confine,
}

/// The file at `path`, if it can be executed.
#[cfg(unix)]
#[expect(
    clippy::disallowed_methods,
    reason = "a program that the configuration names, looked for before a root is open"
)]
pub fn find_program(path: &Path) -> Option<PathBuf> {
    let is_program = fs::metadata(path).is_ok_and(|found| found.is_file())
        && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    is_program.then(|| path.to_owned())
}

/// Programs are not started here.
#[cfg(not(unix))]
pub fn find_program(_: &Path) -> Option<PathBuf> {
    None
}
