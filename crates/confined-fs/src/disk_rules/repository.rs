//! Recognises a git repository by its content: `HEAD`, `objects` and `refs`, whatever the directory is called.
//!
//! Bare repositories, mirrors, `--separate-git-dir`, the directories of submodules and of worktrees: git runs the hooks
//! and obeys the `config` of each of them (`core.fsmonitor`, `core.hooksPath`), so none is written. Checked on the disk
//! before each change, since a checkout may have made one a moment ago. The conditions are those of `is_git_directory`
//! in git's `setup.c`, without a look into the files.

use std::{ffi::OsStr, io, path::PathBuf};

use beneath::{FileKind, Listed, OpenFor};

use crate::{Dir, Policy, WorkspacePath};

/// Names that a directory which has `HEAD` lacks to be a repository.
const REST: [&str; 3] = ["objects", "refs", "commondir"];

/// Why a path may not be written, where a directory above it is a repository, or the path would make it one.
/// Three quick system calls for each directory on the way.
///
/// # Errors
/// Where a directory cannot be looked into: a limit of open files must not make a repository writable.
pub(crate) fn why_refused(real: &WorkspacePath) -> io::Result<Option<String>> {
    let policy = real.root().policy();
    let mut at = PathBuf::new();
    let mut dir = real.root().dir.open()?;
    let mut names = real.relative().iter().peekable();
    while let Some(name) = names.next() {
        if kind_of(&dir, "HEAD")?.is_some_and(may_be_head) {
            let shown = || WorkspacePath::new(real.root(), &at);
            let why = if is_repository(|name| kind_of(&dir, name).ok().flatten()) {
                Some(rule(&shown()))
            } else {
                let completes = Policy::is_one_of(name, &REST);
                completes.then(|| format!("what would make {} a git repository", shown()))
            };
            if why.is_some() && !policy.allows_protected(real.relative()) {
                return Ok(why);
            }
        }
        if names.peek().is_none() {
            break;
        }
        at.push(name);
        // A missing directory is no repository, and has none below it.
        dir = match dir.child_dir(name, OpenFor::Traverse) {
            Err(error) if is_nothing(&error) => return Ok(None),
            answer => answer?,
        };
    }
    Ok(None)
}

/// The kind of an entry; `None` where nothing is.
fn kind_of(dir: &Dir, name: &str) -> io::Result<Option<FileKind>> {
    match dir.child_stat(OsStr::new(name)) {
        Ok(stat) => Ok(Some(stat.kind)),
        Err(error) if is_nothing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A link counts as missing, too: the path was real a moment ago, and its use refuses a link.
fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Why the directory at `path`, with these names in it, may not be made, moved or deleted.
pub(crate) fn why_refused_listed(path: &WorkspacePath, names: &[Listed]) -> Option<String> {
    let kind = |name: &str| names.iter().find(|listed| listed.name == name).map(|listed| listed.kind);
    (is_one(kind) && !path.root().policy().allows_protected(path.relative())).then(|| rule(path))
}

fn rule(repository: &WorkspacePath) -> String {
    format!("{repository}, a git repository by its content")
}

/// Whether a directory is a repository, by the kinds of the entries in it.
pub(super) fn is_one(kind: impl Fn(&str) -> Option<FileKind>) -> bool {
    kind("HEAD").is_some_and(may_be_head) && is_repository(kind)
}

/// A directory is none, be it called `head` where case does not count.
fn may_be_head(kind: FileKind) -> bool {
    matches!(kind, FileKind::File | FileKind::Symlink)
}

/// Whether a directory with `HEAD` is a repository, or the part of one that a worktree has.
fn is_repository(kind: impl Fn(&str) -> Option<FileKind>) -> bool {
    let holds = |name| matches!(kind(name), Some(FileKind::Directory | FileKind::Symlink));
    kind("commondir").is_some() || (holds("objects") && holds("refs"))
}
