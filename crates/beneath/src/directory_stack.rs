//! The open directories on the way down a tree, and the removal of a whole tree.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{io, ops::Deref, sync::Arc};

use crate::{Dir, Failure, FileKind, OpenFor};

/// How many directories below the top stay open. The soft limit of a process is usually 1024 descriptors
/// (`RLIMIT_NOFILE`, getrlimit(2)), and several calls walk at once.
const OPEN_AT_ONCE: usize = 64;

/// The open directories on the way from a top down to the current one: the directory cache of walks and trees. `T` is how
/// the top is held, which stays open.
///
/// Each directory is opened as a child of the one above it, which costs the same at any depth. At most `OPEN_AT_ONCE` of
/// them are open below the top, however deep the tree; one that was closed meanwhile is opened again from the nearest that
/// is still open, confined beneath it, no link followed.
#[derive(Debug)]
pub struct DirectoryStack<T> {
    top: T,
    purpose: OpenFor,
    open_at_once: usize,
    below: Vec<StackedDirectory>,
}

#[derive(Debug)]
struct StackedDirectory {
    name: OsString,
    /// None while the current directory is far below it.
    dir: Option<Arc<Dir>>,
}

impl<T: Deref<Target = Dir>> DirectoryStack<T> {
    /// One at its top; `purpose` is that of all below it.
    pub fn new(top: T, purpose: OpenFor) -> Self {
        Self { top, purpose, open_at_once: OPEN_AT_ONCE, below: Vec::new() }
    }

    /// How many directories the current one is below the top.
    pub fn depth(&self) -> usize {
        self.below.len()
    }

    /// The names from the top down to the current directory.
    pub fn names(&self) -> impl Iterator<Item = &OsStr> {
        self.below.iter().map(|directory| directory.name.as_os_str())
    }

    /// Opens a child of the current directory and makes it the current one.
    ///
    /// # Errors
    /// Those of the open.
    pub fn enter(&mut self, name: &OsStr) -> Result<(), Failure> {
        let purpose = self.purpose;
        let dir = self.dir()?.dir_beneath(Path::new(name), purpose)?;
        self.push(name, Arc::new(dir));
        Ok(())
    }

    /// Makes a child of the current directory, which is open, the current one.
    pub fn push(&mut self, name: &OsStr, dir: Arc<Dir>) {
        self.below.push(StackedDirectory { name: name.to_os_string(), dir: Some(dir) });
        if let Some(far) = self.below.len().checked_sub(self.open_at_once + 1) {
            self.below[far].dir = None;
        }
    }

    /// Goes up one directory; the name of the one that was left.
    pub fn leave(&mut self) -> Option<OsString> {
        self.below.pop().map(|directory| directory.name)
    }

    /// Goes up to that depth.
    pub fn leave_to(&mut self, depth: usize) {
        self.below.truncate(depth);
    }

    /// The current directory.
    ///
    /// # Errors
    /// Those of opening it again.
    pub fn dir(&mut self) -> Result<&Dir, Failure> {
        let Some(last) = self.below.len().checked_sub(1) else { return Ok(&self.top) };
        if self.below[last].dir.is_none() {
            self.open_again(last)?;
        }
        Ok(self.below[last].dir.as_ref().map_or(&*self.top, |dir| dir))
    }

    /// Closes all but the top, and keeps only the innermost open from now on: for a process that has run out of
    /// descriptors (`EMFILE`, `ENFILE`).
    pub fn close_below(&mut self) {
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
    /// The current directory, unless it was closed.
    pub fn open(&self) -> Option<&Arc<Dir>> {
        self.below.last().map_or(Some(&self.top), |directory| directory.dir.as_ref())
    }
}

// Removing an entry with everything below it, whatever it is now: for what this program has made itself.
//
// `std::fs::remove_dir_all` opens by path at its start; this begins at a name in an open directory, so that nothing
// outside of it can be reached (the race of [CVE-2022-21658]). Nothing is compared: what a person may have changed is
// removed by the caller that knows it.
//
// [CVE-2022-21658]: https://blog.rust-lang.org/2022/01/20/cve-2022-21658/

/// Removes the entry called `name`, following no link.
///
/// # Errors
/// Those of the system; a part may be removed then.
pub fn remove_all(dir: &Dir, name: &OsStr) -> io::Result<()> {
    if dir.child_stat(name)?.kind != FileKind::Directory {
        return dir.remove(name);
    }
    let mut stack = DirectoryStack::new(dir, OpenFor::List);
    stack.enter(name)?;
    let mut left = vec![remove_files(stack.dir()?)?];
    while let Some(directories) = left.last_mut() {
        if let Some(next) = directories.pop() {
            stack.enter(&next)?;
            left.push(remove_files(stack.dir()?)?);
            continue;
        }
        left.pop();
        if let Some(own) = stack.leave() {
            stack.dir()?.remove_dir(&own)?;
        }
    }
    Ok(())
}

fn remove_files(dir: &Dir) -> io::Result<Vec<OsString>> {
    let mut directories = Vec::new();
    for listed in dir.list()? {
        if listed.kind == FileKind::Directory {
            directories.push(listed.name);
        } else {
            dir.remove(&listed.name)?;
        }
    }
    Ok(directories)
}
