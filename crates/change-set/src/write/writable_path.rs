//! A path that may be written, as a value that only the check makes.

use std::{ffi::OsStr, io, sync::Arc};

use beneath::OpenFor;

use crate::workspace::{Shared, Workspace};
use confined_fs::for_changes::repository;
use confined_fs::for_changes::{changeable, readable};
use confined_fs::{
    Access, AccessError, AccessErrorKind, WorkspacePath,
    for_changes::{AtPath as _, Location, Verdict},
};

use confined_fs::for_changes::is_reserved;

/// Bytes of the longest name that usual file systems take (`NAME_MAX`, pathconf(3)); a longer one is refused before a
/// directory is made for it.
const MAX_NAME_BYTES: usize = 255;

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
    pub(crate) fn new(asked: &WorkspacePath, way: Location) -> Result<Self, AccessError> {
        let path = Self { asked: asked.clone(), real: way.real, aliases: way.aliases.into() };
        allowed(&path)?;
        Ok(path)
    }

    pub(crate) fn aliases(&self) -> &[WorkspacePath] {
        &self.aliases
    }

    /// Every name of it: the real one, and those on the way to it.
    pub(crate) fn names(&self) -> impl Iterator<Item = &WorkspacePath> {
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
        let root = &self.real.root().dir();
        let is_missing =
            |path: &WorkspacePath| root.stat_beneath(path.relative()).is_err_and(|failure| failure.is_missing());
        let above = std::iter::successors(self.real.parent(), WorkspacePath::parent);
        above.take_while(is_missing).count() as u64
    }
}

impl Workspace {
    /// The path as one that may be written: its root is read-write, and policy allows its real name.
    /// Neither the file nor its directories need exist.
    ///
    /// # Errors
    /// Why it may not.
    pub fn writable(&self, path: &WorkspacePath) -> Result<WritablePath, AccessError> {
        writable(&self.shared, path)
    }
}

/// Finds where a path leads, for [`Workspace::writable`].
pub(crate) fn writable(shared: &Arc<Shared>, asked: &WorkspacePath) -> Result<WritablePath, AccessError> {
    let way = shared.locate(asked).map_err(|error| without_hidden(shared, asked, error))?;
    WritablePath::new(asked, way)
}

/// The directory of an entry that may still be changed, and its name there. The rights are asked again, as they may have
/// changed while the entry's lock was waited for.
pub(crate) fn entry_in_parent(entry: &WritablePath) -> Result<(WorkspacePath, &OsStr), AccessError> {
    allowed(entry)?;
    entry
        .real
        .parent()
        .zip(entry.real.file_name())
        .ok_or_else(|| AccessError::new(AccessErrorKind::IsRoot, &entry.asked))
}

/// The error of an entry that could not be given its name. A name that somebody has taken meanwhile is no fault of the
/// system, and has no cause that is worth a warning in the log.
pub(crate) fn not_named(error: io::Error, path: &WorkspacePath) -> AccessError {
    match error.kind() {
        io::ErrorKind::AlreadyExists => AccessError::new(AccessErrorKind::Exists, path),
        _ => AccessError::from_io(error, path),
    }
}

/// Refuses what may not be made, replaced, moved or deleted, as things are now.
pub(crate) fn allowed(path: &WritablePath) -> Result<(), AccessError> {
    let WritablePath { asked, real, .. } = path;
    if real.root().access() == Access::ReadOnly {
        return Err(AccessError::new(AccessErrorKind::ReadOnly, asked));
    }
    // As what is read: by the root that it was asked for in, too.
    if asked.hidden() || path.names().any(WorkspacePath::hidden) {
        return Err(reserved(asked));
    }
    if real.relative().iter().any(|name| name.len() > MAX_NAME_BYTES) {
        return Err(AccessError::new(AccessErrorKind::NameTooLong, asked));
    }
    if real.relative().iter().any(is_reserved) {
        let rule = "the names of temporary files";
        return Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, asked, rule));
    }
    changeable(real.root().policy().server_file(real.relative()), asked)?;
    for name in path.names() {
        let policy = name.root().policy();
        if let Verdict::Refused(rule) = policy.write(name.relative(), false)
            && !(policy.write(name.relative(), true) == Verdict::Allowed && is_directory(real))
        {
            return Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, asked, &rule));
        }
    }
    // After the rules about names, which cost no system call.
    if let Some(rule) = repository::why_refused(real).at(asked)? {
        return Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, asked, &rule));
    }
    path.names().try_for_each(|name| readable(name, asked))
}

/// Whether a directory is there now. Not opened otherwise: a check asks for few system calls.
fn is_directory(real: &WorkspacePath) -> bool {
    real.root().dir().dir_beneath(real.relative(), OpenFor::Traverse).is_ok()
}

/// The error for a write to a hidden name, which does not tell whether something is there.
fn reserved(asked: &WorkspacePath) -> AccessError {
    AccessError::by_rule(AccessErrorKind::ProtectedWrite, asked, "a name that is reserved")
}

/// The error of a path that could not be followed; below a hidden name the same one as for a name that
/// is not there, or "passes through a file" would show that the hidden file exists.
fn without_hidden(shared: &Shared, asked: &WorkspacePath, error: AccessError) -> AccessError {
    let hidden = |path: &WorkspacePath| path.hidden() || shared.locate(path).is_ok_and(|way| way.hidden());
    if std::iter::successors(Some(asked.clone()), WorkspacePath::parent).any(|path| hidden(&path)) {
        return reserved(asked);
    }
    error
}
