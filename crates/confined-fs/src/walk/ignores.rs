//! What the configuration says about ignored files, for all walks of a workspace.

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::Revision;

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
