//! One lock per file, so that concurrent changes of it in this process happen one after another.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The files that are being changed.
#[derive(Debug, Default)]
pub(in crate::workspace) struct Locks {
    held: Mutex<HashSet<String>>,
    freed: Condvar,
}

/// A held lock; dropping it frees it.
#[derive(Debug)]
pub(super) struct Lock {
    locks: Arc<Locks>,
    key: String,
}

impl Locks {
    /// Waits until nobody holds the lock of this canonical path, then holds it.
    pub(super) fn lock(locks: &Arc<Self>, path: &Path) -> Lock {
        // Folded, so that two spellings on a case-insensitive file system share a lock; that two
        // different files may share one, too, only makes one of them wait.
        let key = path.to_string_lossy().to_lowercase();
        // A panic while the set was borrowed cannot leave it half-changed.
        let mut held = locks.held.lock().unwrap_or_else(PoisonError::into_inner);
        while held.contains(&key) {
            held = locks.freed.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        held.insert(key.clone());
        Lock { locks: Arc::clone(locks), key }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.locks.held.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
        self.locks.freed.notify_all();
    }
}
