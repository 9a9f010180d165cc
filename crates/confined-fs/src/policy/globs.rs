//! The rules of the configuration: lists of globs as they are written, checked and compiled.

use std::iter;
use std::path::{Path, is_separator};

use globset::{Glob, GlobBuilder, GlobSet};
use text_file::with_slashes;

use super::Folded;
use super::fold::{class, literal, translate};

#[derive(Clone, Debug)]
pub(super) struct Globs {
    /// The parts of the list in its order: one, unless it is more than is compiled at once.
    sets: Vec<GlobSet>,
    sources: Vec<String>,
}

impl Globs {
    /// `folded`: for names in the form they are compared in, or else as they are. `refuses`: what is no glob matches
    /// everything, or else nothing.
    pub(super) fn new(patterns: &[String], folded: bool, refuses: bool) -> Self {
        let set = match compiled(patterns, folded) {
            Ok(set) => set,
            Err(_) if patterns.len() > 1 => {
                let (one, two) = patterns.split_at(patterns.len() / 2);
                let [one, two] = [one, two].map(|half| Self::new(half, folded, refuses));
                return Self { sets: [one.sets, two.sets].concat(), sources: [one.sources, two.sources].concat() };
            }
            // That one always compiles.
            Err(_) => GlobSet::new(Glob::new("**").ok().filter(|_| refuses)).unwrap_or_default(),
        };
        let each = set.len() / patterns.len().max(1);
        let sources = patterns.iter().flat_map(|pattern| iter::repeat_n(format!("`{pattern}`"), each)).collect();
        Self { sets: Some(set).into_iter().filter(|set| !set.is_empty()).collect(), sources }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    pub(super) fn sources(&self) -> &[String] {
        &self.sources
    }

    pub(super) fn first_match(&self, path: impl AsRef<Path>) -> Option<&str> {
        let mut before = 0;
        self.sets.iter().find_map(|set| {
            let found = set.matches(&path).first().map(|index| self.sources[before + index].as_str());
            before += set.len();
            found
        })
    }
}

/// A configured list that refuses: a name matches folded, or as it is. A wildcard may
/// match what folding removes (`*.` for `a.`), and then only the unfolded name matches.
#[derive(Clone, Debug)]
pub(super) struct Refusals {
    folded: Globs,
    exact: Globs,
}

impl Refusals {
    pub(super) fn new(patterns: &[String]) -> Self {
        Self { folded: Globs::new(patterns, true, true), exact: Globs::new(patterns, false, true) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.folded.is_empty() && self.exact.is_empty()
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = &String> {
        self.folded.sources().iter().chain(self.exact.sources())
    }

    pub(super) fn first_match(&self, path: &Folded, relative: &Path) -> Option<&str> {
        self.folded.first_match(path.as_str()).or_else(|| self.exact.first_match(relative))
    }
}

/// The globs of all patterns in one set, which globset compiles to a regex of 10 MiB at most.
///
/// # Errors
/// Why they are none, in a few words.
fn compiled(patterns: &[impl AsRef<str>], folded: bool) -> Result<GlobSet, String> {
    let globs: Vec<_> = patterns.iter().map(|pattern| globs_for(pattern.as_ref(), folded)).collect::<Result<_, _>>()?;
    GlobSet::new(globs.iter().flatten()).map_err(|_| "it is too long or too deeply nested".to_owned())
}

/// A pattern as globs on the whole relative path: what it names, and everything below that.
fn globs_for(pattern: &str, folded: bool) -> Result<[Glob; 2], String> {
    let pattern = &*with_slashes(pattern);
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let trimmed = pattern.trim_end_matches('/');
    let anchored = match trimmed.strip_prefix('/') {
        Some(rest) => rest.to_owned(),
        None if trimmed.contains('/') => trimmed.to_owned(),
        None => format!("**/{trimmed}"),
    };
    let failed = |error: globset::Error| error.kind().to_string();
    // First as it was written: an error in it must not be about the translation.
    Glob::new(&anchored).map_err(failed)?;
    let translated = translate(&anchored, folded)?;
    let glob =
        |text: &str| GlobBuilder::new(text).case_insensitive(true).literal_separator(true).build().map_err(failed);
    Ok([glob(&translated)?, glob(&format!("{translated}/**"))?])
}

/// Why `pattern` can never match a path below a root, in a few words with the next step.
///
/// Limits: only what is wrong whatever the roots are. Whether a pattern names an absolute path of the host depends on
/// them; the configuration checks that.
fn why_never(pattern: &str) -> Option<String> {
    let pattern = &*with_slashes(pattern);
    if matches!(pattern.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic()) {
        return Some("it is an absolute path: write the path below the root, beginning with / for the root".to_owned());
    }
    if let Some(rest) = pattern.strip_prefix('!') {
        return Some(format!(
            "a leading ! does not negate a pattern: exceptions are --allow-secret and --allow-protected (write \
             **/!{rest} for a name that begins with !)"
        ));
    }
    if pattern == "~" || pattern.starts_with("~/") {
        return Some(
            "~ is not a directory here: write the path below the root (or [~] for a folder of that name)".to_owned(),
        );
    }
    if !is_separator('\\')
        && let Some(letter) = escaped_letter(pattern)
    {
        return Some(format!("\\ does not separate names, it only escapes {letter:?}: write / between names"));
    }
    let parted = pattern.strip_prefix("./").unwrap_or(pattern).trim_end_matches('/');
    let parted = parted.strip_prefix('/').unwrap_or(parted);
    parted
        .split('/')
        .find_map(|name| match name {
            ".." => Some("`..` is not a name, and nothing outside of a root is reached: write the path below the root"),
            "." => Some("`.` is not a name: leave `./` out"),
            "" => Some("a name between two slashes is missing: write one /"),
            _ => None,
        })
        .map(str::to_owned)
}

/// A letter or digit after a backslash outside of a class: nothing that would need one.
fn escaped_letter(pattern: &str) -> Option<char> {
    let mut rest = pattern.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '[' => drop(class(&mut rest)),
            '\\' => match rest.next() {
                Some(letter) if letter.is_alphanumeric() || matches!(letter, '.' | '_') => return Some(letter),
                _ => {}
            },
            _ => {}
        }
    }
    None
}

/// Configured rules, added to the defaults. Globs match the path below a root; one without `/`
/// matches a name at any depth, and one that matches a directory covers all below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyRules {
    /// More files whose content is secret; nothing overrides these.
    pub deny: Vec<String>,
    pub allow_secret: Vec<String>,
    /// More files that are not written; nothing overrides these.
    pub protect: Vec<String>,
    pub allow_protected: Vec<String>,
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
    /// The names in a file that is nothing but a list of names with values; nothing of any other file, and no value.
    Names,
}

/// Why a pattern is no rule, in a few words that follow the pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    #[error("is not a glob: {0}")]
    NoGlob(String),
    /// It has another effect than a person would believe.
    #[error("would never match as it is meant: {0}")]
    NeverMatches(String),
}

impl PolicyRules {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

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
    /// assert!(PolicyRules::check("../secrets").unwrap_err().to_string().contains("write the path below the root"));
    /// ```
    ///
    /// # Errors
    /// The effect that it has instead, in a few words that follow the pattern.
    pub fn check(pattern: &str) -> Result<(), RuleError> {
        if pattern.trim_matches(['/', '.', ' ']).is_empty() {
            return Err(RuleError::NoGlob("it names nothing".to_owned()));
        }
        if let Some(why) = why_never(pattern) {
            return Err(RuleError::NeverMatches(why));
        }
        let compiled = compiled(&[pattern], true).and(compiled(&[pattern], false));
        compiled.map(drop).map_err(RuleError::NoGlob)
    }

    /// The pattern for a file or folder below a root, whatever characters are in its names. None for
    /// the root itself.
    pub fn exactly(relative: &Path) -> Option<String> {
        let names = relative.iter().map(|name| format!("/{}", literal(&name.to_string_lossy())));
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
    fn lint_names_the_pattern_to_write_instead() {
        for (pattern, words) in [
            ("../x", "`..` is not a name"),
            ("a/../x", "`..` is not a name"),
            ("/..", "`..` is not a name"),
            ("a/./b", "leave `./` out"),
            ("a//b", "write one /"),
            ("//a", "write one /"),
            ("~", "write the path below the root"),
            ("~/.ssh/**", "write the path below the root"),
            ("!*.pem", "**/!*.pem"),
            ("C:\\keys", "absolute"),
            ("c:/keys/*", "absolute"),
            #[cfg(not(windows))]
            ("dir\\keys", "write / between names"),
            #[cfg(not(windows))]
            ("**\\.env", "write / between names"),
        ] {
            let why = why_never(pattern).unwrap_or_else(|| panic!("{pattern:?} is taken"));
            assert!(why.contains(words), "{pattern:?}: {why}");
        }
    }

    #[test]
    fn lint_accepts_patterns_that_may_match() {
        for pattern in [
            "x",
            "./x",
            "/docs/*.txt",
            "a/b/",
            "a//",
            "**/!x",
            "[~]/x",
            "a~/b",
            "~x",
            "..x/y..",
            "a/...",
            "\\*literal\\[\\]",
            "[\\a]x",
            "[]\\b]x",
            "{a,b}/*.c",
            "C:",
            "12:30",
        ] {
            assert_eq!(why_never(pattern), None, "{pattern:?}");
        }
    }

    #[test]
    fn only_a_glob_for_every_path_allows_every_secret() {
        let rules = |glob: &str| PolicyRules { allow_secret: vec![".env".into(), glob.into()], ..Default::default() };
        for (glob, all) in [("**", true), ("*", true), ("**/*", true), ("*.pem", false), ("keys/**", false)] {
            assert_eq!(rules(glob).allows_every_secret(), all, "{glob}");
        }
    }
}
