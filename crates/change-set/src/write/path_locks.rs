//! Locks on paths within this process: at most one change of a path, or of what is above or below it, at a time.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::{collections::HashSet, path::Path, time::Duration};

use confined_fs::AccessErrorKind;

// One lock per path, so that concurrent changes of it in this process happen one after another.
//
// A lock covers everything below its path, too: a directory is not moved while a file in it is
// being written. A call gives up when its wait limit ends, and does not wait at all where too many do:
// one long change must not take every thread from the calls that have nothing to do with it. [`WaitLimit`] is also how long
// a change waits for another process, and goes on while nothing of it can be seen.

/// Changes that wait at once for other changes; each holds a thread, and the server has more.
pub(super) const MAX_WAITING: usize = 256;
/// How often who waits asks whether it still should.
const ASK_INTERVAL: Duration = Duration::from_millis(50);

type Question = Arc<dyn Fn() -> bool + Send + Sync>;
type Notice = Arc<dyn Fn() + Send + Sync>;

/// Ends a wait or a preparation early. The default waits for ever.
#[derive(Clone, Default)]
pub struct WaitLimit {
    stopped: Option<Question>,
    waiting: Option<Notice>,
}

impl WaitLimit {
    /// Ends as soon as `stopped` says so; it is asked often. `waiting` is called each time before the
    /// change waits for another one, so that it gives back what others could use meanwhile.
    pub fn until(
        stopped: impl Fn() -> bool + Send + Sync + 'static,
        waiting: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        Self { stopped: Some(Arc::new(stopped)), waiting: Some(Arc::new(waiting)) }
    }

    /// Whether it has ended.
    pub(crate) fn ended(&self) -> bool {
        self.stopped.as_ref().is_some_and(|stopped| stopped())
    }

    pub(super) fn before_waiting(&self) {
        if let Some(waiting) = &self.waiting {
            waiting();
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct PathLocks {
    table: Mutex<PathLockTable>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct PathLockTable {
    held: HashSet<String>,
    waiting: usize,
}

/// Held locks; dropping them frees them.
#[derive(Debug)]
pub(crate) struct PathLock {
    locks: Arc<PathLocks>,
    keys: Vec<String>,
}

impl PathLocks {
    /// Waits until no other call holds any of these canonical paths, one above or one below them, then holds
    /// them all at once, so that two calls which want the same two never wait for each other.
    ///
    /// # Errors
    /// `Stopped` when the wait limit ends first, `TooManyWaiting` where too many wait already.
    pub(crate) fn lock_all(
        locks: &Arc<Self>,
        paths: &[&Path],
        wait_limit: &WaitLimit,
    ) -> Result<PathLock, AccessErrorKind> {
        // Folded, so that two spellings on a case-insensitive file system share a lock; that two
        // different files may share one, too, only makes one of them wait.
        let keys: Vec<String> = paths.iter().map(|path| path.to_string_lossy().to_lowercase()).collect();
        // A panic while the table was borrowed cannot leave it half-changed.
        let mut table = locks.table.lock().unwrap_or_else(PoisonError::into_inner);
        if table.is_taken(&keys) {
            if table.waiting >= MAX_WAITING {
                return Err(AccessErrorKind::TooManyWaiting);
            }
            table.waiting += 1;
            // The table must not stay locked while code of the caller runs.
            drop(table);
            wait_limit.before_waiting();
            table = locks.table.lock().unwrap_or_else(PoisonError::into_inner);
            while table.is_taken(&keys) {
                table = locks.freed.wait_timeout(table, ASK_INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
                if wait_limit.ended() {
                    table.waiting -= 1;
                    return Err(AccessErrorKind::Stopped);
                }
            }
            table.waiting -= 1;
        }
        table.held.extend(keys.iter().cloned());
        drop(table);
        Ok(PathLock { locks: Arc::clone(locks), keys })
    }
}

impl PathLockTable {
    fn is_taken(&self, keys: &[String]) -> bool {
        self.held.iter().any(|other| keys.iter().any(|key| covers(other, key) || covers(key, other)))
    }
}

impl Drop for PathLock {
    fn drop(&mut self) {
        let mut table = self.locks.table.lock().unwrap_or_else(PoisonError::into_inner);
        for key in &self.keys {
            table.held.remove(key);
        }
        drop(table);
        self.locks.freed.notify_all();
    }
}

/// Whether `below` is `path` or is below it.
fn covers(path: &str, below: &str) -> bool {
    below.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(std::path::is_separator))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    fn lock(locks: &Arc<PathLocks>, path: &str) -> PathLock {
        PathLocks::lock_all(locks, &[Path::new(path)], &WaitLimit::default()).unwrap()
    }

    #[test]
    fn wait_ends_with_its_limit_and_calls_before_waiting_once() {
        let locks = Arc::new(PathLocks::default());
        let held = lock(&locks, "/a");
        let calls = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let wait_limit = WaitLimit::until(|| true, {
            let calls = Arc::clone(&calls);
            move || {
                calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        });
        drop(PathLocks::lock_all(&locks, &[Path::new("/b")], &wait_limit).unwrap());
        assert_eq!(calls.load(std::sync::atomic::Ordering::Relaxed), 0);
        let refused = PathLocks::lock_all(&locks, &[Path::new("/a/b")], &wait_limit);
        assert_eq!(refused.unwrap_err(), AccessErrorKind::Stopped);
        assert_eq!(calls.load(std::sync::atomic::Ordering::Relaxed), 1);
        assert_eq!(locks.table.lock().unwrap().waiting, 0);
        drop(held);
        drop(lock(&locks, "/a/b"));
    }

    #[test]
    fn too_many_waiting_calls_are_crowded() {
        let locks = Arc::new(PathLocks::default());
        let held = lock(&locks, "/a");
        locks.table.lock().unwrap().waiting = MAX_WAITING;
        let refused = PathLocks::lock_all(&locks, &[Path::new("/a")], &WaitLimit::default());
        assert_eq!(refused.unwrap_err(), AccessErrorKind::TooManyWaiting);
        drop(lock(&locks, "/b"));
        drop(held);
        drop(lock(&locks, "/a"));
    }

    #[test]
    fn lock_covers_what_is_below_and_no_sibling() {
        assert!(covers("/a/b", "/a/b") && covers("/a/b", "/a/b/c"));
        assert!(!covers("/a/b", "/a/bc") && !covers("/a/b/c", "/a/b"));
    }

    #[test]
    fn path_below_a_held_one_is_waited_for() {
        let locks = Arc::new(PathLocks::default());
        let held = PathLocks::lock_all(&locks, &[Path::new("/a"), Path::new("/z")], &WaitLimit::default()).unwrap();
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn({
            let locks = Arc::clone(&locks);
            move || {
                let _lock = lock(&locks, "/a/b");
                sender.send(()).unwrap();
            }
        });
        drop(lock(&locks, "/ab"));
        assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err());
        drop(held);
        receiver.recv_timeout(Duration::from_secs(20)).unwrap();
        other.join().unwrap();
        assert!(locks.table.lock().unwrap().held.is_empty());
    }
}
