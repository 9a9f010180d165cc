//! A command of a host, behind walls as the server has them: `rootbound exec`.
//!
//! The process gives up what the command may not use and then becomes the command (`execve(2)`, no shell), so that exit
//! code, signals, stdin, stdout and stderr are the command's. Children of the command are behind the same walls.
//!
//! | wall | Linux | macOS | others |
//! |---|---|---|---|
//! | files | `rules` (Landlock): the roots, and what `needs` lists | a profile (Seatbelt) | none |
//! | network, other processes, the kernel | `rules` and the filter of `seccomp` | the profile | none |
//! | environment, descriptors, core dumps | `start` | `start` | the environment |
//!
//! Limits: a right to a directory is one to all that is below it, secrets included; neither wall knows `chmod`, `chown`,
//! `utime`, `setxattr` and `stat` by path, so a command may see and change those of the person's files anywhere.

#[cfg(unix)]
mod descriptors;
mod failure;
#[cfg(unix)]
mod missing_reads;
#[cfg(target_os = "linux")]
mod needs;
#[cfg(unix)]
mod program;
#[cfg(target_os = "linux")]
mod rules;
mod start;
#[cfg(unix)]
mod temporary;
mod walls;

pub use failure::CommandFailure;
pub use walls::{CommandWalls, ConfinedCommand, is_always_readable, runs_as_root};

/// What is before the options in the line about a command that may not read the folder it is installed in.
pub const LET_READ: &str = "to let it read the rest: ";
