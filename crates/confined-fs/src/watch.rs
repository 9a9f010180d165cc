//! What the kernel reports of changes below a root.
//!
//! | type | watches | for |
//! |---|---|---|
//! | [`Watcher`] | every directory of a root, so that a list of its names can be kept true | the path index |
//! | [`DiskWatcher`] | chosen paths; calls listeners with each event | the tool `wait` |
//!
//! [`Watcher`] watches every directory before it lists it, and turns events into what has to be looked at again. It keeps
//! no names. The kernel queues an event within the system call that makes the change, so whatever had returned before
//! [`Watcher::changes`] is in its answer. It has a queue of its own, which only a search reads: most servers never read
//! the other one, and its reader is a task that may be late.
//!
//! Limits, most of them from inotify(7), "Limitations and caveats":
//! - A watch is on one directory, not on what is below it; a user may have `fs.inotify.max_user_watches` of them.
//! - Mounts cause no event of a directory: the mount table is polled besides.
//! - Writes through a shared mapping (mmap(2)) or by Linux AIO are not reported until the file is closed (see
//!   [`Watcher::has_silent_writers`]), and those through a name outside the root never: what is known of a file with
//!   several names has to be compared with its stat each time.
//! - Changes that another machine makes on a network file system are not reported: there a root is not watched.

mod disk_watcher;
mod ignore_files;
#[cfg(target_os = "linux")]
mod inotify;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(not(target_os = "linux"))]
mod unsupported;
mod watch_tree;
mod watcher;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{ffi::OsStr, fs::File};

use crate::walk::ignores::{holds_rules, is_marker};
use crate::{disk_rules::worktree::GIT_ENTRY, path::WorkspacePath};
use beneath::Dir;

pub use disk_watcher::{DiskWatcher, OnEvent, PathWatch};
pub use inotify::watch_limit;
pub use watch_tree::WatchedEntry;
pub use watcher::Watcher;

pub(in crate::watch) use inotify::Queue;
pub(super) use mounts::SystemEvents;
#[cfg(not(target_os = "linux"))]
use unsupported::{self as inotify, self as mounts};

#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing can be watched there"))]
enum OpenPath<'o> {
    File(&'o File),
    Directory(&'o Dir),
}

/// Paths below a root, relative to it, whose content is not that of the directory that holds them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct MountsBelow {
    mounted: BTreeSet<PathBuf>,
    /// The folder that an overlay keeps changes in: files are written there without an event, since
    /// overlayfs opens them with `FMODE_NONOTIFY`.
    written_through: BTreeSet<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unwatchable {
    #[error("this platform does not report every change")]
    Platform,
    /// A file system that may change without an event, as network ones do.
    #[error("the file system does not report every change")]
    FileSystem,
    #[error("the system does not report mounts")]
    Mounts,
    /// The user's limit of watches is reached.
    #[error("the limit of inotify watches is reached (sysctl fs.inotify.max_user_watches)")]
    OutOfWatches,
    /// The user's limit of inotify instances is reached: each root has one.
    #[error("the limit of inotify instances is reached (sysctl fs.inotify.max_user_instances)")]
    OutOfInstances,
    #[error("a directory is mounted twice")]
    Twice,
    /// Ignore rules are too many for all to count, which each answer has to say.
    #[error("there are too many ignore rules to apply them all")]
    Rules,
    #[error("the system refused a watch")]
    Refused,
}

#[derive(Debug)]
struct Event<'a> {
    watch: i32,
    /// The name in the watched directory; none for the directory itself.
    name: Option<&'a OsStr>,
    directory: bool,
    came_or_went: bool,
    lost: bool,
    ended: bool,
    unmounted: bool,
}

/// The parts of a list of names that may be different from the disk.
#[derive(Debug, Default)]
pub struct Changes {
    /// Events were lost: nothing is known any more.
    pub everything: bool,
    /// Below these other names may be ignored; content is the same.
    pub trees: BTreeSet<WorkspacePath>,
    /// Names in these came or went: which paths. A directory among them is a new one.
    pub directories: BTreeMap<WorkspacePath, BTreeSet<WorkspacePath>>,
    pub files: BTreeSet<WorkspacePath>,
    /// Something was mounted or unmounted, perhaps elsewhere, perhaps no longer: what was asked of the
    /// system since the changes before these may concern another file.
    pub remounted: bool,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        !(self.everything || self.remounted)
            && self.trees.is_empty()
            && self.directories.is_empty()
            && self.files.is_empty()
    }

    fn replaced(&mut self, path: &WorkspacePath) {
        let Some(parent) = path.parent() else {
            self.everything = true;
            return;
        };
        if path.file_name().is_some_and(holds_rules) {
            self.trees.insert(parent.clone());
        }
        self.directories.entry(parent).or_default().insert(path.clone());
        let mut within = path.parent();
        while let Some(above) = within {
            within = above.parent();
            if let (Some(".git"), Some(owner)) = (above.file_name().and_then(OsStr::to_str), &within) {
                self.trees.insert(owner.clone());
            }
        }
    }

    fn note(&mut self, path: &WorkspacePath, event: &Event<'_>) {
        let Some(name) = event.name else {
            // The directory itself was moved, removed or given other rights: the watch on its parent reports that, too.
            self.everything |= path.is_root();
            return;
        };
        if holds_rules(name) {
            self.trees.insert(path.clone());
        }
        // A `.git` file, not a folder, may make the directory a linked worktree: that is for the list of its parent to say.
        if (is_marker(name) || name == GIT_ENTRY && !event.directory)
            && let Some(parent) = path.parent()
        {
            self.directories.entry(parent).or_default().insert(path.clone());
        }
        let child = path.child(Path::new(name));
        // A directory whose rights changed may be listed now, or no more.
        if event.came_or_went || event.directory {
            self.directories.entry(path.clone()).or_default().insert(child.clone());
        }
        if !event.directory {
            self.files.insert(child);
        }
    }
}
