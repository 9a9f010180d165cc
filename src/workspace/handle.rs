//! What an open gives: a regular file, what is known about it, and its whole content.
//!
//! Opening itself is in `open`; the system calls are in `sys`.

use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Seek};
use std::time::SystemTime;

use super::path::WorkspacePath;
use super::revision::Revision;
use super::sys;

/// What a name stands for, links not followed unless said otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A FIFO, socket or device.
    Other,
}

/// What the system says about a file at one moment.
#[derive(Clone, Debug)]
pub struct Stat {
    /// What it is.
    pub kind: FileKind,
    /// Its length in bytes.
    pub size: u64,
    /// When its content last changed, where the system knows.
    pub modified: Option<SystemTime>,
    pub(crate) marks: Marks,
}

/// What tells one file, and one state of it, from another. All zero where the system has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) links: u64,
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Seconds and nanoseconds since 1970.
    pub(crate) modified: (i64, u32),
    pub(crate) changed: (i64, u32),
}

impl Stat {
    /// Whether both describe one file in one state: same device and inode, size, and times of the
    /// last change to content and to metadata, to the nanosecond.
    pub fn same_file_state(&self, other: &Self) -> bool {
        self.same_content_state(other) && self.marks.changed == other.marks.changed
    }

    /// How many names (hard links) the file has; 0 where the system does not say.
    pub fn links(&self) -> u64 {
        self.marks.links
    }

    /// The permission bits; 0 where the system has none.
    pub fn permissions(&self) -> u32 {
        self.marks.mode & 0o777
    }

    /// Device and inode; zero where the system does not say.
    pub(crate) fn identity(&self) -> (u64, u64) {
        (self.marks.device, self.marks.inode)
    }

    /// As [`Self::same_file_state`], blind to the inode's change time, which a rename touches.
    pub(crate) fn same_content_state(&self, other: &Self) -> bool {
        self.same_file(other) && self.same_size_and_time(other)
    }

    /// Whether both have one size and one time of the last change to the content. A file of a lower layer of an
    /// overlayfs keeps these when it is copied up, as a rename has it, but with several names it then becomes
    /// another inode (Documentation/filesystems/overlayfs.rst, "Non-standard behavior").
    pub(crate) fn same_size_and_time(&self, other: &Self) -> bool {
        self.size == other.size && self.modified == other.modified
    }

    /// A number that is another one for nearly every other state of the file, its names counted.
    pub(crate) fn fingerprint(&self) -> u64 {
        let marks = &self.marks;
        let mut hasher = std::hash::DefaultHasher::new();
        (marks.device, marks.inode, marks.links, self.size, marks.modified, marks.changed).hash(&mut hasher);
        hasher.finish()
    }

    /// The number that its other names share; 0 where the system does not say.
    pub(crate) fn inode(&self) -> u64 {
        self.marks.inode
    }

    /// Whether both are the same inode on the same device.
    pub(crate) fn same_file(&self, other: &Self) -> bool {
        (self.marks.device, self.marks.inode) == (other.marks.device, other.marks.inode)
    }

    /// The word for a special file, by its mode.
    pub(crate) fn special(&self) -> &'static str {
        match self.marks.mode & 0o170_000 {
            0o010_000 => "FIFO",
            0o140_000 => "socket",
            0o020_000 | 0o060_000 => "device",
            _ => "special file",
        }
    }
}

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

    /// Where it truly is, after links inside the roots.
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
    /// Where it truly is.
    pub path: WorkspacePath,
}
