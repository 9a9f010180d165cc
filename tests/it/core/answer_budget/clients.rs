//! What each client does with a result, as its own code has it, and whether the model then sees all of it.

use std::path::Path;

use serde_json::{Value, json};
use text_file::estimated_tokens;

use crate::harness::{Harness, Setup};

/// A client as its server sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client {
    pub(super) name: &'static str,
    /// The name of the directory that it is offered.
    pub(super) mount: Option<&'static str>,
    /// What is too large of a result, or nothing. The folder is the directory that it is offered.
    pub(super) too_large: fn(&Value, &Path) -> Option<String>,
}

/// The clients with a budget, and one that nothing is known of.
pub(super) const CLIENTS: &[Client] = &[
    Client { name: "codex-mcp-client", mount: None, too_large: codex },
    Client { name: "claude-code", mount: None, too_large: claude_code },
    Client { name: "claude-ai", mount: Some("app"), too_large: claude_desktop },
    Client { name: "gemini-cli-mcp-client", mount: None, too_large: gemini },
    Client { name: "mcp", mount: Some("/mnt/user-data/workspace"), too_large: deerflow },
    Client { name: "opencode", mount: None, too_large: opencode },
    Client { name: "qwen-cli-mcp-client-files", mount: None, too_large: qwen },
    Client { name: "unheard-of", mount: Some("app"), too_large: unknown },
];

impl Client {
    /// A harness whose directory has the name that this client uses.
    pub(super) fn setup(self) -> Setup {
        let mut setup = Setup::default();
        setup.roots[0].0 = self.mount;
        setup.selection.groups.push(file_tools::Group::Manage);
        setup
    }

    /// The result of a call of this client, in the protocol without a handshake.
    pub(super) fn call(self, h: &Harness, tool: &str, arguments: &Value) -> Value {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": self.name, "version": "1.0" },
        });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        h.request("tools/call", params).unwrap_or_else(|error| panic!("{tool} {arguments}: {error}"))
    }
}

/// The texts of a result, in one.
pub(super) fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().expect("blocks");
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

/// What a client shows the model instead of the blocks, where it is there.
fn data(result: &Value) -> Option<String> {
    result.get("structuredContent").map(Value::to_string)
}

fn over(what: &str, size: usize, limit: usize) -> Option<String> {
    (size > limit).then(|| format!("{size} {what}, over {limit}"))
}

/// Text blocks become one JSON text below a line with the time (`codex-rs/protocol/src/models.rs`), which is cut at
/// 10,000 bytes.
fn codex(result: &Value, _: &Path) -> Option<String> {
    let shown = data(result).unwrap_or_else(|| result["content"].to_string());
    over("bytes of JSON", "Wall time: 12.3456 seconds\nOutput:\n".len() + shown.len(), 10_000)
}

fn claude_code(result: &Value, _: &Path) -> Option<String> {
    let shown = data(result).unwrap_or_else(|| text(result));
    over("UTF-16 units", shown.encode_utf16().count(), 50_000)
        .or_else(|| over("estimated tokens", estimated_tokens(&shown), 20_000))
}

fn claude_desktop(result: &Value, _: &Path) -> Option<String> {
    over("characters of the result", result.to_string().chars().count(), 1_048_575)
        .or_else(|| over("bytes of text", text(result).len(), 100_000))
}

fn gemini(result: &Value, _: &Path) -> Option<String> {
    over("UTF-16 units", text(result).encode_utf16().count(), 39_900)
}

fn opencode(result: &Value, _: &Path) -> Option<String> {
    let text = text(result);
    over("bytes", text.len(), 51_200).or_else(|| over("lines", text.split('\n').count(), 2_000))
}

fn qwen(result: &Value, _: &Path) -> Option<String> {
    let text = text(result);
    over("characters", text.chars().count(), 25_000).or_else(|| over("lines", text.split('\n').count(), 1_000))
}

fn unknown(result: &Value, _: &Path) -> Option<String> {
    over("bytes", text(result).len(), 40_000)
}

/// Relative paths of files in a text are made absolute before its characters are counted
/// (`backend/packages/harness/deerflow/mcp/tools.py`, `_rewrite_local_paths_in_text`).
fn deerflow(result: &Value, folder: &Path) -> Option<String> {
    let text = text(result);
    let ends = |character: char| character.is_whitespace() || "'\"<>|*?".contains(character);
    let is_name = |character: char| character.is_alphanumeric() || "_.-".contains(character);
    let mut grown = text.chars().count();
    for word in text.split(ends) {
        let Some(slash) = word.find('/') else { continue };
        let start = word[..slash].trim_end_matches(is_name).len();
        let path = word[start..].trim_end_matches([',', '.', ';', ':', '!', '?', ')', ']', '}', '`']);
        if !path.starts_with('/') && folder.join(path).is_file() {
            grown += "/mnt/user-data/workspace/".len();
        }
    }
    over("characters with paths rewritten", grown, 12_000)
}
