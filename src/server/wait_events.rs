//! The task that takes the kernel's events about watched paths, and wakes the calls that wait for them.
//!
//! Started with the first wait. On other systems than Linux there is none, and waits look from time to time.

use std::sync::Arc;

use tokio::task::AbortHandle;

use confined_fs::PathWatches;

/// The watches of all waiting calls; the task ends with it.
pub(super) struct WaitEvents {
    pub(super) watches: Arc<PathWatches>,
    task: AbortHandle,
}

impl WaitEvents {
    /// Starts the task. `None` where the system has no such events, or gives no more of them.
    #[cfg(target_os = "linux")]
    pub(super) fn start() -> Option<Self> {
        use tokio::io::{Interest, unix::AsyncFd};
        let watches =
            PathWatches::new().inspect_err(|why| tracing::info!(%why, "waits look from time to time")).ok()?;
        let watches = Arc::new(watches);
        #[expect(deprecated, reason = "its replacement is unsafe: `T` must own its file, as `PathWatches` does")]
        let queue = AsyncFd::with_interest(Arc::clone(&watches), Interest::READABLE).ok()?;
        let task = tokio::spawn(async move {
            while let Ok(mut ready) = queue.readable().await {
                if !queue.get_ref().dispatch() {
                    ready.clear_ready();
                }
                // Files that change without a pause must not keep others from the thread.
                tokio::task::yield_now().await;
            }
        });
        Some(Self { watches, task: task.abort_handle() })
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn start() -> Option<Self> {
        None
    }
}

impl Drop for WaitEvents {
    fn drop(&mut self) {
        self.task.abort();
    }
}
