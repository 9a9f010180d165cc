//! seccomp: the system calls that a file server never needs, or a command of a host, are refused.
//!
//! Closes what Landlock leaves open: for the server programs, sockets of every family, memory files, changes by path
//! that no directory handle confines, other processes, and the kernel's own machinery; for a command the last two, and
//! sockets. A list of what is refused, not of what is allowed: an unknown call of a later libc must not end the
//! program. A refused call fails with `EPERM`.
//!
//! A command starts programs, makes files of every kind and sends signals to its children: these stay. Refused to it is a
//! way out that Landlock does not know.
//!
//! Limits: x86-64 and aarch64. A filter sees numbers and registers, no memory: which path a call names is Landlock's
//! and the resolver's to check.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen,
    SeccompCmpOp::{self, Eq, MaskedEq, Ne},
    SeccompCondition, SeccompFilter, SeccompRule, apply_filter, sock_filter,
};

/// Refused to both, whatever their arguments.
#[rustfmt::skip]
const REFUSED_CALLS: &[c_long] = &[
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
const SOCKET_CALLS: &[c_long] =
    &[libc::SYS_socket, libc::SYS_connect, libc::SYS_bind, libc::SYS_listen, libc::SYS_accept, libc::SYS_accept4];

/// The older spellings and calls that x86-64 still has: refused to both, and to the server.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const OLDER_CALLS: [&[c_long]; 2] = [
    &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt],
    &[
        libc::SYS_fork, libc::SYS_vfork, libc::SYS_mknod, libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown,
        libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat,
    ],
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER_CALLS: [&[c_long]; 2] = [&[], &[]];

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
const SCHEDULING_CALLS: &[(c_long, u8, Option<u32>)] = &[
    // PRIO_PROCESS, whose type is another one with musl, and IOPRIO_WHO_PROCESS
    (libc::SYS_setpriority, 1, Some(0)),
    (libc::SYS_ioprio_set, 1, Some(1)),
    (libc::SYS_sched_setparam, 0, None),
    (libc::SYS_sched_setscheduler, 0, None),
    (libc::SYS_sched_setattr, 0, None),
    (libc::SYS_sched_setaffinity, 0, None),
];

/// Flags of `clone(2)` for a process in new namespaces: a new user namespace gives all capabilities in it.
const NAMESPACE_FLAGS: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET;

fn for_server() -> Result<CallFilter, BackendError> {
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
    Ok(CallFilter::new(&[REFUSED_CALLS, OLDER_CALLS[0], REFUSED_TO_SERVER, SOCKET_CALLS, OLDER_CALLS[1]], rules))
}

/// The filter of a command; `network` leaves it sockets of the internet.
fn for_command(network: bool) -> Result<CallFilter, BackendError> {
    let mut rules = conditions()?;
    let namespaces = (0..u32::BITS).map(|bit| 1 << bit).filter(|flag| NAMESPACE_FLAGS.unsigned_abs() & flag != 0);
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
    let sockets = if network { &[] } else { SOCKET_CALLS };
    Ok(CallFilter::new(&[REFUSED_CALLS, OLDER_CALLS[0], REFUSED_TO_COMMAND, sockets], rules))
}

/// Calls that both filters refuse because of their arguments.
fn conditions() -> Result<Conditions, BackendError> {
    let mut rules = Conditions::new();
    // Typing into the terminal that the program was started from (CVE-2017-5226, CVE-2023-28100). The kernel looks at 32
    // bits of the request.
    let types = |request| rule([word(1, Eq, u32::try_from(request).unwrap_or_default())]);
    rules.insert(libc::SYS_ioctl, vec![types(libc::TIOCSTI)?, types(TIOCLINUX)?]);
    for (call, process, kind) in SCHEDULING_CALLS {
        let mut refused = vec![rule([word(*process, Ne, 0)])?];
        if let Some(kind) = kind {
            refused.push(rule([word(0, Ne, *kind)])?);
        }
        rules.insert(*call, refused);
    }
    Ok(rules)
}

/// Puts the server's filter on the calling thread, whose children inherit it.
///
/// # Errors
/// Why the system does not take it, as text.
pub(super) fn install() -> Result<(), Box<dyn Error>> {
    apply(for_server())
}

/// As [`install`], for a command; `network` leaves it sockets of the internet.
pub(super) fn install_for_command(network: bool) -> Result<(), Box<dyn Error>> {
    apply(for_command(network))
}

fn apply(filter: Result<CallFilter, BackendError>) -> Result<(), Box<dyn Error>> {
    Ok(apply_filter(&filter?.program()?)?)
}

/// Where the numbers of the x32 interface begin, by which each call of x86-64 has a second name.
const X32_BIT: u32 = 0x4000_0000;

/// The kernel's number of this architecture (`linux/audit.h`).
#[cfg(target_arch = "x86_64")]
const AUDIT_ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const AUDIT_ARCHITECTURE: u32 = 0xc000_00b7;

/// Where a filter sees it, and the number of the call (`struct seccomp_data`).
const ARCHITECTURE_AT: u32 = 4;
const NUMBER_AT: u32 = 0;

/// Calls that fail where one of their rules matches.
type Conditions = BTreeMap<c_long, Vec<SeccompRule>>;

fn rule<const N: usize>(conditions: [Result<SeccompCondition, BackendError>; N]) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(conditions.into_iter().collect::<Result<_, _>>()?)
}

/// A condition on an argument that fills its register: a pointer, or flags.
fn when(index: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Qword, how, value)
}

/// A condition on an argument of 32 bits, such as an `int`: the kernel ignores what is above them.
fn word(index: u8, how: SeccompCmpOp, value: u32) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, how, value.into())
}

/// Calls that fail with `EPERM`; all others are allowed. The kernel runs a program for each call (classic BPF, see
/// seccomp(2)).
struct CallFilter {
    refused: BTreeSet<u32>,
    conditions: Conditions,
}

impl CallFilter {
    fn new(refused: &[&[c_long]], conditions: Conditions) -> Self {
        Self { refused: refused.iter().copied().flatten().map(|call| number(*call)).collect(), conditions }
    }

    fn program(self) -> Result<BpfProgram, Box<dyn Error>> {
        let tree = search(&segments(&self.refused)).ok_or("the list of calls is too long")?;
        let mut program = vec![
            load(ARCHITECTURE_AT),
            // The numbers of i386 (`int 0x80`) mean other calls.
            jump(libc::BPF_JEQ, AUDIT_ARCHITECTURE, 1, 0),
            answer(libc::SECCOMP_RET_KILL_PROCESS),
            load(NUMBER_AT),
            jump(libc::BPF_JGE, X32_BIT, 0, 1),
            refuse(libc::EPERM),
            // Its flags are in memory that a filter cannot read. If the call seems missing, libc makes its threads by
            // `clone` instead; EPERM would be fatal to it (https://github.com/moby/moby/issues/42680).
            jump(libc::BPF_JEQ, number(libc::SYS_clone3), 0, 1),
            refuse(libc::ENOSYS),
        ];
        for (at, call) in self.conditions.keys().enumerate() {
            let rest = 2 * (self.conditions.len() - at - 1) + tree.len();
            program.push(jump(libc::BPF_JEQ, number(*call), 0, 1));
            // By a jump of its own: the distance of a conditional one has 8 bits.
            program.push(jump(libc::BPF_JA, u32::try_from(rest)?, 0, 0));
        }
        program.extend(tree);
        let filter = SeccompFilter::new(
            self.conditions,
            SeccompAction::Allow,
            SeccompAction::Errno(libc::EPERM.unsigned_abs()),
            std::env::consts::ARCH.try_into()?,
        );
        let conditions: BpfProgram = filter.and_then(TryInto::try_into)?;
        program.extend(conditions);
        Ok(program)
    }
}

fn number(call: c_long) -> u32 {
    u32::try_from(call).unwrap_or_default()
}

/// Splits the numbers where the answer changes: the first of each segment, and whether it is refused from there on.
fn segments(refused: &BTreeSet<u32>) -> Vec<(u32, bool)> {
    let mut segments = vec![(0, false)];
    for call in refused {
        // Number 0 (`read`, on arm64 `io_setup`) is in no list.
        if !refused.contains(&(call - 1)) {
            segments.push((*call, true));
        }
        if !refused.contains(&(call + 1)) {
            segments.push((call + 1, false));
        }
    }
    segments
}

/// Refuses the calls of refused segments and allows all others. `None` where a jump would be longer than a jump can be.
///
/// The numbers are halved again and again instead of compared one by one: the kernel runs a filter once for each call
/// that there is when it is installed, which takes 0.12 ms of each start instead of 0.30.
fn search(segments: &[(u32, bool)]) -> Option<BpfProgram> {
    if let [(_, refused)] = segments {
        return Some(vec![if *refused { refuse(libc::EPERM) } else { answer(libc::SECCOMP_RET_ALLOW) }]);
    }
    let (low, high) = segments.split_at(segments.len() / 2);
    let (first, _) = high.first()?;
    let (low, high) = (search(low)?, search(high)?);
    let mut program = vec![jump(libc::BPF_JGE, *first, u8::try_from(low.len()).ok()?, 0)];
    program.extend(low);
    program.extend(high);
    Some(program)
}

fn instruction(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap_or_default(), jt, jf, k }
}

fn load(at: u32) -> sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, at)
}

fn jump(how: u32, value: u32, yes: u8, no: u8) -> sock_filter {
    instruction(libc::BPF_JMP | how | libc::BPF_K, yes, no, value)
}

fn answer(code: u32) -> sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, 0, 0, code)
}

fn refuse(errno: i32) -> sock_filter {
    answer(libc::SECCOMP_RET_ERRNO | errno.unsigned_abs())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "the test tries what must be refused")]

    use std::{
        fs,
        io::{self, Read as _, Write as _},
        net::{TcpStream, UdpSocket},
        os::unix::{
            fs::{PermissionsExt as _, chown, symlink},
            net::{UnixDatagram, UnixListener, UnixStream},
        },
        path::Path,
        process::Command,
        thread,
        time::SystemTime,
    };

    use rustix::fs::{
        AtFlags, CWD, FileType, MemfdFlags, Mode, Timespec, Timestamps, UTIME_NOW, XattrFlags, chmodat, memfd_create,
        mknodat, setxattr, utimensat,
    };

    use rustix::process::{Resource, getppid, getrlimit, prlimit};
    use seccompiler::sock_filter;

    use super::*;

    fn answer_to(program: &[sock_filter], architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
        let mut data = [number, architecture, 0, 0].map(u32::to_ne_bytes).concat();
        data.extend(arguments.iter().flat_map(|argument| argument.to_ne_bytes()));
        let (mut at, mut word) = (0, 0);
        loop {
            let one = &program[at];
            let (class, how) = (u32::from(one.code) & 7, u32::from(one.code) & 0xf0);
            let holds = match (class, how) {
                (libc::BPF_RET, _) => return one.k,
                (libc::BPF_LD, _) => {
                    let from = one.k as usize;
                    word = u32::from_ne_bytes(data[from..from + 4].try_into().unwrap());
                    at += 1;
                    continue;
                }
                (libc::BPF_ALU, libc::BPF_AND) => {
                    word &= one.k;
                    at += 1;
                    continue;
                }
                (libc::BPF_JMP, libc::BPF_JA) => {
                    at += 1 + one.k as usize;
                    continue;
                }
                (libc::BPF_JMP, libc::BPF_JEQ) => word == one.k,
                (libc::BPF_JMP, libc::BPF_JGE) => word >= one.k,
                (libc::BPF_JMP, libc::BPF_JGT) => word > one.k,
                other => panic!("unexpected instruction {other:?}"),
            };
            at += 1 + usize::from(if holds { one.jt } else { one.jf });
        }
    }

    #[test]
    fn filter_answers_each_call_by_the_list_and_its_arguments() {
        let filter = || for_server().unwrap();
        let (program, listed) = (filter().program().unwrap(), filter().refused);
        let (allowed, refused) = (libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs());
        let answer = |call: u32, arguments| answer_to(&program, AUDIT_ARCHITECTURE, call, arguments);
        let of = |call: libc::c_long| u32::try_from(call).unwrap();
        for call in 0..1000 {
            if call == of(libc::SYS_clone3) {
                assert_eq!(answer(call, [0; 6]), libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs());
            } else if ![libc::SYS_clone, libc::SYS_tgkill, libc::SYS_ioprio_set].map(of).contains(&call) {
                assert_eq!(answer(call, [0; 6]), if listed.contains(&call) { refused } else { allowed }, "{call}");
            }
            assert_eq!(answer(call | 0x4000_0000, [0; 6]), refused, "{call} by its x32 number");
            assert_eq!(
                answer_to(&program, 0x4000_0003, call, [0; 6]),
                libc::SECCOMP_RET_KILL_PROCESS,
                "{call} of i386"
            );
        }
        let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
        let own = u64::from(std::process::id());
        for (call, arguments, expected) in [
            (libc::SYS_clone, [thread | 0xf00, 0, 0, 0, 0, 0], allowed),
            (libc::SYS_clone, [0x4111, 0, 0, 0, 0, 0], refused),
            (libc::SYS_utimensat, [3, 0, 0x1000, 0, 0, 0], allowed),
            (libc::SYS_utimensat, [3, 0x7fff_0000_0000, 0, 0, 0, 0], refused),
            (libc::SYS_utimensat, [3, 0x1000, 0, 0, 0, 0], refused),
            (libc::SYS_ioctl, [0, 0x5401, 0, 0, 0, 0], allowed),
            (libc::SYS_ioctl, [0, 0x5412, 0, 0, 0, 0], refused),
            (libc::SYS_ioctl, [0, 0xdead_0000_5412, 0, 0, 0, 0], refused),
            (libc::SYS_ioctl, [0, 0x541c, 0, 0, 0, 0], refused),
            (libc::SYS_setpriority, [0, 0, 5, 0, 0, 0], allowed),
            (libc::SYS_setpriority, [2, 0, 5, 0, 0, 0], refused),
            (libc::SYS_setpriority, [0, own, 5, 0, 0, 0], refused),
            (libc::SYS_ioprio_set, [1, 0, 5, 0, 0, 0], allowed),
            (libc::SYS_ioprio_set, [3, 0, 5, 0, 0, 0], refused),
            (libc::SYS_sched_setaffinity, [own, 8, 0, 0, 0, 0], refused),
            (libc::SYS_tgkill, [own, own + 1, 6, 0, 0, 0], allowed),
            (libc::SYS_tgkill, [own + 1, own + 1, 6, 0, 0, 0], refused),
            (libc::SYS_tgkill, [1, 1, 6, 0, 0, 0], refused),
            (libc::SYS_prlimit64, [0, 7, 0x1000, 0, 0, 0], allowed),
            (libc::SYS_prlimit64, [own, 7, 0x1000, 0, 0, 0], allowed),
            (libc::SYS_prlimit64, [own | 0xdead_0000_0000, 7, 0x1000, 0, 0, 0], allowed),
            (libc::SYS_prlimit64, [own + 1, 7, 0x1000, 0, 0, 0], refused),
            (libc::SYS_prlimit64, [1, 7, 0, 0x1000, 0, 0], refused),
        ] {
            assert_eq!(answer(of(call), arguments), expected, "{call} {arguments:x?}");
        }
    }

    /// Runs `test` on a thread with the filter, which ends with it.
    fn behind(test: impl FnOnce(&Path) + Send) {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("file"), "x").unwrap();
        let confined = || {
            install().unwrap();
            test(temp.path());
        };
        thread::scope(|scope| scope.spawn(confined).join().unwrap());
    }

    fn refused<T>(what: &str, result: Result<T, impl Into<io::Error>>) {
        match result.map_err(Into::into) {
            Ok(_) => panic!("{what} was allowed"),
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::EPERM), "{what}: {error}"),
        }
    }

    #[test]
    fn programs_sockets_and_changes_by_path_are_refused() {
        behind(|dir| {
            let file = dir.join("file");
            refused("a program", Command::new("/bin/true").spawn());
            refused("TCP", TcpStream::connect("127.0.0.1:9"));
            refused("UDP", UdpSocket::bind("127.0.0.1:0"));
            refused("a local socket", UnixListener::bind(dir.join("socket")));
            refused("a local datagram", UnixDatagram::unbound());
            refused("a file in memory", memfd_create("x", MemfdFlags::empty()));
            refused("a FIFO", mknodat(CWD, dir.join("fifo"), FileType::Fifo, Mode::RWXU, 0));
            refused("chmod", fs::set_permissions(&file, fs::Permissions::from_mode(0o777)));
            refused("fchmodat", chmodat(CWD, &file, Mode::RWXU, AtFlags::empty()));
            refused("chown", chown(&file, None, None));
            refused("setxattr", setxattr(&file, "user.x", b"y", XattrFlags::empty()));
            let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
            let now = Timestamps { last_access: now, last_modification: now };
            refused("times by path", utimensat(CWD, &file, &now, AtFlags::empty()));
            let parent = getppid().expect("it has one");
            refused("limits of another process", prlimit(Some(parent), Resource::Core, getrlimit(Resource::Core)));
            assert_eq!(fs::read_dir(dir).unwrap().count(), 1);
        });
    }

    #[test]
    fn calls_that_the_tools_need_are_allowed() {
        behind(|dir| {
            let mut file = fs::File::options().read(true).write(true).open(dir.join("file")).unwrap();
            file.set_permissions(fs::Permissions::from_mode(0o640)).unwrap();
            std::os::unix::fs::fchown(&file, None, None).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
            let _ = rustix::fs::fsetxattr(&file, "user.x", b"y", XattrFlags::empty())
                .inspect_err(|error| assert_ne!(error.raw_os_error(), libc::EPERM));
            file.write_all(b"new").unwrap();
            symlink("file", dir.join("link")).unwrap();
            fs::rename(dir.join("file"), dir.join("other")).unwrap();
            fs::hard_link(dir.join("other"), dir.join("again")).unwrap();
            // A self-pipe, by which tokio learns of signals.
            let (mut one, mut two) = UnixStream::pair().unwrap();
            one.write_all(b"s").unwrap();
            two.read_exact(&mut [0]).unwrap();
            // `clone3` is not there; a thread is made all the same, and it is behind the filter, too.
            let inherited = thread::spawn(|| UnixDatagram::unbound().is_err()).join().unwrap();
            assert!(inherited);
        });
        // The thread that started the test has no filter.
        assert!(UnixDatagram::unbound().is_ok());
    }
}
