//! Rules that people wrote for agents, as they apply below one root.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::fold::{fold, fold_characters};

/// The rules of one file below one root.
#[derive(Clone, Debug)]
pub(crate) struct AgentRules {
    /// Where the root is below what the patterns are relative to.
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
    pub(super) fn denied_patterns(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let patterns = self.deny.shown.iter().map(|(pattern, _)| Cow::Borrowed(pattern.as_str()));
        iter::once(self.prefix.to_string_lossy()).chain(patterns)
    }

    /// The rule against a write to a path below the root, as text; see [`Self::denied`].
    pub(super) fn protected(&self, relative: &Path, untrusted: bool) -> Option<String> {
        self.protect.first(&self.prefix, relative, untrusted)
    }
}

/// The patterns of one file, for names as they are and as they are compared.
#[derive(Clone, Debug)]
pub(super) struct Matchers {
    exact: Gitignore,
    folded: Gitignore,
    /// The text that each pattern came from, for refusals.
    shown: Arc<[(String, String)]>,
    file: String,
}

impl Matchers {
    /// `patterns`: each with the text that it came from. `file`: what a refusal calls the file.
    pub(super) fn new(patterns: &[(String, String)], file: &str) -> Self {
        let build = |fold: &dyn Fn(&str) -> String| {
            let mut builder = GitignoreBuilder::new("");
            for (pattern, _) in patterns {
                // Each was checked.
                let _ = builder.add_line(None, &fold(pattern));
            }
            builder.build().unwrap_or_else(|_| Gitignore::empty())
        };
        let folded = |pattern: &str| pattern.split('/').map(fold_characters).collect::<Vec<_>>().join("/");
        Self { exact: build(&str::to_owned), folded: build(&folded), shown: patterns.into(), file: file.to_owned() }
    }

    /// The first rule that a path, or a directory above it, matches, named with its file.
    fn first(&self, prefix: &Path, relative: &Path, untrusted: bool) -> Option<String> {
        if self.exact.is_empty() && self.folded.is_empty() {
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

/// From the top down, as git does: everything in an ignored directory is ignored, whatever a pattern says about its
/// name (gitignore(5): a file cannot be re-included if a parent directory is excluded).
fn matched(patterns: &Gitignore, path: &Path) -> Option<String> {
    let names: Vec<&OsStr> = path.iter().collect();
    let mut at = PathBuf::new();
    for (index, name) in names.iter().enumerate() {
        at.push(name);
        if let Match::Ignore(glob) = patterns.matched(&at, index + 1 < names.len()) {
            return Some(glob.original().to_owned());
        }
    }
    None
}
