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
    /// Name the state of the roots as it is now.
    Checkpoint {
        /// The name.
        name: String,
    },
    /// Print the recorded changes.
    History(HistoryRequest),
    /// Restore a recorded content.
    Restore {
        /// The file or deleted directory.
        path: String,
        /// The first digits of a revision; `None` is the newest content that differs.
        revision: Option<String>,
    },
    /// Restore an earlier state.
    RestoreState {
        /// Which one.
        state: EarlierState,
        /// Also where somebody else has changed a file since.
        include_others: bool,
        /// Only print what would be done.
        dry_run: bool,
    },
    /// Print how an earlier state differs from now; without one, what is staged.
    Diff(Option<EarlierState>),
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
    /// About what searches have stored.
    Index {
        /// What is to be done.
        request: IndexRequest,
        /// The result as JSON.
        json: bool,
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
        matches!(self, Self::Diff(None) | Self::Apply { .. } | Self::Discard { .. })
    }

    /// Whether the state folder is made where it is missing: not by a command that only looks for what is in it.
    pub fn makes_state_folder(&self) -> bool {
        !matches!(
            self,
            Self::Index { request: IndexRequest::Status | IndexRequest::Clear | IndexRequest::ClearAll, .. }
        )
    }

    /// Whether it opens the directories, and so is confined. A command that writes elsewhere is not.
    pub fn opens_workspace(&self) -> bool {
        matches!(
            self,
            Self::Serve
                | Self::Call { .. }
                | Self::Checkpoint { .. }
                | Self::History(_)
                | Self::Restore { .. }
                | Self::RestoreState { .. }
                | Self::Diff(_)
                | Self::Apply { .. }
                | Self::Discard { .. }
                | Self::Index { request: IndexRequest::Build | IndexRequest::Status, .. }
                | Self::Doctor
                | Self::Tools { .. }
        )
    }
}

/// Which recorded changes are printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryRequest {
    /// Only those of this file, or below this directory.
    pub path: Option<String>,
    /// Only those of the session with these first digits.
    pub session: Option<String>,
    /// Only those since the checkpoint of this name.
    pub since: Option<String>,
}

/// What is to be done with stored indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexRequest {
    /// Remove those of all directories.
    ClearAll,
    /// Remove those of the roots, which may be gone.
    Clear,
    /// List and read the roots now, and store what is found.
    Build,
    /// Print what is stored of the roots.
    Status,
}

/// A state of the roots that was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierState {
    /// Which one.
    pub when: EarlierTime,
    /// Only these files, and what is below these directories; all, if there are none.
    pub paths: Vec<String>,
}

/// When a state was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EarlierTime {
    /// When the checkpoint of this name was made.
    Checkpoint(String),
    /// Before the changes of the session with these first digits, and without those of any other.
    Session(String),
}

/// What is printed about the program, without a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    /// The completion script for a shell.
    Completions(Shell),
    /// The manual page.
    Man,
}
