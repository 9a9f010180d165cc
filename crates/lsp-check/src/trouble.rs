//! The trouble of a server in its own words: why it checks nothing, and which setting lets it read what it was refused.

use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use serde_json::value::RawValue;

use confined_fs::{Workspace, escape::escape_controls};
use self_sandbox::{LET_READ, is_always_readable};

use super::{LanguageServer, protocol::parsed};

/// Characters of its words that are kept.
const MAX_WORDS: usize = 2000;
const MAX_DENIED: usize = 8;
/// Folders of the home directory in which each program has a folder of its own.
const SHARED_FOLDERS: &[&str] = &[".cache", ".config", ".local"];

/// The complaints of one server, each of at most [`MAX_WORDS`] characters.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    /// The message to a state that is not `ok`, and whether it is `error`.
    health: Option<(String, bool)>,
    last_error: Option<String>,
    /// Paths that it was refused, the last one at the end.
    denied: Vec<PathBuf>,
    /// The folders that it is installed in and may not read, as `read` has them.
    installed_in: Vec<String>,
}

impl Trouble {
    pub(super) fn status(&mut self, health: Option<&str>, message: Option<&str>) {
        let Some(health) = health else { return };
        self.health = (health != "ok").then(|| {
            let message = message.unwrap_or("it reports a problem without a message");
            self.deny(message);
            (cut(message), health == "error")
        });
    }

    /// A message to the person, or to the log; or the error of an answer.
    pub(super) fn message(&mut self, params: &RawValue) {
        let params = parsed(params);
        let Some(message) = params["message"].as_str() else { return };
        self.deny(message);
        // MessageType.Error; an error of an answer has none.
        if params["type"].as_u64().is_none_or(|kind| kind == 1) {
            self.last_error = Some(cut(message));
        }
    }

    pub(super) fn last_words(&mut self, text: &str) {
        self.deny(text);
        let options = text.lines().find_map(|line| line.split_once(LET_READ));
        let folders = options.into_iter().flat_map(|(_, options)| options.split("--read "));
        self.installed_in =
            folders.map(|one| one.trim().trim_matches('\'').to_owned()).filter(|one| !one.is_empty()).collect();
        let mut lines = text.lines().rev().map(str::trim);
        if let Some(line) = lines.find(|line| !line.is_empty() && !line.contains(LET_READ)) {
            self.last_error = Some(cut(line));
        }
    }

    /// Keeps the path that a text says was refused.
    fn deny(&mut self, text: &str) {
        if let Some(path) =
            denied_path(text).filter(|path| !self.denied.contains(path) && self.denied.len() < MAX_DENIED)
        {
            self.denied.push(path);
        }
    }

    pub(super) fn refusal(&self) -> Option<&str> {
        self.last_error.as_deref()?.strip_prefix("rootbound: ")
    }

    pub(super) fn is_broken(&self) -> bool {
        self.health.as_ref().is_some_and(|(_, is_error)| *is_error)
    }

    pub(super) fn health(&self) -> Option<&str> {
        self.health.as_ref().map(|(message, _)| message.as_str())
    }

    pub(super) fn why(&self) -> Option<&str> {
        self.last_error.as_deref().or(self.health())
    }

    /// The setting that allows it to open what it was refused; empty where that is not known. Only a person is shown the folders: they are paths of the host.
    pub(super) fn remedy(
        &self,
        workspace: &Workspace,
        server: &LanguageServer,
        home: Option<&Path>,
        is_for_person: bool,
    ) -> String {
        let table = format!("[lsp.{}]", server.name);
        let is_in_root = |denied: &&PathBuf| workspace.roots().iter().any(|root| denied.starts_with(root.host()));
        let (inside, outside): (Vec<_>, Vec<_>) = self.denied.iter().partition(is_in_root);
        let is_allowed = |denied: &Path| server.program.readable.iter().any(|readable| denied.starts_with(readable));
        let mut folders = self.installed_in.clone();
        folders.extend(outside.into_iter().filter(|denied| !is_allowed(denied)).map(|denied| folder_of(denied, home)));
        if folders.is_empty() {
            let name = inside.last().filter(|_| !server.program.may_write).and_then(|denied| denied.file_name());
            return name.map_or_else(String::new, |name| {
                format!(
                    "; it may not write {}: add `write = true` to {table}",
                    escape_controls(&name.to_string_lossy())
                )
            });
        }
        if !is_for_person {
            return format!("; it may not read all that it needs: the user has to add folders to `read` of {table}");
        }
        // The whole list, to be pasted: one folder a time would be found at each start.
        let known = server.program.readable.iter().map(|path| with_tilde(Path::new(path), home));
        let mut listed: Vec<String> = known.chain(folders.iter().cloned()).collect();
        listed.sort();
        listed.dedup_by(|later, earlier| Path::new(later).starts_with(&*earlier));
        folders.retain(|folder| listed.contains(folder));
        folders.dedup();
        let (named, listed) = (folders.join(" and "), listed.join("\", \""));
        let (named, listed) = (escape_controls(&named), escape_controls(&listed));
        format!("; it may not read {named}: write `read = [\"{listed}\"]` in {table}")
    }
}

/// A path as a person writes it in a configuration file: in TOML a backslash begins an escape.
fn with_tilde(path: &Path, home: Option<&Path>) -> String {
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    let shown = below.map_or_else(|| path.to_owned(), |below| Path::new("~").join(below));
    shown.display().to_string().replace(MAIN_SEPARATOR, "/")
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_WORDS).collect()
}

/// The path that a text says was refused: in the line that says so, else the last one before.
fn denied_path(text: &str) -> Option<PathBuf> {
    let lower = text.to_ascii_lowercase();
    // Lower case in ASCII has the same length, so that a place in it is one in `text`.
    let at = ["permission denied", "os error 13", "eacces"].iter().filter_map(|words| lower.find(words)).min()?;
    let line_start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line_end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    paths(&text[line_start..line_end]).pop().or_else(|| paths(&text[..line_start]).pop())
}

fn paths(text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        if first == '/' && !before.is_alphanumeric() && !"./_-~".contains(before) {
            let end = if "'\"`".contains(before) { rest.find(before) } else { None };
            let end = end.or_else(|| rest.find(|one: char| one.is_whitespace() || "'\"`,:;()".contains(one)));
            length = end.unwrap_or(rest.len());
            let path = PathBuf::from(rest[..length].trim_end_matches('.'));
            if path.components().count() > 2 && !is_always_readable(&path) {
                found.push(path);
            }
        }
        before = first;
        rest = &rest[length..];
    }
    found
}

/// The folder that `read` has to name so that a file can be read, as a person would write it: that of the program that
/// it belongs to.
fn folder_of(file: &Path, home: Option<&Path>) -> String {
    // With `/` for a home, as a container may have it, every file would be below it.
    let home = home.filter(|home| home.parent().is_some());
    let Some(below) = home.and_then(|home| file.strip_prefix(home).ok()) else {
        // Below `/home`, two names would be all that a user has.
        let most = if file.starts_with("/home") { 3 } else { 2 };
        let names = file.components().count().saturating_sub(2).clamp(1, most);
        let folder: PathBuf = file.components().take(1 + names).collect();
        return with_tilde(&folder, None);
    };
    let names: Vec<_> = below.iter().collect();
    let first = names.first().and_then(|name| name.to_str()).unwrap_or_default();
    let take = match first {
        // The program is the third name, as in `.local/share/NAME`.
        ".local" => 3,
        shared if SHARED_FOLDERS.contains(&shared) => 2,
        hidden if hidden.starts_with('.') => 1,
        _ => names.len().saturating_sub(1).max(1),
    };
    names.into_iter().take(take).fold("~".to_owned(), |path, name| path + "/" + &name.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_path_is_found_in_what_programs_write() {
        for (text, expected) in [
            (
                "error: could not read '/home/me/.rustup/settings.toml': Permission denied (os error 13)",
                Some("/home/me/.rustup/settings.toml"),
            ),
            ("Error: EACCES: permission denied, open '/home/me/my lib/x.js'", Some("/home/me/my lib/x.js")),
            ("/bin/sh: 1: /opt/tools/bin/x: Permission denied", Some("/opt/tools/bin/x")),
            (
                "failed to read `/home/me/.cargo/config.toml`\n\nCaused by:\n  Permission denied (os error 13)",
                Some("/home/me/.cargo/config.toml"),
            ),
            ("env: 'node': Permission denied", None),
            ("there is no /home/me/.rustup/settings.toml", None),
            ("", None),
        ] {
            assert_eq!(denied_path(text).as_deref(), expected.map(Path::new), "{text}");
        }
    }

    #[test]
    fn folders_that_a_program_is_installed_in_are_known_by_its_first_line() {
        let mut trouble = Trouble::default();
        trouble.last_words(&format!(
            "rootbound: x is installed elsewhere; {LET_READ}--read ~/.x --read '/my tools/y'\nno"
        ));
        assert_eq!((trouble.installed_in.join(" + "), trouble.why()), ("~/.x + /my tools/y".to_owned(), Some("no")));
        trouble.last_words(&format!("rootbound: x; {LET_READ}--read ~/.x"));
        assert_eq!(trouble.why(), Some("no"), "that line is not its own");
    }

    #[test]
    fn folder_of_a_program_is_proposed_and_never_the_home_directory() {
        let home = Some(Path::new("/home/me"));
        for (file, expected) in [
            ("/home/me/.rustup/settings.toml", "~/.rustup"),
            ("/home/me/.local/share/pnpm/x/y.js", "~/.local/share/pnpm"),
            ("/home/me/.config/gh/x", "~/.config/gh"),
            ("/home/me/tools/node/lib/x.js", "~/tools/node/lib"),
            ("/home/me/x.js", "~/x.js"),
            ("/opt/node/lib/x/y.js", "/opt/node"),
            ("/opt/x.js", "/opt"),
        ] {
            assert_eq!(folder_of(Path::new(file), home), expected, "{file}");
        }
        assert_eq!(folder_of(Path::new("/root/.x/y"), Some(Path::new("/"))), "/root/.x");
    }
}
