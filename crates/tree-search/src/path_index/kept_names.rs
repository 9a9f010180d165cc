//! The names of large trees without an index, kept for a short while: for the next keystroke of a completion.

use std::collections::{HashMap, hash_map::Entry};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use confined_fs::{FileKind, Workspace, WorkspacePath};

use super::{path_list::PathList, path_state::IndexedPath};

/// Names of one tree that are listed at most: some 40 MB.
const MAX_NAMES: usize = 250_000;
/// How long a listing is used before the tree is listed again.
const FRESH_TIME: Duration = Duration::from_secs(3);
/// How long after the last completion the names are dropped, and how often that is looked at.
const IDLE_TIME: Duration = Duration::from_secs(15);
const LOOK_INTERVAL: Duration = Duration::from_millis(200);
/// How long a listing may take.
const MAX_LISTING_TIME: Duration = Duration::from_secs(30);
/// Names between two looks at the clock.
const CHECK_EVERY: usize = 64;

/// The names below one root: those that `glob` would find.
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

    /// Walks below `root` until `is_over`, which is asked now and then.
    pub(crate) fn read(workspace: &Workspace, root: &WorkspacePath, mut is_over: impl FnMut() -> bool) -> Self {
        let is_over = |names: usize| names >= MAX_NAMES || names.is_multiple_of(CHECK_EVERY) && is_over();
        match PathList::walk(workspace, root, true, is_over) {
            Ok((list, is_complete)) => Self { list: Arc::new(list), is_complete },
            Err(_) => Self { is_complete: false, ..Self::empty(workspace, root) },
        }
    }

    /// The files and directories that no ignore rule leaves out.
    pub(crate) fn iter(&self) -> impl Iterator<Item = IndexedPath<'_>> {
        let is_shown =
            |item: &IndexedPath<'_>| !item.ignored && matches!(item.kind, FileKind::File | FileKind::Directory);
        self.list.items.iter().filter(is_shown)
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
        match lock(&self.trees).entry(key.clone()) {
            Entry::Occupied(_) => return,
            Entry::Vacant(place) => place.insert(KeptTree { listing: None, used: Instant::now() }),
        };
        let (workspace, path) = (workspace.clone(), root.clone());
        // Dropped at the end of the thread, or at once where there is none. Held weakly, as the thread ends with the
        // session that the names belong to.
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
        let is_wanted = || self.idle().is_some_and(|idle| idle < IDLE_TIME);
        let listing = Listing::read(workspace, root, || !is_wanted() || started.elapsed() > MAX_LISTING_TIME);
        let listed = Instant::now();
        self.with(|tree| tree.listing = Some(listing));
        while is_wanted() {
            thread::sleep(LOOK_INTERVAL);
            // Only where it was used since: a tree that nobody completes in is not listed again.
            if listed.elapsed() >= FRESH_TIME && self.idle().is_some_and(|idle| idle < listed.elapsed()) {
                return true;
            }
        }
        false
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
