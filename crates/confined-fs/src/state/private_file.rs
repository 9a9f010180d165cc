//! Files of the state folder that are larger than memory should be: read at any place, written piece by piece.
//!
//! Another program of the same user may write there. So a file is used only where it is a regular one with one name, of
//! this user, and nobody else may write to it; what is in it is for the caller to check.

use std::{ffi::OsStr, fs::File, io, time::SystemTime};

use beneath::{FileKind, LockAttempt, OpenFor, Stat};

use super::{FolderLock, StateDir, bare};
use crate::write::{Temporary, is_reserved};
use crate::{Dir, limits::IfThere as _};

/// A file that is open for reading. It stays readable when it is replaced or removed.
#[derive(Debug)]
pub struct PrivateFile {
    file: File,
    stat: Stat,
}

/// A file that is being written; nobody sees it before it is published.
#[derive(Debug)]
pub struct NewPrivateFile<'d> {
    temporary: Temporary<'d>,
    dir: &'d Dir,
}

impl PrivateFile {
    /// Bytes that it had when it was opened.
    pub fn size(&self) -> u64 {
        self.stat.size
    }

    /// When it was last used, by [`Self::touch`], or written.
    pub fn used(&self) -> Option<SystemTime> {
        self.stat.modified
    }

    /// Notes that it is used now. The owner of a file may set its time through a handle that only reads
    /// (utimensat(2)).
    pub fn touch(&self) -> io::Result<()> {
        beneath::set_modified(&self.file, SystemTime::now())
    }

    /// Fills `bytes` from `offset` on.
    ///
    /// # Errors
    /// `UnexpectedEof` where the file ends before that; those of the system.
    pub fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_exact_at(&self.file, bytes, offset);
        #[cfg(not(unix))]
        {
            use std::io::{Read as _, Seek as _, SeekFrom};
            let mut file = &self.file;
            file.seek(SeekFrom::Start(offset))?;
            file.read_exact(bytes)
        }
    }
}

impl NewPrivateFile<'_> {
    /// Adds `bytes` at its end.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        beneath::write_all(self.temporary.file(), bytes)
    }

    /// Puts it on the disk, and then in the place of what is called `name`.
    pub fn publish(mut self, name: &str) -> io::Result<()> {
        beneath::sync_all(self.temporary.file())?;
        self.temporary.replace_any(bare(name)?)?;
        self.dir.sync()
    }
}

impl StateDir {
    /// The folder of that name in this one, if it is there and nobody but this user may write to it.
    ///
    /// # Errors
    /// `InvalidData` where others may write to it; those of the system, for a link as well.
    pub fn existing_private_folder(&self, name: &str) -> io::Result<Self> {
        let opened = self.dir.child_dir(bare(name)?, OpenFor::Traverse);
        let folder = Self { dir: opened.map_err(|error| self.plainer(name, error))? };
        match shared_with(&folder.dir.stat()?) {
            None => Ok(folder),
            Some(flaw) => Err(io::Error::new(io::ErrorKind::InvalidData, flaw)),
        }
    }

    /// As [`Self::existing_private_folder`]; it is made (mode 0700) when it is missing.
    pub fn private_folder(&self, name: &str) -> io::Result<Self> {
        self.child(bare(name)?)?;
        self.existing_private_folder(name)
    }

    /// Opens a file, if nobody but this user could have written it.
    ///
    /// # Errors
    /// `InvalidData` where that is not so; those of the system, for a link as well.
    pub fn open_private(&self, name: &str) -> io::Result<PrivateFile> {
        let file = self.dir.child_file(bare(name)?).map_err(|error| self.plainer(name, error))?;
        let stat = beneath::file_stat(&file)?;
        match private_flaw(&stat) {
            None => Ok(PrivateFile { file, stat }),
            Some(flaw) => Err(io::Error::new(io::ErrorKind::InvalidData, flaw)),
        }
    }

    /// Why this name could not be opened, in the terms of a link: a system calls it a loop, or no folder.
    fn plainer(&self, name: &str, error: io::Error) -> io::Error {
        let is_link =
            bare(name).and_then(|name| self.dir.child_stat(name)).is_ok_and(|stat| stat.kind == FileKind::Symlink);
        if is_link { io::Error::new(io::ErrorKind::InvalidData, "it is a link") } else { error }
    }

    /// Begins a file for its owner only.
    pub fn new_private(&self) -> io::Result<NewPrivateFile<'_>> {
        Ok(NewPrivateFile { temporary: Temporary::create(&self.dir, true)?, dir: &self.dir })
    }

    /// Takes the advisory lock of this folder; `None` where another process or call has it, and on a file system without
    /// such locks.
    pub fn try_lock(&self) -> io::Result<Option<FolderLock>> {
        let handle = self.dir.reopen(OpenFor::List)?;
        Ok((handle.try_lock() == LockAttempt::Acquired).then_some(FolderLock { _handle: Some(handle) }))
    }

    /// Makes a folder of that name and takes its lock: [`Self::is_held`] until the lock is dropped, or the process ends.
    pub fn hold(&self, name: &str) -> io::Result<FolderLock> {
        loop {
            let held = self.private_folder(name)?;
            // On a file system without locks the folder alone says so.
            let lock = held.try_lock()?.unwrap_or(FolderLock { _handle: None });
            // Another process may have taken it for one that nobody holds before it was locked.
            if self.dir.child_stat(bare(name)?).if_there()?.is_some() {
                return Ok(lock);
            }
        }
    }

    /// Whether the folder of that name is held. One that nobody holds is removed.
    pub fn is_held(&self, name: &str) -> bool {
        let is_free = |folder: Self| folder.try_lock().is_ok_and(|lock| lock.is_some());
        let is_left = self.existing_private_folder(name).map(is_free);
        if is_left.as_ref().is_ok_and(|is_left| *is_left) {
            let _ = self.remove_any(name.as_ref());
        }
        is_left.is_ok_and(|is_left| !is_left)
    }

    /// Removes the folders that nobody holds and whose names begin with `prefix`.
    pub fn sweep_held(&self, prefix: &str) -> io::Result<()> {
        for listed in self.dir.reopen(OpenFor::List)?.list()? {
            listed.name.to_str().filter(|name| name.starts_with(prefix)).map(|name| self.is_held(name));
        }
        Ok(())
    }

    /// Removes all temporary files, also those of a moment ago: for who has the lock that each writer takes.
    pub fn sweep_locked(&self, _lock: &FolderLock) -> io::Result<()> {
        for listed in self.dir.reopen(OpenFor::List)?.list()?.iter().filter(|listed| is_reserved(&listed.name)) {
            // A folder with something in it that has such a name stays, and is in nobody's way.
            let _ = self.remove_any(&listed.name);
        }
        Ok(())
    }

    /// Removes what has this name, be it a file, a link or something special; nothing for a folder that is not empty.
    pub fn remove_any(&self, name: &OsStr) -> io::Result<()> {
        match self.dir.remove(name) {
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => self.dir.remove_dir(name),
            answer => answer,
        }
    }
}

/// Why a file is not used, if so.
fn private_flaw(stat: &Stat) -> Option<&'static str> {
    if stat.kind != FileKind::File {
        return Some("it is not a regular file");
    }
    if cfg!(unix) && stat.links() != 1 { Some("it has another name") } else { shared_with(stat) }
}

/// Who else may write there, if that is known.
fn shared_with(stat: &Stat) -> Option<&'static str> {
    #[cfg(unix)]
    if stat.identity.uid != rustix::process::geteuid().as_raw() {
        return Some("it belongs to another user");
    }
    (stat.permissions() & 0o022 != 0).then_some("others may write to it")
}
