//! Seatbelt, the sandbox of macOS: the process starts again behind a profile of what it may do.
//!
//! `sandbox-exec` installs a profile and then runs a program behind it; a process cannot install one on itself without
//! `unsafe` code (`sandbox_init(3)`). It is deprecated in its manual page, but the system's own services, Chromium,
//! Bazel and Codex depend on the same mechanism. `profile` builds the text and is tested on every platform, `restart`
//! runs this program behind it, and others.
//!
//! Limits: as Landlock, the profile lets the process see the metadata of every path (`stat`). It also lets it list `/`
//! and the current directory, and read the system's libraries, without which no program starts. What the profile costs
//! at start-up has not been measured, and it has not run on a Mac yet outside of the CI workflow.

mod profile;
#[cfg(target_os = "macos")]
mod restart;

#[cfg(target_os = "macos")]
pub(super) use restart::{command_behind_profile, restart};
