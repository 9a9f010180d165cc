//! There is no broker here: the configuration refuses language servers.

use std::{
    convert::Infallible,
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use super::BrokeredProgram;

/// No broker.
#[derive(Debug)]
pub struct Broker(Infallible);

impl Broker {
    /// Fails.
    pub fn start_process(_: &[BrokeredProgram], _: Vec<PathBuf>) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Nothing can be started.
    pub fn start(&self, _: usize, _: &Path, _: &Path) -> io::Result<StartedProgram> {
        match self.0 {}
    }

    /// Nothing can be ended.
    pub fn stop(&self, _: u8) {
        match self.0 {}
    }
}

/// No program.
#[derive(Debug)]
pub struct StartedProgram {
    /// Its number.
    pub number: u8,
    /// Its stdin.
    pub input: ProgramInput,
    /// Its stdout and stderr.
    pub output: ProgramOutput,
}

/// No stdin.
#[derive(Debug)]
pub struct ProgramInput(Infallible);

impl ProgramInput {
    /// There is no program.
    pub fn write_all(&mut self, _: &[u8]) -> io::Result<()> {
        match self.0 {}
    }
}

/// No stdout.
#[derive(Debug)]
pub struct ProgramOutput(Infallible);

impl ProgramOutput {
    /// There is no program.
    pub fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }

    /// There is no program.
    pub fn last_errors(&self) -> String {
        match self.0 {}
    }
}

/// Fails.
pub fn serve_broker() -> ExitCode {
    ExitCode::FAILURE
}
