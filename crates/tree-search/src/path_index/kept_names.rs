//! The names of large trees without an index, kept for a short while: for the next keystroke of a completion.

use std::{
    collections::HashMap,
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    thread,
    time::{Duration, Instant, SystemTime},
};

use confined_fs::{FileKind, Ignored, WalkOptions, Workspace, WorkspacePath};

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
/// What is listed: what `glob` would find.
const LISTED: WalkOptions = WalkOptions { ignored: Ignored::Skip, max_depth: None, directories: true, symlinks: false };

/// One name of a listing.
#[derive(Clone, Debug)]
pub(crate) struct ListedName {
    pub(crate) path: WorkspacePath,
    pub(crate) is_directory: bool,
    pub(crate) modified: Option<SystemTime>,
}

/// The names below one root.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    pub(crate) names: Arc<Vec<ListedName>>,
    /// Whether that is all.
    pub(crate) is_complete: bool,
}

impl Default for Listing {
    /// All names of an empty tree.
    fn default() -> Self {
        Self { names: Arc::default(), is_complete: true }
    }
}

impl Listing {
    /// What a walk below `root` finds until `is_over`.
    pub(crate) fn read(workspace: &Workspace, root: &WorkspacePath, mut is_over: impl FnMut() -> bool) -> Self {
        let mut names = Vec::new();
        let walked = workspace.walk(root, &LISTED, &mut |entry| {
            let is_directory = entry.kind() == FileKind::Directory;
            if is_directory || entry.kind() == FileKind::File {
                let stat = if is_directory { None } else { entry.stat().ok() };
                let modified = stat.and_then(|stat| stat.modified);
                names.push(ListedName { path: entry.into_path(), is_directory, modified });
            }
            let is_over = names.len() >= MAX_NAMES || names.len() % CHECK_EVERY == 0 && is_over();
            if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let is_complete = walked.is_ok_and(|report| !report.stopped);
        Self { names: Arc::new(names), is_complete }
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
    /// What is kept of a tree.
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
        if !self.keep(listing) {
            return false;
        }
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

    fn keep(&self, listing: Listing) -> bool {
        let Some(trees) = self.trees.upgrade() else { return false };
        let mut trees = lock(&trees);
        let tree = trees.get_mut(&self.key);
        tree.map(|tree| tree.listing = Some(listing)).is_some()
    }

    /// How long ago the last completion used it.
    fn idle(&self) -> Option<Duration> {
        let trees = self.trees.upgrade()?;
        let trees = lock(&trees);
        trees.get(&self.key).map(|tree| tree.used.elapsed())
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
