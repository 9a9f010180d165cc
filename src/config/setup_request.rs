//! What `rootbound setup` is asked to do, as typed.

use std::path::PathBuf;

/// The clients, in the order of the documentation.
pub(crate) const SETUP_CLIENTS: &str =
    "claude-desktop claude-code vscode vscode-insiders cursor zed codex gemini-cli deerflow inspector";

/// The arguments of `rootbound setup`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetupRequest {
    /// The client's name; `None` lists the clients.
    pub client: Option<String>,
    /// The directories to offer, absolute.
    pub directories: Vec<PathBuf>,
    /// `user`, `project` or `local`, as typed.
    pub scope: Option<String>,
    /// The name of the entry.
    pub name: Option<String>,
    /// The file to change, absolute.
    pub file: Option<PathBuf>,
    /// Whether the server is to change nothing.
    pub read_only: bool,
    /// Whether the file is changed.
    pub write: bool,
    /// Whether the entry is taken out.
    pub remove: bool,
    /// Whether the client's own file tools are turned off.
    pub replace: bool,
    /// Whether there are two entries, one for reading and one for writing.
    pub split: bool,
    /// Whether nobody is asked.
    pub yes: bool,
    /// Options of the server, as typed after `--`.
    pub options: Vec<String>,
}
