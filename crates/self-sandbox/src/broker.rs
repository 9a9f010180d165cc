//! The process that starts language servers: the confined server may start no program, so this one does.
//!
//! `main` starts it before it confines itself, and gives it a table of programs and directories. After that it knows
//! two requests: start program I in directory D of root R, and end program N. No program, argument, variable or right
//! can be named in a request, so a server that a model has taken over can start only what the person configured. The
//! pipes of a program go to the server over the socket (`SCM_RIGHTS`, unix(7)): the broker never sees what they carry,
//! and needs the same little memory whatever a program sends.
//!
//! Each program runs through `rootbound exec`: with its own Landlock domain and filter, without network unless it
//! is allowed, with few variables. It dies with the broker, and the broker ends all of them when the socket closes.
//!
//! Limits: Linux only, and not in a build without the feature `broker`. A program may do in its directories what `exec`
//! allows, and may start others, behind the same walls.

#[cfg(all(target_os = "linux", feature = "broker"))]
mod connection;
#[cfg(all(target_os = "linux", feature = "broker"))]
mod request;
#[cfg(all(target_os = "linux", feature = "broker"))]
mod serve;
#[cfg(not(all(target_os = "linux", feature = "broker")))]
mod unsupported;

use std::ffi::OsString;
#[cfg(unix)]
use std::fs;
use std::path::{Path, PathBuf};

use crate::Confine;

#[cfg(all(target_os = "linux", feature = "broker"))]
pub use connection::{Broker, ProgramOutput, StartedProgram};
#[cfg(all(target_os = "linux", feature = "broker"))]
pub use serve::serve as serve_broker;
#[cfg(not(all(target_os = "linux", feature = "broker")))]
pub use unsupported::{Broker, ProgramOutput, StartedProgram, serve_broker};

/// The subcommand that is the broker; hidden from the help, as a person has no use for it.
pub const BROKER_COMMAND: &str = "lsp-broker";

/// Programs that run at once, of all kinds and in all roots.
pub const MAX_RUNNING: usize = 8;

/// One program that may be started: everything but its root is decided before the server is confined. All texts are those
/// of the system, since a path need not be UTF-8.
#[cfg_attr(target_os = "linux", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrokeredProgram {
    pub program: OsString,
    pub arguments: Vec<String>,
    pub variables: Vec<(OsString, OsString)>,
    /// Paths that it may read besides its root and the system's programs and libraries.
    pub readable: Vec<OsString>,
    pub may_write: bool,
    pub network: bool,
    /// Whether the kernel is to confine it.
    pub confine: Confine,
}

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

#[cfg(not(unix))]
pub fn find_program(_: &Path) -> Option<PathBuf> {
    None
}
