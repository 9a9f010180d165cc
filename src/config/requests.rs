//! What each command asks for, with its own arguments; of `rootbound guide` also the clients that it knows.

#![expect(clippy::doc_markdown, reason = "it is help on a terminal, which shows backticks")]

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use clap::{
    Arg, Args, Command, Subcommand, ValueEnum, ValueHint,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser},
};
use clap_complete::Shell;

use file_tools::Toolbox;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Serve,
    Call(CallRequest),
    History(HistoryCommand),
    Index(IndexRequest),
    Doctor,
    Tools {
        /// The complete `tools/list` answer instead of a summary.
        json: bool,
    },
    /// Print what a person gives to the model.
    Guide(GuideRequest),
}

impl Action {
    /// Whether the state folder is made where it is missing: not by a command that only looks for what is in it.
    pub fn makes_state_folder(&self) -> bool {
        let looks = matches!(self, Self::Index(IndexRequest { task: IndexTask::Status | IndexTask::Clear, .. }));
        !looks && !matches!(self, Self::History(HistoryCommand::Purge { .. }))
    }

    /// Whether it opens the directories, and so is confined. A command that writes elsewhere is not.
    pub fn opens_workspace(&self) -> bool {
        !matches!(self, Self::Guide(_) | Self::Index(IndexRequest { task: IndexTask::Clear, .. }))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    Completions(Shell),
    Man,
}

#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct CallRequest {
    /// Name of the tool, as `rootbound tools` lists it, and `rootbound call` alone
    #[arg(value_name = "TOOL", value_parser = ValueParser::new(KnownValues(Toolbox::known())), hide_possible_values = true)]
    pub tool: Option<OsString>,
    /// One JSON object, or arguments as words: pattern=main max_results=5
    #[arg(value_name = "JSON | KEY=VALUE")]
    pub arguments: Vec<String>,
}

/// The commands below `rootbound history`.
#[derive(Subcommand, Clone, Debug, PartialEq, Eq)]
pub enum HistoryCommand {
    /// List the recorded changes, newest first, with the revisions that can be restored
    #[command(after_help = "Examples:\n  rootbound history list src\n  rootbound history list --since before-agent")]
    List(ListRequest),
    /// Restore a file before a recorded change, a deleted file or directory, or an earlier state
    #[command(
        override_usage = "rootbound history restore [OPTIONS] PATH [REVISION]\n       \
                          rootbound history restore [OPTIONS] --to NAME [PATH]...\n       \
                          rootbound history restore [OPTIONS] --session ID [PATH]...",
        after_help = "Examples:\n  rootbound history restore src/main.rs\n  \
                      rootbound history restore src/main.rs 3f9a1c0b22d4\n  \
                      rootbound history restore --to before-agent --dry-run\n  \
                      rootbound history restore --session 3f9a1c0b src\n\n\
                      `rootbound history` lists revisions, checkpoints and sessions."
    )]
    Restore(RestoreRequest),
    /// Show how an earlier state differs from now, as a diff
    #[command(after_help = "Examples:\n  rootbound history diff before-agent\n  \
                            rootbound history diff --session 3f9a1c0b src")]
    Diff(DiffRequest),
    /// Name the state as it is now, for `history restore --to`, `history diff` and the tool undo
    #[command(after_help = "Examples:\n  rootbound history checkpoint before-agent\n  \
                            rootbound history restore --to before-agent --dry-run")]
    Checkpoint {
        /// A short name; one that exists already is moved
        #[arg(value_name = "NAME", value_hint = ValueHint::Other)]
        name: String,
    },
    /// Remove all kept contents of a path, under every name that it had, for good; asks first
    #[command(after_help = "Examples:\n  rootbound history purge .env\n  rootbound history purge --all --yes\n\n\
                            The files themselves and the audit stay.")]
    Purge {
        /// The file, or the directory with all in it; it may be gone
        #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath, required_unless_present = "all")]
        path: Option<String>,
        /// Everything that the state folder keeps, of all directories
        #[arg(long, conflicts_with = "path")]
        all: bool,
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
}

#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct ListRequest {
    /// Only changes of this file, or below this directory
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub path: Option<String>,
    /// Only the changes of the session with these first digits, as `rootbound history` lists it
    #[arg(long, value_name = "ID", value_hint = ValueHint::Other)]
    pub session: Option<String>,
    /// Only changes since the checkpoint of this name
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Other)]
    pub since: Option<String>,
}

/// A restore: one file or deleted directory, or with `to` or `session` an earlier state, where `path`, `revision`
/// and `more` are paths.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct RestoreRequest {
    /// The file or the deleted directory; with --to or --session, what goes back [default there: all]
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath, required_unless_present_any = ["to", "session"])]
    pub path: Option<String>,
    /// First digits of the revision, as `rootbound history` lists it [default: the newest that differs]
    #[arg(value_name = "REVISION", value_hint = ValueHint::Other)]
    pub revision: Option<String>,
    /// More paths, with --to or --session
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath, requires = "state")]
    pub more: Vec<String>,
    /// Go back to the checkpoint of this name
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Other, group = "state")]
    pub to: Option<String>,
    /// Take back the changes of the session with these first digits, as `rootbound history` lists it
    #[arg(long, value_name = "ID", value_hint = ValueHint::Other, group = "state")]
    pub session: Option<String>,
    /// Also where somebody else has changed a file since; that is kept first
    #[arg(long, requires = "state")]
    pub include_others: bool,
    /// Only show what would be done
    #[arg(long, requires = "state")]
    pub dry_run: bool,
}

/// Which earlier state is compared with now.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct DiffRequest {
    /// The checkpoint
    #[arg(value_name = "NAME", value_hint = ValueHint::Other, required_unless_present = "session")]
    pub name: Option<String>,
    /// Only these files, and what is below these directories
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<String>,
    /// Only the changes of the session with these first digits, as `rootbound history` lists it
    #[arg(long, value_name = "ID", value_hint = ValueHint::Other)]
    pub session: Option<String>,
}

#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct IndexRequest {
    /// What to do
    #[arg(value_name = "status | build | clear")]
    pub task: IndexTask,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Whether a directory was named; if none was, `clear` is for the indexes of all.
    #[arg(skip)]
    pub names_directories: bool,
}

/// Work on the stored indexes.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexTask {
    /// One line for each directory: what is stored, and whether it is used
    Status,
    /// List and read the directories now, and store what searches need
    Build,
    /// Remove what is stored of each DIR and --root, also of one that is gone; without them, of every directory that this
    /// state folder has an index of
    Clear,
}

/// The clients that `rootbound setup` knows, in the order of the documentation.
pub(crate) const SETUP_CLIENTS: &str = "claude-desktop claude-code vscode vscode-insiders cursor zed codex gemini-cli deerflow \
     inspector opencode kilo copilot-cli qwen-code cline roo windsurf kiro jetbrains goose lm-studio amp other";

fn setup_clients() -> PossibleValuesParser {
    let is_short_for = |short: &&str, name: &str| name.replace('-', "").starts_with(short);
    let shorter =
        |name| ["copilot", "gemini", "lmstudio", "qwen"].into_iter().filter(move |short| is_short_for(short, name));
    PossibleValuesParser::new(SETUP_CLIENTS.split(' ').map(|name| PossibleValue::new(name).aliases(shorter(name))))
}

#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct SetupRequest {
    /// The client; without it, the clients are listed
    #[arg(value_name = "CLIENT", value_parser = setup_clients())]
    pub client: Option<String>,
    /// Directories to offer [default: the open project, where the client has one]
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directories: Vec<PathBuf>,
    /// Change the client's file: shows the change and asks
    #[arg(long, conflicts_with = "remove")]
    pub write: bool,
    /// Take the entry out, and turn the client's own file tools on again
    #[arg(long)]
    pub remove: bool,
    /// Also turn the client's own file tools off; with --remove, turn them on again and leave the entry
    #[arg(long)]
    pub replace: bool,
    /// Also name the state before each prompt: `history restore --to last-prompt` goes back to it (Claude Code, Codex); with
    /// --remove, take that hook out and leave the entry
    #[arg(long)]
    pub hooks: bool,
    /// Do not ask before the change
    #[arg(long, short = 'y')]
    pub yes: bool,
    /// user: for you in every project; project: for everyone who has the project; local: for you in this project
    #[arg(long, value_name = "SCOPE", value_parser = ["user", "project", "local"])]
    pub scope: Option<String>,
    /// Name of the server in the client's file [default: files]
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Other)]
    pub name: Option<String>,
    /// The client's file, if it is elsewhere than usual
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Offer only the tools that change nothing
    #[arg(long)]
    pub read_only: bool,
    /// DeerFlow: two entries, one to read and one to write
    #[arg(long, conflicts_with = "read_only")]
    pub split: bool,
    /// Options with which the client starts the server, such as --max-output 20000
    #[arg(last = true, value_name = "OPTION OF THE SERVER")]
    pub options: Vec<String>,
}

/// Any text, with names for completion: whether it is one of them is checked later, so that a wrong one does not hide the
/// next.
#[derive(Clone)]
pub(super) struct KnownValues(pub(super) Vec<&'static str>);

impl TypedValueParser for KnownValues {
    type Value = OsString;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<OsString, clap::Error> {
        Ok(value.to_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(|name| PossibleValue::new(*name))))
    }
}

#[derive(Debug, PartialEq, Eq)]
pub struct GuideClient {
    pub name: &'static str,
    pub(super) aliases: &'static [&'static str],
    /// The text that it puts before the names of tools, with the server's name that `docs/clients.md` uses.
    pub prefix: &'static str,
    pub file: &'static str,
    /// Whether it gets a skill file as well, as its model does not see the server's instructions.
    pub has_skill: bool,
}

impl GuideClient {
    /// Whether a person means it by `name`.
    pub(super) fn is_called(&self, name: &str) -> bool {
        std::iter::once(&self.name).chain(self.aliases).any(|own| own.eq_ignore_ascii_case(name))
    }
}

/// The clients. The prefixes: `mcp__SERVER__` of Codex since <https://github.com/openai/codex/pull/5309>, `mcp_SERVER_` of
/// VS Code since <https://github.com/microsoft/vscode/pull/249929>, `SERVER_` of `deerflow` unless its
/// `tool_name_prefix` is false.
pub(super) const GUIDE_CLIENTS: &[GuideClient] = &[
    GuideClient { name: "claude-desktop", prefix: "", file: "the instructions of a project", ..OTHER_CLIENT },
    GuideClient {
        name: "claude-code",
        aliases: &["claude"],
        prefix: "mcp__files__",
        file: "CLAUDE.md in the project",
        ..OTHER_CLIENT
    },
    GuideClient {
        name: "vscode",
        aliases: &["code", "copilot", "vscode-insiders"],
        prefix: "mcp_files_",
        file: ".github/copilot-instructions.md or AGENTS.md in the project",
        ..OTHER_CLIENT
    },
    GuideClient {
        name: "cursor",
        aliases: &["windsurf", "kiro", "jetbrains", "lm-studio"],
        file: AGENTS_FILE,
        ..OTHER_CLIENT
    },
    GuideClient { name: "zed", file: AGENTS_FILE, ..OTHER_CLIENT },
    GuideClient {
        name: "codex",
        aliases: &["amp", "qwen-code"],
        prefix: "mcp__files__",
        file: AGENTS_FILE,
        ..OTHER_CLIENT
    },
    GuideClient {
        name: "gemini-cli",
        aliases: &["gemini"],
        prefix: "mcp_files_",
        file: "GEMINI.md in the project",
        ..OTHER_CLIENT
    },
    GuideClient {
        name: "deerflow",
        aliases: &["deer-flow"],
        prefix: "files_",
        file: "SOUL.md in the folder DEER_FLOW_HOME (its agent's AGENTS.md), which the model always sees",
        has_skill: true,
    },
    GuideClient { name: "inspector", file: "a client that has a model; the Inspector has none", ..OTHER_CLIENT },
    GuideClient { name: "opencode", aliases: &["kilo"], prefix: "files_", file: AGENTS_FILE, ..OTHER_CLIENT },
    GuideClient { name: "copilot-cli", prefix: "files-", file: AGENTS_FILE, ..OTHER_CLIENT },
    GuideClient { name: "cline", aliases: &["goose"], prefix: "files__", file: AGENTS_FILE, ..OTHER_CLIENT },
    GuideClient { name: "roo", prefix: "mcp--files--", file: AGENTS_FILE, ..OTHER_CLIENT },
    OTHER_CLIENT,
];

const AGENTS_FILE: &str = "AGENTS.md in the project";

pub(super) const OTHER_CLIENT: GuideClient =
    GuideClient { name: "other", aliases: &[], prefix: "", file: "AGENTS.md or CLAUDE.md", has_skill: false };

/// One of the texts: the skill file, or the paragraph for `AGENTS.md` and the like.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they would be printed as help")]
pub enum GuidePart {
    Skill,
    Paragraph,
}

#[expect(clippy::doc_markdown, reason = "it is help on a terminal, which shows backticks")]
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct GuideRequest {
    /// The client whose model reads it [default: names of tools without a prefix]
    #[arg(value_name = "CLIENT", ignore_case = true)]
    pub client: Option<String>,
    /// Print only the skill file or only the paragraph
    #[arg(long, value_name = "PART")]
    pub part: Option<GuidePart>,
    /// What the client puts before the name of a tool, such as mcp__files__ or files_ [default: by client]
    #[arg(long, value_name = "TEXT", value_parser = prefix, value_hint = ValueHint::Other)]
    pub prefix: Option<String>,
}

impl GuideRequest {
    pub fn client(&self) -> &'static GuideClient {
        let client = self.client.as_deref();
        client.and_then(|name| GUIDE_CLIENTS.iter().find(|client| client.is_called(name))).unwrap_or(&OTHER_CLIENT)
    }
}

/// The longest prefix that is accepted: the names of tools have at most 64 characters in several clients.
const MAX_PREFIX: usize = 56;

fn prefix(text: &str) -> Result<String, String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.:/".contains(letter);
    if text.len() > MAX_PREFIX || !text.chars().all(is_plain) {
        return Err(format!("a prefix has at most {MAX_PREFIX} letters, digits and _ - . : /"));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::config::SETUP_CLIENTS;

    use super::*;

    #[test]
    fn guide_knows_every_client_of_setup() {
        for name in SETUP_CLIENTS.split(' ') {
            assert_eq!(GUIDE_CLIENTS.iter().filter(|client| client.is_called(name)).count(), 1, "{name}");
        }
    }
}
