//! Directory handles over rustix: `openat`, `fstatat`, `renameat` and their kin, links never followed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
#[cfg(target_os = "linux")]
use std::os::unix::ffi::OsStrExt;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, flock, fstat, fsync, linkat, mkdirat, openat, readlinkat,
    renameat, statat, unlinkat,
};
use rustix::io::Errno;

use super::{Failure, Listed, Locked, Use, component};
use crate::workspace::stat::{FileIdentity, FileKind, Stat};

/// Opening must never block (FIFO), take a terminal, or leak into a child.
const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

const LIST: OFlags = READ.union(OFlags::DIRECTORY);

#[cfg(target_os = "linux")]
const PASS: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const PASS: OFlags = LIST;

/// Longest relative path handed to one system call; longer ones go in pieces.
#[cfg(target_os = "linux")]
const PIECE: usize = 4000;

/// An open directory, whether the kernel confines paths beneath it for us, and whether it then says of a
/// file that it can be had without waiting.
#[derive(Debug)]
pub(crate) struct Dir {
    fd: OwnedFd,
    kernel: bool,
    local: bool,
}

impl Dir {
    /// Whether directories can be locked on this system.
    pub(crate) const LOCKS: bool = true;

    /// Opens a root by its host path; only for start-up, before any call is served.
    pub(crate) fn open_ambient(path: &Path, force_component: bool) -> io::Result<Self> {
        let fd = openat(CWD, path, PASS, Mode::empty())?;
        #[cfg(target_os = "linux")]
        let (kernel, local) = (!force_component && super::linux::available(&fd), super::linux::is_local(&fd));
        #[cfg(not(target_os = "linux"))]
        let (kernel, local) = {
            let _ = force_component;
            (false, false)
        };
        Ok(Self { fd, kernel, local })
    }

    /// Whether the kernel confines paths beneath it.
    pub(crate) fn is_confined(&self) -> bool {
        self.kernel
    }

    /// The same directory through another descriptor.
    pub(crate) fn again(&self) -> io::Result<Self> {
        Ok(self.with(self.fd.try_clone()?))
    }

    /// The same directory, opened anew for `purpose`.
    pub(crate) fn reopen(&self, purpose: Use) -> io::Result<Self> {
        self.child_dir(OsStr::new("."), purpose)
    }

    /// A directory beneath this one.
    pub(crate) fn dir_beneath(&self, relative: &Path, purpose: Use) -> Result<Self, Failure> {
        if relative.as_os_str().is_empty() {
            return Ok(self.reopen(purpose)?);
        }
        #[cfg(target_os = "linux")]
        if self.kernel {
            return self.kernel_open(relative, flags_for(purpose)).map(|fd| self.with(fd)).map_err(|failure| {
                match failure {
                    // With O_DIRECTORY | O_NOFOLLOW a final link is ENOTDIR, not ELOOP.
                    Failure::Io(error) if error.kind() == io::ErrorKind::NotADirectory => {
                        match self.stat_beneath(relative) {
                            // A directory by now: it was a link in between, so look again.
                            Ok(stat) if matches!(stat.kind, FileKind::Symlink | FileKind::Directory) => Failure::Link,
                            _ => Failure::Io(error),
                        }
                    }
                    other => other,
                }
            });
        }
        component::dir(self, relative, purpose)
    }

    /// A file beneath this directory, opened for reading without blocking. Whether it is a regular
    /// file is for the caller to see.
    pub(crate) fn file_beneath(&self, relative: &Path) -> Result<File, Failure> {
        if relative.as_os_str().is_empty() {
            return Err(Failure::Io(io::ErrorKind::IsADirectory.into()));
        }
        #[cfg(target_os = "linux")]
        if self.kernel {
            return Ok(self.kernel_open(relative, READ)?.into());
        }
        component::file(self, relative)
    }

    /// A regular file beneath this directory with its content of at most `limit` bytes, if the kernel has its name and
    /// all its pages in memory: neither a disk, nor another machine, nor another process is asked. `None` says nothing
    /// about what is there.
    pub(crate) fn read_cached(&self, relative: &Path, limit: usize) -> Option<(File, Stat, Vec<u8>)> {
        #[cfg(target_os = "linux")]
        if self.kernel && self.local {
            let file = File::from(super::linux::open_cached(&self.fd, relative, READ)?);
            let stat = file_stat(&file).ok().filter(|stat| stat.kind == FileKind::File)?;
            let mut bytes = vec![0; usize::try_from(stat.size).ok().filter(|size| *size <= limit)?];
            return super::linux::read_cached(&file, &mut bytes).then_some((file, stat, bytes));
        }
        let _ = (relative, limit);
        None
    }

    /// What is at a path beneath this directory; a link at its end is reported as a link.
    pub(crate) fn stat_beneath(&self, relative: &Path) -> Result<Stat, Failure> {
        if relative.as_os_str().is_empty() {
            return Ok(self.stat()?);
        }
        #[cfg(target_os = "linux")]
        if self.kernel {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let fd = self.kernel_open(relative, flags)?;
            return Ok(stat_of(&fstat(fd).map_err(io::Error::from)?));
        }
        component::stat(self, relative)
    }

    /// A directory directly in this one; a link is refused.
    pub(crate) fn child_dir(&self, name: &OsStr, purpose: Use) -> io::Result<Self> {
        let fd = retry(|| openat(&self.fd, name, flags_for(purpose), Mode::empty()))?;
        Ok(self.with(fd))
    }

    /// A file directly in this directory, for reading, without blocking; a link is refused.
    pub(crate) fn child_file(&self, name: &OsStr) -> io::Result<File> {
        Ok(retry(|| openat(&self.fd, name, READ, Mode::empty()))?.into())
    }

    /// What a name in this directory is; links are not followed.
    pub(crate) fn child_stat(&self, name: &OsStr) -> io::Result<Stat> {
        Ok(stat_of(&statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// What a link in this directory says.
    pub(crate) fn child_link(&self, name: &OsStr) -> io::Result<OsString> {
        let target = readlinkat(&self.fd, name, Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()))
    }

    /// What this directory itself is.
    pub(crate) fn stat(&self) -> io::Result<Stat> {
        Ok(stat_of(&fstat(&self.fd)?))
    }

    /// The names in this directory, in no order. Needs [`Use::List`].
    pub(crate) fn list(&self) -> io::Result<Vec<Listed>> {
        self.list_at_most(usize::MAX)
    }

    /// As [`Self::list`], of the first so many names alone. Needs [`Use::List`].
    pub(crate) fn list_at_most(&self, most: usize) -> io::Result<Vec<Listed>> {
        let mut names = Vec::new();
        self.each_name(|name, kind| {
            if names.len() >= most {
                return ControlFlow::Break(());
            }
            if name == b"." || name == b".." {
                return ControlFlow::Continue(());
            }
            let name = OsString::from_vec(name.to_vec());
            let kind = match kind {
                FileType::RegularFile => FileKind::File,
                FileType::Directory => FileKind::Directory,
                FileType::Symlink => FileKind::Symlink,
                // Some file systems do not tell; a name that is gone by now is left out.
                FileType::Unknown => match self.child_stat(&name) {
                    Ok(stat) => stat.kind,
                    Err(_) => return ControlFlow::Continue(()),
                },
                _ => FileKind::Other,
            };
            names.push(Listed { name, kind });
            ControlFlow::Continue(())
        })?;
        Ok(names)
    }

    #[cfg(target_os = "linux")]
    fn each_name(&self, mut visit: impl FnMut(&[u8], FileType) -> ControlFlow<()>) -> io::Result<()> {
        let mut buffer = Vec::with_capacity(32 * 1024);
        let mut entries = rustix::fs::RawDir::new(&self.fd, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry?;
            if visit(entry.file_name().to_bytes(), entry.file_type()).is_break() {
                break;
            }
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn each_name(&self, mut visit: impl FnMut(&[u8], FileType) -> ControlFlow<()>) -> io::Result<()> {
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            let entry = entry?;
            if visit(entry.file_name().to_bytes(), entry.file_type()).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Makes a directory; the process's umask applies.
    pub(crate) fn make_dir(&self, name: &OsStr, private: bool) -> io::Result<()> {
        let mode = if private { 0o700 } else { 0o777 };
        Ok(mkdirat(&self.fd, name, Mode::from_raw_mode(mode))?)
    }

    /// Creates a file that must not exist, open for reading and writing. A private one is for its
    /// owner only, another gets 0666 under the umask.
    pub(crate) fn create(&self, name: &OsStr, private: bool) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = if private { 0o600 } else { 0o666 };
        Ok(retry(|| openat(&self.fd, name, flags, Mode::from_raw_mode(mode)))?.into())
    }

    /// Opens a file for appending, making it (for its owner only) when it is missing.
    pub(crate) fn append(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::NOCTTY
            | OFlags::CLOEXEC;
        Ok(retry(|| openat(&self.fd, name, flags, Mode::from_raw_mode(0o600)))?.into())
    }

    /// Unlinks a file.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.fd, name, AtFlags::empty())?)
    }

    /// Renames within this directory, replacing what is there.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.fd, from, &self.fd, to)?)
    }

    /// Swaps two names of this directory in one step; `Unsupported` where that cannot be done.
    pub(crate) fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            renameat_with(&self.fd, one, &self.fd, other, RenameFlags::EXCHANGE).map_err(unsupported)
        }
        #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
        {
            let _ = (one, other);
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// Gives `from` the name `to`, which must be free (`AlreadyExists` otherwise).
    pub(crate) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            let flags = RenameFlags::NOREPLACE;
            match renameat_with(&self.fd, from, &self.fd, to, flags).map_err(unsupported) {
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
                answer => return answer,
            }
        }
        // A hard link is as atomic: it fails when the name is taken.
        match linkat(&self.fd, from, &self.fd, to, AtFlags::empty()) {
            Ok(()) => self.remove(from),
            Err(Errno::EXIST) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) if self.child_stat(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => self.rename(from, to),
        }
    }

    /// Writes the directory's own changes to the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(fsync(self.reopen(Use::List)?.fd)?)
    }

    /// Tries to take the advisory lock of this directory (`flock(2)`), which excludes every other handle
    /// that was opened on its own, and which the kernel frees when the process dies. Needs [`Use::List`]:
    /// a handle that only passes (`O_PATH`) has no locks.
    pub(crate) fn try_lock(&self) -> Locked {
        match retry(|| flock(&self.fd, FlockOperation::NonBlockingLockExclusive)) {
            Ok(()) => Locked::Here,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Locked::Elsewhere,
            // ENOLCK, EOPNOTSUPP, ENOSYS, EBADF (NFS wants a handle that may write), whatever else.
            Err(_) => Locked::Nowhere,
        }
    }

    fn with(&self, fd: OwnedFd) -> Self {
        Self { fd, kernel: self.kernel, local: self.local }
    }

    /// `openat2` beneath this directory, in pieces where the path is longer than the kernel takes.
    #[cfg(target_os = "linux")]
    fn kernel_open(&self, relative: &Path, flags: OFlags) -> Result<OwnedFd, Failure> {
        let told = |errno| match errno {
            Errno::LOOP | Errno::XDEV => Failure::Link,
            other => Failure::Io(other.into()),
        };
        let bytes = relative.as_os_str().as_bytes();
        if bytes.len() <= PIECE {
            return super::linux::open_beneath(&self.fd, relative, flags).map_err(told);
        }
        let mut rest = bytes;
        let mut here = None;
        while rest.len() > PIECE {
            let cut = rest[..PIECE].iter().rposition(|byte| *byte == b'/').unwrap_or(PIECE);
            let piece = Path::new(OsStr::from_bytes(&rest[..cut]));
            let from = here.as_ref().unwrap_or(&self.fd);
            let next = super::linux::open_beneath(from, piece, PASS).map_err(told)?;
            here = Some(next);
            rest = rest.get(cut + 1..).unwrap_or_default();
        }
        let from = here.as_ref().unwrap_or(&self.fd);
        super::linux::open_beneath(from, Path::new(OsStr::from_bytes(rest)), flags).map_err(told)
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Takes the file's advisory lock, which its last handle frees; false when somebody else has it.
pub(crate) fn try_lock(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Whether an open with links refused failed because of a link, which may be gone by now.
pub(crate) fn met_a_link(error: &io::Error) -> bool {
    // FreeBSD says EMLINK.
    matches!(Errno::from_io_error(error), Some(Errno::LOOP | Errno::MLINK))
}

/// Device and inode of what a root's host path leads to, links followed.
pub(crate) fn identity(path: &Path) -> io::Result<(u64, u64)> {
    Ok(stat_of(&retry(|| statat(CWD, path, AtFlags::empty()))?).device_and_inode())
}

/// As [`identity`], without waiting; `None` where that is not possible.
pub(crate) fn identity_cached(path: &Path) -> Option<(u64, u64)> {
    #[cfg(target_os = "linux")]
    return super::linux::host_path_cached(path).and_then(|fd| Some(stat_of(&fstat(fd).ok()?).device_and_inode()));
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        None
    }
}

/// What an open file is.
pub(crate) fn file_stat(file: &File) -> io::Result<Stat> {
    Ok(stat_of(&fstat(file)?))
}

fn flags_for(purpose: Use) -> OFlags {
    match purpose {
        Use::Pass => PASS,
        Use::List => LIST,
    }
}

fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    let mut waited = 0;
    loop {
        match call() {
            Err(Errno::INTR) => {}
            Err(Errno::MFILE | Errno::NFILE) if super::process::wait_for_files(&mut waited) => {}
            answer => return Ok(answer?),
        }
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub(super) fn unsupported(errno: Errno) -> io::Error {
    match errno {
        Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM => io::ErrorKind::Unsupported.into(),
        other => other.into(),
    }
}

/// Field types differ between systems; every value fits, and a negative one means nothing here.
fn number<T: TryInto<u64>>(value: T) -> u64 {
    value.try_into().unwrap_or(0)
}

fn seconds<T: TryInto<i64>>(value: T) -> i64 {
    value.try_into().unwrap_or(0)
}

fn narrow<T: TryInto<u32>>(value: T) -> u32 {
    value.try_into().unwrap_or(0)
}

fn stat_of(raw: &rustix::fs::Stat) -> Stat {
    let kind = match FileType::from_raw_mode(raw.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        _ => FileKind::Other,
    };
    let identity = FileIdentity {
        device: number(raw.st_dev),
        inode: number(raw.st_ino),
        links: number(raw.st_nlink),
        mode: narrow(raw.st_mode),
        uid: raw.st_uid,
        gid: raw.st_gid,
        modified: (seconds(raw.st_mtime), narrow(raw.st_mtime_nsec)),
        changed: (seconds(raw.st_ctime), narrow(raw.st_ctime_nsec)),
    };
    Stat { kind, size: number(raw.st_size), modified: system_time(identity.modified), identity }
}

fn system_time((seconds, nanoseconds): (i64, u32)) -> Option<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let base =
        if seconds < 0 { SystemTime::UNIX_EPOCH.checked_sub(whole) } else { SystemTime::UNIX_EPOCH.checked_add(whole) };
    base?.checked_add(Duration::from_nanos(nanoseconds.into()))
}
