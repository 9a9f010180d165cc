//! A lock of a directory between the processes of one user.
//!
//! Windows locks files only. So the lock is a file that is open for one process alone and goes when it is closed
//! (`FILE_FLAG_DELETE_ON_CLOSE`), also by the end of its process. It is in the user's local folder, named by the volume and
//! number of the directory: no file is made in the workspace, and every process finds the same one whatever its state
//! folder.
//!
//! Limits: processes of other users, and on other machines, do not see it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::super::LockAttempt;
use super::busy::is_in_use;
use super::dir::Dir;

/// `FILE_FLAG_DELETE_ON_CLOSE`: a process that dies leaves no lock.
const DELETE_ON_CLOSE: u32 = 0x0400_0000;
/// `FILE_ATTRIBUTE_TEMPORARY`: not worth writing to the disk.
const TEMPORARY: u32 = 0x100;

impl Dir {
    /// Whether directories can be locked on this system.
    pub const LOCKS: bool = true;

    /// Tries to take the lock of this directory, which this handle has until it is dropped.
    pub fn try_lock(&self) -> LockAttempt {
        let Some((volume, number)) = self.stat().ok().map(|stat| stat.device_and_inode()).filter(|id| *id != (0, 0))
        else {
            return LockAttempt::Unsupported;
        };
        let folder = folder();
        match lock_file(&folder, &format!("{volume:x}-{number:x}.lock")) {
            Ok(file) => {
                // It is not set yet: while this handle has the file open, no second open of it succeeds (share mode 0).
                let _ = self.lock.set(file);
                LockAttempt::Acquired
            }
            Err(error) if is_in_use(&error) => LockAttempt::HeldElsewhere,
            // The last holder's file is going, or the folder may not be written.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && is_writable(&folder) => {
                LockAttempt::HeldElsewhere
            }
            Err(_) => LockAttempt::Unsupported,
        }
    }

    /// The lock that this handle has, without the directory.
    pub fn into_lock(self) -> Option<File> {
        self.lock.into_inner()
    }
}

/// Where this user's programs keep what belongs to this machine.
fn folder() -> PathBuf {
    let local = std::env::var_os("LOCALAPPDATA").map(PathBuf::from).filter(|path| path.is_absolute());
    local.unwrap_or_else(std::env::temp_dir).join("rootbound").join("locks")
}

#[expect(clippy::disallowed_methods, reason = "a folder of this program, no path of a caller")]
fn lock_file(folder: &Path, name: &str) -> io::Result<File> {
    let path = folder.join(name);
    let open = || {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).share_mode(0);
        options.custom_flags(DELETE_ON_CLOSE).attributes(TEMPORARY).open(&path)
    };
    match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(folder)?;
            open()
        }
        answer => answer,
    }
}

/// Whether another file can be made there.
fn is_writable(folder: &Path) -> bool {
    // Named by the process, so that two that ask at once do not refuse each other.
    lock_file(folder, &format!("{}.probe", std::process::id())).is_ok()
}
