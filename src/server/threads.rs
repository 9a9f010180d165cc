//! Threads that calls run on: started when they are needed, kept for a while. A panic fails one call.
//!
//! Where the system starts no more threads, that is an error of the call. tokio's blocking pool panics there with the
//! work already in its queue, so that a refused change could still be made later (`Spawner::spawn_blocking` in tokio
//! 1.54).

use std::{
    any::Any,
    collections::VecDeque,
    io,
    panic::{self, AssertUnwindSafe},
    pin::Pin,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    thread::Builder,
    time::Duration,
};

use change_set::closing_late;
use self_sandbox::{Priority, lower_priority};
use tokio::{sync::oneshot, time};
use tracing::Span;

use file_tools::{Kind, ToolError};

/// How long a thread waits for work before it ends; the last one stays, as a new one may not be had.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// Threads at most, with those that a stuck file system holds; more work waits for one of them.
const MAX_THREADS: usize = 512;

type Job = Box<dyn FnOnce() + Send>;

struct Workers {
    state: Mutex<WorkerState>,
    work: Condvar,
    prepare: fn(),
    max_threads: usize,
}

#[derive(Default)]
struct WorkerState {
    queue: VecDeque<Job>,
    threads: usize,
    idle: usize,
    ended: bool,
}

impl Workers {
    /// No threads yet; each runs `prepare` first.
    fn new(prepare: fn(), max_threads: usize) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), work: Condvar::new(), prepare, max_threads })
    }

    /// Runs `work` on a thread, or of `fallback` if this pool has none and none can be made. If no more can be made, it
    /// waits for one that there is.
    ///
    /// # Errors
    /// The system's, if there is no thread and none can be made; `work` is dropped then.
    fn run<T: Send + 'static>(
        self: &Arc<Self>,
        fallback: &Arc<Self>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Task<T>> {
        let (sender, result) = oneshot::channel();
        let taken = Arc::new(AtomicBool::new(false));
        let job = {
            let taken = Arc::clone(&taken);
            move || {
                if !taken.swap(true, Ordering::AcqRel) {
                    // An error: nobody waits for the result any more.
                    let _ = sender.send(work());
                }
            }
        };
        if let Err((_, job)) = self.enqueue(Box::new(job)) {
            fallback.enqueue(job).map_err(|(error, _)| error)?;
        }
        Ok(Task { result, taken })
    }

    fn state(&self) -> MutexGuard<'_, WorkerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enqueues a job; gives it back if there is no thread.
    fn enqueue(self: &Arc<Self>, job: Job) -> Result<(), (io::Error, Job)> {
        let mut state = self.state();
        // Each job that waits has woken an idle thread already, which has not come to take it yet.
        if state.idle <= state.queue.len() && state.threads < self.max_threads {
            let workers = Arc::clone(self);
            match Builder::new().name("call".to_owned()).spawn(move || workers.serve()) {
                Ok(_) => state.threads += 1,
                Err(error) if state.threads == 0 => return Err((error, job)),
                Err(error) => tracing::warn!(%error, threads = state.threads, "no more threads; calls wait for one"),
            }
        }
        state.queue.push_back(job);
        drop(state);
        self.work.notify_one();
        Ok(())
    }

    fn serve(&self) {
        (self.prepare)();
        while let Some(job) = self.next() {
            // The panic hook logs it. A thread that ended with it would still be counted.
            let _ = panic::catch_unwind(AssertUnwindSafe(|| closing_late(job)));
        }
    }

    /// The next job; `None` if the thread should end, which is no longer counted then.
    fn next(&self) -> Option<Job> {
        let mut state = self.state();
        loop {
            if let Some(job) = state.queue.pop_front() {
                return Some(job);
            }
            state.idle += 1;
            // A wake-up without a job is harmless: the loop looks at the queue again.
            let (next, waited) = self.work.wait_timeout(state, KEEP_ALIVE).unwrap_or_else(PoisonError::into_inner);
            state = next;
            state.idle -= 1;
            let spare = waited.timed_out() && state.threads > 1 && state.queue.is_empty();
            if state.ended && state.queue.is_empty() || spare {
                state.threads -= 1;
                return None;
            }
        }
    }
}

/// Work that runs, or waits for a thread; its result, or `None` if a panic lost it.
#[derive(Debug)]
pub(super) struct Task<T> {
    result: oneshot::Receiver<T>,
    taken: Arc<AtomicBool>,
}

impl<T> Task<T> {
    /// Takes back work that no thread has begun; false if one has, and it goes on.
    pub(super) fn take_back(&self) -> bool {
        !self.taken.swap(true, Ordering::AcqRel)
    }
}

impl<T> Future for Task<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.result).poll(cx).map(Result::ok)
    }
}

/// The threads that calls run on, of two priorities.
pub(super) struct Pools {
    normal: Arc<Workers>,
    // Searches that run at the same time as others have a lower priority, so that a read or an edit, which takes a
    // moment, does not wait for a processor after them. A lone search is as urgent as anything else. Apart, as a thread
    // that gave up its priority cannot have it back (setpriority(2)).
    low_priority: Arc<Workers>,
}

impl Default for Pools {
    fn default() -> Self {
        let low_priority = Workers::new(|| lower_priority(Priority::BelowCalls), MAX_THREADS);
        Self { normal: Workers::new(|| {}, MAX_THREADS), low_priority }
    }
}

impl Drop for Pools {
    /// The threads end once their work has ended.
    fn drop(&mut self) {
        // Not joined: one of them may hang in a system call.
        for workers in [&self.normal, &self.low_priority] {
            workers.state().ended = true;
            workers.work.notify_all();
        }
    }
}

impl Pools {
    /// Starts `work` of a call. `permit` is kept until the work ends, even if nobody waits for it any more.
    ///
    /// # Errors
    /// When there is no thread and none can be made.
    pub(super) fn start<T: Send + 'static, P: Send + Sync + 'static>(
        &self,
        is_low_priority: bool,
        permit: &Arc<P>,
        work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
    ) -> Result<Task<Result<T, ToolError>>, ToolError> {
        let (permit, span) = (Arc::clone(permit), Span::current());
        let guarded = move || {
            let _permit = permit;
            span.in_scope(|| catch_panic(work))
        };
        let pool = if is_low_priority { &self.low_priority } else { &self.normal };
        pool.run(&self.normal, guarded).map_err(|error| no_thread("the call was not started").source(error))
    }

    /// The result of `work`.
    ///
    /// # Errors
    /// If there is no thread; of the kind `TimedOut` if it takes longer than `limit`, and `Other` if it panics.
    pub(super) async fn within<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        match time::timeout(limit, self.normal.run(&self.normal, work)?).await {
            Ok(result) => result.ok_or_else(|| io::Error::other("it panicked")),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

/// Runs `work`; its panic is an error of this call. What the panic left half done is dropped with the call, and the
/// locks of the layers below recover from poison.
pub(super) fn catch_panic<T>(work: impl FnOnce() -> Result<T, ToolError>) -> Result<T, ToolError> {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(crashed(panic_text(&*payload))))
}

/// The result of a task, whose thread may be gone.
pub(super) fn ended<T>(result: Option<Result<T, ToolError>>) -> Result<T, ToolError> {
    result.unwrap_or_else(|| Err(crashed("its thread is gone")))
}

/// The error of a call that the system has no thread for.
pub(super) fn no_thread(consequence: &str) -> ToolError {
    let message = format!(
        "the system does not let the server start more threads (ulimit -u, or a container's limit of processes or \
         memory), \
         and {consequence}; nothing was changed"
    );
    ToolError::new(Kind::Internal, message)
        .hint("call again after other calls are answered; if it fails again, report it to the user")
}

fn crashed(reason: &str) -> ToolError {
    ToolError::new(Kind::Internal, "the tool failed unexpectedly; this call was abandoned, the server goes on")
        .hint("try another way; the same call would probably fail again")
        .source(reason.to_owned())
}

/// Logs each panic in one line; the dispatcher answers the call that it was in.
pub(super) fn log_panics() {
    // Not the default hook: it writes to stderr itself and would wait for its reader.
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, reason = panic_text(panic.payload()), "panicked");
    }));
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn work_beyond_the_limit_of_threads_waits_and_can_be_taken_back() {
        let pool = Workers::new(|| {}, 1);
        let (go, gate) = mpsc::channel::<()>();
        let first = pool.run(&pool, move || gate.recv().is_ok()).unwrap();
        let second = pool.run(&pool, || 2).unwrap();
        let third = pool.run(&pool, || 3).unwrap();
        assert!(second.take_back());
        go.send(()).unwrap();
        assert_eq!(first.await, Some(true));
        assert_eq!(second.await, None, "it never runs");
        assert!(third.await == Some(3));
        assert_eq!(pool.state().threads, 1);
    }

    #[tokio::test]
    async fn idle_thread_is_used_again() {
        let pool = Workers::new(|| {}, 8);
        for n in 0..20 {
            assert_eq!(pool.run(&pool, move || n).unwrap().await, Some(n));
            // The result is there a moment before its thread is idle again.
            while pool.state().idle == 0 {
                std::thread::yield_now();
            }
        }
        assert_eq!(pool.state().threads, 1);
    }
}
