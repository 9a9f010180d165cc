//! The hook of a client that names the state before each prompt, for `rootbound history restore --to last-prompt`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::config::{SetupRequest, suggestion::quoted_for_unix};

use super::{
    clients::{Client, EntryScope, Folders, System, place_of},
    entry::{ServerEntry, names_program},
    error::{Result, refused},
    json_document,
    records::Created,
};

/// The end of its command. The client adds what a hook prints to the prompt, and drops the prompt if it ends with 2; the
/// prompt itself is what the hook could read.
const CHECKPOINT_COMMAND: &str = " history checkpoint last-prompt </dev/null >/dev/null 2>&1 || true";
const PROMPT_HOOKS: &[&str] = &["hooks", "UserPromptSubmit"];

/// The file that lists the hooks.
///
/// # Errors
/// If the client has no such hook.
pub(super) fn file(client: &Client, scope: EntryScope, folders: &Folders<'_>) -> Result<PathBuf> {
    if client.id == "codex" && folders.system == System::Windows {
        return refused("--hooks of Codex needs a shell of Unix, which it has not on Windows: leave it out");
    }
    let place = place_of(client.hooks, scope);
    folders.path(place.ok_or_else(|| format!("--hooks is for claude-code and codex: leave it out for {}", client.id))?)
}

/// The command of the hook for an entry: its start in a shell of Unix. Claude Code has Git Bash on Windows; Codex takes the
/// person's own shell (fish has no `${…:-.}`), in the folder of the session.
///
/// # Errors
/// For a start by `npx` or the like: it prefers a program in the project, so that a model could have its own run.
pub(super) fn command(
    client: &Client,
    scope: EntryScope,
    entry: &ServerEntry,
    request: &SetupRequest,
) -> Result<String> {
    let words = entry.argv();
    if !names_program(&words[0]) {
        let why = "--hooks is for an installed program: npx and uvx may start one that an agent wrote into the project";
        return refused(format!("{why}; install rootbound, and run its own `setup {}`", client.id));
    }
    let project = if client.id == "codex" { "." } else { r#""${CLAUDE_PROJECT_DIR:-.}""# };
    let is_named = scope == EntryScope::Project || !request.directories.is_empty();
    let options = words.len() - if is_named { request.directories.len().max(1) } else { 0 };
    let word = |(index, word): (usize, &String)| match word.strip_prefix('.').filter(|_| index >= options) {
        Some("") => project.to_owned(),
        Some(below) if below.starts_with('/') => format!("{project}{}", quoted_for_unix(below)),
        _ => quoted_for_unix(word),
    };
    let start = words.iter().enumerate().map(word).chain((!is_named).then(|| project.to_owned()));
    Ok(start.collect::<Vec<_>>().join(" ") + CHECKPOINT_COMMAND)
}

fn hook(command: &str) -> Value {
    json!({"hooks": [{"type": "command", "command": command, "timeout": 10}]})
}

/// Adds the hook with this command to `text`, in place of the `earlier` one, and what was made for it to `made`.
pub(super) fn on(text: &str, command: &str, earlier: &str, made: &mut Created) -> Result<String> {
    let there = json_document::value_at(text, PROMPT_HOOKS)?;
    if there.as_ref().and_then(Value::as_array).is_some_and(|all| all.contains(&hook(command))) {
        return Ok(text.to_owned());
    }
    let (text, containers) = json_document::add(&off(text, earlier, 0)?, PROMPT_HOOKS, &[hook(command)])?;
    made.containers += containers;
    Ok(text)
}

/// Takes the hook with this command out of `text`, and up to `made` containers that hold nothing else. One that a person
/// has changed, or added another to, stays.
pub(super) fn off(text: &str, command: &str, made: usize) -> Result<String> {
    json_document::remove(text, PROMPT_HOOKS, Some(&hook(command)), made)
}
