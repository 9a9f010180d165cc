//! Ignore rules as ripgrep and git have them, read through directory handles.
//!
//! `.ignore` of any directory goes before `.gitignore`, that before `.git/info/exclude`, then the configured
//! patterns, and the default ignores last; the deepest file that says something wins, and in it the last line. A
//! nested repository does not inherit git's rules from above. The user's own `core.excludesFile` is not read: it is
//! outside of every root.

use std::{io, path::Path, sync::Arc};

use beneath::{Failure, OpenFor};
use ignore::Match;
use ignore::gitignore::Gitignore;

use crate::walk::limits_hit::CutIgnoreFile;
use crate::{Limit, LimitsHit, Roots, WorkspacePath};

use super::compile_ignores::compile;
use super::rule_source::{LocatedDir, OnSource, RuleSource};
use super::{EXCLUDE, GIT, GITIGNORE, IGNORE, Ignores};

/// Bytes that the compiled rules of all files from the root down to one directory take at most.
const STACK_MEMORY: usize = 64 << 20;

/// The ignore files of one directory that has any, and the next such directory above.
#[derive(Debug)]
pub(crate) struct DirectoryIgnores {
    ignore: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    /// A repository starts here.
    repository: bool,
    /// About the bytes that these rules and those above take.
    memory: usize,
    above: Option<Arc<DirectoryIgnores>>,
}

/// The rules of one walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'w> {
    pub(crate) ignores: &'w Ignores,
    pub(crate) roots: &'w Roots,
    /// False when ignored entries are visited like all others, so nothing has to be read.
    pub(crate) needed: bool,
}

impl Rules<'_> {
    /// Whether the default ignores count.
    pub(crate) fn defaults(&self) -> bool {
        !self.ignores.no_default
    }

    /// What the user's files and the configured patterns say about a path below the root.
    pub(crate) fn matched(&self, innermost: Option<&DirectoryIgnores>, path: &Path, directory: bool) -> Match<()> {
        let (mut by_ignore, mut by_git, mut by_exclude) = (Match::None, Match::None, Match::None);
        let mut in_repository = true;
        let mut next = innermost;
        while let Some(here) = next {
            match_first(&mut by_ignore, &here.ignore, path, directory);
            if in_repository {
                match_first(&mut by_git, &here.git, path, directory);
                match_first(&mut by_exclude, &here.exclude, path, directory);
            }
            in_repository &= !here.repository;
            next = here.above.as_deref();
        }
        let mut decided = by_ignore.or(by_git).or(by_exclude);
        match_first(&mut decided, &self.ignores.extra, path, directory);
        decided
    }

    /// The rules of the directories from the root down to the one above `start`.
    ///
    /// # Errors
    /// As [`Self::in_directory`].
    pub(crate) fn above(
        &self,
        start: &WorkspacePath,
        limits_hit: &mut LimitsHit,
    ) -> io::Result<Option<Arc<DirectoryIgnores>>> {
        if !self.needed {
            return Ok(None);
        }
        let mut ancestors: Vec<_> = start.relative().ancestors().skip(1).collect();
        ancestors.reverse();
        ancestors.into_iter().try_fold(None, |above, relative| {
            // Asked for by name: a directory above may hold any number of others, and `ls` starts a
            // walk in each directory that it shows.
            match start.root().dir.dir_beneath(relative, OpenFor::Traverse) {
                Ok(dir) => {
                    let here = LocatedDir { root: start.root(), relative, dir: &dir };
                    let has = |name: &str| dir.child_stat(name.as_ref()).is_ok();
                    // Whoever keeps the effect of rules had these reported when it looked at that directory.
                    self.in_directory(above, here, has, &mut |_, _| {}, limits_hit)
                }
                Err(Failure::Io(error)) if Limit::of_open_files(&error).is_some() => Err(error),
                Err(_) => Ok(above),
            }
        })
    }

    /// The rules in a directory, given those above it; `has` says whether it holds a name. What does not count of
    /// them is noted in `limits_hit`.
    ///
    /// # Errors
    /// When too many files are open for them to be read: without them everything would be shown.
    pub(crate) fn in_directory(
        &self,
        above: Option<Arc<DirectoryIgnores>>,
        here: LocatedDir<'_>,
        has: impl Fn(&str) -> bool,
        on_source: OnSource<'_>,
        limits_hit: &mut LimitsHit,
    ) -> io::Result<Option<Arc<DirectoryIgnores>>> {
        if !self.needed {
            return Ok(None);
        }
        let (ignore, git, repository) = (has(IGNORE), has(GITIGNORE), has(GIT));
        if !(ignore || git || repository) {
            return Ok(above);
        }
        let mut memory = above.as_ref().map_or(0, |above| above.memory);
        let mut load = |present: bool, name: &'static str| -> io::Result<Gitignore> {
            if !present {
                return Ok(Gitignore::empty());
            }
            let bytes = here.read(name, self.roots, on_source)?;
            on_source(name, RuleSource::Content(bytes.as_deref()));
            let Some(bytes) = bytes else { return Ok(Gitignore::empty()) };
            let compiled = compile(bytes, here.relative, STACK_MEMORY.saturating_sub(memory));
            memory += compiled.memory;
            if let Some(from_line) = compiled.ends_before {
                let file = WorkspacePath::new(here.root, &here.relative.join(name));
                limits_hit.ignore_file(CutIgnoreFile { file, from_line });
            }
            Ok(compiled.rules)
        };
        let exclude = load(repository, EXCLUDE)?;
        let ignore = load(ignore, IGNORE)?;
        let git = load(git, GITIGNORE)?;
        Ok(Some(Arc::new(DirectoryIgnores { ignore, git, exclude, repository, memory, above })))
    }
}

/// Asks the matcher, unless a deeper one has decided.
fn match_first(decided: &mut Match<()>, matcher: &Gitignore, path: &Path, directory: bool) {
    if decided.is_none() && !matcher.is_empty() {
        *decided = matcher.matched(path, directory).map(|_| ());
    }
}
