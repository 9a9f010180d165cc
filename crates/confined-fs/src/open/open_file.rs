//! An open regular file, the whole content of one at one moment, and what one began with when a part of it was read.
//!
//! Opening itself is in `open`; the system calls are in the crate `beneath`.
//!
//! Limits: [`FileStart`] compares the first and the last 16 KiB of what was read. A file that was rewritten in between,
//! keeps its inode and is no shorter counts as the same.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use beneath::Stat;

use crate::{path::WorkspacePath, revision::Revision};

/// Bytes that [`FileStart`] compares at either end.
const COMPARED_BYTES: u64 = 16 << 10;

#[derive(Debug)]
pub struct OpenFile {
    file: File,
    asked: WorkspacePath,
    real: Option<WorkspacePath>,
    stat: Stat,
}

impl OpenFile {
    /// `file` at the real path `real`, or `asked` where that is the real one.
    pub(crate) fn new(file: File, asked: WorkspacePath, real: Option<WorkspacePath>, stat: Stat) -> Self {
        Self { file, asked, real, stat }
    }

    pub fn path(&self) -> &WorkspacePath {
        &self.asked
    }

    /// Consumes it and returns the asked path.
    pub fn into_path(self) -> WorkspacePath {
        self.asked
    }

    /// Its real path, after links inside the roots.
    pub fn real_path(&self) -> &WorkspacePath {
        self.real.as_ref().unwrap_or(&self.asked)
    }

    pub fn stat(&self) -> &Stat {
        &self.stat
    }

    pub fn restat(&self) -> io::Result<Stat> {
        beneath::file_stat(&self.file)
    }

    /// Whether more than half of it is holes, which read as NULs: none of it is read for that.
    pub fn is_mostly_holes(&self) -> bool {
        let size = self.stat.size;
        let (mut at, mut holes) = (0, 0);
        // The one half or the other is known before the end.
        while at < size && holes * 2 <= size && (at - holes) * 2 < size {
            let data = self.next_data(at);
            holes += data - at;
            at = if data < size { beneath::next_hole(&self.file, data, size) } else { size };
        }
        holes * 2 > size
    }

    /// Where its data begins, at `at` or after it: what comes before that is a hole. Its end where only a hole follows.
    pub fn next_data(&self, at: u64) -> u64 {
        beneath::next_data(&self.file, at, self.stat.size).clamp(at, self.stat.size.max(at))
    }

    /// Appends up to `limit` bytes from the current position to `buf`. True when the file ended
    /// there, false when more follows.
    pub fn read_to_limit(&mut self, buf: &mut Vec<u8>, limit: u64) -> io::Result<bool> {
        // Room for all of it, and the call that finds the end: without it, it comes in a dozen pieces.
        let expected = usize::try_from(self.stat.size.min(limit)).unwrap_or(0);
        buf.try_reserve(expected.saturating_add(1))?;
        let read = self.take(limit).read_to_end(buf)?;
        if (read as u64) < limit {
            return Ok(true);
        }
        let mut next = [0_u8; 1];
        if beneath::read_some(self, &mut next)? == 0 {
            return Ok(true);
        }
        self.seek(SeekFrom::Current(-1))?;
        Ok(false)
    }
}

impl io::Read for OpenFile {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.file.read(buf)
    }
}

impl io::Seek for OpenFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

#[derive(Debug)]
pub struct Snapshot {
    pub bytes: Vec<u8>,
    pub revision: Revision,
    /// The stat of the file, the same before and after it was read.
    pub stat: Stat,
    pub path: WorkspacePath,
}

/// The first bytes of a file, up to a place in it: whether it still is that file, or was rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStart {
    /// Bytes up to the place.
    length: u64,
    first: Revision,
    last: Revision,
}

impl FileStart {
    pub fn of(file: &mut OpenFile, length: u64) -> io::Result<Self> {
        let part = length.min(COMPARED_BYTES);
        let first = hash(file, 0, part)?;
        let last = if part == length { first } else { hash(file, length - part, part)? };
        Ok(Self { length, first, last })
    }

    /// Whether `file` begins with the same bytes.
    pub fn is_of(self, file: &mut OpenFile) -> io::Result<bool> {
        Ok(Self::of(file, self.length)? == self)
    }
}

fn hash(file: &mut OpenFile, from: u64, length: u64) -> io::Result<Revision> {
    file.seek(SeekFrom::Start(from))?;
    Revision::of_reader(&mut file.take(length))
}
