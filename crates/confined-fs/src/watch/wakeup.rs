//! Waiting for events of a [`DirectoryWatcher`], for a call from another thread, or for a time.

use std::{io, time::Duration};

use super::DirectoryWatcher;

/// What another thread ends a wait with.
#[derive(Debug)]
pub struct Wakeup(Signal);

impl Wakeup {
    /// One that nobody has called yet.
    pub fn new() -> io::Result<Self> {
        Signal::new().map(Self)
    }

    /// Ends the wait that is under way, or the next one.
    pub fn wake(&self) {
        self.0.set();
    }

    /// Waits until there are events of `watcher`, until somebody calls, and at most `limit`.
    pub fn wait(&self, watcher: Option<&DirectoryWatcher>, limit: Duration) {
        self.0.wait(watcher, limit);
    }
}

#[cfg(target_os = "linux")]
use linux::Signal;
#[cfg(not(target_os = "linux"))]
use others::Signal;

#[cfg(target_os = "linux")]
mod linux {
    use std::{io, os::fd::OwnedFd, time::Duration};

    use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

    use super::DirectoryWatcher;

    #[derive(Debug)]
    pub(super) struct Signal(OwnedFd);

    impl Signal {
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?))
        }

        pub(super) fn set(&self) {
            // Fails only where the count is full, and then it is set.
            let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
        }

        pub(super) fn wait(&self, watcher: Option<&DirectoryWatcher>, limit: Duration) {
            let limit = Timespec {
                tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: limit.subsec_nanos().into(),
            };
            let mut asked = vec![PollFd::new(&self.0, PollFlags::IN)];
            asked.extend(watcher.map(|watcher| PollFd::new(&watcher.queue, PollFlags::IN)));
            // An interruption is an early end.
            let _ = poll(&mut asked, Some(&limit));
            let _ = rustix::io::read(&self.0, &mut [0_u8; 8]);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod others {
    use std::{
        io,
        sync::{Condvar, Mutex, PoisonError},
        time::Duration,
    };

    use super::DirectoryWatcher;

    #[derive(Debug, Default)]
    pub(super) struct Signal {
        is_set: Mutex<bool>,
        changed: Condvar,
    }

    impl Signal {
        #[expect(clippy::unnecessary_wraps, reason = "the same signature as on Linux")]
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self::default())
        }

        pub(super) fn set(&self) {
            *self.is_set.lock().unwrap_or_else(PoisonError::into_inner) = true;
            self.changed.notify_all();
        }

        /// No watcher can be made here.
        pub(super) fn wait(&self, _: Option<&DirectoryWatcher>, limit: Duration) {
            let is_set = self.is_set.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = self.changed.wait_timeout_while(is_set, limit, |is_set| !*is_set);
            *waited.unwrap_or_else(PoisonError::into_inner).0 = false;
        }
    }
}
