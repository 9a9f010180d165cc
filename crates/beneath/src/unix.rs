//! Directory handles over rustix: `openat`, `fstatat`, `renameat` and their kin, links never followed.

mod acl;
mod entries;
#[cfg(target_os = "linux")]
mod file_system;
mod fstat;
#[cfg(target_os = "linux")]
pub(crate) mod openat2;
mod process;

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::{fs::File, io, os::unix::ffi::OsStringExt as _, path::Path};

use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, flock, fstat, fsync, mkdirat, openat, readlinkat, statat,
};

use crate::contract::{READ_FLAGS, TRAVERSE_FLAGS};
use crate::{FileKind, Listed, LockAttempt, OpenFor, Stat, testing::faults};
use fstat::stat_of;
use process::{change, open, retry};

pub use entries::set_mode;
#[cfg(target_os = "linux")]
pub use file_system::reports_all_changes;
pub use fstat::{canonical, file_stat, identity, next_data, next_hole};
pub use process::{
    file_size_limit, is_in_use, is_process_file_limit, is_system_file_limit, open_files, raise_open_files,
    random_bytes, refused_opens, survive_large_writes,
};

/// An open directory, by a descriptor that is closed when it is dropped.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    /// Whether the kernel confines paths beneath it for us (`openat2`).
    pub(super) kernel: bool,
    /// Whether the kernel then says of a file that it can be had without waiting.
    pub(super) local: bool,
}

impl Dir {
    /// Whether directories can be locked on this system.
    pub const LOCKS_DIRECTORIES: bool = true;
    /// Whether files are appended to and written in place here.
    pub const CHANGES_FILES: bool = true;

    /// Opens a root by its host path; only for start-up, before any call is served.
    pub fn open_ambient(path: &Path, force_component: bool) -> io::Result<Self> {
        let fd = openat(CWD, path, TRAVERSE_FLAGS, Mode::empty())?;
        #[cfg(target_os = "linux")]
        let (kernel, local) = (
            !force_component && openat2::available(&fd),
            // There, an open of a name that the kernel knows asks nobody.
            file_system::reports_all_changes(&fd).unwrap_or(false),
        );
        #[cfg(not(target_os = "linux"))]
        let (kernel, local) = {
            let _ = force_component;
            (false, false)
        };
        Ok(Self { fd, kernel, local })
    }

    /// Whether the kernel confines paths beneath it.
    pub fn is_confined(&self) -> bool {
        self.kernel
    }

    /// The same directory through another descriptor.
    pub fn try_clone(&self) -> io::Result<Self> {
        // By dup(2): the clone shares the open file description, and so its lock (flock(2)); `reopen` makes a new one.
        Ok(self.with(self.fd.try_clone()?))
    }

    /// The same directory, opened again for `purpose`.
    pub fn reopen(&self, purpose: OpenFor) -> io::Result<Self> {
        // "." works through a handle that only passes (`O_PATH`), which cannot be listed, locked or synced itself.
        self.child_dir(OsStr::new("."), purpose)
    }

    /// A directory directly in this one; a link is refused.
    pub fn child_dir(&self, name: &OsStr, purpose: OpenFor) -> io::Result<Self> {
        let fd = open(|| openat(&self.fd, name, purpose.flags(), Mode::empty()))?;
        Ok(self.with(fd))
    }

    /// A file directly in this directory, for reading, without blocking; a link is refused.
    pub fn child_file(&self, name: &OsStr) -> io::Result<File> {
        Ok(open(|| openat(&self.fd, name, READ_FLAGS, Mode::empty()))?.into())
    }

    /// Stats a name in this directory; links are not followed.
    pub fn child_stat(&self, name: &OsStr) -> io::Result<Stat> {
        Ok(stat_of(&statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Reads the target of a link in this directory.
    pub fn child_link(&self, name: &OsStr) -> io::Result<OsString> {
        let target = readlinkat(&self.fd, name, Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()))
    }

    /// The names in this directory, in no order. Needs `OpenFor::List`.
    pub fn list(&self) -> io::Result<Vec<Listed>> {
        self.list_at_most(usize::MAX)
    }

    /// As [`Self::list`], of the first `most` names alone. Needs `OpenFor::List`.
    pub fn list_at_most(&self, most: usize) -> io::Result<Vec<Listed>> {
        let mut names = Vec::new();
        #[cfg(target_os = "linux")]
        let mut buffer = Vec::with_capacity(32 * 1024);
        #[cfg(target_os = "linux")]
        let mut entries = rustix::fs::RawDir::new(self, buffer.spare_capacity_mut());
        #[cfg(not(target_os = "linux"))]
        let mut entries = rustix::fs::Dir::read_from(self)?;
        while names.len() < most
            && let Some(entry) = entries.next()
        {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let name = OsString::from_vec(name.to_vec());
            let kind = match entry.file_type() {
                FileType::RegularFile => FileKind::File,
                FileType::Directory => FileKind::Directory,
                FileType::Symlink => FileKind::Symlink,
                // Some file systems do not say (DT_UNKNOWN); a name that is gone is skipped.
                FileType::Unknown => match self.child_stat(&name) {
                    Ok(stat) => stat.kind,
                    Err(_) => continue,
                },
                _ => FileKind::Other,
            };
            names.push(Listed { name, kind });
        }
        Ok(names)
    }

    /// Stats this directory itself.
    pub fn stat(&self) -> io::Result<Stat> {
        Ok(stat_of(&fstat(&self.fd)?))
    }

    /// Makes a directory; the process's umask applies.
    pub fn make_dir(&self, name: &OsStr, private: bool) -> io::Result<()> {
        let mode = if private { 0o700 } else { 0o777 };
        change("mkdirat", || mkdirat(&self.fd, name, Mode::from_raw_mode(mode)))
    }

    /// Creates a file that must not exist, open for reading and writing. A private one is for its
    /// owner only, another gets 0666 under the umask.
    pub fn create(&self, name: &OsStr, private: bool) -> io::Result<File> {
        // `EXCL` refuses a link that has the name already, also one that leads nowhere (open(2)).
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = if private { 0o600 } else { 0o666 };
        self.open_to_write(name, flags, mode)
    }

    /// As [`Self::create`], private, with the file's advisory lock, which is free when it is closed.
    pub fn create_locked(&self, name: &OsStr) -> io::Result<File> {
        locked(self.create(name, true)?)
    }

    /// Opens a file that [`Self::create_locked`] made, with its lock; `WouldBlock` where another handle has that.
    pub fn open_locked(&self, name: &OsStr) -> io::Result<File> {
        locked(self.child_file(name)?)
    }

    /// As [`Self::create`], private, for the replacement of `old`, whose rights it is given once it is written.
    pub fn create_like(&self, name: &OsStr, _old: &Stat) -> io::Result<File> {
        self.create(name, true)
    }

    /// How a name that is found in another case is spelled in the directory, where the system says it.
    pub fn spelling(&self, _name: &OsStr) -> Option<OsString> {
        None
    }

    /// Opens a file that is there to change it: at its end alone (`O_APPEND`), or anywhere. A link is refused.
    pub fn child_to_change(&self, name: &OsStr, appends: bool) -> io::Result<File> {
        let how = if appends { OFlags::WRONLY | OFlags::APPEND } else { OFlags::RDWR };
        self.open_to_write(name, how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC, 0)
    }

    /// Opens a file of the program's own that is there, to write anywhere in it. A link is refused.
    pub fn child_to_overwrite(&self, name: &OsStr) -> io::Result<File> {
        self.child_to_change(name, false)
    }

    /// Opens a file for appending, making it (for its owner only) when it is missing.
    pub fn append(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            // A FIFO instead of the file, which nobody reads, is ENXIO instead of a wait without end (fifo(7)).
            | OFlags::NONBLOCK
            | OFlags::NOCTTY
            | OFlags::CLOEXEC;
        self.open_to_write(name, flags, 0o600)
    }

    /// Writes the directory's own changes to the disk.
    pub fn sync(&self) -> io::Result<()> {
        // A handle that only passes (`O_PATH`) cannot be synced: EBADF.
        let listed = self.reopen(OpenFor::List)?;
        change("fsync", || fsync(&listed.fd))
    }

    /// Tries to take the advisory lock of this directory (`flock(2)`), which excludes every other handle
    /// that was opened on its own, and which the kernel frees when the process dies. Needs [`OpenFor::List`]:
    /// a handle that only passes (`O_PATH`) has no locks.
    pub fn try_lock(&self) -> LockAttempt {
        match retry(|| flock(&self.fd, FlockOperation::NonBlockingLockExclusive)) {
            Ok(()) => LockAttempt::Acquired,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => LockAttempt::HeldElsewhere,
            // ENOLCK, EOPNOTSUPP, ENOSYS, EBADF (NFS wants a handle that may write), whatever else.
            Err(_) => LockAttempt::Unsupported,
        }
    }

    fn open_to_write(&self, name: &OsStr, flags: OFlags, mode: rustix::fs::RawMode) -> io::Result<File> {
        let opening = || faults::opening(|| openat(&self.fd, name, flags, Mode::from_raw_mode(mode)));
        Ok(change("openat", opening)?.into())
    }

    pub(super) fn with(&self, fd: OwnedFd) -> Self {
        Self { fd, kernel: self.kernel, local: self.local }
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn locked(file: File) -> io::Result<File> {
    retry(|| flock(&file, FlockOperation::NonBlockingLockExclusive))?;
    Ok(file)
}

/// Takes the file's advisory lock, which its last handle frees; false when somebody else has it.
pub fn try_lock(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}
