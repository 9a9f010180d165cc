//! `fstat(2)` and `statat` as a [`Stat`], the same on every Unix, and what a replacement inherits from the file it
//! replaces: owner, mode, ACL, user attributes.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs::File, io, os::fd::AsFd};

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, SeekFrom, Uid, fchmod, fchown, fstat, seek, statat};
use rustix::io::Errno;

use super::process::{change, retry};
use crate::{FileIdentity, FileKind, Stat};

/// Device and inode of what a root's host path leads to, links followed.
pub fn identity(path: &Path) -> io::Result<(u64, u64)> {
    Ok(stat_of(&retry(|| statat(CWD, path, AtFlags::empty()))?).device_and_inode())
}

/// The path without links.
#[expect(clippy::disallowed_methods, reason = "once at start-up, on trusted paths, before any call is served")]
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// Stats an open file.
pub fn file_stat(file: &File) -> io::Result<Stat> {
    Ok(stat_of(&fstat(file)?))
}

/// Where data of a file of that size begins, at `at` or after it; its end where only a hole follows.
pub fn next_data(file: &File, at: u64, size: u64) -> u64 {
    // ENXIO: no data follows (lseek(2)). Any other error, as EINVAL of systems without `SEEK_DATA`: all may be data.
    next_extent(file, SeekFrom::Data(at)).unwrap_or_else(|error| if error == Errno::NXIO { size } else { at })
}

/// Where the next hole of a file of that size begins, after `at`; its end where none does, or nobody knows.
pub fn next_hole(file: &File, at: u64, size: u64) -> u64 {
    next_extent(file, SeekFrom::Hole(at)).ok().filter(|hole| *hole > at).unwrap_or(size)
}

/// Leaves the position of the file where it was.
fn next_extent(file: &File, to: SeekFrom) -> Result<u64, Errno> {
    let place = seek(file, SeekFrom::Current(0))?;
    let found = seek(file, to);
    seek(file, SeekFrom::Start(place))?;
    found
}

/// Field types differ between systems; every value fits, and a negative one means nothing here.
fn number<T: TryInto<u64>>(value: T) -> u64 {
    value.try_into().unwrap_or(0)
}

fn seconds<T: TryInto<i64>>(value: T) -> i64 {
    value.try_into().unwrap_or(0)
}

fn narrow<T: TryInto<u32>>(value: T) -> u32 {
    value.try_into().unwrap_or(0)
}

pub(super) fn stat_of(raw: &rustix::fs::Stat) -> Stat {
    let kind = match FileType::from_raw_mode(raw.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        _ => FileKind::Other,
    };
    let identity = FileIdentity {
        device: number(raw.st_dev),
        inode: number(raw.st_ino),
        links: number(raw.st_nlink),
        mode: narrow(raw.st_mode),
        uid: raw.st_uid,
        gid: raw.st_gid,
        modified: (seconds(raw.st_mtime), narrow(raw.st_mtime_nsec)),
        changed: (seconds(raw.st_ctime), narrow(raw.st_ctime_nsec)),
    };
    Stat { kind, size: number(raw.st_size), modified: system_time(identity.modified), identity }
}

fn system_time((seconds, nanoseconds): (i64, u32)) -> Option<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let base =
        if seconds < 0 { SystemTime::UNIX_EPOCH.checked_sub(whole) } else { SystemTime::UNIX_EPOCH.checked_add(whole) };
    base?.checked_add(Duration::from_nanos(nanoseconds.into()))
}

/// Gives `new` the owner, mode and user attributes of the file it replaces, as far as this user may.
///
/// Set-user-id, set-group-id and file capabilities are dropped on purpose: the content is new, so
/// it has not earned them (CVE-2026-46406).
pub fn carry_attributes(old: &File, old_stat: &Stat, new: &File) -> io::Result<()> {
    let fresh = file_stat(new)?;
    carry_owner(new, old_stat, &fresh);
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    carry_extended(old, new);
    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    let _ = old;
    // After the owner: the file was made for this user alone, and no other group may read it in between.
    change("fchmod", || fchmod(new, Mode::from_raw_mode(permission_bits(old_stat.identity.mode))))
}

/// Gives an open file or directory, which is `now`, the owner and group that `wanted` has, as far as the system lets
/// this process: only root may give files away (chown(2)), and then the group alone is the next best.
pub(super) fn carry_owner(fd: impl AsFd, wanted: &Stat, now: &Stat) {
    let (wanted, now) = (wanted.identity, now.identity);
    let owner = (wanted.uid != now.uid).then(|| Uid::from_raw(wanted.uid));
    let group = (wanted.gid != now.gid).then(|| Gid::from_raw(wanted.gid));
    let give = |owner| change("fchown", || fchown(&fd, owner, group));
    if (owner.is_some() || group.is_some()) && give(owner).is_err() {
        let _ = give(None);
    }
}

/// Copies `user.*` attributes and the access ACL; what cannot be read or set is left.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn carry_extended(old: &File, new: &File) {
    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fsetxattr};
    // A longer list (ERANGE) is left: attributes are carried over where that is easy.
    let mut names = vec![0_u8; 16 * 1024];
    let Ok(length) = flistxattr(old, names.as_mut_slice()) else {
        return;
    };
    // The largest value there is on Linux: `XATTR_SIZE_MAX`, xattr(7).
    let mut value = vec![0_u8; 64 * 1024];
    for name in names[..length].split(|byte| *byte == 0) {
        let wanted = name.starts_with(b"user.")
            || name == b"system.posix_acl_access"
            || (cfg!(target_vendor = "apple") && !name.is_empty());
        if !wanted {
            continue;
        }
        if let Ok(size) = fgetxattr(old, name, value.as_mut_slice()) {
            // Some file systems have none of them (ENOTSUP), and an ACL takes the owner or CAP_FOWNER: setxattr(2).
            let _ = change("fsetxattr", || fsetxattr(new, name, &value[..size], XattrFlags::empty()));
        }
    }
}

/// The nine permission bits, in the width that this system's modes have.
pub(super) fn permission_bits<T: TryFrom<u32> + Default>(mode: u32) -> T {
    T::try_from(mode & 0o777).unwrap_or_default()
}
