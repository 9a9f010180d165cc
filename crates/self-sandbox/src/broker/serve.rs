//! The broker itself: one request after the other, until the server is gone, and the programs that it runs.

use std::error::Error;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};
use std::{collections::VecDeque, ffi::OsString, fs, mem::MaybeUninit, os::unix::process::CommandExt as _, thread};

use beneath::{Dir, OpenFor};
use rustix::{
    io::Errno,
    net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recv, sendmsg},
    process::{Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, set_child_subreaper, waitpid},
};

use super::request::{BrokerReply, BrokerRequest, LONGEST_REQUEST, ProgramTable};
use super::{BrokeredProgram, MAX_RUNNING};
use crate::{CLEANUP_COMMAND, Confine};

/// Bytes of the largest table.
pub(super) const LARGEST_TABLE: usize = 96 << 10;
/// Starts that are made within [`START_PERIOD`]; further ones are refused.
const MAX_STARTS: usize = 30;
const START_PERIOD: Duration = Duration::from_secs(60);
/// How long programs may take to end when the server is gone.
const END_GRACE: Duration = Duration::from_millis(500);

/// Serves the process at the other end of stdin until it is gone, then ends every program.
pub fn serve() -> ExitCode {
    let stdin = io::stdin();
    // What a program leaves without a parent comes here, so that it ends with the rest (Linux 3.4).
    let _ = set_child_subreaper(Some(getpid()));
    match Broker::of(stdin.as_fd()) {
        Ok(mut broker) => {
            broker.serve(stdin.as_fd());
            broker.end();
            ExitCode::SUCCESS
        }
        // Not started by a server.
        Err(_) => ExitCode::FAILURE,
    }
}

struct Broker {
    programs: Vec<BrokeredProgram>,
    roots: Vec<(PathBuf, Dir)>,
    running: [Option<Process>; MAX_RUNNING],
    starts: VecDeque<Instant>,
}

impl Broker {
    fn of(socket: BorrowedFd<'_>) -> io::Result<Self> {
        let mut packet = vec![0; LARGEST_TABLE];
        let length = receive(socket, &mut packet)?;
        let table: ProgramTable = serde_json::from_slice(packet.get(..length).unwrap_or_default())?;
        let open = |root| {
            let path = PathBuf::from(root);
            Dir::open_ambient(&path, false).ok().map(|dir| (path, dir))
        };
        // A root that is missing has no directory; it keeps its number.
        let roots = table.roots.into_iter().map(|root| open(root).ok_or(io::ErrorKind::NotFound.into()));
        Ok(Self {
            roots: roots.collect::<io::Result<_>>()?,
            programs: table.programs,
            running: Default::default(),
            starts: VecDeque::new(),
        })
    }

    /// Answers requests until the socket closes, or something else than a request arrives: the server sends none.
    fn serve(&mut self, socket: BorrowedFd<'_>) {
        let mut packet = [0; LONGEST_REQUEST];
        loop {
            let request = match receive(socket, &mut packet) {
                Ok(0) | Err(_) => return,
                Ok(length) => packet.get(..length).and_then(BrokerRequest::decode),
            };
            let Some(request) = request else { return };
            let (reply, pipes) = match request {
                BrokerRequest::Start { program, root, directory } => match self.start(program, root, &directory) {
                    Ok((number, pipes)) => (BrokerReply::Done { number }, Some(pipes)),
                    Err(why) => (BrokerReply::Refused(why.to_string()), None),
                },
                BrokerRequest::Stop { number } => (self.stop(number), None),
            };
            if send(socket, &reply, pipes.as_ref()).is_err() {
                return;
            }
        }
    }

    fn start(&mut self, program: u8, root: u8, directory: &Path) -> Result<(u8, [OwnedFd; 3]), Box<dyn Error>> {
        let program = self.programs.get(usize::from(program)).ok_or("there is no such program")?;
        let (path, root) = self.roots.get(usize::from(root)).ok_or("there is no such root")?;
        let free = self.running.iter().position(Option::is_none);
        let free = free.ok_or_else(|| format!("{MAX_RUNNING} language servers run already"))?;
        let now = Instant::now();
        while self.starts.front().is_some_and(|start| now.duration_since(*start) >= START_PERIOD) {
            self.starts.pop_front();
        }
        if self.starts.len() >= MAX_STARTS {
            return Err(format!("{MAX_STARTS} starts within a minute are too many").into());
        }
        // Before it is tried, so that attempts that fail are limited as well.
        self.starts.push_back(now);
        // No link on the way; what comes there later is behind the walls of the program.
        let opened = root.dir_beneath(directory, OpenFor::Traverse);
        drop(opened.map_err(|_| "its directory cannot be opened below the root")?);
        let (process, pipes) = Process::start(program, path, directory)?;
        self.running[free] = Some(process);
        Ok((u8::try_from(free).unwrap_or_default(), pipes))
    }

    fn stop(&mut self, number: u8) -> BrokerReply {
        match self.running.get_mut(usize::from(number)).and_then(Option::take) {
            Some(process) => {
                // What has no parent any more belongs to this program where it is the only one, else where it comes now.
                let alone = self.running.iter().all(Option::is_none);
                let others = if alone { Vec::new() } else { children() };
                process.kill();
                self.end_orphans(&others);
                BrokerReply::Done { number }
            }
            None => BrokerReply::Refused("no program runs under that number".to_owned()),
        }
    }

    /// Ends every program. Their stdin is closed already, as the server had the other end.
    fn end(&mut self) {
        let deadline = Instant::now() + END_GRACE;
        for mut process in self.running.iter_mut().filter_map(Option::take) {
            process.wait(deadline);
            process.kill();
        }
        self.end_orphans(&[]);
    }

    /// Ends what programs have started and left: children of this process that are no programs of the table, but for
    /// `others`. The end of one may leave its own children here.
    fn end_orphans(&self, others: &[Pid]) {
        let running: Vec<Pid> = self.running.iter().flatten().filter_map(Process::id).collect();
        let deadline = Instant::now() + END_GRACE;
        loop {
            let mut orphans = children();
            orphans.retain(|child| !running.contains(child) && !others.contains(child) && !is_cleanup(*child));
            if orphans.is_empty() || Instant::now() >= deadline {
                return;
            }
            orphans.into_iter().for_each(kill_and_wait);
        }
    }
}

fn receive(socket: BorrowedFd<'_>, packet: &mut [u8]) -> io::Result<usize> {
    loop {
        match recv(socket, &mut *packet, RecvFlags::TRUNC) {
            Err(Errno::INTR) => {}
            received => return Ok(received?.1),
        }
    }
}

fn send(socket: BorrowedFd<'_>, reply: &BrokerReply, pipes: Option<&[OwnedFd; 3]>) -> io::Result<()> {
    let packet = reply.encode();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let pipes = pipes.map(|pipes| pipes.each_ref().map(AsFd::as_fd));
    if let Some(pipes) = &pipes {
        control.push(SendAncillaryMessage::ScmRights(pipes));
    }
    sendmsg(socket, &[IoSlice::new(&packet)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// How often an ending program is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

#[derive(Debug)]
struct Process(Child);

impl Process {
    /// Starts a program in `directory` below `root`. Also returns the server's ends of its pipes: stdin, stdout
    /// and stderr.
    fn start(program: &BrokeredProgram, root: &Path, directory: &Path) -> io::Result<(Self, [OwnedFd; 3])> {
        // std makes pipes with `O_CLOEXEC`: a program that inherited the ends of another one would keep that one
        // from seeing the end of its input.
        let (stdin, to_it) = io::pipe()?;
        let (from_it, stdout) = io::pipe()?;
        let (errors, stderr) = io::pipe()?;
        // Always with a name and rights: a path may have `=` in it, or end like rights.
        let mut named = OsString::from("root=");
        named.push(root);
        named.push(if program.may_write { ":rw" } else { ":ro" });
        // Not by a path that may now lead elsewhere.
        let mut command = Command::new("/proc/self/exe");
        command.arg0("rootbound").args(["exec", "--root"]).arg(named);
        if !directory.as_os_str().is_empty() {
            command.arg("--cwd").arg(directory);
        }
        let confine = match program.confine {
            Confine::Auto => "auto",
            Confine::Required => "required",
            Confine::Off => "off",
        };
        command.args(["--die-with-parent", "--confine", confine]);
        for path in &program.readable {
            command.arg("--read").arg(path);
        }
        for (name, value) in &program.variables {
            command.arg("--env").arg(name).env(name, value);
        }
        command.args(program.network.then_some("--network"));
        command.arg("--").arg(&program.program).args(&program.arguments);
        command.stdin(stdin).stdout(stdout).stderr(stderr).process_group(0);
        Ok((Self(command.spawn()?), [to_it.into(), from_it.into(), errors.into()]))
    }

    fn id(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.0.id()).ok()?)
    }

    /// Waits until it ends, at most until `deadline`.
    fn wait(&mut self, deadline: Instant) {
        while matches!(self.0.try_wait(), Ok(None)) && Instant::now() < deadline {
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Ends it and what it has started, as far as that is still in its group.
    fn kill(mut self) {
        // The group may outlive its first process, which was waited for: its number is not used again before the group
        // is empty (kill(2), fork(2)).
        if let Some(group) = self.id() {
            // ESRCH where nothing of it is left.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "the process's own children; no call is served here")]
fn children() -> Vec<Pid> {
    let own = getpid().as_raw_nonzero().to_string();
    let is_own = |number: &str| {
        let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        // The name is in brackets and may hold anything: state and parent are after the last one (proc_pid_stat(5)).
        stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)) == Some(own.as_str())
    };
    let names = fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| name.parse::<u32>().is_ok() && is_own(name))
        .filter_map(|name| Pid::from_raw(name.parse().ok()?))
        .collect()
}

/// Whether a child is what removes a program's temporary files, and ends by itself: this program with that argument, which
/// no other one can seem to be.
#[expect(clippy::disallowed_methods, reason = "the process's own children; no call is served here")]
fn is_cleanup(child: Pid) -> bool {
    let of = |name: &str| PathBuf::from(format!("/proc/{}/{name}", child.as_raw_pid()));
    let is_own = fs::read_link(of("exe")).is_ok_and(|exe| fs::read_link("/proc/self/exe").is_ok_and(|own| own == exe));
    let arguments = fs::read(of("cmdline")).unwrap_or_default();
    is_own && arguments.split(|byte| *byte == 0).nth(1) == Some(CLEANUP_COMMAND.as_bytes())
}

fn kill_and_wait(child: Pid) {
    // ESRCH and ECHILD: it is gone, and its end was noted.
    let _ = kill_process(child, Signal::KILL);
    let _ = waitpid(Some(child), WaitOptions::empty());
}
