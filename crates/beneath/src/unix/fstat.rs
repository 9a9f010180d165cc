//! `fstat(2)` and `statat` as a [`Stat`], the same on every Unix, and what a replacement inherits from the file it
//! replaces: owner, mode, ACL, user attributes.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs::File, io, os::fd::AsFd};

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, SeekFrom, Uid, fchmod, fchown, fstat, seek, statat};
use rustix::io::Errno;

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
use super::acl::{ACCESS_ACL, AclEntry, masked_entries};
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

/// Gives `new` the owner, mode and user attributes of the file it replaces, as far as this user may. What the system has no
/// room for fails. Where an ACL cannot be set, the group's bits, which are its mask, become those of `group::`; where the
/// group cannot, no group has more than it had before.
///
/// Set-user-id, set-group-id and file capabilities are dropped on purpose: the content is new, so
/// it has not earned them (CVE-2026-46406).
pub fn carry_attributes(old: &File, old_stat: &Stat, new: &File) -> io::Result<()> {
    let fresh = file_stat(new)?;
    carry_owner(new, old_stat, &fresh)?;
    let mut mode = old_stat.identity.mode;
    let group = old_stat.identity.gid;
    if fresh.identity.gid != group && file_stat(new)?.identity.gid != group {
        // Another group's: each of the two may do what it could as one of the others, and no more than the group.
        let least = mode >> 3 & mode & 7;
        mode = mode & !0o077 | least << 3 | least;
    }
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    let mode = mode & carry_extended(old, new)?;
    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    let _ = old;
    // After the owner: the file was made for this user alone, and no other group may read it in between.
    change("fchmod", || fchmod(new, Mode::from_raw_mode(permission_bits(mode))))
}

/// Passes on that the system had no room; any other refusal leaves things as they are.
fn unless_full(set: io::Result<()>) -> io::Result<bool> {
    match set {
        Err(error) if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => Err(error),
        set => Ok(set.is_ok()),
    }
}

/// Gives an open file or directory, which is `now`, the owner and group that `wanted` has, as far as the system lets
/// this process: only root may give files away (chown(2)), and then the group alone is the next best.
pub(super) fn carry_owner(fd: impl AsFd, wanted: &Stat, now: &Stat) -> io::Result<()> {
    let (wanted, now) = (wanted.identity, now.identity);
    let owner = (wanted.uid != now.uid).then(|| Uid::from_raw(wanted.uid));
    let group = (wanted.gid != now.gid).then(|| Gid::from_raw(wanted.gid));
    let give = |owner| change("fchown", || fchown(&fd, owner, group));
    if (owner.is_some() || group.is_some()) && !unless_full(give(owner))? {
        unless_full(give(None))?;
    }
    Ok(())
}

/// Copies `user.*` attributes and the access ACL; what cannot be read or set is left. Returns the mode bits that may be set.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn carry_extended(old: &File, new: &File) -> io::Result<u32> {
    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
    // A longer list (ERANGE) is left: attributes are carried over where that is easy.
    let mut names = vec![0_u8; 16 * 1024];
    let length = flistxattr(old, names.as_mut_slice()).unwrap_or(0);
    // The largest value there is on Linux: `XATTR_SIZE_MAX`, xattr(7).
    let mut value = vec![0_u8; 64 * 1024];
    let set = |name: &[u8], value: &[u8]| {
        // Some file systems have none of them (ENOTSUP), and an ACL takes the owner or CAP_FOWNER: setxattr(2).
        unless_full(change("fsetxattr", || fsetxattr(new, name, value, XattrFlags::empty())))
    };
    for name in names[..length].split(|byte| *byte == 0) {
        let wanted = name.starts_with(b"user.") || (cfg!(target_vendor = "apple") && !name.is_empty());
        if wanted && let Ok(size) = fgetxattr(old, name, value.as_mut_slice()) {
            set(name, &value[..size])?;
        }
    }
    if cfg!(target_vendor = "apple") {
        return Ok(0o777);
    }
    let own = fgetxattr(old, ACCESS_ACL, value.as_mut_slice()).ok();
    if let Some(size) = own
        && set(ACCESS_ACL.as_bytes(), &value[..size])?
    {
        return Ok(0o777);
    }
    let group = || masked_entries(old, ACCESS_ACL).unwrap_or_default().into_iter().find(AclEntry::is_of_owning_group);
    let bits = own.map_or(0o777, |_| 0o707 | group().map_or(0, |group| group.bits()) << 3);
    // One that the directory gives its new files (`default:`) would let in whom the former file did not.
    if fgetxattr(new, ACCESS_ACL, value.as_mut_slice()).is_ok() {
        change("fremovexattr", || fremovexattr(new, ACCESS_ACL))?;
    }
    Ok(bits)
}

/// The nine permission bits, in the width that this system's modes have.
pub(super) fn permission_bits<T: TryFrom<u32> + Default>(mode: u32) -> T {
    T::try_from(mode & 0o777).unwrap_or_default()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests prepare real files, and start this program again")]

    use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

    use rustix::fs::{XattrFlags, fgetxattr, fsetxattr};

    use super::*;

    const FOLDER_VARIABLE: &str = "_BENEATH_ACL_IN";

    /// `user::rw-`, `user:1:rwx`, `group::r--`, `mask::rwx`, `other::---`.
    fn acl() -> Vec<u8> {
        let entries = [(1_u16, 6_u16, u32::MAX), (2, 7, 1), (4, 4, u32::MAX), (16, 7, u32::MAX), (32, 0, u32::MAX)];
        let bytes = entries.iter().flat_map(|(tag, bits, id)| {
            [&tag.to_le_bytes()[..], &bits.to_le_bytes()[..], &id.to_le_bytes()[..]].concat()
        });
        2_u32.to_le_bytes().into_iter().chain(bytes).collect()
    }

    fn carried(folder: &Path) -> io::Result<u32> {
        let (old, new) = (File::open(folder.join("old"))?, File::create(folder.join("new"))?);
        carry_attributes(&old, &file_stat(&old)?, &new)?;
        Ok(file_stat(&new)?.mode())
    }

    /// The part of the test below that another process plays; alone it does nothing.
    #[test]
    fn started_again() {
        let Some(folder) = std::env::var_os(FOLDER_VARIABLE) else { return };
        match carried(Path::new(&folder)) {
            Ok(mode) => assert_eq!(mode, 0o640, "the mask is no right of the group"),
            Err(error) => {
                assert!(matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded), "{error}");
            }
        }
    }

    #[test]
    fn an_acl_is_carried_over_or_the_group_gets_no_more_than_it_had() {
        let folder = tempfile::tempdir().unwrap();
        let old = File::create(folder.path().join("old")).unwrap();
        if fsetxattr(&old, ACCESS_ACL, &acl(), XattrFlags::empty()).is_err() {
            return;
        }
        assert_eq!(carried(folder.path()).unwrap(), 0o670);
        // The first call sets the ACCESS: it is refused, or there is no room.
        for (fault, is_made) in [("EIO:1", true), ("ENOSPC:1", false), ("EDQUOT:1", false)] {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "unix::fstat::tests::started_again"]).env(FOLDER_VARIABLE, folder.path());
            let output = command.env("_ROOTBOUND_FAULT", fault).output().unwrap();
            let is_whole = fs::metadata(folder.path().join("new")).unwrap().permissions().mode() & 0o777 == 0o640;
            let log = String::from_utf8_lossy(&output.stderr);
            assert_eq!((output.status.success(), is_whole), (true, is_made), "{fault}: {log}");
            fs::remove_file(folder.path().join("new")).unwrap();
        }
    }

    #[test]
    fn an_acl_that_the_directory_gives_does_not_widen_a_file_without_one() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("old"), "").unwrap();
        fs::set_permissions(folder.path().join("old"), fs::Permissions::from_mode(0o640)).unwrap();
        let directory = File::open(folder.path()).unwrap();
        if fsetxattr(&directory, "system.posix_acl_default", &acl(), XattrFlags::empty()).is_err() {
            return;
        }
        assert_eq!(carried(folder.path()).unwrap(), 0o640);
        let new = File::open(folder.path().join("new")).unwrap();
        assert!(fgetxattr(&new, ACCESS_ACL, [0_u8; 100].as_mut_slice()).is_err(), "user:1 may not read it");
    }
}
