//! The kernel's own confinement: `openat2` beneath a directory, links refused.
//!
//! Linux only. Everything that is the same on other Unix systems lives in `unix`.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

/// Neither above the directory, nor through any link, nor through `/proc`'s magic ones.
const CONFINED: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// Opens `relative` beneath `dir`. `ELOOP` or `EXDEV` says that a link is in the way.
pub(super) fn open_beneath(dir: impl AsFd, relative: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    // The kernel gives up with EAGAIN when a rename races with the lookup; it is not an answer.
    let mut attempts = 0;
    loop {
        match openat2(&dir, relative, flags, Mode::empty(), CONFINED) {
            Err(Errno::AGAIN | Errno::INTR) if attempts < 128 => attempts += 1,
            answer => return answer,
        }
    }
}

/// Whether this kernel (and this container's filter) lets us use `openat2`.
pub(super) fn available(dir: impl AsFd) -> bool {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    open_beneath(dir, Path::new("."), flags).is_ok()
}
