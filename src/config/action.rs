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
    /// Print what is staged in the layers, or since a checkpoint.
    Diff {
        /// A checkpoint.
        name: Option<String>,
    },
    /// Make staged changes on the disk.
    Apply {
        /// Only these paths and what is below them.
        paths: Vec<String>,
        /// Apply the rest where others have changed a file meanwhile.
        skip_conflicts: bool,
    },
    /// Drop staged changes.
    Discard {
        /// Only these paths and what is below them.
        paths: Vec<String>,
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
    /// Whether it is about the layers of staged changes, and not a call in the merged view.
    pub fn opens_layers(&self) -> bool {
        matches!(self, Self::Diff { .. } | Self::Apply { .. } | Self::Discard { .. })
    }

    /// Whether it opens the directories, and so is confined. A command that writes elsewhere is not.
    pub fn opens_workspace(&self) -> bool {
        matches!(
            self,
            Self::Serve
                | Self::Call { .. }
                | Self::History { .. }
                | Self::Restore { .. }
                | Self::Diff { .. }
                | Self::Apply { .. }
                | Self::Discard { .. }
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
