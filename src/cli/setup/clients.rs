//! The table of clients: one row each.

use super::client::{
    Base::{Config, DotConfig, Home, Project as InProject},
    Client,
    EntryScope::{Local, Project, User},
    FilePlace,
    Format::{Json, Toml},
    OpenProject,
    OwnTools::{ByHand, JsonList, Policy, YamlList},
};

const fn place(base: super::client::Base, names: &'static [&'static str]) -> FilePlace {
    FilePlace { variables: &[], base, names }
}

const fn named(variables: &'static [(&'static str, &'static str)], place: FilePlace) -> FilePlace {
    FilePlace { variables, ..place }
}

const CLAUDE_JSON: FilePlace = named(&[("CLAUDE_CONFIG_DIR", ".claude.json")], place(Home, &[".claude.json"]));
const GEMINI: FilePlace =
    named(&[("GEMINI_CLI_HOME", ".gemini/settings.json")], place(Home, &[".gemini/settings.json"]));
const GEMINI_PROJECT: FilePlace = place(InProject, &[".gemini/settings.json"]);

const VSCODE_APPROVAL: &str =
    "run \"MCP: List Servers\" from the command palette and start it; VS Code asks once whether you trust the server";
const VSCODE: Client = Client {
    id: "vscode",
    title: "VS Code",
    format: Json(&["servers"]),
    head: r#"{"type": "stdio"}"#,
    tail: "{}",
    files: &[(Project, place(InProject, &[".vscode/mcp.json"])), (User, place(Config, &["Code/User/mcp.json"]))],
    // The variable is resolved in the file of a project only: https://github.com/microsoft/vscode/issues/245905
    open_project: OpenProject::Here,
    project_folder: "${workspaceFolder}",
    own_tools: ByHand("turn them off in the tool picker of the chat"),
    approval: VSCODE_APPROVAL,
    project_approval: VSCODE_APPROVAL,
    check: "\"MCP: List Servers\" shows it as running",
};

/// Every client, in the order of the documentation.
pub(super) const CLIENTS: &[Client] = &[
    Client {
        id: "claude-desktop",
        title: "Claude Desktop",
        format: Json(&["mcpServers"]),
        head: "{}",
        tail: "{}",
        files: &[(User, place(Config, &["Claude/claude_desktop_config.json"]))],
        open_project: OpenProject::Unknown,
        project_folder: "",
        own_tools: ByHand("it has none"),
        approval: "quit Claude Desktop completely and start it again; it asks before it uses a tool for the first time",
        project_approval: "",
        check: "Settings > Developer shows the server as running",
    },
    Client {
        id: "claude-code",
        title: "Claude Code",
        format: Json(&["mcpServers"]),
        head: r#"{"type": "stdio"}"#,
        tail: "{}",
        files: &[(User, CLAUDE_JSON), (Project, place(InProject, &[".mcp.json"])), (Local, CLAUDE_JSON)],
        open_project: OpenProject::CurrentDirectory,
        project_folder: ".",
        own_tools: JsonList {
            files: &[
                (Local, place(InProject, &[".claude/settings.local.json"])),
                (User, named(&[("CLAUDE_CONFIG_DIR", "settings.json")], place(Home, &[".claude/settings.json"]))),
                (Project, place(InProject, &[".claude/settings.json"])),
            ],
            path: &["permissions", "deny"],
            names: &["Read", "Edit", "Write", "NotebookEdit", "Glob", "Grep"],
            effect: "hooks on `Edit|Write` and /rewind work no more, as they know only Claude Code's own tools; its shell's \
                     `cat`, `sed` and `grep` stay",
        },
        approval: "start `claude` again; it asks before it uses a tool, until you allow mcp__NAME",
        project_approval: "each person starts `claude` in the project once and approves the server when it asks",
        check: "claude mcp list",
    },
    VSCODE,
    Client {
        id: "vscode-insiders",
        title: "VS Code Insiders",
        files: &[
            (Project, place(InProject, &[".vscode/mcp.json"])),
            (User, place(Config, &["Code - Insiders/User/mcp.json"])),
        ],
        ..VSCODE
    },
    Client {
        id: "cursor",
        title: "Cursor",
        format: Json(&["mcpServers"]),
        head: r#"{"type": "stdio"}"#,
        tail: "{}",
        files: &[(User, place(Home, &[".cursor/mcp.json"])), (Project, place(InProject, &[".cursor/mcp.json"]))],
        open_project: OpenProject::Unknown,
        project_folder: "${workspaceFolder}",
        own_tools: ByHand("it cannot turn them off"),
        approval: "switch the server on in Settings > Tools & MCP; Cursor asks before it uses a tool",
        project_approval: "each person switches the server on in Settings > Tools & MCP; Cursor asks before it uses a tool",
        check: "Settings > Tools & MCP lists its tools",
    },
    Client {
        id: "zed",
        title: "Zed",
        format: Json(&["context_servers"]),
        head: "{}",
        tail: r#"{"env": {}}"#,
        files: &[
            (User, place(DotConfig, &["zed/settings.json"])),
            (Project, place(InProject, &[".zed/settings.json"])),
        ],
        open_project: OpenProject::Unknown,
        project_folder: ".",
        own_tools: ByHand("make a profile without them in the agent panel (agent: manage profiles)"),
        approval: "Zed reads the file at once and asks before it uses a tool",
        project_approval: "each person trusts the project when Zed asks",
        check: "the agent panel's settings show a green dot for the server",
    },
    Client {
        id: "codex",
        title: "Codex CLI",
        format: Toml("mcp_servers"),
        head: "{}",
        tail: r#"{"startup_timeout_sec": 20, "tool_timeout_sec": 60}"#,
        files: &[
            (User, named(&[("CODEX_HOME", "config.toml")], place(Home, &[".codex/config.toml"]))),
            (Project, place(InProject, &[".codex/config.toml"])),
        ],
        open_project: OpenProject::CurrentDirectory,
        project_folder: ".",
        own_tools: ByHand("it reads files through its shell, which is confined by --sandbox"),
        approval: "start `codex` again; it asks before it uses a tool that changes files",
        project_approval: "each person trusts the project when `codex` asks",
        check: "codex mcp list",
    },
    Client {
        id: "gemini-cli",
        title: "Gemini CLI",
        format: Json(&["mcpServers"]),
        head: "{}",
        tail: r#"{"timeout": 60000}"#,
        files: &[(User, GEMINI), (Project, GEMINI_PROJECT)],
        open_project: OpenProject::CurrentDirectory,
        project_folder: ".",
        own_tools: Policy {
            file: named(
                &[("GEMINI_CLI_HOME", ".gemini/policies/rootbound.toml")],
                place(Home, &[".gemini/policies/rootbound.toml"]),
            ),
            names: &["read_file", "read_many_files", "write_file", "replace", "glob", "grep_search", "list_directory"],
        },
        approval: "start `gemini` in a folder that you trust (/permissions); it starts no server elsewhere",
        project_approval: "each person trusts the folder when `gemini` asks (/permissions)",
        check: "gemini mcp list",
    },
    Client {
        id: "deerflow",
        title: "DeerFlow",
        format: Json(&["mcpServers"]),
        head: r#"{"enabled": true, "type": "stdio"}"#,
        tail: r#"{"tool_call_timeout": 60, "session_init_timeout": 60}"#,
        files: &[(
            User,
            named(
                &[("DEER_FLOW_EXTENSIONS_CONFIG_PATH", ""), ("DEER_FLOW_PROJECT_ROOT", "extensions_config.json")],
                place(InProject, &["extensions_config.json", "mcp_config.json"]),
            ),
        )],
        open_project: OpenProject::CurrentDirectory,
        project_folder: "",
        own_tools: YamlList {
            file: named(
                &[("DEER_FLOW_CONFIG_PATH", ""), ("DEER_FLOW_PROJECT_ROOT", "config.yaml")],
                place(InProject, &["config.yaml"]),
            ),
            key: "tools",
            names: &["ls", "read_file", "glob", "grep", "write_file", "str_replace"],
        },
        approval: "none: DeerFlow reads the file again before the next run",
        project_approval: "",
        check: "its settings page lists the server under Tools",
    },
    Client {
        id: "inspector",
        title: "MCP Inspector",
        format: Json(&["mcpServers"]),
        head: r#"{"type": "stdio"}"#,
        tail: "{}",
        files: &[
            (User, named(&[("MCP_CATALOG_PATH", "")], place(Home, &[".mcp-inspector/mcp.json"]))),
            (Project, place(InProject, &["mcp.json"])),
        ],
        open_project: OpenProject::Here,
        project_folder: ".",
        own_tools: ByHand("it has none"),
        approval: "none",
        project_approval: "none",
        check: "npx @modelcontextprotocol/inspector --cli --config FILE --server NAME --method tools/list",
    },
];

#[cfg(test)]
mod tests {
    use crate::config::SETUP_CLIENTS;

    use super::*;

    #[test]
    fn rows_are_the_clients_of_the_command_line() {
        assert!(CLIENTS.iter().map(|client| client.id).eq(SETUP_CLIENTS.split(' ')));
    }

    #[test]
    fn members_of_rows_are_json_objects_and_texts_are_complete() {
        for client in CLIENTS {
            for text in [client.head, client.tail] {
                let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
                assert!(value.is_object(), "{}: {text}", client.id);
            }
            let shared = client.files.iter().any(|(scope, _)| *scope == Project);
            assert!(!client.approval.is_empty() && !client.check.is_empty(), "{}", client.id);
            assert_eq!(
                shared,
                !client.project_approval.is_empty() && !client.project_folder.is_empty(),
                "{}",
                client.id
            );
        }
    }
}
