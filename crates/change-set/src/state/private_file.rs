//! Files of the state folder that are larger than memory should be: read at any place, written piece by piece.
//!
//! Another program of the same user may write there. So a file is used only where it is a regular one with one name, of
//! this user, and nobody else may write to it; what is in it is for the caller to check.

use std::time::{Duration, Instant, SystemTime};
use std::{ffi::OsStr, fs::File, io, thread};

use beneath::{FileKind, LockAttempt, OpenFor, Stat};

use super::{FolderLock, LOCK_WITHIN, StateDir, bare};
use crate::write::Temporary;
use beneath::Dir;
use confined_fs::for_changes::IfThere as _;
use confined_fs::for_changes::is_reserved;

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
        let dir = self.dir;
        self.publish_unsynced(name)?;
        dir.sync()
    }

    /// Puts it in the place of what is called `name`. After a crash of the system it may hold less than was written: for
    /// content that can be made again, and has a checksum.
    pub fn publish_unsynced(self, name: &str) -> io::Result<()> {
        self.temporary.replace_any(bare(name)?)
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
        self.make(bare(name)?)?;
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

    /// Makes a folder of that name, which no other process has, and takes its lock: [`Self::is_held`] until that is dropped,
    /// or the process ends.
    ///
    /// # Errors
    /// `WouldBlock` where others have the lock for 0.1 s; those of the system.
    pub fn hold(&self, name: &str) -> io::Result<FolderLock> {
        let began = Instant::now();
        loop {
            self.make(bare(name)?)?;
            if let Some(folder) = self.existing_private_folder(name).if_there()? {
                let handle = folder.dir.reopen(OpenFor::List)?;
                // On a file system without locks the folder alone says so, and nobody removes it.
                let is_free = handle.try_lock() != LockAttempt::HeldElsewhere;
                if is_free && self.dir.child_stat(bare(name)?).if_there()?.is_some() {
                    return Ok(FolderLock { _handle: Some(handle) });
                }
            }
            if began.elapsed() > LOCK_WITHIN {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            // Who sweeps has the lock for a moment, and may have removed the folder before that was taken here.
            thread::sleep(Duration::from_micros(200));
        }
    }

    /// Whether the folder of that name is held, or that cannot be found out.
    pub fn is_held(&self, name: &str) -> bool {
        match self.existing_private_folder(name).and_then(|folder| folder.try_lock()) {
            Ok(lock) => lock.is_none(),
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }

    /// Removes the folders that nobody holds and whose names begin with `prefix`.
    pub fn sweep_held(&self, prefix: &str) -> io::Result<()> {
        for listed in self.dir.reopen(OpenFor::List)?.list()? {
            // What cannot be removed is in nobody's way.
            listed.name.to_str().filter(|name| name.starts_with(prefix)).map(|name| self.remove_left(name));
        }
        Ok(())
    }

    fn remove_left(&self, name: &str) -> io::Result<()> {
        let folder = self.existing_private_folder(name)?;
        let lock = folder.try_lock()?;
        // Another one that sweeps may have removed it before it was locked here, and its process may hold a new one of that
        // name. As long as the folder of that name is locked here, nobody else holds or removes it.
        if lock.is_none() || !self.dir.child_stat(bare(name)?)?.same_file(&folder.dir.stat()?) {
            return Ok(());
        }
        // There an open folder cannot be removed, and so neither one that is held by now.
        #[cfg(windows)]
        drop((folder, lock));
        self.dir.remove_dir(bare(name)?)
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
        // The systems refuse to unlink a folder in different words: EISDIR, EPERM (macOS), ERROR_ACCESS_DENIED.
        match self.dir.child_stat(name)?.kind {
            FileKind::Directory => self.dir.remove_dir(name),
            _ => self.dir.remove(name),
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn only_a_sweep_removes_what_nobody_holds() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::open(temp.path()).unwrap();
        let is_there = |name: &str| state.existing_private_folder(name).is_ok();
        let lock = state.hold("living-a").unwrap();
        // As a killed process leaves it.
        state.private_folder("living-b").unwrap();
        assert!(state.is_held("living-a") && !state.is_held("living-b") && !state.is_held("living-c"));
        assert!(is_there("living-b"), "a look removes nothing");
        state.sweep_held("living-").unwrap();
        assert!(is_there("living-a") && !is_there("living-b"));
        drop(lock);
        assert!(is_there("living-a") && !state.is_held("living-a"));
        state.remove_any("living-a".as_ref()).unwrap();
        assert!(!is_there("living-a"));
    }

    #[test]
    fn nothing_is_held_while_another_has_the_lock() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::open(temp.path()).unwrap();
        let other = state.private_folder("living-a").unwrap().try_lock().unwrap();
        assert_eq!(state.hold("living-a").unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(other);
        let _lock = state.hold("living-a").unwrap();
        assert!(state.private_folder("living-a").unwrap().try_lock().unwrap().is_none());
    }

    #[test]
    fn what_is_held_stays_whoever_sweeps() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::open(temp.path()).unwrap();
        let is_done = AtomicBool::new(false);
        thread::scope(|scope| {
            let sweeps = || {
                while !is_done.load(Ordering::Relaxed) {
                    state.sweep_held("living-").unwrap();
                }
            };
            scope.spawn(sweeps);
            scope.spawn(sweeps);
            let held = (0..200).all(|_| match state.hold("living-a") {
                Ok(_lock) => {
                    state.sweep_held("living-").unwrap();
                    state.is_held("living-a")
                }
                // On a machine with too much else to do.
                Err(_) => true,
            });
            is_done.store(true, Ordering::Relaxed);
            assert!(held);
        });
    }
}
