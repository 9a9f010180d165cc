//! Moving, linking and removing entries by their names in open directories.
//!
//! The same footing as `unix`: names are single components, links are never followed.

use std::{ffi::OsStr, fs::File, io, os::fd::AsFd as _};

use rustix::fs::{Access, AtFlags, Mode, accessat, fchmod, linkat, renameat, symlinkat, unlinkat};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid, getgid, getuid};

use crate::{Attributes, Dir, OpenFor};

use super::fstat::raw_mode;
use super::process::change;

fn may(dir: &Dir, name: &OsStr, access: Access) -> io::Result<()> {
    match accessat(dir, name, access, AtFlags::EACCESS) {
        // Profiles of containers that do not know faccessat2 (Linux 5.8) refuse it; of a process that is not set-user-ID
        // the older call asks the same.
        Err(Errno::PERM) if getuid() == geteuid() && getgid() == getegid() => {
            Ok(accessat(dir, name, access, AtFlags::empty())?)
        }
        answer => Ok(answer?),
    }
}

impl Dir {
    /// Unlinks a file, or a link itself.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        change("unlinkat", || unlinkat(self, name, AtFlags::empty()))
    }

    /// Gives `from` the new name `to`, which must be free (`AlreadyExists` otherwise).
    pub fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match self.rename_with(from, self, to, false) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            answer => return answer,
        }
        // A hard link is as atomic: it fails when the name is taken.
        match change("linkat", || linkat(self, from, self, to, AtFlags::empty())) {
            Ok(()) => match self.remove(from) {
                // A failure leaves one name, as far as the system lets it: who is told of it looks for no second one.
                Err(error) if error.kind() != io::ErrorKind::NotFound => self.remove(to).and(Err(error)),
                // Where the first has gone meanwhile, the second is the only one.
                _ => Ok(()),
            },
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            // A directory has no second name, nor has a file on FAT (EPERM, linkat(2)): look, then rename.
            Err(_) if self.child_stat(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => self.move_over(from, self, to),
        }
    }

    /// Gives a file a second name, which must be free (`AlreadyExists` otherwise).
    pub fn add_name(&self, name: &OsStr, second: &OsStr) -> io::Result<()> {
        change("linkat", || linkat(self, name, self, second, AtFlags::empty()))
    }

    /// Fails where the rights of this directory forbid to remove names from it.
    pub fn may_remove_names(&self) -> io::Result<()> {
        may(self, OsStr::new("."), Access::WRITE_OK | Access::EXEC_OK)
    }

    /// Fails where rights, an ACL, an attribute or the file system forbid this user to write what has a name.
    pub fn may_write(&self, name: &OsStr) -> io::Result<()> {
        may(self, name, Access::WRITE_OK)
    }

    /// Whether an open file of this directory is a mount of its own there (`docker -v file:file`), which no rename
    /// replaces (`EBUSY`). Not by the device: that of a file on overlayfs may be another one than its directory's.
    pub fn is_mounted(&self, file: &File) -> bool {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{StatxFlags, statx};
            // Linux 5.8; where it is not known, a rename says it.
            let mount = |fd: std::os::fd::BorrowedFd<'_>| {
                let known = statx(fd, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
                (known.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(known.stx_mnt_id)
            };
            mount(self.as_fd()).zip(mount(file.as_fd())).is_some_and(|(own, other)| own != other)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (self, file);
            false
        }
    }

    /// Removes an empty directory.
    pub fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        change("unlinkat", || unlinkat(self, name, AtFlags::REMOVEDIR))
    }

    /// Makes a link that says `target`; the name must be free.
    pub fn make_link(&self, target: &OsStr, name: &OsStr) -> io::Result<()> {
        change("symlinkat", || symlinkat(target, self, name))
    }

    /// Moves an entry to a new name in `to_dir`, which must be free (`AlreadyExists` otherwise).
    pub fn move_new(&self, from: &OsStr, to_dir: &Self, to: &OsStr) -> io::Result<()> {
        match self.rename_with(from, to_dir, to, false) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            answer => return answer,
        }
        // Look, then rename: the best there is for directories where the flag is unknown.
        match to_dir.child_stat(to) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.move_over(from, to_dir, to),
            Err(error) => Err(error),
        }
    }

    /// Renames without replacing (`RENAME_NOREPLACE`, Linux 3.15, and `RENAME_EXCL` of macOS), or else with an exchange;
    /// `Unsupported` where the kernel or the file system lacks it.
    fn rename_with(&self, from: &OsStr, to_dir: &Self, to: &OsStr, is_exchange: bool) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            let flags = if is_exchange { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
            change("renameat2", || renameat_with(self, from, to_dir, to, flags)).map_err(unsupported)
        }
        #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
        {
            let _ = (from, to_dir, to, is_exchange);
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// Moves an entry to a name in `to_dir`, replacing a file there.
    pub fn move_over(&self, from: &OsStr, to_dir: &Self, to: &OsStr) -> io::Result<()> {
        change("renameat", || renameat(self, from, to_dir, to))
    }

    /// Swaps two entries in one step (`RENAME_EXCHANGE`, Linux 3.15); `Unsupported` where that cannot be done.
    pub fn swap(&self, one: &OsStr, other_dir: &Self, other: &OsStr) -> io::Result<()> {
        self.rename_with(one, other_dir, other, true)
    }

    /// Writes everything of this file system to the disk; false where that cannot be asked for.
    #[cfg_attr(not(target_os = "linux"), expect(clippy::unnecessary_wraps, reason = "on Linux it can fail"))]
    pub fn sync_file_system(&self) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        {
            // syncfs(2) takes no handle that only passes (`O_PATH`): EBADF.
            let listed = self.reopen(OpenFor::List)?;
            change("syncfs", || rustix::fs::syncfs(&listed))?;
            Ok(true)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = self;
            Ok(false)
        }
    }

    /// Gives this directory the permission bits of `mode`.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        // fchmod(2) takes no handle that only passes (`O_PATH`): EBADF.
        let listed = self.reopen(OpenFor::List)?;
        // Without the sticky bit, everybody could remove what others have put there.
        change("fchmod", || fchmod(listed.as_fd(), Mode::from_raw_mode(raw_mode(mode & 0o1777))))
    }

    /// As [`Attributes::give`], of a directory, which may keep set-group-ID and the sticky bit.
    pub fn give(&self, attributes: &Attributes) -> io::Result<()> {
        // fchown(2) takes no handle that only passes, either.
        attributes.give_to(&self.reopen(OpenFor::List)?, 0o3777)
    }

    /// As [`Attributes::of`], of this directory.
    pub fn attributes(&self) -> io::Result<Attributes> {
        Ok(Attributes::of_open(&self.reopen(OpenFor::List)?, &self.stat()?))
    }
}

/// Gives an open file the permission bits of `mode`, never set-user-id, set-group-id or sticky.
pub fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    change("fchmod", || fchmod(file, Mode::from_raw_mode(raw_mode(mode & 0o777))))
}

/// Errors that say "this kernel or this file system cannot": `EINVAL` and `ENOSYS` of renameat2(2), `EPERM` of old
/// container profiles.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn unsupported(error: io::Error) -> io::Error {
    match Errno::from_io_error(&error) {
        // EINVAL is also the answer for a directory that would move into itself: the plain rename says it again.
        Some(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => io::ErrorKind::Unsupported.into(),
        _ => error,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests prepare real files, and start this program again")]

    use std::{fs, path::Path, process::Command};

    use super::*;

    const FOLDER_VARIABLE: &str = "_BENEATH_RENAME_IN";

    /// The part of the test below that another process plays; alone it does nothing.
    #[test]
    fn started_again() {
        let Some(folder) = std::env::var_os(FOLDER_VARIABLE) else { return };
        let dir = Dir::open_ambient(Path::new(&folder), false).unwrap();
        assert_eq!(dir.rename_new(OsStr::new("from"), OsStr::new("to")).unwrap_err().raw_os_error(), Some(5));
    }

    #[test]
    fn a_file_whose_first_name_stays_gets_no_second_one() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("from"), "content").unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "unix::entries::tests::started_again"]).env(FOLDER_VARIABLE, folder.path());
        // The first call is linkat(2), the second the unlinkat(2) that fails.
        let output = command.env("_ROOTBOUND_FAULT", "EIO:2,no-exchange").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["from"]);
    }
}
