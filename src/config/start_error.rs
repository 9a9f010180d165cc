//! Why the program does not start, and how it says so.

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};

use crate::log;

/// Exit code for a configuration that cannot be used.
pub const BAD_CONFIGURATION: u8 = 2;

/// Why the program does not start.
#[derive(Debug)]
pub enum StartError {
    /// clap's answer: help, version, or a misspelled command line.
    Usage(clap::Error),
    /// One sentence for each problem, with its next step.
    Problems(Vec<String>),
}

impl StartError {
    /// Prints it and returns the exit code: 0 for help and version, 2 otherwise.
    pub fn report(self) -> ExitCode {
        match self {
            Self::Usage(error) => {
                // A closed pipe is not reported, and a stderr that nobody reads must not block the exit.
                let _ = if error.use_stderr() && !io::stderr().is_terminal() {
                    log::Lines.write_all(error.render().to_string().as_bytes())
                } else {
                    error.print()
                };
                ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(BAD_CONFIGURATION))
            }
            Self::Problems(problems) => {
                for problem in problems {
                    let _ = log::Lines.write_all(format!("rootbound: {problem}\n").as_bytes());
                }
                ExitCode::from(BAD_CONFIGURATION)
            }
        }
    }
}
