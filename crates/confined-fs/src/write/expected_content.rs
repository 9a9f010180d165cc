//! The content that a file must still have when it is changed.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::time::{Duration, SystemTime};

use beneath::{FileKind, Stat};

use crate::{Dir, Revision};

use super::Base;

/// A file changed this recently may change again without its times showing it, so its content is
/// hashed once more. Twice the coarsest clock among usual file systems (FAT: 2 s).
const CLOCK_GRAIN: Duration = Duration::from_secs(4);

/// A content with its revision: hashing is most of the work on a large file, and done once.
#[derive(Clone, Copy, Debug)]
pub struct HashedBytes<'b> {
    bytes: &'b [u8],
    revision: Revision,
}

impl<'b> HashedBytes<'b> {
    /// Hashes the bytes.
    pub fn of(bytes: &'b [u8]) -> Self {
        Self { bytes, revision: Revision::of(bytes) }
    }

    /// Bytes that were hashed before: `revision` must be theirs, as in a [`Snapshot`](crate::Snapshot).
    pub fn hashed(bytes: &'b [u8], revision: Revision) -> Self {
        debug_assert_eq!(Revision::of(bytes), revision, "the bytes of a revision");
        Self { bytes, revision }
    }

    /// The bytes.
    pub fn bytes(self) -> &'b [u8] {
        self.bytes
    }

    /// Their revision.
    pub fn revision(self) -> Revision {
        self.revision
    }
}

/// The content that a file must have, by its name or by its bytes: comparing costs a tenth of hashing.
#[derive(Clone, Copy, Debug)]
pub(super) enum ExpectedContent<'b> {
    Revision(Revision),
    Bytes(HashedBytes<'b>),
}

impl Base {
    /// What a file must hold for it; `None` where there must be none.
    pub(super) fn expected(self) -> Option<ExpectedContent<'static>> {
        match self {
            Self::Absent => None,
            Self::Revision(revision) => Some(ExpectedContent::Revision(revision)),
        }
    }
}

impl ExpectedContent<'_> {
    pub(super) fn revision(self) -> Revision {
        match self {
            Self::Revision(revision) => revision,
            Self::Bytes(content) => content.revision,
        }
    }

    /// Whether it is this content, or what is shown of it, which is all that a tool knows of a masked file.
    pub(super) fn is_of(self, real: &[u8], shown: &[u8]) -> bool {
        match self {
            Self::Revision(revision) => [real, shown].into_iter().any(|bytes| Revision::of(bytes) == revision),
            Self::Bytes(content) => [real, shown].contains(&content.bytes),
        }
    }

    /// Whether it is what `file` holds from its beginning, where it is placed.
    pub(super) fn is_in(self, mut file: &File) -> io::Result<bool> {
        match self {
            Self::Revision(revision) => Ok(hash(file)? == revision),
            Self::Bytes(content) => holds(&mut file, content.bytes),
        }
    }
}

/// Whether `source` gives exactly `bytes`.
fn holds(source: &mut impl io::Read, mut bytes: &[u8]) -> io::Result<bool> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(bytes.is_empty()),
            Ok(count) => match bytes.strip_prefix(&buffer[..count]) {
                Some(rest) => bytes = rest,
                None => return Ok(false),
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether the file called `name` is the one that was checked, with the content it had.
pub(crate) fn is_unchanged(dir: &Dir, name: &OsStr, seen: &Stat, revision: Revision) -> io::Result<bool> {
    has_content(dir, name, seen, ExpectedContent::Revision(revision))
}

pub(super) fn has_content(dir: &Dir, name: &OsStr, seen: &Stat, content: ExpectedContent<'_>) -> io::Result<bool> {
    let now = dir.child_stat(name)?;
    if now.kind != FileKind::File || !now.same_size_and_time(seen) {
        return Ok(false);
    }
    let settled = now
        .modified
        .is_some_and(|modified| SystemTime::now().duration_since(modified).is_ok_and(|age| age > CLOCK_GRAIN));
    // Another inode may be the same file, copied up; whatever it is, with the same content nothing is lost.
    if settled && now.same_file(seen) {
        return Ok(true);
    }
    content.is_in(&dir.child_file(name)?)
}

pub(crate) fn hash(mut file: &File) -> io::Result<Revision> {
    Revision::of_reader(&mut file)
}
