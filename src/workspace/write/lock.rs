//! One lock per path, so that concurrent changes of it in this process happen one after another.
//!
//! A lock covers everything below its path, too: a directory is not moved while a file in it is
//! being written.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The paths that are being changed.
#[derive(Debug, Default)]
pub(in crate::workspace) struct Locks {
    held: Mutex<HashSet<String>>,
    freed: Condvar,
}

/// Held locks; dropping them frees them.
#[derive(Debug)]
pub(in crate::workspace) struct Lock {
    locks: Arc<Locks>,
    keys: Vec<String>,
}

impl Locks {
    /// Waits until nobody holds the lock of this canonical path, then holds it.
    pub(super) fn lock(locks: &Arc<Self>, path: &Path) -> Lock {
        Self::lock_all(locks, &[path])
    }

    /// Waits until nobody holds any of these, one above or one below them, then holds them all at
    /// once, so that two calls which want the same two never wait for each other.
    pub(in crate::workspace) fn lock_all(locks: &Arc<Self>, paths: &[&Path]) -> Lock {
        // Folded, so that two spellings on a case-insensitive file system share a lock; that two
        // different files may share one, too, only makes one of them wait.
        let keys: Vec<String> = paths.iter().map(|path| path.to_string_lossy().to_lowercase()).collect();
        // A panic while the set was borrowed cannot leave it half-changed.
        let mut held = locks.held.lock().unwrap_or_else(PoisonError::into_inner);
        while held.iter().any(|other| keys.iter().any(|key| covers(other, key) || covers(key, other))) {
            held = locks.freed.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        held.extend(keys.iter().cloned());
        Lock { locks: Arc::clone(locks), keys }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let mut held = self.locks.held.lock().unwrap_or_else(PoisonError::into_inner);
        for key in &self.keys {
            held.remove(key);
        }
        drop(held);
        self.locks.freed.notify_all();
    }
}

/// Whether `below` is `path` or lies below it.
fn covers(path: &str, below: &str) -> bool {
    below.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(std::path::is_separator))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_lock_covers_what_lies_below_and_nothing_beside() {
        assert!(covers("/a/b", "/a/b") && covers("/a/b", "/a/b/c"));
        assert!(!covers("/a/b", "/a/bc") && !covers("/a/b/c", "/a/b"));
    }

    #[test]
    fn who_wants_a_path_below_a_held_one_waits_until_it_is_free() {
        let locks = Arc::new(Locks::default());
        let held = Locks::lock_all(&locks, &[Path::new("/a"), Path::new("/z")]);
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn({
            let locks = Arc::clone(&locks);
            move || {
                let _lock = Locks::lock(&locks, Path::new("/a/b"));
                sender.send(()).unwrap();
            }
        });
        drop(Locks::lock(&locks, Path::new("/ab")));
        assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err());
        drop(held);
        receiver.recv_timeout(Duration::from_secs(20)).unwrap();
        other.join().unwrap();
        assert!(locks.held.lock().unwrap().is_empty());
    }
}
