//! Recognises a git repository by its content: `HEAD`, `objects` and `refs`, whatever the directory is called; and finds the
//! checkouts that one has.
//!
//! Bare repositories, mirrors, `--separate-git-dir`, the directories of submodules and of worktrees: git runs the hooks
//! and obeys the `config` of each of them (`core.fsmonitor`, `core.hooksPath`), so none is written. Checked on the disk
//! before each change, since a checkout may have made one a moment ago. The conditions are those of `is_git_directory`
//! in git's `setup.c`, without a look into the files.

use std::io;
use std::path::{Path, PathBuf};
use std::{collections::HashSet, ffi::OsStr};

use beneath::lexical::{base_of, strip_base, without_verbatim};
use beneath::{Dir, FileKind, Listed, OpenFor, is_nothing};

use crate::disk_rules::worktree::{GIT_ENTRY, gitdir_of, names_worktree};
use crate::path::WorkspacePath;
use crate::policy::{Policy, is_place_of_worktrees};
use crate::root::{Checkouts, Root};
use text_file::escape::name_of;

/// Names that a directory which has `HEAD` lacks to be a repository.
const REPOSITORY_PARTS: [&str; 3] = ["objects", "refs", "commondir"];

/// Why a path may not be written, where a directory above it is a repository, or the path would make it one.
/// Three quick system calls for each directory on the way.
///
/// # Errors
/// Where a directory cannot be looked into: a limit of open files must not make a repository writable.
pub fn why_refused(real: &WorkspacePath) -> io::Result<Option<String>> {
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
                let completes = Policy::is_one_of(name, &REPOSITORY_PARTS);
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

/// The kind of an entry; `None` where nothing is. A link on the way counts as missing, too: the path was real a moment
/// ago, and its use refuses a link.
fn kind_of(dir: &Dir, name: &str) -> io::Result<Option<FileKind>> {
    match dir.child_stat(OsStr::new(name)) {
        Ok(stat) => Ok(Some(stat.kind)),
        Err(error) if is_nothing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Why the directory at `path`, with these names in it, may not be made, moved or deleted.
pub fn why_refused_listed(path: &WorkspacePath, names: &[Listed]) -> Option<String> {
    let kind = |name: &str| names.iter().find(|listed| listed.name == name).map(|listed| listed.kind);
    (is_one(kind) && !path.root().policy().allows_protected(path.relative())).then(|| rule(path))
}

/// Why these entries may not come into a directory together: each alone may, and with what is there they make it a
/// repository.
pub fn why_refused_together(directory: &WorkspacePath, coming: &[(&OsStr, FileKind)]) -> Option<String> {
    let here = directory.root().dir.dir_beneath(directory.relative(), OpenFor::Traverse).ok();
    let kind = |part: &str| {
        let names = [part.to_ascii_lowercase()];
        let comes = coming.iter().find(|(name, _)| Policy::is_one_of(name, &names.each_ref().map(String::as_str)));
        comes.map(|(_, kind)| *kind).or_else(|| kind_of(here.as_ref()?, part).ok().flatten())
    };
    let is_refused = is_one(kind) && !directory.root().policy().allows_protected(directory.relative());
    is_refused.then(|| format!("what would make {directory} a git repository"))
}

/// Whether a name is that of a part of a repository.
pub fn is_part(name: &OsStr) -> bool {
    Policy::is_one_of(name, &REPOSITORY_PARTS) || Policy::is_one_of(name, &["head"])
}

fn rule(repository: &WorkspacePath) -> String {
    format!("{repository}, a git repository by its content")
}

/// Whether a directory is a repository, by the kinds of the entries in it.
fn is_one(kind: impl Fn(&str) -> Option<FileKind>) -> bool {
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

/// Worktrees of one repository that are looked at, in the order of the directory.
const MAX_WORKTREES: usize = 256;
/// Longest file of a repository that is read, in bytes: far more than any path, and than most configurations.
const MAX_BYTES: u64 = 64 << 10;

/// The checkouts of the repository that `root` is in. `None` where it is in none, or one that cannot be read: git's files
/// never keep the server from starting.
///
/// They are read from git's own files, without starting it, once, before the walls close: most of these files are outside of
/// the roots. What is exempted is proved by git alone: by the back link `worktrees/ID/gitdir` of a repository that a call
/// never writes, outside of the roots, called `.git` or known by its content, and by a `.git` file, which no call writes
/// either. So nothing that a model could have put into a root counts here, and a worktree that is made after the start is
/// judged like any directory.
///
/// Limits: 256 worktrees. On macOS, which starts confined, what is outside of the roots cannot be read, and only a root
/// that holds its repository has checkouts. On Windows a repository on another drive, or on a share, is not looked at:
/// a `.git` file out of an archive must not make the system log in to a server.
pub(super) fn find_checkouts(root: &Root) -> Option<Checkouts> {
    // Not past a `.git` that is a link or broken: what is above it is another repository.
    let top = root.canonical.ancestors().find(|above| above.join(GIT_ENTRY).symlink_metadata().is_ok())?;
    let named = gitdir_of(&Dir::open_ambient(top, false).ok()?);
    let git = named.as_ref().map_or(Some(top.join(GIT_ENTRY)), |(_, named)| canonical(top, named))?;
    let is_linked = named.is_some() && names_worktree(&git);
    // Any `.git` file can name any repository of the host, which nothing of a submodule or `--separate-git-dir` proves.
    if named.is_some() && !is_linked && !git.starts_with(&root.canonical) {
        return None;
    }
    let dir = beneath::Dir::open_ambient(&git, false).ok()?;
    let head = content(&dir, "HEAD");
    // A copy of a worktree has the `.git` file of the other one.
    let (common, dir) = match git.parent().and_then(Path::parent).filter(|_| is_linked) {
        None => (&*git, dir),
        Some(common) if worktree_of(&dir, &git)? == top => (common, beneath::Dir::open_ambient(common, false).ok()?),
        Some(_) => return None,
    };
    if !is_one(|name| Some(dir.child_stat(name.as_ref()).ok()?.kind)) {
        return None;
    }
    let (mut others, mut judged_alone) = (Vec::from_iter(main_checkout(&dir, common)), HashSet::new());
    let worktrees = dir.dir_beneath(Path::new("worktrees"), OpenFor::List).ok();
    for listed in worktrees.iter().filter_map(|dir| dir.list_at_most(MAX_WORKTREES).ok()).flatten() {
        let git = common.join("worktrees").join(&listed.name);
        let dir = worktrees.as_ref().and_then(|dir| dir.child_dir(&listed.name, OpenFor::Traverse).ok());
        let worktree = dir.and_then(|dir| worktree_of(&dir, &git)).filter(|worktree| names_back(worktree, &git));
        let below = worktree.as_ref().and_then(|worktree| worktree.strip_prefix(&root.canonical).ok());
        judged_alone.extend(below.filter(|below| is_place_of_worktrees(below)).map(Path::to_owned));
        others.extend(worktree);
    }
    others.retain(|other| other != top);
    Some(Checkouts { top: top.to_owned(), others, judged_alone, is_linked, head, git })
}

/// The top directory of the worktree whose git directory `dir` is, at `path`, by git's back link; `None` where it is gone.
fn worktree_of(dir: &beneath::Dir, path: &Path) -> Option<PathBuf> {
    let named = PathBuf::from(name_of(content(dir, "gitdir")?.trim_ascii_end().to_vec())?);
    canonical(path, named.parent().filter(|_| named.ends_with(GIT_ENTRY))?)
}

/// Whether a directory is still the worktree of that git directory: its `.git` file names that. Any directory of the host
/// could be named there by an archive with a repository in it, and answers would show whether it exists.
fn names_back(worktree: &Path, git: &Path) -> bool {
    let named = Dir::open_ambient(worktree, false).ok().and_then(|dir| gitdir_of(&dir));
    // As git writes it, it needs no look at each directory on the way.
    named.is_some_and(|(_, named)| named == git || canonical(worktree, &named).as_deref() == Some(git))
}

/// The directory that has the repository in it, unless that is bare.
fn main_checkout(dir: &beneath::Dir, common: &Path) -> Option<PathBuf> {
    let config = content(dir, "config").unwrap_or_default().to_ascii_lowercase();
    let is_bare = String::from_utf8_lossy(&config).replace([' ', '\t'], "").contains("bare=true");
    common.parent().filter(|_| common.ends_with(GIT_ENTRY) && !is_bare).map(Path::to_owned)
}

/// The content of a regular file; links and long ones are refused.
fn content(dir: &beneath::Dir, name: &str) -> Option<Vec<u8>> {
    let content = beneath::read_regular(&dir.child_file(name.as_ref()).ok()?, MAX_BYTES + 1).ok()??;
    (content.len() as u64 <= MAX_BYTES).then_some(content)
}

/// The path without links of what a file in `directory` names; `None` where nothing is.
fn canonical(directory: &Path, named: &Path) -> Option<PathBuf> {
    let path = directory.join(named);
    strip_base(&path, &base_of(directory))?;
    beneath::canonical(&path).ok().map(without_verbatim)
}
