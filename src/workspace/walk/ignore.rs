//! Ignore rules as ripgrep and git have them, read through directory handles.
//!
//! `.ignore` of any level goes before `.gitignore`, that before `.git/info/exclude`, then the
//! configured patterns, and the default list (`junk`) last; the deepest file that says something
//! wins, and in it the last line. A nested repository does not inherit git's rules from above. A file of
//! rules that is a link counts, as it does for ripgrep, when what it leads to lies in a root.

use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::workspace::limits::Limit;
use crate::workspace::links;
use crate::workspace::path::WorkspacePath;
use crate::workspace::root::Root;
use crate::workspace::roots::Roots;
use crate::workspace::stat::FileKind;
use crate::workspace::sys::{self, Dir, Failure, Use};

use super::compile_ignores::{LONGEST, compile};
use super::limits_hit::{CutIgnoreFile, LimitsHit};

/// Bytes that the compiled rules of all files of a branch take at most.
const BRANCH_MEMORY: usize = 64 << 20;

/// The exclude file of a repository, below the directory that the repository is in.
pub(in crate::workspace) const EXCLUDE: &str = ".git/info/exclude";

/// What rules were read from, for whoever keeps their effect.
#[derive(Debug)]
pub(in crate::workspace) enum Origin<'f> {
    /// A file of that name, which is open and has not been read yet.
    File(&'f File),
    /// A link, or a name behind one, with a hash of what was read ([`linked_content`]).
    Link(u64),
}

/// Called for each file that rules are read from, with its path below the directory that is looked at.
type Read<'r> = &'r mut dyn FnMut(&'static str, Origin<'_>);

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
    /// About the bytes that the rules of this level and of those above take.
    memory: usize,
    above: Option<Arc<Level>>,
}

/// The rules of one walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'w> {
    pub(super) ignores: &'w Ignores,
    pub(super) roots: &'w Roots,
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
    ///
    /// # Errors
    /// As [`Self::level`].
    pub(super) fn above(&self, start: &WorkspacePath, limits_hit: &mut LimitsHit) -> io::Result<Option<Arc<Level>>> {
        if !self.needed {
            return Ok(None);
        }
        let mut ancestors: Vec<_> = start.relative().ancestors().skip(1).collect();
        ancestors.reverse();
        ancestors.into_iter().try_fold(None, |above, relative| {
            // Asked for by name: a directory above may hold any number of others, and `ls` starts a
            // walk in each directory that it shows.
            match start.root().dir().dir_beneath(relative, Use::Pass) {
                Ok(dir) => {
                    let here = Here { root: start.root(), relative, dir: &dir };
                    let has = |name: &str| dir.child_stat(name.as_ref()).is_ok();
                    // Whoever keeps the effect of rules had these reported when it looked at that directory.
                    self.level(above, here, has, &mut |_, _| {}, limits_hit)
                }
                Err(Failure::Io(error)) if is_open_files(&error) => Err(error),
                Err(_) => Ok(above),
            }
        })
    }

    /// The rules in a directory, given those above it; `has` says whether it holds a name. What does not count of
    /// them is noted in `limits_hit`.
    ///
    /// # Errors
    /// When too many files are open for them to be read: without them everything would be shown.
    pub(super) fn level(
        &self,
        above: Option<Arc<Level>>,
        here: Here<'_>,
        has: impl Fn(&str) -> bool,
        read: Read<'_>,
        limits_hit: &mut LimitsHit,
    ) -> io::Result<Option<Arc<Level>>> {
        if !self.needed {
            return Ok(None);
        }
        let (ignore, git, repository) = (has(".ignore"), has(".gitignore"), has(".git"));
        if !(ignore || git || repository) {
            return Ok(above);
        }
        let mut memory = above.as_ref().map_or(0, |above| above.memory);
        let mut load = |present: bool, name: &'static str| -> io::Result<Gitignore> {
            let bytes = if present { self.content(here, name, read)? } else { None };
            let Some(bytes) = bytes else { return Ok(Gitignore::empty()) };
            let compiled = compile(bytes, here.relative, BRANCH_MEMORY.saturating_sub(memory));
            memory += compiled.memory;
            if let Some(from_line) = compiled.ends_before {
                let file = WorkspacePath::new(here.root, &here.relative.join(name));
                limits_hit.rule(CutIgnoreFile { file, from_line });
            }
            Ok(compiled.rules)
        };
        let exclude = load(repository, EXCLUDE)?;
        let ignore = load(ignore, ".ignore")?;
        let git = load(git, ".gitignore")?;
        Ok(Some(Arc::new(Level { ignore, git, exclude, repository, memory, above })))
    }

    /// The content of an ignore file; `None` where it cannot be read.
    fn content(&self, here: Here<'_>, name: &'static str, read: Read<'_>) -> io::Result<Option<Vec<u8>>> {
        match here.open(name) {
            Ok(file) => {
                read(name, Origin::File(&file));
                Ok(content(&file).ok())
            }
            Err(error) if is_open_files(&error) => Err(error),
            Err(error) if is_link(&error) => {
                let bytes = linked(self.roots, here.root, &here.relative.join(name))?.unwrap_or_default();
                read(name, Origin::Link(hash(&bytes)));
                Ok(Some(bytes))
            }
            Err(_) => Ok(None),
        }
    }
}

/// A directory that is looked at: its path below its root, and its handle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here<'h> {
    pub(super) root: &'h Arc<Root>,
    pub(super) relative: &'h Path,
    pub(super) dir: &'h Dir,
}

impl Here<'_> {
    /// Opens a file of rules in it, links refused.
    fn open(&self, name: &str) -> io::Result<File> {
        if name != EXCLUDE {
            return self.dir.child_file(name.as_ref());
        }
        let git = self.dir.child_dir(".git".as_ref(), Use::Pass).map_err(|error| {
            // Worktrees and submodules have a file of that name, behind which nothing is.
            let is_file = || self.dir.child_stat(".git".as_ref()).is_ok_and(|stat| stat.kind == FileKind::File);
            if is_link(&error) && is_file() { io::ErrorKind::NotFound.into() } else { error }
        })?;
        git.child_dir("info".as_ref(), Use::Pass)?.child_file("exclude".as_ref())
    }
}

/// A hash of the rules that a link leads to, as they are now; that of no rules where it leads to none.
pub(in crate::workspace) fn linked_content(roots: &Roots, link: &WorkspacePath) -> u64 {
    let bytes = linked(roots, link.root(), link.relative());
    hash(&bytes.ok().flatten().unwrap_or_default())
}

/// What a link to a file of rules leads to: only inside the roots, and nothing that policy hides or denies. `None`
/// where that is nothing.
///
/// # Errors
/// When too many files are open for the link to be followed.
fn linked(roots: &Roots, root: &Arc<Root>, relative: &Path) -> io::Result<Option<Vec<u8>>> {
    let nothing_or = |error: Option<io::Error>| match error {
        Some(error) if is_open_files(&error) => Err(error),
        _ => Ok(None),
    };
    let way = match links::follow(roots, &WorkspacePath::new(root, relative)) {
        Ok(way) => way,
        Err(error) => return nothing_or(error.source),
    };
    if way.hidden() || way.secret() {
        return Ok(None);
    }
    match way.real.root().dir().file_beneath(way.real.relative()) {
        Ok(file) => Ok(content(&file).ok()),
        Err(Failure::Io(error)) => nothing_or(Some(error)),
        Err(Failure::Link) => Ok(None),
    }
}

fn content(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if sys::file_stat(file)?.kind == FileKind::File {
        file.take(LONGEST + 1).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// Whether too many files were open.
pub(super) fn is_open_files(error: &io::Error) -> bool {
    Limit::of(error).is_some_and(Limit::is_open_files)
}

/// Whether an open with links refused may have failed because of one: with `O_DIRECTORY` that is `ENOTDIR`.
fn is_link(error: &io::Error) -> bool {
    sys::met_a_link(error) || error.kind() == io::ErrorKind::NotADirectory
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
