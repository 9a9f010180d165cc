//! The rights that a new file may have that replaces a former one, so that nobody gets more than that gave.
//!
//! No ACL is made again, but a directory may give one to what is made in it (acl(5)): the bits of the group are its mask
//! then, the most that anybody has whom it names.

use std::{fs::File, io};

use crate::{Dir, OpenFor, Stat};

const SET_GROUP_ID: u32 = 0o2000;

impl Dir {
    /// The permission bits that may be given to what replaces `file`, a file or a directory that is `stat`:
    /// in this directory, or in new directories in it.
    pub fn mode_when_recreated(&self, file: &File, stat: &Stat) -> io::Result<u32> {
        let (mut group, mut other) = (stat.permissions() >> 3 & 7, stat.permissions() & 7);
        let here = self.reopen(OpenFor::List)?;
        let [own, inherited] = [masked_entries_of(file, ACCESS_ACL)?, masked_entries_of(&here, DEFAULT_ACL)?];
        if own != inherited {
            let least = |bits, entry: &AclEntry| bits & entry.bits();
            group = own.iter().fold(group, least);
            other = own.iter().filter(|entry| !entry.is_of_owning_group()).fold(other, least);
            if !inherited.is_empty() {
                group = 0;
            }
        }
        let here = here.stat()?;
        let gives_group = here.mode() & SET_GROUP_ID != 0 || cfg!(target_vendor = "apple");
        let new = if gives_group { here.identity.gid } else { rustix::process::getegid().as_raw() };
        if new != stat.identity.gid {
            (group, other) = (group & other, group & other);
        }
        Ok(stat.permissions() & 0o700 | group << 3 | other)
    }
}

pub(super) const ACCESS_ACL: &str = "system.posix_acl_access";
pub(super) const DEFAULT_ACL: &str = "system.posix_acl_default";

/// An entry of an ACL as `linux/posix_acl_xattr.h` has it: a tag, permission bits and an id, the first two of two bytes.
#[derive(PartialEq, Eq)]
pub(super) struct AclEntry([u8; 8]);

impl AclEntry {
    pub(super) fn is_of_owning_group(&self) -> bool {
        self.0[0] == 4
    }

    pub(super) fn bits(&self) -> u32 {
        u32::from(self.0[2] & 7)
    }
}

/// The entries that the mask bounds: those of named users and groups, and that of the owning group.
pub(super) fn masked_entries(acl: &[u8]) -> Vec<AclEntry> {
    // After the version, of four bytes.
    let entries = acl.get(4..).unwrap_or_default().chunks_exact(8);
    let entries = entries.map(|entry| AclEntry(entry.try_into().unwrap_or_default()));
    entries.filter(|entry| matches!(entry.0[0], 2 | 4 | 8)).collect()
}

/// As [`masked_entries`], of a file or directory; none without an ACL.
#[cfg(target_os = "linux")]
fn masked_entries_of(file: impl std::os::fd::AsFd, name: &str) -> io::Result<Vec<AclEntry>> {
    use rustix::io::Errno;
    let mut value = [0; 4096];
    match rustix::fs::fgetxattr(file, name, &mut value) {
        Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(Vec::new()),
        size => Ok(masked_entries(&value[..size?])),
    }
}

#[cfg(not(target_os = "linux"))]
fn masked_entries_of(_: impl std::os::fd::AsFd, _: &str) -> io::Result<Vec<AclEntry>> {
    Ok(Vec::new())
}
