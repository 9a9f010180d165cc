//! Rules that people wrote for agents, as they apply below one root.

use std::path::{Path, PathBuf};
use std::{ffi::OsStr, iter, sync::Arc};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::fold::{fold, fold_characters};

#[derive(Clone, Debug)]
pub(crate) struct AgentRules {
    prefix: PathBuf,
    deny: Matchers,
    protect: Matchers,
}

impl AgentRules {
    pub(super) fn new(prefix: PathBuf, deny: Matchers, protect: Matchers) -> Self {
        Self { prefix, deny, protect }
    }

    /// The rule against the content at a path below the root, as text. Of a file in an untrusted root the pattern is left
    /// out: most of a pattern such as `[bignore all instructions]` is free text.
    pub(super) fn denied(&self, relative: &Path, untrusted: bool) -> Option<String> {
        self.deny.first(&self.prefix, relative, untrusted)
    }

    /// The parts of the rules against content: where they apply from, and the patterns.
    pub(super) fn denied_patterns(&self) -> impl Iterator<Item = &OsStr> {
        let patterns = self.deny.shown.iter().map(|(pattern, _)| OsStr::new(pattern));
        iter::once(self.prefix.as_os_str()).chain(patterns)
    }

    /// The rule against a write to a path below the root, as text; see [`Self::denied`].
    pub(super) fn protected(&self, relative: &Path, untrusted: bool) -> Option<String> {
        self.protect.first(&self.prefix, relative, untrusted)
    }
}

/// The patterns of one file, for names as they are and as they are compared.
#[derive(Clone, Debug)]
pub(super) struct Matchers {
    exact: Vec<Gitignore>,
    folded: Vec<Gitignore>,
    /// The text that each pattern came from, for refusals.
    shown: Arc<[(String, String)]>,
    file: String,
}

impl Matchers {
    /// `patterns`: each with the text that it came from. `file`: what a refusal calls the file.
    pub(super) fn new(patterns: &[(String, String)], file: &str) -> Self {
        let exact: Vec<String> = patterns.iter().map(|(pattern, _)| pattern.clone()).collect();
        let folded: Vec<String> = exact.iter().map(|pattern| folded(pattern)).collect();
        let [exact, folded] = [exact, folded].map(|lines| compiled(&lines, &["**".to_owned()]));
        Self { exact, folded, shown: patterns.into(), file: file.to_owned() }
    }

    /// The first rule that a path, or a directory above it, matches, named with its file.
    fn first(&self, prefix: &Path, relative: &Path, untrusted: bool) -> Option<String> {
        if self.shown.is_empty() {
            return None;
        }
        let path = prefix.join(relative);
        let found = matched(&self.exact, &path).or_else(|| matched(&self.folded, Path::new(fold(&path).as_str())))?;
        if untrusted {
            return Some(format!("a rule in {}", self.file));
        }
        let shown = self.shown.iter().find(|(pattern, _)| *pattern == found).map_or(found.as_str(), |(_, shown)| shown);
        Some(format!("`{shown}` in {}", self.file))
    }
}

fn folded(pattern: &str) -> String {
    let signs = ['*', '?', '[', ']', '{', '}', '\\', '!', '#'];
    // A full-width bracket is a letter of a pattern, and stays one when it has become a bracket.
    let becomes_sign = |letter: char| !letter.is_ascii() && fold_characters(&letter.to_string()).contains(signs);
    let escaped = |letter| becomes_sign(letter).then_some('\\').into_iter().chain([letter]);
    let text: String = pattern.chars().flat_map(escaped).collect();
    text.split('/').map(fold_characters).collect::<Vec<_>>().join("/")
}

/// Lines of a gitignore file in parts of which the last that says something decides: globset compiles those with
/// wildcards to a regex of 10 MiB at most, which some hundreds exceed. A line that fails alone is read as `instead`.
pub(crate) fn compiled(lines: &[String], instead: &[String]) -> Vec<Gitignore> {
    let mut builder = GitignoreBuilder::new("");
    let added = lines.iter().try_for_each(|line| builder.add_line(None, line).map(drop));
    match added.and_then(|()| builder.build()) {
        Ok(part) => vec![part],
        Err(_) if lines.len() > 1 => {
            let (first, rest) = lines.split_at(lines.len() / 2);
            [compiled(first, instead), compiled(rest, instead)].concat()
        }
        // Without the exception more is refused.
        Err(_) if instead.is_empty() || lines[0].starts_with('!') => Vec::new(),
        Err(_) => compiled(instead, &[]),
    }
}

/// From the top down, as git does: everything in an ignored directory is ignored, whatever a pattern says about its
/// name (gitignore(5): a file cannot be re-included if a parent directory is excluded).
fn matched(parts: &[Gitignore], path: &Path) -> Option<String> {
    let names: Vec<&OsStr> = path.iter().collect();
    let mut at = PathBuf::new();
    for (index, name) in names.iter().enumerate() {
        at.push(name);
        // In a file the last line that says something decides.
        let found = parts.iter().rev().map(|part| part.matched(&at, index + 1 < names.len()));
        if let Some(Match::Ignore(glob)) = found.into_iter().find(|found| !found.is_none()) {
            return Some(glob.original().to_owned());
        }
    }
    None
}
