//! Brings a list of paths up to date with what the watcher saw: lists the directories concerned again
//! and keeps everything else.

use std::{collections::BTreeSet, ffi::OsStr, ops::Range};

use confined_fs::{AccessErrorKind, Changes, FileKind, WatchedEntry, Watcher, WorkspacePath, path_order};

use crate::path_index::{Edits, IndexedPath, KnownContent, PathList};

/// Directories that are listed again one by one; with more, a new listing of all is quicker.
const MAX_RELISTED: usize = 2000;
/// Names of one directory that are looked at one by one; with more, a listing is as quick.
const FEW_NAMES: usize = 64;

/// So much has changed that only a new listing helps.
#[derive(Debug)]
pub(super) struct TooManyChanges;

/// Brings the list up to date. What was known of content that is no longer trusted is put into
/// `dropped`.
///
/// # Errors
/// When so much has changed that only a new listing helps.
pub(super) fn apply(
    list: &mut PathList,
    changes: &Changes,
    watcher: &mut Watcher,
    dropped: &mut Vec<KnownContent>,
) -> Result<(), TooManyChanges> {
    if changes.everything || changes.directories.len() > MAX_RELISTED {
        return Err(TooManyChanges);
    }
    let touched: BTreeSet<_> = changes.directories.values().flatten().cloned().collect();
    // Before anything is watched again: a directory that was moved keeps its watch otherwise, and
    // with it the old path.
    for path in &touched {
        watcher.forget(path);
    }
    let mut update = Update {
        list: &mut *list,
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
    list.merge(edits, dropped);
    for path in &changes.files {
        if let Some(at) = list.find(path) {
            list.forget_content(at, dropped);
        }
    }
    if changes.remounted {
        list.forget_asked();
    }
    Ok(())
}

struct Update<'u> {
    list: &'u mut PathList,
    watcher: &'u mut Watcher,
    changes: &'u Changes,
    /// Paths that came, went or were replaced.
    touched: BTreeSet<WorkspacePath>,
    /// Trees that were listed as a whole.
    covered: Vec<WorkspacePath>,
    /// Trees that could no longer be listed.
    vanished: Vec<WorkspacePath>,
    edits: Edits,
    dropped: &'u mut Vec<KnownContent>,
}

impl Update<'_> {
    /// Subtrees with other ignore rules: listed again, but what is known of files stays.
    fn trees(&mut self) -> Result<(), TooManyChanges> {
        for tree in &self.changes.trees {
            if self.is_covered(tree) || self.is_touched(tree) {
                continue;
            }
            let Some(old) = self.list.range_of(tree) else { continue };
            let mut met = Vec::new();
            match self.watcher.watch_tree(tree, true, &mut |listed| met.push(listed)) {
                Ok(()) => {}
                Err(_) if tree.is_root() => return Err(TooManyChanges),
                // Gone since: another change is about its parent.
                Err(_) => {
                    self.watcher.forget(tree);
                    self.edits.removed.push(old);
                    self.vanished.push(tree.clone());
                    continue;
                }
            }
            for listed in met {
                let mut item = self.list.added(listed);
                if let Some(at) = self.list.find(item.path())
                    && self.list.items.get(at).kind() == item.state.kind
                    && self.list.items.get(at).mounted == item.state.mounted
                    && !self.is_touched(item.path())
                {
                    self.list.items.change(at, |was| {
                        item.state.set_content(was.take_content());
                        item.state.known = std::mem::take(&mut was.known);
                        item.state.id = was.id;
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

    /// Directories with names that came or went: one level is listed again.
    fn directories(&mut self) -> Result<(), TooManyChanges> {
        for (directory, touched) in &self.changes.directories {
            if self.is_covered(directory) || self.is_touched(directory) {
                continue;
            }
            let Some(old) = self.list.range_of(directory) else { continue };
            // Its parent, listed before it, says that it is no longer what it was.
            let own = old.start.wrapping_sub(1);
            if !directory.is_root() && self.edits.removed.iter().any(|range| range.contains(&own)) {
                continue;
            }
            if self.names(directory, touched, &old) {
                continue;
            }
            let mut met = Vec::new();
            match self.watcher.watch_tree(directory, false, &mut |listed| met.push(listed)) {
                Ok(()) => self.relist(old, met),
                Err(_) if directory.is_root() => return Err(TooManyChanges),
                // Gone or closed since: another change is about its parent.
                Err(_) => self.edits.removed.push(old),
            }
        }
        Ok(())
    }

    /// Looks at no names of a directory but those that came or went; false where all of it has to be listed.
    fn names(&mut self, directory: &WorkspacePath, touched: &BTreeSet<WorkspacePath>, old: &Range<usize>) -> bool {
        let items = &self.list.items;
        let is_directory = |path| self.list.find(path).is_some_and(|at| items.get(at).kind() == FileKind::Directory);
        if touched.len() > FEW_NAMES || touched.iter().any(is_directory) {
            return false;
        }
        // With one that stays, from which it is seen whether case matters there.
        let is_in_it =
            |item: &IndexedPath<'_>| item.is_file() && item.relative().parent() == Some(directory.relative());
        let other = items.range(old.clone()).take(FEW_NAMES).find(is_in_it).map(IndexedPath::into_path);
        let named = touched.iter().chain(&other).filter_map(WorkspacePath::file_name).map(OsStr::to_os_string);
        let mut met = Vec::new();
        if !matches!(self.watcher.watch_names(directory, &named.collect(), &mut |listed| met.push(listed)), Ok(true)) {
            return false;
        }
        for path in touched {
            let here = self.list.find(path).map_or(0..0, |at| at..at + 1);
            let listed = met.extract_if(.., |listed| listed.entry.path() == path).collect();
            self.relist(here, listed);
        }
        true
    }

    fn relist(&mut self, old: Range<usize>, met: Vec<WatchedEntry>) {
        let mut at = old.start;
        for listed in met {
            // Both are in path order.
            let relative = listed.entry.path().relative();
            while at < old.end && path_order(self.list.items.get(at).relative(), relative).is_lt() {
                at = self.remove(at);
            }
            let same_name = at < old.end && self.list.items.get(at).relative().as_os_str() == relative.as_os_str();
            if !same_name {
                self.add(listed);
                continue;
            }
            let next = self.list.end_of(at);
            let was = self.list.items.get(at);
            let same = was.kind() == listed.entry.kind()
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
                    self.list.forget_content(at, self.dropped);
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

    /// Takes a path out with all below it; the position of the next one.
    fn remove(&mut self, at: usize) -> usize {
        self.take_out(at, false)
    }

    /// The same; `stays` for a directory in whose place there is one, which keeps its own watch.
    fn take_out(&mut self, at: usize, stays: bool) -> usize {
        let end = self.list.end_of(at);
        if self.list.items.get(at).kind() == FileKind::Directory {
            let item = self.list.items.get(at);
            let path = item.path();
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
        let mut item = self.list.added(listed);
        if item.state.kind == FileKind::Directory && !item.state.ignored && !item.state.unwatched {
            let mut met = Vec::new();
            match self.watcher.watch_tree(item.path(), true, &mut |listed| met.push(listed)) {
                Ok(()) => {}
                // As for a walk: one that is gone by now is still named.
                Err(error) => item.state.unreadable = error.kind != AccessErrorKind::NotFound,
            }
            for listed in met {
                let below = self.list.added(listed);
                self.edits.added.push(below);
            }
        }
        self.edits.added.push(item);
    }

    /// Whether it is in a tree that was dealt with as a whole, or is one.
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
