//! Replacing a file: whole, atomically, and only when it is still what the plan saw.
//!
//! Bytes in, a file out. The temporary file lies in the target's own directory handle, so neither
//! a swapped parent nor a created link moves the write. What to write is decided above.

mod directory_locks;
mod entry_locks;
mod new_directories;
mod path_locks;
mod stale_temporaries;
mod temporary;
mod wait_limit;
mod write_guard;

use std::io;
use std::sync::Arc;

use super::access::readable;
use super::error::{AccessError, AccessErrorKind};
use super::links::Location;
use super::path::WorkspacePath;
use super::policy::Verdict;
use super::repository;
use super::revision::Revision;
use super::root::Access;
use super::shared::Shared;
use super::sys::{Failure, Use};

pub(super) use directory_locks::Directories;
pub(super) use entry_locks::EntryLocks;
pub use entry_locks::FileLock;
pub use new_directories::NewDirectory;
pub(super) use new_directories::{NewDirs, make_dirs, remove_made};
pub(super) use path_locks::Locks;
pub use path_locks::MOST_WAITING;
pub use stale_temporaries::StaleAfter;
pub(super) use stale_temporaries::{StaleTemporaries, sweep_once};
pub(super) use temporary::{Exchanged, Temporary, exchange_if, free_name, is_reserved, keep_aside};
pub use wait_limit::WaitLimit;
pub use write_guard::{Committed, Content, PreviousFile, WriteGuard};
pub(super) use write_guard::{hash, still};

/// Bytes of the longest name that usual file systems take (`NAME_MAX`).
const LONGEST_NAME: usize = 255;

/// A path whose root is read-write and whose real name policy lets be written.
#[derive(Clone, Debug)]
pub struct WritablePath {
    asked: WorkspacePath,
    real: WorkspacePath,
    /// Its other names (see `links::Location`).
    aliases: Arc<[WorkspacePath]>,
}

impl WritablePath {
    /// Where `way` leads, if that may be written.
    pub(super) fn new(asked: &WorkspacePath, way: Location) -> Result<Self, AccessError> {
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
        new_directories::missing_above(&self.real)
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

/// See [`Workspace::writable`](super::Workspace::writable).
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
    if let Verdict::Refused(rule) = real.root().policy().server_file(real.relative()) {
        return Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, asked, &rule));
    }
    for name in path.names() {
        let policy = name.root().policy();
        if let Verdict::Refused(rule) = policy.write(name.relative())
            && !(policy.write_directory(name.relative()) == Verdict::Allowed && is_directory(real))
        {
            return Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, asked, &rule));
        }
    }
    let in_repository = repository::why_refused(real).map_err(|error| AccessError::from_io(error, asked))?;
    if let Some(rule) = in_repository {
        return Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, asked, &rule));
    }
    path.names().try_for_each(|name| readable(name, asked))
}

/// Whether a directory is there now. Not opened otherwise: a check asks for few system calls.
fn is_directory(real: &WorkspacePath) -> bool {
    real.root().dir().dir_beneath(real.relative(), Use::Pass).is_ok()
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

pub(super) fn is_missing(failure: &Failure) -> bool {
    matches!(failure, Failure::Io(error) if error.kind() == io::ErrorKind::NotFound)
}
