//! The points at which a test makes a system call fail, or ends the process.
//!
//! A program without debug assertions, as the released one, makes the calls and has nothing else of this.

#[cfg(debug_assertions)]
mod order;

use rustix::io::Errno;

/// Makes a call that changes the disk.
pub(super) fn changing<T>(name: &str, call: impl FnOnce() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    changing_in_part(name, |_| call())
}

/// As [`changing`], for a call that can be done in part, which it is asked for.
pub(super) fn changing_in_part<T, E: From<Errno>>(name: &str, call: impl FnOnce(bool) -> Result<T, E>) -> Result<T, E> {
    #[cfg(debug_assertions)]
    return order::changing(name, call);
    #[cfg(not(debug_assertions))]
    {
        let _ = name;
        call(false)
    }
}

/// Makes a call that opens something.
pub(super) fn opening<T>(call: impl FnOnce() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    #[cfg(debug_assertions)]
    return order::opening(call);
    #[cfg(not(debug_assertions))]
    call()
}
