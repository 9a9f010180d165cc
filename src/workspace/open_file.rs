//! An open regular file, and the whole content of one at one moment.
//!
//! Opening itself is in `open`; the system calls are in `sys`.

use std::fs::File;
use std::io::{self, Read, Seek};

use super::{Revision, Stat, WorkspacePath, sys};

/// A regular file opened beneath its root, for reading.
#[derive(Debug)]
pub struct OpenFile {
    pub(super) file: File,
    pub(super) asked: WorkspacePath,
    pub(super) real: WorkspacePath,
    pub(super) stat: Stat,
}

impl OpenFile {
    /// The path that was asked for.
    pub fn path(&self) -> &WorkspacePath {
        &self.asked
    }

    /// Its real path, after links inside the roots.
    pub fn real_path(&self) -> &WorkspacePath {
        &self.real
    }

    /// What it was when it was opened.
    pub fn stat(&self) -> &Stat {
        &self.stat
    }

    /// What it is now, by the same handle.
    pub fn restat(&self) -> io::Result<Stat> {
        sys::file_stat(&self.file)
    }

    /// Appends up to `limit` bytes from the current position to `buf`. True when the file ended
    /// there, false when more follows.
    pub fn read_to_limit(&mut self, buf: &mut Vec<u8>, limit: u64) -> io::Result<bool> {
        // Room for all of it, and the call that finds the end: without it, it comes in a dozen pieces.
        let expected = usize::try_from(self.stat.size.min(limit)).unwrap_or(0);
        buf.try_reserve(expected.saturating_add(1))?;
        let read = (&mut self.file).take(limit).read_to_end(buf)?;
        if (read as u64) < limit {
            return Ok(true);
        }
        let mut next = [0_u8; 1];
        let more = loop {
            match self.file.read(&mut next) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                answer => break answer?,
            }
        };
        if more == 0 {
            return Ok(true);
        }
        self.file.seek(io::SeekFrom::Current(-1))?;
        Ok(false)
    }
}

impl io::Read for OpenFile {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.file.read(buf)
    }
}

impl io::Seek for OpenFile {
    fn seek(&mut self, position: io::SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

/// A whole file as it was at one moment.
#[derive(Debug)]
pub struct Snapshot {
    /// Its bytes, unchanged.
    pub bytes: Vec<u8>,
    /// The hash of `bytes`.
    pub revision: Revision,
    /// What the file was, before and after it was read.
    pub stat: Stat,
    /// Its real path.
    pub path: WorkspacePath,
}
