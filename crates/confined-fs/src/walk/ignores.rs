//! What decides which entries are ignored: the names that the walk reads and the watcher has to notice, and what the
//! configuration says for all walks of a workspace.

mod compile_ignores;
pub(super) mod default_ignores;
mod rule_source;
mod rules;

use std::ffi::OsStr;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::Revision;

pub(crate) use rule_source::{LocatedDir, RuleSource, linked_content};
pub(super) use rules::{DirectoryIgnores, Rules};

/// Ignore rules as ripgrep and fd have them, in or outside of a repository.
pub(super) const IGNORE: &str = ".ignore";
/// git's rules, gitignore(5).
pub(super) const GITIGNORE: &str = ".gitignore";
/// Where it is, a repository begins: git's rules from above end there.
pub(super) const GIT: &str = ".git";
/// The exclude file of a repository, below the directory that the repository is in.
pub(super) const EXCLUDE: &str = ".git/info/exclude";

/// The file that marks a directory as a cache, by the [Cache Directory Tagging Specification](https://bford.info/cachedir/).
pub(super) const CACHE_TAG: &str = "CACHEDIR.TAG";
/// The file that a virtual environment of Python holds ([PEP 405](https://peps.python.org/pep-0405/)).
pub(super) const ENVIRONMENT_MARKER: &str = "pyvenv.cfg";

/// What the configuration says about ignored files.
#[derive(Clone, Debug, Default)]
pub struct IgnoreRules {
    /// More patterns, in gitignore syntax, anchored at each root.
    pub extra: Vec<String>,
    /// Without the default ignores.
    pub no_default: bool,
}

impl IgnoreRules {
    /// Problems, one sentence each.
    pub fn validate(&self) -> Vec<String> {
        let mut builder = GitignoreBuilder::new("");
        self.extra
            .iter()
            .filter_map(|line| {
                let problem = builder.add_line(None, line).err()?;
                Some(format!("ignore pattern {line:?} is not a pattern: {problem}"))
            })
            .collect()
    }
}

/// The configured rules, compiled.
#[derive(Debug)]
pub(crate) struct Ignores {
    pub(super) extra: Gitignore,
    pub(super) no_default: bool,
    /// Another one for other rules, those of another version of the program included.
    pub(super) digest: Revision,
}

impl Ignores {
    /// Patterns that are none are left out (see [`IgnoreRules::validate`]).
    pub(crate) fn new(rules: &IgnoreRules) -> Self {
        let mut builder = GitignoreBuilder::new("");
        for line in &rules.extra {
            let _ = builder.add_line(None, line);
        }
        let extra = builder.build().unwrap_or_else(|_| Gitignore::empty());
        let digest = Revision::of(format!("{} {rules:?}", env!("CARGO_PKG_VERSION")).as_bytes());
        Self { extra, no_default: rules.no_default, digest }
    }
}

/// Whether a change of this name changes what is ignored in its directory and below.
pub(crate) fn holds_rules(name: &OsStr) -> bool {
    [IGNORE, GITIGNORE, GIT].iter().any(|known| name == *known)
}

/// Whether the name makes the directory that it is in an ignored one.
pub(crate) fn is_marker(name: &OsStr) -> bool {
    [CACHE_TAG, ENVIRONMENT_MARKER].iter().any(|known| name == *known)
}
