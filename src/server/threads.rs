//! The threads that calls run on: made when they are needed, kept for a while, and an error of the call where
//! the system makes no more.
//!
//! Not tokio's blocking pool: where no thread can be made it panics with the work already in its
//! queue, so that a refused change could still be made later (`Spawner::spawn_blocking` in tokio 1.54).

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

use super::CALL_THREAD;

/// How long a thread waits for work before it ends; the last one stays, as a new one may not be had.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// Threads at most, those included that a stuck file system holds; work beyond waits for one of them.
const MOST: usize = 512;

type Job = Box<dyn FnOnce() + Send>;

/// See the module; the threads end with it, once their work has ended.
#[derive(Debug)]
pub(super) struct Threads {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    work: Condvar,
    /// What each thread does first.
    prepare: fn(),
    most: usize,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("most", &self.most).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    threads: usize,
    idle: usize,
    ended: bool,
}

impl Threads {
    /// None yet; each runs `prepare` first.
    pub(super) fn new(prepare: fn()) -> Self {
        let shared = Shared { state: Mutex::default(), work: Condvar::new(), prepare, most: MOST };
        Self { shared: Arc::new(shared) }
    }

    /// Runs `work` on a thread. Where no more can be made, it waits for one of those that there are.
    ///
    /// # Errors
    /// The system's, where there is no thread and none can be made; `work` is dropped then.
    pub(super) fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> io::Result<Running<T>> {
        self.run_or(self, work)
    }

    /// As [`Self::run`], on one of `instead` where there is no thread here and none can be made.
    pub(super) fn run_or<T: Send + 'static>(
        &self,
        instead: &Self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Running<T>> {
        let (sender, result) = oneshot::channel();
        let taken = Arc::new(AtomicBool::new(false));
        let job = {
            let taken = Arc::clone(&taken);
            move || {
                if !taken.swap(true, Ordering::AcqRel) {
                    // Nobody may wait for it any more.
                    let _ = sender.send(work());
                }
            }
        };
        if let Err((_, job)) = self.shared.take_in(Box::new(job)) {
            instead.shared.take_in(job).map_err(|(error, _)| error)?;
        }
        Ok(Running { result, taken })
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.state().ended = true;
        self.shared.work.notify_all();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enqueues a job; gives it back where there is no thread.
    fn take_in(self: &Arc<Self>, job: Job) -> Result<(), (io::Error, Job)> {
        let mut state = self.state();
        if state.idle <= state.queue.len() && state.threads < self.most {
            let shared = Arc::clone(self);
            match Builder::new().name(CALL_THREAD.to_owned()).spawn(move || shared.serve()) {
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
            // What panics has a hook that says so; a thread that went with it would still be counted.
            let _ = panic::catch_unwind(AssertUnwindSafe(job));
        }
    }

    /// The next job; `None` where the thread should end, which is no longer counted then.
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

/// Work that is done, or waits for a thread; its result, or `None` where it was lost to a panic.
#[derive(Debug)]
pub(super) struct Running<T> {
    result: oneshot::Receiver<T>,
    taken: Arc<AtomicBool>,
}

impl<T> Running<T> {
    /// Takes back work that no thread has begun with; false where one has, and it goes on.
    pub(super) fn take_back(&self) -> bool {
        !self.taken.swap(true, Ordering::AcqRel)
    }
}

impl<T> Future for Running<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.result).poll(cx).map(Result::ok)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn at_most(most: usize) -> Threads {
        let shared = Shared { state: Mutex::default(), work: Condvar::new(), prepare: || {}, most };
        Threads { shared: Arc::new(shared) }
    }

    #[tokio::test]
    async fn work_beyond_the_last_thread_waits_and_can_be_taken_back() {
        let threads = at_most(1);
        let (go, gate) = mpsc::channel::<()>();
        let first = threads.run(move || gate.recv().is_ok()).unwrap();
        let second = threads.run(|| 2).unwrap();
        let third = threads.run(|| 3).unwrap();
        assert!(second.take_back());
        go.send(()).unwrap();
        assert_eq!(first.await, Some(true));
        assert_eq!(second.await, None, "it never runs");
        assert!(third.await == Some(3));
        assert_eq!(threads.shared.state().threads, 1);
    }

    #[tokio::test]
    async fn idle_thread_is_used_again() {
        let threads = at_most(8);
        for n in 0..20 {
            assert_eq!(threads.run(move || n).unwrap().await, Some(n));
            // The answer is there a moment before its thread is idle again.
            while threads.shared.state().idle == 0 {
                std::thread::yield_now();
            }
        }
        assert_eq!(threads.shared.state().threads, 1);
    }
}
