//! The process confines itself with the kernel's sandbox, a second line behind directory handles; and it starts
//! programs that the configuration names behind walls of their own.
//!
//! | system | files | programs, sockets and the like |
//! |---|---|---|
//! | Linux | `landlock`: the directories, the folders of state and audit | `seccomp` |
//! | others | nothing | nothing |
//!
//! It stops what directory handles cannot, such as creating a file through a directory that another process has moved
//! out of its root, and what a bug in this program would open up. The process can start no program afterwards.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use beneath::Dir;
//! use self_sandbox::{Confine, GrantedDirectory, confine};
//!
//! let dir = Dir::open_ambient(Path::new("/srv/files"), false).expect("a directory");
//! let directories = [GrantedDirectory { dir: &dir, may_write: true }];
//! let report = confine(&directories, Confine::Auto, &[]).expect("as much as there is");
//! assert_eq!(report.enforced, std::fs::read("/etc/passwd").is_err());
//! ```
//!
//! # Map
//! [`confine()`] (in `confine`) is for this process. `command` has the walls of a command that a host runs through this program, `broker` the process that starts
//! language servers for one that may start none. [`lower_priority`] is of the same kind: less for a thread than the
//! system would give it.
//!
//! Limits: on other systems the report says that there is no sandbox. On Linux the calling thread confines itself and those
//! that it starts: install the sandbox before any other thread runs.
//!
//! A part of Rootbound, published with it: its interface changes without notice.

#![expect(missing_docs, reason = "names and types that say it; units, bounds and errors are documented")]
#![expect(
    clippy::disallowed_types,
    reason = "what it looks at is no root: the system's files, and those of the configuration"
)]
#![cfg_attr(not(feature = "exec"), expect(dead_code, reason = "the walls of commands"))]

mod broker;
mod command;
mod confine;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod seccomp;

pub use broker::{
    BROKER_COMMAND, Broker, BrokeredProgram, MAX_RUNNING, ProgramOutput, StartedProgram, find_program, serve_broker,
};
#[cfg(all(target_os = "linux", feature = "exec"))]
pub use command::temporary_directory::{CLEANUP_COMMAND, watch as serve_cleanup};
pub use command::{CommandFailure, CommandWalls, ConfinedCommand, LET_READ, is_always_readable, runs_as_root};
pub use confine::{Confine, ConfineError, ConfineReport, confine};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

/// Stands in for `seccomp` on processors for which there is no list of calls.
#[cfg(all(target_os = "linux", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod seccomp {
    use std::error::Error;

    pub(super) fn install() -> Result<(), Box<dyn Error>> {
        Err("there is no filter for this processor".into())
    }

    pub(super) fn install_for_command(_: bool) -> Result<(), Box<dyn Error>> {
        Err("system calls are not filtered: there is no filter for this processor".into())
    }
}

#[derive(Clone, Copy, Debug)]
pub struct GrantedDirectory<'d> {
    pub dir: &'d beneath::Dir,
    pub may_write: bool,
}

/// How soon a thread gives way to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// To short calls: for one search of several.
    BelowCalls,
    Background,
}

/// Lowers the priority of the calling thread, and of those that it starts, where the system can.
///
/// On Linux a nice value is a thread's own, contrary to POSIX (setpriority(2), "C library/kernel differences"), and
/// `None` is the calling one. At 5 a thread has a third of the share of one at 0, at 10 a tenth (sched(7)).
pub fn lower_priority(priority: Priority) {
    let nice = if priority == Priority::BelowCalls { 5 } else { 10 };
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, nice);
    #[cfg(not(target_os = "linux"))]
    let _: i32 = nice;
}
