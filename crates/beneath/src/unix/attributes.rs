//! What a replacement inherits from the file it replaces: owner, mode, ACL, user attributes.

use std::{fs::File, io, os::fd::AsFd};

use rustix::fs::{Gid, Mode, Uid, fchmod, fchown};

use crate::Stat;

use super::fstat::file_stat;
use super::process::change;

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
