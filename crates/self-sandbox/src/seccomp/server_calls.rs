//! Which system calls are refused to the server, whatever their arguments or because of them.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{BackendError, SeccompCmpOp, SeccompRule};

use super::condition::{when, word};
use super::filter::CallFilter;
use super::shared_calls;

/// Calls that are refused whatever their arguments, besides those of [`shared_calls`].
const REFUSED: &[c_long] = &[
    // Sockets of any family: Landlock knows TCP alone. `socketpair` stays, it leads nowhere else (the self-pipe
    // of tokio for signals).
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    // Programs, and memory that could hold one: a memory file can be executed although no file is made.
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    // Changes by path that Landlock does not see. The program makes them through descriptors, which the resolver
    // has confined.
    libc::SYS_mknodat,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    SYS_SETXATTRAT,
    SYS_REMOVEXATTRAT,
    SYS_FILE_SETATTR,
    // Other processes: their life
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_personality,
];

/// The older spellings that x86-64 still has.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[c_long] = &[
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_mknod,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[c_long] = &[];

// Numbers that libc does not have on every platform; from 424 on they are the same on all.
const SYS_FCHMODAT2: c_long = 452; // Linux 6.6
const SYS_SETXATTRAT: c_long = 463; // Linux 6.13
const SYS_REMOVEXATTRAT: c_long = 466; // Linux 6.13
const SYS_FILE_SETATTR: c_long = 469; // Linux 6.17

/// The whole filter.
pub(super) fn filter() -> Result<CallFilter, BackendError> {
    Ok(CallFilter::new(&[shared_calls::REFUSED, shared_calls::REFUSED_HERE, REFUSED, REFUSED_HERE], conditions()?))
}

/// The calls whose arguments count.
fn conditions() -> Result<BTreeMap<c_long, Vec<SeccompRule>>, BackendError> {
    let mut rules = BTreeMap::new();
    // A new process: without the flag that makes it a thread of this one. `clone3` has its flags in memory, which a
    // filter cannot read: it is answered in `CallFilter::program`.
    let thread = libc::CLONE_THREAD.unsigned_abs().into();
    rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![when(0, SeccompCmpOp::MaskedEq(thread), 0)?])?]);
    // Times by path; `futimens` gives a descriptor and no path.
    rules.insert(libc::SYS_utimensat, vec![SeccompRule::new(vec![when(1, SeccompCmpOp::Ne, 0)?])?]);
    rules.insert(libc::SYS_ioctl, shared_calls::typing()?);
    rules.extend(shared_calls::scheduling()?);
    // Signals to other processes; `abort` sends one to its own.
    let own = std::process::id();
    let is_not = |value| word(0, SeccompCmpOp::Ne, value);
    rules.insert(libc::SYS_tgkill, vec![SeccompRule::new(vec![is_not(own)?])?]);
    // Limits of other processes; its own ones it may ask for and lower.
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![is_not(0)?, is_not(own)?])?]);
    Ok(rules)
}
