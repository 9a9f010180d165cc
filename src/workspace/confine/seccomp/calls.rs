//! Which system calls are refused, whatever their arguments or because of them.

use std::collections::{BTreeMap, BTreeSet};

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// Calls that are refused whatever their arguments.
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
    // Files by number instead of by path, past every check of a path: open_by_handle_at(2)
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    // A second way to every call, which no filter sees (https://github.com/moby/moby/pull/46762)
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Other processes: their memory, their descriptors, their life
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_kcmp,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // Mounts and namespaces: a new user namespace gives all capabilities in it
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_open_tree,
    SYS_OPEN_TREE_ATTR,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    // The kernel and the machine: most need a capability, and each has been a way into the kernel
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    SYS_KEXEC_FILE_LOAD,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_personality,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
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
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[c_long] = &[];

/// `libc` has it for glibc, but not for musl on arm64. 294 is its number in the table that every newer architecture uses:
/// <https://github.com/torvalds/linux/blob/v6.12/include/uapi/asm-generic/unistd.h>
#[cfg(not(target_arch = "x86_64"))]
const SYS_KEXEC_FILE_LOAD: c_long = 294;
#[cfg(target_arch = "x86_64")]
const SYS_KEXEC_FILE_LOAD: c_long = libc::SYS_kexec_file_load;

// Numbers that libc does not have on every platform; from 424 on they are the same on all.
const SYS_FCHMODAT2: c_long = 452; // Linux 6.6
const SYS_SETXATTRAT: c_long = 463; // Linux 6.13
const SYS_REMOVEXATTRAT: c_long = 466; // Linux 6.13
const SYS_OPEN_TREE_ATTR: c_long = 467; // Linux 6.15
const SYS_FILE_SETATTR: c_long = 469; // Linux 6.17

/// The numbers of all calls that are refused whatever their arguments.
pub(super) fn refused() -> BTreeSet<u32> {
    REFUSED.iter().chain(REFUSED_HERE).map(|call| number(*call)).collect()
}

/// The numbers of the calls that [`conditions`] is about.
pub(super) fn conditional() -> [u32; 5] {
    [libc::SYS_clone, libc::SYS_utimensat, libc::SYS_ioctl, libc::SYS_tgkill, libc::SYS_prlimit64].map(number)
}

/// The calls whose arguments count.
pub(super) fn conditions() -> Result<BpfProgram, BackendError> {
    let mut rules = BTreeMap::new();
    // A new process: without the flag that makes it a thread of this one. `clone3` has its flags in memory, which a
    // filter cannot read: it is answered in `program`.
    let thread = libc::CLONE_THREAD.unsigned_abs().into();
    rules.insert(libc::SYS_clone, vec![when(0, SeccompCmpOp::MaskedEq(thread), 0)?]);
    // Times by path; `futimens` gives a descriptor and no path.
    rules.insert(libc::SYS_utimensat, vec![when(1, SeccompCmpOp::Ne, 0)?]);
    // Typing into the terminal that the server was started from: CVE-2017-5226, CVE-2023-28100.
    rules.insert(libc::SYS_ioctl, vec![when_word(1, libc::TIOCSTI)?, when_word(1, TIOCLINUX)?]);
    // Signals to other processes; `abort` sends one to its own.
    let own = std::process::id();
    rules.insert(libc::SYS_tgkill, vec![SeccompRule::new(vec![is_not(0, own)?])?]);
    // Limits of other processes; its own ones it may ask for and lower.
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![is_not(0, 0)?, is_not(0, own)?])?]);
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM.unsigned_abs()),
        std::env::consts::ARCH.try_into()?,
    )?;
    filter.try_into()
}

/// `ioctl` on a console: among others, it pastes the selection.
const TIOCLINUX: libc::Ioctl = 0x541c;

fn when(index: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(index, SeccompCmpArgLen::Qword, how, value)?])
}

/// For an argument of 32 bits, as a process is.
fn is_not(index: u8, value: u32) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value.into())
}

fn when_word(index: u8, value: libc::Ioctl) -> Result<SeccompRule, BackendError> {
    // The kernel looks at 32 bits of it.
    let value = u64::from(u32::try_from(value).unwrap_or_default());
    SeccompRule::new(vec![SeccompCondition::new(index, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)?])
}

pub(super) fn number(call: c_long) -> u32 {
    u32::try_from(call).unwrap_or_default()
}
