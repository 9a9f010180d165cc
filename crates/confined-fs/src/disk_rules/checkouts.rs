//! Which checkouts the repository of a root has, and what is checked out: read from git's own files, without starting it.
//!
//! Once, before the walls close: most of these files are outside of the roots. What is exempted is proved by git alone: by
//! the back link `worktrees/ID/gitdir` of a repository that a call never writes, outside of the roots, called `.git` or
//! known by its content (`repository`), and by a `.git` file, which no call writes either. So nothing that a model could
//! have put into a root counts here, and a worktree that is made after the start is judged like any directory.
//!
//! Limits: 256 worktrees. On macOS, which starts confined, what is outside of the roots cannot be read, and only a root
//! that holds its repository has checkouts. On Windows a repository on another drive, or on a share, is not looked at:
//! a `.git` file out of an archive must not make the system log in to a server.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use beneath::lexical::{base_of, strip_base, without_verbatim};
use beneath::{FileKind, OpenFor};

use crate::path::name_of;
use crate::policy::is_place_of_worktrees;
use crate::root::Checkouts;
use crate::walk::{GIT, gitdir_of, names_worktree};
use crate::{Dir, Root};

use super::repository;

/// Worktrees of one repository that are looked at, in the order of the directory.
const MAX_WORKTREES: usize = 256;
/// Longest file of a repository that is read, in bytes: far more than any path, and than most configurations.
const MAX_BYTES: u64 = 64 << 10;

/// The checkouts of the repository that `root` is in. `None` where it is in none, or one that cannot be read: git's files
/// never keep the server from starting.
pub(super) fn find(root: &Root) -> Option<Checkouts> {
    // Not past a `.git` that is a link or broken: what is above it is another repository.
    let top = root.canonical.ancestors().find(|above| above.join(GIT).symlink_metadata().is_ok())?;
    let named = gitdir_of(&Dir::open_ambient(top, false).ok()?);
    let git = named.as_ref().map_or(Some(top.join(GIT)), |(_, named)| canonical(top, named))?;
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
    if !repository::is_one(|name| Some(dir.child_stat(name.as_ref()).ok()?.kind)) {
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
    canonical(path, named.parent().filter(|_| named.ends_with(GIT))?)
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
    common.parent().filter(|_| common.ends_with(GIT) && !is_bare).map(Path::to_owned)
}

/// The content of a regular file; links and long ones are refused.
fn content(dir: &beneath::Dir, name: &str) -> Option<Vec<u8>> {
    let (file, mut content) = (dir.child_file(name.as_ref()).ok()?, Vec::new());
    beneath::file_stat(&file).ok().filter(|stat| stat.kind == FileKind::File && stat.size <= MAX_BYTES)?;
    file.take(MAX_BYTES).read_to_end(&mut content).ok().map(|_| content)
}

/// The path without links of what a file in `directory` names; `None` where nothing is.
fn canonical(directory: &Path, named: &Path) -> Option<PathBuf> {
    let path = directory.join(named);
    strip_base(&path, &base_of(directory))?;
    beneath::canonical(&path).ok().map(without_verbatim)
}
