//! The kernel's own confinement: `openat2(2)` (Linux 5.6) beneath a directory, links refused.
//!
//! The kernel checks each component while it resolves it, so nothing can be swapped between a check and a use: a
//! path that is made canonical, compared and then opened leads outside as soon as another process renames a
//! directory in between (CVE-2025-53109 and its kin).

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::{ffi::OsStr, io::IoSliceMut, os::unix::ffi::OsStrExt as _, path::Path};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

use super::{fstat::stat_of, process::wait_for_files};
use crate::Stat;
use crate::contract::{Failure, TRAVERSE_FLAGS};
use crate::testing::{faults, open_check::checked};

/// `BENEATH`: neither above the directory nor to an absolute path. `NO_SYMLINKS`: through no link, at the end
/// neither. `NO_MAGICLINKS`: not through `/proc/self/root` or `/proc/self/fd/N`, which are no symbolic links to the
/// kernel; `NO_SYMLINKS` implies it today, but openat2(2) asks for both.
const CONFINED_LOOKUP: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// As [`CONFINED_LOOKUP`], for a lookup that never waits: only through names that the kernel has in memory
/// (`RESOLVE_CACHED`, Linux 5.12; else EAGAIN), and never onto another file system.
const CACHED_LOOKUP: ResolveFlags = CONFINED_LOOKUP.union(ResolveFlags::CACHED).union(ResolveFlags::NO_XDEV);

/// Longest path that is handed to one call: `PATH_MAX` is 4096 with the NUL at the end.
const MAX_PATH_BYTES: usize = 4000;

pub(crate) fn open_beneath(dir: impl AsFd, relative: &Path, flags: OFlags) -> Result<OwnedFd, Failure> {
    checked(dir.as_fd(), relative, flags, || open_pieces(dir.as_fd(), relative, flags))
}

fn open_pieces(dir: BorrowedFd<'_>, relative: &Path, flags: OFlags) -> Result<OwnedFd, Failure> {
    let mut rest = relative.as_os_str().as_bytes();
    let mut here: Option<OwnedFd> = None;
    while rest.len() > MAX_PATH_BYTES {
        // No name is that long (`NAME_MAX` is 255), so a piece without a slash ends as ENAMETOOLONG of the kernel.
        let cut = rest[..MAX_PATH_BYTES].iter().rposition(|byte| *byte == b'/').unwrap_or(MAX_PATH_BYTES);
        let from = here.as_ref().map_or(dir, AsFd::as_fd);
        here = Some(open_piece(from, Path::new(OsStr::from_bytes(&rest[..cut])), TRAVERSE_FLAGS)?);
        rest = rest.get(cut + 1..).unwrap_or_default();
    }
    let from = here.as_ref().map_or(dir, AsFd::as_fd);
    open_piece(from, Path::new(OsStr::from_bytes(rest)), flags)
}

/// Stats a path beneath `dir`; a link at its end is reported as a link.
pub(crate) fn stat_beneath(dir: impl AsFd, relative: &Path) -> Result<Stat, Failure> {
    let fd = open_beneath(dir, relative, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC)?;
    Ok(stat_of(&fstat(fd).map_err(std::io::Error::from)?))
}

fn open_piece(dir: impl AsFd, relative: &Path, flags: OFlags) -> Result<OwnedFd, Failure> {
    // EAGAIN: the kernel could not rule out that a rename or mount at that moment let the path escape; openat2(2)
    // says to try again.
    let (mut attempts, mut waited) = (0, 0);
    loop {
        match faults::opening(|| openat2(&dir, relative, flags, Mode::empty(), CONFINED_LOOKUP)) {
            Err(Errno::AGAIN | Errno::INTR) if attempts < 128 => attempts += 1,
            Err(Errno::MFILE | Errno::NFILE) if wait_for_files(&mut waited) => {}
            // ELOOP: a component is a link. EXDEV: the path would leave the directory.
            Err(Errno::LOOP | Errno::XDEV) => return Err(Failure::Link),
            answer => return answer.map_err(|errno| Failure::Io(errno.into())),
        }
    }
}

/// Whether `openat2` can be used: ENOSYS before Linux 5.6, EPERM from seccomp profiles of containers that do not
/// know it.
pub(crate) fn available(dir: impl AsFd) -> bool {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    // Where it cannot, no walk has the same answer, so it is not compared with one.
    open_piece(dir, Path::new("."), flags).is_ok()
}

/// As [`open_beneath`], without waiting; `None` for every error.
pub(crate) fn open_cached(dir: impl AsFd, relative: &Path, flags: OFlags) -> Option<OwnedFd> {
    openat2(dir, relative, flags, Mode::empty(), CACHED_LOOKUP).ok()
}

/// Device and inode of what a root's host path leads to, without waiting; `None` for every error.
pub(crate) fn identity_cached(path: &Path) -> Option<(u64, u64)> {
    let fd = openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::CACHED).ok()?;
    Some(stat_of(&fstat(fd).ok()?).device_and_inode())
}

/// Fills `bytes` from the start of a file without waiting. False if the file is shorter, or if a part of it is not
/// in the page cache (`RWF_NOWAIT`, preadv2(2): EAGAIN or a short read).
pub(crate) fn read_cached(file: impl AsFd, bytes: &mut [u8]) -> bool {
    let wanted = bytes.len();
    preadv2(file, &mut [IoSliceMut::new(bytes)], 0, ReadWriteFlags::NOWAIT).is_ok_and(|count| count == wanted)
}
