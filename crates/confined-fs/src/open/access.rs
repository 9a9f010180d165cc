//! Whether policy and the kind of a file allow access to it; else an error about the path that was asked for.
//!
//! Policy is asked about every name of a file: the real one and each alias that a link gives it. A link called
//! `notes.txt` does not open `.env`, nor one called `.env` a plain file (CVE-2026-25724).

use std::io;

use beneath::{FileKind, Stat};

use crate::{AccessError, AccessErrorKind, Verdict, WorkspacePath};

use super::Location;

/// Refuses secret content by one of its names. The error is about the path that was asked for.
pub(crate) fn readable(name: &WorkspacePath, asked: &WorkspacePath) -> Result<(), AccessError> {
    match name.root().policy().content(name.relative()) {
        Verdict::Allowed => Ok(()),
        Verdict::Refused(rule) => Err(AccessError::by_rule(AccessErrorKind::Secret, asked, &rule)),
    }
}

/// Refuses a change that policy refuses. The error is about the path that was asked for.
pub(crate) fn changeable(verdict: Verdict, asked: &WorkspacePath) -> Result<(), AccessError> {
    match verdict {
        Verdict::Allowed => Ok(()),
        Verdict::Refused(rule) => Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, asked, &rule)),
    }
}

/// Refuses names that policy hides as missing, and paths in a root that is gone.
pub(super) fn visible(way: &Location, asked: &WorkspacePath) -> Result<(), AccessError> {
    present(&way.real, asked)?;
    if way.hidden() || asked.hidden() { Err(AccessError::new(AccessErrorKind::NotFound, asked)) } else { Ok(()) }
}

/// Refuses a path in a root that is no longer where it was opened.
pub(super) fn present(real: &WorkspacePath, asked: &WorkspacePath) -> Result<(), AccessError> {
    real.root().presence().map_err(|gone| AccessError::new(AccessErrorKind::RootGone(gone), asked))
}

/// Refuses all but regular files: reading a FIFO or a device may block for ever or have side effects.
pub(crate) fn regular(stat: &Stat, asked: &WorkspacePath) -> Result<(), AccessError> {
    let kind = match stat.kind {
        FileKind::File => return Ok(()),
        FileKind::Directory => AccessErrorKind::IsDirectory,
        FileKind::Symlink => AccessErrorKind::Changed,
        FileKind::Other => AccessErrorKind::Special(stat.special()),
    };
    Err(AccessError::new(kind, asked))
}

/// Opening a socket (ENXIO) or some devices fails with errors that say little: looks at what it is.
pub(super) fn explain(error: io::Error, real: &WorkspacePath, asked: &WorkspacePath) -> AccessError {
    let missing = real.root().is_optional() && real.root().index != asked.root().index && real.root().is_absent();
    let refused = AccessError::from_io(error, if missing { real } else { asked });
    if refused.kind != AccessErrorKind::Io {
        return refused;
    }
    match real.root().dir.stat_beneath(real.relative()) {
        Ok(stat) if stat.kind == FileKind::Other => AccessError::new(AccessErrorKind::Special(stat.special()), asked),
        _ => refused,
    }
}
