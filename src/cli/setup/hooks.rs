//! The hook of a client that names the state before each prompt, for `rootbound history restore --to last-prompt`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::config::{SetupRequest, suggestion::quoted_for_unix};

use super::{
    clients::{Client, EntryScope, place_of},
    entry::ServerEntry,
    folders::Folders,
    json_document::{self, at},
    records::Made,
};

/// The end of its command. The client adds what a hook prints to the prompt, and drops the prompt if it ends with 2.
const CHECKPOINT: &str = " history checkpoint last-prompt >/dev/null 2>&1 || true";
/// The hooks that run before a prompt.
const LIST: &[&str] = &["hooks", "UserPromptSubmit"];
/// The folder in which a server without directories works; Codex has no variable, and starts hooks in that folder.
const PROJECT: &str = r#""${CLAUDE_PROJECT_DIR:-.}""#;

/// The file that lists the hooks.
///
/// # Errors
/// If the client has no such hook.
pub(super) fn file(client: &Client, scope: EntryScope, folders: &Folders<'_>) -> Result<PathBuf, String> {
    let place = place_of(client.hooks, scope);
    folders.path(place.ok_or_else(|| format!("--hooks is for claude-code and codex: leave it out for {}", client.id))?)
}

/// The hook for an entry: its start in `sh`, on every system, with the command that names the state.
pub(super) fn hook(scope: EntryScope, entry: &ServerEntry, request: &SetupRequest) -> Value {
    let word = |word: String| match word.strip_prefix('.') {
        Some(below) if below.is_empty() || below.starts_with('/') => format!("{PROJECT}{}", quoted_for_unix(below)),
        _ => quoted_for_unix(&word),
    };
    let is_unnamed = request.directories.is_empty() && scope != EntryScope::Project;
    let project = is_unnamed.then(|| PROJECT.to_owned());
    let start = entry.words().into_iter().map(word).chain(project).collect::<Vec<_>>().join(" ");
    json!({"hooks": [{"type": "command", "command": start + CHECKPOINT, "timeout": 10}]})
}

/// Adds the hook to `text`, in place of an earlier one, and what was made for it to `made`.
pub(super) fn on(text: &str, hook: &Value, made: &mut Made) -> Result<String, String> {
    if of(text)? == std::slice::from_ref(hook) {
        return Ok(text.to_owned());
    }
    let (text, containers) = json_document::add(&off(text, 0)?, LIST, hook)?;
    made.containers += containers;
    Ok(text)
}

/// Takes the hook out of `text`, and up to `made` containers that hold nothing else.
pub(super) fn off(text: &str, made: usize) -> Result<String, String> {
    of(text)?.iter().try_fold(text.to_owned(), |text, hook| json_document::remove(&text, LIST, Some(hook), made))
}

/// The hooks in `text` that name the state.
fn of(text: &str) -> Result<Vec<Value>, String> {
    if !text.contains(CHECKPOINT) {
        return Ok(Vec::new());
    }
    let document = json_document::value(text)?;
    let all = at(&document, LIST).and_then(Value::as_array).into_iter().flatten();
    Ok(all.filter(|hook| hook.to_string().contains(CHECKPOINT)).cloned().collect())
}
