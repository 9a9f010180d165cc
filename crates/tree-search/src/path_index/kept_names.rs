//! The names of large trees without an index, kept for a short while: for the next keystroke of a completion.

use std::{
    collections::HashMap,
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    thread,
    time::{Duration, Instant},
};

use confined_fs::{FileKind, Ignored, WalkOptions, WatchedEntry, Workspace, WorkspacePath};

use super::path_list::PathList;

/// Names of one tree that are listed at most: some 40 MB.
const MAX_NAMES: usize = 250_000;
/// How long a listing is used before the tree is listed again.
const FRESH: Duration = Duration::from_secs(3);
/// How long after the last completion the names are dropped, and how often that is looked at.
const IDLE: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(200);
/// How long a listing may take.
const LISTING: Duration = Duration::from_secs(30);
/// Names between two looks at the clock.
const CHECK_EVERY: usize = 64;
/// The names that are listed: those that `glob` would find.
const LISTED: WalkOptions = WalkOptions { ignored: Ignored::Skip, max_depth: None, directories: true, symlinks: false };

/// The names below one root.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    pub(crate) list: Arc<PathList>,
    /// Whether that is all.
    pub(crate) is_complete: bool,
}

impl Listing {
    /// All names of an empty tree.
    pub(crate) fn empty(workspace: &Workspace, root: &WorkspacePath) -> Self {
        Self { list: Arc::new(PathList::empty(root, workspace.entry_origin(root))), is_complete: true }
    }

    /// Walks below `root` until `is_over`.
    pub(crate) fn read(workspace: &Workspace, root: &WorkspacePath, mut is_over: impl FnMut() -> bool) -> Self {
        let mut list = PathList::empty(root, workspace.entry_origin(root));
        let walked = workspace.walk(root, &LISTED, &mut |entry| {
            let stat = if entry.kind() == FileKind::File { entry.stat().ok() } else { None };
            list.push(&WatchedEntry::of_unwatched(entry), stat.as_ref());
            let names = list.items.len();
            let is_over = names >= MAX_NAMES || names.is_multiple_of(CHECK_EVERY) && is_over();
            if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let is_complete = walked.is_ok_and(|report| !report.stopped);
        Self { list: Arc::new(list), is_complete }
    }
}

/// The trees that are listed, by the key of their roots.
#[derive(Debug, Default)]
pub(crate) struct KeptNames {
    trees: Arc<Trees>,
}

type Trees = Mutex<HashMap<String, KeptTree>>;

#[derive(Debug)]
struct KeptTree {
    /// `None` until the first listing ends.
    listing: Option<Listing>,
    used: Instant,
}

impl KeptNames {
    /// The names of a tree, if they are kept.
    pub(crate) fn get(&self, root: &WorkspacePath) -> Option<Listing> {
        let mut trees = lock(&self.trees);
        let tree = trees.get_mut(root.root().key())?;
        tree.used = Instant::now();
        tree.listing.clone()
    }

    /// Drops what is kept of a tree.
    pub(crate) fn forget(&self, root: &WorkspacePath) {
        lock(&self.trees).remove(root.root().key());
    }

    /// Lists a tree in the background, and again while completions use it. Does nothing if that is under way, or if
    /// the system starts no thread.
    pub(crate) fn keep(&self, workspace: &Workspace, root: &WorkspacePath) {
        let key = root.root().key().to_owned();
        {
            let mut trees = lock(&self.trees);
            if trees.contains_key(&key) {
                return;
            }
            trees.insert(key.clone(), KeptTree { listing: None, used: Instant::now() });
        }
        let (workspace, path) = (workspace.clone(), root.clone());
        // Dropped at the end of the thread, or at once where there is none.
        let tree = ListedTree { trees: Arc::downgrade(&self.trees), key };
        let _ = thread::Builder::new().name("names".to_owned()).spawn(move || while tree.list(&workspace, &path) {});
    }
}

/// A tree that a thread lists; forgotten at its end, even by a panic.
struct ListedTree {
    trees: Weak<Trees>,
    key: String,
}

impl ListedTree {
    /// Lists it, and waits until that is no longer fresh; false when nobody uses it any more.
    fn list(&self, workspace: &Workspace, root: &WorkspacePath) -> bool {
        let started = Instant::now();
        let is_wanted = || self.idle().is_some_and(|idle| idle < IDLE);
        let listing = Listing::read(workspace, root, || !is_wanted() || started.elapsed() > LISTING);
        let listed = Instant::now();
        self.with(|tree| tree.listing = Some(listing));
        loop {
            thread::sleep(LOOK);
            match self.idle() {
                None => return false,
                Some(idle) if idle >= IDLE => return false,
                // Only where it was used since: a tree that nobody completes in is not listed again.
                Some(idle) if listed.elapsed() >= FRESH && idle < listed.elapsed() => return true,
                Some(_) => {}
            }
        }
    }

    /// How long ago the last completion used it.
    fn idle(&self) -> Option<Duration> {
        self.with(|tree| tree.used.elapsed())
    }

    /// `None` where nobody wants it any more.
    fn with<T>(&self, look: impl FnOnce(&mut KeptTree) -> T) -> Option<T> {
        self.trees.upgrade().and_then(|trees| lock(&trees).get_mut(&self.key).map(look))
    }
}

impl Drop for ListedTree {
    fn drop(&mut self) {
        if let Some(trees) = self.trees.upgrade() {
            lock(&trees).remove(&self.key);
        }
    }
}

fn lock(trees: &Trees) -> MutexGuard<'_, HashMap<String, KeptTree>> {
    trees.lock().unwrap_or_else(PoisonError::into_inner)
}
