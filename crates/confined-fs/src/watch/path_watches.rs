//! Watches on single paths, for calls that wait for one of them: a hint to look again, never an answer.
//! [`DirectoryWatcher`](super::DirectoryWatcher), for subscriptions, says which names changed.
//!
//! All waiting calls of a server share one queue, because a user may have few of them
//! (`fs.inotify.max_user_instances`, 128 by default). A path is watched by the file itself and by the nearest directory
//! above it that exists, so that a file that appears, is replaced or is deleted is noticed as well.
//!
//! Limits: writes through a shared mapping, changes on network file systems, and a link on the way that is set to
//! another target cause no event. Whoever waits has to look from time to time besides.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use beneath::{FileKind, OpenFor};

use crate::{Dir, Shared, WorkspacePath};

use super::{Event, Queue, Unwatchable};

/// Called when what is watched may have changed. It must return at once.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// The queue that all watched paths share.
#[derive(Debug)]
pub struct PathWatches {
    queue: Queue,
    table: Mutex<WatchTable>,
}

#[derive(Debug, Default)]
struct WatchTable {
    last: u64,
    /// By the number of the watch: who waits for it.
    users: HashMap<i32, Vec<User>>,
}

struct User {
    id: u64,
    /// The name in the watched directory that counts; `None` for all, and for the file itself.
    name: Option<OsString>,
    wake: Wake,
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("id", &self.id).field("name", &self.name).finish_non_exhaustive()
    }
}

impl PathWatches {
    /// A queue without watches.
    ///
    /// # Errors
    /// Where the system has none, or gives no more.
    pub fn new() -> Result<Self, Unwatchable> {
        Ok(Self { queue: Queue::new()?, table: Mutex::default() })
    }

    fn table(&self) -> MutexGuard<'_, WatchTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the events that are queued, and wakes those whose paths they are about. True where more may be queued.
    pub fn dispatch(&self) -> bool {
        let mut table = self.table();
        let users = &mut table.users;
        let read = self.queue.read_some(&mut |event: &Event<'_>| {
            if event.lost {
                users.values().flatten().for_each(|user| (user.wake)());
                return;
            }
            let is_about =
                |user: &&User| user.name.is_none() || event.name.is_none() || user.name.as_deref() == event.name;
            users.get(&event.watch).into_iter().flatten().filter(is_about).for_each(|user| (user.wake)());
            if event.ended {
                users.remove(&event.watch);
            }
        });
        read.unwrap_or(false)
    }

    /// Watches `path`; `None` where nothing can be watched.
    pub(crate) fn watch(self: &Arc<Self>, shared: &Shared, path: &WorkspacePath, wake: &Wake) -> Option<PathWatch> {
        let real = shared.locate(path).ok()?.real;
        if real.root().is_staged() {
            return None;
        }
        let root = &real.root().dir;
        let mut watch = PathWatch { watches: Arc::clone(self), id: 0, numbers: Vec::new(), is_sound: true };
        watch.id = {
            let mut table = self.table();
            table.last += 1;
            table.last
        };
        match root.stat_beneath(real.relative()) {
            // Only what is a file: to open a FIFO or a device may do something.
            Ok(stat) if stat.kind == FileKind::File => {
                if let Ok(file) = root.file_beneath(real.relative()) {
                    watch.add(&Watched::File(&file), None, wake)?;
                }
            }
            Ok(stat) if stat.kind == FileKind::Directory => {
                if let Ok(dir) = root.dir_beneath(real.relative(), OpenFor::List) {
                    watch.add(&Watched::Directory(&dir), None, wake)?;
                }
            }
            _ => {}
        }
        let mut below: &Path = real.relative();
        while let (Some(above), Some(name)) = (below.parent(), below.file_name()) {
            if let Ok(dir) = root.dir_beneath(above, OpenFor::List) {
                watch.add(&Watched::Directory(&dir), Some(name), wake)?;
                break;
            }
            below = above;
        }
        (!watch.numbers.is_empty()).then_some(watch)
    }
}

#[cfg(target_os = "linux")]
impl std::os::fd::AsRawFd for PathWatches {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.queue.as_raw_fd()
    }
}

enum Watched<'w> {
    File(&'w File),
    Directory(&'w Dir),
}

/// A watched path; the watch ends when it is dropped.
#[derive(Debug)]
pub struct PathWatch {
    watches: Arc<PathWatches>,
    id: u64,
    numbers: Vec<i32>,
    is_sound: bool,
}

impl PathWatch {
    /// Whether the file system is known to report each change that this machine makes.
    pub fn reports_all(&self) -> bool {
        self.is_sound
    }

    /// `None` when the system gives no more watches.
    fn add(&mut self, what: &Watched<'_>, name: Option<&OsStr>, wake: &Wake) -> Option<()> {
        // The number is not in the table yet when its watch begins: no event is read in between.
        let mut table = self.watches.table();
        let queue = &self.watches.queue;
        let added = match what {
            Watched::File(file) => queue.watch_for_hints(file, false),
            Watched::Directory(dir) => queue.watch_for_hints(dir, true),
        };
        let (number, is_sound) = added.ok()?;
        self.is_sound &= is_sound;
        self.numbers.push(number);
        let user = User { id: self.id, name: name.map(OsStr::to_owned), wake: Arc::clone(wake) };
        table.users.entry(number).or_default().push(user);
        Some(())
    }
}

impl Drop for PathWatch {
    fn drop(&mut self) {
        let mut table = self.watches.table();
        for number in &self.numbers {
            let Some(users) = table.users.get_mut(number) else { continue };
            users.retain(|user| user.id != self.id);
            if users.is_empty() {
                table.users.remove(number);
                self.watches.queue.forget(*number);
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests prepare real files")]

    use std::fs;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::{Access, Workspace};

    use super::*;

    #[test]
    fn path_is_woken_by_its_own_changes_alone_and_watches_end() {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspace::of_directory(root.path(), Access::ReadOnly);
        let watches = Arc::new(PathWatches::new().unwrap());
        let woken = Arc::new(AtomicUsize::new(0));
        let wake: Wake = {
            let woken = Arc::clone(&woken);
            Arc::new(move || {
                woken.fetch_add(1, Ordering::Relaxed);
            })
        };
        let is_woken = || {
            while watches.dispatch() {}
            woken.swap(0, Ordering::Relaxed) > 0
        };
        let path = workspace.resolve("dir/log").unwrap();
        let watch = || workspace.watch_path(&watches, &path, &wake).unwrap();
        let missing = watch();
        fs::write(root.path().join("other"), "x").unwrap();
        assert!(!is_woken(), "another name");
        fs::create_dir(root.path().join("dir")).unwrap();
        assert!(is_woken(), "the directory above it");
        let below = watch();
        drop(missing);
        fs::write(root.path().join("dir/log"), "x").unwrap();
        assert!(is_woken(), "it appeared");
        let file = watch();
        drop(below);
        fs::write(root.path().join("dir/log"), "xy").unwrap();
        assert!(is_woken(), "it changed");
        fs::write(root.path().join("dir/new"), "x").unwrap();
        fs::rename(root.path().join("dir/new"), root.path().join("dir/log")).unwrap();
        assert!(is_woken(), "it was replaced");
        fs::remove_file(root.path().join("dir/log")).unwrap();
        assert!(is_woken(), "it is gone");
        drop(file);
        fs::write(root.path().join("dir/log"), "x").unwrap();
        assert!(!is_woken());
        assert!(watches.table().users.is_empty());
    }
}
