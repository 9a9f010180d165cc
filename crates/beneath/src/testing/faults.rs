//! System calls that fail, or that the process does not survive, at a number that a test chooses.
//!
//! `_ROOTBOUND_FAULT=FAULT:N` picks the N-th call since the process started, from 1; docs/internals/testing.md lists
//! the faults. Only calls that change the disk count (writing, naming, removing, rights, times, syncs), for `EMFILE`
//! only calls that open something.
//!
//! Limits: threads that change the disk at the same moment may swap their numbers.

use std::io::{self, Write as _};
use std::str::FromStr;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, setrlimit};

const VARIABLE: &str = "_ROOTBOUND_FAULT";

/// Calls that need room on the disk, or a descriptor: a full disk still renames and removes.
const TAKE_SPACE: &[&str] = &["linkat", "mkdirat", "open", "openat", "symlinkat", "write"];

/// The faults of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Injected {
    /// Nothing: every call is named on stderr.
    Trace,
    /// The process ends before the call.
    KillBefore,
    /// The process ends after half of a write, and after any other call.
    KillWithin,
    /// The process ends after the call.
    KillAfter,
    /// The call fails; half of a write is done.
    Fails(Errno),
}

/// An order of the variable: `FAULT:N`, or `FAULT:N+COUNT` for COUNT calls from there, and of those after the first
/// only the ones that take space. With `,no-exchange` the system has no renameat2(2), as NFS has not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Order {
    fault: Injected,
    first: u64,
    count: u64,
    no_exchange: bool,
}

impl FromStr for Order {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (text, no_exchange) = text.strip_suffix(",no-exchange").map_or((text, false), |rest| (rest, true));
        let (name, place) = text.split_once(':').unwrap_or((text, "0"));
        let (first, count) = place.split_once('+').unwrap_or((place, "1"));
        let fault = match name {
            "trace" => Injected::Trace,
            "kill-before" => Injected::KillBefore,
            "kill-within" => Injected::KillWithin,
            "kill-after" => Injected::KillAfter,
            "EDQUOT" => Injected::Fails(Errno::DQUOT),
            "EINTR" => Injected::Fails(Errno::INTR),
            "EIO" => Injected::Fails(Errno::IO),
            "EMFILE" => Injected::Fails(Errno::MFILE),
            "ENOSPC" => Injected::Fails(Errno::NOSPC),
            _ => return Err("an unknown fault"),
        };
        let number = |text: &str| text.parse().map_err(|_| "the place of a fault is a number");
        Ok(Self { fault, first: number(first)?, count: number(count)?, no_exchange })
    }
}

impl Order {
    /// The variable's order; a wrong one ends the program, as a test without its fault would prove nothing.
    fn given() -> Option<Self> {
        static ORDER: LazyLock<Option<Order>> = LazyLock::new(|| {
            let text = std::env::var(VARIABLE).ok()?;
            Some(text.parse().unwrap_or_else(|why| panic!("{VARIABLE}={text}: {why}")))
        });
        if cfg!(debug_assertions) { *ORDER } else { None }
    }

    /// The fault for the next call of its kind, named `call`.
    fn next(self, calls: &AtomicU64, call: &str) -> Option<Injected> {
        let number = calls.fetch_add(1, Ordering::SeqCst) + 1;
        let is_hit = number == self.first
            || number > self.first && number - self.first < self.count && TAKE_SPACE.contains(&call);
        if !is_hit && self.fault != Injected::Trace {
            return None;
        }
        let _ = writeln!(io::stderr(), "fault {number} {call}");
        Some(self.fault)
    }
}

/// Makes a call that changes the disk.
pub(crate) fn changing<T>(name: &str, call: impl FnOnce() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    changing_in_part(name, |_| call())
}

/// As [`changing`]; `call` does half of a write when it is given `true`.
pub(crate) fn changing_in_part<T, E: From<Errno>>(name: &str, call: impl FnOnce(bool) -> Result<T, E>) -> Result<T, E> {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let Some(order) = Order::given() else { return call(false) };
    if order.no_exchange && name == "renameat2" {
        return Err(Errno::INVAL.into());
    }
    if order.fault == Injected::Fails(Errno::MFILE) {
        return call(false);
    }
    match order.next(&CALLS, name) {
        None | Some(Injected::Trace) => call(false),
        Some(Injected::KillBefore) => die(),
        Some(Injected::KillWithin) => {
            let _ = call(name == "write");
            die()
        }
        Some(Injected::KillAfter) => {
            let _ = call(false);
            die()
        }
        Some(Injected::Fails(errno)) => {
            if name == "write" && errno != Errno::INTR {
                let _ = call(true);
            }
            Err(errno.into())
        }
    }
}

/// Makes a call that opens something.
pub(crate) fn opening<T>(call: impl FnOnce() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    match Order::given() {
        Some(order) if order.fault == Injected::Fails(Errno::MFILE) && order.next(&CALLS, "open").is_some() => {
            Err(Errno::MFILE)
        }
        _ => call(),
    }
}

/// Ends the process as a crash does: no destructor runs. SIGABRT and not SIGKILL, which the server's own filter of
/// system calls refuses; without a core file, which would be in the tree.
pub(crate) fn die() -> ! {
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    std::process::abort()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_names_a_fault_and_its_place() {
        let order = |fault, first, count, no_exchange| Ok(Order { fault, first, count, no_exchange });
        for (text, expected) in [
            ("trace", order(Injected::Trace, 0, 1, false)),
            ("kill-before:17", order(Injected::KillBefore, 17, 1, false)),
            ("ENOSPC:3+40", order(Injected::Fails(Errno::NOSPC), 3, 40, false)),
            ("kill-after:2,no-exchange", order(Injected::KillAfter, 2, 1, true)),
            ("kill:2", Err("an unknown fault")),
            ("EIO:x", Err("the place of a fault is a number")),
        ] {
            assert_eq!(text.parse(), expected, "{text}");
        }
    }
}
