//! Which system calls are refused to the server, and to a command of a host: whatever their arguments, or because of
//! them.
//!
//! A command starts programs, makes files of every kind and sends signals to its children: these stay. Refused to it is
//! a way out that Landlock does not know.

use libc::c_long;
use seccompiler::{
    BackendError,
    SeccompCmpOp::{Eq, MaskedEq, Ne},
};

use super::filter::{CallFilter, Conditions, rule, when, word};

/// Refused to both, whatever their arguments.
#[rustfmt::skip]
const REFUSED: &[c_long] = &[
    // Files by number instead of by path, past every check of a path: open_by_handle_at(2)
    libc::SYS_name_to_handle_at, libc::SYS_open_by_handle_at, libc::SYS_fanotify_init, libc::SYS_fanotify_mark,
    // A second way to every call, which no filter sees (https://github.com/moby/moby/pull/46762)
    libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register,
    // The memory and descriptors of other processes
    libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev, libc::SYS_process_madvise,
    libc::SYS_process_mrelease, libc::SYS_kcmp, libc::SYS_pidfd_getfd, libc::SYS_migrate_pages, libc::SYS_move_pages,
    // Mounts and namespaces: a new user namespace gives all capabilities in it
    libc::SYS_mount, libc::SYS_umount2, libc::SYS_move_mount, libc::SYS_mount_setattr, libc::SYS_open_tree,
    SYS_OPEN_TREE_ATTR, libc::SYS_fsopen, libc::SYS_fsconfig, libc::SYS_fsmount, libc::SYS_fspick,
    libc::SYS_pivot_root, libc::SYS_chroot, libc::SYS_unshare, libc::SYS_setns,
    // The kernel and the machine: most need a capability, and each has been a way into the kernel
    libc::SYS_bpf, libc::SYS_perf_event_open, libc::SYS_userfaultfd, libc::SYS_keyctl, libc::SYS_add_key,
    libc::SYS_request_key, libc::SYS_init_module, libc::SYS_finit_module, libc::SYS_delete_module,
    libc::SYS_kexec_load, SYS_KEXEC_FILE_LOAD, libc::SYS_reboot, libc::SYS_swapon, libc::SYS_swapoff, libc::SYS_acct,
    libc::SYS_quotactl, libc::SYS_quotactl_fd, libc::SYS_syslog, libc::SYS_vhangup, libc::SYS_settimeofday,
    libc::SYS_clock_settime, libc::SYS_clock_adjtime, libc::SYS_adjtimex, libc::SYS_sethostname,
    libc::SYS_setdomainname,
];

/// Refused to the server besides.
#[rustfmt::skip]
const REFUSED_TO_SERVER: &[c_long] = &[
    // Programs, and memory that could hold one: a memory file can be executed although no file is made.
    libc::SYS_execve, libc::SYS_execveat, libc::SYS_memfd_create, libc::SYS_memfd_secret,
    // Changes by path that Landlock does not see. The program makes them through descriptors, which the resolver
    // has confined.
    libc::SYS_mknodat, libc::SYS_fchmodat, SYS_FCHMODAT2, libc::SYS_fchownat, libc::SYS_setxattr, libc::SYS_lsetxattr,
    libc::SYS_removexattr, libc::SYS_lremovexattr, SYS_SETXATTRAT, SYS_REMOVEXATTRAT, SYS_FILE_SETATTR,
    // Other processes: their life
    libc::SYS_pidfd_open, libc::SYS_pidfd_send_signal, libc::SYS_kill, libc::SYS_tkill, libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo, libc::SYS_personality,
];

/// Refused to a command besides: memory, queues and locks that all processes of one person share by a number or a name
/// that is no path.
#[rustfmt::skip]
const REFUSED_TO_COMMAND: &[c_long] = &[
    libc::SYS_shmget, libc::SYS_shmat, libc::SYS_shmctl, libc::SYS_msgget, libc::SYS_msgsnd, libc::SYS_msgrcv,
    libc::SYS_msgctl, libc::SYS_semget, libc::SYS_semop, libc::SYS_semctl, libc::SYS_semtimedop, libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Sockets of any family: Landlock knows TCP alone. `socketpair` stays: to the server it leads nowhere else (the
/// self-pipe of tokio for signals), for a command see [`for_command`], to which the others go for a socket that is its
/// stdin.
const SOCKETS: &[c_long] =
    &[libc::SYS_socket, libc::SYS_connect, libc::SYS_bind, libc::SYS_listen, libc::SYS_accept, libc::SYS_accept4];

/// The older spellings and calls that x86-64 still has: refused to both, and to the server.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const OLDER: [&[c_long]; 2] = [
    &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt],
    &[
        libc::SYS_fork, libc::SYS_vfork, libc::SYS_mknod, libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown,
        libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat,
    ],
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: [&[c_long]; 2] = [&[], &[]];

/// `libc` has it for glibc, but not for musl on arm64. 294 is its number in the table that every newer architecture
/// uses:
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

/// `ioctl` on a console: among others, it pastes the selection.
const TIOCLINUX: libc::Ioctl = 0x541c;

/// Priority, scheduler, processors and order at the disk of a process: of its own number (0) they may be set. To
/// anything else they may be set for good, as only root may raise a priority again. The calls, with the argument that
/// names the process, and the value of the first one by which that is a single process.
const SCHEDULING: &[(c_long, u8, Option<u32>)] = &[
    // PRIO_PROCESS, whose type is another one with musl, and IOPRIO_WHO_PROCESS
    (libc::SYS_setpriority, 1, Some(0)),
    (libc::SYS_ioprio_set, 1, Some(1)),
    (libc::SYS_sched_setparam, 0, None),
    (libc::SYS_sched_setscheduler, 0, None),
    (libc::SYS_sched_setattr, 0, None),
    (libc::SYS_sched_setaffinity, 0, None),
];

/// Flags of `clone(2)` for a process in new namespaces: a new user namespace gives all capabilities in it.
const NAMESPACES: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET;

/// The server's filter.
pub(super) fn for_server() -> Result<CallFilter, BackendError> {
    let mut rules = conditions()?;
    // A new process: without the flag that makes it a thread of this one. `clone3` has its flags in memory, which a
    // filter cannot read: it is answered in `CallFilter::program`.
    let thread = libc::CLONE_THREAD.unsigned_abs().into();
    rules.insert(libc::SYS_clone, vec![rule([when(0, MaskedEq(thread), 0)])?]);
    // Times by path; `futimens` gives a descriptor and no path.
    rules.insert(libc::SYS_utimensat, vec![rule([when(1, Ne, 0)])?]);
    // Signals to other processes; `abort` sends one to its own.
    let own = std::process::id();
    rules.insert(libc::SYS_tgkill, vec![rule([word(0, Ne, own)])?]);
    // Limits of other processes; its own ones it may ask for and lower.
    rules.insert(libc::SYS_prlimit64, vec![rule([word(0, Ne, 0), word(0, Ne, own)])?]);
    Ok(CallFilter::new(&[REFUSED, OLDER[0], REFUSED_TO_SERVER, SOCKETS, OLDER[1]], rules))
}

/// The filter of a command; `network` leaves it sockets of the internet.
pub(super) fn for_command(network: bool) -> Result<CallFilter, BackendError> {
    let mut rules = conditions()?;
    let namespaces = (0..u32::BITS).map(|bit| 1 << bit).filter(|flag| NAMESPACES.unsigned_abs() & flag != 0);
    let namespaces = namespaces.map(|flag| rule([when(0, MaskedEq(flag.into()), flag.into())]));
    rules.insert(libc::SYS_clone, namespaces.collect::<Result<_, _>>()?);
    // Limits of other processes, which decide whether they live; their numbers may be asked for.
    rules.insert(libc::SYS_prlimit64, vec![rule([word(0, Ne, 0), when(2, Ne, 0)])?]);
    // Memory without random addresses, or all of it executable; 0xffffffff asks what it is.
    rules.insert(libc::SYS_personality, vec![rule([word(0, Ne, u32::MAX)])?]);
    let is = |index, value: i32| word(index, Eq, value.unsigned_abs());
    let is_not = |index, value: i32| word(index, Ne, value.unsigned_abs());
    if network {
        // Not AF_UNIX, by which every other program of the person is reached: D-Bus, which starts programs outside of
        // the walls, Docker, agents of SSH and GPG. The one protocol of netlink lists the network interfaces.
        let other = rule([libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(|family| is_not(0, family)))?;
        let netlink = rule([is(0, libc::AF_NETLINK), is_not(2, libc::NETLINK_ROUTE)])?;
        rules.insert(libc::SYS_socket, vec![other, netlink]);
    }
    // A pair of stream sockets is connected for ever; one of datagram sockets can send to any path (`sendmsg`). Raw ones
    // are such sockets as well: https://github.com/torvalds/linux/blob/v6.12/net/unix/af_unix.c#L1057
    let kind = |kind: i32| rule([word(1, MaskedEq(0xf), kind.unsigned_abs())]);
    let pairs = vec![rule([is_not(0, libc::AF_UNIX)])?, kind(libc::SOCK_DGRAM)?, kind(libc::SOCK_RAW)?];
    rules.insert(libc::SYS_socketpair, pairs);
    let sockets = if network { &[] } else { SOCKETS };
    Ok(CallFilter::new(&[REFUSED, OLDER[0], REFUSED_TO_COMMAND, sockets], rules))
}

/// Calls that both filters refuse because of their arguments.
fn conditions() -> Result<Conditions, BackendError> {
    let mut rules = Conditions::new();
    // Typing into the terminal that the program was started from (CVE-2017-5226, CVE-2023-28100). The kernel looks at 32
    // bits of the request.
    let types = |request| rule([word(1, Eq, u32::try_from(request).unwrap_or_default())]);
    rules.insert(libc::SYS_ioctl, vec![types(libc::TIOCSTI)?, types(TIOCLINUX)?]);
    for (call, process, kind) in SCHEDULING {
        let mut refused = vec![rule([word(*process, Ne, 0)])?];
        if let Some(kind) = kind {
            refused.push(rule([word(0, Ne, *kind)])?);
        }
        rules.insert(*call, refused);
    }
    Ok(rules)
}
