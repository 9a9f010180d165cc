//! The open directories on the way from a top down to the current one: the directory cache of walks and trees.
//!
//! Each directory is opened as a child of the one above it, which costs the same at any depth. At most
//! [`OPEN_AT_ONCE`] of them are open below the top, however deep the tree; one that was closed meanwhile is opened
//! again from the nearest that is still open, confined beneath it, no link followed. The top stays open.

use std::ffi::{OsStr, OsString};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use beneath::{Failure, OpenFor};

use super::Dir;

/// How many directories below the top stay open. The soft limit of a process is usually 1024 descriptors
/// (`RLIMIT_NOFILE`, getrlimit(2)), and several calls walk at once.
const OPEN_AT_ONCE: usize = 64;

/// See the module. `T` is how the top is held.
#[derive(Debug)]
pub(crate) struct DirectoryStack<T> {
    top: T,
    purpose: OpenFor,
    open_at_once: usize,
    below: Vec<StackedDirectory>,
}

/// A directory below the top.
#[derive(Debug)]
struct StackedDirectory {
    name: OsString,
    /// None while the current directory is far below it.
    dir: Option<Arc<Dir>>,
}

impl<T: Deref<Target = Dir>> DirectoryStack<T> {
    /// Just the top. All others are opened for `purpose`.
    pub(crate) fn new(top: T, purpose: OpenFor) -> Self {
        Self { top, purpose, open_at_once: OPEN_AT_ONCE, below: Vec::new() }
    }

    /// How many directories the current one is below the top.
    pub(crate) fn depth(&self) -> usize {
        self.below.len()
    }

    /// The names of the directories below the top, down to the current one.
    pub(crate) fn names(&self) -> impl Iterator<Item = &OsStr> {
        self.below.iter().map(|directory| directory.name.as_os_str())
    }

    /// Goes into a directory of the current one.
    pub(crate) fn enter(&mut self, name: &OsStr) -> Result<(), Failure> {
        let purpose = self.purpose;
        let dir = self.dir()?.dir_beneath(Path::new(name), purpose)?;
        self.push(name, Arc::new(dir));
        Ok(())
    }

    /// Goes into a directory of the current one that the caller has opened.
    pub(crate) fn push(&mut self, name: &OsStr, dir: Arc<Dir>) {
        self.below.push(StackedDirectory { name: name.to_os_string(), dir: Some(dir) });
        if let Some(far) = self.below.len().checked_sub(self.open_at_once + 1) {
            self.below[far].dir = None;
        }
    }

    /// Goes up one directory; the name of the one that was left.
    pub(crate) fn leave(&mut self) -> Option<OsString> {
        self.below.pop().map(|directory| directory.name)
    }

    /// Goes up to the directory that is `depth` below the top.
    pub(crate) fn leave_to(&mut self, depth: usize) {
        self.below.truncate(depth);
    }

    /// The current directory.
    pub(crate) fn dir(&mut self) -> Result<&Dir, Failure> {
        let Some(last) = self.below.len().checked_sub(1) else { return Ok(&self.top) };
        if self.below[last].dir.is_none() {
            self.open_again(last)?;
        }
        Ok(self.below[last].dir.as_ref().map_or(&*self.top, |dir| dir))
    }

    /// Closes all but the top, and keeps only the innermost open from now on: for a process that has run out of
    /// descriptors (`EMFILE`, `ENFILE`).
    pub(crate) fn close_below(&mut self) {
        self.open_at_once = 1;
        self.below.iter_mut().for_each(|directory| directory.dir = None);
    }

    /// Opens a directory that was closed, together with those above it that are left next: going all
    /// the way up opens each of them once, and the whole path only now and then.
    fn open_again(&mut self, last: usize) -> Result<(), Failure> {
        let nearest = self.below[..last].iter().rposition(|directory| directory.dir.is_some());
        let from = nearest.map_or(0, |at| at + 1);
        let first = (last + 1).saturating_sub(self.open_at_once.div_ceil(2)).max(from);
        let names: PathBuf = self.below[from..=first].iter().map(|directory| &directory.name).collect();
        let above = nearest.and_then(|at| self.below[at].dir.as_deref()).unwrap_or(&self.top);
        let mut dir = above.dir_beneath(&names, self.purpose)?;
        for at in first..last {
            let next = dir.dir_beneath(Path::new(&self.below[at + 1].name), self.purpose)?;
            self.below[at].dir = Some(Arc::new(std::mem::replace(&mut dir, next)));
        }
        self.below[last].dir = Some(Arc::new(dir));
        Ok(())
    }
}

impl DirectoryStack<Arc<Dir>> {
    /// The current directory, where it is open.
    pub(crate) fn open(&self) -> Option<&Arc<Dir>> {
        self.below.last().map_or(Some(&self.top), |directory| directory.dir.as_ref())
    }
}
