//! What was last known at some paths: an event about a change that was reported already is no news.

use std::{
    collections::{HashMap, VecDeque},
    iter,
};

use confined_fs::{FileKind, Stat, WorkspacePath};

/// Paths that are remembered. A change of one that is forgotten is at worst reported twice.
const REMEMBERED: usize = 4096;

/// What the latest changes left at their paths.
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
        if self.order.len() > REMEMBERED
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
