//! All paths below one root, in path order.

use std::{
    collections::HashSet,
    ops::{ControlFlow, Range},
    path::Path,
    sync::OnceLock,
};

use confined_fs::{
    AccessError, Entry, FileKind, Ignored, TreeListing, VerifiedListing, WalkOptions, WatchedEntry, Watcher, Workspace,
    WorkspacePath, path_order,
};

use super::{KnownContent, KnownStat, NewPath, PathState, PathTable, short_inode};

/// The names below one root, in path order, each directory before what is in it.
#[derive(Clone, Debug)]
pub(crate) struct PathList {
    pub(super) items: PathTable,
    root: WorkspacePath,
    next_id: u32,
}

impl PathList {
    /// Lists and watches everything below `root`.
    ///
    /// # Errors
    /// When the root itself cannot be listed.
    pub(super) fn read(root: &WorkspacePath, watcher: &mut Watcher) -> Result<Self, AccessError> {
        let (mut items, mut next_id) = (PathTable::new(watcher.origin()), 0_u32);
        watcher.watch_tree(root, true, &mut |listed| {
            next_id = next_id.wrapping_add(1);
            items.push(listed.entry.path().relative(), PathState::new(&listed, next_id));
        })?;
        items.shrink_to_fit();
        Ok(Self { items, root: root.clone(), next_id })
    }

    /// Lists everything below `root` that no ignore rule leaves out, without a watch.
    ///
    /// # Errors
    /// When the root itself cannot be listed.
    pub(super) fn walk(workspace: &Workspace, root: &WorkspacePath) -> Result<Self, AccessError> {
        let (mut items, mut next_id) = (PathTable::new(workspace.entry_origin(root)), 0_u32);
        let options = WalkOptions { ignored: Ignored::Skip, max_depth: None, directories: true, symlinks: false };
        workspace.walk(root, &options, &mut |entry| {
            next_id = next_id.wrapping_add(1);
            let listed = WatchedEntry::of_unwatched(entry);
            items.push(listed.entry.path().relative(), PathState::new(&listed, next_id));
            ControlFlow::Continue(())
        })?;
        items.shrink_to_fit();
        Ok(Self { items, root: root.clone(), next_id })
    }

    /// Lists what is above and below `start` from what a former process listed, as far as that is still true. The list is
    /// to be used only where that says that it is whole.
    pub(super) fn verify(
        workspace: &Workspace,
        start: &WorkspacePath,
        listing: &TreeListing,
    ) -> (Self, VerifiedListing) {
        let root = workspace.root_path(start.root());
        let (mut items, mut next_id) = (PathTable::new(workspace.entry_origin(&root)), 0_u32);
        let verified = workspace.verify_listing(start, listing, &mut |name| {
            next_id = next_id.wrapping_add(1);
            items.push(name.relative, PathState::verified(&name, next_id));
        });
        (Self { items, root, next_id }, verified)
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
        let item = self.items.get(at);
        let listed = item.kind() == FileKind::Directory && !item.ignored && !item.unreadable && !item.unwatched;
        listed.then(|| at + 1..self.end_of(at))
    }

    /// Memory held, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.items.memory()
    }

    /// The position behind `after`, or of the first path.
    pub(super) fn position_after(&self, after: Option<&WorkspacePath>) -> usize {
        let is_passed = |after: &WorkspacePath, path: &Path| path_order(path, after.relative()).is_le();
        after.map_or(0, |after| self.items.partition_point(0..self.items.len(), |path| is_passed(after, path)))
    }

    pub(super) fn find(&self, path: &WorkspacePath) -> Option<usize> {
        let at = self.items.partition_point(0..self.items.len(), |one| path_order(one, path.relative()).is_lt());
        let is_there =
            at < self.items.len() && self.items.get(at).relative().as_os_str() == path.relative().as_os_str();
        (is_there && path.is_in(&self.root)).then_some(at)
    }

    /// A new path, with the number of its first state.
    pub(super) fn added(&mut self, listed: WatchedEntry) -> AddedPath {
        self.next_id = self.next_id.wrapping_add(1);
        let state = PathState::new(&listed, self.next_id);
        AddedPath { entry: listed.entry, state }
    }

    /// The position behind the subtree of `at`.
    pub(super) fn end_of(&self, at: usize) -> usize {
        let (top, all) = (self.items.get(at), self.items.len());
        let is_in = |path: &Path| path.starts_with(top.relative());
        // Most subtrees are small.
        let mut step = 1;
        while at + step < all && is_in(self.items.get(at + step).relative()) {
            step *= 2;
        }
        self.items.partition_point(at + step / 2..all.min(at + step), is_in)
    }

    /// Forgets the stats that were asked for while a search was under way.
    pub(super) fn forget_asked(&mut self) {
        for at in 0..self.items.len() {
            if self.items.get(at).known.get().is_some_and(|known| known.asked) {
                self.items.change(at, |item| item.known = OnceLock::new());
            }
        }
    }

    /// Forgets what is known of a file.
    pub(super) fn forget_content(&mut self, at: usize, dropped: &mut Vec<KnownContent>) {
        self.next_id = self.next_id.wrapping_add(1);
        dropped.push(self.items.change(at, |item| {
            item.known = OnceLock::new();
            item.id = self.next_id;
            item.take_content()
        }));
    }

    /// Takes paths out and puts others in. What was known of content that is gone is put into `dropped`.
    pub(super) fn merge(&mut self, edits: Edits, dropped: &mut Vec<KnownContent>) {
        let Edits { removed, mut added, mut kept } = edits;
        // A new name may be another one of a file that is known.
        let linked: HashSet<u32> = added
            .iter()
            .filter(|item| item.state.is_file())
            .filter_map(|item| item.entry.stat().ok())
            .filter(|stat| stat.links() != 1)
            .map(|stat| short_inode(stat.inode()))
            .collect();
        added.append(&mut kept);
        if !removed.is_empty() || !added.is_empty() {
            added.sort_by(|one, two| one.path().cmp(two.path()));
            let added = added.iter().map(|new| NewPath { relative: new.path().relative(), state: new.state.clone() });
            self.items.replace(removed, added, dropped);
        }
        if !linked.is_empty() {
            self.forget_all(|known| linked.iter().any(|inode| known.may_be(*inode)), dropped);
        }
    }

    /// Forgets what is known of the content of all files whose stat is one of these.
    fn forget_all(&mut self, is_one: impl Fn(&KnownStat) -> bool, dropped: &mut Vec<KnownContent>) {
        for at in 0..self.items.len() {
            if self.items.get(at).known.get().is_some_and(&is_one) {
                self.forget_content(at, dropped);
            }
        }
    }
}

/// A path that is put into the list.
#[derive(Debug)]
pub(super) struct AddedPath {
    pub(super) entry: Entry,
    pub(super) state: PathState,
}

impl AddedPath {
    pub(super) fn path(&self) -> &WorkspacePath {
        self.entry.path()
    }
}

/// What is taken out of the list and put into it, all at once at the end.
#[derive(Debug, Default)]
pub(super) struct Edits {
    pub(super) removed: Vec<Range<usize>>,
    pub(super) added: Vec<AddedPath>,
    /// Put in again, with what is known of them.
    pub(super) kept: Vec<AddedPath>,
}

impl Edits {
    /// Puts nothing in below `path`.
    pub(super) fn withdraw(&mut self, path: &WorkspacePath, dropped: &mut Vec<KnownContent>) {
        let below = |item: &AddedPath| item.path().relative().starts_with(path.relative());
        for list in [&mut self.added, &mut self.kept] {
            dropped.extend(list.extract_if(.., |item| below(item)).map(|item| item.state.content().into_owned()));
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use confined_fs::Access;

    #[test]
    fn snapshots_share_unchanged_paths() {
        let workspace = Workspace::of_directory(concat!(env!("CARGO_MANIFEST_DIR"), "/.."), Access::ReadOnly);
        let root = workspace.root_path(&workspace.roots()[0]);
        let mut list = PathList::read(&root, &mut workspace.watch(root.root()).unwrap()).unwrap();
        let before = list.clone();
        list.forget_content(3, &mut Vec::new());
        assert!(list.items.len() > 100);
        assert_ne!(before.items.get(3).id, list.items.get(3).id, "the older list goes on saying what it said");
        let ids = |list: &PathList| list.items.iter().map(|item| item.id).collect::<Vec<_>>();
        let (before, after) = (ids(&before), ids(&list));
        assert_eq!((0..after.len()).filter(|at| before[*at] != after[*at]).collect::<Vec<_>>(), [3]);
    }
}
