//! One program that the broker runs: how it is started and ended.

use std::{
    ffi::OsString,
    fs,
    io::{self, PipeReader, PipeWriter},
    os::{fd::OwnedFd, unix::process::CommandExt as _},
    path::Path,
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, waitpid};

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

    /// Its number, which is that of its group.
    pub(super) fn id(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.0.id()).ok()?)
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
        if let Some(group) = self.id() {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

/// The children of this process.
#[expect(clippy::disallowed_methods, reason = "the process's own children; no call is served here")]
pub(super) fn children() -> Vec<Pid> {
    let own = getpid().as_raw_nonzero().to_string();
    let is_own = |number: &str| {
        let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        // The name is in brackets and may hold anything: state and parent are after the last one (proc_pid_stat(5)).
        stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)) == Some(own.as_str())
    };
    let names = fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| name.parse::<u32>().is_ok() && is_own(name))
        .filter_map(|name| Pid::from_raw(name.parse().ok()?))
        .collect()
}

/// Ends a child and takes note of its end.
pub(super) fn kill_and_wait(child: Pid) {
    let _ = kill_process(child, Signal::KILL);
    let _ = waitpid(Some(child), WaitOptions::empty());
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
