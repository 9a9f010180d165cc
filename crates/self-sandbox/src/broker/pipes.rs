//! The pipes of a program that the broker started, at the server's end.

use std::{
    io::{self, PipeReader, PipeWriter, Read as _, Write as _},
    os::fd::OwnedFd,
};

use rustix::event::{PollFd, PollFlags, poll};

/// Bytes of the last error output that are kept.
const ERROR_TAIL: usize = 2048;

/// A program that runs, with the number by which the broker knows it.
#[derive(Debug)]
pub struct StartedProgram {
    /// For [`Broker::stop`](super::Broker::stop).
    pub number: u8,
    /// Its stdin.
    pub input: ProgramInput,
    /// Its stdout and stderr.
    pub output: ProgramOutput,
}

impl StartedProgram {
    pub(super) fn new(number: u8, [input, output, errors]: [OwnedFd; 3]) -> Self {
        let output = ProgramOutput { output: output.into(), errors: Some(errors.into()), tail: Vec::new() };
        Self { number, input: ProgramInput(input.into()), output }
    }
}

/// The stdin of a program; it closes when this is dropped.
#[derive(Debug)]
pub struct ProgramInput(PipeWriter);

impl ProgramInput {
    /// Writes all of `bytes`; waits while the program reads nothing.
    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }
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

    /// The end of what the program wrote to stderr.
    pub fn last_errors(&self) -> String {
        String::from_utf8_lossy(&self.tail).trim().to_owned()
    }
}
