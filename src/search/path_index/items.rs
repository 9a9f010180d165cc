//! All names below one root in path order, and how they are brought up to date.
//!
//! Applies what the watcher tells: lists again the directories concerned and keeps everything else.
//! Decides neither when that happens nor what is searched.

use std::{
    collections::{BTreeSet, HashSet},
    ops::Range,
    sync::{Arc, OnceLock},
};

use super::{
    item::{Content, Item},
    names::{Brief, Names},
};
use crate::workspace::{AccessError, AccessErrorKind, Changes, FileKind, WatchedEntry, Watcher, WorkspacePath};

/// Directories that are listed again one by one; with more, a new survey is quicker.
const MAX_RELISTED: usize = 2000;

/// The names below one root, in path order, each directory before what lies in it.
#[derive(Clone, Debug)]
pub(in crate::search) struct List {
    pub(super) items: Names,
    root: WorkspacePath,
    next_id: u64,
}

impl List {
    /// Lists and watches everything below `root`.
    ///
    /// # Errors
    /// When the root itself cannot be listed.
    pub(super) fn survey(root: &WorkspacePath, watcher: &mut Watcher) -> Result<Self, AccessError> {
        let mut list = Self { items: Names::default(), root: root.clone(), next_id: 0 };
        let mut items = Names::default();
        watcher.watch_tree(root, true, &mut |listed| {
            list.next_id += 1;
            items.push(Arc::new(Item::new(listed, list.next_id)));
        })?;
        items.shrink_to_fit();
        list.items = items;
        Ok(list)
    }

    /// Files that are no ignored ones.
    pub(super) fn files(&self) -> usize {
        self.items.iter().filter(|item| item.is_file() && !item.ignored).count()
    }

    /// The range of what lies below `start`, for an answer; `None` when that is no directory of the list, or
    /// nothing is listed below it: a walk of nothing costs nothing, and fails where it must (a mounted folder
    /// that was removed elsewhere has a name and cannot be listed).
    pub(super) fn below(&self, start: &WorkspacePath) -> Option<Range<usize>> {
        self.range_of(start).filter(|range| *start == self.root || !range.is_empty())
    }

    /// The range of what lies below a directory; `None` when that is no directory that is listed.
    fn range_of(&self, directory: &WorkspacePath) -> Option<Range<usize>> {
        if *directory == self.root {
            return Some(0..self.items.len());
        }
        let at = self.find(directory)?;
        let item = &self.items[at];
        let listed = item.entry.kind() == FileKind::Directory && !item.ignored && !item.unreadable && !item.unwatched;
        listed.then(|| at + 1..self.end_of(at))
    }

    /// Memory held, in bytes, about: a path costs some 80 beside its item, sharing that some 24.
    pub(super) fn memory(&self) -> usize {
        self.items.len() * (size_of::<Item>() + size_of::<Brief>() + 80 + 24)
    }

    pub(super) fn find(&self, path: &WorkspacePath) -> Option<usize> {
        self.items.binary_search_by(|item| item.path().cmp(path)).ok()
    }

    /// Where the item after the subtree of `at` stands.
    fn end_of(&self, at: usize) -> usize {
        let top = self.items[at].path().relative();
        at + self.items[at..].partition_point(|item| item.path().relative().starts_with(top))
    }

    /// Brings the list up to date. What was known of content that is no longer trusted is put into
    /// `dropped`.
    ///
    /// # Errors
    /// When so much has changed that only a new survey helps.
    pub(super) fn apply(
        &mut self,
        changes: &Changes,
        watcher: &mut Watcher,
        dropped: &mut Vec<Content>,
    ) -> Result<(), TooMuch> {
        if changes.everything || changes.directories.len() > MAX_RELISTED {
            return Err(TooMuch);
        }
        let touched: BTreeSet<_> = changes.directories.values().flatten().cloned().collect();
        // Before anything is watched anew: a directory that was moved keeps its watch otherwise, and
        // with it the old path.
        for path in &touched {
            watcher.forget(path);
        }
        let mut update = Update {
            list: self,
            watcher,
            changes,
            touched,
            covered: Vec::new(),
            vanished: Vec::new(),
            edits: Edits::default(),
            dropped,
        };
        update.trees()?;
        update.directories()?;
        let Update { edits, .. } = update;
        self.merge(edits, dropped);
        for path in &changes.files {
            if let Some(at) = self.find(path) {
                self.renew(at, dropped);
            }
        }
        if changes.remounted {
            self.forget_asked();
        }
        Ok(())
    }

    /// Forgets what was asked for while a search was under way.
    fn forget_asked(&mut self) {
        for at in 0..self.items.len() {
            if self.items[at].known.get().is_some_and(|known| known.asked) {
                self.items.change(at, |item| item.known = OnceLock::new());
            }
        }
    }

    /// Forgets what is known of a file.
    pub(super) fn renew(&mut self, at: usize, dropped: &mut Vec<Content>) {
        self.next_id += 1;
        dropped.push(self.items.change(at, |item| {
            item.known = OnceLock::new();
            item.id = self.next_id;
            std::mem::replace(&mut item.content, Content::Unread)
        }));
    }

    fn merge(&mut self, edits: Edits, dropped: &mut Vec<Content>) {
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
            added.sort_by(|one, two| one.path().cmp(two.path()));
            let mut gone = vec![false; self.items.len()];
            for range in removed {
                gone[range].fill(true);
            }
            let mut merged = Names::with_capacity(self.items.len() + added.len());
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
        if !linked.is_empty() {
            let other_names: Vec<_> = (0..self.items.len())
                .filter(|at| self.items[*at].known.get().is_some_and(|known| linked.contains(&known.inode)))
                .collect();
            for at in other_names {
                self.renew(at, dropped);
            }
        }
    }
}

/// Only a new survey helps.
#[derive(Debug)]
pub(super) struct TooMuch;

/// What is taken out of the list and put into it, all at once at the end.
#[derive(Debug, Default)]
struct Edits {
    removed: Vec<Range<usize>>,
    added: Vec<Item>,
    /// Put in again, with what is known of them.
    kept: Vec<Item>,
}

impl Edits {
    /// Puts nothing in below `path`.
    fn withdraw(&mut self, path: &WorkspacePath, dropped: &mut Vec<Content>) {
        let below = |item: &Item| item.path().relative().starts_with(path.relative());
        for list in [&mut self.added, &mut self.kept] {
            dropped.extend(list.extract_if(.., |item| below(item)).map(|item| item.content));
        }
    }
}

struct Update<'u> {
    list: &'u mut List,
    watcher: &'u mut Watcher,
    changes: &'u Changes,
    /// Names that came, went or were replaced.
    touched: BTreeSet<WorkspacePath>,
    /// Trees that were listed as a whole.
    covered: Vec<WorkspacePath>,
    /// Trees that could no longer be listed.
    vanished: Vec<WorkspacePath>,
    edits: Edits,
    dropped: &'u mut Vec<Content>,
}

impl Update<'_> {
    /// Subtrees with other ignore rules: listed anew, but what is known of files stays.
    fn trees(&mut self) -> Result<(), TooMuch> {
        for tree in &self.changes.trees {
            if self.is_covered(tree) || self.is_touched(tree) {
                continue;
            }
            let Some(old) = self.list.range_of(tree) else { continue };
            let mut met = Vec::new();
            match self.watcher.watch_tree(tree, true, &mut |listed| met.push(listed)) {
                Ok(()) => {}
                Err(_) if tree.is_root() => return Err(TooMuch),
                // Gone since: its parent is told that, too.
                Err(_) => {
                    self.watcher.forget(tree);
                    self.edits.removed.push(old);
                    self.vanished.push(tree.clone());
                    continue;
                }
            }
            for listed in met {
                let mut item = self.item(listed);
                if let Some(at) = self.list.find(item.path())
                    && self.list.items[at].entry.kind() == item.entry.kind()
                    && self.list.items[at].mounted == item.mounted
                    && !self.is_touched(item.path())
                {
                    self.list.items.change(at, |was| {
                        item.content = std::mem::replace(&mut was.content, Content::Unread);
                        item.known = std::mem::take(&mut was.known);
                        item.id = was.id;
                    });
                    self.edits.kept.push(item);
                } else {
                    self.edits.added.push(item);
                }
            }
            self.edits.removed.push(old);
            self.covered.push(tree.clone());
        }
        Ok(())
    }

    /// Directories with names that came or went: listed anew, one level.
    fn directories(&mut self) -> Result<(), TooMuch> {
        for directory in self.changes.directories.keys() {
            if self.is_covered(directory) || self.is_touched(directory) {
                continue;
            }
            let Some(old) = self.list.range_of(directory) else { continue };
            // Its parent, listed before it, says that it is no longer what it was.
            let own = old.start.wrapping_sub(1);
            if !directory.is_root() && self.edits.removed.iter().any(|range| range.contains(&own)) {
                continue;
            }
            let mut met = Vec::new();
            match self.watcher.watch_tree(directory, false, &mut |listed| met.push(listed)) {
                Ok(()) => self.relist(old, met),
                Err(_) if directory.is_root() => return Err(TooMuch),
                // Gone or closed since: its parent is told that, too.
                Err(_) => self.edits.removed.push(old),
            }
        }
        Ok(())
    }

    fn relist(&mut self, old: Range<usize>, met: Vec<WatchedEntry>) {
        let mut at = old.start;
        for listed in met {
            // Both are in path order.
            while at < old.end && self.list.items[at].path() < listed.entry.path() {
                at = self.remove(at);
            }
            let same_name = at < old.end && self.list.items[at].path() == listed.entry.path();
            if !same_name {
                self.add(listed);
                continue;
            }
            let next = self.list.end_of(at);
            let was = &self.list.items[at];
            let same = was.entry.kind() == listed.entry.kind()
                && was.ignored == listed.ignored
                && was.unwatched == listed.unwatched
                && was.mounted == listed.mounted;
            if !same || (!was.is_file() && self.touched.contains(was.path())) {
                // The listing has just set the watch of a directory: where a mark in it has it ignored, nothing
                // else would say that the mark is gone.
                let stays = listed.entry.kind() == FileKind::Directory;
                self.take_out(at, stays);
                self.add(listed);
            } else if was.is_file() && self.touched.contains(was.path()) {
                // Replaced, as an atomic write does: the place stays. It may have come with links.
                if listed.entry.stat().is_ok_and(|stat| stat.links() == 1) {
                    self.list.renew(at, self.dropped);
                } else {
                    self.remove(at);
                    self.add(listed);
                }
            }
            at = next;
        }
        while at < old.end {
            at = self.remove(at);
        }
    }

    /// Takes an item out with all below it; where the next one stands.
    fn remove(&mut self, at: usize) -> usize {
        self.take_out(at, false)
    }

    /// The same; `stays` for a directory in whose place there is one, which keeps its own watch.
    fn take_out(&mut self, at: usize, stays: bool) -> usize {
        let end = self.list.end_of(at);
        if self.list.items[at].entry.kind() == FileKind::Directory {
            let path = self.list.items[at].path();
            if self.covered.iter().any(|tree| tree.relative().starts_with(path.relative())) {
                // Listed a moment ago, and gone by a later listing.
                self.edits.withdraw(path, self.dropped);
            }
            if stays {
                self.watcher.forget_below(path);
            } else {
                self.watcher.forget(path);
            }
        }
        self.edits.removed.push(at..end);
        end
    }

    fn add(&mut self, listed: WatchedEntry) {
        let mut item = self.item(listed);
        if item.entry.kind() == FileKind::Directory && !item.ignored && !item.unwatched {
            let mut met = Vec::new();
            match self.watcher.watch_tree(item.path(), true, &mut |listed| met.push(listed)) {
                Ok(()) => {}
                // As for a walk: one that is gone by now is named all the same.
                Err(error) => item.unreadable = error.kind != AccessErrorKind::NotFound,
            }
            for listed in met {
                let below = self.item(listed);
                self.edits.added.push(below);
            }
        }
        self.edits.added.push(item);
    }

    fn item(&mut self, listed: WatchedEntry) -> Item {
        self.list.next_id += 1;
        Item::new(listed, self.list.next_id)
    }

    /// Whether it lies in a tree that was dealt with as a whole, or is one.
    fn is_covered(&self, path: &WorkspacePath) -> bool {
        let mut trees = self.covered.iter().chain(&self.vanished);
        trees.any(|tree| path.relative().starts_with(tree.relative()))
    }

    /// Whether it, or a directory above it, was replaced: its parent's listing deals with it.
    fn is_touched(&self, path: &WorkspacePath) -> bool {
        if self.touched.is_empty() {
            return false;
        }
        let mut next = Some(path.clone());
        while let Some(path) = next {
            if self.touched.contains(&path) {
                return true;
            }
            next = path.parent();
        }
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::workspace::{Access, Workspace};

    #[test]
    fn lists_of_two_moments_share_what_did_not_change() {
        let workspace = Workspace::of_directory(concat!(env!("CARGO_MANIFEST_DIR"), "/src"), Access::ReadOnly);
        let root = workspace.root_path(&workspace.roots()[0]);
        let mut list = List::survey(&root, &mut workspace.watch(root.root()).unwrap()).unwrap();
        let before = list.clone();
        list.renew(3, &mut Vec::new());
        let shared = |at: &usize| Arc::ptr_eq(&before.items[*at], &list.items[*at]);
        let unwatched: Vec<usize> = (0..list.items.len()).filter(|at| !shared(at)).collect();
        assert!(list.items.len() > 100);
        assert_eq!(unwatched, [3]);
        assert_ne!(before.items[3].id, list.items[3].id, "the older list goes on saying what it said");
    }
}
