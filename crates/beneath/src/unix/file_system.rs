//! Which file system a file or directory is on, and what that promises. Numbers from `linux/magic.h`.

use std::os::fd::AsFd;

use rustix::fs::{AtFlags, StatxFlags, fstatfs, fstatvfs, statx};

use crate::{Dir, StableInodes};

/// On a disk of this machine.
const DISK_MAGICS: &[u64] = &[
    0xEF53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683E, // Btrfs
    0xF2F5_2010, // F2FS
    0xCA45_1A4E, // bcachefs
    0x2FC1_2FC1, // ZFS
];

/// In the memory of this machine.
const MEMORY_MAGICS: &[u64] = &[
    0x0102_1994, // tmpfs
    0x8584_58F6, // ramfs
];

/// overlayfs, which answers with the stat of the file below it.
const OVERLAY_MAGIC: u64 = 0x794C_7630;

/// Whether every change of it is made through this kernel, and so with an event of inotify(7). Not so on network file
/// systems and FUSE, where another machine or process may change it, nor on an overlay, whose layers may be changed by
/// themselves.
pub fn reports_all_changes(what: impl AsFd) -> rustix::io::Result<bool> {
    let kind = kind(what)?;
    Ok(DISK_MAGICS.contains(&kind) || MEMORY_MAGICS.contains(&kind))
}

impl Dir {
    /// Whether it is on an overlay.
    pub fn is_overlay(&self) -> bool {
        kind(self).is_ok_and(|kind| kind == OVERLAY_MAGIC)
    }

    /// Its file system, if that system's stat says of every change to a file that it happened: by change times that no
    /// program can set, and by both times where a page that was written back is written to again through a mapping
    /// (`file_update_time` in `page_mkwrite`).
    ///
    /// Not so on network file systems and FUSE, where another machine or process answers, and on tmpfs and ramfs, whose
    /// pages are never written back: what is stored through a mapping after the first store changes no time.
    pub fn stable_inodes(&self) -> Option<StableInodes> {
        let kind = kind(self).ok().filter(|kind| DISK_MAGICS.contains(kind) || *kind == OVERLAY_MAGIC)?;
        Some(StableInodes { kind, id: fstatvfs(self).ok()?.f_fsid })
    }

    /// When it was made, in nanoseconds since 1970; `None` where the file system does not note that, and before Linux
    /// 4.11.
    pub fn created(&self) -> Option<i64> {
        let found = statx(self, c"", AtFlags::EMPTY_PATH, StatxFlags::BTIME).ok()?;
        let is_known = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::BTIME);
        let time = is_known.then_some(found.stx_btime)?;
        time.tv_sec.checked_mul(1_000_000_000)?.checked_add(time.tv_nsec.into())
    }
}

fn kind(what: impl AsFd) -> rustix::io::Result<u64> {
    // The type is a signed word on some architectures.
    fstatfs(what).map(|system| u64::from(u32::try_from(system.f_type & 0xFFFF_FFFF).unwrap_or_default()))
}
