//! The table of clients, one row each, and what a row is made of; and where the files of clients are on this system.

use std::path::{Path, PathBuf};

use EntryScope::{Local, Project, User};
use Format::{Json, Toml, Yaml};
use change_set::host_path_exists;

use crate::config::Environment;

use super::error::{Result, refused};

#[derive(Debug)]
pub(super) struct Client {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) format: Format,
    pub(super) head: &'static str,
    pub(super) tail: &'static str,
    pub(super) one_list: bool,
    /// The file of each scope; the first is the default.
    pub(super) files: ScopePlaces,
    pub(super) starts_in: (&'static str, &'static str),
    /// How a person's own file names the open project if no directory is given.
    pub(super) open_project: OpenProject,
    pub(super) project_folder: &'static str,
    /// The client's own file tools; or, where no file turns them off, what a person can do instead.
    pub(super) own_tools: Result<OwnTools, &'static str>,
    /// The file of each scope that lists hooks; empty if the client runs none before a prompt.
    pub(super) hooks: ScopePlaces,
    /// The step with which a person approves the server.
    pub(super) approval: &'static str,
    /// The same for a file of the project; empty if it is not another one.
    pub(super) project_approval: &'static str,
    pub(super) check: &'static str,
}

impl Client {
    /// Whether its list of tools is split into those that read and those that write, as DeerFlow's is.
    pub(super) fn splits_tools(&self) -> bool {
        self.own_tools.as_ref().is_ok_and(|own| matches!(own.list, ToolList::Yaml(_)))
    }

    pub(super) fn file(&self, scope: EntryScope) -> Option<&'static str> {
        place_of(self.files, scope)
    }
}

/// A file for each scope, as its place: alternatives between `|`. The first one whose variable (`$NAME`) is set counts,
/// without that the first of the others that exists, and else the first of them; empty if it is not known. What is
/// before the first slash is a folder: `~`, the project as `.`, [`CONFIG_FOLDER`], [`DOT_CONFIG`], [`GOOSE_FOLDER`] or [`XDG_CONFIG`].
pub(super) type ScopePlaces = &'static [(EntryScope, &'static str)];

pub(super) const CONFIG_FOLDER: &str = "CONFIG";
/// As [`CONFIG_FOLDER`], but `~/.config` on macOS, too.
pub(super) const DOT_CONFIG: &str = ".CONFIG";
/// The folder of Goose, which on Windows is of its maker's name (<https://block.github.io/goose/docs/guides/config-files>).
pub(super) const GOOSE_FOLDER: &str = "GOOSE";
pub(super) const XDG_CONFIG: &str = "XDG";

/// The place of a scope; `None` where there is no file for it.
pub(super) fn place_of(files: ScopePlaces, scope: EntryScope) -> Option<&'static str> {
    files.iter().find(|(own, _)| *own == scope).map(|(_, place)| *place)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json(&'static [&'static str]),
    Toml(&'static str),
    /// As members of the mapping with this key, which is only printed: nothing here writes YAML.
    Yaml(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryScope {
    User,
    /// Everyone who has the project: the file is shared.
    Project,
    Local,
}

impl EntryScope {
    pub(super) fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// The directory that is offered where a client is set up for every project and no directory is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenProject {
    CurrentDirectory,
    Here,
    /// The client has no open project: a directory is needed.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct OwnTools {
    /// The file of each scope that turns them off; the first scope is the default then.
    pub(super) files: ScopePlaces,
    pub(super) list: ToolList,
    pub(super) names: &'static [&'static str],
    /// The loss to a person who turns them off, and the tools that stay.
    pub(super) effect: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ToolList {
    Json(&'static [&'static str]),
    /// By a rule in a TOML file of the person, which is for every project.
    Policy,
    /// By leaving them out of the list with this key at the top of a YAML file.
    Yaml(&'static str),
}

/// A client as most are: its rows name only what is different.
const USUAL_CLIENT: Client = Client {
    id: "",
    title: "",
    format: Json(&["mcpServers"]),
    head: r#"{"type": "stdio"}"#,
    tail: "{}",
    one_list: false,
    files: &[],
    starts_in: ("an unknown folder", "not tried"),
    open_project: OpenProject::Unknown,
    project_folder: ".",
    own_tools: Err("it has none"),
    hooks: &[],
    approval: "none",
    project_approval: "",
    check: "",
};

const CLAUDE_JSON: &str = "$CLAUDE_CONFIG_DIR/.claude.json|~/.claude.json";
const CLAUDE_SETTINGS: ScopePlaces = &[
    (Local, "./.claude/settings.local.json"),
    (User, "$CLAUDE_CONFIG_DIR/settings.json|~/.claude/settings.json"),
    (Project, "./.claude/settings.json"),
];
const DEERFLOW_PATHS: &str = "$DEER_FLOW_EXTENSIONS_CONFIG_PATH|$DEER_FLOW_PROJECT_ROOT/extensions_config.json|\
     ./extensions_config.json|./mcp_config.json";

const VSCODE_CLIENT: Client = Client {
    id: "vscode",
    title: "VS Code",
    format: Json(&["servers"]),
    files: &[(Project, "./.vscode/mcp.json"), (User, "CONFIG/Code/User/mcp.json")],
    starts_in: ("the project; home for --scope user", "source: <https://github.com/microsoft/vscode>"),
    // The variable is resolved in the file of a project only: https://github.com/microsoft/vscode/issues/245905
    open_project: OpenProject::Here,
    project_folder: "${workspaceFolder}",
    own_tools: Err("turn them off in the tool picker of the chat"),
    approval: "run \"MCP: List Servers\" from the command palette and start it; VS Code asks once whether you trust the \
               server",
    check: "\"MCP: List Servers\" shows it as running",
    ..USUAL_CLIENT
};

/// Every client, in the order of the documentation.
pub(super) const CLIENT_ROWS: &[Client] = &[
    Client {
        id: "claude-desktop",
        title: "Claude Desktop",
        head: "{}",
        files: &[(User, "CONFIG/Claude/claude_desktop_config.json")],
        starts_in: ("any folder, such as `/` on macOS", "<https://modelcontextprotocol.io/docs/tools/debugging>"),
        approval: "quit Claude Desktop completely and start it again; it asks before it uses a tool for the first time",
        check: "Settings > Developer shows the server as running",
        ..USUAL_CLIENT
    },
    Client {
        id: "claude-code",
        title: "Claude Code",
        // Without it the tools come after a search, which a model may never make; with it Claude Code waits for the server.
        tail: r#"{"alwaysLoad": true}"#,
        files: &[(User, CLAUDE_JSON), (Project, "./.mcp.json"), (Local, CLAUDE_JSON)],
        starts_in: ("the folder that `claude` is started in", "tried with 2.1.332"),
        open_project: OpenProject::CurrentDirectory,
        own_tools: Ok(OwnTools {
            files: CLAUDE_SETTINGS,
            list: ToolList::Json(&["permissions", "deny"]),
            names: &["Read", "Edit", "Write", "NotebookEdit", "Glob", "Grep"],
            effect: "hooks on `Edit|Write` and /rewind work no more, as they know only Claude Code's own tools; its shell's \
                     `cat`, `sed` and `grep` stay",
        }),
        hooks: CLAUDE_SETTINGS,
        approval: "start `claude` again; it asks before it uses a tool, until you allow mcp__NAME",
        project_approval: "each person starts `claude` in the project once and approves the server when it asks",
        check: "claude mcp list",
        ..USUAL_CLIENT
    },
    VSCODE_CLIENT,
    Client {
        id: "vscode-insiders",
        title: "VS Code Insiders",
        files: &[(Project, "./.vscode/mcp.json"), (User, "CONFIG/Code - Insiders/User/mcp.json")],
        ..VSCODE_CLIENT
    },
    Client {
        id: "cursor",
        title: "Cursor",
        files: &[(User, "~/.cursor/mcp.json"), (Project, "./.cursor/mcp.json")],
        starts_in: ("the home directory", "<https://github.com/vectorize-io/hindsight/issues/4530>"),
        project_folder: "${workspaceFolder}",
        own_tools: Err("it cannot turn them off"),
        approval: "switch the server on in Settings > Tools & MCP; Cursor asks before it uses a tool",
        project_approval: "each person switches the server on in Settings > Tools & MCP; Cursor asks before it uses a tool",
        check: "Settings > Tools & MCP lists its tools",
        ..USUAL_CLIENT
    },
    Client {
        id: "zed",
        title: "Zed",
        format: Json(&["context_servers"]),
        head: "{}",
        tail: r#"{"env": {}}"#,
        files: &[(User, ".CONFIG/zed/settings.json"), (Project, "./.zed/settings.json")],
        starts_in: ("the project, earlier also `/`", "<https://github.com/zed-industries/zed/pull/61365>"),
        own_tools: Err("make a profile without them in the agent panel (agent: manage profiles)"),
        approval: "Zed reads the file at once and asks before it uses a tool",
        project_approval: "each person trusts the project when Zed asks",
        check: "the agent panel's settings show a green dot for the server",
        ..USUAL_CLIENT
    },
    Client {
        id: "codex",
        title: "Codex CLI",
        format: Toml("mcp_servers"),
        head: "{}",
        tail: r#"{"startup_timeout_sec": 20, "tool_timeout_sec": 60}"#,
        files: &[(User, "$CODEX_HOME/config.toml|~/.codex/config.toml"), (Project, "./.codex/config.toml")],
        starts_in: ("the folder of the session; `CODEX_HOME` to list its tools", "tried with 0.171.0"),
        open_project: OpenProject::CurrentDirectory,
        own_tools: Err("it reads files through its shell, which is confined by --sandbox"),
        hooks: &[(User, "$CODEX_HOME/hooks.json|~/.codex/hooks.json"), (Project, "./.codex/hooks.json")],
        approval: "start `codex` again; it asks before it uses a tool that changes files",
        project_approval: "each person trusts the project when `codex` asks",
        check: "codex mcp list",
        ..USUAL_CLIENT
    },
    Client {
        id: "gemini-cli",
        title: "Gemini CLI",
        head: "{}",
        tail: r#"{"timeout": 60000}"#,
        files: &[
            (User, "$GEMINI_CLI_HOME/.gemini/settings.json|~/.gemini/settings.json"),
            (Project, "./.gemini/settings.json"),
        ],
        starts_in: ("the folder that `gemini` is started in", "tried with 0.61.0"),
        open_project: OpenProject::CurrentDirectory,
        own_tools: Ok(OwnTools {
            files: &[(User, "$GEMINI_CLI_HOME/.gemini/policies/rootbound.toml|~/.gemini/policies/rootbound.toml")],
            list: ToolList::Policy,
            names: &["read_file", "read_many_files", "write_file", "replace", "glob", "grep_search", "list_directory"],
            effect: "this is for every project; its shell stays",
        }),
        approval: "start `gemini` in a folder that you trust (/permissions); it starts no server elsewhere",
        project_approval: "each person trusts the folder when `gemini` asks (/permissions)",
        check: "gemini mcp list",
        ..USUAL_CLIENT
    },
    Client {
        id: "deerflow",
        title: "DeerFlow",
        head: r#"{"enabled": true, "type": "stdio"}"#,
        // Without the first DeerFlow waits for a call without end: it has no default.
        tail: r#"{"tool_call_timeout": 60, "session_init_timeout": 60}"#,
        files: &[(User, DEERFLOW_PATHS)],
        starts_in: ("the workspace of the thread", "tried with its code of 2026-08"),
        open_project: OpenProject::CurrentDirectory,
        own_tools: Ok(OwnTools {
            files: &[(User, "$DEER_FLOW_CONFIG_PATH|$DEER_FLOW_PROJECT_ROOT/config.yaml|./config.yaml")],
            list: ToolList::Yaml("tools"),
            names: &["ls", "read_file", "glob", "grep", "write_file", "str_replace"],
            effect: "",
        }),
        approval: "none: DeerFlow reads the file again before the next run",
        check: "its settings page lists the server under Tools",
        ..USUAL_CLIENT
    },
    Client {
        id: "inspector",
        title: "MCP Inspector",
        files: &[(User, "$MCP_CATALOG_PATH|~/.mcp-inspector/mcp.json"), (Project, "./mcp.json")],
        starts_in: ("the folder that it is started in", "tried with 2.12.0"),
        open_project: OpenProject::Here,
        check: "npx @modelcontextprotocol/inspector --cli --config FILE --server NAME --method tools/list",
        ..USUAL_CLIENT
    },
    OPENCODE_CLIENT,
    Client {
        id: "kilo",
        title: "Kilo Code",
        files: &[(User, "XDG/kilo/kilo.json|XDG/kilo/kilo.jsonc"), (Project, "./kilo.json|./kilo.jsonc")],
        check: "kilo mcp list",
        ..OPENCODE_CLIENT
    },
    Client {
        id: "copilot-cli",
        title: "Copilot CLI",
        // Without the last its tools come after a search where there are more than 30. `.mcp.json` is Claude Code's, too.
        head: r#"{"type": "stdio"}"#,
        tail: r#"{"tools": ["*"], "deferTools": "never"}"#,
        files: &[(User, "$COPILOT_HOME/mcp-config.json|~/.copilot/mcp-config.json"), (Project, "./.mcp.json")],
        ..TERMINAL_CLIENT
    },
    Client {
        id: "qwen-code",
        title: "Qwen Code",
        // Without the last its tools come after a search.
        tail: r#"{"timeout": 60000, "alwaysLoadTools": true}"#,
        files: &[(User, "$QWEN_HOME/settings.json|~/.qwen/settings.json"), (Project, "./.qwen/settings.json")],
        ..TERMINAL_CLIENT
    },
    Client {
        id: "cline",
        title: "Cline",
        tail: r#"{"disabled": false, "timeout": 60}"#,
        files: &[(User, "$CLINE_MCP_SETTINGS_PATH|~/.cline/data/settings/cline_mcp_settings.json")],
        starts_in: ("any folder, such as `/`", "<https://github.com/cline/cline/issues/9950>"),
        ..EDITOR_CLIENT
    },
    Client {
        id: "roo",
        title: "Roo Code",
        files: &[
            (Project, "./.roo/mcp.json"),
            (User, "CONFIG/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"),
        ],
        starts_in: ("the first folder of the workspace", "source: <https://github.com/RooCodeInc/Roo-Code>"),
        open_project: OpenProject::CurrentDirectory,
        project_folder: "${workspaceFolder}",
        ..EDITOR_CLIENT
    },
    Client {
        id: "windsurf",
        title: "Windsurf",
        files: &[(User, "~/.codeium/windsurf/mcp_config.json")],
        ..EDITOR_CLIENT
    },
    Client {
        id: "kiro",
        title: "Kiro",
        files: &[(User, "~/.kiro/settings/mcp.json"), (Project, "./.kiro/settings/mcp.json")],
        starts_in: (
            "the project; Kiro's own folder for --scope user",
            "<https://github.com/kirodotdev/Kiro/issues/10486>",
        ),
        ..EDITOR_CLIENT
    },
    Client {
        id: "jetbrains",
        title: "JetBrains Junie",
        files: &[(User, "~/.junie/mcp/mcp.json")],
        approval: "switch it on in Settings > Tools > Junie > MCP Settings; AI Assistant takes the same JSON on its page",
        ..EDITOR_CLIENT
    },
    Client {
        id: "goose",
        title: "Goose",
        format: Yaml("extensions"),
        head: r#"{"enabled": true, "type": "stdio"}"#,
        tail: r#"{"envs": {}, "timeout": 300}"#,
        files: &[(User, "GOOSE/config.yaml")],
        starts_in: ("the folder of the session", "source: <https://github.com/block/goose>"),
        check: "`goose configure` lists it",
        ..TERMINAL_CLIENT
    },
    Client { id: "lm-studio", title: "LM Studio", files: &[(User, "~/.lmstudio/mcp.json")], ..EDITOR_CLIENT },
    Client {
        id: "amp",
        title: "Amp",
        // One key with a dot in it.
        format: Json(&["amp.mcpServers"]),
        files: &[
            (User, "~/.config/amp/settings.json|~/.config/amp/settings.jsonc"),
            (Project, "./.amp/settings.json|./.amp/settings.jsonc"),
        ],
        starts_in: ("the folder of the thread", "source: its program of September 2026"),
        project_approval: "each person runs `amp mcp approve NAME`",
        ..TERMINAL_CLIENT
    },
    Client { id: "other", title: "Any other client", files: &[(User, "")], ..EDITOR_CLIENT },
];

pub(super) const EDITOR_CLIENT: Client = Client {
    head: "{}",
    own_tools: Err("no file of it does so"),
    approval: "start the client again, or reload its servers",
    check: "its list of MCP servers shows the tools",
    ..USUAL_CLIENT
};

pub(super) const TERMINAL_CLIENT: Client = Client {
    starts_in: ("the folder that it is started in", "tried in November 2026"),
    open_project: OpenProject::CurrentDirectory,
    approval: "start it in the project, and trust the folder if it asks",
    check: "its command `mcp list`",
    ..EDITOR_CLIENT
};

const OPENCODE_CLIENT: Client = Client {
    id: "opencode",
    title: "opencode",
    format: Json(&["mcp"]),
    head: r#"{"type": "local"}"#,
    tail: r#"{"enabled": true, "timeout": 60000}"#,
    one_list: true,
    files: &[(User, "XDG/opencode/opencode.json|XDG/opencode/opencode.jsonc"), (Project, "./opencode.json")],
    check: "opencode mcp list",
    ..TERMINAL_CLIENT
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    Linux,
    Mac,
    Windows,
}

impl System {
    pub(super) fn this() -> Self {
        match () {
            () if cfg!(windows) => Self::Windows,
            () if cfg!(target_vendor = "apple") => Self::Mac,
            () => Self::Linux,
        }
    }
}

/// The folders of a person, and the current one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folders<'e> {
    pub(super) system: System,
    pub(super) environment: &'e Environment,
}

impl Folders<'_> {
    /// The path of a place.
    ///
    /// # Errors
    /// If the folder cannot be determined.
    pub(super) fn path(&self, place: &str) -> Result<PathBuf> {
        let mut found = Vec::new();
        for alternative in place.split('|') {
            let (folder, below) = alternative.split_once('/').unwrap_or((alternative, ""));
            if let Some(variable) = folder.strip_prefix('$') {
                if let Some(folder) = self.variable(variable) {
                    let folder = self.environment.directory.join(folder);
                    return Ok(if below.is_empty() { folder } else { folder.join(below) });
                }
            } else {
                found.push(below.split('/').fold(self.base(folder)?, |path, part| path.join(part)));
            }
        }
        let chosen = found.iter().position(|path| host_path_exists(path)).unwrap_or(0);
        Ok(found.swap_remove(chosen))
    }

    pub(super) fn repository(&self) -> &Path {
        let directory = &self.environment.directory;
        directory.ancestors().find(|folder| host_path_exists(&folder.join(".git"))).unwrap_or(directory)
    }

    pub(super) fn is_home(&self) -> bool {
        self.environment.home.as_deref() == Some(&self.environment.directory)
    }

    /// Whether there is a sign of a client: one of its files, or a folder for them.
    pub(super) fn has_signs_of(&self, place: &str) -> bool {
        let Ok(path) = self.path(place) else { return false };
        let own_folder =
            |folder: &&Path| Some(*folder) != self.environment.home.as_deref() && *folder != self.environment.directory;
        host_path_exists(&path) || path.parent().filter(own_folder).is_some_and(host_path_exists)
    }

    fn base(&self, folder: &str) -> Result<PathBuf> {
        let home = |below: &[&str]| {
            let home = self.environment.home.as_ref();
            let home = home.ok_or("the home directory cannot be determined: set HOME to an absolute path")?;
            Ok(below.iter().fold(home.clone(), |path, part| path.join(part)))
        };
        match (folder, self.system) {
            (".", _) if self.environment.directory.as_os_str().is_empty() => {
                refused("the current directory cannot be determined: change to the project")
            }
            (".", _) => Ok(self.environment.directory.clone()),
            ("", _) => refused("the file of this client is not known"),
            (CONFIG_FOLDER | DOT_CONFIG, System::Windows) => {
                self.variable("APPDATA").map_or_else(|| home(&["AppData", "Roaming"]), Ok)
            }
            (GOOSE_FOLDER, System::Windows) => Ok(self.base(CONFIG_FOLDER)?.join("Block").join("goose").join("config")),
            (GOOSE_FOLDER, _) => Ok(self.base(DOT_CONFIG)?.join("goose")),
            (CONFIG_FOLDER, System::Mac) => home(&["Library", "Application Support"]),
            (CONFIG_FOLDER | DOT_CONFIG | XDG_CONFIG, _) => {
                // A relative one is to be ignored (https://specifications.freedesktop.org/basedir-spec/latest/).
                let folder = self.variable("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
                folder.map_or_else(|| home(&[".config"]), Ok)
            }
            _ => home(&[]),
        }
    }

    fn variable(&self, name: &str) -> Option<PathBuf> {
        self.environment.variable(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }
}

#[cfg(test)]
mod tests {
    use crate::config::SETUP_CLIENTS;

    use super::*;

    #[test]
    fn rows_are_the_clients_of_the_command_line() {
        assert!(CLIENT_ROWS.iter().map(|client| client.id).eq(SETUP_CLIENTS.split(' ')));
    }

    #[test]
    fn members_of_rows_are_json_objects_and_texts_are_complete() {
        for client in CLIENT_ROWS {
            for text in [client.head, client.tail] {
                let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
                assert!(value.is_object(), "{}: {text}", client.id);
            }
            let shared = client.files.iter().any(|(scope, _)| *scope == Project);
            assert!(!client.approval.is_empty() && !client.check.is_empty(), "{}", client.id);
            assert!(!client.starts_in.0.is_empty() && !client.starts_in.1.is_empty(), "{}", client.id);
            assert!(shared || client.project_approval.is_empty(), "{}", client.id);
            assert!(!client.project_folder.is_empty(), "{}", client.id);
        }
    }
}
