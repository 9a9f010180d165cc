//! Rules of the configuration, as they are written.

use std::path::Path;

use super::globs::{Globs, compiled, glob_fold, glob_lint};

/// Configured rules, added to the defaults. Globs match the path below a root; one without `/`
/// matches a name at any depth, and one that matches a directory covers all below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyRules {
    /// More files whose content is secret; nothing overrides these.
    pub deny: Vec<String>,
    /// Exceptions to the default secrets.
    pub allow_secret: Vec<String>,
    /// More files that are not written; nothing overrides these.
    pub protect: Vec<String>,
    /// Exceptions to the default write protection.
    pub allow_protected: Vec<String>,
    /// Names that are treated as if they were not there.
    pub hide: Vec<String>,
    /// How tools see the secrets on the default list; `None` leaves it to the rules for all roots, and is `Deny`.
    pub secrets: Option<Secrets>,
    /// Whether names and text below it may be written by people who want to mislead a model.
    pub untrusted: bool,
}

/// How tools see the content of files on the default list of secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Secrets {
    /// Nothing: neither their text nor what is in it.
    #[default]
    Deny,
    /// Their names and structure, with a sentinel for each value; nothing of what cannot be masked with certainty.
    Mask,
}

impl PolicyRules {
    /// Whether there is no rule at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These rules and `more`.
    pub(crate) fn and(&self, more: &Self) -> Self {
        let both = |one: &[String], two: &[String]| [one, two].concat();
        Self {
            deny: both(&self.deny, &more.deny),
            allow_secret: both(&self.allow_secret, &more.allow_secret),
            protect: both(&self.protect, &more.protect),
            allow_protected: both(&self.allow_protected, &more.allow_protected),
            hide: both(&self.hide, &more.hide),
            secrets: more.secrets.or(self.secrets),
            untrusted: self.untrusted || more.untrusted,
        }
    }

    /// Whether no secret of the default list is left, as with `--allow-secret '**'`.
    pub fn allows_every_secret(&self) -> bool {
        matches_every_path(&self.allow_secret)
    }

    /// Whether no file of the default list of those that run later is left.
    pub fn allows_every_protected(&self) -> bool {
        matches_every_path(&self.allow_protected)
    }

    /// Whether `pattern` can be an element of one of the lists.
    ///
    /// # Examples
    /// ```
    /// use confined_fs::PolicyRules;
    ///
    /// assert!(PolicyRules::check("/docs/*.{txt,md}").is_ok());
    /// // A path below a root never matches it, so that a person would believe in a rule that does nothing.
    /// assert!(PolicyRules::check("../secrets").unwrap_err().contains("write the path below the root"));
    /// ```
    ///
    /// # Errors
    /// The effect that it has instead, in a few words that follow the pattern.
    pub fn check(pattern: &str) -> Result<(), String> {
        if pattern.trim_matches(['/', '.', ' ']).is_empty() {
            return Err("is not a glob: it names nothing".to_owned());
        }
        if let Some(why) = glob_lint::why_never(pattern) {
            return Err(format!("would never match as it is meant: {why}"));
        }
        let compiled = compiled(&[pattern], true).and(compiled(&[pattern], false));
        compiled.map(drop).map_err(|why| format!("is not a glob: {why}"))
    }

    /// The pattern for a file or folder below a root, whatever characters are in its names. None for
    /// the root itself.
    pub fn exactly(relative: &Path) -> Option<String> {
        let names = relative.iter().map(|name| format!("/{}", glob_fold::literal(&name.to_string_lossy())));
        Some(names.collect::<String>()).filter(|pattern| !pattern.is_empty())
    }
}

/// Whether one of the globs matches every path: it matches names that nobody writes into a pattern.
fn matches_every_path(globs: &[String]) -> bool {
    let globs: Vec<Globs> = globs.iter().map(|glob| Globs::new(std::slice::from_ref(glob), true, false)).collect();
    globs.iter().any(|glob| ["q-6b", "z_1/q-6b.w8"].iter().all(|path| glob.first_match(path).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_glob_for_every_path_allows_every_secret() {
        let rules = |glob: &str| PolicyRules { allow_secret: vec![".env".into(), glob.into()], ..Default::default() };
        for (glob, all) in [("**", true), ("*", true), ("**/*", true), ("*.pem", false), ("keys/**", false)] {
            assert_eq!(rules(glob).allows_every_secret(), all, "{glob}");
        }
    }
}
