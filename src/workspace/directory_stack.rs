//! One branch of a tree: the directories from a top down to the one at hand, the innermost ones open.
//!
//! Each directory is opened as a child of the one above it, which costs the same at any depth. At most
//! [`OPEN_AT_ONCE`] of them are open, however deep the tree; one that was closed meanwhile is opened
//! anew from the nearest that is still open, confined beneath it, no link followed.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::sys::{Dir, Failure, Use};

/// How many directories of a branch stay open.
pub(super) const OPEN_AT_ONCE: usize = 64;

/// See the module.
#[derive(Debug)]
pub(super) struct DirectoryStack<'t> {
    top: &'t Dir,
    purpose: Use,
    below: Vec<Level>,
}

/// A directory below the top.
#[derive(Debug)]
struct Level {
    name: OsString,
    /// None while the branch goes on far below it.
    dir: Option<Dir>,
}

impl<'t> DirectoryStack<'t> {
    /// Just the top, which stays open. All others are opened for `purpose`.
    pub(super) fn new(top: &'t Dir, purpose: Use) -> Self {
        Self { top, purpose, below: Vec::new() }
    }

    /// How many directories the one at hand is below the top.
    pub(super) fn depth(&self) -> usize {
        self.below.len()
    }

    /// Goes into a directory of the one at hand.
    pub(super) fn enter(&mut self, name: &OsStr) -> Result<(), Failure> {
        let purpose = self.purpose;
        let dir = self.dir()?.dir_beneath(Path::new(name), purpose)?;
        self.below.push(Level { name: name.to_os_string(), dir: Some(dir) });
        if let Some(far) = self.below.len().checked_sub(OPEN_AT_ONCE + 1) {
            self.below[far].dir = None;
        }
        Ok(())
    }

    /// Goes up one directory; the name of the one that was left.
    pub(super) fn leave(&mut self) -> Option<OsString> {
        self.below.pop().map(|level| level.name)
    }

    /// Goes up to the directory that is `depth` below the top.
    pub(super) fn leave_to(&mut self, depth: usize) {
        self.below.truncate(depth);
    }

    /// The directory at hand.
    pub(super) fn dir(&mut self) -> Result<&Dir, Failure> {
        let Some(last) = self.below.len().checked_sub(1) else { return Ok(self.top) };
        if self.below[last].dir.is_none() {
            self.open_again(last)?;
        }
        Ok(self.below[last].dir.as_ref().unwrap_or(self.top))
    }

    /// Opens a directory that was closed, together with those above it that are left next: going all
    /// the way up opens each of them once, and the whole path only now and then.
    fn open_again(&mut self, last: usize) -> Result<(), Failure> {
        let nearest = self.below[..last].iter().rposition(|level| level.dir.is_some());
        let from = nearest.map_or(0, |at| at + 1);
        let first = (last + 1).saturating_sub(OPEN_AT_ONCE / 2).max(from);
        let names: PathBuf = self.below[from..=first].iter().map(|level| &level.name).collect();
        let above = nearest.and_then(|at| self.below[at].dir.as_ref()).unwrap_or(self.top);
        let mut dir = above.dir_beneath(&names, self.purpose)?;
        for level in first..last {
            let next = dir.dir_beneath(Path::new(&self.below[level + 1].name), self.purpose)?;
            self.below[level].dir = Some(std::mem::replace(&mut dir, next));
        }
        self.below[last].dir = Some(dir);
        Ok(())
    }
}
