//! The scheduling priority of background threads.

/// What the calling thread lets go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Short calls: for one search of several.
    BelowCalls,
    /// Everything: for background work.
    Background,
}

/// Lowers the priority of the calling thread, and of those that it starts, where the system can.
///
/// On Linux a nice value is a thread's own, contrary to POSIX (setpriority(2), "C library/kernel differences"), and
/// `None` is the calling one. At 5 a thread has a third of the share of one at 0, at 10 a tenth (sched(7)).
pub fn lower_priority(priority: Priority) {
    #[cfg(target_os = "linux")]
    {
        let nice = match priority {
            Priority::BelowCalls => 5,
            Priority::Background => 10,
        };
        let _ = rustix::process::setpriority_process(None, nice);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = priority;
}
