//! `fstat(2)` and `statat` as a [`Stat`], the same on every Unix, and what a replacement inherits from the file it
//! replaces: owner, mode, ACL, user attributes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs::File, io, os::fd::AsFd};

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, SeekFrom, Uid, fchmod, fchown, fstat, seek, statat};
use rustix::io::Errno;

use super::acl::{self, ACCESS_ACL, AclEntry, DEFAULT_ACL};
use super::process::{change, retry};
use crate::attributes::OF_USERS;
use crate::{Attributes, FileIdentity, FileKind, Stat};

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

impl Attributes {
    /// Those of an open file that is `stat`. What cannot be read of them is left out.
    pub fn of(file: &File, stat: &Stat) -> Self {
        Self::of_open(file, stat)
    }

    pub(super) fn of_open(file: impl AsFd, stat: &Stat) -> Self {
        let identity = stat.identity;
        // What a file is never given again is no part of its state.
        let most = if stat.kind == FileKind::Directory { 0o3777 } else { 0o777 };
        Self { uid: identity.uid, gid: identity.gid, mode: stat.mode() & most, extended: extended(file) }
    }

    /// Gives them to an open file, as far as this user may. What the system has no room for fails. Where an ACL cannot be
    /// set, the group's bits, which are its mask, become those of `group::`; where the group cannot, no group has more than
    /// it had before.
    ///
    /// Set-user-id, set-group-id and file capabilities are dropped on purpose: the content is new, so
    /// it has not earned them (CVE-2026-46406).
    pub fn give(&self, file: &File) -> io::Result<()> {
        self.give_to(file, 0o777)
    }

    /// As [`Self::give`], with those of the mode's bits that are in `most`.
    pub(super) fn give_to(&self, fd: impl AsFd, most: u32) -> io::Result<()> {
        let gid = || fstat(&fd).map(|now| now.st_gid);
        carry_owner(&fd, self)?;
        let mut mode = self.mode & most;
        if gid()? != self.gid {
            // Another group's: each of the two may do what it could as one of the others, and no more than the group.
            let least = mode >> 3 & mode & 7;
            mode = mode & 0o1700 | least << 3 | least;
        }
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        let mode = mode & (give_extended(&self.extended, &fd)? | 0o7000);
        // After the owner: the file was made for this user alone, and no other group may read it in between.
        change("fchmod", || fchmod(&fd, Mode::from_raw_mode(raw_mode(mode))))
    }
}

/// Passes on that the system had no room; any other refusal leaves things as they are.
fn unless_full(set: io::Result<()>) -> io::Result<bool> {
    match set {
        Err(error) if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => Err(error),
        set => Ok(set.is_ok()),
    }
}

/// Gives an open file or directory the owner and group that are wanted, as far as the system lets
/// this process: only root may give files away (chown(2)), and then the group alone is the next best.
fn carry_owner(fd: impl AsFd, wanted: &Attributes) -> io::Result<()> {
    let now = fstat(&fd)?;
    let owner = (wanted.uid != now.st_uid).then(|| Uid::from_raw(wanted.uid));
    let group = (wanted.gid != now.st_gid).then(|| Gid::from_raw(wanted.gid));
    let give = |owner| change("fchown", || fchown(&fd, owner, group));
    if (owner.is_some() || group.is_some()) && !unless_full(give(owner))? {
        unless_full(give(None))?;
    }
    Ok(())
}

/// The `user.*` attributes and the ACLs; what cannot be read is left.
fn extended(fd: impl AsFd) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut found = BTreeMap::new();
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{fgetxattr, flistxattr};
        // A longer list (ERANGE) is left: attributes are carried over where that is easy.
        let mut names = [0_u8; 16 * 1024];
        let length = flistxattr(&fd, names.as_mut_slice()).unwrap_or(0);
        // The largest value there is on Linux: `XATTR_SIZE_MAX`, xattr(7).
        let mut value = if length == 0 { Vec::new() } else { vec![0_u8; 64 * 1024] };
        for name in names[..length].split(|byte| *byte == 0).filter(|name| is_carried(name)) {
            if let Ok(size) = fgetxattr(&fd, name, value.as_mut_slice()) {
                found.insert(name.to_vec(), value[..size].to_vec());
            }
        }
    }
    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    let _ = fd;
    found
}

/// Whether an extended attribute is kept: those of users and the ACLs; every one where ACLs are none.
fn is_carried(name: &[u8]) -> bool {
    let is_acl = name == ACCESS_ACL.as_bytes() || name == DEFAULT_ACL.as_bytes();
    name.starts_with(OF_USERS) || is_acl || (cfg!(target_vendor = "apple") && !name.is_empty())
}

/// Sets extended attributes; those that cannot be set are left. An ACL that is not among them and that the directory gave
/// is taken away. Returns the permission bits that may be set.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn give_extended(wanted: &BTreeMap<Vec<u8>, Vec<u8>>, fd: impl AsFd) -> io::Result<u32> {
    use rustix::fs::{XattrFlags, fgetxattr, fremovexattr, fsetxattr};
    let mut bits = 0o777;
    for (name, value) in wanted.iter().filter(|(name, _)| is_carried(name)) {
        // Some file systems have none of them (ENOTSUP), and an ACL takes the owner or CAP_FOWNER: setxattr(2).
        let set = change("fsetxattr", || fsetxattr(&fd, name.as_slice(), value, XattrFlags::empty()));
        if !unless_full(set)? && name == ACCESS_ACL.as_bytes() {
            let group = acl::masked_entries(value).into_iter().find(AclEntry::is_of_owning_group);
            bits = 0o707 | group.map_or(0, |group| group.bits()) << 3;
        }
    }
    // One that the directory gives its new files (`default:`) would let in whom the former file did not.
    for name in [ACCESS_ACL, DEFAULT_ACL] {
        let is_inherited = !cfg!(target_vendor = "apple") && (bits != 0o777 || !wanted.contains_key(name.as_bytes()));
        if is_inherited && fgetxattr(&fd, name, [0; 4096].as_mut_slice()).is_ok() {
            change("fremovexattr", || fremovexattr(&fd, name))?;
        }
    }
    Ok(bits)
}

/// A mode in the width that this system's modes have.
pub(super) fn raw_mode<T: TryFrom<u32> + Default>(mode: u32) -> T {
    T::try_from(mode).unwrap_or_default()
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
        Attributes::of(&old, &file_stat(&old)?).give(&new)?;
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
