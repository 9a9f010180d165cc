//! What policy and the kind of a file say about access to it, as errors about the path that was asked for.

use std::io;

use super::error::{AccessError, AccessErrorKind};
use super::links::Location;
use super::path::WorkspacePath;
use super::policy::Verdict;
use super::stat::{FileKind, Stat};

/// Refuses secret content by one of its names, naming the path as it was asked for.
pub(super) fn readable(name: &WorkspacePath, asked: &WorkspacePath) -> Result<(), AccessError> {
    match name.root().policy().content(name.relative()) {
        Verdict::Allowed => Ok(()),
        Verdict::Refused(rule) => Err(AccessError::by_rule(AccessErrorKind::Secret, asked, &rule)),
    }
}

/// Names that policy hides are not there, and a root that is gone is said to be.
pub(super) fn visible(way: &Location, asked: &WorkspacePath) -> Result<(), AccessError> {
    present(&way.real, asked)?;
    if way.hidden() || asked.hidden() {
        return Err(AccessError::new(AccessErrorKind::NotFound, asked));
    }
    Ok(())
}

/// Refuses what lies in a root that is no longer where it was opened.
pub(super) fn present(real: &WorkspacePath, asked: &WorkspacePath) -> Result<(), AccessError> {
    real.root().presence().map_err(|gone| AccessError::new(AccessErrorKind::RootGone(gone), asked))
}

/// Only regular files are read and written.
pub(super) fn regular(stat: &Stat, asked: &WorkspacePath) -> Result<(), AccessError> {
    let kind = match stat.kind {
        FileKind::File => return Ok(()),
        FileKind::Directory => AccessErrorKind::IsDirectory,
        FileKind::Symlink => AccessErrorKind::Changed,
        FileKind::Other => AccessErrorKind::Special(stat.special()),
    };
    Err(AccessError::new(kind, asked))
}

/// Opening a socket or some devices fails with codes that say little: look what it is.
pub(super) fn explain(error: io::Error, real: &WorkspacePath, asked: &WorkspacePath) -> AccessError {
    let told = AccessError::from_io(error, asked);
    if told.kind != AccessErrorKind::Io {
        return told;
    }
    match real.root().dir().stat_beneath(real.relative()) {
        Ok(stat) if stat.kind == FileKind::Other => AccessError::new(AccessErrorKind::Special(stat.special()), asked),
        _ => told,
    }
}
