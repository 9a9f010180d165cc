//! What `rootbound guide` is asked for, and the clients that it knows.

use clap::{Args, ValueEnum, ValueHint};

/// A client, as far as the text for its model depends on it.
#[derive(Debug, PartialEq, Eq)]
pub struct GuideClient {
    /// The name on the command line.
    pub name: &'static str,
    /// Other names for it.
    pub(super) aliases: &'static [&'static str],
    /// The text that it puts before the names of tools, with the server's name that `docs/clients.md` uses.
    pub prefix: &'static str,
    /// Where a person puts the paragraph.
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
    GuideClient { name: "claude-desktop", prefix: "", file: "the instructions of a project", ..OTHER },
    GuideClient {
        name: "claude-code",
        aliases: &["claude"],
        prefix: "mcp__files__",
        file: "CLAUDE.md in the project",
        ..OTHER
    },
    GuideClient {
        name: "vscode",
        aliases: &["code", "copilot", "vscode-insiders"],
        prefix: "mcp_files_",
        file: ".github/copilot-instructions.md or AGENTS.md in the project",
        ..OTHER
    },
    GuideClient { name: "cursor", aliases: &["windsurf", "kiro", "jetbrains", "lm-studio"], file: AGENTS, ..OTHER },
    GuideClient { name: "zed", file: AGENTS, ..OTHER },
    GuideClient { name: "codex", aliases: &["amp", "qwen-code"], prefix: "mcp__files__", file: AGENTS, ..OTHER },
    GuideClient {
        name: "gemini-cli",
        aliases: &["gemini"],
        prefix: "mcp_files_",
        file: "GEMINI.md in the project",
        ..OTHER
    },
    GuideClient {
        name: "deerflow",
        aliases: &["deer-flow"],
        prefix: "files_",
        file: "SOUL.md in the folder DEER_FLOW_HOME (its agent's AGENTS.md), which the model always sees",
        has_skill: true,
    },
    GuideClient { name: "inspector", file: "a client that has a model; the Inspector has none", ..OTHER },
    GuideClient { name: "opencode", aliases: &["kilo"], prefix: "files_", file: AGENTS, ..OTHER },
    GuideClient { name: "copilot-cli", prefix: "files-", file: AGENTS, ..OTHER },
    GuideClient { name: "cline", aliases: &["goose"], prefix: "files__", file: AGENTS, ..OTHER },
    GuideClient { name: "roo", prefix: "mcp--files--", file: AGENTS, ..OTHER },
    OTHER,
];

const AGENTS: &str = "AGENTS.md in the project";

/// A client that is not named.
pub(super) const OTHER: GuideClient =
    GuideClient { name: "other", aliases: &[], prefix: "", file: "AGENTS.md or CLAUDE.md", has_skill: false };

/// One of the texts: the skill file, or the paragraph for `AGENTS.md` and the like.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they would be printed as help")]
pub enum GuidePart {
    Skill,
    Paragraph,
}

/// The request of `rootbound guide`.
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
    /// The client that is named, or one that is not known.
    pub fn client(&self) -> &'static GuideClient {
        let client = self.client.as_deref();
        client.and_then(|name| GUIDE_CLIENTS.iter().find(|client| client.is_called(name))).unwrap_or(&OTHER)
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
