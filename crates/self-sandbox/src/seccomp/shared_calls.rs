//! Calls that neither the server nor a command of a host may make, and numbers that `libc` lacks.

use libc::c_long;
use seccompiler::{BackendError, SeccompCmpOp, SeccompRule};

use super::condition::word;

/// Priority, scheduler, processors and order at the disk of a process: of its own number (0) they may be set. To anything
/// else they may be set for good, as only root may raise a priority again. The calls, with the argument that names the
/// process, and the value of the first one by which that is a single process.
const SCHEDULING: &[(c_long, u8, Option<u32>)] = &[
    // PRIO_PROCESS, whose type is another one with musl, and IOPRIO_WHO_PROCESS
    (libc::SYS_setpriority, 1, Some(0)),
    (libc::SYS_ioprio_set, 1, Some(1)),
    (libc::SYS_sched_setparam, 0, None),
    (libc::SYS_sched_setscheduler, 0, None),
    (libc::SYS_sched_setattr, 0, None),
    (libc::SYS_sched_setaffinity, 0, None),
];

/// Refused whatever their arguments.
pub(super) const REFUSED: &[c_long] = &[
    // Files by number instead of by path, past every check of a path: open_by_handle_at(2)
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    // A second way to every call, which no filter sees (https://github.com/moby/moby/pull/46762)
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The memory and descriptors of other processes
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
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
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
];

/// The older ones that x86-64 still has.
#[cfg(target_arch = "x86_64")]
pub(super) const REFUSED_HERE: &[c_long] = &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const REFUSED_HERE: &[c_long] = &[];

/// `libc` has it for glibc, but not for musl on arm64. 294 is its number in the table that every newer architecture uses:
/// <https://github.com/torvalds/linux/blob/v6.12/include/uapi/asm-generic/unistd.h>
#[cfg(not(target_arch = "x86_64"))]
const SYS_KEXEC_FILE_LOAD: c_long = 294;
#[cfg(target_arch = "x86_64")]
const SYS_KEXEC_FILE_LOAD: c_long = libc::SYS_kexec_file_load;

// Numbers that libc does not have on every platform; from 424 on they are the same on all.
const SYS_OPEN_TREE_ATTR: c_long = 467; // Linux 6.15

/// `ioctl` on a console: among others, it pastes the selection.
const TIOCLINUX: libc::Ioctl = 0x541c;

/// When `ioctl` is refused: typing into the terminal that the program was started from (CVE-2017-5226, CVE-2023-28100).
pub(super) fn typing() -> Result<Vec<SeccompRule>, BackendError> {
    // The kernel looks at 32 bits of it.
    let is = |value| word(1, SeccompCmpOp::Eq, u32::try_from(value).unwrap_or_default());
    [libc::TIOCSTI, TIOCLINUX].into_iter().map(|value| SeccompRule::new(vec![is(value)?])).collect()
}

/// When calls of [`SCHEDULING`] are refused.
pub(super) fn scheduling() -> Result<Vec<(c_long, Vec<SeccompRule>)>, BackendError> {
    let rules = |&(call, process, kind): &(c_long, u8, Option<u32>)| {
        let mut rules = vec![SeccompRule::new(vec![word(process, SeccompCmpOp::Ne, 0)?])?];
        if let Some(kind) = kind {
            rules.push(SeccompRule::new(vec![word(0, SeccompCmpOp::Ne, kind)?])?);
        }
        Ok((call, rules))
    };
    SCHEDULING.iter().map(rules).collect()
}
