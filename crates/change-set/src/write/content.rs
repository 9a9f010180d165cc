//! The content of a file: what it must be before a change, and what it is to be.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};
use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read as _},
};

use beneath::{FileKind, Stat, read_some};

use beneath::Dir;
use confined_fs::Revision;

// The yes to a change, and what the plan that was approved had seen.

/// The state of a path that a plan was made on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    /// Nothing was there.
    Absent,
    /// A file with this content.
    Revision(Revision),
}

/// The yes to one change. Not to be cloned; a commit spends it.
#[derive(Debug)]
pub struct Approval {
    by_person: bool,
}

impl Approval {
    /// The policy in force asks no person.
    pub fn by_policy() -> Self {
        Self { by_person: false }
    }

    /// A person was shown the change and said yes.
    pub fn by_person() -> Self {
        Self { by_person: true }
    }

    /// Whether it is for the change exactly as it was planned: a person saw that one, so a commit that finds another
    /// file must fail as stale instead of planning again.
    pub fn is_for_this_plan_only(&self) -> bool {
        self.by_person
    }

    /// For one approved change that takes two steps on the disk.
    pub fn for_two_steps(self) -> [Self; 2] {
        let Self { by_person } = self;
        [Self { by_person }, Self { by_person }]
    }
}

// The content that a file must still have when it is changed.

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
    /// Hashes the bytes, which takes 0.45 ms for 1 MB.
    pub fn of(bytes: &'b [u8]) -> Self {
        Self { bytes, revision: Revision::of(bytes) }
    }

    /// Bytes that were hashed before: `revision` must be theirs, as in a [`Snapshot`](confined_fs::Snapshot).
    pub fn hashed(bytes: &'b [u8], revision: Revision) -> Self {
        debug_assert_eq!(Revision::of(bytes), revision, "the bytes of a revision");
        Self { bytes, revision }
    }

    /// The bytes that were hashed.
    pub fn bytes(self) -> &'b [u8] {
        self.bytes
    }

    /// The revision of the bytes.
    pub fn revision(self) -> Revision {
        self.revision
    }
}

/// The content that a file must have, by its name or by its bytes: comparing costs a tenth of hashing.
#[derive(Clone, Copy, Debug)]
pub(super) enum ExpectedContent<'b> {
    Revision(Revision),
    Bytes(HashedBytes<'b>),
    /// These, with whatever another program has appended since.
    Beginning(HashedBytes<'b>),
}

impl Base {
    /// The content that it describes; `None` where there must be no file.
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
            Self::Bytes(content) | Self::Beginning(content) => content.revision,
        }
    }

    /// Whether it is what `file` holds from its beginning, where it is placed.
    pub(super) fn is_in(self, mut file: &File) -> io::Result<bool> {
        match self {
            Self::Revision(revision) => Ok(Revision::of_reader(&mut file)? == revision),
            Self::Bytes(content) => holds(&mut file, content.bytes),
            Self::Beginning(content) => holds(&mut file.take(content.bytes.len() as u64), content.bytes),
        }
    }
}

/// Whether `source` gives exactly `bytes`.
fn holds(source: &mut impl io::Read, mut bytes: &[u8]) -> io::Result<bool> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = read_some(source, &mut buffer)?;
        if count == 0 {
            return Ok(bytes.is_empty());
        }
        let Some(rest) = bytes.strip_prefix(&buffer[..count]) else { return Ok(false) };
        bytes = rest;
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
    if settled && now.same_file(seen) { Ok(true) } else { content.is_in(&dir.child_file(name)?) }
}

// The new content of a file.

/// The bytes that a commit writes.
#[derive(Clone)]
pub struct NewContent<'n> {
    bytes: Cow<'n, [u8]>,
    /// Of `bytes`, once it was asked for.
    revision: OnceLock<Revision>,
}

impl<'n> NewContent<'n> {
    /// These bytes, which are hashed when their revision is asked for.
    pub fn of(bytes: impl Into<Cow<'n, [u8]>>) -> Self {
        Self { bytes: bytes.into(), revision: OnceLock::new() }
    }

    /// The bytes for the disk.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, without a copy where they are its own.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes.into_owned()
    }

    /// The revision of the bytes.
    pub fn revision(&self) -> Revision {
        *self.revision.get_or_init(|| Revision::of(&self.bytes))
    }
}
