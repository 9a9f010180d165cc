//! The content of a file: what it must be before a change, and what it is to be.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};
use std::{borrow::Cow, ffi::OsStr, fs::File, io};

use beneath::{FileKind, Stat, read_some};
use structured_text::mask::{MaskedText, RestoreError, new_sentinel};

use super::WritablePath;
use crate::{
    AccessError, AccessErrorKind, AtPath as _, Dir, PlaceholderError, Revision, Shared, WorkspacePath,
    limits::IfThere as _, masked_file,
};

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

    /// Bytes that were hashed before: `revision` must be theirs, as in a [`Snapshot`](crate::Snapshot).
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
            Self::Revision(revision) => Ok(Revision::of_reader(&mut file)? == revision),
            Self::Bytes(content) => holds(&mut file, content.bytes),
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

// The new content of a file: its bytes, and what tools show of it.
//
// A sentinel for a masked value never reaches the disk: in its own file the value is put back, and any other file is
// refused.

/// The bytes that a commit writes.
#[derive(Default)]
pub struct NewContent<'n> {
    real: Cow<'n, [u8]>,
    /// Of `real`, once it was asked for.
    revision: OnceLock<Revision>,
    /// The bytes that tools show, where these differ.
    shown: Option<Vec<u8>>,
    /// The mark of the state that a masked file has with it, once it is written.
    state: OnceLock<Revision>,
    /// The mark that it had when this was its content.
    pub former: Option<Revision>,
}

impl<'n> NewContent<'n> {
    /// Bytes that are shown as they are.
    pub(super) fn plain(bytes: &'n [u8]) -> Self {
        Self { real: Cow::Borrowed(bytes), ..Self::default() }
    }

    /// The content of a masked file when it was at `state`.
    pub(super) fn former(bytes: &'n [u8], masked: &MaskedText, state: Option<Revision>) -> Self {
        let shown = masked.same_format(bytes).map_or_else(Vec::new, MaskedText::into_bytes);
        Self { real: Cow::Borrowed(bytes), shown: Some(shown), former: state, ..Self::default() }
    }

    /// `bytes` with the values of the masked file in it.
    pub(super) fn restored(bytes: &[u8], masked: &MaskedText, asked: &WorkspacePath) -> Result<Self, AccessError> {
        let restored = masked.restore(bytes).map_err(|error| fault(error, asked))?;
        Ok(Self { real: Cow::Owned(restored.real), shown: Some(restored.shown), ..Self::default() })
    }

    /// The bytes for the disk.
    pub(crate) fn real(&self) -> &[u8] {
        &self.real
    }

    /// The revision of the bytes on the disk. Not for answers where the file is masked: short values could be guessed.
    pub fn revision(&self) -> Revision {
        *self.revision.get_or_init(|| Revision::of(&self.real))
    }

    /// It was written to the masked file that is `stat`.
    pub(super) fn written(&self, stat: &Stat) {
        self.state.get_or_init(|| masked_file::state(self.revision(), stat));
    }

    /// Identifies the file with this content for later comparisons: the mark of its state where it is masked and was
    /// written.
    pub fn state(&self) -> Revision {
        self.state.get().copied().unwrap_or_else(|| self.revision())
    }

    /// Whether the file is masked.
    pub fn is_masked(&self) -> bool {
        self.shown.is_some()
    }

    /// The bytes that tools show.
    pub fn shown_bytes(&self) -> &[u8] {
        self.shown.as_deref().unwrap_or(&self.real)
    }

    /// The revision of what is shown.
    pub fn shown_revision(&self) -> Revision {
        self.shown.as_deref().map_or_else(|| self.revision(), Revision::of)
    }
}

fn fault(error: RestoreError, asked: &WorkspacePath) -> AccessError {
    let fault = match error {
        RestoreError::Unknown(name) => PlaceholderError::Unknown(name),
        RestoreError::Misplaced(name) => PlaceholderError::Misplaced(name),
        RestoreError::TooManyValues => PlaceholderError::TooManyValues,
        RestoreError::Unmaskable => PlaceholderError::Unmaskable,
    };
    AccessError::new(AccessErrorKind::Sentinel(fault), asked)
}

/// Whether a file that is not masked could get a sentinel by these bytes.
pub(super) fn may_hold_sentinel(shared: &Shared, bytes: &[u8]) -> bool {
    shared.roots.list().iter().any(|root| root.policy().masks) && new_sentinel(&[], bytes).is_some()
}

/// Refuses a sentinel that `old`, the content of a file that is not masked, does not have already.
pub(super) fn refuse_new_sentinel(old: &[u8], new: &[u8], asked: &WorkspacePath) -> Result<(), AccessError> {
    let refused = |name| AccessError::new(AccessErrorKind::Sentinel(PlaceholderError::Elsewhere(name)), asked);
    new_sentinel(old, new).map_or(Ok(()), |name| Err(refused(name)))
}

/// Does what [`Workspace::check_sentinels`](crate::Workspace::check_sentinels) says.
pub(crate) fn check_sentinels(
    shared: &Arc<Shared>,
    target: &WritablePath,
    old: &[u8],
    new: &[u8],
) -> Result<Option<Vec<u8>>, AccessError> {
    let (asked, real) = (target.asked(), target.path());
    let Some(format) = target.mask()? else {
        if may_hold_sentinel(shared, new) {
            refuse_new_sentinel(old, new, asked)?;
        }
        return Ok(None);
    };
    let masked = match real.root().dir.file_beneath(real.relative()).if_there().at(asked)? {
        Some(file) => {
            let stat = beneath::file_stat(&file).at(asked)?;
            masked_file::read(&file, asked, stat, format)?.0
        }
        None => MaskedText::empty(format),
    };
    NewContent::restored(new, &masked, asked).map(|content| content.shown)
}
