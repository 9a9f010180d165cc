//! Which file system a directory is on, and what it promises about stat(2).

use rustix::fs::fstatfs;

use super::Dir;

/// File systems whose stat says of every change to a file that it happened: change times that no program can set, and a
/// page that was written back is written to through a mapping again only after both times have changed
/// (`file_update_time` in `page_mkwrite`). From `linux/magic.h`.
///
/// Not among them: network file systems and FUSE, where another machine or process answers, and tmpfs and ramfs, whose
/// pages are never written back: what is stored through a mapping after the first store changes no time.
const PROMISING: &[u64] = &[
    0xEF53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683E, // Btrfs
    0xF2F5_2010, // F2FS
    0xCA45_1A4E, // bcachefs
    0x2FC1_2FC1, // ZFS
    OVERLAY,     // overlayfs, which answers with the stat of the file below it
];

const OVERLAY: u64 = 0x794C_7630;

impl Dir {
    /// Whether it is on an overlay.
    pub(crate) fn is_overlay(&self) -> bool {
        self.promising_file_system() == Some(OVERLAY)
    }

    /// The type of its file system, if its stat reports every change to a file.
    pub(crate) fn promising_file_system(&self) -> Option<u64> {
        let system = fstatfs(self).ok()?;
        // The type is a signed word on some architectures.
        let kind = u64::from(u32::try_from(system.f_type & 0xFFFF_FFFF).ok()?);
        PROMISING.contains(&kind).then_some(kind)
    }
}
