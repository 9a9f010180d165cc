//! One program that the broker runs: how it is started and ended.

use std::{
    ffi::OsString,
    io::{self, PipeReader, PipeWriter},
    os::{fd::OwnedFd, unix::process::CommandExt as _},
    path::Path,
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};

use super::table::TableProgram;

/// How often an ending program is looked at.
const STEP: Duration = Duration::from_millis(10);

/// A program that was started, in a new process group.
#[derive(Debug)]
pub(super) struct Process(Child);

impl Process {
    /// Starts a program in `directory` below `root`. Also returns the server's ends of its pipes: stdin, stdout
    /// and stderr.
    pub(super) fn start(program: &TableProgram, root: &Path, directory: &Path) -> io::Result<(Self, [OwnedFd; 3])> {
        let (stdin, to_it) = io::pipe()?;
        let (from_it, stdout) = io::pipe()?;
        let (errors, stderr) = io::pipe()?;
        let pipes = Pipes { stdin, stdout, stderr };
        let child = command(program, root, directory, pipes).spawn()?;
        Ok((Self(child), [to_it.into(), from_it.into(), errors.into()]))
    }

    /// Whether it has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }

    /// Waits until it ends, at most until `deadline`.
    pub(super) fn wait(&mut self, deadline: Instant) {
        while !self.has_ended() && Instant::now() < deadline {
            thread::sleep(STEP);
        }
    }

    /// Ends it and what it has started, as far as that is still in its group.
    pub(super) fn kill(mut self) {
        // The group may outlive its first process, which was waited for: its number is not used again before the group
        // is empty (kill(2), fork(2)).
        if let Some(group) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

/// The program's ends.
struct Pipes {
    stdin: PipeReader,
    stdout: PipeWriter,
    stderr: PipeWriter,
}

fn command(program: &TableProgram, root: &Path, directory: &Path, pipes: Pipes) -> Command {
    // Always with a name and rights: a path may have `=` in it, or end like rights.
    let mut named = OsString::from("root=");
    named.push(root);
    named.push(if program.may_write { ":rw" } else { ":ro" });
    // Not by a path that may lead elsewhere by now.
    let mut command = Command::new("/proc/self/exe");
    command.arg0("rootbound").arg("exec").arg("--root").arg(named);
    if !directory.as_os_str().is_empty() {
        command.arg("--cwd").arg(directory);
    }
    command.args(&program.options).arg("--").args(&program.command);
    command.envs(program.variables.iter().map(|(name, value)| (name, value)));
    command.stdin(pipes.stdin).stdout(pipes.stdout).stderr(pipes.stderr).process_group(0);
    command
}
