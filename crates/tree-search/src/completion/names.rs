//! The names below one root, as a completion sees them.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use confined_fs::{FileKind, Workspace, WorkspacePath, stop::StopSignal};

use crate::{IndexSnapshot, IndexedPath, ListedName, Listing, PathIndex};

/// How long a walk may take before an answer is given with what it has found.
const WALK_TIME: Duration = Duration::from_millis(12);
/// Looks at the clock, one for 64 names, before that counts: a small tree is listed whole on a busy machine, too.
const FEW_LOOKS: usize = 32;

/// All names, or as many as were found in time.
pub(super) enum TreeNames {
    Indexed(IndexSnapshot),
    Listed(Listing),
}

/// One of them.
#[derive(Clone)]
pub(super) enum Name<'n> {
    Indexed(IndexedPath<'n>),
    Listed(&'n ListedName),
}

impl TreeNames {
    /// The names below `root` that an answer can wait for.
    pub(super) fn of(index: &Arc<PathIndex>, workspace: &Workspace, root: &WorkspacePath, stop: &StopSignal) -> Self {
        // A missing directory holds nothing: kept as an unfinished listing, it would hide what appears in it.
        if root.root().is_absent() {
            index.kept_names.forget(root);
            return Self::Listed(Listing::default());
        }
        if let Some(snapshot) = index.live_snapshot(root, None) {
            index.kept_names.forget(root);
            // Brings the rest of the index up to date in the background, where that is due.
            index.after_search(workspace, root, usize::MAX, false);
            return Self::Indexed(snapshot);
        }
        if let Some(listing) = index.kept_names.get(root) {
            return Self::Listed(listing);
        }
        let started = Instant::now();
        let mut looks = 0;
        let is_over = || {
            looks += 1;
            stop.stopped().is_some() || (looks > FEW_LOOKS && started.elapsed() >= WALK_TIME)
        };
        let listing = Listing::read(workspace, root, is_over);
        if !listing.is_complete {
            index.after_search(workspace, root, listing.names.len(), true);
            index.kept_names.keep(workspace, root);
        }
        Self::Listed(listing)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Name<'_>> {
        let (indexed, listed) = match self {
            Self::Indexed(snapshot) => (Some(snapshot.shown()), None),
            Self::Listed(listing) => (None, Some(listing.names.iter())),
        };
        let indexed = indexed.into_iter().flatten().map(Name::Indexed);
        indexed.chain(listed.into_iter().flatten().map(Name::Listed))
    }

    pub(super) fn is_complete(&self) -> bool {
        match self {
            Self::Indexed(_) => true,
            Self::Listed(listing) => listing.is_complete,
        }
    }
}

impl<'n> Name<'n> {
    pub(super) fn path(&self) -> &WorkspacePath {
        match self {
            Self::Indexed(item) => item.path(),
            Self::Listed(name) => &name.path,
        }
    }

    /// Its path below the root.
    pub(super) fn relative(&self) -> &'n Path {
        match self {
            Self::Indexed(item) => item.relative(),
            Self::Listed(name) => name.path.relative(),
        }
    }

    pub(super) fn is_directory(&self) -> bool {
        match self {
            Self::Indexed(item) => item.kind() == FileKind::Directory,
            Self::Listed(name) => name.is_directory,
        }
    }

    /// When it was last modified: what is known, and if it `may_ask`, what the system says.
    pub(super) fn modified(&self, may_ask: bool) -> Option<SystemTime> {
        match self {
            Self::Indexed(item) if may_ask => item.modified(),
            Self::Indexed(item) => item.known_modified(),
            Self::Listed(name) => name.modified,
        }
    }
}
