//! The command's own directory for temporary files: the shared one holds the files and sockets of all other programs.
//!
//! This process becomes the command, so another one removes the directory: [`watch`] waits for the end of the command and
//! keeps a lock on the directory meanwhile. It is no child of the command, which may wait for all that it has. What a
//! killed watcher leaves has no lock, and is removed by the next start.

use std::{
    error::Error,
    fs, io,
    os::{
        fd::OwnedFd,
        unix::{fs::MetadataExt as _, process::CommandExt as _},
    },
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::{CWD, FileType, FlockOperation, Mode, OFlags, flock, fstat, mkdir, openat},
    io::Errno,
    process::{PidfdFlags, geteuid, getpid, pidfd_open},
};

/// The subcommand that removes the directory; hidden from the help, as a person has no use for it.
pub const CLEANUP_COMMAND: &str = "exec-cleanup";
/// The argument after the directory with which the subcommand waits; without it, it starts itself once more and ends.
const WAIT_ARGUMENT: &str = "wait";
/// Names that are tried before the command gets no directory.
const MAX_NAMES: u32 = 100;

/// The start of the directories' names: another person's are never touched.
fn prefix() -> String {
    format!("rootbound-exec-{}-", geteuid().as_raw())
}

/// Makes the directory and starts its watcher. Call it before the walls: the watcher has none, and a rule of Landlock is on
/// a directory that exists.
pub(super) fn make() -> Result<PathBuf, Box<dyn Error>> {
    let folder = std::env::temp_dir();
    let failed = |error: io::Error| format!("{} cannot be used: {error}", folder.display()).into();
    remove_left(&folder);
    for number in 0..MAX_NAMES {
        let path = folder.join(format!("{}{}-{number}", prefix(), getpid().as_raw_pid()));
        match mkdir(&path, Mode::RWXU) {
            Ok(()) => {}
            Err(Errno::EXIST) => continue,
            Err(error) => return Err(failed(error.into())),
        }
        // Without the lock it belongs to a start that took it for one that was left.
        let Some(directory) = locked(&path) else { continue };
        return start_watcher(&path, directory).map(|()| path.clone()).map_err(|error| {
            let _ = remove(&path);
            failed(error)
        });
    }
    Err(format!("{} has all of its names", folder.display()).into())
}

/// The directory of this person alone at `path`, and nobody else has its lock.
fn locked(path: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = openat(CWD, path, flags, Mode::empty()).ok()?;
    flock(&directory, FlockOperation::NonBlockingLockExclusive).ok()?;
    let found = fstat(&directory).ok()?;
    let is_private = Mode::from_raw_mode(found.st_mode) & (Mode::RWXG | Mode::RWXO) == Mode::empty();
    let is_own = FileType::from_raw_mode(found.st_mode) == FileType::Directory && found.st_uid == geteuid().as_raw();
    (is_own && is_private && found.st_nlink > 0).then_some(directory)
}

/// Removes what watchers that were killed have left.
#[expect(clippy::disallowed_methods, reason = "the folder for temporary files, before any call is served")]
fn remove_left(folder: &Path) {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in names.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix())) {
        if let Some(lock) = locked(&entry.path()) {
            let _ = remove(&entry.path());
            drop(lock);
        }
    }
}

/// Follows no link, neither at `path` nor below it.
#[expect(clippy::disallowed_methods, reason = "a directory that this program made; no call is served")]
fn remove(path: &Path) -> io::Result<()> {
    fs::remove_dir_all(path)
}

/// Starts the process that starts the watcher, and waits for it alone.
fn start_watcher(path: &Path, directory: OwnedFd) -> io::Result<()> {
    let own = pidfd_open(getpid(), PidfdFlags::empty())?;
    let status = cleanup(path).stdin(directory).stdout(own).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other("nothing would remove it")) }
}

/// The subcommand for `path`, out of reach of a signal to the command's group.
fn cleanup(path: &Path) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("rootbound").arg(CLEANUP_COMMAND).arg(path).env_clear().current_dir("/");
    command.stderr(Stdio::null()).process_group(0);
    command
}

/// The subcommand: removes the directory of its first argument, which is open as stdin, once the process of the handle
/// that is its stdout (`pidfd_open(2)`) has ended.
#[expect(clippy::disallowed_methods, reason = "a directory that this program made; no call is served")]
pub fn watch() -> ExitCode {
    let Some(path) = std::env::args_os().nth(2).map(PathBuf::from) else { return ExitCode::FAILURE };
    if std::env::args_os().nth(3).is_none() {
        let started = cleanup(&path).arg(WAIT_ARGUMENT).spawn();
        return if started.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let (directory, process) = (io::stdin(), io::stdout());
    loop {
        match poll(&mut [PollFd::new(&process, PollFlags::IN)], None) {
            Err(Errno::INTR) => {}
            Err(_) => return ExitCode::FAILURE,
            Ok(_) => break,
        }
    }
    // It takes no other directory than the one that is open, whatever a person passes.
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_same = |found: rustix::fs::Stat| {
        fs::symlink_metadata(&path).is_ok_and(|now| (now.dev(), now.ino()) == (found.st_dev, found.st_ino))
    };
    let is_right = name.starts_with(&prefix()) && fstat(&directory).is_ok_and(is_same);
    if is_right && remove(&path).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
