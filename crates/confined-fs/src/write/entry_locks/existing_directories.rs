//! The directories that hold some entries, as far as they exist: those that a change locks.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use beneath::{Failure, OpenFor};

use crate::{AccessErrorKind, Dir, Limit, WorkspacePath};

/// Device and inode: two processes that want the same two directories take them in this order.
pub(super) type Identity = (u64, u64);

/// See the module.
pub(super) struct ExistingDirectories {
    /// Open, each once, in the order in which they are locked.
    pub(super) directories: Vec<ExistingDirectory>,
    /// For each entry how many directories there are on the way to its own.
    pub(super) there: Vec<usize>,
}

pub(super) struct ExistingDirectory {
    pub(super) identity: Identity,
    /// On the host; of several, the first.
    pub(super) path: PathBuf,
    pub(super) dir: Dir,
}

/// Opens the directories that hold these entries.
pub(super) fn existing_directories(entries: &[&WorkspacePath]) -> Result<ExistingDirectories, AccessErrorKind> {
    let mut directories = Vec::new();
    let there = each_directory(entries, |directory| directories.push(directory))?;
    directories.sort_unstable_by_key(|directory: &ExistingDirectory| directory.identity);
    Ok(ExistingDirectories { directories, there })
}

/// As [`existing_directories`], none of which stays open: a change of many files has many.
pub(super) fn identities(entries: &[&WorkspacePath]) -> Result<Vec<Identity>, AccessErrorKind> {
    let mut identities = Vec::new();
    each_directory(entries, |directory| identities.push(directory.identity))?;
    identities.sort_unstable();
    Ok(identities)
}

/// Opens each directory once, one after the other. Returns for each entry how many there are on the way to its own.
fn each_directory(
    entries: &[&WorkspacePath],
    mut take: impl FnMut(ExistingDirectory),
) -> Result<Vec<usize>, AccessErrorKind> {
    let mut found: HashSet<Identity> = HashSet::new();
    let mut depths: HashMap<Option<WorkspacePath>, usize> = HashMap::new();
    let mut there = Vec::with_capacity(entries.len());
    for path in entries {
        let parent = path.parent();
        if let Some(depth) = depths.get(&parent) {
            there.push(*depth);
            continue;
        }
        let nearest = nearest(path)?;
        let depth = nearest.as_ref().map_or(0, |(depth, _)| *depth);
        there.push(depth);
        depths.insert(parent, depth);
        if let Some((_, directory)) = nearest
            && found.insert(directory.identity)
        {
            take(directory);
        }
    }
    Ok(there)
}

/// The innermost directory above `path` that is there, and how far it is below the root; `None` where it may not be
/// opened.
fn nearest(path: &WorkspacePath) -> Result<Option<(usize, ExistingDirectory)>, AccessErrorKind> {
    if !Dir::LOCKS {
        return Ok(None);
    }
    for above in std::iter::successors(path.parent(), WorkspacePath::parent) {
        match above.root().dir.dir_beneath(above.relative(), OpenFor::List) {
            Ok(dir) => {
                let Ok(stat) = dir.stat() else { return Ok(None) };
                let directory = ExistingDirectory { identity: stat.device_and_inode(), path: above.host(), dir };
                return Ok(Some((above.relative().iter().count(), directory)));
            }
            Err(failure) if failure.is_missing() => {}
            Err(Failure::Link) => return Ok(None),
            Err(Failure::Io(error)) => {
                return Limit::of_open_files(&error).map_or(Ok(None), |limit| Err(AccessErrorKind::Limit(limit)));
            }
        }
    }
    Ok(None)
}
