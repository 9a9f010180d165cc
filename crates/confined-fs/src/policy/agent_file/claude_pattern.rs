//! Patterns in the rules of Claude Code, as gitignore patterns: <https://code.claude.com/docs/en/permissions>.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use ignore::gitignore::GitignoreBuilder;

/// The place that a pattern is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// The top of the root that has the file.
    Top,
    /// `/` of the host.
    Host,
}

/// Translates the brackets of a `Read` or `Edit` rule of Claude Code.
pub(super) fn patterns(pattern: &str, homes: &[PathBuf]) -> Result<Vec<(Start, String)>, String> {
    let found: Vec<(Start, String)> = if pattern.starts_with("//") {
        vec![(Start::Host, format!("/{}", pattern.trim_start_matches('/')))]
    } else if pattern == "~" || pattern.starts_with("~/") {
        let below = &pattern[1..];
        let at = |home: &PathBuf| (Start::Host, format!("{}{below}", escaped(&names_of(home))));
        homes.iter().map(at).collect()
    } else if pattern.starts_with('!') {
        return Err("negation is not used in rules".to_owned());
    } else {
        // `./x` is `x`: as in a .gitignore, a name without a slash is one at any depth.
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        let pattern = if pattern.is_empty() || pattern == "." { "**" } else { pattern };
        let escaped = if pattern.starts_with(['#', '!']) { format!("\\{pattern}") } else { pattern.to_owned() };
        vec![(Start::Top, escaped)]
    };
    if found.is_empty() {
        return Err("there is no home directory".to_owned());
    }
    for (_, pattern) in &found {
        if pattern.split('/').any(|name| name == "..") {
            return Err("`..` leads out of the directory".to_owned());
        }
        check(pattern)?;
    }
    Ok(found)
}

/// Whether a line can be compiled.
pub(super) fn check(line: &str) -> Result<(), String> {
    GitignoreBuilder::new("").add_line(None, line).map(drop).map_err(|error| {
        let text = error.to_string();
        format!("no pattern: {}", text.lines().next().unwrap_or_default())
    })
}

/// The names of an absolute path, without its prefix and root.
pub(super) fn names_of(host: &Path) -> PathBuf {
    let drive = |prefix: &OsStr| -> PathBuf {
        let text = prefix.to_string_lossy();
        // `C:` and `\\?\C:` are the same drive.
        let letter = text.trim_end_matches(':').chars().next_back().unwrap_or_default();
        letter.to_lowercase().collect::<String>().into()
    };
    host.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(PathBuf::from(name)),
            Component::Prefix(prefix) => Some(drive(prefix.as_os_str())),
            Component::RootDir | Component::CurDir | Component::ParentDir => None,
        })
        .collect()
}

/// The pattern for exactly that path.
fn escaped(path: &Path) -> String {
    let mut out = String::new();
    for name in path {
        out.push('/');
        for character in name.to_string_lossy().chars() {
            if matches!(character, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | ' ') {
                out.push('\\');
            }
            out.push(character);
        }
    }
    out
}
