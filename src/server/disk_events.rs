//! The kernel's events about watched paths, for waiting calls: one watcher, and the task that reads it.
//!
//! Started with the first of them. On other systems than Linux there is none, and a wait looks from time to time.

use std::sync::{Arc, Mutex, PoisonError};

use confined_fs::watch::DiskWatcher;
use tokio::task::AbortHandle;

/// The watcher of a server, once somebody needs it; its task ends with it.
#[derive(Default)]
pub(super) struct DiskEvents(Mutex<Option<(Arc<DiskWatcher>, AbortHandle)>>);

impl DiskEvents {
    /// `None` where the system has no such events, or gives no more of them; tried again each time then. In the runtime.
    pub(super) fn watcher(&self) -> Option<Arc<DiskWatcher>> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_none() {
            *running = start();
        }
        running.as_ref().map(|(watcher, _)| Arc::clone(watcher))
    }
}

impl Drop for DiskEvents {
    fn drop(&mut self) {
        if let Some((_, task)) = self.0.get_mut().unwrap_or_else(PoisonError::into_inner) {
            task.abort();
        }
    }
}

#[cfg(target_os = "linux")]
fn start() -> Option<(Arc<DiskWatcher>, AbortHandle)> {
    use tokio::io::{Interest, unix::AsyncFd};
    let watcher = DiskWatcher::new().inspect_err(|why| tracing::info!(%why, "paths are looked at from time to time"));
    let watcher = Arc::new(watcher.ok()?);
    #[expect(deprecated, reason = "its replacement is unsafe: `T` must own its file, as `DiskWatcher` does")]
    let queue = AsyncFd::with_interest(Arc::clone(&watcher), Interest::READABLE).ok()?;
    let task = tokio::spawn(async move {
        while let Ok(mut ready) = queue.readable().await {
            // Only once nothing is left: tokio reports a change of readiness, and not again what was left unread.
            if !queue.get_ref().dispatch() {
                ready.clear_ready();
            }
            // Files that change without a pause must not keep others from the thread.
            tokio::task::yield_now().await;
        }
    });
    Some((watcher, task.abort_handle()))
}

#[cfg(not(target_os = "linux"))]
fn start() -> Option<(Arc<DiskWatcher>, AbortHandle)> {
    None
}
