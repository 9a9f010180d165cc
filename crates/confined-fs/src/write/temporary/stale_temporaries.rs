//! Temporary entries that a killed process left behind: removed by the next one that writes there.
//!
//! The first write of a process in a directory looks for them, which costs one listing; only names of
//! temporary files count, and only when nothing has happened to the entry for a while. Nothing is lost
//! with one: it is a copy not yet in place, or what has been replaced or recorded already.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use beneath::{FileKind, OpenFor, Stat};

use crate::dir::remove_all;
use crate::{Dir, WorkspacePath};

use super::reserved_names::is_temporary;

/// Directories that one process remembers to have looked at.
const REMEMBERED: usize = 10_000;
/// A tree that is being built is not touched at its top for longer than a file.
const TREES: u32 = 6;

/// How long a temporary file must have been left alone to count as stale: ten minutes unless
/// said otherwise, six times as long for a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleAfter(pub Duration);

impl Default for StaleAfter {
    fn default() -> Self {
        Self(Duration::from_secs(600))
    }
}

/// Finds them, once in each directory.
#[derive(Debug, Default)]
pub(crate) struct StaleTemporaries {
    after: StaleAfter,
    /// The directories that were looked at.
    seen: Mutex<HashSet<PathBuf>>,
}

impl StaleTemporaries {
    pub(crate) fn new(after: StaleAfter) -> Self {
        Self { after, seen: Mutex::default() }
    }

    /// Removes them from `dir`, which is at `path`, unless this process has looked there before.
    /// What cannot be listed or removed stays.
    pub(crate) fn sweep_once(&self, path: &WorkspacePath, dir: &Dir) {
        if !self.is_first_look(path.host()) {
            return;
        }
        let Ok(names) = dir.reopen(OpenFor::List).and_then(|dir| dir.list()) else { return };
        for listed in names.iter().filter(|listed| is_temporary(&listed.name)) {
            let Ok(stat) = dir.child_stat(&listed.name) else { continue };
            let StaleAfter(quiet) = self.after;
            if left_alone(&stat, if stat.kind == FileKind::Directory { quiet * TREES } else { quiet }) {
                match remove_all(dir, &listed.name) {
                    Ok(()) => tracing::info!("removed a temporary file that an earlier process left behind"),
                    Err(error) => tracing::debug!(%error, "a temporary file of an earlier process stays"),
                }
            }
        }
    }

    fn is_first_look(&self, directory: PathBuf) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= REMEMBERED {
            seen.clear();
        }
        seen.insert(directory)
    }
}

/// By the time of the last change to the entry itself: a file that has just been put aside under a
/// temporary name may have been written long ago.
fn left_alone(stat: &Stat, quiet: Duration) -> bool {
    let (seconds, nanoseconds) = stat.identity.changed;
    let Ok(seconds) = u64::try_from(seconds) else { return false };
    let changed = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds);
    SystemTime::now().duration_since(changed).is_ok_and(|age| age >= quiet)
}
