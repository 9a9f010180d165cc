//! The command's own directory for temporary files.
//!
//! The shared one is not offered: it holds the files and sockets of all other programs. Nothing of this process is left
//! to remove a directory afterwards, so it has a fixed name for the same roots and is used again; the system empties its
//! folder for temporary files.

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, mkdir, openat};
use rustix::io::Errno;
use rustix::process::geteuid;
use sha2::{Digest as _, Sha256};

use super::CommandWalls;

/// Makes it, or finds it. It belongs to the person alone, or it is not used.
pub(super) fn directory(walls: &CommandWalls) -> Result<PathBuf, String> {
    let mut hash = Sha256::new();
    for (right, paths) in [(b"w", &walls.writable), (b"r", &walls.readable)] {
        for path in paths {
            hash.update(right);
            hash.update(path.as_os_str().as_bytes());
            hash.update([0]);
        }
    }
    let number = hash.finalize().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
    let user = geteuid();
    let path = std::env::temp_dir().join(format!("rootbound-exec-{}-{number:016x}", user.as_raw()));
    let failed = |error: Errno| format!("{} cannot be used: {error}", path.display());
    match mkdir(&path, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(failed(error)),
    }
    // Another person may have made a directory or a link of that name.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = openat(CWD, &path, flags, Mode::empty()).and_then(fstat).map_err(failed)?;
    let is_private = Mode::from_raw_mode(found.st_mode) & (Mode::RWXG | Mode::RWXO) == Mode::empty();
    if FileType::from_raw_mode(found.st_mode) != FileType::Directory || found.st_uid != user.as_raw() || !is_private {
        return Err(format!("{} is not a directory of this person alone", path.display()));
    }
    Ok(path)
}
