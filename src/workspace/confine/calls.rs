//! The system calls that a file server never needs are taken from the process (seccomp).
//!
//! Closes what Landlock leaves: programs, sockets of every family, memory files, changes by path
//! that no directory handle confines, other processes, and the kernel's own machinery. A list of
//! what is refused, not of what is allowed: an unknown call of a later libc must not end the server.

/// Puts the filter on the calling thread, whose children inherit it.
///
/// # Errors
/// Why the system does not take it, in words.
pub(super) fn refuse() -> Result<(), String> {
    filter::put_up()
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod filter {
    use std::collections::{BTreeMap, BTreeSet};

    use libc::c_long;
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
        apply_filter, sock_filter,
    };

    /// Calls that are refused whatever their arguments.
    const REFUSED: &[c_long] = &[
        // Sockets of any family; a pair that leads nowhere else stays (signals of tokio)
        libc::SYS_socket,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_accept,
        libc::SYS_accept4,
        // Programs, and memory that could hold one
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_memfd_create,
        libc::SYS_memfd_secret,
        // Changes by path: descriptors serve, which the resolver has confined
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
        // Files by number instead of by path
        libc::SYS_name_to_handle_at,
        libc::SYS_open_by_handle_at,
        libc::SYS_fanotify_init,
        libc::SYS_fanotify_mark,
        // A second way to every call
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        // Other processes
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
        // Mounts and namespaces
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
        // The kernel and the machine
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
        libc::SYS_kexec_file_load,
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

    // Numbers that libc does not have on every platform; from 424 on they are the same on all.
    const SYS_FCHMODAT2: c_long = 452;
    const SYS_SETXATTRAT: c_long = 463;
    const SYS_REMOVEXATTRAT: c_long = 466;
    const SYS_OPEN_TREE_ATTR: c_long = 467;
    const SYS_FILE_SETATTR: c_long = 469;

    /// Where the numbers of the x32 interface begin, by which each call of x86-64 has a second name.
    const X32: u32 = 0x4000_0000;

    /// What the kernel calls this architecture (`linux/audit.h`).
    #[cfg(target_arch = "x86_64")]
    pub(super) const ARCHITECTURE: u32 = 0xc000_003e;
    #[cfg(target_arch = "aarch64")]
    pub(super) const ARCHITECTURE: u32 = 0xc000_00b7;
    /// Where a filter sees it, and the number of the call (`struct seccomp_data`).
    const ARCHITECTURE_AT: u32 = 4;
    const NUMBER_AT: u32 = 0;

    pub(super) fn put_up() -> Result<(), String> {
        apply_filter(&program()?).map_err(|error| error.to_string())
    }

    /// The whole filter. The kernel runs it once for each call that there is when it is installed, so
    /// the numbers are halved again and again instead of compared one by one: installing it takes 0.12 ms
    /// of each start instead of 0.30.
    pub(super) fn program() -> Result<BpfProgram, String> {
        let conditions = conditions().map_err(|error| error.to_string())?;
        let looked_into =
            [libc::SYS_clone, libc::SYS_utimensat, libc::SYS_ioctl, libc::SYS_tgkill, libc::SYS_prlimit64].map(number);
        let refused: BTreeSet<u32> = REFUSED.iter().chain(REFUSED_HERE).map(|call| number(*call)).collect();
        let tree = decide(&segments(&refused)).ok_or("the list of calls is too long")?;

        let mut program = vec![
            load(ARCHITECTURE_AT),
            jump(libc::BPF_JEQ, ARCHITECTURE, 1, 0),
            answer(libc::SECCOMP_RET_KILL_PROCESS),
            load(NUMBER_AT),
            jump(libc::BPF_JGE, X32, 0, 1),
            refuse(libc::EPERM),
            // It is not there, so that libc makes its threads by `clone`, whose flags can be seen.
            jump(libc::BPF_JEQ, number(libc::SYS_clone3), 0, 1),
            refuse(libc::ENOSYS),
        ];
        for (at, call) in looked_into.iter().enumerate() {
            let rest = 2 * (looked_into.len() - at - 1) + tree.len();
            program.push(jump(libc::BPF_JEQ, *call, 0, 1));
            program.push(jump(libc::BPF_JA, u32::try_from(rest).map_err(|error| error.to_string())?, 0, 0));
        }
        program.extend(tree);
        program.extend(conditions);
        Ok(program)
    }

    /// The calls whose arguments count.
    fn conditions() -> Result<BpfProgram, seccompiler::BackendError> {
        let mut rules = BTreeMap::new();
        // A new process: without the flag that makes it a thread of this one.
        let thread = libc::CLONE_THREAD.unsigned_abs().into();
        rules.insert(libc::SYS_clone, vec![when(0, SeccompCmpOp::MaskedEq(thread), 0)?]);
        // Times by path; `futimens` gives a descriptor and no path.
        rules.insert(libc::SYS_utimensat, vec![when(1, SeccompCmpOp::Ne, 0)?]);
        // Typing into the terminal that the server was started from.
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

    /// `ioctl` on a console: pastes its selection, among other things.
    const TIOCLINUX: libc::Ioctl = 0x541c;

    fn when(index: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
        SeccompRule::new(vec![SeccompCondition::new(index, SeccompCmpArgLen::Qword, how, value)?])
    }

    /// For an argument of 32 bits, as a process is.
    fn is_not(index: u8, value: u32) -> Result<SeccompCondition, seccompiler::BackendError> {
        SeccompCondition::new(index, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value.into())
    }

    fn when_word(index: u8, value: libc::Ioctl) -> Result<SeccompRule, seccompiler::BackendError> {
        // The kernel looks at 32 bits of it.
        let value = u64::from(u32::try_from(value).unwrap_or_default());
        SeccompRule::new(vec![SeccompCondition::new(index, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)?])
    }

    /// Where what becomes of a call changes: the first number, and whether it is refused from there on.
    fn segments(refused: &BTreeSet<u32>) -> Vec<(u32, bool)> {
        let mut segments = vec![(0, false)];
        for call in refused {
            if !refused.contains(&(call - 1)) {
                segments.push((*call, true));
            }
            if !refused.contains(&(call + 1)) {
                segments.push((call + 1, false));
            }
        }
        segments
    }

    /// Halves the segments until one is left. `None` where a jump would be longer than a jump can be.
    fn decide(segments: &[(u32, bool)]) -> Option<BpfProgram> {
        if let [(_, refused)] = segments {
            return Some(vec![if *refused { refuse(libc::EPERM) } else { answer(libc::SECCOMP_RET_ALLOW) }]);
        }
        let (low, high) = segments.split_at(segments.len() / 2);
        let (first, _) = high.first()?;
        let (low, high) = (decide(low)?, decide(high)?);
        let mut program = vec![jump(libc::BPF_JGE, *first, u8::try_from(low.len()).ok()?, 0)];
        program.extend(low);
        program.extend(high);
        Some(program)
    }

    fn number(call: c_long) -> u32 {
        u32::try_from(call).unwrap_or_default()
    }

    fn one(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
        sock_filter { code: u16::try_from(code).unwrap_or_default(), jt, jf, k }
    }

    fn load(at: u32) -> sock_filter {
        one(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, at)
    }

    fn jump(how: u32, value: u32, yes: u8, no: u8) -> sock_filter {
        one(libc::BPF_JMP | how | libc::BPF_K, yes, no, value)
    }

    fn answer(what: u32) -> sock_filter {
        one(libc::BPF_RET | libc::BPF_K, 0, 0, what)
    }

    fn refuse(errno: i32) -> sock_filter {
        answer(libc::SECCOMP_RET_ERRNO | errno.unsigned_abs())
    }

    #[cfg(test)]
    pub(super) fn is_listed(call: u32) -> bool {
        REFUSED.iter().chain(REFUSED_HERE).any(|listed| number(*listed) == call)
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod filter {
    pub(super) fn put_up() -> Result<(), String> {
        Err("not available on this platform".to_owned())
    }
}

#[cfg(all(test, target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
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

    /// What the filter answers to a call, found out by following its instructions.
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
                other => panic!("an instruction {other:?}"),
            };
            at += 1 + usize::from(if holds { one.jt } else { one.jf });
        }
    }

    #[test]
    fn each_call_is_answered_by_the_list_and_its_arguments() {
        let program = filter::program().unwrap();
        let (allowed, refused) = (libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs());
        let answer = |call: u32, arguments| answer_to(&program, filter::ARCHITECTURE, call, arguments);
        let of = |call: libc::c_long| u32::try_from(call).unwrap();
        for call in 0..1000 {
            if call == of(libc::SYS_clone3) {
                assert_eq!(answer(call, [0; 6]), libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs());
            } else if ![libc::SYS_clone, libc::SYS_tgkill].map(of).contains(&call) {
                assert_eq!(answer(call, [0; 6]), if filter::is_listed(call) { refused } else { allowed }, "{call}");
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

    /// Runs `test` on a thread of its own behind the filter, which ends with it.
    fn behind(test: impl FnOnce(&Path) + Send) {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("file"), "x").unwrap();
        let confined = || {
            refuse().unwrap();
            test(temp.path());
        };
        thread::scope(|scope| scope.spawn(confined).join().unwrap());
    }

    fn refused<T>(what: &str, result: Result<T, impl Into<io::Error>>) {
        match result.map_err(Into::into) {
            Ok(_) => panic!("{what} was let through"),
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
    fn what_the_tools_need_is_let_through() {
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
            // As tokio tells itself of signals.
            let (mut one, mut two) = UnixStream::pair().unwrap();
            one.write_all(b"s").unwrap();
            two.read_exact(&mut [0]).unwrap();
            // `clone3` is not there; a thread is made all the same, and it is behind the filter, too.
            let inherited = thread::spawn(|| UnixDatagram::unbound().is_err()).join().unwrap();
            assert!(inherited);
        });
        // The thread that started it all is as free as before.
        assert!(UnixDatagram::unbound().is_ok());
    }
}
