//! Threads that calls run on: started when they are needed, kept for a while.
//!
//! Where the system starts no more threads, that is an error of the call. tokio's blocking pool panics there with the
//! work already in its queue, so that a refused change could still be made later (`Spawner::spawn_blocking` in tokio
//! 1.54).

use std::{
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

use tokio::sync::oneshot;

use confined_fs::closing_late;

/// How long a thread waits for work before it ends; the last one stays, as a new one may not be had.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// Threads at most, with those that a stuck file system holds; more work waits for one of them.
const MAX_THREADS: usize = 512;

type Job = Box<dyn FnOnce() + Send>;

/// See the module; the threads end with it, once their work has ended.
pub(super) struct ThreadPool {
    workers: Arc<Workers>,
}

struct Workers {
    state: Mutex<WorkerState>,
    work: Condvar,
    /// Runs first on each thread.
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

impl ThreadPool {
    /// A pool without threads yet; each runs `prepare` first.
    pub(super) fn new(prepare: fn()) -> Self {
        let workers = Workers { state: Mutex::default(), work: Condvar::new(), prepare, max_threads: MAX_THREADS };
        Self { workers: Arc::new(workers) }
    }

    /// Runs `work` on a thread. If no more can be made, it waits for one that there is.
    ///
    /// # Errors
    /// The system's, if there is no thread and none can be made; `work` is dropped then.
    pub(super) fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> io::Result<Task<T>> {
        self.run_or(self, work)
    }

    /// As [`Self::run`], on a thread of `fallback` if this pool has none and none can be made.
    pub(super) fn run_or<T: Send + 'static>(
        &self,
        fallback: &Self,
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
        if let Err((_, job)) = self.workers.enqueue(Box::new(job)) {
            fallback.workers.enqueue(job).map_err(|(error, _)| error)?;
        }
        Ok(Task { result, taken })
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.workers.state().ended = true;
        self.workers.work.notify_all();
    }
}

impl Workers {
    fn state(&self) -> MutexGuard<'_, WorkerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enqueues a job; gives it back if there is no thread.
    fn enqueue(self: &Arc<Self>, job: Job) -> Result<(), (io::Error, Job)> {
        let mut state = self.state();
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn pool_of(max_threads: usize) -> ThreadPool {
        let workers = Workers { state: Mutex::default(), work: Condvar::new(), prepare: || {}, max_threads };
        ThreadPool { workers: Arc::new(workers) }
    }

    #[tokio::test]
    async fn work_beyond_the_limit_of_threads_waits_and_can_be_taken_back() {
        let pool = pool_of(1);
        let (go, gate) = mpsc::channel::<()>();
        let first = pool.run(move || gate.recv().is_ok()).unwrap();
        let second = pool.run(|| 2).unwrap();
        let third = pool.run(|| 3).unwrap();
        assert!(second.take_back());
        go.send(()).unwrap();
        assert_eq!(first.await, Some(true));
        assert_eq!(second.await, None, "it never runs");
        assert!(third.await == Some(3));
        assert_eq!(pool.workers.state().threads, 1);
    }

    #[tokio::test]
    async fn idle_thread_is_used_again() {
        let pool = pool_of(8);
        for n in 0..20 {
            assert_eq!(pool.run(move || n).unwrap().await, Some(n));
            // The result is there a moment before its thread is idle again.
            while pool.workers.state().idle == 0 {
                std::thread::yield_now();
            }
        }
        assert_eq!(pool.workers.state().threads, 1);
    }
}
