//! What a file began with when a part of it was read: whether it still is that file, or was rewritten.
//!
//! Limits: compares the first and the last 16 KiB of what was read. A file that was rewritten in between, keeps its
//! inode and is no shorter counts as the same.

use std::io::{self, Read as _, Seek as _, SeekFrom};

use super::{OpenFile, Revision};

/// Bytes compared at either end.
const COMPARED: u64 = 16 << 10;

/// The first bytes of a file, up to a place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStart {
    /// Bytes up to the place.
    length: u64,
    first: Revision,
    last: Revision,
}

impl FileStart {
    /// The first `length` bytes of `file`.
    pub fn of(file: &mut OpenFile, length: u64) -> io::Result<Self> {
        let part = length.min(COMPARED);
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
