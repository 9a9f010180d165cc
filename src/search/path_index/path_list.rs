//! All paths below one root, in path order.

use std::{
    collections::HashSet,
    ops::Range,
    sync::{Arc, OnceLock},
};

use super::{IndexedPath, KnownContent, KnownStat, PathSummary, PathTable};
use crate::workspace::{AccessError, FileKind, WatchedEntry, Watcher, WorkspacePath};

/// The names below one root, in path order, each directory before what is in it.
#[derive(Clone, Debug)]
pub(in crate::search) struct PathList {
    pub(super) items: PathTable,
    root: WorkspacePath,
    next_id: u64,
}

impl PathList {
    /// Lists and watches everything below `root`.
    ///
    /// # Errors
    /// When the root itself cannot be listed.
    pub(super) fn read(root: &WorkspacePath, watcher: &mut Watcher) -> Result<Self, AccessError> {
        let (mut items, mut next_id) = (PathTable::default(), 0);
        watcher.watch_tree(root, true, &mut |listed| {
            next_id += 1;
            items.push(Arc::new(IndexedPath::new(listed, next_id)));
        })?;
        items.shrink_to_fit();
        Ok(Self { items, root: root.clone(), next_id })
    }

    /// Files that are no ignored ones.
    pub(super) fn files(&self) -> usize {
        self.items.iter().filter(|item| item.is_file() && !item.ignored).count()
    }

    /// The range of what is below `start`, for an answer; `None` when that is no directory of the list, or
    /// nothing is listed below it: a walk of nothing costs nothing, and fails where it must (a mounted folder
    /// that was removed elsewhere has a name and cannot be listed).
    pub(super) fn below(&self, start: &WorkspacePath) -> Option<Range<usize>> {
        self.range_of(start).filter(|range| *start == self.root || !range.is_empty())
    }

    /// The range of what is below a directory; `None` when that is no directory that is listed.
    pub(super) fn range_of(&self, directory: &WorkspacePath) -> Option<Range<usize>> {
        if *directory == self.root {
            return Some(0..self.items.len());
        }
        let at = self.find(directory)?;
        let item = &self.items[at];
        let listed = item.entry.kind() == FileKind::Directory && !item.ignored && !item.unreadable && !item.unwatched;
        listed.then(|| at + 1..self.end_of(at))
    }

    /// Memory held, in bytes, about: a path has some 80 outside its item, sharing it costs some 24.
    pub(super) fn memory(&self) -> usize {
        self.items.len() * (size_of::<IndexedPath>() + size_of::<PathSummary>() + 80 + 24)
    }

    /// The position behind `after`, or of the first path.
    pub(super) fn position_after(&self, after: Option<&WorkspacePath>) -> usize {
        after.map_or(0, |after| self.items.partition_point(|item| item.path() <= after))
    }

    pub(super) fn find(&self, path: &WorkspacePath) -> Option<usize> {
        self.items.binary_search_by(|item| item.path().cmp(path)).ok()
    }

    /// A new path, with the number of its first state.
    pub(super) fn item(&mut self, watched: WatchedEntry) -> IndexedPath {
        self.next_id += 1;
        IndexedPath::new(watched, self.next_id)
    }

    /// The position behind the subtree of `at`.
    pub(super) fn end_of(&self, at: usize) -> usize {
        let top = self.items[at].path().relative();
        at + self.items[at..].partition_point(|item| item.path().relative().starts_with(top))
    }

    /// Forgets the stats that were asked for while a search was under way.
    pub(super) fn forget_asked(&mut self) {
        for at in 0..self.items.len() {
            if self.items[at].known.get().is_some_and(|known| known.asked) {
                self.items.change(at, |item| item.known = OnceLock::new());
            }
        }
    }

    /// Forgets what is known of a file.
    pub(super) fn forget_content(&mut self, at: usize, dropped: &mut Vec<KnownContent>) {
        self.next_id += 1;
        dropped.push(self.items.change(at, |item| {
            item.known = OnceLock::new();
            item.id = self.next_id;
            std::mem::replace(&mut item.content, KnownContent::Unread)
        }));
    }

    /// Takes paths out and puts others in. What was known of content that is gone is put into `dropped`.
    pub(super) fn merge(&mut self, edits: Edits, dropped: &mut Vec<KnownContent>) {
        let Edits { removed, mut added, mut kept } = edits;
        // A new name may be another one of a file that is known.
        let linked: HashSet<u64> = added
            .iter()
            .filter(|item| item.is_file())
            .filter_map(|item| item.entry.stat().ok())
            .filter(|stat| stat.links() != 1)
            .map(|stat| stat.inode())
            .collect();
        added.append(&mut kept);
        if !removed.is_empty() || !added.is_empty() {
            self.replace(removed, added, dropped);
        }
        if !linked.is_empty() {
            self.forget_all(|known| linked.contains(&known.inode), dropped);
        }
    }

    fn replace(&mut self, removed: Vec<Range<usize>>, mut added: Vec<IndexedPath>, dropped: &mut Vec<KnownContent>) {
        added.sort_by(|one, two| one.path().cmp(two.path()));
        let mut gone = vec![false; self.items.len()];
        for range in removed {
            gone[range].fill(true);
        }
        let mut merged = PathTable::with_capacity(self.items.len() + added.len());
        let mut added = added.into_iter().peekable();
        for (item, gone) in self.items.drain().zip(gone) {
            if gone {
                dropped.push(Arc::unwrap_or_clone(item.0).content);
                continue;
            }
            while let Some(new) = added.next_if(|new| new.path() < item.0.path()) {
                merged.push(Arc::new(new));
            }
            merged.push_back(item);
        }
        added.for_each(|new| merged.push(Arc::new(new)));
        self.items = merged;
    }

    /// Forgets what is known of the content of all files whose stat is one of these.
    fn forget_all(&mut self, is_one: impl Fn(&KnownStat) -> bool, dropped: &mut Vec<KnownContent>) {
        for at in 0..self.items.len() {
            if self.items[at].known.get().is_some_and(&is_one) {
                self.forget_content(at, dropped);
            }
        }
    }
}

/// What is taken out of the list and put into it, all at once at the end.
#[derive(Debug, Default)]
pub(super) struct Edits {
    pub(super) removed: Vec<Range<usize>>,
    pub(super) added: Vec<IndexedPath>,
    /// Put in again, with what is known of them.
    pub(super) kept: Vec<IndexedPath>,
}

impl Edits {
    /// Puts nothing in below `path`.
    pub(super) fn withdraw(&mut self, path: &WorkspacePath, dropped: &mut Vec<KnownContent>) {
        let below = |item: &IndexedPath| item.path().relative().starts_with(path.relative());
        for list in [&mut self.added, &mut self.kept] {
            dropped.extend(list.extract_if(.., |item| below(item)).map(|item| item.content));
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::workspace::{Access, Workspace};

    #[test]
    fn snapshots_share_unchanged_paths() {
        let workspace = Workspace::of_directory(concat!(env!("CARGO_MANIFEST_DIR"), "/src"), Access::ReadOnly);
        let root = workspace.root_path(&workspace.roots()[0]);
        let mut list = PathList::read(&root, &mut workspace.watch(root.root()).unwrap()).unwrap();
        let before = list.clone();
        list.forget_content(3, &mut Vec::new());
        let shared = |at: &usize| Arc::ptr_eq(&before.items[*at], &list.items[*at]);
        let unwatched: Vec<usize> = (0..list.items.len()).filter(|at| !shared(at)).collect();
        assert!(list.items.len() > 100);
        assert_eq!(unwatched, [3]);
        assert_ne!(before.items[3].id, list.items[3].id, "the older list goes on saying what it said");
    }
}
