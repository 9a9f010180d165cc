//! What the program is to do: one variant for each subcommand.

use clap_complete::Shell;

use super::{GuideRequest, StatsRequest};

/// What is to be done with a valid configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Serve a client on stdin and stdout.
    Serve,
    /// Run one tool and print its text.
    Call {
        /// The tool's name.
        tool: String,
        /// A JSON object, or `key=value` words.
        arguments: Vec<String>,
    },
    /// Print the recorded changes.
    History {
        /// Only those of this file, or below this directory.
        path: Option<String>,
    },
    /// Restore a recorded content.
    Restore {
        /// The file or deleted directory.
        path: String,
        /// The first digits of a revision; `None` is the newest content that differs.
        revision: Option<String>,
    },
    /// Print what protects a run with these options.
    Doctor,
    /// Print what a client would be offered.
    Tools {
        /// The complete `tools/list` answer instead of a summary.
        json: bool,
    },
    /// Print what a person gives to the model.
    Guide(GuideRequest),
    /// Print what an audit adds up to.
    Stats(StatsRequest),
}

impl Action {
    /// Whether it opens the directories, and so is confined. A command that writes elsewhere is not.
    pub fn opens_workspace(&self) -> bool {
        matches!(
            self,
            Self::Serve
                | Self::Call { .. }
                | Self::History { .. }
                | Self::Restore { .. }
                | Self::Doctor
                | Self::Tools { .. }
        )
    }
}

/// What is printed about the program, without a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    /// The completion script for a shell.
    Completions(Shell),
    /// The manual page.
    Man,
}
