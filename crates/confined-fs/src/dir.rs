//! An open directory as everything above sees it: one on the disk, or one of a staged root.
//!
//! The methods are those of [`beneath::Dir`], where each is described. A staged directory answers from the merged view and
//! changes its layer alone (`stage`).

mod directory_stack;
mod remove_all;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::Path;

use beneath::{Failure, Listed, LockAttempt, OpenFor, Stat};

use super::stage::StagedDir;

pub(crate) use directory_stack::DirectoryStack;
pub(crate) use remove_all::remove_all;

/// See the module.
#[derive(Debug)]
pub(crate) enum Dir {
    /// On the disk.
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
            Self::Plain(dir) => Some(dir),
            Self::Staged(dir) => dir.into_locked(),
        };
        HeldLock { _file: dir.and_then(beneath::Dir::into_lock) }
    }
}

/// Of a staged directory that of one of its two halves: nothing that needs a descriptor is used for staged roots.
#[cfg(unix)]
impl std::os::fd::AsFd for Dir {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        of_either!(self, dir => dir.as_fd())
    }
}
