//! The kernel's own confinement: `openat2` beneath a directory, links refused.
//!
//! Linux only. Everything that is the same on other Unix systems lives in `unix`.

use std::io::IoSliceMut;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstatfs, openat2};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

/// Neither above the directory, nor through any link, nor through `/proc`'s magic ones.
const CONFINED: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// As [`CONFINED`], for a lookup that never waits: only through names that the kernel has in memory (`EAGAIN`
/// otherwise, Linux 5.12), and never onto another file system.
const CACHED: ResolveFlags = CONFINED.union(ResolveFlags::CACHED).union(ResolveFlags::NO_XDEV);

/// File systems of this machine, where an open of a name that the kernel knows asks nobody. From
/// `linux/magic.h`; overlayfs, FUSE and all network file systems are not among them.
const LOCAL: &[u64] = &[
    0xEF53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683E, // Btrfs
    0xF2F5_2010, // F2FS
    0xCA45_1A4E, // bcachefs
    0x0102_1994, // tmpfs
];

/// Opens `relative` beneath `dir`. `ELOOP` or `EXDEV` says that a link is in the way.
pub(super) fn open_beneath(dir: impl AsFd, relative: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    // The kernel gives up with EAGAIN when a rename races with the lookup; it is not an answer.
    let (mut attempts, mut waited) = (0, 0);
    loop {
        match openat2(&dir, relative, flags, Mode::empty(), CONFINED) {
            Err(Errno::AGAIN | Errno::INTR) if attempts < 128 => attempts += 1,
            Err(Errno::MFILE | Errno::NFILE) if super::process::wait_for_files(&mut waited) => {}
            answer => return answer,
        }
    }
}

/// Whether this kernel (and this container's filter) lets us use `openat2`.
pub(super) fn available(dir: impl AsFd) -> bool {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    open_beneath(dir, Path::new("."), flags).is_ok()
}

/// Whether what lies in `dir` is on a disk, or in the memory, of this machine.
pub(super) fn is_local(dir: impl AsFd) -> bool {
    // The type is a signed word on some architectures.
    let kind = |system: rustix::fs::StatFs| u64::from(u32::try_from(system.f_type & 0xFFFF_FFFF).unwrap_or_default());
    fstatfs(dir).is_ok_and(|system| LOCAL.contains(&kind(system)))
}

/// As [`open_beneath`], without waiting; `None` for every error.
pub(super) fn open_cached(dir: impl AsFd, relative: &Path, flags: OFlags) -> Option<OwnedFd> {
    openat2(dir, relative, flags, Mode::empty(), CACHED).ok()
}

/// What a root's host path leads to, without waiting. For `fstat` alone: it is not confined beneath a root.
pub(super) fn host_path_cached(path: &Path) -> Option<OwnedFd> {
    openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::CACHED).ok()
}

/// Fills `bytes` from the start of a file without waiting. False if the file is shorter, or if a part of it is not
/// in the page cache (`RWF_NOWAIT`: `EAGAIN` or a short read).
pub(super) fn read_cached(file: impl AsFd, bytes: &mut [u8]) -> bool {
    let wanted = bytes.len();
    preadv2(file, &mut [IoSliceMut::new(bytes)], 0, ReadWriteFlags::NOWAIT).is_ok_and(|count| count == wanted)
}
