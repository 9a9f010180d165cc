//! The stored indexes that searches of this process use, until a live index has taken them over.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use confined_fs::{Workspace, WorkspacePath};

use super::PathList;
use crate::{StoredIndex, StoredIndexes};

/// Share of files, in percent, and number of files of which a stored index may not know the state before it is written
/// again.
const OUTDATED_PERCENT: usize = 1;
const OUTDATED_FILES: usize = 64;
/// Directories of which it may know another state before it is written again.
const OUTDATED_DIRECTORIES: usize = 16;
/// How long after it was written the stored index is written again, at the earliest, while the process goes on.
pub(super) const REST: Duration = Duration::from_secs(300);

/// Where indexes are stored, and those that were loaded.
#[derive(Debug, Default)]
pub(super) struct LoadedIndexes {
    pub(super) stored: StoredIndexes,
    /// By the key of the root.
    loaded: Mutex<HashMap<String, Loaded>>,
    /// When roots without a live index were last read for the stored one, by the key of the root.
    read: Mutex<HashMap<String, Instant>>,
}

#[derive(Debug, Default)]
struct Loaded {
    /// `None` where there is none.
    index: Option<Arc<StoredIndex>>,
    /// Whether the last search found too many files in another state.
    is_outdated: bool,
    /// Whether the last search found too many directories in another state.
    is_listing_outdated: bool,
}

impl LoadedIndexes {
    pub(super) fn new(stored: StoredIndexes) -> Self {
        Self { stored, ..Self::default() }
    }

    /// The stored index of the root of `start`, loaded at most once.
    pub(super) fn get(&self, root: &WorkspacePath) -> Option<Arc<StoredIndex>> {
        if !self.stored.is_kept() {
            return None;
        }
        let mut loaded = self.lock();
        let load = || Loaded { index: self.stored.load(root), ..Loaded::default() };
        loaded.entry(root.root().key().to_owned()).or_insert_with(load).index.clone()
    }

    /// The paths above and below `start` as they are now, by what is stored; `None` where only a walk can say that.
    pub(super) fn list(&self, workspace: &Workspace, start: &WorkspacePath) -> Option<PathList> {
        let stored = self.get(start)?;
        let (list, verified) = PathList::verify(workspace, start, stored.listing()?);
        tracing::debug!(%start, ?verified, "names from the stored index");
        if let Some(loaded) = self.lock().get_mut(start.root().key()) {
            loaded.is_listing_outdated = verified.outdated > OUTDATED_DIRECTORIES;
        }
        if !verified.is_whole {
            return None;
        }
        Some(list)
    }

    /// Forgets what was loaded of a root: it is loaded again when it is asked for.
    pub(super) fn forget(&self, root: &WorkspacePath) {
        self.lock().remove(root.root().key());
    }

    /// Notes that a search of `files` met so many of which the state was not known.
    pub(super) fn note(&self, root: &WorkspacePath, files: usize, outdated: usize) {
        if let Some(loaded) = self.lock().get_mut(root.root().key()) {
            loaded.is_outdated = is_outdated(files, outdated);
        }
    }

    /// Whether there is one, and the last search found nearly all files in the state that it knows.
    pub(super) fn is_good(&self, root: &WorkspacePath) -> bool {
        self.lock()
            .get(root.root().key())
            .is_some_and(|loaded| loaded.index.is_some() && !loaded.is_outdated && !loaded.is_listing_outdated)
    }

    /// Whether the names are to be written again.
    pub(super) fn is_listing_outdated(&self, root: &WorkspacePath) -> bool {
        self.lock().get(root.root().key()).is_some_and(|loaded| loaded.is_listing_outdated)
    }

    /// Whether a root that can have no live index is worth reading for the stored one.
    pub(super) fn is_wanted(&self, root: &WorkspacePath) -> bool {
        let is_kept = self.stored.is_kept() && !self.is_good(root) && root.root().identity_for_index().is_ok();
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        is_kept && read.get(root.root().key()).is_none_or(|at| at.elapsed() >= REST)
    }

    /// Notes that such a root is read now.
    pub(super) fn note_read(&self, root: &WorkspacePath) {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.insert(root.root().key().to_owned(), Instant::now());
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Loaded>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether so many changed files among `files` are worth to be written.
pub(super) fn is_outdated(files: usize, outdated: usize) -> bool {
    outdated > OUTDATED_FILES.min(files * OUTDATED_PERCENT / 100)
}
