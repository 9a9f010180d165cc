//! Opening and listing below a directory handle, links never followed, and the lock of a directory.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Component, Path, PathBuf, Prefix};
use std::{io, os::windows::fs::OpenOptionsExt as _, sync::OnceLock};

use cap_primitives::fs::{
    OpenOptions, OpenOptionsExt as _, open, open_ambient_dir, open_dir_nofollow, read_link_contents,
};

use super::fstat::{BACKUP_SEMANTICS, OPEN_REPARSE_POINT, REPARSE_POINT, file_stat, kept_attributes};
use super::{is_in_use, retried};
use crate::{FileKind, Listed, LockAttempt, OpenFor, Stat};

/// An open directory, by a handle that nobody may rename or remove it under.
#[derive(Debug)]
pub struct Dir {
    pub(super) file: File,
    /// The path by which it was opened, for file systems that do not say theirs.
    opened: PathBuf,
    /// The lock of [`Self::try_lock`], once this handle has it.
    pub(super) lock: OnceLock<File>,
}

impl Dir {
    fn of(file: File, opened: PathBuf) -> Self {
        Self { file, opened, lock: OnceLock::new() }
    }

    /// Opens a root by its host path; only for start-up, before any call is served.
    pub fn open_ambient(path: &Path, _force_component: bool) -> io::Result<Self> {
        let file = open_ambient_dir(path, cap_primitives::ambient_authority())?;
        Ok(Self::of(file, verbatim(path)?))
    }

    /// Whether the kernel confines paths beneath it.
    pub fn is_confined(&self) -> bool {
        false
    }

    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self::of(self.file.try_clone()?, self.opened.clone()))
    }

    pub fn reopen(&self, _purpose: OpenFor) -> io::Result<Self> {
        // One handle serves both purposes, as names are listed by the path.
        self.try_clone()
    }

    /// A directory directly in this one; a link is refused.
    pub fn child_dir(&self, name: &OsStr, _purpose: OpenFor) -> io::Result<Self> {
        Ok(Self::of(open_dir_nofollow(&self.file, Path::new(name))?, self.opened.join(name)))
    }

    /// A file directly in this directory, for reading; a link is refused.
    pub fn child_file(&self, name: &OsStr) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(OPEN_REPARSE_POINT);
        let file = open(&self.file, Path::new(name), &options).map_err(|error| {
            // A directory cannot be opened as a file: ERROR_ACCESS_DENIED.
            let is_directory = || self.child_stat(name).is_ok_and(|stat| stat.kind == FileKind::Directory);
            if error.kind() == io::ErrorKind::PermissionDenied && is_directory() {
                io::ErrorKind::IsADirectory.into()
            } else {
                error
            }
        })?;
        let stat = file_stat(&file)?;
        // With that flag a link itself is opened without an error; the handle says what it is, not the name.
        if stat.kind == FileKind::Symlink {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if stat.identity.attributes & REPARSE_POINT == 0 {
            return Ok(file);
        }
        // What a filter fills in (`OneDrive`, deduplication) is read through it only without that flag. It is the same
        // file, or a link was put in its place since.
        let filled_in = File::open(self.host(name)?)?;
        if file_stat(&filled_in)?.same_file(&stat) { Ok(filled_in) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// Stats a name in this directory; links are not followed.
    pub fn child_stat(&self, name: &OsStr) -> io::Result<Stat> {
        file_stat(&self.child_itself(name)?)
    }

    pub fn child_link(&self, name: &OsStr) -> io::Result<OsString> {
        Ok(read_link_contents(&self.file, Path::new(name))?.into_os_string())
    }

    /// How a name that is found in another case is spelled in the directory.
    pub fn spelling(&self, name: &OsStr) -> Option<OsString> {
        // The system's own name of the open file, by the case of each entry on the way.
        let own = winx::file::get_file_path(&self.child_itself(name).ok()?).ok()?;
        let own = own.file_name()?;
        let is_same = own.to_string_lossy().to_lowercase() == name.to_string_lossy().to_lowercase();
        (is_same && own != name).then(|| own.to_os_string())
    }

    pub fn stat(&self) -> io::Result<Stat> {
        file_stat(&self.file)
    }

    pub fn list(&self) -> io::Result<Vec<Listed>> {
        self.list_at_most(usize::MAX)
    }

    #[expect(clippy::disallowed_methods, reason = "by the path that the system gives for the open directory")]
    pub fn list_at_most(&self, most: usize) -> io::Result<Vec<Listed>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(self.host(OsStr::new(""))?)?.take(most) {
            let entry = entry?;
            let kind = entry.file_type().map_or(FileKind::Other, |kind| {
                // As in `fstat`: a junction is a link.
                match (kind.is_symlink(), kind.is_dir()) {
                    (true, _) => FileKind::Symlink,
                    (false, true) => FileKind::Directory,
                    (false, false) => FileKind::File,
                }
            });
            names.push(Listed { name: entry.file_name(), kind });
        }
        Ok(names)
    }

    /// Creates a file that must not exist, open for reading and writing, and locked until it is closed: others may rename
    /// or remove it, no more (`FILE_SHARE_DELETE`).
    pub fn create_locked(&self, name: &OsStr) -> io::Result<File> {
        self.locked(name, true)
    }

    /// Opens and locks a file that [`Self::create_locked`] made; `WouldBlock` where another handle has the lock.
    pub fn open_locked(&self, name: &OsStr) -> io::Result<File> {
        self.locked(name, false)
    }

    fn locked(&self, name: &OsStr, is_new: bool) -> io::Result<File> {
        const FILE_SHARE_DELETE: u32 = 4;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(is_new).share_mode(FILE_SHARE_DELETE);
        options.custom_flags(OPEN_REPARSE_POINT);
        open(&self.file, Path::new(name), &options)
            .map_err(|error| if is_in_use(&error) { io::ErrorKind::WouldBlock.into() } else { error })
    }

    pub fn create(&self, name: &OsStr, _private: bool) -> io::Result<File> {
        self.create_with(name, 0)
    }

    pub fn create_like(&self, name: &OsStr, old: &Stat) -> io::Result<File> {
        self.create_with(name, kept_attributes(old))
    }

    fn create_with(&self, name: &OsStr, attributes: u32) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).attributes(attributes);
        open(&self.file, Path::new(name), &options)
    }

    /// Files are replaced here, and not changed.
    pub fn child_to_change(&self, _name: &OsStr, _appends: bool) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn child_to_overwrite(&self, name: &OsStr) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).custom_flags(OPEN_REPARSE_POINT);
        retried(|| open(&self.file, Path::new(name), &options))
    }

    pub fn append(&self, name: &OsStr) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.append(true).create(true).custom_flags(OPEN_REPARSE_POINT);
        let file = retried(|| open(&self.file, Path::new(name), &options))?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// Directories are not synced by hand here.
    #[expect(clippy::unnecessary_wraps, reason = "the same signature as elsewhere")]
    pub fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    /// The path of a name in this directory, for calls that take no handle; "" for the directory itself.
    pub(super) fn host(&self, name: &OsStr) -> io::Result<PathBuf> {
        // `ImDisk` and some network drives do not say it (https://github.com/rust-lang/rust/issues/79449), nor does Wine 8
        // for more than 260 characters.
        let own = winx::file::get_file_path(&self.file).unwrap_or_else(|_| self.opened.clone());
        Ok(if name.is_empty() { own } else { own.join(name) })
    }

    /// Opens what has a name, a link itself, for questions alone: that works whatever other programs do with it.
    fn child_itself(&self, name: &OsStr) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.access_mode(0).custom_flags(OPEN_REPARSE_POINT | BACKUP_SEMANTICS);
        open(&self.file, Path::new(name), &options)
    }

    /// Whether directories can be locked on this system.
    pub const LOCKS_DIRECTORIES: bool = true;
    /// Whether files are appended to and written in place here.
    pub const CHANGES_FILES: bool = false;

    /// Tries to take the lock of this directory between the processes of one user, which this handle has until it is dropped.
    ///
    /// Windows locks files only. So the lock is a file that is open for one process alone and goes when it is closed
    /// (`FILE_FLAG_DELETE_ON_CLOSE`), also by the end of its process. It is in the user's local folder, named by the volume
    /// and number of the directory: no file is made in the workspace, and every process finds the same one whatever its
    /// state folder.
    ///
    /// Limits: processes of other users, and on other machines, do not see it.
    pub fn try_lock(&self) -> LockAttempt {
        let Some((volume, number)) = self.stat().ok().map(|stat| stat.device_and_inode()).filter(|id| *id != (0, 0))
        else {
            return LockAttempt::Unsupported;
        };
        let folder = folder();
        match lock_file(&folder, &format!("{volume:x}-{number:x}.lock")) {
            Ok(file) => {
                // It is not set yet: while this handle has the file open, no second open of it succeeds (share mode 0).
                let _ = self.lock.set(file);
                LockAttempt::Acquired
            }
            Err(error) if is_in_use(&error) => LockAttempt::HeldElsewhere,
            // The last holder's file is going, or the folder may not be written.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && is_writable(&folder) => {
                LockAttempt::HeldElsewhere
            }
            Err(_) => LockAttempt::Unsupported,
        }
    }

    /// The lock that this handle has, without the directory.
    pub fn into_lock(self) -> Option<File> {
        self.lock.into_inner()
    }
}

/// `ERROR_INVALID_FUNCTION` and `ERROR_UNRECOGNIZED_VOLUME` of drives that do not say the path of an open file (`ImDisk`:
/// <https://github.com/rust-lang/rust/issues/79449>), and `ERROR_MORE_DATA` of Wine 8 for more than 260 characters.
const NOT_SAID: [i32; 3] = [1, 1005, 234];

/// The path of the host without links, where the drive says it; else with `.` and `..` taken out.
#[expect(clippy::disallowed_methods, reason = "once at start-up, on trusted paths, before any call is served")]
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.raw_os_error().is_some_and(|code| NOT_SAID.contains(&code)) => std::path::absolute(path),
        answer => answer,
    }
}

/// The path beginning with `\\?\`.
fn verbatim(path: &Path) -> io::Result<PathBuf> {
    let path = canonical(path)?;
    let is_drive =
        |part: Component<'_>| matches!(part, Component::Prefix(prefix) if matches!(prefix.kind(), Prefix::Disk(_)));
    if !path.components().next().is_some_and(is_drive) {
        return Ok(path);
    }
    let mut verbatim = OsString::from(r"\\?\");
    verbatim.push(path.components().as_path());
    Ok(verbatim.into())
}

/// `FILE_FLAG_DELETE_ON_CLOSE`: a process that dies leaves no lock.
const DELETE_ON_CLOSE: u32 = 0x0400_0000;
/// `FILE_ATTRIBUTE_TEMPORARY`: not worth writing to the disk.
const TEMPORARY_ATTRIBUTE: u32 = 0x100;

fn folder() -> PathBuf {
    let local = std::env::var_os("LOCALAPPDATA").map(PathBuf::from).filter(|path| path.is_absolute());
    local.unwrap_or_else(std::env::temp_dir).join("rootbound").join("locks")
}

#[expect(clippy::disallowed_methods, reason = "a folder of this program, no path of a caller")]
fn lock_file(folder: &Path, name: &str) -> io::Result<File> {
    let path = folder.join(name);
    let open = || {
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(false).share_mode(0);
        options.custom_flags(DELETE_ON_CLOSE).attributes(TEMPORARY_ATTRIBUTE).open(&path)
    };
    match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(folder)?;
            open()
        }
        answer => answer,
    }
}

fn is_writable(folder: &Path) -> bool {
    // Named by the process, so that two that ask at once do not refuse each other.
    lock_file(folder, &format!("{}.probe", std::process::id())).is_ok()
}
