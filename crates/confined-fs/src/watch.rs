//! What the kernel reports of changes below a root.
//!
//! | type | watches | for |
//! |---|---|---|
//! | [`Watcher`] | every directory of a root, so that a list of its names can be kept true | the path index |
//! | [`DirectoryWatcher`] | the directories that contain or lead to a few paths; gives events as paths | subscriptions |
//! | [`PathWatches`] | one path per call; only wakes the call, which looks again | the tool `wait` |
//!
//! [`Watcher`] watches every directory before it lists it, and turns events into what has to be looked at again. It keeps
//! no names. The kernel queues an event within the system call that makes the change, so whatever had returned before
//! [`Watcher::changes`] is in its answer.
//!
//! Limits, most of them from inotify(7), "Limitations and caveats":
//! - A watch is on one directory, not on what is below it; a user may have `fs.inotify.max_user_watches` of them.
//! - Mounts cause no event of a directory: the mount table is polled besides.
//! - Writes through a shared mapping (mmap(2)) or by Linux AIO are not reported until the file is closed (see
//!   [`Watcher::has_silent_writers`]), and those through a name outside the root never: what is known of a file with
//!   several names has to be compared with its stat each time.
//! - Changes that another machine makes on a network file system are not reported: there a root is not watched.

mod changes;
mod directory_watcher;
mod ignore_files;
#[cfg(target_os = "linux")]
mod inotify;
#[cfg(target_os = "linux")]
mod mounts;
mod path_watches;
#[cfg(not(target_os = "linux"))]
mod unsupported;
mod unwatchable;
mod wakeup;
mod watch_tree;
mod watcher;

pub use changes::Changes;
use changes::Event;
pub use directory_watcher::{DirectoryEvents, DirectoryWatcher, NameEvent};
#[cfg(target_os = "linux")]
use inotify::Queue;
#[cfg(target_os = "linux")]
pub use inotify::watch_limit;
#[cfg(target_os = "linux")]
use mounts::MountsBelow;
#[cfg(target_os = "linux")]
pub(super) use mounts::SystemEvents;
pub use path_watches::{PathWatch, PathWatches, Wake};
#[cfg(not(target_os = "linux"))]
pub(super) use unsupported::SystemEvents;
#[cfg(not(target_os = "linux"))]
pub use unsupported::watch_limit;
#[cfg(not(target_os = "linux"))]
use unsupported::{MountsBelow, Queue};
pub use unwatchable::Unwatchable;
pub use wakeup::Wakeup;
pub use watch_tree::WatchedEntry;
pub use watcher::Watcher;
