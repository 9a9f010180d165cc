//! There is no broker here: the configuration refuses language servers.

use std::io::{self, PipeWriter};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::BrokeredProgram;

/// A broker, of which there is none.
#[derive(Debug)]
pub enum Broker {}

impl Broker {
    /// Fails with `Unsupported`, on every call.
    pub fn start_process(_: &[BrokeredProgram], _: Vec<PathBuf>) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn start(&self, _: usize, _: &Path, _: &Path) -> io::Result<StartedProgram> {
        match *self {}
    }

    pub fn stop(&self, _: u8) {
        match *self {}
    }
}

#[derive(Debug)]
pub struct StartedProgram {
    pub number: u8,
    pub input: PipeWriter,
    pub output: ProgramOutput,
}

/// The stdout of a program, of which there is none.
#[derive(Debug)]
pub enum ProgramOutput {}

impl ProgramOutput {
    pub fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }

    pub fn last_errors(&self) -> String {
        match *self {}
    }
}

/// Exits with a failure.
pub fn serve_broker() -> ExitCode {
    ExitCode::FAILURE
}
