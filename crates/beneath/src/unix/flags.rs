//! How files and directories are opened on Unix.

use rustix::fs::OFlags;

use crate::OpenFor;

/// `NONBLOCK`: the open of a FIFO without a writer would block for ever, and no check before it helps, as the name may
/// be swapped. `NOCTTY`: a terminal device must not become ours. `NOFOLLOW`: no link at the end. `CLOEXEC`: nothing
/// leaks into a child.
pub(crate) const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

const LIST: OFlags = READ.union(OFlags::DIRECTORY);

/// `O_PATH` needs no read permission and starts no I/O.
#[cfg(target_os = "linux")]
pub(crate) const TRAVERSE: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
pub(crate) const TRAVERSE: OFlags = LIST;

pub(crate) fn flags_for(purpose: OpenFor) -> OFlags {
    match purpose {
        OpenFor::Traverse => TRAVERSE,
        OpenFor::List => LIST,
    }
}
