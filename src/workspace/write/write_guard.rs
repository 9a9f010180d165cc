//! Replacing one file, whole: the check of what is there, and the commit.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::super::access::regular;
use super::super::error::{AccessError, AccessErrorKind};
use super::super::path::WorkspacePath;
use super::super::revision::Revision;
use super::super::shared::{Shared, Workspace};
use super::super::stat::{FileKind, Stat};
use super::super::sys::{self, Dir};
use super::entry_locks::{EntryLocks, FileLock};
use super::{
    Approval, Base, NewDirectory, Temporary, WaitLimit, WritablePath, allowed, is_missing, make_dirs, sweep_once,
};

/// A file changed this recently may change again without its times showing it, so its content is
/// hashed once more. Twice the coarsest clock among usual file systems (FAT: 2 s).
const CLOCK_GRAIN: Duration = Duration::from_secs(4);

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

    /// Bytes that were hashed before: `revision` must be theirs, as in a [`Snapshot`](crate::workspace::Snapshot).
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
    /// Directories that were made for it, the outermost first.
    pub made: Vec<NewDirectory>,
}

/// The right to replace one file: its lock is held, and it was what the plan saw.
pub struct WriteGuard<'b> {
    shared: Arc<Shared>,
    path: WritablePath,
    /// The file to be replaced, still open, and what it was when its content was checked.
    old: Option<(File, Stat, Checked<'b>)>,
    /// Permission bits of a new file; none for what the umask gives.
    mode: Option<u32>,
    held: Arc<EntryLocks>,
}

/// The content that a file must have, by its name or by its bytes: comparing costs a tenth of hashing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Checked<'b> {
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
pub struct PreviousFile<'g> {
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

impl std::fmt::Debug for PreviousFile<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PreviousFile({}, {} bytes)", self.revision, self.size)
    }
}

impl WriteGuard<'static> {
    /// Waits for the file's lock, then checks that the file still equals `base`: `Stale` when its
    /// content differs or it is gone, `Exists` when something is there that was not.
    pub fn acquire(workspace: &Workspace, path: WritablePath, base: Base) -> Result<Self, AccessError> {
        Self::acquire_within(workspace, path, base, &WaitLimit::default())
    }

    /// As [`Self::acquire`]; `Stopped`, `Crowded` or `Locked` when the lock is not to be had within `wait_limit`.
    pub fn acquire_within(
        workspace: &Workspace,
        path: WritablePath,
        base: Base,
        wait_limit: &WaitLimit,
    ) -> Result<Self, AccessError> {
        FileLock::acquire(workspace, path, wait_limit)?.guard(base)
    }
}

impl<'b> WriteGuard<'b> {
    /// Looks at what is there, under the lock.
    pub(super) fn checked(
        shared: Arc<Shared>,
        path: WritablePath,
        base: Option<Checked<'b>>,
        held: Arc<EntryLocks>,
    ) -> Result<Self, AccessError> {
        let root = path.real.root().dir();
        let old = match (root.file_beneath(path.real.relative()), base) {
            (Err(failure), None) if is_missing(&failure) => None,
            (Err(failure), Some(_)) if is_missing(&failure) => {
                return Err(AccessError::new(AccessErrorKind::Stale, &path.asked));
            }
            (Err(failure), _) => return Err(AccessError::from_failure(failure, &path.asked)),
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
        Ok(Self { shared, path, old, mode: None, held })
    }

    /// The real path of the file.
    pub fn path(&self) -> &WorkspacePath {
        &self.path.real
    }

    /// What a commit will replace: its content from the beginning, and what it is; none for a new
    /// file. Read it before the commit, which may make it unreachable.
    pub fn previous(&mut self) -> Option<PreviousFile<'_>> {
        let (file, stat, checked) = self.old.as_mut()?;
        file.rewind().ok()?;
        let known = match *checked {
            Checked::Revision(_) => None,
            Checked::Content(content) => Some(content),
        };
        Some(PreviousFile {
            content: file,
            size: stat.size,
            mode: stat.permissions(),
            revision: checked.revision(),
            known,
        })
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
    /// be remembered of the new content is remembered before another call or process looks.
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
        let (dir, new) = make_dirs(&parent, asked, self.held.there(real))?;
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
                // Most often this is enough, and then nothing that is refused can be seen for a moment.
                if !dir.child_stat(&name).is_ok_and(|now| now.same_size_and_time(stat)) {
                    return Err(AccessError::new(AccessErrorKind::Stale, asked));
                }
                let is_base = |dir: &Dir, name: &std::ffi::OsStr| still_holds(dir, name, stat, *checked);
                if !temporary.replace(&name, is_base).map_err(failed)? {
                    return Err(AccessError::new(AccessErrorKind::Stale, asked));
                }
            }
        }
        let made = new.keep();
        // The file is there; that its directory entry may not be on the disk yet undoes nothing.
        let _ = dir.sync();
        let committed = Committed { created: self.old.is_none(), revision: content.revision, path: real.clone(), made };
        note(&committed);
        Ok(committed)
    }
}

impl std::fmt::Debug for WriteGuard<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("WriteGuard").field(&self.path).finish()
    }
}

/// Whether the file called `name` is the one that was checked, with the content it had.
pub(in crate::workspace) fn still(
    dir: &Dir,
    name: &std::ffi::OsStr,
    seen: &Stat,
    revision: Revision,
) -> io::Result<bool> {
    still_holds(dir, name, seen, Checked::Revision(revision))
}

fn still_holds(dir: &Dir, name: &std::ffi::OsStr, seen: &Stat, content: Checked<'_>) -> io::Result<bool> {
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

pub(in crate::workspace) fn hash(mut file: &File) -> io::Result<Revision> {
    Revision::of_reader(&mut file)
}
