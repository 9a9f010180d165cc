//! What the broker may start, and where: sent to it once, before the server is confined.

#[cfg(unix)]
use std::fs;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

#[cfg(target_os = "linux")]
use serde::{Deserialize, Serialize};

use crate::wanted::Confine;

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
    /// What it may read besides its root and the system's programs and libraries.
    pub readable: Vec<PathBuf>,
    /// Whether it may write in its root.
    pub may_write: bool,
    /// Whether it may use the network.
    pub network: bool,
    /// Whether the kernel is to confine it.
    pub confine: Confine,
}

/// The whole table, as it is sent.
#[cfg(target_os = "linux")]
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProgramTable {
    pub(super) programs: Vec<TableProgram>,
    /// Directories of the host.
    pub(super) roots: Vec<OsString>,
}

/// One row: everything but the root is decided already.
#[cfg(target_os = "linux")]
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TableProgram {
    /// The options of `rootbound exec` behind `--root`.
    pub(super) options: Vec<OsString>,
    pub(super) may_write: bool,
    pub(super) command: Vec<OsString>,
    pub(super) variables: Vec<(OsString, OsString)>,
}

#[cfg(target_os = "linux")]
impl TableProgram {
    /// The row of a program.
    pub(super) fn of(program: &BrokeredProgram) -> Self {
        let mut options: Vec<OsString> = vec!["--die-with-parent".into()];
        options.extend(["--confine".into(), confine_word(program.confine).into()]);
        for path in &program.readable {
            options.extend(["--read".into(), path.clone().into()]);
        }
        for (name, _) in &program.variables {
            options.extend(["--env".into(), name.clone()]);
        }
        options.extend(program.network.then(|| "--network".into()));
        let arguments = program.arguments.iter().map(OsString::from);
        Self {
            options,
            may_write: program.may_write,
            command: std::iter::once(program.program.clone().into()).chain(arguments).collect(),
            variables: program.variables.clone(),
        }
    }
}

#[cfg(target_os = "linux")]
fn confine_word(confine: Confine) -> &'static str {
    match confine {
        Confine::Auto => "auto",
        Confine::Required => "required",
        Confine::Off => "off",
    }
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
