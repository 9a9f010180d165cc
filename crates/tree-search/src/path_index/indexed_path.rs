//! One path of the index, as a reader sees it.

use std::{cell::OnceCell, ops::Deref, path::Path, time::SystemTime};

use confined_fs::{Entry, EntryOrigin, FileKind, StatCache, WorkspacePath};

use super::{KnownStat, PathState};

/// One path, borrowed from its list.
#[derive(Clone, Debug)]
pub(crate) struct IndexedPath<'l> {
    relative: &'l Path,
    state: &'l PathState,
    origin: &'l EntryOrigin,
    /// Made when it is asked for: most searches look at names alone.
    path: OnceCell<WorkspacePath>,
}

impl Deref for IndexedPath<'_> {
    type Target = PathState;

    fn deref(&self) -> &PathState {
        self.state
    }
}

impl<'l> IndexedPath<'l> {
    pub(super) fn new(relative: &'l Path, state: &'l PathState, origin: &'l EntryOrigin) -> Self {
        Self { relative, state, origin, path: OnceCell::new() }
    }

    /// Whether its list is used for more than one answer.
    pub(crate) fn is_kept(&self) -> bool {
        self.state.is_kept
    }

    /// Where walks of its root begin.
    pub(crate) fn origin(&self) -> &'l EntryOrigin {
        self.origin
    }

    /// Below the root.
    pub(crate) fn relative(&self) -> &'l Path {
        self.relative
    }

    pub(crate) fn kind(&self) -> FileKind {
        self.state.kind
    }

    pub(crate) fn path(&self) -> &WorkspacePath {
        self.path.get_or_init(|| self.origin.path(self.relative))
    }

    pub(crate) fn into_path(self) -> WorkspacePath {
        self.path.into_inner().unwrap_or_else(|| self.origin.path(self.relative))
    }

    /// With the authority to open it.
    pub(crate) fn entry(&self) -> Entry {
        self.origin.entry(self.relative, self.state.kind)
    }

    /// When it was last modified. Asked of the system once, where only this name can change it.
    pub(crate) fn modified(&self) -> Option<SystemTime> {
        if let Some(modified) = self.known.get().and_then(KnownStat::modified) {
            return modified;
        }
        let stat = self.entry().stat().ok()?;
        if self.is_file()
            && !self.mounted
            && let Some(mut known) = KnownStat::of(&stat, false)
        {
            known.asked = true;
            let _ = self.known.set(known);
        }
        stat.modified
    }

    /// When it was last modified, if that is known.
    pub(crate) fn known_modified(&self) -> Option<SystemTime> {
        self.known.get().and_then(KnownStat::modified).flatten()
    }

    /// Whether a stat of now says the same as what is known; true where nothing is.
    pub(super) fn is_unchanged(&self, stats: &mut StatCache) -> bool {
        let is_same =
            |known: &KnownStat| stats.stat(&self.entry()).is_ok_and(|stat| stat.fingerprint() == known.fingerprint());
        self.known.get().is_none_or(is_same)
    }

    /// The fingerprint of the state that all knowledge of its content is about.
    pub(crate) fn state(&self) -> Option<u64> {
        self.known.get().map(KnownStat::fingerprint)
    }

    /// Whether a stat that says the same proves that the content is the same.
    pub(super) fn is_settled(&self) -> bool {
        self.known.get().is_some_and(|known| known.is_settled)
    }
}
