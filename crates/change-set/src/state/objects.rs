//! A store of contents, each named by its hash, on the disk before the call returns.
//!
//! Knows no paths and no tools. An object counts only while it still hashes to its name, so that a half-written one
//! after a power failure counts as missing.

use std::io::{self, Read};
use std::{fs::File, time::SystemTime};

use beneath::{FileKind, OpenFor};

use super::{StateDir, bare};
use crate::write::HashedBytes;
use crate::write::Temporary;
use confined_fs::Revision;
use confined_fs::for_changes::is_reserved;

/// One file of a folder.
#[derive(Clone, Debug)]
pub struct StateFile {
    /// The name, as it is in the folder.
    pub name: String,
    /// Bytes in the file.
    pub size: u64,
    /// When it was last written.
    pub modified: SystemTime,
}

/// When a content has to be on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durable {
    /// When the call returns.
    Now,
    /// When [`StateDir::sync`] returns: for many contents in a row.
    Soon,
}

const SYNCS_ALL_AT_ONCE: bool = cfg!(target_os = "linux");

impl StateDir {
    /// The folder of that name in this one, made (mode 0700) when it is missing.
    pub fn folder(&self, name: &str) -> io::Result<Self> {
        self.child(bare(name)?)
    }

    /// As [`Self::append`], on the disk when it returns.
    pub fn append_synced(&self, file: &str, line: &[u8]) -> io::Result<()> {
        beneath::sync_data(&self.append_to(file, line)?)
    }

    /// Stores `content`, at most `limit` bytes of it, and returns its revision and length.
    ///
    /// # Errors
    /// `FileTooLarge` when there is more.
    pub fn store(&self, content: &mut dyn Read, limit: u64, durable: Durable) -> io::Result<(Revision, u64)> {
        let mut temporary = Temporary::create(&self.dir, true)?;
        let mut size = 0_u64;
        let revision = Revision::of_copied(content, |bytes| {
            size += bytes.len() as u64;
            if size > limit {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            beneath::write_all(temporary.file(), bytes)
        })?;
        let file = self.name_object(temporary, revision)?;
        if durable == Durable::Now || !SYNCS_ALL_AT_ONCE {
            beneath::sync_all(&file)?;
        }
        Ok((revision, size))
    }

    /// As [`Self::store`] with [`Durable::Now`], for a content that has been hashed.
    pub fn store_content(&self, content: HashedBytes<'_>, limit: u64) -> io::Result<()> {
        if content.bytes().len() as u64 > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut temporary = Temporary::create(&self.dir, true)?;
        beneath::write_all(temporary.file(), content.bytes())?;
        beneath::sync_all(&self.name_object(temporary, content.revision())?)
    }

    /// Writes everything that was stored with [`Durable::Soon`] to the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.dir.sync_file_system().map(|_| ())
    }

    /// Whether an object is there, whole; if so its time becomes now, so that it is not swept as an old one.
    pub fn refresh(&self, revision: Revision) -> bool {
        let refreshed = || -> io::Result<bool> {
            let mut open = self.open_object(revision)?;
            let seen = beneath::file_stat(&open)?;
            if Revision::of_reader(&mut open)? != revision {
                return Ok(false);
            }
            // Another process may have been about to sweep it.
            let _lock = self.lock();
            let name = revision.to_string();
            if !self.dir.child_stat(name.as_ref())?.same_file(&seen) {
                return Ok(false);
            }
            // Opened for appending, as the time is set through a handle that may write.
            beneath::set_modified(&self.dir.append(name.as_ref())?, SystemTime::now())?;
            Ok(true)
        };
        refreshed().unwrap_or(false)
    }

    /// The content of an object; `NotFound` when it is not there or is damaged, `FileTooLarge` when
    /// it has more than `limit` bytes.
    pub fn object(&self, revision: Revision, limit: u64) -> io::Result<Vec<u8>> {
        let file = self.open_object(revision)?;
        if beneath::file_stat(&file)?.size > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut bytes = Vec::new();
        file.take(limit).read_to_end(&mut bytes)?;
        if Revision::of(&bytes) == revision { Ok(bytes) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    /// The regular files in this folder, but for temporary ones.
    pub fn files(&self) -> io::Result<Vec<StateFile>> {
        let listed = self.dir.reopen(OpenFor::List)?.list()?;
        let file = |name: std::ffi::OsString| {
            let stat = self.dir.child_stat(&name).ok()?;
            let name = name.into_string().ok().filter(|_| stat.kind == FileKind::File)?;
            Some(StateFile { name, size: stat.size, modified: stat.modified? })
        };
        Ok(listed
            .into_iter()
            .filter(|listed| !is_reserved(&listed.name))
            .filter_map(|listed| file(listed.name))
            .collect())
    }

    /// Removes a file, if it is still as old as it was when it was listed.
    pub fn discard(&self, file: &StateFile) -> io::Result<()> {
        let name = bare(&file.name)?;
        let _lock = self.lock();
        if self.dir.child_stat(name)?.modified == Some(file.modified) { self.dir.remove(name) } else { Ok(()) }
    }

    /// Gives a written object its name, and returns its file: synced after that, both are on the disk.
    fn name_object(&self, mut temporary: Temporary<'_>, revision: Revision) -> io::Result<File> {
        let file = temporary.file().try_clone()?;
        let _lock = self.lock();
        temporary.replace_any(revision.to_string().as_ref())?;
        Ok(file)
    }

    fn open_object(&self, revision: Revision) -> io::Result<File> {
        let file = self.dir.child_file(revision.to_string().as_ref())?;
        let is_file = beneath::file_stat(&file)?.kind == FileKind::File;
        if is_file { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test looks from outside")]

    use super::*;

    fn folder() -> (tempfile::TempDir, StateDir) {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::open(temp.path()).unwrap().folder("objects").unwrap();
        (temp, state)
    }

    #[test]
    fn equal_contents_are_one_object() {
        let (temp, state) = folder();
        let (revision, size) = state.store(&mut &b"content"[..], 100, Durable::Now).unwrap();
        assert_eq!((revision, size), (Revision::of(b"content"), 7));
        assert_eq!(state.store(&mut &b"content"[..], 100, Durable::Now).unwrap().0, revision);
        assert_eq!(std::fs::read_dir(temp.path().join("objects")).unwrap().count(), 1);
        assert_eq!(state.object(revision, 100).unwrap(), b"content");
        assert!(state.refresh(revision));
    }

    #[test]
    fn content_hashed_by_the_caller_is_the_same_object() {
        let (temp, state) = folder();
        let content = HashedBytes::of(b"content");
        state.store_content(content, 100).unwrap();
        assert_eq!(state.object(content.revision(), 100).unwrap(), b"content");
        assert_eq!(state.store_content(content, 6).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(std::fs::read_dir(temp.path().join("objects")).unwrap().count(), 1);
    }

    #[test]
    fn too_large_content_leaves_no_file() {
        let (temp, state) = folder();
        let error = state.store(&mut &b"content"[..], 6, Durable::Now).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(std::fs::read_dir(temp.path().join("objects")).unwrap().count(), 0);
    }

    #[test]
    fn damaged_object_counts_as_missing_and_can_be_stored_again() {
        let (temp, state) = folder();
        let (revision, _) = state.store(&mut &b"content"[..], 100, Durable::Now).unwrap();
        std::fs::write(temp.path().join("objects").join(revision.to_string()), "damaged").unwrap();
        assert!(!state.refresh(revision));
        assert_eq!(state.object(revision, 100).unwrap_err().kind(), io::ErrorKind::NotFound);
        state.store(&mut &b"content"[..], 100, Durable::Now).unwrap();
        assert_eq!(state.object(revision, 100).unwrap(), b"content");
    }

    #[test]
    fn file_refreshed_after_the_listing_is_not_discarded() {
        let (_temp, state) = folder();
        let (revision, _) = state.store(&mut &b"content"[..], 100, Durable::Now).unwrap();
        let mut listed = state.files().unwrap();
        let file = listed.pop().unwrap();
        assert_eq!((file.name.clone(), file.size), (revision.to_string(), 7));
        let older = StateFile { modified: SystemTime::UNIX_EPOCH, ..file.clone() };
        state.discard(&older).unwrap();
        assert!(state.refresh(revision));
        state.discard(&state.files().unwrap()[0]).unwrap();
        assert!(!state.refresh(revision));
    }
}
