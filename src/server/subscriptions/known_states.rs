//! What was last known of entries: a change that was reported already is no news. For single paths, where events name
//! them, and for all below a directory that can only be polled.

use std::{
    collections::{HashMap, VecDeque},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    iter,
    ops::ControlFlow,
};

use confined_fs::{FileKind, Ignored, Stat, WalkOptions, Workspace, WorkspacePath};

/// Paths that are remembered. A change of one that is forgotten is at worst reported twice.
const MAX_REMEMBERED: usize = 4096;

/// The states that the latest changes left at their paths.
#[derive(Debug, Default)]
pub(super) struct KnownStates {
    left: HashMap<WorkspacePath, Option<Stat>>,
    order: VecDeque<WorkspacePath>,
}

impl KnownStates {
    /// A change left this at `path`.
    pub(super) fn add(&mut self, path: WorkspacePath, left: Option<Stat>) {
        if self.left.insert(path.clone(), left).is_none() {
            self.order.push_back(path);
        }
        if self.order.len() > MAX_REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.left.remove(&oldest);
        }
    }

    /// Whether what is at `path`, as `now` says, is known.
    pub(super) fn has(&self, path: &WorkspacePath, now: Option<&Stat>) -> bool {
        match (self.left.get(path), now) {
            // A directory is, whatever has come into it since.
            (Some(Some(left)), Some(now)) if now.kind == FileKind::Directory => left.same_file(now),
            (Some(Some(left)), Some(now)) => left.same_content_state(now),
            (_, None) => self.has_removed(path),
            _ => false,
        }
    }

    /// Something else is at `path` now.
    pub(super) fn is_overtaken(&mut self, path: &WorkspacePath, exists: bool) {
        self.forget(path);
        if exists {
            // Then the directories above it are there, too.
            iter::successors(path.parent(), WorkspacePath::parent).for_each(|above| self.forget(&above));
        }
    }

    fn forget(&mut self, path: &WorkspacePath) {
        if self.left.remove(path).is_some() {
            self.order.retain(|known| known != path);
        }
    }

    /// The paths at which changes left nothing.
    pub(super) fn removed(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.left.iter().filter(|(_, left)| left.is_none()).map(|(path, _)| path)
    }

    /// Whether `path` is known to be gone, or a directory above it.
    fn has_removed(&self, path: &WorkspacePath) -> bool {
        if self.left.is_empty() {
            return false;
        }
        let mut above = iter::successors(Some(path.clone()), WorkspacePath::parent);
        above.any(|path| matches!(self.left.get(&path), Some(None)))
    }
}

/// Entries that are compared; what comes after them in path order is not.
const MAX_ENTRIES: usize = 200_000;
/// Paths that a comparison names; more are not looked at one by one.
const MAX_NAMED: usize = 256;

/// The entries below a directory: a number for each path and one for the state of the entry.
pub(super) type Listing = HashMap<u64, u64>;

/// How a directory differs from its listing.
#[derive(Debug, Default)]
pub(super) struct Difference {
    /// Entries that are new or different, up to [`MAX_NAMED`].
    pub(super) changed: Vec<(WorkspacePath, Option<Stat>)>,
    /// There are more of those.
    pub(super) has_more: bool,
    /// Numbers of paths that are gone.
    pub(super) gone: Vec<u64>,
}

/// Lists `directory` and compares it with `before`.
pub(super) fn list(
    workspace: &Workspace,
    directory: &WorkspacePath,
    before: Option<&Listing>,
) -> (Listing, Difference) {
    let (mut listing, mut difference) = (HashMap::new(), Difference::default());
    let options = WalkOptions { ignored: Ignored::Skip, max_depth: None, directories: true, symlinks: true };
    let walked = workspace.walk(directory, &options, &mut |entry| {
        let stat = entry.stat().ok();
        let path = number_of(entry.path());
        let state = stat.as_ref().map_or(0, state_of);
        listing.insert(path, state);
        if before.is_some_and(|before| before.get(&path) != Some(&state)) {
            if difference.changed.len() < MAX_NAMED {
                difference.changed.push((entry.path().clone(), stat));
            } else {
                difference.has_more = true;
            }
        }
        if listing.len() < MAX_ENTRIES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let is_whole = walked.is_ok_and(|report| !report.stopped);
    if let Some(before) = before.filter(|_| is_whole) {
        difference.gone = before.keys().filter(|path| !listing.contains_key(path)).copied().collect();
    }
    (listing, difference)
}

/// The number of a path in a listing.
pub(super) fn number_of(path: &WorkspacePath) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

fn state_of(stat: &Stat) -> u64 {
    let mut hasher = DefaultHasher::new();
    stat.device_and_inode().hash(&mut hasher);
    // The time of a directory changes with what is in it, which is listed itself.
    if stat.kind != FileKind::Directory {
        (stat.size, stat.modified).hash(&mut hasher);
    }
    hasher.finish()
}
