//! The server's end of the socket to its broker, and of the pipes of the programs that this has started.

use std::io::{self, IoSliceMut, PipeReader, PipeWriter, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::{mem::MaybeUninit, os::fd::OwnedFd, time::Duration};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, SocketFlags, SocketType, recvmsg,
    send, socketpair,
};

use super::request::{BrokerReply, BrokerRequest, LONGEST_REPLY, ProgramTable};
use super::{BROKER_COMMAND, BrokeredProgram, serve::LARGEST_TABLE};

/// Variables of the server that its broker has, and so each program may have.
const KEPT_VARIABLES: &[&str] = &["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER"];
/// Bytes of the last error output that are kept.
const ERROR_TAIL: usize = 2048;
/// How long the broker may take to answer; it starts a process and waits for nothing.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// A broker that runs. It ends, with all programs, when this is dropped or the process ends.
#[derive(Debug)]
pub struct Broker {
    /// `None` once it does not answer.
    socket: Mutex<Option<OwnedFd>>,
    roots: Vec<PathBuf>,
}

impl Broker {
    /// Starts the broker for these programs in these directories of the host. Call it before the process is confined.
    pub fn start_process(programs: &[BrokeredProgram], roots: Vec<PathBuf>) -> io::Result<Self> {
        let table =
            ProgramTable { programs: programs.to_vec(), roots: roots.iter().map(|root| root.clone().into()).collect() };
        let table = serde_json::to_vec(&table)?;
        if table.len() > LARGEST_TABLE {
            return Err(io::Error::other("the table of language servers is too long"));
        }
        // Packets keep the bounds of requests and answers, and unlike those of `DGRAM` a closed end is seen (unix(7)).
        let (own, other) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        set_socket_timeout(&own, Timeout::Recv, Some(ANSWER_TIMEOUT))?;
        let mut command = Command::new("/proc/self/exe");
        command.arg(BROKER_COMMAND).env_clear();
        command.envs(KEPT_VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.stdin(Stdio::from(other)).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
        // Ctrl-C in a terminal ends the server, which ends the broker.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn()?;
        send(&own, &table, SendFlags::NOSIGNAL)?;
        Ok(Self { socket: Mutex::new(Some(own)), roots })
    }

    /// Starts program number `program` of the table in `directory` below `root`.
    ///
    /// # Errors
    /// Why the broker does not start it, or that it is gone.
    pub fn start(&self, program: usize, root: &Path, directory: &Path) -> io::Result<StartedProgram> {
        let root = self.roots.iter().position(|known| known == root);
        let number = |index: Option<usize>| index.and_then(|index| u8::try_from(index).ok());
        let (Some(program), Some(root)) = (number(Some(program)), number(root)) else {
            return Err(io::Error::other("the broker does not know it"));
        };
        let request = BrokerRequest::Start { program, root, directory: directory.to_owned() };
        match self.ask(&request)? {
            (number, Some([input, output, errors])) => {
                let output = ProgramOutput { output: output.into(), errors: Some(errors.into()), tail: Vec::new() };
                Ok(StartedProgram { number, input: input.into(), output })
            }
            (_, None) => Err(io::Error::other("the broker sent no pipes")),
        }
    }

    pub fn stop(&self, number: u8) {
        if let Err(error) = self.ask(&BrokerRequest::Stop { number }) {
            tracing::debug!(%error, "a language server cannot be ended");
        }
    }

    fn ask(&self, request: &BrokerRequest) -> io::Result<(u8, Option<[OwnedFd; 3]>)> {
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = || io::Error::other("the process that starts language servers is gone");
        let answer = exchange(socket.as_ref().ok_or_else(gone)?, request);
        match answer {
            Ok((BrokerReply::Done { number }, pipes)) => Ok((number, pipes)),
            Ok((BrokerReply::Refused(why), _)) => Err(io::Error::other(why)),
            Err(_) => {
                // An answer that comes later would be taken for that of the next request.
                *socket = None;
                Err(gone())
            }
        }
    }
}

fn exchange(socket: &OwnedFd, request: &BrokerRequest) -> io::Result<(BrokerReply, Option<[OwnedFd; 3]>)> {
    send(socket, &request.encode(), SendFlags::NOSIGNAL)?;
    let mut packet = [0; LONGEST_REPLY];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(socket, &mut [IoSliceMut::new(&mut packet)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let pipes = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(pipes) => <[OwnedFd; 3]>::try_from(pipes.collect::<Vec<_>>()).ok(),
        _ => None,
    });
    let reply = BrokerReply::decode(packet.get(..received.bytes).unwrap_or_default());
    Ok((reply.ok_or(io::ErrorKind::InvalidData)?, pipes))
}

#[derive(Debug)]
pub struct StartedProgram {
    pub number: u8,
    pub input: PipeWriter,
    pub output: ProgramOutput,
}

/// The stdout of a program, and the end of what it wrote to stderr.
#[derive(Debug)]
pub struct ProgramOutput {
    output: PipeReader,
    errors: Option<PipeReader>,
    tail: Vec<u8>,
}

impl ProgramOutput {
    /// Reads from stdout, and takes note of stderr meanwhile. 0 bytes: it is closed.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(errors) = &mut self.errors else { return self.output.read(buffer) };
            let mut ready = [PollFd::new(&self.output, PollFlags::IN), PollFd::new(&*errors, PollFlags::IN)];
            match poll(&mut ready, None) {
                Err(rustix::io::Errno::INTR) => continue,
                polled => polled?,
            };
            let [has_output, has_errors] = [0, 1].map(|at: usize| !ready[at].revents().is_empty());
            if has_errors {
                let mut chunk = [0; 1024];
                match errors.read(&mut chunk) {
                    Ok(0) | Err(_) => self.errors = None,
                    Ok(read) => {
                        self.tail.extend_from_slice(&chunk[..read]);
                        let cut = self.tail.len().saturating_sub(ERROR_TAIL);
                        self.tail.drain(..cut);
                    }
                }
            }
            if has_output {
                return self.output.read(buffer);
            }
        }
    }

    pub fn last_errors(&self) -> String {
        String::from_utf8_lossy(&self.tail).trim().to_owned()
    }
}
