//! Ignore rules as ripgrep and git have them, read through directory handles.
//!
//! `.ignore` of any level goes before `.gitignore`, that before `.git/info/exclude`, then the
//! configured patterns, and the default list (`junk`) last; the deepest file that says something
//! wins, and in it the last line. A nested repository does not inherit git's rules from above.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::{find, listed_beneath};
use crate::workspace::handle::FileKind;
use crate::workspace::path::WorkspacePath;
use crate::workspace::sys::{self, Dir, Listed, Use};

/// Longest ignore file that is read, in bytes; what follows is not seen.
const LONGEST: u64 = 1024 * 1024;

/// What the configuration says about ignored files.
#[derive(Clone, Debug, Default)]
pub struct IgnoreRules {
    /// More patterns, in gitignore syntax, anchored at each root.
    pub extra: Vec<String>,
    /// Without the default list.
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
pub(in crate::workspace) struct Ignores {
    extra: Gitignore,
    no_default: bool,
}

impl Ignores {
    /// Patterns that are none are left out (see [`IgnoreRules::validate`]).
    pub(in crate::workspace) fn new(rules: &IgnoreRules) -> Self {
        let mut builder = GitignoreBuilder::new("");
        for line in &rules.extra {
            let _ = builder.add_line(None, line);
        }
        let extra = builder.build().unwrap_or_else(|_| Gitignore::empty());
        Self { extra, no_default: rules.no_default }
    }
}

/// What rules say about a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// Leave it out.
    Ignored,
    /// Expressly not.
    Kept,
    /// Nothing.
    Silent,
}

/// The ignore files of one directory that has any, and the next such directory above.
#[derive(Debug)]
pub(super) struct Level {
    ignore: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    /// A repository starts here.
    repository: bool,
    above: Option<Arc<Level>>,
}

/// The rules of one walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'w> {
    pub(super) ignores: &'w Ignores,
    /// False when ignored entries are visited like all others, so nothing has to be read.
    pub(super) needed: bool,
}

impl Rules<'_> {
    /// Whether the default list counts.
    pub(super) fn defaults(&self) -> bool {
        !self.ignores.no_default
    }

    /// What the user's files and the configured patterns say about a path below the root.
    pub(super) fn verdict(&self, level: Option<&Level>, path: &Path, directory: bool) -> Answer {
        let (mut by_ignore, mut by_git, mut by_exclude) = (Answer::Silent, Answer::Silent, Answer::Silent);
        let mut in_repository = true;
        let mut next = level;
        while let Some(here) = next {
            ask(&mut by_ignore, &here.ignore, path, directory);
            if in_repository {
                ask(&mut by_git, &here.git, path, directory);
                ask(&mut by_exclude, &here.exclude, path, directory);
            }
            in_repository &= !here.repository;
            next = here.above.as_deref();
        }
        let mut by_extra = Answer::Silent;
        ask(&mut by_extra, &self.ignores.extra, path, directory);
        let order = [by_ignore, by_git, by_exclude, by_extra];
        order.into_iter().find(|answer| *answer != Answer::Silent).unwrap_or(Answer::Silent)
    }

    /// The rules of the directories from the root down to the one above `start`.
    pub(super) fn above(&self, start: &WorkspacePath) -> Option<Arc<Level>> {
        if !self.needed {
            return None;
        }
        let mut ancestors: Vec<_> = start.relative().ancestors().skip(1).collect();
        ancestors.reverse();
        ancestors.into_iter().fold(None, |above, relative| {
            // A directory that may be passed but not listed shows no ignore files.
            match listed_beneath(start.root().dir(), relative) {
                Ok((dir, names)) => self.level(above, &dir, &names, relative),
                Err(_) => above,
            }
        })
    }

    /// The rules in a directory, given those above it; `relative` is its path below the root.
    pub(super) fn level(
        &self,
        above: Option<Arc<Level>>,
        dir: &Dir,
        names: &[Listed],
        relative: &Path,
    ) -> Option<Arc<Level>> {
        if !self.needed {
            return None;
        }
        let has = |name| find(names, name).is_some();
        let (ignore, git, repository) = (has(".ignore"), has(".gitignore"), has(".git"));
        if !(ignore || git || repository) {
            return above;
        }
        let load = |present: bool, name: &str| {
            if present { parse(dir, name, relative) } else { Gitignore::empty() }
        };
        let info = || {
            let inner = dir.child_dir(".git".as_ref(), Use::Pass).ok()?;
            inner.child_dir("info".as_ref(), Use::Pass).ok()
        };
        let exclude = match repository.then(info).flatten() {
            Some(info) => parse(&info, "exclude", relative),
            None => Gitignore::empty(),
        };
        Some(Arc::new(Level {
            ignore: load(ignore, ".ignore"),
            git: load(git, ".gitignore"),
            exclude,
            repository,
            above,
        }))
    }
}

/// Lets the matcher answer if nobody deeper has.
fn ask(answer: &mut Answer, matcher: &Gitignore, path: &Path, directory: bool) {
    if *answer == Answer::Silent && !matcher.is_empty() {
        *answer = match matcher.matched(path, directory) {
            Match::None => Answer::Silent,
            Match::Ignore(_) => Answer::Ignored,
            Match::Whitelist(_) => Answer::Kept,
        };
    }
}

/// The matcher of an ignore file; an unreadable file, or a line that is no pattern, says nothing.
fn parse(dir: &Dir, name: &str, relative: &Path) -> Gitignore {
    let mut bytes = Vec::new();
    let read = dir.child_file(name.as_ref()).and_then(|file| {
        if sys::file_stat(&file)?.kind == FileKind::File {
            file.take(LONGEST).read_to_end(&mut bytes)?;
        }
        Ok(())
    });
    if read.is_err() {
        return Gitignore::empty();
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut builder = GitignoreBuilder::new(relative);
    for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
