//! Language servers: what a compiler says of a change, in the answer to the change.
//!
//! A server is started when a file that it is for is first read or changed, by the [broker](self_sandbox::Broker),
//! one for each project directory below a root. It is kept informed of what changes, and the problems that a change
//! introduced are waited for, at most as long as the configuration says. Whatever a server does or does not do, the change
//! has been made, and its call goes on. Where it was not checked, the answer says so, and the next change of the file is
//! compared with the text before both.
//!
//! ```
//! // Without a broker no server can be started, and no check of a change waits for one.
//! let servers = lsp_check::LanguageServers::new(Vec::new(), None);
//! # drop(servers);
//! ```
//!
//! # Map
//! | question | file |
//! |---|---|
//! | Which server for which file, and since when has it failed? | `servers` |
//! | How is one change checked? | `check` |
//! | Has it answered for this change? | `state` |
//! | What is wrong with it, by its own words? | `trouble` |
//! | What may a server send, and what is it sent? | `instance`, `protocol`, `diagnostics` |
//! | What do its texts show of the host? | `report` |
//!
//! Limits: one server for each extension. A server is a program that the person configured: it reads its whole root,
//! secrets included, and is confined apart from this process.
//!
//! A part of Rootbound, published with it: its interface changes without notice.

#![expect(missing_docs, reason = "names and types that say it; units, bounds and errors are documented")]

mod check;
mod diagnostics;
mod instance;
mod protocol;
mod report;
mod servers;
mod state;
mod trouble;

use std::{path::Path, time::Duration};

use confined_fs::WorkspacePath;
use self_sandbox::BrokeredProgram;
use serde_json::Value;
use source_outline::problems::Problem;

pub use servers::{LanguageServers, ProbeError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

/// Bytes of the largest text that is sent.
const MAX_TEXT: usize = 1 << 20;

#[derive(Clone, Debug)]
pub struct LanguageServer {
    pub name: String,
    pub program: BrokeredProgram,
    pub extensions: Vec<String>,
    /// Names of files that mark the directory it is started in: the highest below the root that has one of them.
    pub root_markers: Vec<String>,
    /// How long a change waits for it; without one 5 seconds, and until 15 after its start.
    pub timeout: Option<Duration>,
    pub settings: Value,
    pub initialization_options: Value,
}

impl LanguageServer {
    /// The problems that it does not report with this table, and what makes it do so, for a person.
    pub fn leaves_out(&self) -> Option<&'static str> {
        let program = self.program_name();
        let options = protocol::initialization_options(&program, &self.initialization_options);
        let is_partial = program == "rust-analyzer" && options["checkOnSave"] != true;
        is_partial.then_some(
            "unknown functions and methods, and uses of moved values, are not reported: checkOnSave = true in its \
             initialization_options, with write = true, has the compiler check",
        )
    }

    fn program_name(&self) -> String {
        let program = Path::new(&self.program.program);
        program.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// The kind of a change on the disk: `FileChangeType` of the protocol, with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskChange {
    Created = 1,
    Changed = 2,
    Deleted = 3,
}

#[derive(Clone, Copy, Debug)]
pub struct FileChange<'c> {
    pub path: &'c WorkspacePath,
    /// Its text before; `None` where there was no file.
    pub before: Option<&'c str>,
    pub after: &'c str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    pub problems: Vec<Problem>,
    /// Errors that it introduced in other files.
    pub elsewhere: Vec<(WorkspacePath, Problem)>,
    /// Why there may be more: a sentence.
    pub note: Option<String>,
}
