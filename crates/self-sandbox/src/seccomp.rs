//! seccomp: the system calls that a file server never needs, or a command of a host, are refused.
//!
//! Closes what Landlock leaves open: for the server programs, sockets of every family, memory files, changes by path
//! that no directory handle confines, other processes, and the kernel's own machinery; for a command the last two, and
//! sockets. A list of what is refused, not of what is allowed: an unknown call of a later libc must not end the
//! program. A refused call fails with `EPERM`.
//!
//! Limits: x86-64 and aarch64. A filter sees numbers and registers, no memory: which path a call names is Landlock's
//! and the resolver's to check.

mod calls;
mod filter;

use seccompiler::{BackendError, apply_filter};

use filter::CallFilter;

/// Puts the server's filter on the calling thread, whose children inherit it.
///
/// # Errors
/// Why the system does not take it, in words.
pub(super) fn install() -> Result<(), String> {
    apply(calls::for_server())
}

/// As [`install`], for a command; `network` leaves it sockets of the internet.
pub(super) fn install_for_command(network: bool) -> Result<(), String> {
    apply(calls::for_command(network))
}

fn apply(filter: Result<CallFilter, BackendError>) -> Result<(), String> {
    let program = filter.map_err(|error| error.to_string())?.program()?;
    apply_filter(&program).map_err(|error| error.to_string())
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

    use super::{filter::ARCHITECTURE, *};

    /// The filter's answer to a call, found out by following its instructions.
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
        let filter = || calls::for_server().unwrap();
        let (program, listed) = (filter().program().unwrap(), filter().refused);
        let (allowed, refused) = (libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs());
        let answer = |call: u32, arguments| answer_to(&program, ARCHITECTURE, call, arguments);
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
