//! The inotify queue: watches on open directories, and events, read until there is none.
//!
//! Knows no paths. A watch is set through the directory's descriptor, so that it is on the very
//! directory that is listed next, whatever its name means by then.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::{ffi::OsStr, fs::File, mem::MaybeUninit, os::unix::ffi::OsStrExt};

use beneath::{Dir, reports_all_changes};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

use super::{Event, OpenPath, Unwatchable};

/// Bytes read at once: some 500 events.
const BUFFER_BYTES: usize = 16 << 10;

/// Events of the names and of the content of a directory of the tree.
const TREE_EVENTS: WatchFlags =
    NAME_EVENTS.union(WatchFlags::MODIFY).union(WatchFlags::CLOSE_WRITE).union(WatchFlags::ATTRIB);
const NAME_EVENTS: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::ONLYDIR);

/// Events of a file of rules: all that changes what is read from it, through whatever name.
const RULE_FILE_EVENTS: WatchFlags = WatchFlags::MODIFY
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF);

/// How many directories this user may watch in all, where the system says (inotify(7)). Asked before the process
/// is confined, as it is the system's to say.
pub fn watch_limit() -> Option<u64> {
    #[expect(clippy::disallowed_methods, reason = "a file of the kernel, outside of every root")]
    let text = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()?;
    text.trim().parse().ok()
}

/// Events of a directory or a file that only prompt a look at it. Added to those of another watch of the same inode, which
/// the kernel would else replace (`IN_MASK_ADD`).
const HINT_EVENTS: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(RULE_FILE_EVENTS)
    .union(WatchFlags::MASK_ADD);

#[derive(Debug)]
pub(super) struct Queue {
    fd: OwnedFd,
}

impl AsFd for Queue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Queue {
    pub(super) fn new() -> Result<Self, Unwatchable> {
        // For tests of the looks from time to time: as if other processes of the user held all instances.
        #[cfg(feature = "testing")]
        if std::env::var_os("_ROOTBOUND_NO_INOTIFY").is_some() {
            return Err(Unwatchable::OutOfInstances);
        }
        match inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC) {
            Ok(fd) => Ok(Self { fd }),
            // EMFILE: `fs.inotify.max_user_instances`, or the limit of open files, which inotify_init(2) does not tell
            // apart.
            Err(Errno::MFILE) => Err(Unwatchable::OutOfInstances),
            Err(_) => Err(Unwatchable::Refused),
        }
    }

    /// Watches a directory, for all changes or for those of its names only. `None` when it may not
    /// be read. Watching it again changes nothing and gives the same number.
    pub(super) fn watch(&self, dir: &Dir, names_only: bool) -> Result<Option<i32>, Unwatchable> {
        self.add(dir, if names_only { NAME_EVENTS } else { TREE_EVENTS })
    }

    pub(super) fn watch_file(&self, file: &File) -> Result<Option<i32>, Unwatchable> {
        self.add(file, RULE_FILE_EVENTS)
    }

    /// Watches a file or a directory for a caller that looks again anyway: on any file system. Also says whether that is
    /// known to report each change.
    pub(super) fn watch_for_hints(&self, what: &OpenPath<'_>) -> Result<(i32, bool), Unwatchable> {
        let (what, flags) = match what {
            OpenPath::File(file) => (file.as_fd(), HINT_EVENTS),
            OpenPath::Directory(dir) => (dir.as_fd(), HINT_EVENTS.union(WatchFlags::ONLYDIR)),
        };
        let reports_all = reports_all(what)?;
        Ok((self.add_any(what, flags)?.ok_or(Unwatchable::Refused)?, reports_all))
    }

    fn add(&self, what: impl AsFd, flags: WatchFlags) -> Result<Option<i32>, Unwatchable> {
        if reports_all(&what)? { self.add_any(what, flags) } else { Err(Unwatchable::FileSystem) }
    }

    fn add_any(&self, what: impl AsFd, flags: WatchFlags) -> Result<Option<i32>, Unwatchable> {
        // inotify_add_watch(2) takes a path alone: this one leads to what is open, whatever its name means now.
        let path = format!("/proc/self/fd/{}", what.as_fd().as_raw_fd());
        match inotify::add_watch(&self.fd, path, flags) {
            Ok(watch) => Ok(Some(watch)),
            // A watch needs the right to read (inotify_add_watch(2)).
            Err(Errno::ACCESS) => Ok(None),
            // ENOSPC: `fs.inotify.max_user_watches`.
            Err(Errno::NOSPC | Errno::NOMEM) => Err(Unwatchable::OutOfWatches),
            Err(_) => Err(Unwatchable::Refused),
        }
    }

    /// Ends a watch; one that has ended is no error.
    pub(super) fn forget(&self, watch: i32) {
        let _ = inotify::remove_watch(&self.fd, watch);
    }

    /// Hands over the events that are queued now, about `most` of them; whether there may be more.
    pub(super) fn read(&self, most: usize, each: &mut dyn FnMut(&Event<'_>)) -> Result<bool, Unwatchable> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let mut reader = inotify::Reader::new(&self.fd, &mut buffer);
        let mut taken = 0;
        loop {
            // Whatever the buffer holds has left the kernel's queue.
            if taken >= most && reader.is_buffer_empty() {
                return Ok(true);
            }
            taken += 1;
            match reader.next() {
                Ok(event) => {
                    let flags = event.events();
                    let came_or_went = flags.intersects(
                        ReadFlags::CREATE | ReadFlags::DELETE | ReadFlags::MOVED_FROM | ReadFlags::MOVED_TO,
                    );
                    each(&Event {
                        watch: event.wd(),
                        name: event.file_name().map(|name| OsStr::from_bytes(name.to_bytes())),
                        directory: flags.contains(ReadFlags::ISDIR),
                        came_or_went,
                        lost: flags.contains(ReadFlags::QUEUE_OVERFLOW),
                        ended: flags.contains(ReadFlags::IGNORED),
                        unmounted: flags.contains(ReadFlags::UNMOUNT),
                    });
                }
                Err(Errno::AGAIN) => return Ok(false),
                Err(Errno::INTR) => {}
                Err(_) => return Err(Unwatchable::Refused),
            }
        }
    }
}

impl AsRawFd for Queue {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

fn reports_all(what: impl AsFd) -> Result<bool, Unwatchable> {
    reports_all_changes(what).map_err(|_| Unwatchable::Refused)
}
