//! Each wall of a command on Linux alone.

#![expect(clippy::disallowed_methods, reason = "the test tries what each wall alone must stop")]

use std::fs;
use std::process::{Command, Output};
use std::thread;

use super::*;
use crate::{landlock::confine_command, seccomp::install_for_command as refuse_calls};

/// Runs a script of `sh` behind one wall, in a folder with `root` and `outside/secret`. The wall is that of a thread
/// and of what it starts.
fn behind(wall: impl FnOnce(&CommandWalls) + Send, script: &str) -> Output {
    let temp = tempfile::tempdir().unwrap();
    for folder in ["root", "outside"] {
        fs::create_dir(temp.path().join(folder)).unwrap();
    }
    fs::write(temp.path().join("outside/secret"), "secret").unwrap();
    let root: PathBuf = temp.path().join("root");
    let walls = CommandWalls { writable: vec![root.clone()], ..CommandWalls::default() };
    let confined = || {
        wall(&walls);
        Command::new("/bin/sh").args(["-c", script]).current_dir(&root).output().unwrap()
    };
    thread::scope(|scope| scope.spawn(confined).join().unwrap())
}

#[test]
fn landlock_alone_keeps_files_and_other_processes_away() {
    let other = std::os::unix::process::parent_id();
    let status = |script: &str| {
        let landlock = |walls: &CommandWalls| confine_command(walls, Path::new("/bin/sh")).unwrap();
        behind(landlock, script).status.code()
    };
    assert_eq!(status("echo x > file && cat file && (cat file) | cat && cp /bin/true t && ./t"), Some(0));
    for script in [
        "cat ../outside/secret",
        "echo x > ../outside/new",
        "rm ../outside/secret",
        "ls /",
        "ls /proc",
        &format!("cat /proc/{other}/environ"),
        &format!("cat /proc/{other}/root/etc/passwd"),
        &format!("kill -CONT {other}"),
    ] {
        assert_ne!(status(script), Some(0), "{script}");
    }
}

#[test]
fn filter_alone_keeps_namespaces_and_sockets_away() {
    let status = |script: &str| behind(|_| refuse_calls(false).unwrap(), script).status.code();
    assert_eq!(status("echo x > file && cat file && (cat file) | cat && mkfifo p && kill $$; true"), None, "killed");
    assert_eq!(status("echo x > file && chmod 600 file && sleep 0 & wait"), Some(0));
    for script in ["unshare -U true", "unshare -Ur true", "nsenter -t 1 -m true", "bash -c '< /dev/tcp/127.0.0.1/9'"] {
        let output = behind(|_| refuse_calls(false).unwrap(), script);
        assert_ne!(output.status.code(), Some(0), "{script}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("refused"), "the network answered: {said}");
    }
}
