//! The program, run until it ends: subcommands and starts that fail. `process` has the server that keeps running.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use tempfile::TempDir;

/// The variable with which the program compares each open with the slow way, and ends where they differ: see
/// `docs/internals/testing.md`.
pub(crate) const CHECK_OPENS: (&str, &str) = ("_ROOTBOUND_CHECK_OPENS", "1");

/// The variable without which the kernel reports changes; with it, it does not, as other programs hold all its queues.
pub(crate) const NO_EVENTS: (&str, &str) = ("_ROOTBOUND_NO_INOTIFY", "1");

/// The variable that names another program than the one built with these tests, or a command that leads to one on another
/// machine: `tests/clients/remote.py`.
pub(crate) const ELSEWHERE: &str = "TESTS_PROGRAM";

/// The program in `folder`, with the environment of this process except for its `ROOTBOUND_` variables.
pub(crate) fn program(folder: &Path) -> Command {
    let kept = std::env::vars_os().filter(|(name, _)| !name.to_string_lossy().starts_with("ROOTBOUND_"));
    let program = std::env::var_os(ELSEWHERE).unwrap_or_else(|| env!("CARGO_BIN_EXE_rootbound").into());
    let mut command = Command::new(program);
    command.current_dir(folder).env_clear().envs(kept).stdin(Stdio::null());
    command
}

/// Whether Wine runs this process: `tests/wine/run` says so.
pub(crate) fn is_wine() -> bool {
    std::env::var_os("TESTS_RUN_WITH_WINE").is_some()
}

/// Starts a program. Under load, Wine sometimes cannot: `ERROR_INTERNAL_ERROR`, and the next attempt succeeds.
pub(crate) fn started<T>(mut start: impl FnMut() -> std::io::Result<T>) -> T {
    const INTERNAL_ERROR: Option<i32> = Some(1359);
    for _ in 0..10 {
        match start() {
            Err(error) if cfg!(windows) && error.raw_os_error() == INTERNAL_ERROR => {
                std::thread::sleep(std::time::Duration::from_secs(1));
            }
            other => return other.expect("the program starts"),
        }
    }
    panic!("the program does not start");
}

/// A folder for tests that make thousands of files and ask nothing of the disk itself: in memory where Linux has room for
/// it, as the disk takes twice the processor time. `TESTS_MEMORY` names another one than `/dev/shm`, which `.ci/run` finds
/// empty afterwards.
pub(crate) fn memory_folder() -> TempDir {
    #[cfg(target_os = "linux")]
    {
        const ROOM: u64 = 1 << 30;
        let memory = std::env::var_os("TESTS_MEMORY").unwrap_or_else(|| "/dev/shm".into());
        let has_room = rustix::fs::statvfs(Path::new(&memory)).is_ok_and(|at| {
            at.f_bavail * at.f_frsize >= ROOM && !at.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC)
        });
        if has_room && let Ok(folder) = tempfile::tempdir_in(memory) {
            return folder;
        }
    }
    tempfile::tempdir().expect("a temporary folder")
}

/// How a run ended.
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    /// Runs the command until it ends.
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = started(|| command.output());
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// What a run printed that ended with 0.
    #[track_caller]
    pub(crate) fn succeeded(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self.stdout
    }

    /// The errors of a run that ended with `code` and printed nothing to stdout.
    #[track_caller]
    pub(crate) fn failed(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "");
        self.stderr
    }
}
