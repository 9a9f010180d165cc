//! An open directory as everything above sees it: one on the disk, or one of a staged root.
//!
//! The methods are those of [`beneath::Dir`], where each is described. A staged directory answers from the merged view and
//! changes its layer alone (`stage`).

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{fs::File, io, ops::Deref, sync::Arc};

use beneath::{Failure, FileKind, Listed, LockAttempt, OpenFor, Stat};

use crate::stage::StagedDir;

#[derive(Debug)]
pub(crate) enum Dir {
    /// On the disk: each call goes straight to it.
    Plain(beneath::Dir),
    /// With a layer of staged changes over it.
    Staged(Box<StagedDir>),
}

/// The lock of a directory for as long as this lives. On Windows it is without the directory itself, which could be neither
/// renamed nor removed while it is open.
#[derive(Debug)]
pub(crate) struct HeldLock {
    #[cfg(not(windows))]
    _dir: Dir,
    #[cfg(windows)]
    _file: Option<File>,
}

/// Passes a call on to the directory that it is.
macro_rules! of_either {
    ($self:ident, $dir:ident => $call:expr) => {
        match $self {
            Dir::Plain($dir) => $call,
            Dir::Staged($dir) => $call,
        }
    };
}

/// As [`of_either`], of calls that answer with a directory.
macro_rules! opened {
    ($self:ident, $dir:ident => $call:expr) => {
        match $self {
            Dir::Plain($dir) => Ok(Dir::Plain($call?)),
            Dir::Staged($dir) => Ok(Dir::Staged(Box::new($call?))),
        }
    };
}

impl Dir {
    pub(crate) const LOCKS: bool = beneath::Dir::LOCKS;

    pub(crate) fn open_ambient(path: &Path, force_component: bool) -> io::Result<Self> {
        beneath::Dir::open_ambient(path, force_component).map(Self::Plain)
    }

    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        opened!(self, dir => dir.try_clone())
    }

    pub(crate) fn reopen(&self, purpose: OpenFor) -> io::Result<Self> {
        opened!(self, dir => dir.reopen(purpose))
    }

    pub(crate) fn child_dir(&self, name: &OsStr, purpose: OpenFor) -> io::Result<Self> {
        opened!(self, dir => dir.child_dir(name, purpose))
    }

    pub(crate) fn dir_beneath(&self, relative: &Path, purpose: OpenFor) -> Result<Self, Failure> {
        opened!(self, dir => dir.dir_beneath(relative, purpose))
    }

    pub(crate) fn stat_beneath(&self, relative: &Path) -> Result<Stat, Failure> {
        of_either!(self, dir => dir.stat_beneath(relative))
    }

    pub(crate) fn child_file(&self, name: &OsStr) -> io::Result<File> {
        of_either!(self, dir => dir.child_file(name))
    }

    pub(crate) fn child_stat(&self, name: &OsStr) -> io::Result<Stat> {
        of_either!(self, dir => dir.child_stat(name))
    }

    pub(crate) fn child_link(&self, name: &OsStr) -> io::Result<OsString> {
        of_either!(self, dir => dir.child_link(name))
    }

    pub(crate) fn spelling(&self, name: &OsStr) -> Option<OsString> {
        of_either!(self, dir => dir.spelling(name))
    }

    pub(crate) fn stat(&self) -> io::Result<Stat> {
        of_either!(self, dir => dir.stat())
    }

    pub(crate) fn list(&self) -> io::Result<Vec<Listed>> {
        of_either!(self, dir => dir.list())
    }

    pub(crate) fn list_at_most(&self, most: usize) -> io::Result<Vec<Listed>> {
        of_either!(self, dir => dir.list_at_most(most))
    }

    pub(crate) fn make_dir(&self, name: &OsStr, private: bool) -> io::Result<()> {
        of_either!(self, dir => dir.make_dir(name, private))
    }

    pub(crate) fn create(&self, name: &OsStr, private: bool) -> io::Result<File> {
        of_either!(self, dir => dir.create(name, private))
    }

    pub(crate) fn create_locked(&self, name: &OsStr) -> io::Result<File> {
        match self {
            Self::Plain(dir) => dir.create_locked(name),
            // The state folder alone has such files.
            Self::Staged(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    pub(crate) fn open_locked(&self, name: &OsStr) -> io::Result<File> {
        match self {
            Self::Plain(dir) => dir.open_locked(name),
            Self::Staged(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    pub(crate) fn create_like(&self, name: &OsStr, old: &Stat) -> io::Result<File> {
        of_either!(self, dir => dir.create_like(name, old))
    }

    pub(crate) fn append(&self, name: &OsStr) -> io::Result<File> {
        of_either!(self, dir => dir.append(name))
    }

    pub(crate) fn make_link(&self, target: &OsStr, name: &OsStr) -> io::Result<()> {
        of_either!(self, dir => dir.make_link(target, name))
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        of_either!(self, dir => dir.remove(name))
    }

    pub(crate) fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        of_either!(self, dir => dir.remove_dir(name))
    }

    pub(crate) fn may_remove_names(&self) -> io::Result<()> {
        of_either!(self, dir => dir.may_remove_names())
    }

    pub(crate) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        of_either!(self, dir => dir.rename_new(from, to))
    }

    pub(crate) fn move_new(&self, from: &OsStr, to_dir: &Self, to: &OsStr) -> io::Result<()> {
        match (self, to_dir) {
            (Self::Plain(dir), Self::Plain(to_dir)) => dir.move_new(from, to_dir, to),
            (Self::Staged(dir), Self::Staged(to_dir)) => dir.move_new(from, to_dir, to),
            // As between two file systems (rename(2)): callers copy then.
            _ => Err(io::ErrorKind::CrossesDevices.into()),
        }
    }

    pub(crate) fn move_over(&self, from: &OsStr, to_dir: &Self, to: &OsStr) -> io::Result<()> {
        match (self, to_dir) {
            (Self::Plain(dir), Self::Plain(to_dir)) => dir.move_over(from, to_dir, to),
            (Self::Staged(dir), Self::Staged(to_dir)) => dir.move_over(from, to_dir, to),
            _ => Err(io::ErrorKind::CrossesDevices.into()),
        }
    }

    pub(crate) fn swap(&self, one: &OsStr, other_dir: &Self, other: &OsStr) -> io::Result<()> {
        match (self, other_dir) {
            (Self::Plain(dir), Self::Plain(other_dir)) => dir.swap(one, other_dir, other),
            (Self::Staged(dir), Self::Staged(other_dir)) => dir.swap(one, other_dir, other),
            _ => Err(io::ErrorKind::CrossesDevices.into()),
        }
    }

    pub(crate) fn add_name(&self, name: &OsStr, second: &OsStr) -> io::Result<()> {
        match self {
            Self::Plain(dir) => dir.add_name(name, second),
            // A file of a layer has one name; callers do without a second.
            Self::Staged(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    pub(crate) fn set_mode(&self, mode: u32) -> io::Result<()> {
        of_either!(self, dir => dir.set_mode(mode))
    }

    pub(crate) fn set_owner_of(&self, stat: &Stat) {
        of_either!(self, dir => dir.set_owner_of(stat));
    }

    /// Whether a directory in it is the same one, by device and inode, once it has another name.
    pub(crate) fn keeps_identities(&self) -> bool {
        matches!(self, Self::Plain(_))
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        of_either!(self, dir => dir.sync())
    }

    pub(crate) fn sync_file_system(&self) -> io::Result<bool> {
        of_either!(self, dir => dir.sync_file_system())
    }

    pub(crate) fn try_lock(&self) -> LockAttempt {
        of_either!(self, dir => dir.try_lock())
    }

    /// Keeps the lock that [`Self::try_lock`] has taken.
    #[cfg(not(windows))]
    pub(crate) fn into_lock(self) -> HeldLock {
        HeldLock { _dir: self }
    }

    /// Keeps the lock that [`Self::try_lock`] has taken.
    #[cfg(windows)]
    pub(crate) fn into_lock(self) -> HeldLock {
        let dir = match self {
            Self::Plain(dir) => dir,
            Self::Staged(dir) => dir.into_locked(),
        };
        HeldLock { _file: dir.into_lock() }
    }
}

/// Of a staged directory that of one of its two halves: nothing that needs a descriptor is used for staged roots.
#[cfg(unix)]
impl std::os::fd::AsFd for Dir {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        of_either!(self, dir => dir.as_fd())
    }
}

/// How many directories below the top stay open. The soft limit of a process is usually 1024 descriptors
/// (`RLIMIT_NOFILE`, getrlimit(2)), and several calls walk at once.
const OPEN_AT_ONCE: usize = 64;

/// The open directories on the way from a top down to the current one: the directory cache of walks and trees. `T` is how
/// the top is held, which stays open.
///
/// Each directory is opened as a child of the one above it, which costs the same at any depth. At most [`OPEN_AT_ONCE`] of
/// them are open below the top, however deep the tree; one that was closed meanwhile is opened again from the nearest that
/// is still open, confined beneath it, no link followed.
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

    /// The current directory, which is opened again where it was closed meanwhile.
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

// Removing an entry with everything below it, whatever it is by now: for what this program has made itself.
//
// `std::fs::remove_dir_all` opens by path at its start; this begins at a name in an open directory, so that nothing
// outside of it can be reached (the race of [CVE-2022-21658]). Nothing is compared: what a person may have changed is
// removed by `tree/remove.rs` instead.
//
// [CVE-2022-21658]: https://blog.rust-lang.org/2022/01/20/cve-2022-21658/

/// Removes the entry called `name`, following no link.
pub(crate) fn remove_all(dir: &Dir, name: &OsStr) -> io::Result<()> {
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

/// Removes all but the directories and returns their names.
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
