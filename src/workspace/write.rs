//! Replacing a file: whole, atomically, and only when it is still what the plan saw.
//!
//! Bytes in, a file out. The temporary file lies in the target's own directory handle, so neither
//! a swapped parent nor a planted link moves the write. What to write is decided above.

mod directories;
mod lock;
mod orphans;
mod patience;
mod temporary;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::Workspace;
use super::error::{AccessError, AccessErrorKind};
use super::handle::{FileKind, Stat};
use super::links::Way;
use super::open::{Shared, readable, regular};
use super::path::WorkspacePath;
use super::policy::Verdict;
use super::repository;
use super::revision::Revision;
use super::root::Access;
use super::sys::{self, Dir, Failure};

pub(super) use directories::{NewDirs, make_dirs};
pub use lock::MOST_WAITING;
pub(super) use lock::{Lock, Locks};
pub use orphans::SweepAfter;
pub(super) use orphans::{Swept, sweep_once};
pub use patience::Patience;
pub(super) use temporary::{Temporary, free_name, is_reserved};

/// A file changed this recently may change again without its times showing it, so its content is
/// hashed once more. Twice the coarsest clock among usual file systems (FAT: 2 s).
const CLOCK_GRAIN: Duration = Duration::from_secs(4);

/// Bytes of the longest name that usual file systems take (`NAME_MAX`).
const LONGEST_NAME: usize = 255;

/// A path whose root is read-write and whose real name policy lets be written.
#[derive(Clone, Debug)]
pub struct WritablePath {
    asked: WorkspacePath,
    real: WorkspacePath,
    /// Its other names (see `links::Way`).
    aliases: Arc<[WorkspacePath]>,
}

impl WritablePath {
    /// Where `way` leads, if that may be written.
    pub(super) fn new(asked: &WorkspacePath, way: Way) -> Result<Self, AccessError> {
        let path = Self { asked: asked.clone(), real: way.real, aliases: way.aliases.into() };
        allowed(&path)?;
        Ok(path)
    }

    pub(super) fn aliases(&self) -> &[WorkspacePath] {
        &self.aliases
    }

    /// Every name of it: the real one, and those on the way to it.
    pub(super) fn names(&self) -> impl Iterator<Item = &WorkspacePath> {
        std::iter::once(&self.real).chain(self.aliases.iter())
    }

    /// Where it truly is, after links inside the roots.
    pub fn path(&self) -> &WorkspacePath {
        &self.real
    }

    /// The path as it was asked for.
    pub fn asked(&self) -> &WorkspacePath {
        &self.asked
    }

    /// How many directories above it would have to be made.
    pub fn missing_above(&self) -> u64 {
        directories::missing_above(&self.real)
    }
}

/// What the plan saw at a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    /// Nothing.
    Absent,
    /// This content.
    Revision(Revision),
}

/// The yes to one change. Not to be cloned; a commit spends it.
#[derive(Debug)]
pub struct Approval {
    by_person: bool,
}

impl Approval {
    /// The policy in force asks nobody.
    pub fn by_policy() -> Self {
        Self { by_person: false }
    }

    /// A person was shown the change and said yes.
    pub fn by_person() -> Self {
        Self { by_person: true }
    }

    /// Whether it stands for nothing but the change as it was planned: a person saw that one, so a
    /// commit that finds another file must fail as stale instead of working the change out anew.
    pub fn is_for_this_plan_only(&self) -> bool {
        self.by_person
    }

    /// For one approved change that takes two steps on the disk.
    pub fn for_two_steps(self) -> [Self; 2] {
        let Self { by_person } = self;
        [Self { by_person }, Self { by_person }]
    }
}

/// A content with its revision: hashing is most of the work on a large file, and done once.
#[derive(Clone, Copy, Debug)]
pub struct Content<'b> {
    bytes: &'b [u8],
    revision: Revision,
}

impl<'b> Content<'b> {
    /// Hashes the bytes.
    pub fn of(bytes: &'b [u8]) -> Self {
        Self { bytes, revision: Revision::of(bytes) }
    }

    /// Bytes that were hashed before: `revision` must be theirs, as in a [`Snapshot`](super::Snapshot).
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

/// What a commit did.
#[derive(Debug)]
pub struct Committed {
    /// Whether the file is new.
    pub created: bool,
    /// The revision of its content now.
    pub revision: Revision,
    /// Where it truly is.
    pub path: WorkspacePath,
}

/// The right to replace one file: its lock is held, and it was what the plan saw.
pub struct WriteGuard<'b> {
    shared: Arc<Shared>,
    path: WritablePath,
    /// The file to be replaced, still open, and what it was when its content was checked.
    old: Option<(File, Stat, Checked<'b>)>,
    /// Permission bits of a new file; none for what the umask gives.
    mode: Option<u32>,
    _lock: Lock,
}

/// The content that a file must have, by its name or by its bytes: comparing costs a tenth of hashing.
#[derive(Clone, Copy, Debug)]
enum Checked<'b> {
    Revision(Revision),
    Content(Content<'b>),
}

impl Checked<'_> {
    fn revision(self) -> Revision {
        match self {
            Self::Revision(revision) => revision,
            Self::Content(content) => content.revision,
        }
    }

    /// Whether it is what `file` holds from its beginning, where it is placed.
    fn is_in(self, mut file: &File) -> io::Result<bool> {
        match self {
            Self::Revision(revision) => Ok(hash(file)? == revision),
            Self::Content(content) => holds(&mut file, content.bytes),
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

/// A file that is about to be replaced.
pub struct Former<'g> {
    /// Its content, from the beginning.
    pub content: &'g mut dyn io::Read,
    /// Its length in bytes, when it was checked.
    pub size: u64,
    /// Its permission bits; 0 where the system has none.
    pub mode: u32,
    /// The revision of its content, when it was checked.
    pub revision: Revision,
    /// The content itself, where the guard was given it and found the file to hold it.
    pub known: Option<Content<'g>>,
}

impl std::fmt::Debug for Former<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Former({}, {} bytes)", self.revision, self.size)
    }
}

impl<'b> WriteGuard<'b> {
    /// As [`Self::acquire_within`] for a file whose content is at hand, which saves hashing what is there.
    pub fn acquire_over(
        workspace: &Workspace,
        path: WritablePath,
        now: Content<'b>,
        patience: &Patience,
    ) -> Result<Self, AccessError> {
        Self::checked(workspace, path, Some(Checked::Content(now)), patience)
    }

    /// Waits for the file's lock, then checks that the file still equals `base`: `Stale` when its
    /// content differs or it is gone, `Exists` when something is there that was not.
    pub fn acquire(workspace: &Workspace, path: WritablePath, base: Base) -> Result<Self, AccessError> {
        Self::acquire_within(workspace, path, base, &Patience::default())
    }

    /// As [`Self::acquire`]; `Stopped` or `Crowded` when the lock is not to be had within `patience`.
    pub fn acquire_within(
        workspace: &Workspace,
        path: WritablePath,
        base: Base,
        patience: &Patience,
    ) -> Result<Self, AccessError> {
        let base = match base {
            Base::Absent => None,
            Base::Revision(revision) => Some(Checked::Revision(revision)),
        };
        Self::checked(workspace, path, base, patience)
    }

    fn checked(
        workspace: &Workspace,
        path: WritablePath,
        base: Option<Checked<'b>>,
        patience: &Patience,
    ) -> Result<Self, AccessError> {
        let shared = Arc::clone(&workspace.shared);
        let lock = Locks::lock_all(&shared.locks, &[&path.real.host()], patience)
            .map_err(|kind| AccessError::new(kind, &path.asked))?;
        let root = path.real.root().dir();
        let old = match (root.file_beneath(path.real.relative()), base) {
            (Err(failure), None) if is_missing(&failure) => None,
            (Err(failure), Some(_)) if is_missing(&failure) => {
                return Err(AccessError::new(AccessErrorKind::Stale, &path.asked));
            }
            (Err(failure), _) => return Err(refusal(failure, &path.asked)),
            (Ok(file), base) => {
                let failed = |error| AccessError::from_io(error, &path.asked);
                let stat = sys::file_stat(&file).map_err(failed)?;
                regular(&stat, &path.asked)?;
                let Some(expected) = base else {
                    return Err(AccessError::new(AccessErrorKind::Exists, &path.asked));
                };
                if !expected.is_in(&file).map_err(failed)? {
                    return Err(AccessError::new(AccessErrorKind::Stale, &path.asked));
                }
                Some((file, stat, expected))
            }
        };
        Ok(Self { shared, path, old, mode: None, _lock: lock })
    }

    /// The real path of the file.
    pub fn path(&self) -> &WorkspacePath {
        &self.path.real
    }

    /// What a commit will replace: its content from the beginning, and what it is; none for a new
    /// file. Read it before the commit, which may make it unreachable.
    pub fn former(&mut self) -> Option<Former<'_>> {
        let (file, stat, checked) = self.old.as_mut()?;
        file.rewind().ok()?;
        let known = match *checked {
            Checked::Revision(_) => None,
            Checked::Content(content) => Some(content),
        };
        Some(Former { content: file, size: stat.size, mode: stat.permissions(), revision: checked.revision(), known })
    }

    /// A new file will have these permission bits; 0 leaves them to the umask. A file that is
    /// replaced keeps its own.
    #[must_use]
    pub fn with_mode(mut self, mode: u32) -> Self {
        self.mode = Some(mode).filter(|mode| *mode != 0);
        self
    }

    /// Makes `bytes` the file's content. Missing directories are made; mode, owner, ACL and user
    /// attributes of a replaced file are kept, set-user-id and set-group-id are not. On an error
    /// nothing has changed.
    pub fn commit(self, bytes: &[u8], approval: Approval) -> Result<Committed, AccessError> {
        self.commit_noting(Content::of(bytes), approval, |_| {})
    }

    /// As [`Self::commit`]; `note` is called while the file's lock is still held, so that what is to
    /// be remembered of the new content is remembered before another call in this process looks.
    pub fn commit_noting(
        self,
        content: Content<'_>,
        _: Approval,
        note: impl FnOnce(&Committed),
    ) -> Result<Committed, AccessError> {
        let asked = &self.path.asked;
        let real = &self.path.real;
        let failed = |error| AccessError::from_io(error, asked);
        // The rights are asked again: a guard may be old by now, and a nested root may be there.
        allowed(&self.path)?;
        let Some(name) = real.file_name().map(OsString::from) else {
            return Err(AccessError::new(AccessErrorKind::IsDirectory, asked));
        };
        let parent = real.parent().unwrap_or_else(|| real.clone());
        let (dir, new) = make_dirs(&parent, asked)?;
        sweep_once(&self.shared, &parent, &dir);

        let mut temporary = Temporary::create(&dir, self.old.is_some()).map_err(failed)?;
        temporary.file().write_all(content.bytes).map_err(failed)?;
        if let Some((old, stat, _)) = &self.old {
            sys::carry_attributes(old, stat, temporary.file()).map_err(failed)?;
        } else if let Some(mode) = self.mode {
            sys::set_mode(temporary.file(), mode).map_err(failed)?;
        }
        temporary.file().sync_data().map_err(failed)?;

        match &self.old {
            None => temporary.publish_new(&name).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => AccessError::new(AccessErrorKind::Exists, asked),
                _ => failed(error),
            })?,
            Some((_, stat, checked)) => {
                let is_base = |dir: &Dir, name: &std::ffi::OsStr| still_holds(dir, name, stat, *checked);
                if !temporary.replace(&name, is_base).map_err(failed)? {
                    return Err(AccessError::new(AccessErrorKind::Stale, asked));
                }
            }
        }
        new.keep();
        // The file is there; that its directory entry may not be on the disk yet undoes nothing.
        let _ = dir.sync();
        let committed = Committed { created: self.old.is_none(), revision: content.revision, path: real.clone() };
        note(&committed);
        Ok(committed)
    }
}

impl std::fmt::Debug for WriteGuard<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("WriteGuard").field(&self.path).finish()
    }
}

/// See [`Workspace::writable`].
pub(super) fn writable(shared: &Arc<Shared>, asked: &WorkspacePath) -> Result<WritablePath, AccessError> {
    WritablePath::new(asked, shared.locate(asked).map_err(|error| without_hidden(shared, asked, error))?)
}

/// Refuses what may not be made, replaced, moved or deleted, as things are now.
pub(super) fn allowed(path: &WritablePath) -> Result<(), AccessError> {
    let WritablePath { asked, real, .. } = path;
    if real.root().access() == Access::ReadOnly {
        return Err(AccessError::new(AccessErrorKind::ReadOnly, asked));
    }
    // As what is read: by the root that it was asked for in, too.
    if asked.hidden() || path.names().any(WorkspacePath::hidden) {
        return Err(reserved(asked));
    }
    // Before a directory is made for it.
    if real.relative().iter().any(|name| name.len() > LONGEST_NAME) {
        return Err(AccessError::new(AccessErrorKind::NameTooLong, asked));
    }
    if real.relative().iter().any(is_reserved) {
        let rule = "the names of temporary files";
        return Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, asked, rule));
    }
    if let Verdict::Refused(rule) = real.root().policy().own(real.relative()) {
        return Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, asked, &rule));
    }
    for name in path.names() {
        if let Verdict::Refused(rule) = name.root().policy().write(name.relative()) {
            return Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, asked, &rule));
        }
    }
    let in_repository = repository::why_refused(real).map_err(|error| AccessError::from_io(error, asked))?;
    if let Some(rule) = in_repository {
        return Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, asked, &rule));
    }
    path.names().try_for_each(|name| readable(name, asked))
}

/// What a hidden name is called where it would be written; it tells nothing of what is there.
fn reserved(asked: &WorkspacePath) -> AccessError {
    AccessError::by_rule(AccessErrorKind::ProtectedWrite, asked, "a name that is reserved")
}

/// The error of a path that could not be followed; below a hidden name the same one as for a name that
/// is not there, or "passes through a file" would tell that the hidden file exists.
fn without_hidden(shared: &Shared, asked: &WorkspacePath, error: AccessError) -> AccessError {
    let hidden = |path: &WorkspacePath| path.hidden() || shared.locate(path).is_ok_and(|way| way.hidden());
    if std::iter::successors(Some(asked.clone()), WorkspacePath::parent).any(|path| hidden(&path)) {
        return reserved(asked);
    }
    error
}

/// Whether the file called `name` is the one that was checked, with the content it had.
pub(super) fn still(dir: &Dir, name: &std::ffi::OsStr, seen: &Stat, revision: Revision) -> io::Result<bool> {
    still_holds(dir, name, seen, Checked::Revision(revision))
}

fn still_holds(dir: &Dir, name: &std::ffi::OsStr, seen: &Stat, content: Checked<'_>) -> io::Result<bool> {
    let now = dir.child_stat(name)?;
    if now.kind != FileKind::File || !now.same_content_state(seen) {
        return Ok(false);
    }
    let settled = now
        .modified
        .is_some_and(|modified| SystemTime::now().duration_since(modified).is_ok_and(|age| age > CLOCK_GRAIN));
    if settled {
        return Ok(true);
    }
    content.is_in(&dir.child_file(name)?)
}

pub(super) fn hash(mut file: &File) -> io::Result<Revision> {
    Revision::of_reader(&mut file)
}

pub(super) fn is_missing(failure: &Failure) -> bool {
    matches!(failure, Failure::Io(error) if error.kind() == io::ErrorKind::NotFound)
}

/// The real path was resolved a moment ago: a link there now means that something changed.
pub(super) fn refusal(failure: Failure, asked: &WorkspacePath) -> AccessError {
    match failure {
        Failure::Link => AccessError::new(AccessErrorKind::Changed, asked),
        Failure::Io(error) => AccessError::from_io(error, asked),
    }
}
