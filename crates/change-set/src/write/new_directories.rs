//! The directories above what is written: made where missing, and taken back when the change fails.

use std::{ffi::OsStr, io, path::Path};

use beneath::{Failure, FileKind, OpenFor, Stat};

use super::{EntryLocks, WritablePath, entry_in_parent};
use crate::workspace::Shared;
use beneath::Dir;
use confined_fs::{
    AccessError, AccessErrorKind, WorkspacePath,
    for_changes::{AtPath as _, path_below},
};

/// A directory that a change has made, known by what it is and not by its name alone.
#[derive(Clone, Debug)]
pub struct NewDirectory {
    path: WorkspacePath,
    stat: Stat,
}

impl NewDirectory {
    /// The directory that was made at `path`, as it is.
    pub(crate) fn of(path: WorkspacePath, stat: Stat) -> Self {
        Self { path, stat }
    }

    /// Its device and inode, where the system has such numbers.
    pub fn identity(&self) -> Option<(u64, u64)> {
        Some(self.stat.device_and_inode()).filter(|identity| *identity != (0, 0))
    }

    /// Where it was made.
    pub fn path(&self) -> &WorkspacePath {
        &self.path
    }

    /// Removes it, if it is still the same one and empty; whether it is gone.
    pub(crate) fn remove(&self) -> bool {
        let (Some(parent), Some(name)) = (self.path.parent(), self.path.file_name()) else { return false };
        let Ok(dir) = self.path.root().dir().dir_beneath(parent.relative(), OpenFor::Traverse) else { return false };
        let is_own = dir.child_stat(name).is_ok_and(|now| now.kind == FileKind::Directory && now.same_file(&self.stat));
        // A swap after the look costs an empty directory at most: rmdir(2) removes nothing else.
        is_own && dir.remove_dir(name).is_ok()
    }
}

/// Directories that a change has made, the outermost first; dropped without [`Self::keep`], those that
/// are empty go again, so that a change that fails leaves nothing that no account has counted.
///
/// A directory that another program has put under such a name meanwhile stays.
#[derive(Debug, Default)]
pub(crate) struct NewDirs {
    made: Vec<NewDirectory>,
    /// Those above the directory of the change, open, so that none of them gets another name: on Windows alone, where
    /// files are renamed and removed by the path of their directory's handle. NTFS keeps the names above an open handle
    /// by itself; Wine and Samba rename what is above, and the handle says the old path.
    above: Vec<Dir>,
}

impl NewDirs {
    /// The change was made: they stay. Returns them, the outermost first.
    pub(crate) fn keep(mut self) -> Vec<NewDirectory> {
        std::mem::take(&mut self.made)
    }

    /// From a directory to one in it.
    fn go_down(&mut self, here: &mut Dir, next: Dir) {
        let above = std::mem::replace(here, next);
        if cfg!(windows) {
            self.above.push(above);
        }
    }
}

impl Drop for NewDirs {
    fn drop(&mut self) {
        // An open directory is not removed on Windows.
        self.above.clear();
        remove_made(&self.made);
    }
}

/// Removes directories that were made, the innermost first, up to one that holds something or is no longer the one
/// that was made; returns how many are gone.
pub(crate) fn remove_made(outermost_first: &[NewDirectory]) -> usize {
    outermost_first.iter().rev().take_while(|directory| directory.remove()).count()
}

/// The directory that is to hold an entry, made where it is missing, and the entry's name there. Temporary files that an
/// earlier process left in it are removed.
pub(crate) fn new_holder<'e>(
    shared: &Shared,
    locks: &EntryLocks,
    entry: &'e WritablePath,
) -> Result<(Dir, &'e OsStr, NewDirs), AccessError> {
    let (parent, name) = entry_in_parent(entry)?;
    let (dir, new) = make_dirs(&parent, entry.asked(), locks.there(entry.path()))?;
    shared.stale_temporaries.sweep_once(&parent, &dir);
    Ok((dir, name, new))
}

/// The directory at `path`, made with all above it where missing, each step in the handle before. The first
/// `existing_levels` of them, which the caller has seen and locked the last of, are not made again: another process is
/// about to move or delete them.
///
/// # Errors
/// `Changed` when one of those is gone.
pub(crate) fn make_dirs(
    path: &WorkspacePath,
    asked: &WorkspacePath,
    existing_levels: usize,
) -> Result<(Dir, NewDirs), AccessError> {
    let failed = |error| AccessError::from_io(error, asked);
    let root = &path.root().dir();
    let mut new = NewDirs::default();
    match dir_that_is_there(path, &mut new) {
        Ok(dir) => return Ok((dir, new)),
        Err(failure) if failure.is_missing() => new.above.clear(),
        Err(failure) => return Err(AccessError::from_failure(failure, asked)),
    }
    let mut here = root.dir_beneath(Path::new(""), OpenFor::Traverse).at(asked)?;
    // One sync for all new levels, of the directory that holds the topmost: what is made below it is in the same
    // transaction of a file system with a journal, and the lowest is synced with the file that it is made for.
    let mut holds_new = None;
    let mut level = std::path::PathBuf::new();
    let top = path_below(path.root(), Path::new(""));
    for (above, name) in path.relative().iter().enumerate() {
        level.push(name);
        if above < existing_levels {
            let next = here.child_dir(name, OpenFor::Traverse);
            let next = next.map_err(|_| AccessError::new(AccessErrorKind::Changed, asked))?;
            new.go_down(&mut here, next);
            continue;
        }
        // EEXIST: another process may have made it a moment ago, and it serves as well.
        let made = match here.make_dir(name, false) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
            answer => answer.is_ok(),
        };
        if made && holds_new.is_none() {
            holds_new = here.try_clone().ok();
        }
        let next = here.child_dir(name, OpenFor::Traverse).map_err(|error| match here.child_stat(name) {
            Ok(stat) if stat.kind == FileKind::Symlink => AccessError::new(AccessErrorKind::Changed, asked),
            _ => failed(error),
        })?;
        new.go_down(&mut here, next);
        if made {
            // By the handle, so that a name which is swapped later does not matter.
            new.made.push(NewDirectory::of(top.child(&level), here.stat().at(asked)?));
        }
    }
    if let Some(top) = holds_new {
        // A failure undoes nothing: the directories are there for every process already.
        let _ = top.sync();
    }
    Ok((here, new))
}

/// The directory at `path`; those above it stay open with `new` where they have to.
fn dir_that_is_there(path: &WorkspacePath, new: &mut NewDirs) -> Result<Dir, Failure> {
    let root = &path.root().dir();
    if !cfg!(windows) {
        return root.dir_beneath(path.relative(), OpenFor::Traverse);
    }
    let mut here = root.dir_beneath(Path::new(""), OpenFor::Traverse)?;
    for name in path.relative() {
        let next = here.dir_beneath(Path::new(name), OpenFor::Traverse)?;
        new.go_down(&mut here, next);
    }
    Ok(here)
}
