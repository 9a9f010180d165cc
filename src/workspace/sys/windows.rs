//! Directory handles where there is no `openat`: cap-std's `Dir`, which confines each name itself.
//!
//! A name is looked at before it is opened, so that links are refused as elsewhere. Should it be
//! swapped in between, cap-std still keeps the open inside the directory.

#![expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "the same signatures as elsewhere")]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::Path;

use cap_std::fs::{Metadata, OpenOptions};

use crate::workspace::{FileIdentity, FileKind, Stat};

use super::{Listed, LockAttempt, OpenFor};

/// An open directory.
#[derive(Debug)]
pub(crate) struct Dir {
    inner: cap_std::fs::Dir,
}

impl Dir {
    /// Whether directories can be locked on this system.
    pub(crate) const LOCKS: bool = false;

    /// Opens a root by its host path; only for start-up, before any call is served.
    pub(crate) fn open_ambient(path: &Path, _force_component: bool) -> io::Result<Self> {
        let inner = cap_std::fs::Dir::open_ambient_dir(path, cap_std::ambient_authority())?;
        Ok(Self { inner })
    }

    /// Whether the kernel confines paths beneath it.
    pub(crate) fn is_confined(&self) -> bool {
        false
    }

    /// The same directory through another handle.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { inner: self.inner.try_clone()? })
    }

    /// The same directory, opened again for `purpose`.
    pub(crate) fn reopen(&self, _purpose: OpenFor) -> io::Result<Self> {
        self.try_clone()
    }

    /// A directory directly in this one; a link is refused.
    pub(crate) fn child_dir(&self, name: &OsStr, _purpose: OpenFor) -> io::Result<Self> {
        match self.child_stat(name)?.kind {
            FileKind::Directory => Ok(Self { inner: self.inner.open_dir(name)? }),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// A file directly in this directory, for reading; a link is refused.
    pub(crate) fn child_file(&self, name: &OsStr) -> io::Result<File> {
        match self.child_stat(name)?.kind {
            FileKind::File => Ok(self.inner.open(name)?.into_std()),
            FileKind::Directory => Err(io::ErrorKind::IsADirectory.into()),
            FileKind::Symlink | FileKind::Other => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// What a name in this directory is; links are not followed.
    pub(crate) fn child_stat(&self, name: &OsStr) -> io::Result<Stat> {
        Ok(stat_of(&self.inner.symlink_metadata(name)?))
    }

    /// What a link in this directory says.
    pub(crate) fn child_link(&self, name: &OsStr) -> io::Result<OsString> {
        Ok(self.inner.read_link_contents(name)?.into_os_string())
    }

    /// What this directory itself is.
    pub(crate) fn stat(&self) -> io::Result<Stat> {
        Ok(stat_of(&self.inner.dir_metadata()?))
    }

    /// The names in this directory, in no order.
    pub(crate) fn list(&self) -> io::Result<Vec<Listed>> {
        self.list_at_most(usize::MAX)
    }

    /// As [`Self::list`], of the first so many names alone.
    pub(crate) fn list_at_most(&self, most: usize) -> io::Result<Vec<Listed>> {
        let mut names = Vec::new();
        for entry in self.inner.entries()?.take(most) {
            let entry = entry?;
            let kind = entry.file_type().map_or(FileKind::Other, kind_of);
            names.push(Listed { name: entry.file_name(), kind });
        }
        Ok(names)
    }

    /// Makes a directory; rights are inherited.
    pub(crate) fn make_dir(&self, name: &OsStr, _private: bool) -> io::Result<()> {
        self.inner.create_dir(name)
    }

    /// Creates a file that must not exist, open for reading and writing.
    pub(crate) fn create(&self, name: &OsStr, _private: bool) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        Ok(self.inner.open_with(name, &options)?.into_std())
    }

    /// Opens a file for appending, making it when it is missing.
    pub(crate) fn append(&self, name: &OsStr) -> io::Result<File> {
        if self.child_stat(name).is_ok_and(|stat| stat.kind != FileKind::File) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        Ok(self.inner.open_with(name, &options)?.into_std())
    }

    /// Unlinks a file.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.inner.remove_file(name)
    }

    /// Gives `from` the name `to`, which must be free (`AlreadyExists` otherwise).
    pub(crate) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match self.inner.hard_link(from, &self.inner, to) {
            Ok(()) => self.remove(from),
            Err(_) if self.child_stat(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => self.move_over(from, self, to),
        }
    }

    /// Rights are the files' own here.
    pub(crate) fn may_remove_names(&self) -> io::Result<()> {
        Ok(())
    }

    /// Removes an empty directory.
    pub(crate) fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        self.inner.remove_dir(name)
    }

    /// Links take a privilege here that an ordinary user does not have.
    pub(crate) fn make_link(&self, _target: &OsStr, _name: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Moves an entry to a name in `to_dir` that must be free (`AlreadyExists` otherwise).
    pub(crate) fn move_new(&self, from: &OsStr, to_dir: &Self, to: &OsStr) -> io::Result<()> {
        match to_dir.child_stat(to) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.move_over(from, to_dir, to),
            Err(error) => Err(error),
        }
    }

    /// Moves an entry to a name in `to_dir`, replacing a file there.
    pub(crate) fn move_over(&self, from: &OsStr, to_dir: &Self, to: &OsStr) -> io::Result<()> {
        self.inner.rename(from, &to_dir.inner, to)
    }

    /// There is no exchange here.
    pub(crate) fn swap(&self, _one: &OsStr, _other_dir: &Self, _other: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// There is no such call here.
    pub(crate) fn sync_file_system(&self) -> io::Result<bool> {
        Ok(false)
    }

    /// Rights are inherited here.
    pub(crate) fn set_mode(&self, _mode: u32) -> io::Result<()> {
        Ok(())
    }

    /// `LockFileEx` takes a file, and a directory is none.
    pub(crate) fn try_lock(&self) -> LockAttempt {
        LockAttempt::Unsupported
    }

    /// Owners are not carried over here.
    pub(crate) fn set_owner_of(&self, _stat: &Stat) {}

    /// Directories are not synced by hand here.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// A root is not recognised by numbers here.
pub(crate) fn identity(_: &Path) -> io::Result<(u64, u64)> {
    Err(io::ErrorKind::Unsupported.into())
}

/// What an open file is.
pub(crate) fn file_stat(file: &File) -> io::Result<Stat> {
    Ok(stat_of(&Metadata::from_file(file)?))
}

/// Rights are inherited from the directory; there is nothing to carry over but read-only, and a
/// read-only file could not be replaced.
pub(crate) fn carry_attributes(_old: &File, _old_stat: &Stat, _new: &File) -> io::Result<()> {
    Ok(())
}

/// There is no advisory lock here; at worst two processes set a log aside at once.
pub(crate) fn try_lock(_file: &File) -> bool {
    true
}

/// Rights are inherited here.
pub(crate) fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// This system has no such signal.
pub(crate) fn survive_large_writes() {}

/// This system has no such limit.
pub(crate) fn raise_open_files() {}

/// This system has no such limit.
pub(crate) fn file_size_limit() -> Option<u64> {
    None
}

/// This system has no such limit.
pub(crate) fn open_files() -> Option<u64> {
    None
}

/// Whether an answer says that this process may open no more files: `ERROR_TOO_MANY_OPEN_FILES`.
pub(crate) fn is_process_file_limit(error: &io::Error) -> bool {
    error.raw_os_error() == Some(4)
}

/// This system has no such limit.
pub(crate) fn is_system_file_limit(_: &io::Error) -> bool {
    false
}

fn kind_of(kind: cap_std::fs::FileType) -> FileKind {
    if kind.is_symlink() {
        FileKind::Symlink
    } else if kind.is_dir() {
        FileKind::Directory
    } else if kind.is_file() {
        FileKind::File
    } else {
        FileKind::Other
    }
}

fn stat_of(metadata: &Metadata) -> Stat {
    let time = |time: io::Result<cap_std::time::SystemTime>| time.ok().map(cap_std::time::SystemTime::into_std);
    let modified = time(metadata.modified());
    let since = |time: Option<std::time::SystemTime>| {
        let age = time?.duration_since(std::time::SystemTime::UNIX_EPOCH).ok()?;
        Some((i64::try_from(age.as_secs()).ok()?, age.subsec_nanos()))
    };
    Stat {
        kind: kind_of(metadata.file_type()),
        size: metadata.len(),
        modified,
        // There is no stable file number; the time of creation distinguishes most replacements.
        identity: FileIdentity {
            modified: since(modified).unwrap_or_default(),
            changed: since(time(metadata.created())).unwrap_or_default(),
            ..FileIdentity::default()
        },
    }
}
