//! Watches on chosen paths, for those that wait for one of them (`wait`).
//!
//! [`Watcher`](super::Watcher) keeps the list of a whole root true: a search reads it before each use, and it does not
//! distinguish a write from a touch. Here the reader of the events calls the listeners of the paths that they are about.
//! All listeners of a server share one queue, because a user may have few of them (`fs.inotify.max_user_instances`, 128
//! by default).
//!
//! A path is watched by the file itself and by each directory on the way to it, so that a file that appears, is replaced
//! or is deleted is noticed, also with a directory above it.
//!
//! # Limits
//! Those of [`super`]: a wait has to look from time to time besides.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use beneath::{FileKind, OpenFor};

use super::{Event, OpenPath, Queue, Unwatchable};
use crate::{path::WorkspacePath, policy::reserved_names::is_reserved, shared::Workspace};

/// Events that are taken at once: their reader has other work.
const MAX_EVENTS_AT_ONCE: usize = 1024;

/// Called with each event of what is watched, and where events were lost: anything may have changed then. It must
/// return at once, and may not watch or end a watch.
pub type OnEvent = Arc<dyn Fn() + Send + Sync>;

pub struct DiskWatcher {
    queue: Queue,
    table: Mutex<WatchTable>,
}

#[derive(Default)]
struct WatchTable {
    last: u64,
    listeners: HashMap<u64, OnEvent>,
    /// Who has a watch, by its number and the name in the watched directory that counts: `None` for all, and for the file
    /// itself.
    users: Users,
}

struct User {
    listener: u64,
    path: WorkspacePath,
}

impl DiskWatcher {
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

    /// Takes the events that are queued, about a thousand, and calls the listeners of the paths that they are about.
    /// Temporary files of this program and names that policy hides are left out. True where more may be queued.
    pub fn dispatch(&self) -> bool {
        let mut table = self.table();
        let WatchTable { listeners, users, .. } = &mut *table;
        let read = self.queue.read(MAX_EVENTS_AT_ONCE, &mut |event: &Event<'_>| {
            if event.lost {
                for on_event in listeners.values() {
                    on_event();
                }
                return;
            }
            if event.name.is_some_and(is_reserved) {
                return;
            }
            let about: Vec<&User> = match event.name {
                Some(name) => {
                    let keys = [(event.watch, Some(name.to_owned())), (event.watch, None)];
                    keys.iter().filter_map(|key| users.get(key)).flatten().collect()
                }
                None => users_of(users, event.watch).flat_map(|(_, users)| users).collect(),
            };
            for user in about {
                let Some(on_event) = listeners.get(&user.listener) else { continue };
                let child = event.name.map(|name| user.path.child(Path::new(name)));
                if event.unmounted || !child.as_ref().unwrap_or(&user.path).hidden() {
                    on_event();
                }
            }
            if event.ended {
                users.retain(|(number, _), _| *number != event.watch);
            }
        });
        read.unwrap_or(false)
    }
}

type Users = BTreeMap<(i32, Option<OsString>), Vec<User>>;

fn users_of(users: &Users, number: i32) -> impl Iterator<Item = (&(i32, Option<OsString>), &Vec<User>)> {
    users.range((number, None)..).take_while(move |((other, _), _)| *other == number)
}

#[cfg(target_os = "linux")]
impl std::os::fd::AsRawFd for DiskWatcher {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.queue.as_raw_fd()
    }
}

impl Workspace {
    /// Watches a path, which need not exist, by all `names` that lead to it (see [`Self::names_to_follow`]).
    pub fn watch_path(&self, watcher: &Arc<DiskWatcher>, names: &[WorkspacePath], on_event: &OnEvent) -> PathWatch {
        let listener = {
            let mut table = watcher.table();
            table.last += 1;
            let listener = table.last;
            table.listeners.insert(listener, Arc::clone(on_event));
            listener
        };
        let mut watch =
            PathWatch { watcher: Arc::clone(watcher), listener, watched: BTreeSet::new(), reports_all: true };
        for name in names {
            watch.reports_all &= watch.add_way(name).is_ok_and(|reports_all| reports_all);
        }
        watch
    }
}

/// A watched path; the watches end when it is dropped.
pub struct PathWatch {
    watcher: Arc<DiskWatcher>,
    listener: u64,
    watched: BTreeSet<i32>,
    reports_all: bool,
}

impl PathWatch {
    pub fn reports_all(&self) -> bool {
        self.reports_all
    }

    /// Watches the directories on the way to `path`, a real path, and what is there. A directory that is missing is
    /// reported when it comes, by the one above it; a root has none.
    fn add_way(&mut self, path: &WorkspacePath) -> Result<bool, Unwatchable> {
        let (root, mut reports_all) = (&path.root().dir, true);
        let mut above: Vec<&Path> = path.relative().ancestors().collect();
        // From the root on: what is made meanwhile is reported by the directory above it.
        while let Some(directory) = above.pop().filter(|_| !above.is_empty()) {
            let name = above.last().and_then(|next| next.file_name());
            let Ok(dir) = root.dir_beneath(directory, OpenFor::Traverse) else {
                return if directory.as_os_str().is_empty() { Err(Unwatchable::Refused) } else { Ok(reports_all) };
            };
            reports_all &= self.add(&OpenPath::Directory(&dir), WorkspacePath::new(path.root(), directory), name)?;
        }
        match root.stat_beneath(path.relative()) {
            // Only what is a file: to open a FIFO or a device may do something.
            Ok(stat) if stat.kind == FileKind::File => {
                if let Ok(file) = root.file_beneath(path.relative()) {
                    reports_all &= self.add(&OpenPath::File(&file), path.clone(), None)?;
                }
            }
            Ok(stat) if stat.kind == FileKind::Directory => {
                if let Ok(dir) = root.dir_beneath(path.relative(), OpenFor::List) {
                    reports_all &= self.add(&OpenPath::Directory(&dir), path.clone(), None)?;
                }
            }
            Err(_) if path.is_root() => return Err(Unwatchable::Refused),
            _ => {}
        }
        Ok(reports_all)
    }

    fn add(&mut self, what: &OpenPath<'_>, path: WorkspacePath, name: Option<&OsStr>) -> Result<bool, Unwatchable> {
        // The number is not in the table yet when its watch begins: no event is read in between.
        let mut table = self.watcher.table();
        let (number, reports_all) = self.watcher.queue.watch_for_hints(what)?;
        let users = table.users.entry((number, name.map(OsStr::to_owned))).or_default();
        if !users.iter().any(|user| user.listener == self.listener && user.path == path) {
            users.push(User { listener: self.listener, path });
        }
        self.watched.insert(number);
        Ok(reports_all)
    }

    fn unwatch(&self, number: i32) {
        let mut table = self.watcher.table();
        let mut unused = Vec::new();
        for (key, users) in table.users.range_mut((number, None)..).take_while(|((other, _), _)| *other == number) {
            users.retain(|user| user.listener != self.listener);
            unused.extend(users.is_empty().then(|| key.clone()));
        }
        for key in unused {
            table.users.remove(&key);
        }
        if users_of(&table.users, number).next().is_none() {
            self.watcher.queue.forget(number);
        }
    }
}

impl Drop for PathWatch {
    fn drop(&mut self) {
        self.watcher.table().listeners.remove(&self.listener);
        // The lock is taken for each event, so that other users of it do not wait for thousands.
        self.watched.iter().for_each(|number| self.unwatch(*number));
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests prepare real files")]

    use std::fs;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::{root::Access, shared::Workspace};

    use super::*;

    #[test]
    fn path_is_woken_by_its_own_changes_alone_and_watches_end() {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspace::of_directory(root.path(), Access::ReadOnly);
        let watches = Arc::new(DiskWatcher::new().unwrap());
        let woken = Arc::new(AtomicUsize::new(0));
        let on_event: OnEvent = {
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
        let watch = || workspace.watch_path(&watches, std::slice::from_ref(&path), &on_event);
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
