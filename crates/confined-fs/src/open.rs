//! Opens the file that a path leads to: confined by the kernel first, through links only when there are any.
//!
//! Check and use are one step: the kernel refuses a link while it opens, and only then the links are followed one by one
//! (`links`) and the real path is opened, with links refused again. A path without links costs one system call.

mod open_file;
mod secret_names;

use std::fs::File;
use std::io::{self, Read as _};

use beneath::{Dir, Failure, FileKind, OpenFor, Stat};

use crate::error::{AccessError, AccessErrorKind, AtPath as _};
use crate::roots::links::{self, Location};
use crate::shared::{Shared, Workspace};
use crate::{path::WorkspacePath, policy::Verdict, revision::Revision};

pub use open_file::{FileStart, OpenFile, Snapshot};
pub use secret_names::SecretNames;

/// How often a lookup that raced with a rename is tried again, and a read that saw a change.
const MAX_ATTEMPTS: usize = 8;
const READ_ATTEMPTS: usize = 4;

impl Shared {
    /// Runs `operation`, which must refuse links itself, on the real path of `asked`.
    pub(super) fn reach<T>(
        &self,
        asked: &WorkspacePath,
        operation: impl Fn(&WorkspacePath) -> Result<T, Failure>,
    ) -> Result<(T, Location), AccessError> {
        // Where a name may be spelled in several ways, the real one is known only after the walk.
        let direct = (!cfg!(windows)).then(|| Ok(Location::direct(self.roots.deepest(asked))));
        let followed = std::iter::repeat_with(|| links::follow(&self.roots, asked)).take(MAX_ATTEMPTS);
        for way in direct.into_iter().chain(followed) {
            let way = match way {
                Err(error) if error.kind == AccessErrorKind::Changed => continue,
                answer => answer?,
            };
            // Before anything is opened: a hidden name must answer as one that is missing, whatever is there.
            visible(&way, asked)?;
            match operation(&way.real) {
                Ok(value) => {
                    if self.disk_rules.appeared(&self.roots, way.real.root()) {
                        // Rules that were read just now may hide it.
                        visible(&way, asked)?;
                    }
                    return Ok((value, way));
                }
                Err(Failure::Io(error)) => return Err(explain(error, &way.real, asked)),
                // A link where there was none a moment ago: look again.
                Err(Failure::Link) => {}
            }
        }
        // Where the last way led to a root whose directory is now a link, that is what there is to say.
        let real = self.roots.deepest(asked);
        Err(AccessError::from_failure(Failure::Link, if real.root().is_optional() { &real } else { asked }))
    }

    /// Stats `asked`, links inside the roots followed.
    pub(super) fn stat(&self, asked: &WorkspacePath) -> Result<(Stat, Location), AccessError> {
        self.reach(asked, |real| {
            let stat = real.root().dir.stat_beneath(real.relative())?;
            if stat.kind == FileKind::Symlink { Err(Failure::Link) } else { Ok(stat) }
        })
    }

    pub(super) fn directory(&self, asked: &WorkspacePath, purpose: OpenFor) -> Result<(Dir, Location), AccessError> {
        self.reach(asked, |real| real.root().dir.dir_beneath(real.relative(), purpose))
    }

    /// Real root and real names, and the names on the way; missing last parts are kept.
    pub(super) fn locate(&self, asked: &WorkspacePath) -> Result<Location, AccessError> {
        present(asked)?;
        for _ in 0..MAX_ATTEMPTS {
            match links::follow(&self.roots, asked) {
                Err(error) if error.kind == AccessErrorKind::Changed => {}
                answer => {
                    let way = answer?;
                    present(&way.real)?;
                    let root = way.real.root();
                    if root.is_unnoticed() && !root.is_absent() {
                        self.disk_rules.appeared(&self.roots, root);
                    }
                    return Ok(way);
                }
            }
        }
        Err(AccessError::new(AccessErrorKind::Changed, asked))
    }
}

impl Workspace {
    /// Opens a regular file for reading; never blocks on a special one.
    pub fn open_file(&self, asked: &WorkspacePath) -> Result<OpenFile, AccessError> {
        let (file, stat, way) = self.open_regular(asked)?;
        way.names().try_for_each(|name| readable(name, asked))?;
        Ok(OpenFile::new(file, asked.clone(), Some(way.real), stat))
    }

    /// A regular file, whether or not policy shows its content.
    fn open_regular(&self, asked: &WorkspacePath) -> Result<(File, Stat, Location), AccessError> {
        let open = |real: &WorkspacePath| {
            let file = real.root().dir.file_beneath(real.relative())?;
            let stat = beneath::file_stat(&file)?;
            Ok((file, stat))
        };
        let ((file, stat), way) = self.shared.reach(asked, open)?;
        regular(&stat, asked)?;
        Ok((file, stat, way))
    }

    /// Refuses a path whose content policy denies by one of its names, whether or not anything is there.
    pub fn check_readable(&self, asked: &WorkspacePath) -> Result<(), AccessError> {
        let way = self.shared.locate(asked)?;
        visible(&way, asked)?;
        way.names().try_for_each(|name| readable(name, asked))
    }

    /// As [`Self::open_file`], with its content, for a file of at most `max_bytes` that the kernel has in memory:
    /// never waits for a disk, another machine or another process. `None` for everything else and for every error.
    ///
    /// A straight line without links or retries, so that a reader sees every system call of it: the thread that reads
    /// the client's requests makes them.
    pub fn read_cached(&self, asked: &WorkspacePath, max_bytes: usize) -> Option<(OpenFile, Vec<u8>)> {
        let real = self.shared.roots.deepest(asked);
        if real.hidden() || asked.hidden() || real.root().is_unnoticed() || !real.root().is_present_cached() {
            return None;
        }
        readable(&real, asked).ok()?;
        let (file, stat, bytes) = real.root().dir.read_cached(real.relative(), max_bytes)?;
        Some((OpenFile::new(file, asked.clone(), Some(real), stat), bytes))
    }

    /// The whole content of a file of at most `max_bytes`, unchanged from its first byte to its
    /// last; tried a few times when somebody is writing.
    pub fn read(&self, path: &WorkspacePath, max_bytes: u64) -> Result<Snapshot, AccessError> {
        self.read_known(path, max_bytes, false, |_, _| None)
    }

    /// As [`Self::read`], where `known` may know the revision of the bytes at a real path: what it returns must be
    /// theirs. Hashing is most of the work on a large file. A file that only grew meanwhile is as good, where it
    /// `may_grow`: a log whose writer never rests has its former length then.
    pub fn read_known(
        &self,
        asked: &WorkspacePath,
        max_bytes: u64,
        may_grow: bool,
        known: impl Fn(&WorkspacePath, &[u8]) -> Option<Revision>,
    ) -> Result<Snapshot, AccessError> {
        let too_large = |size| AccessError::new(AccessErrorKind::TooLarge { size, limit: max_bytes }, asked);
        for _ in 0..READ_ATTEMPTS {
            let mut open = self.open_file(asked)?;
            let before = open.stat().clone();
            if before.size > max_bytes {
                return Err(too_large(before.size));
            }
            let expected = usize::try_from(before.size).unwrap_or(0);
            let mut bytes = Vec::with_capacity(expected.saturating_add(1));
            // One byte more than allowed, to distinguish a file that grew from one that just fits.
            let most = if may_grow { before.size } else { max_bytes.saturating_add(1) };
            (&mut open).take(most).read_to_end(&mut bytes).at(asked)?;
            let after = open.restat().at(asked)?;
            if bytes.len() as u64 > max_bytes {
                return Err(too_large(after.size));
            }
            let grew = may_grow && before.same_file(&after) && after.size >= before.size;
            if before.same_file_state(&after) || grew && bytes.len() as u64 == before.size {
                let revision = known(open.real_path(), &bytes).unwrap_or_else(|| Revision::of(&bytes));
                return Ok(Snapshot { bytes, revision, stat: after, path: open.real_path().clone() });
            }
        }
        Err(AccessError::new(AccessErrorKind::Changed, asked))
    }

    /// Each real name on the way to what a path leads to, the path of its content first: a change of any of them may be
    /// a change of what is read through the path. Nothing need be there.
    ///
    /// # Errors
    /// Where its content may not be read, as for a path that leads outside.
    pub fn names_to_follow(&self, path: &WorkspacePath) -> Result<Vec<WorkspacePath>, AccessError> {
        let way = match self.shared.locate(path) {
            Ok(way) => way,
            // It is followed until the root is there.
            Err(AccessError { kind: AccessErrorKind::RootGone(_), .. })
                if path.root().is_absent() && !path.hidden() =>
            {
                readable(path, path)?;
                return Ok(vec![path.clone()]);
            }
            Err(error) => return Err(error),
        };
        if !way.real.root().is_absent() {
            visible(&way, path)?;
        }
        way.names().try_for_each(|name| readable(name, path))?;
        Ok(way.names().cloned().collect())
    }
}

/// Refuses secret content by one of its names. The error is about the path that was asked for.
///
/// Policy is asked about every name of a file: the real one and each alias that a link gives it. A link called
/// `notes.txt` does not open `.env`, nor one called `.env` a plain file (CVE-2026-25724).
pub fn readable(name: &WorkspacePath, asked: &WorkspacePath) -> Result<(), AccessError> {
    match name.root().policy().content(name.relative()) {
        Verdict::Allowed => Ok(()),
        Verdict::Refused(rule) => Err(AccessError::by_rule(AccessErrorKind::Secret, asked, &rule)),
    }
}

/// Refuses a change that policy refuses. The error is about the path that was asked for.
pub fn changeable(verdict: Verdict, asked: &WorkspacePath) -> Result<(), AccessError> {
    match verdict {
        Verdict::Allowed => Ok(()),
        Verdict::Refused(rule) => Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, asked, &rule)),
    }
}

/// Refuses names that policy hides as missing, and paths in a root that is gone.
fn visible(way: &Location, asked: &WorkspacePath) -> Result<(), AccessError> {
    present(&way.real)?;
    if way.hidden() || asked.hidden() { Err(AccessError::new(AccessErrorKind::NotFound, asked)) } else { Ok(()) }
}

/// Refuses a path in a root that is no longer where it was opened.
fn present(real: &WorkspacePath) -> Result<(), AccessError> {
    real.root().presence().map_err(|gone| AccessError::new(AccessErrorKind::RootGone(gone), real))
}

/// Refuses all but regular files: reading a FIFO or a device may block for ever or have side effects.
pub fn regular(stat: &Stat, asked: &WorkspacePath) -> Result<(), AccessError> {
    let kind = match stat.kind {
        FileKind::File => return Ok(()),
        FileKind::Directory => AccessErrorKind::IsDirectory,
        FileKind::Symlink => AccessErrorKind::Changed,
        FileKind::Other => AccessErrorKind::Special(stat.special()),
    };
    Err(AccessError::new(kind, asked))
}

/// Opening a socket (ENXIO) or some devices fails with errors that say little: looks at what it is.
fn explain(error: io::Error, real: &WorkspacePath, asked: &WorkspacePath) -> AccessError {
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
