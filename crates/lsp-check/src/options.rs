//! One configured language server.

use std::time::Duration;

use serde_json::Value;

use self_sandbox::BrokeredProgram;

/// One `[lsp.NAME]` table, validated.
#[derive(Clone, Debug)]
pub struct LanguageServer {
    /// The name of its table.
    pub name: String,
    /// How it is started.
    pub program: BrokeredProgram,
    /// The extensions of its files, without dots.
    pub extensions: Vec<String>,
    /// Names of files that mark the directory it is started in: the highest below the root that has one of them.
    pub root_markers: Vec<String>,
    /// How long a change waits for it.
    pub timeout: Duration,
    /// What it gets when it asks for its configuration, by section.
    pub settings: Value,
    /// What it gets when it is started.
    pub initialization_options: Value,
}
